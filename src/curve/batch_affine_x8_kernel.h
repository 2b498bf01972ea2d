/* The kernel of batch-affine addition for one group, eight additions at a time: a template, included once per
 * group by curve/batch_affine_x8.c with GROUP, FIELD and DEGREE (1, 2) defined. No include guard.
 *
 * Lane j holds additions j, j + 8, ...: eight chains of products, whose ends are inverted together in scalar
 * arithmetic. With t = 2^-32, a coordinate as it is stored is t times itself in the radix 2^416 of fp_x8;
 * so the chain multiplies t (x2 - x1), and the inverse is taken with one factor t too many, which makes the
 * single inverses come out as 1/(x2 - x1). Comments give bounds in multiples of p. */

/* An element of the field in each lane: its components. */
typedef struct {
    fp_x8 c[DEGREE];
} GN(x8);

struct GN(x8_works) {
    struct x8_work c[DEGREE];
};

/* Row k of component c of a b, for b < 2p; minus = 2p - b.c[1]. In Fp2, (a0 b0 - a1 b1, a0 b1 + a1 b0) with
 * one reduction a component: 768 multiply-adds, as many as Karatsuba's three products but fewer additions. */
X8_INLINE void GN(x8_row)(__m512i *t, const GN(x8) * a, const GN(x8) * b, const fp_x8 *minus, int c, int k)
{
#if DEGREE == 1
    (void)minus;
    fp_x8_row(t, &a->c[c], &b->c[c], NULL, NULL, k);
#else
    if (c == 0)
        fp_x8_row(t, &a->c[0], &b->c[0], &a->c[1], minus, k);
    else
        fp_x8_row(t, &a->c[0], &b->c[1], &a->c[1], &b->c[0], k);
#endif
}

X8_INLINE void GN(x8_minus)(fp_x8 *minus, const GN(x8) * b)
{
#if DEGREE == 2
    fp_x8_add(minus, NULL, &b->c[1]);
#else
    (void)minus;
    (void)b;
#endif
}

/* Factors of a^2 from a < 1.1p and shifted = 2^32 a: component c is left.c[c] right.c[c].
 * In Fp2, (a0 + a1)(a0 - a1 + 2p) and 2 a0 a1. */
X8_INLINE void GN(x8_square_factors)(GN(x8) * left, GN(x8) * right, const GN(x8) * a, const GN(x8) * shifted)
{
#if DEGREE == 1
    *left = *shifted;
    *right = *a;
#else
    struct x8_work work;
    fp_x8_add(&left->c[0], &shifted->c[0], &shifted->c[1]);
    fp_x8_add(&left->c[1], &shifted->c[0], &shifted->c[0]);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        fp_x8_sub_step(&right->c[0], &a->c[0], &a->c[1], 2, &work, k);
    right->c[1] = a->c[1];
#endif
}

/* out = product, with limbs up to 2^58, given ROW(t, c, k); beside each row the statement `side`, which may
 * use c and k. out is written at the end of each component. */
#define X8_ROWS(out, row, side)                                                                              \
    do {                                                                                                     \
        _Pragma("GCC unroll 2") for (int c = 0; c < DEGREE; c++)                                             \
        {                                                                                                    \
            __m512i t_[X8_LIMBS + 1];                                                                        \
            _Pragma("GCC unroll 9") for (int k = 0; k <= X8_LIMBS; k++) t_[k] = _mm512_setzero_si512();      \
            _Pragma("GCC unroll 8") for (int k = 0; k < X8_LIMBS; k++)                                       \
            {                                                                                                \
                row;                                                                                         \
                side;                                                                                        \
            }                                                                                                \
            _Pragma("GCC unroll 8") for (int k = 0; k < X8_LIMBS; k++)(out)->c[c].l[k] = t_[k];              \
        }                                                                                                    \
    } while (0)

