/* The tests of sums over set bits in one group: a template, included by bitsum_test.c with GROUP, FIELD,
 * GENERATOR, VARIABLES and the names of the functions defined. No include guard. */

/* The exponent of the sum, by the definition in msm.h. */
static void GN(expected_bitsum)(fr *out, const fr *exponents, const uint64_t *bits, const uint64_t *present,
                                size_t n)
{
    size_t rank = 0;
    *out = FR_ZERO;
    for (size_t j = 0; j < n; j++) {
        if (present && !(present[j / 64] >> (j % 64) & 1))
            continue;
        if (bits[j / 64] >> (j % 64) & 1)
            fr_add(out, out, &exponents[rank]);
        rank++;
    }
}

static void GN(check_bitsum)(const GN(affine) * points, const fr *exponents, const uint64_t *bits,
                             const uint64_t *present, size_t n, const struct work *work)
{
    GN(xyzz) sum;
    fr expected;
    GN(expected_bitsum)(&expected, exponents, bits, present, n);
    assert_ok(BITSUM(&sum, points, bits, present, n, work));
    GN(assert_exponent)(&sum, &expected);
}

/* density 0: none, 4: all, else about a quarter each. Bits beyond n are set at random. */
static void GN(random_bits)(uint64_t *words, size_t n, unsigned density)
{
    for (size_t i = 0; i < (n + 63) / 64; i++) {
        uint64_t a = random_u64(), b = random_u64();
        words[i] = density == 0   ? 0
                   : density == 1 ? a & b
                   : density == 2 ? a
                   : density == 3 ? a | b
                                  : UINT64_MAX;
    }
}

static void GN(test_bitsum_sizes)(void **state)
{
    (void)state;
    enum { N = 1300 };
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    GN(affine) *points = malloc(N * sizeof *points);
    fr *exponents = malloc(N * sizeof *exponents);
    uint64_t bits[N / 64 + 1], present[N / 64 + 1];
    for (enum point_kind kind = 0; kind < POINT_KINDS; kind++) {
        GN(known_points)(points, exponents, N, kind);
        for (size_t n = 0; n <= N; n = n < 130 ? n + 1 : n < 200 ? 1000 + random_u64() % 100 : n + 101) {
            GN(random_bits)(bits, n, (unsigned)(random_u64() % 5));
            GN(random_bits)(present, n, (unsigned)(random_u64() % 5));
            GN(check_bitsum)(points, exponents, bits, n % 3 ? present : NULL, n, &work);
        }
        GN(random_bits)(bits, N, 4);
        GN(check_bitsum)(points, exponents, bits, NULL, N, &work);
    }
    free(points);
    free(exponents);
}

/* Several tasks and threads; points repeat, so that few of them serve. */
static void GN(test_bitsum_large)(void **state)
{
    (void)state;
    enum { N = VARIABLES, DISTINCT = 500 };
    size_t words = (N + 63) / 64;
    GN(affine) *points = malloc(N * sizeof *points);
    fr *exponents = malloc(N * sizeof *exponents);
    uint64_t *bits = malloc(words * sizeof *bits), *present = malloc(words * sizeof *present);
    GN(known_points)(points, exponents, DISTINCT, POINTS_DISTINCT);
    for (size_t i = DISTINCT; i < N; i++) {
        size_t from = random_u64() % DISTINCT;
        points[i] = points[from];
        exponents[i] = exponents[from];
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct work work = {start_pool(threads), PRIORITY_NORMAL, NULL};
        GN(random_bits)(bits, N, threads);
        GN(random_bits)(present, N, 5 - threads);
        size_t before = mem_used();
        mem_peak_reset();
        GN(check_bitsum)(points, exponents, bits, present, N - threads, &work);
        assert_int_equal(mem_used(), before);
        assert_int_equal(mem_peak() - before, BITSUM_SCRATCH_BYTES(N - threads, threads));
        GN(check_bitsum)(points, exponents, bits, NULL, N - threads, &work);
        pool_end(work.pool);
    }
    free(points);
    free(exponents);
    free(bits);
    free(present);
}

static void GN(test_bitsum_failures)(void **state)
{
    (void)state;
    enum { N = 200 };
    struct cancel cancel;
    struct work work = {start_pool(2), PRIORITY_NORMAL, &cancel};
    GN(affine) points[N];
    fr exponents[N];
    uint64_t bits[N / 64 + 1], present[N / 64 + 1];
    GN(xyzz) sum;
    GN(known_points)(points, exponents, N, POINTS_DISTINCT);
    GN(random_bits)(bits, N, 3);
    GN(random_bits)(present, N, 3);
    size_t used = mem_used();
    atomic_init(&cancel.requested, true);
    assert_int_equal(BITSUM(&sum, points, bits, present, N, &work).code, STATUS_CANCELLED);
    assert_int_equal(BITSUM(&sum, points, bits, NULL, N, &work).code, STATUS_CANCELLED);
    atomic_store(&cancel.requested, false);
    unsigned failures = 0;
    for (;; failures++) {
        mem_fail_after(failures + 1);
        struct status s = BITSUM(&sum, points, bits, present, N, &work);
        mem_fail_after(0);
        assert_int_equal(mem_used(), used);
        if (!status_failed(&s))
            break;
        assert_int_equal(s.code, STATUS_MEMORY);
    }
    assert_int_equal(failures, 2);
    pool_end(work.pool);
}
