/* The two kernels of batch-affine addition for one group, in scalar arithmetic: a template, included once per
 * group by curve/batch_affine_kernel.c with GROUP, FIELD and FIELD_ONE defined. No include guard. */

static inline void GN(signed_y)(FIELD *out, const GN(affine) * a, uint64_t negate)
{
    FN(negate_if)(out, &a->y, negate);
}

/* Forward: differences and their running product, in two chains so that the processor has two independent
 * multiplications at hand. Backward: 1/(x2 - x1) from the inverse of the product, then the chord. */
void FLAVOUR(GN(batch_kernel))(struct GN(sum) * sums, size_t n, uint64_t *scratch)
{
    FIELD *difference = (FIELD *)scratch;
    FIELD *before = difference + BATCH_SUMS;
    FIELD product[2] = {FIELD_ONE, FIELD_ONE}, inverse[2], t, slope, x, y, ya;
    for (size_t i = 0; i < n; i++) {
        FN(sub)(&difference[i], &sums[i].b->x, &sums[i].a->x);
        before[i] = product[i & 1];
        FN(mul)(&product[i & 1], &product[i & 1], &difference[i]);
    }
    FN(mul)(&t, &product[0], &product[1]);
    FN(inv_vartime)(&t, &t);
    FN(mul)(&inverse[0], &t, &product[1]);
    FN(mul)(&inverse[1], &t, &product[0]);
    for (size_t i = n; i-- > 0;) {
        const struct GN(sum) *s = &sums[i];
        FIELD *inv = &inverse[i & 1];
        GN(signed_y)(&ya, s->a, s->negate_a);
        GN(signed_y)(&y, s->b, s->negate_b);
        FN(sub)(&y, &y, &ya);
        FN(mul)(&t, inv, &before[i]);
        FN(mul)(inv, inv, &difference[i]);
        FN(mul)(&slope, &y, &t);
        FN(sqr)(&x, &slope);
        FN(sub)(&x, &x, &s->a->x);
        FN(sub)(&x, &x, &s->b->x);
        FN(sub)(&t, &s->a->x, &x);
        FN(mul)(&y, &slope, &t);
        s->out->x = x;
        FN(sub)(&s->out->y, &y, &ya);
    }
}

/* The same for tangents: out = 2 * [-] a; 4M + 2S. No point of either curve has y = 0. */
void FLAVOUR(GN(batch_double_kernel))(struct GN(sum) * sums, size_t n, uint64_t *scratch)
{
    FIELD *twice = (FIELD *)scratch;
    FIELD *before = twice + BATCH_SUMS;
    FIELD product = FIELD_ONE, t, slope, x, y;
    for (size_t i = 0; i < n; i++) {
        GN(signed_y)(&y, sums[i].a, sums[i].negate_a);
        FN(dbl)(&twice[i], &y);
        before[i] = product;
        FN(mul)(&product, &product, &twice[i]);
    }
    FN(inv_vartime)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        const struct GN(sum) *s = &sums[i];
        GN(affine) a = {.x = s->a->x};
        GN(signed_y)(&a.y, s->a, s->negate_a);
        FN(mul)(&t, &product, &before[i]);
        FN(mul)(&product, &product, &twice[i]);
        FN(sqr)(&slope, &a.x);
        FN(dbl)(&x, &slope);
        FN(add)(&slope, &slope, &x);
        FN(mul)(&slope, &slope, &t);
        FN(sqr)(&x, &slope);
        FN(sub)(&x, &x, &a.x);
        FN(sub)(&x, &x, &a.x);
        FN(sub)(&t, &a.x, &x);
        FN(mul)(&y, &slope, &t);
        s->out->x = x;
        FN(sub)(&s->out->y, &y, &a.y);
    }
}