/* out must not be a or b. */
#define X8_MULTIPLY(out, a, b, side)                                                                         \
    do {                                                                                                     \
        fp_x8 minus_;                                                                                        \
        GN(x8_minus)(&minus_, b);                                                                            \
        X8_ROWS(out, GN(x8_row)(t_, a, b, &minus_, c, k), side);                                             \
    } while (0)

/* Steps for X8_ROWS: component c, step k. */
#define X8_CARRY(a, works) fp_x8_carry_step(&(a)->c[c], &(works)->c[c], k)
#define X8_SUB(out, a, b, times, works)                                                                      \
    fp_x8_sub_step(&(out)->c[c], &(a)->c[c], &(b)->c[c], times, &(works)->c[c], k)
#define X8_CANONICAL(a, works) fp_x8_canonical_step(&(a)->c[c], &(works)->c[c], k)
#define X8_LOAD(out, sums, p, x, works)                                                                      \
    do {                                                                                                     \
        const fp *in_[X8_LANES];                                                                             \
        _Pragma("GCC unroll 8") for (int lane = 0; lane < X8_LANES; lane++) in_[lane] =                      \
            (const fp *)&(sums)[lane].p->x + c;                                                              \
        fp_x8_load_step(&(out)->c[c], in_, &(works)->c[c], k);                                               \
    } while (0)
#define X8_STORE(sums, x, a, works)                                                                          \
    do {                                                                                                     \
        fp *out_[X8_LANES];                                                                                  \
        _Pragma("GCC unroll 8") for (int lane = 0; lane < X8_LANES; lane++) out_[lane] =                     \
            (fp *)&(sums)[lane].out->x + c;                                                                  \
        fp_x8_store_step(out_, &(a)->c[c], &(works)->c[c], k);                                               \
    } while (0)
#define X8_EACH(statement)                                                                                   \
    do {                                                                                                     \
        _Pragma("GCC unroll 2") for (int c = 0; c < DEGREE; c++)                                             \
        {                                                                                                    \
            statement;                                                                                       \
        }                                                                                                    \
    } while (0)
#define X8_ALONE(side) X8_EACH(_Pragma("GCC unroll 8") for (int k = 0; k < X8_LIMBS; k++) { side; })

/* Operands of a step from the second cache to the first, while the step before it computes. */
X8_INLINE void GN(x8_prefetch)(const struct GN(sum) * sums)
{
    for (size_t i = 0; i < X8_LANES; i++) {
        GN(prefetch)(sums[i].a);
        GN(prefetch)(sums[i].b);
    }
}

/* The inverse of each lane's product, times t. */
static __attribute__((noinline)) void GN(x8_invert)(GN(x8) * product)
{
    FIELD lanes[X8_LANES], before[X8_LANES], all;
    struct GN(sum) ends[X8_LANES];
    GN(affine) places[X8_LANES];
    struct GN(x8_works) works;
    for (int i = 0; i < X8_LANES; i++)
        ends[i] = (struct GN(sum)){.a = &places[i], .out = &places[i]};
    X8_ALONE(X8_CANONICAL(product, &works));
    X8_EACH(fp_x8_settle(&product->c[c]));
    X8_ALONE(X8_STORE(ends, x, product, &works));
    for (int i = 0; i < X8_LANES; i++)
        lanes[i] = places[i].x;
    all = lanes[0];
    for (int i = 1; i < X8_LANES; i++) {
        before[i] = all;
        FN(mul)(&all, &all, &lanes[i]);
    }
    FN(inv_vartime)(&all, &all);
    FN(scale)(&all, &all, &X8_ONE); /* radix 2^384 to 2^416, twice, and back by t */
    for (int i = X8_LANES; i-- > 1;) {
        FN(mul)(&places[i].x, &all, &before[i]);
        FN(mul)(&all, &all, &lanes[i]);
    }
    places[0].x = all;
    X8_ALONE(X8_LOAD(product, ends, a, x, &works));
}

