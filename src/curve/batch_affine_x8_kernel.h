/* The kernel of batch-affine addition for one group, eight additions at a time: a template, included once per
 * group by curve/batch_affine_x8.c with GROUP, FIELD and VECTOR defined. No include guard.
 *
 * Lane k holds additions k, k + 8, ...: eight chains of products, whose ends are inverted together in scalar
 * arithmetic. With t = 2^-32, a coordinate as it is stored is t times itself in the radix 2^416 of fp_x8;
 * so the chain multiplies t (x2 - x1), and the inverse is taken with one factor t too many, which makes the
 * single inverses come out as 1/(x2 - x1). Comments give bounds in multiples of p. */

#define VN(name) GROUP_NAME(VECTOR, name)

/* Where the operands of eight additions are; lanes without an addition get a harmless one. */
struct GN(x8_step) {
    const FIELD *ax[X8_LANES], *bx[X8_LANES], *ay[X8_LANES], *by[X8_LANES];
    FIELD *x[X8_LANES], *y[X8_LANES];
    __mmask8 negate_a, negate_b;
    GN(affine) nothing;
};

X8_INLINE void GN(x8_step)(struct GN(x8_step) * step, const struct GN(sum) * sums, size_t n)
{
    static const GN(affine) zero;
    static const GN(affine) one = {.x = FIELD_SMALL_ONE};
    step->negate_a = step->negate_b = 0;
    for (size_t i = 0; i < X8_LANES; i++) {
        struct GN(sum) s = {&zero, &one, &step->nothing, 0, 0};
        if (i < n)
            s = sums[i];
        step->ax[i] = &s.a->x;
        step->ay[i] = &s.a->y;
        step->bx[i] = &s.b->x;
        step->by[i] = &s.b->y;
        step->x[i] = &s.out->x;
        step->y[i] = &s.out->y;
        step->negate_a = (__mmask8)(step->negate_a | s.negate_a << i);
        step->negate_b = (__mmask8)(step->negate_b | s.negate_b << i);
    }
}

/* The inverse of each lane's product, times t. */
static __attribute__((noinline)) void GN(x8_invert)(VECTOR *product)
{
    FIELD lanes[X8_LANES], before[X8_LANES], all, *out[X8_LANES];
    const FIELD *in[X8_LANES];
    for (int i = 0; i < X8_LANES; i++)
        in[i] = out[i] = &lanes[i];
    VN(reduce)(product, 1);
    VN(store)(out, product);
    all = lanes[0];
    for (int i = 1; i < X8_LANES; i++) {
        before[i] = all;
        FN(mul)(&all, &all, &lanes[i]);
    }
    FN(inv_vartime)(&all, &all);
    FN(scale)(&all, &all, &X8_ONE); /* radix 2^384 to 2^416, twice, and back by t */
    for (int i = X8_LANES; i-- > 1;) {
        FIELD inverse;
        FN(mul)(&inverse, &all, &before[i]);
        FN(mul)(&all, &all, &lanes[i]);
        lanes[i] = inverse;
    }
    lanes[0] = all;
    VN(load)(product, in);
}

void GN(batch_kernel_x8)(const struct GN(sum) * sums, size_t n, uint64_t *scratch)
{
    VECTOR *difference = (VECTOR *)scratch, *before = difference + BATCH_SUMS / X8_LANES;
    VECTOR product, ax, ya, yb, t, slope, shifted, x, y;
    struct GN(x8_step) step;
    size_t steps = (n + X8_LANES - 1) / X8_LANES;
    VN(set_one)(&product);
    for (size_t i = 0; i < steps; i++) {
        GN(x8_step)(&step, sums + i * X8_LANES, n - i * X8_LANES);
        VN(load)(&ax, step.ax);
        VN(load)(&x, step.bx);
        VN(sub)(&x, &x, &ax, 1); /* < 2p */
        difference[i] = x;
        before[i] = product;
        VN(mul)(&product, &product, &x);
    }
    GN(x8_invert)(&product);
    for (size_t i = steps; i-- > 0;) {
        GN(x8_step)(&step, sums + i * X8_LANES, n - i * X8_LANES);
        VN(load)(&ya, step.ay);
        VN(load)(&yb, step.by);
        VN(negate_if)(&ya, &ya, step.negate_a, 1); /* <= p */
        VN(negate_if)(&yb, &yb, step.negate_b, 1);
        VN(sub)(&yb, &yb, &ya, 1); /* <= 2p */
        VN(mul)(&t, &product, &before[i]);
        VN(mul)(&product, &product, &difference[i]);
        VN(mul)(&slope, &yb, &t);
        VN(shift32)(&shifted, &slope);
        VN(sqr_shifted)(&x, &slope, &shifted); /* < 1.7p */
        VN(load)(&ax, step.ax);
        VN(sub_twice)(&x, &x, &ax, &difference[i], 3); /* x2 = x1 + difference - p: < 3.7p */
        VN(reduce)(&x, 2);
        VN(reduce)(&x, 1);
        VN(sub)(&t, &ax, &x, 1);   /* < 2p */
        VN(mul)(&y, &shifted, &t); /* < 1.5p */
        VN(sub)(&y, &y, &ya, 1);   /* < 2.5p */
        VN(reduce)(&y, 1);
        VN(reduce)(&y, 1);
        VN(store)(step.x, &x);
        VN(store)(step.y, &y);
    }
}

#undef VN
