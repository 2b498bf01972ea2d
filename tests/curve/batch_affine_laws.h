/* The tests of batch-affine addition in one group: a template, included by batch_affine_test.c with GROUP,
 * FIELD and GENERATOR defined. The oracle is addition in XYZZ. No include guard. */

typedef void GN(kernel)(struct GN(sum) * sums, size_t n, uint64_t *scratch);

static void GN(expected_sum)(GN(affine) * out, const struct GN(sum) * s)
{
    GN(xyzz) sum;
    GN(affine) a, b;
    if (s->negate_a)
        GN(affine_neg)(&a, s->a);
    else
        a = *s->a;
    if (s->negate_b)
        GN(affine_neg)(&b, s->b);
    else
        b = *s->b;
    GN(from_affine)(&sum, &a);
    GN(add_affine)(&sum, &sum, &b);
    GN(to_affine)(out, &sum);
}

/* One kernel on batches of every size about its width and full ones, all signs, in place and not. */
static void GN(check_kernel)(GN(kernel) * kernel, bool doubling)
{
    static GN(affine) points[BATCH_SUMS + 2], out[BATCH_SUMS], expected[BATCH_SUMS];
    static struct GN(sum) sums[BATCH_SUMS];
    static fr exponents[BATCH_SUMS + 2];
    static struct GN(batch) batch;
    for (size_t n = 1; n <= BATCH_SUMS; n = n < 18 ? n + 1 : n < BATCH_SUMS - 7 ? BATCH_SUMS - 7 : n + 7) {
        GN(known_points)(points, exponents, n + 1, POINTS_DISTINCT);
        for (size_t i = 0; i < n; i++) {
            const GN(affine) *b = doubling ? &points[i] : &points[i + 1];
            uint64_t negate_a = random_u64() & 1, negate_b = doubling ? negate_a : random_u64() & 1;
            sums[i] = (struct GN(sum)){&points[i], b, &out[i], negate_a, negate_b};
            GN(expected_sum)(&expected[i], &sums[i]);
        }
        kernel(sums, n, batch.scratch);
        assert_memory_equal(out, expected, n * sizeof *out);
        for (size_t i = 0; i < n; i++) { /* in place: the other operand must be nobody's output */
            out[i] = points[i];
            sums[i].a = &out[i];
            sums[i].b = doubling ? &out[i] : &points[i + 1];
        }
        kernel(sums, n, batch.scratch);
        assert_memory_equal(out, expected, n * sizeof *out);
    }
}

static void GN(test_kernels)(void **state)
{
    (void)state;
    GN(check_kernel)(GN(batch_kernel_portable), false);
    GN(check_kernel)(GN(batch_double_kernel_portable), true);
#ifdef CUZK_X86_64
    if (flavour_in_force() == FLAVOUR_ADX) {
        GN(check_kernel)(GN(batch_kernel_adx), false);
        GN(check_kernel)(GN(batch_double_kernel_adx), true);
    }
    if (flavour_ifma_in_force())
        GN(check_kernel)(GN(batch_kernel_x8), false);
#endif
}

/* Coordinates at the ends of the range: no points, but the formulas hold for any pair with different x. */
static void GN(test_kernels_edges)(void **state)
{
    (void)state;
#ifdef CUZK_X86_64
    static struct GN(batch) batch;
    enum { N = 64 };
    GN(affine) points[2 * N], out[N], expected[N];
    struct GN(sum) sums[N];
    if (!flavour_ifma_in_force())
        return;
    for (unsigned round = 0; round < 50; round++) {
        for (size_t i = 0; i < 2 * N; i++) {
            fp *c = (fp *)&points[i];
            for (size_t k = 0; k < sizeof *points / sizeof(fp); k++) {
                fp_int value = {{random_u64() % 3, 0, 0, 0, 0, 0}};
                if (random_u64() & 1) /* p - 1, p - 2, p - 3 */
                    limbs_sub(value.l, FP_MODULUS.l, (uint64_t[6]){value.l[0] + 1}, 6);
                memcpy(&c[k], &value, sizeof value);
            }
        }
        for (size_t i = 0; i < N; i++) {
            ((fp *)&points[2 * i].x)->l[1] ^= 1; /* x differ, still below p */
            sums[i] = (struct GN(sum)){&points[2 * i], &points[2 * i + 1], &out[i], 0, 0};
        }
        GN(batch_kernel_portable)(sums, N, batch.scratch);
        memcpy(expected, out, sizeof out);
        GN(batch_kernel_x8)(sums, N, batch.scratch);
        assert_memory_equal(out, expected, sizeof out);
    }
#endif
}

/* The queue: infinity, equal and opposite points among others. */
static void GN(test_queue)(void **state)
{
    (void)state;
    enum { N = 3 * BATCH_SUMS + 5, POINTS = 12 };
    static struct GN(batch) batch;
    static GN(affine) out[N], expected[N];
    GN(affine) points[POINTS];
    fr exponents[POINTS];
    GN(known_points)(points, exponents, POINTS, POINTS_DISTINCT);
    GN(affine_neg)(&points[1], &points[0]);
    points[2] = points[0];
    points[3] = (GN(affine)){0};
    for (unsigned kind = 0; kind < 3; kind++) { /* all kinds; doublings only; infinities only */
        GN(batch_start)(&batch);
        for (size_t i = 0; i < N; i++) {
            uint64_t negate_a = random_u64() & 1, negate_b = random_u64() & 1;
            const GN(affine) *a = &points[kind ? (kind == 1 ? 0 : 3) : random_u64() % POINTS];
            const GN(affine) *b = &points[kind ? (kind == 1 ? 2 : 3) : random_u64() % POINTS];
            struct GN(sum) s = {a, b, &out[i], negate_a, kind == 1 ? negate_a : negate_b};
            GN(expected_sum)(&expected[i], &s);
            GN(batch_add)(&batch, &out[i], a, s.negate_a, b, s.negate_b);
        }
        GN(batch_flush)(&batch);
        assert_memory_equal(out, expected, sizeof out);
    }
}
