/* The tests of fixed-base multiplication in one group: a template, included by fixed_base_test.c with GROUP,
 * FIELD, GENERATOR, SCALARS and the names of the functions defined. No include guard. */

static void GN(check_multiple)(const GN(affine) * got, const fr *scalar, const fr *base)
{
    fr e;
    GN(affine) expected;
    fr_mul(&e, scalar, base);
    GN(known_point)(&expected, &e);
    assert_true(GN(affine_equal)(got, &expected));
}

/* Every kind of scalars; tables for few and many, so with small and large windows. */
static void GN(test_fixed_base_kinds)(void **state)
{
    (void)state;
    enum { N = 300 };
    static const size_t sizes[] = {0, 1, 2, 40, 1000, 20000};
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    fr scalars[N], base;
    GN(affine) out[N], point;
    random_fr(&base);
    GN(known_point)(&point, &base);
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
        struct FIXED_BASE *table;
        size_t before = mem_used();
        assert_ok(FIXED_BASE_MAKE(&table, &point, sizes[size], &work));
        assert_int_equal(mem_used() - before, FIXED_BASE_TABLE_BYTES(sizes[size]));
        for (enum scalar_kind kind = 0; kind < SCALAR_KINDS; kind++) {
            size_t n = kind == SCALARS_EDGE ? N : 10;
            known_scalars(scalars, N, kind);
            assert_ok(FIXED_BASE_MUL(out, table, scalars, N, &work));
            for (size_t i = 0; i < n; i++)
                GN(check_multiple)(&out[i], &scalars[i], &base);
        }
        FIXED_BASE_END(table);
        assert_int_equal(mem_used(), before);
    }
    FIXED_BASE_END(NULL);
}

/* Sizes about a task, several threads: all results through one random combination, so by one check. */
static void GN(test_fixed_base_threads)(void **state)
{
    (void)state;
    fr *scalars = malloc((SCALARS + 1) * sizeof *scalars), *weights = malloc(SCALARS * sizeof *weights), sum;
    GN(affine) *out = malloc((SCALARS + 1) * sizeof *out), guard;
    GN(xyzz) got;
    known_scalars(scalars, SCALARS, SCALARS_RANDOM);
    known_scalars(weights, SCALARS, SCALARS_RANDOM);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct work work = {start_pool(threads), PRIORITY_NORMAL, NULL};
        struct FIXED_BASE *table;
        assert_ok(FIXED_BASE_MAKE(&table, &GENERATOR, SCALARS, &work));
        size_t sizes[] = {0, 1, 511, 512, 513, SCALARS - 1, SCALARS};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i];
            memset(&guard, 0x55, sizeof guard);
            out[n] = guard;
            assert_ok(FIXED_BASE_MUL(out, table, scalars, n, &work));
            assert_memory_equal(&out[n], &guard, sizeof guard);
            inner_product(&sum, scalars, weights, n);
            assert_ok(MSM(&got, out, weights, n, &work));
            GN(assert_exponent)(&got, &sum);
        }
        FIXED_BASE_END(table);
        pool_end(work.pool);
    }
    free(scalars);
    free(weights);
    free(out);
}

static void GN(test_fixed_base_infinity)(void **state)
{
    (void)state;
    enum { N = 20 };
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    struct FIXED_BASE *table;
    GN(affine) out[N], infinity = {0};
    fr scalars[N];
    known_scalars(scalars, N, SCALARS_RANDOM);
    assert_ok(FIXED_BASE_MAKE(&table, &infinity, N, &work));
    assert_ok(FIXED_BASE_MUL(out, table, scalars, N, &work));
    for (size_t i = 0; i < N; i++)
        assert_true(GN(affine_is_infinity)(&out[i]));
    FIXED_BASE_END(table);
}

static void GN(test_fixed_base_failures)(void **state)
{
    (void)state;
    enum { N = 20 };
    struct cancel cancel;
    struct work work = {start_pool(2), PRIORITY_NORMAL, &cancel};
    struct FIXED_BASE *table;
    GN(affine) out[N];
    fr scalars[N];
    unsigned failures = 0;
    size_t used = mem_used();
    known_scalars(scalars, N, SCALARS_RANDOM);
    atomic_init(&cancel.requested, true);
    assert_int_equal(FIXED_BASE_MAKE(&table, &GENERATOR, 5000, &work).code, STATUS_CANCELLED);
    assert_null(table);
    assert_int_equal(mem_used(), used);
    atomic_store(&cancel.requested, false);
    for (;; failures++) {
        mem_fail_after(failures + 1);
        struct status s = FIXED_BASE_MAKE(&table, &GENERATOR, N, &work);
        mem_fail_after(0);
        if (!status_failed(&s))
            break;
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_null(table);
        assert_int_equal(mem_used(), used);
    }
    assert_int_equal(failures, 3);
    used = mem_used();
    mem_fail_after(1);
    assert_int_equal(FIXED_BASE_MUL(out, table, scalars, N, &work).code, STATUS_MEMORY);
    mem_fail_after(0);
    assert_int_equal(mem_used(), used);
    atomic_store(&cancel.requested, true);
    assert_int_equal(FIXED_BASE_MUL(out, table, scalars, N, &work).code, STATUS_CANCELLED);
    assert_int_equal(mem_used(), used);
    FIXED_BASE_END(table);
    pool_end(work.pool);
}
