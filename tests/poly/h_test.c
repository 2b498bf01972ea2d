/* The quotient polynomial: the published example, the literal recipe on random satisfied systems, and the
 * definition h (x^m - 1) = A B - C at a random point. */
#include "poly_test.h"
#include "base/hex.h"
#include "poly/h.h"

static void from_hex(fr *out, const char *text)
{
    uint8_t big[32] = {0}, little[32];
    char padded[65];
    snprintf(padded, sizeof padded, "%064d", 0);
    memcpy(padded + 64 - strlen(text), text, strlen(text));
    assert_true(hex_decode(big, 32, padded, 64));
    for (size_t i = 0; i < 32; i++)
        little[i] = big[31 - i];
    assert_true(fr_from_bytes(out, little));
}

/* T2 of the Groth16 specification, section 11: a xor b = 1 with a = 1, b = 0, and its two input rows. */
static void published_example(void **state)
{
    (void)state;
    static const char *const h[8] = {"90e91127f404dc9a40084e0a0c0a4e06a8ad0d03bffdf2febffffffec000000",
                                     "33d62598f3b854ac4beee6ed2cd45f99fd0b0e89481e705af3498bee6518363f",
                                     "32066efba711deb72b21ff8d0cadd839e7bc17f93c1e76eaf7498bee6918363f",
                                     "5cce03821b89e599ca3b44ccb16162a66b7c25b220dcd815fe9307dce2306c7e",
                                     "5e9dba1f68305b8eeb082c2cd187ea0680cb1c422cdcd185fa9307dcde306c7e",
                                     "3036b85e5a6b68c20a55182cec8750d9d26d2169301e7d7afb498bee6d18363f",
                                     "2e6701c10dc4f2cce98830cccc60c979bd1e2ad9241e840aff498bee7118363f",
                                     "0"};
    static const uint64_t a_values[8] = {0, 1, 2, 1, 1, 0, 0, 0}, b_values[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    struct work work = {0};
    struct domain d;
    test_open(&d, 3);
    for (int literal = 0; literal < 2; literal++) {
        fr a[8], b[8], c[8], expected[8];
        for (size_t i = 0; i < 8; i++) {
            fr_from_u64(&a[i], a_values[i]);
            fr_from_u64(&b[i], b_values[i]);
            c[i] = FR_ZERO;
            from_hex(&expected[i], h[i]);
        }
        test_ok(literal ? poly_h_literal(&d, &work, a, b, c) : poly_h(&d, &work, a, b, c));
        test_equal(a, expected, 8);
    }
    domain_close(&d);
}

/* A(x) B(x) - C(x) = h(x) (x^m - 1) at a random x. */
static void check_identity(const struct domain *d, const fr *a, const fr *b, const fr *c, const fr *h)
{
    fr x, z, left, right, at[3];
    const fr *values[3] = {a, b, c};
    struct work work = {0};
    test_random_fr(&x);
    fr_add(&x, &x, &FR_GENERATOR);
    for (int i = 0; i < 3; i++) {
        fr *p = test_copy(values[i], d->size);
        test_ok(ntt_inverse_natural(d, &work, p));
        test_evaluate(&at[i], p, d->size, &x);
        mem_free(p);
    }
    fr_mul(&left, &at[0], &at[1]);
    fr_sub(&left, &left, &at[2]);
    test_evaluate(&right, h, d->size, &x);
    fr_pow_u64_vartime(&z, &x, d->size);
    fr_sub(&z, &z, &FR_ONE);
    fr_mul(&right, &right, &z);
    assert_true(fr_equal(&left, &right));
}

static void random_satisfied_systems(void **state)
{
    (void)state;
    struct pool *pool;
    test_ok(pool_start(&pool, 2));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    for (unsigned k = 0; k <= 14; k++) {
        struct domain d;
        test_open(&d, k);
        size_t n = d.size, bytes = n * sizeof(fr);
        fr *a = test_vector(n), *b = test_vector(n), *c = mem_alloc(n, sizeof(fr));
        /* Padding, as systems have it: the last quarter is zero. */
        for (size_t i = n - n / 4; i < n; i++)
            a[i] = b[i] = FR_ZERO;
        for (size_t i = 0; i < n; i++)
            fr_mul(&c[i], &a[i], &b[i]);
        fr *h = test_copy(a, n), *t = test_copy(b, n), *scratch = test_vector(n);
        size_t before = mem_used();
        mem_peak_reset();
        test_ok(poly_h(&d, &work, h, t, scratch));
        assert_int_equal(mem_peak(), before);
        assert_true(fr_is_zero(&h[n - 1]));
        check_identity(&d, a, b, c, h);
        fr *literal = test_copy(a, n);
        memcpy(t, b, bytes);
        memcpy(scratch, c, bytes);
        test_ok(poly_h_literal(&d, &work, literal, t, scratch));
        test_equal(h, literal, n);
        mem_free(a);
        mem_free(b);
        mem_free(c);
        mem_free(h);
        mem_free(t);
        mem_free(scratch);
        mem_free(literal);
        domain_close(&d);
    }
    pool_end(pool);
}

/* The coset does not matter for satisfied systems; for others the literal recipe's answer depends on it. */
static void any_coset_gives_the_same(void **state)
{
    (void)state;
    struct work work = {0};
    fr root, odd, three;
    fr_root_of_unity(&root, 6);
    fr_root_of_unity(&odd, 7);
    fr_from_u64(&three, 3);
    const fr *shifts[3] = {&FR_GENERATOR, &three, &odd};
    fr *a = test_vector(64), *b = test_vector(64), *first[2] = {NULL, NULL};
    for (int i = 0; i < 3; i++) {
        struct domain d;
        test_ok(domain_open_with(&d, 6, &root, shifts[i]));
        fr *h = test_copy(a, 64), *t = test_copy(b, 64), *s = test_copy(b, 64);
        test_ok(poly_h(&d, &work, h, t, s));
        fr *wrong = test_copy(a, 64), *c = test_copy(a, 64);
        memcpy(t, b, 64 * sizeof(fr));
        test_ok(poly_h_literal(&d, &work, wrong, t, c));
        if (i == 0) {
            first[0] = test_copy(h, 64);
            first[1] = test_copy(wrong, 64);
        } else {
            test_equal(h, first[0], 64);
            assert_memory_not_equal(wrong, first[1], 64 * sizeof(fr));
        }
        mem_free(h);
        mem_free(t);
        mem_free(s);
        mem_free(wrong);
        mem_free(c);
        domain_close(&d);
    }
    mem_free(a);
    mem_free(b);
    mem_free(first[0]);
    mem_free(first[1]);
}

static void cancel_ends_it(void **state)
{
    (void)state;
    struct cancel cancel;
    atomic_init(&cancel.requested, true);
    struct work work = {NULL, PRIORITY_NORMAL, &cancel};
    struct domain d;
    test_open(&d, 4);
    fr *a = test_vector(16), *b = test_vector(16), *c = test_vector(16);
    assert_int_equal(poly_h(&d, &work, a, b, c).code, STATUS_CANCELLED);
    assert_int_equal(poly_h_literal(&d, &work, a, b, c).code, STATUS_CANCELLED);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    domain_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_example),
        cmocka_unit_test(random_satisfied_systems),
        cmocka_unit_test(any_coset_gives_the_same),
        cmocka_unit_test(cancel_ends_it),
    };
    test_seed_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed || mem_used() != 0;
}
