/* The kernel of batch-affine addition for one group, eight additions at a time: a template, included once per
 * group by curve/batch_affine_x8.c with GROUP, FIELD, VECTOR and FIELD_SMALL_ONE defined. No include guard.
 *
 * Lane k holds additions k, k + 8, ...: eight chains of products, whose ends are inverted together in scalar
 * arithmetic. With t = 2^-32, a coordinate as it is stored is t times itself in the radix 2^416 of fp_x8;
 * so the chain multiplies t (x2 - x1), and the inverse is taken with one factor t too many, which makes the
 * single inverses come out as 1/(x2 - x1). Comments give bounds in multiples of p.
 *
 * Multiplications keep one execution unit busy and everything else uses others, but the processor looks only
 * one multiplication ahead. So the backward pass interleaves two steps: while one multiplies, the other's
 * additions, loads and stores get done. */

#define VN(name) GROUP_NAME(VECTOR, name)

/* What the backward pass keeps of a step between its two halves. */
struct GN(x8_state) {
    VECTOR ax, ay, slope, shifted;
};

X8_INLINE void GN(x8_load)(VECTOR *out, const struct GN(sum) * sums, bool b, bool y)
{
    const FIELD *in[X8_LANES];
    for (size_t i = 0; i < X8_LANES; i++) {
        const GN(affine) *p = b ? sums[i].b : sums[i].a;
        in[i] = y ? &p->y : &p->x;
    }
    VN(load)(out, in);
}

X8_INLINE void GN(x8_store)(const struct GN(sum) * sums, const VECTOR *x, const VECTOR *y)
{
    FIELD *out[X8_LANES];
    for (size_t i = 0; i < X8_LANES; i++)
        out[i] = &sums[i].out->x;
    VN(store)(out, x);
    for (size_t i = 0; i < X8_LANES; i++)
        out[i] = &sums[i].out->y;
    VN(store)(out, y);
}

/* Operands of a step from the second cache to the first, while the step before it computes. */
X8_INLINE void GN(x8_prefetch)(const struct GN(sum) * sums)
{
    for (size_t i = 0; i < X8_LANES; i++) {
        GN(prefetch)(sums[i].a);
        GN(prefetch)(sums[i].b);
    }
}

/* The inverse of each lane's product, times t. */
static __attribute__((noinline)) void GN(x8_invert)(VECTOR *product)
{
    FIELD lanes[X8_LANES], before[X8_LANES], all, *out[X8_LANES];
    const FIELD *in[X8_LANES];
    for (int i = 0; i < X8_LANES; i++)
        in[i] = out[i] = &lanes[i];
    VN(canonical)(product);
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

/* y2 - y1 with the signs asked for; leaves y1 in `ay`. */
X8_INLINE void GN(x8_rise)(VECTOR *rise, VECTOR *ay, const struct GN(sum) * sums)
{
    __mmask8 negate_a = 0, negate_b = 0;
    for (size_t i = 0; i < X8_LANES; i++) {
        negate_a = (__mmask8)(negate_a | sums[i].negate_a << i);
        negate_b = (__mmask8)(negate_b | sums[i].negate_b << i);
    }
    GN(x8_load)(ay, sums, false, true);
    GN(x8_load)(rise, sums, true, true);
    VN(signed)(ay, negate_a); /* in (-p, p) */
    VN(signed)(rise, negate_b);
    VN(sub)(rise, rise, ay, 2); /* < 4p */
}

static void GN(x8_backward)(const struct GN(sum) * sums, size_t steps, VECTOR *product,
                            const VECTOR *difference, const VECTOR *before)
{
    struct GN(x8_state) now = {0}, next = {0};
    VECTOR rise = {0}, t = {0}, x = {0}, y = {0};
    for (size_t i = steps + 1; i-- > 0;) { /* second half of step i, first half of step i - 1 */
        const struct GN(sum) *ahead = sums + (i - 1) * X8_LANES;
        if (i > 1)
            GN(x8_prefetch)(ahead - X8_LANES);
        if (i < steps)
            VN(sqr_shifted_lazy)(&x, &now.slope, &now.shifted); /* < 1.7p */
        if (i > 0) {
            GN(x8_rise)(&rise, &next.ay, ahead);
            VN(mul)(&t, product, &before[i - 1]);
        }
        if (i < steps) {
            VN(sub_twice)(&x, &x, &now.ax, &difference[i], 3); /* x2 = x1 + difference - p: < 3.7p */
            VN(canonical)(&x);
            VN(sub)(&y, &now.ax, &x, 1); /* < 2p */
        }
        if (i > 0)
            VN(mul)(product, product, &difference[i - 1]);
        if (i < steps)
            VN(mul_lazy)(&y, &now.shifted, &y); /* < 1.5p */
        if (i > 0) {
            GN(x8_load)(&next.ax, ahead, false, false);
            VN(mul)(&next.slope, &rise, &t); /* < 1.1p */
        }
        if (i < steps) {
            VN(sub_lazy)(&y, &y, &now.ay, 1); /* < 3.5p */
            VN(canonical)(&y);
            GN(x8_store)(sums + i * X8_LANES, &x, &y);
        }
        if (i > 0) {
            now.ax = next.ax;
            now.ay = next.ay;
            now.slope = next.slope;
            VN(shift32)(&now.shifted, &now.slope);
        }
    }
}

void GN(batch_kernel_x8)(struct GN(sum) * sums, size_t n, uint64_t *scratch)
{
    static const GN(affine) zero;
    static const GN(affine) one = {.x = FIELD_SMALL_ONE};
    GN(affine) nothing;
    VECTOR *difference = (VECTOR *)scratch, *before = difference + BATCH_SUMS / X8_LANES;
    VECTOR product, ax, x;
    size_t steps = (n + X8_LANES - 1) / X8_LANES;
    for (size_t i = n; i < steps * X8_LANES; i++) /* lanes without an addition get a harmless one */
        sums[i] = (struct GN(sum)){&zero, &one, &nothing, 0, 0};
    VN(set_one)(&product);
    for (size_t i = 0; i < steps; i++) {
        if (i + 1 < steps)
            GN(x8_prefetch)(sums + (i + 1) * X8_LANES);
        GN(x8_load)(&ax, sums + i * X8_LANES, false, false);
        GN(x8_load)(&x, sums + i * X8_LANES, true, false);
        VN(sub)(&x, &x, &ax, 1); /* < 2p */
        difference[i] = x;
        before[i] = product;
        VN(mul)(&product, &product, &x);
    }
    GN(x8_invert)(&product);
    GN(x8_backward)(sums, steps, &product, difference, before);
}

#undef VN
