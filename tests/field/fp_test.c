/* Fp and Fp2 beyond the basic operations: constants, bytes, sign, inversion, square roots. Oracle: OpenSSL's
 * big numbers; for Fp2 the definition u^2 = -1 over checked Fp operations. */
#include "field_test.h"

static BN_CTX *ctx;

static BIGNUM *bn_of_fp(const fp *a)
{
    fp_int i;
    fp_to_int(&i, a);
    return test_bn(i.l, 6);
}

static BIGNUM *bn_p(void)
{
    return test_bn(FP_MODULUS.l, 6);
}

static void assert_fp_is_bn(const fp *a, const BIGNUM *want)
{
    BIGNUM *have = bn_of_fp(a);
    assert_int_equal(BN_cmp(have, want), 0);
    BN_free(have);
}

static void test_constants(void **state)
{
    (void)state;
    BIGNUM *p = bn_p(), *x = BN_new();
    fp_int plain;
    assert_int_equal(BN_num_bits(p), FP_BITS);
    assert_int_equal(BN_check_prime(p, ctx, NULL), 1);
    assert_int_equal(BN_mod_word(p, 4), 3);
    assert_true(FP_N0 * FP_MODULUS.l[0] == UINT64_MAX);
    BN_one(x);
    assert_true(BN_lshift(x, x, 384) && BN_nnmod(x, x, p, ctx));
    test_bn_to_limbs(plain.l, x, 6);
    assert_memory_equal(plain.l, FP_ONE.l, 48);
    assert_memory_equal(plain.l, FP2_ONE.c0.l, 48);
    assert_true(fp_is_zero(&FP2_ONE.c1));
    assert_true(BN_mod_sqr(x, x, p, ctx));
    test_bn_to_limbs(plain.l, x, 6);
    assert_memory_equal(plain.l, FP_R2.l, 48);
    BN_free(p), BN_free(x);
}

static void int_to_be(uint8_t bytes[48], const fp_int *a)
{
    for (int i = 0; i < 48; i++)
        bytes[47 - i] = (uint8_t)(a->l[i / 8] >> (i % 8 * 8));
}

static void test_bytes(void **state)
{
    (void)state;
    static struct limbs6 edges[TEST_EDGES_MAX];
    size_t count = test_edges(edges, FP_MODULUS.l, 6);
    BIGNUM *p = bn_p(), *twice = BN_new();
    for (size_t i = 0; i < count + 1000; i++) {
        fp_int a, back;
        uint8_t bytes[48], again[48];
        fp x;
        if (i < count)
            memcpy(a.l, edges[i].l, 48);
        else
            test_random_limbs(a.l, FP_MODULUS.l, 6);
        int_to_be(bytes, &a);
        assert_true(fp_int_from_bytes(&back, bytes));
        assert_memory_equal(&back, &a, 48);
        assert_true(fp_from_bytes(&x, bytes));
        fp_to_int(&back, &x);
        assert_memory_equal(&back, &a, 48);
        fp_to_bytes(again, &x);
        assert_memory_equal(again, bytes, 48);
        BIGNUM *v = test_bn(a.l, 6);
        assert_true(BN_lshift1(twice, v));
        assert_int_equal(fp_is_large(&x), BN_cmp(twice, p) > 0);
        BN_free(v);
    }
    BN_free(p), BN_free(twice);
}

static void test_bytes_not_canonical(void **state)
{
    (void)state;
    for (int limb = -1; limb < 6; limb++) {
        fp_int a = FP_MODULUS;
        uint8_t bytes[48], pair[96] = {0};
        if (limb >= 0)
            a.l[limb]++;
        int_to_be(bytes, &a);
        fp x = FP_ONE;
        assert_false(fp_from_bytes(&x, bytes));
        assert_true(fp_is_zero(&x));
        for (int half = 0; half < 2; half++) { /* either coordinate spoils the pair */
            memset(pair, 1, sizeof pair);
            memcpy(pair + 48 * half, bytes, 48);
            fp2 y = FP2_ONE;
            assert_false(fp2_from_bytes(&y, pair));
            assert_true(fp2_is_zero(&y));
        }
    }
}