/* A batch in the kernel: steps of eight additions, and eight harmless ones for the ends of the loops. */
struct GN(x8_batch) {
    const struct GN(sum) * sums;
    size_t steps;
    GN(x8) * difference, *before, product;
    struct GN(sum) idle[X8_LANES];
    GN(affine) nothing;
};

/* The additions of a step; idle ones if there is no such step. */
X8_INLINE const struct GN(sum) * GN(x8_at)(const struct GN(x8_batch) * batch, size_t step)
{
    return step < batch->steps ? batch->sums + step * X8_LANES : batch->idle;
}

/* difference = x2 - x1 + p and the products of them before each step. Two steps in flight: operands are
 * loaded two products ahead, subtracted one ahead. */
static void GN(x8_forward)(struct GN(x8_batch) * batch)
{
    GN(x8) a, b, d, next, product = batch->product, more;
    struct GN(x8_works) works[3];
    const struct GN(sum) *sums = GN(x8_at)(batch, 0);
    X8_ALONE(X8_LOAD(&a, sums, a, x, &works[0]));
    X8_ALONE(X8_LOAD(&b, sums, b, x, &works[0]));
    X8_ALONE(X8_SUB(&d, &b, &a, 1, &works[0]));
    sums = GN(x8_at)(batch, 1);
    X8_ALONE(X8_LOAD(&a, sums, a, x, &works[0]));
    X8_ALONE(X8_LOAD(&b, sums, b, x, &works[0]));
    for (size_t i = 0; i < batch->steps; i++) {
        GN(x8) a_next, b_next;
        sums = GN(x8_at)(batch, i + 2);
        GN(x8_prefetch)(GN(x8_at)(batch, i + 3));
        batch->difference[i] = d; /* < 2p */
        batch->before[i] = product;
        X8_MULTIPLY(&more, &product, &d, {
            X8_LOAD(&a_next, sums, a, x, &works[0]);
            X8_SUB(&next, &b, &a, 1, &works[1]);
            X8_LOAD(&b_next, sums, b, x, &works[2]);
        });
        X8_ALONE(X8_CARRY(&more, &works[0]));
        product = more;
        d = next;
        a = a_next;
        b = b_next;
    }
    batch->product = product;
}

X8_INLINE void GN(x8_signs)(GN(x8) * ya, GN(x8) * yb, const struct GN(sum) * sums)
{
    __mmask8 negate_a = 0, negate_b = 0;
    for (size_t i = 0; i < X8_LANES; i++) {
        negate_a = (__mmask8)(negate_a | sums[i].negate_a << i);
        negate_b = (__mmask8)(negate_b | sums[i].negate_b << i);
    }
    X8_EACH(fp_x8_signed(&ya->c[c], negate_a)); /* in (-p, p) */
    X8_EACH(fp_x8_signed(&yb->c[c], negate_b));
}

/* From the inverse of the whole product back to single inverses, slopes and sums. Three steps in flight:
 * while step i gets its inverse and slope, step i + 1 gets its coordinates, those of step i + 2 are written,
 * and the operands of step i - 1 are loaded. */
