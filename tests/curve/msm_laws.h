/* The tests of multi-scalar multiplication in one group: a template, included by msm_test.c with GROUP,
 * FIELD, GENERATOR, TERMS (the most a test uses) and the names of the functions defined. No include guard. */

struct GN(known) {
    GN(affine) * points;
    fr *exponents, *scalars;
};

static void GN(known_start)(struct GN(known) * k, size_t n, enum point_kind kind)
{
    k->points = calloc(n + 1, sizeof *k->points);
    k->exponents = calloc(n + 1, sizeof *k->exponents);
    k->scalars = calloc(n + 1, sizeof *k->scalars);
    GN(known_points)(k->points, k->exponents, n, kind);
}

static void GN(known_end)(struct GN(known) * k)
{
    free(k->points);
    free(k->exponents);
    free(k->scalars);
}

static void GN(check_msm)(const struct GN(known) * k, size_t n, const struct work *work)
{
    GN(xyzz) sum;
    fr expected;
    inner_product(&expected, k->scalars, k->exponents, n);
    assert_ok(MSM(&sum, k->points, k->scalars, n, work));
    GN(assert_exponent)(&sum, &expected);
}

/* Against a plain sum of multiples. */
static void GN(test_msm_naive)(void **state)
{
    (void)state;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    struct GN(known) k;
    enum { N = 70 };
    GN(known_start)(&k, N, POINTS_FEW);
    known_scalars(k.scalars, N, SCALARS_EDGE);
    for (size_t n = 0; n <= N; n += n == 40 ? 30 : n == 10 ? 15 : 5) {
        GN(xyzz) expected, sum, p;
        fr_int s;
        GN(infinity)(&expected);
        for (size_t i = 0; i < n; i++) {
            GN(from_affine)(&p, &k.points[i]);
            fr_to_int(&s, &k.scalars[i]);
            GN(mul_vartime)(&p, &p, &s);
            GN(add)(&expected, &expected, &p);
        }
        assert_ok(MSM(&sum, k.points, k.scalars, n, &work));
        assert_true(GN(equal)(&sum, &expected));
    }
    GN(known_end)(&k);
}

/* Every size to 40 and around the change of method, every kind of scalars and of points. */
static void GN(test_msm_sizes)(void **state)
{
    (void)state;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    for (enum point_kind points = 0; points < POINT_KINDS; points++) {
        struct GN(known) k;
        GN(known_start)(&k, TERMS, points);
        for (enum scalar_kind scalars = 0; scalars < SCALAR_KINDS; scalars++) {
            size_t sizes[] = {0, 62, 63, 64, 65, 128 + random_u64() % 100, TERMS};
            known_scalars(k.scalars, TERMS, scalars);
            for (sizes[0] = 0; sizes[0] <= 40; sizes[0] += scalars == SCALARS_RANDOM ? 1 : 8)
                GN(check_msm)(&k, sizes[0], &work);
            for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++)
                GN(check_msm)(&k, sizes[i], &work);
        }
        GN(known_end)(&k);
    }
}

/* Several chunks, threads and priorities; points all different, made by fixed-base multiplication. */
static void GN(test_msm_large)(void **state)
{
    (void)state;
    const size_t N = GN(batch_task_sums)() * 5 / 4 + random_u64() % 100; /* more than one chunk */
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    struct GN(known) k = {malloc(N * sizeof *k.points), malloc(N * sizeof(fr)), malloc(N * sizeof(fr))};
    struct FIXED_BASE *table;
    known_scalars(k.exponents, N, SCALARS_RANDOM);
    assert_ok(FIXED_BASE_MAKE(&table, &GENERATOR, N, &work));
    assert_ok(FIXED_BASE_MUL(k.points, table, k.exponents, N, &work));
    FIXED_BASE_END(table);
    for (unsigned threads = 1; threads <= 3; threads++) {
        static const enum scalar_kind kinds[] = {SCALARS_RANDOM, SCALARS_EDGE, SCALARS_EQUAL};
        work.pool = start_pool(threads);
        known_scalars(k.scalars, N, kinds[threads - 1]);
        GN(check_msm)(&k, N - threads, &work);
        GN(check_msm)(&k, N / 8, &work);
        pool_end(work.pool);
    }
    work.pool = start_pool(40); /* more than windows: several bucket sets */
    known_scalars(k.scalars, N, SCALARS_RANDOM);
    GN(check_msm)(&k, N, &work);
    pool_end(work.pool);
    GN(known_end)(&k);
}