static void check_inverse(const fp *a, const BIGNUM *p)
{
    fp fermat, vartime;
    fp_inv(&fermat, a);
    fp_inv_vartime(&vartime, a);
    assert_true(fp_equal(&fermat, &vartime));
    if (fp_is_zero(a)) {
        assert_true(fp_is_zero(&vartime));
        return;
    }
    BIGNUM *x = bn_of_fp(a), *inverse = BN_mod_inverse(NULL, x, p, ctx);
    assert_fp_is_bn(&vartime, inverse);
    BN_free(x), BN_free(inverse);
    fp in_place = *a;
    fp_inv_vartime(&in_place, &in_place);
    assert_true(fp_equal(&in_place, &vartime));
}

static void check_root(const fp *a, const BIGNUM *p)
{
    fp root, square, filled = FP_ONE;
    BIGNUM *x = bn_of_fp(a);
    int symbol = BN_kronecker(x, p, ctx);
    BN_free(x);
    bool found = fp_sqrt_vartime(&root, a);
    assert_int_equal(found, symbol >= 0);
    if (found) {
        fp_sqr(&square, &root);
        assert_true(fp_equal(&square, a));
    } else {
        assert_false(fp_sqrt_vartime(&filled, a));
        assert_true(fp_is_zero(&filled));
    }
}

static void test_inverse_and_root(void **state)
{
    (void)state;
    static struct limbs6 edges[TEST_EDGES_MAX];
    size_t count = test_edges(edges, FP_MODULUS.l, 6);
    BIGNUM *p = bn_p();
    for (size_t i = 0; i < count; i++) {
        fp_int plain;
        fp a;
        memcpy(plain.l, edges[i].l, 48);
        memcpy(a.l, edges[i].l, 48);
        check_inverse(&a, p);
        fp_from_int(&a, &plain);
        check_inverse(&a, p);
        check_root(&a, p);
    }
    for (int i = 0; i < 381; i++) {
        fp a = {{0}};
        a.l[i / 64] = UINT64_C(1) << (i % 64);
        if (limbs_less(a.l, FP_MODULUS.l, 6))
            check_inverse(&a, p);
    }
    for (int i = 0; i < 1000; i++) {
        fp a = test_random_fp();
        check_inverse(&a, p);
        check_root(&a, p);
    }
    BN_free(p);
}

static void test_pow(void **state)
{
    (void)state;
    BIGNUM *p = bn_p(), *want = BN_new();
    for (int i = 0; i < 200; i++) {
        fp a = i == 1 ? FP_ZERO : test_random_fp(), x;
        uint64_t e[7];
        size_t limbs = (size_t)(i % 8);
        for (size_t j = 0; j < limbs; j++)
            e[j] = i % 5 == 0 ? UINT64_MAX : i % 5 == 1 ? 0 : test_random();
        BIGNUM *base = bn_of_fp(&a), *exponent = test_bn(e, (int)limbs);
        assert_true(BN_mod_exp(want, base, exponent, p, ctx));
        fp_pow_vartime(&x, &a, e, limbs);
        assert_fp_is_bn(&x, want);
        BN_free(base), BN_free(exponent);
    }
    BN_free(p), BN_free(want);
}

/* Zero coordinates, equal and opposite ones among random elements. */
static fp2 some_fp2(int i)
{
    fp2 a = test_random_fp2();
    if (i % 8 == 1)
        a.c0 = FP_ZERO;
    if (i % 8 == 2)
        a.c1 = FP_ZERO;
    if (i % 8 == 3)
        a.c1 = a.c0;
    if (i % 8 == 4)
        fp_neg(&a.c1, &a.c0);
    if (i % 80 == 9)
        a = FP2_ZERO;
    return a;
}