static void GN(x8_backward)(struct GN(x8_batch) * batch)
{
    GN(x8) product = batch->product, xa = {0}, ya, yb, rise, slope = {0}, shifted = {0};
    GN(x8) xa_now = {0}, ya_now = {0}, ya_next, x, y = {0}, inverse, more, left, right, fall;
    struct GN(x8_works) works[3];
    size_t steps = batch->steps;
    X8_ALONE(X8_LOAD(&ya, GN(x8_at)(batch, steps - 1), a, y, &works[0]));
    X8_ALONE(X8_LOAD(&yb, GN(x8_at)(batch, steps - 1), b, y, &works[0]));
    GN(x8_signs)(&ya, &yb, GN(x8_at)(batch, steps - 1));
    for (size_t i = steps - 1; i + 3 > 0; i--) { /* to -2: the first and last two have idle parts */
        const struct GN(sum) *sums = GN(x8_at)(batch, i), *older = GN(x8_at)(batch, i + 1);
        const struct GN(sum) *oldest = GN(x8_at)(batch, i + 2), *younger = GN(x8_at)(batch, i - 1);
        const GN(x8) *before = &batch->before[i < steps ? i : 0];
        const GN(x8) *difference = &batch->difference[i < steps ? i : 0];
        const GN(x8) *difference_older = &batch->difference[i + 1 < steps ? i + 1 : 0];
        GN(x8_prefetch)(GN(x8_at)(batch, i - 2));
        GN(x8_square_factors)(&left, &right, &slope, &shifted);
        X8_ROWS(&x, fp_x8_row(t_, &left.c[c], &right.c[c], NULL, NULL, k), {
            X8_CANONICAL(&y, &works[0]);
            X8_SUB(&rise, &yb, &ya, 2, &works[1]); /* < 4p */
        });
        X8_EACH(fp_x8_settle(&y.c[c]));
        X8_EACH(
            fp_x8_sub_twice_lazy(&x.c[c], &x.c[c], &xa_now.c[c], &difference_older->c[c], 3)); /* < 3.7p */
        X8_MULTIPLY(&inverse, &product, before, {
            X8_CANONICAL(&x, &works[0]);
            X8_STORE(oldest, y, &y, &works[1]);
        });
        X8_EACH(fp_x8_settle(&x.c[c]));
        X8_MULTIPLY(&more, &product, difference, {
            X8_CARRY(&inverse, &works[0]);
            X8_SUB(&fall, &xa_now, &x, 1, &works[1]); /* < 2p */
            X8_LOAD(&xa, sums, a, x, &works[2]);
        });
        product = more;
        X8_MULTIPLY(&more, &rise, &inverse, {
            X8_CARRY(&product, &works[0]);
            X8_STORE(older, x, &x, &works[1]);
            X8_LOAD(&ya_next, younger, a, y, &works[2]);
        });
        slope = more;
        X8_MULTIPLY(&y, &shifted, &fall, {                              /* < 1.5p */
                                           X8_CARRY(&slope, &works[0]); /* < 1.1p */
                                           X8_LOAD(&yb, younger, b, y, &works[1]);
        });
        X8_EACH(fp_x8_sub_lazy(&y.c[c], &y.c[c], &ya_now.c[c], 1)); /* < 3.5p */
        X8_EACH(fp_x8_shift32(&shifted.c[c], &slope.c[c]));
        GN(x8_signs)(&ya_next, &yb, younger);
        xa_now = xa;
        ya_now = ya;
        ya = ya_next;
    }
}

void GN(batch_kernel_x8)(struct GN(sum) * sums, size_t n, uint64_t *scratch)
{
    static const GN(affine) zero;
    static const GN(affine) one = {.x = FIELD_SMALL_ONE};
    struct GN(x8_batch) batch = {.sums = sums, .steps = (n + X8_LANES - 1) / X8_LANES};
    batch.difference = (GN(x8) *)scratch;
    batch.before = batch.difference + BATCH_SUMS / X8_LANES;
    for (size_t i = 0; i < X8_LANES; i++)
        batch.idle[i] = (struct GN(sum)){&zero, &one, &batch.nothing, 0, 0};
    for (size_t i = n; i < batch.steps * X8_LANES; i++)
        sums[i] = batch.idle[0];
    X8_EACH(fp_x8_set1(&batch.product.c[c], c == 0 ? &X8_ONE : &FP_ZERO));
    GN(x8_forward)(&batch);
    GN(x8_invert)(&batch.product);
    GN(x8_backward)(&batch);
}

#undef X8_ROWS
#undef X8_MULTIPLY
#undef X8_CARRY
#undef X8_SUB
#undef X8_CANONICAL
#undef X8_LOAD
#undef X8_STORE
#undef X8_EACH
#undef X8_ALONE