static void GN(test_msm_indexed)(void **state)
{
    (void)state;
    struct work work = {start_pool(2), PRIORITY_HIGH, NULL};
    enum { POINTS = 200 };
    struct GN(known) k;
    uint32_t index[TERMS];
    fr scalars[TERMS], exponents[TERMS], expected;
    GN(xyzz) sum;
    GN(known_start)(&k, POINTS, POINTS_DISTINCT);
    known_scalars(scalars, TERMS, SCALARS_EDGE);
    for (size_t i = 0; i < TERMS; i++) {
        index[i] = (uint32_t)(random_u64() % POINTS);
        exponents[i] = k.exponents[index[i]];
    }
    size_t sizes[] = {0, 1, 2, 7, 30, 63, 64, 65, 300, TERMS};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        inner_product(&expected, scalars, exponents, sizes[i]);
        assert_ok(MSM_INDEXED(&sum, k.points, index, scalars, sizes[i], &work));
        GN(assert_exponent)(&sum, &expected);
    }
    GN(known_end)(&k);
    pool_end(work.pool);
}

/* The plan's bytes are what is used, and nothing is left behind. */
static void GN(test_msm_memory)(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct GN(known) k;
    uint32_t index[N];
    GN(xyzz) sum;
    GN(known_start)(&k, 100, POINTS_DISTINCT);
    fr *scalars = malloc(N * sizeof *scalars);
    known_scalars(scalars, N, SCALARS_RANDOM);
    for (size_t i = 0; i < N; i++)
        index[i] = (uint32_t)(i % 100);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct work work = {start_pool(threads), PRIORITY_NORMAL, NULL};
        for (size_t n = 1; n <= N; n = 3 * n + 7) {
            size_t before = mem_used(), planned = MSM_SCRATCH_BYTES(n, threads);
            mem_peak_reset();
            assert_ok(MSM_INDEXED(&sum, k.points, index, scalars, n, &work));
            assert_int_equal(mem_used(), before);
            assert_in_range(mem_peak() - before, planned - planned / 20, planned);
            mem_peak_reset();
            assert_ok(MSM(&sum, k.points, scalars, n < 100 ? n : 100, &work));
            assert_true(mem_peak() - before <= MSM_SCRATCH_BYTES(n < 100 ? n : 100, threads));
        }
        pool_end(work.pool);
    }
    free(scalars);
    GN(known_end)(&k);
}

static void GN(test_msm_failures)(void **state)
{
    (void)state;
    struct cancel cancel;
    struct work work = {start_pool(2), PRIORITY_NORMAL, &cancel};
    struct GN(known) k;
    GN(xyzz) sum;
    size_t used;
    GN(known_start)(&k, 200, POINTS_DISTINCT);
    known_scalars(k.scalars, 200, SCALARS_RANDOM);
    atomic_init(&cancel.requested, true);
    used = mem_used();
    for (size_t n = 1; n <= 200; n += 199)
        assert_int_equal(MSM(&sum, k.points, k.scalars, n, &work).code, STATUS_CANCELLED);
    atomic_store(&cancel.requested, false);
    unsigned failures = 0;
    for (;; failures++) {
        mem_fail_after(failures + 1);
        struct status s = MSM(&sum, k.points, k.scalars, 200, &work);
        mem_fail_after(0);
        assert_int_equal(mem_used(), used);
        if (!status_failed(&s))
            break;
        assert_int_equal(s.code, STATUS_MEMORY);
    }
    assert_int_equal(failures, 3);
    GN(known_end)(&k);
    pool_end(work.pool);
}