static void test_fp2_ring(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        fp2 a = some_fp2(i), b = some_fp2(i / 8), c, d;
        fp s, t;
        fp2_mul(&c, &a, &b); /* by the definition */
        fp_mul(&s, &a.c0, &b.c0);
        fp_mul(&t, &a.c1, &b.c1);
        fp_sub(&d.c0, &s, &t);
        fp_mul(&s, &a.c0, &b.c1);
        fp_mul(&t, &a.c1, &b.c0);
        fp_add(&d.c1, &s, &t);
        assert_true(fp2_equal(&c, &d));
        d = a, fp2_mul(&d, &d, &b), assert_true(fp2_equal(&c, &d));
        d = b, fp2_mul(&d, &a, &d), assert_true(fp2_equal(&c, &d));
        fp2_mul(&c, &a, &a), fp2_sqr(&d, &a), assert_true(fp2_equal(&c, &d));
        d = a, fp2_sqr(&d, &d), assert_true(fp2_equal(&c, &d));
        fp2 nonresidue = {FP_ONE, FP_ONE};
        fp2_mul(&c, &a, &nonresidue), fp2_mul_nonresidue(&d, &a), assert_true(fp2_equal(&c, &d));
        d = a, fp2_mul_nonresidue(&d, &d), assert_true(fp2_equal(&c, &d));
        fp2 real = {b.c0, FP_ZERO};
        fp2_mul(&c, &a, &real), fp2_mul_fp(&d, &a, &b.c0), assert_true(fp2_equal(&c, &d));
        fp2_add(&c, &a, &a), fp2_dbl(&d, &a), assert_true(fp2_equal(&c, &d));
        fp2_neg(&c, &a), fp2_add(&d, &a, &c), assert_true(fp2_is_zero(&d));
        fp2_sub(&c, &a, &b), fp2_add(&c, &c, &b), assert_true(fp2_equal(&c, &a));
        fp2_conjugate(&c, &a), fp2_mul(&c, &c, &a), assert_true(fp_is_zero(&c.c1));
    }
}

static void test_fp2_inverse_and_root(void **state)
{
    (void)state;
    int squares = 0, others = 0;
    BIGNUM *p = bn_p();
    for (int i = 0; i < 800; i++) {
        fp2 a = some_fp2(i), b, c;
        fp2_inv(&b, &a);
        fp2_inv_vartime(&c, &a);
        assert_true(fp2_equal(&b, &c));
        fp2_mul(&c, &c, &a);
        assert_true(fp2_equal(&c, fp2_is_zero(&a) ? &FP2_ZERO : &FP2_ONE));

        fp norm, t; /* a is a square in Fp2 exactly when its norm is one in Fp */
        fp_sqr(&norm, &a.c0), fp_sqr(&t, &a.c1), fp_add(&norm, &norm, &t);
        BIGNUM *n = bn_of_fp(&norm);
        bool is_square = BN_kronecker(n, p, ctx) >= 0;
        BN_free(n);
        assert_int_equal(fp2_sqrt_vartime(&b, &a), is_square);
        if (is_square) {
            fp2_sqr(&c, &b);
            assert_true(fp2_equal(&c, &a));
        } else {
            assert_true(fp2_is_zero(&b));
        }
        squares += is_square, others += !is_square;
        fp2_sqr(&c, &a);
        assert_true(fp2_sqrt_vartime(&c, &c)); /* in place */
        fp2_neg(&b, &a);
        assert_true(fp2_equal(&c, &a) || fp2_equal(&c, &b));
    }
    assert_true(squares > 100 && others > 100);
    BN_free(p);
}

static void test_fp2_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        fp2 a = some_fp2(i), b;
        uint8_t bytes[96], c1[48], c0[48];
        fp2_to_bytes(bytes, &a);
        fp_to_bytes(c1, &a.c1), fp_to_bytes(c0, &a.c0);
        assert_memory_equal(bytes, c1, 48);
        assert_memory_equal(bytes + 48, c0, 48);
        assert_true(fp2_from_bytes(&b, bytes));
        assert_true(fp2_equal(&a, &b));
        assert_int_equal(fp2_is_large(&a), fp_is_zero(&a.c1) ? fp_is_large(&a.c0) : fp_is_large(&a.c1));
        fp2_neg(&b, &a);
        if (!fp2_is_zero(&a))
            assert_true(fp2_is_large(&a) != fp2_is_large(&b));
        else
            assert_false(fp2_is_large(&a));
    }
}

int main(int argc, char **argv)
{
    test_seed(argc, argv);
    ctx = BN_CTX_new();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_not_canonical),
        cmocka_unit_test(test_inverse_and_root),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_fp2_ring),
        cmocka_unit_test(test_fp2_inverse_and_root),
        cmocka_unit_test(test_fp2_bytes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    BN_CTX_free(ctx);
    return failed;
}
