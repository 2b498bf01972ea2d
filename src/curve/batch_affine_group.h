/* Declarations of batch-affine addition for one group: a template, included once per group by
 * curve/batch_affine.h with GROUP (g1, g2), FIELD (fp, fp2) and FIELD_DEGREE defined. No include guard. */

/* One addition: *out = [-] *a + [-] *b. `out` may be the same place as `a` or `b`, and must not be an
 * operand or the output of another addition of the same batch. */
struct GN(sum) {
    const GN(affine) * a, *b;
    GN(affine) * out;
    uint64_t negate_a, negate_b; /* 0 or 1 */
};

struct GN(batch) {
    size_t count, doublings;
    struct GN(sum) sums[BATCH_SUMS];
    struct GN(sum) doubled[BATCH_DOUBLINGS]; /* a only */
    /* The kernels' own: per addition x2 - x1 and a product of such before it. */
    _Alignas(64) uint64_t scratch[2 * BATCH_SUMS * FIELD_DEGREE * BATCH_LIMBS];
};

/* Carries out what is waiting. The batch is empty then. */
void GN(batch_flush)(struct GN(batch) * batch);

/* True if the addition was settled here: infinity or opposite points, or a doubling (which waits apart). */
bool GN(batch_special)(struct GN(batch) * batch, GN(affine) * out, const GN(affine) * a, bool negate_a,
                       const GN(affine) * b, bool negate_b);

static inline void GN(batch_start)(struct GN(batch) * batch)
{
    batch->count = batch->doublings = 0;
}

/* Adds one addition to the batch, which is carried out when full. Only the lowest limbs are looked at for
 * equal or zero x: the points should be in the cache or on their way. */
static inline void GN(batch_add)(struct GN(batch) * batch, GN(affine) * out, const GN(affine) * a,
                                 bool negate_a, const GN(affine) * b, bool negate_b)
{
    uint64_t ax = LOWEST_LIMB(a->x), bx = LOWEST_LIMB(b->x);
    if (__builtin_expect(ax == bx || ax == 0 || bx == 0, 0) &&
        GN(batch_special)(batch, out, a, negate_a, b, negate_b))
        return;
    batch->sums[batch->count++] = (struct GN(sum)){a, b, out, negate_a, negate_b};
    if (batch->count == BATCH_SUMS)
        GN(batch_flush)(batch);
}

/* Asks for all cache lines of a point that will be an operand soon. */
static inline void GN(prefetch)(const GN(affine) * a)
{
    const char *bytes = (const char *)a;
    for (size_t i = 0; i < sizeof *a; i += 64)
        __builtin_prefetch(bytes + i);
    __builtin_prefetch(bytes + sizeof *a - 1);
}

GN_DECLARE(void, GN(batch_kernel), (struct GN(sum) * sums, size_t n, uint64_t *scratch));
GN_DECLARE(void, GN(batch_double_kernel), (struct GN(sum) * sums, size_t n, uint64_t *scratch));
#ifdef CUZK_X86_64
/* AVX-512 IFMA; no doublings. Writes to sums[n] up to a multiple of 8. */
void GN(batch_kernel_x8)(struct GN(sum) * sums, size_t n, uint64_t *scratch);
#endif
