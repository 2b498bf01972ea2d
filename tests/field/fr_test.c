/* Fr beyond the basic operations: constants, bytes, reduction, powers, inversion, roots of unity, dot
 * products. Oracle: OpenSSL's big numbers. */
#include "field_test.h"

#include "field/flavour.h"
#include "field/fr_dot.h"

static BN_CTX *ctx;

static BIGNUM *bn_of_fr(const fr *a)
{
    fr_int i;
    fr_to_int(&i, a);
    return test_bn(i.l, 4);
}

static BIGNUM *bn_r(void)
{
    return test_bn(FR_MODULUS.l, 4);
}

static void assert_fr_is_bn(const fr *a, const BIGNUM *want)
{
    BIGNUM *have = bn_of_fr(a);
    assert_int_equal(BN_cmp(have, want), 0);
    BN_free(have);
}

static void test_constants(void **state)
{
    (void)state;
    BIGNUM *r = bn_r(), *x = BN_new(), *e = BN_new();
    assert_int_equal(BN_num_bits(r), FR_BITS);
    assert_int_equal(BN_check_prime(r, ctx, NULL), 1);
    assert_true(FR_N0 * FR_MODULUS.l[0] == UINT64_MAX);

    fr_int plain;
    BN_one(x);
    assert_true(BN_lshift(x, x, 256) && BN_nnmod(x, x, r, ctx));
    test_bn_to_limbs(plain.l, x, 4);
    assert_memory_equal(plain.l, FR_ONE.l, 32);
    assert_true(BN_mod_sqr(x, x, r, ctx));
    test_bn_to_limbs(plain.l, x, 4);
    assert_memory_equal(plain.l, FR_R2.l, 32);

    /* 7 generates: no prime factor of r - 1 divides its index */
    static const uint64_t factors[] = {2,      3,      11,      19,      10177,    125527,
                                       859267, 906349, 2508409, 2529403, 52437899, 254760293};
    BIGNUM *seven = bn_of_fr(&FR_GENERATOR), *left = BN_new();
    assert_true(BN_is_word(seven, 7));
    assert_true(BN_sub(left, r, BN_value_one()));
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        while (BN_mod_word(left, factors[i]) == 0)
            BN_div_word(left, factors[i]);
        assert_true(BN_sub(e, r, BN_value_one()));
        BN_div_word(e, factors[i]);
        assert_true(BN_mod_exp(x, seven, e, r, ctx));
        assert_false(BN_is_one(x));
    }
    assert_true(BN_is_one(left)); /* the list of factors is complete */

    assert_true(BN_sub(e, r, BN_value_one()) && BN_rshift(e, e, FR_TWO_ADICITY));
    assert_true(BN_is_odd(e));
    assert_true(BN_mod_exp(x, seven, e, r, ctx));
    assert_fr_is_bn(&FR_ROOT, x);
    BN_free(r), BN_free(x), BN_free(e), BN_free(seven), BN_free(left);
}

static void test_roots(void **state)
{
    (void)state;
    fr minus_one, w, previous;
    fr_neg(&minus_one, &FR_ONE);
    for (unsigned k = 0; k <= FR_TWO_ADICITY; k++) {
        fr_root_of_unity(&w, k);
        fr power = w;
        for (unsigned i = 1; i < k; i++)
            fr_sqr(&power, &power);
        assert_true(fr_equal(&power, k == 0 ? &FR_ONE : &minus_one));
        if (k > 0) {
            fr_sqr(&power, &w);
            assert_true(fr_equal(&power, &previous));
        }
        previous = w;
    }
    assert_true(fr_equal(&w, &FR_ROOT));
}

static void test_bytes(void **state)
{
    (void)state;
    static struct limbs6 edges[TEST_EDGES_MAX];
    size_t count = test_edges(edges, FR_MODULUS.l, 4);
    for (size_t i = 0; i < count + 1000; i++) {
        fr_int a, back;
        uint8_t bytes[32], again[32];
        if (i < count)
            memcpy(a.l, edges[i].l, 32);
        else
            test_random_limbs(a.l, FR_MODULUS.l, 4);
        fr_int_to_bytes(bytes, &a);
        for (int j = 0; j < 32; j++)
            assert_int_equal(bytes[j], a.l[j / 8] >> (j % 8 * 8) & 255);
        assert_true(fr_int_from_bytes(&back, bytes));
        assert_memory_equal(&back, &a, 32);
        fr x;
        assert_true(fr_from_bytes(&x, bytes));
        fr_to_int(&back, &x);
        assert_memory_equal(&back, &a, 32);
        fr_to_bytes(again, &x);
        assert_memory_equal(again, bytes, 32);
    }
    fr seven;
    fr_from_u64(&seven, 7);
    assert_true(fr_equal(&seven, &FR_GENERATOR));
}

static void test_bytes_not_canonical(void **state)
{
    (void)state;
    for (int limb = -1; limb < 4; limb++) {
        fr_int a = FR_MODULUS; /* r, then r with one limb increased */
        uint8_t bytes[32];
        if (limb >= 0)
            a.l[limb]++;
        fr_int_to_bytes(bytes, &a);
        fr x = FR_ONE;
        assert_false(fr_from_bytes(&x, bytes));
        assert_true(fr_is_zero(&x));
        fr_int back = {{1, 1, 1, 1}};
        assert_false(fr_int_from_bytes(&back, bytes));
        assert_true(limbs_is_zero(back.l, 4));
    }
    uint8_t ones[32];
    memset(ones, 255, sizeof ones);
    fr x = FR_ONE;
    assert_false(fr_from_bytes(&x, ones));
    assert_true(fr_is_zero(&x));
}

static void test_reduce(void **state)
{
    (void)state;
    BIGNUM *r = bn_r();
    for (size_t length = 0; length <= 64; length++)
        for (int round = 0; round < 20; round++) {
            uint8_t bytes[64];
            for (size_t i = 0; i < length; i++)
                bytes[i] = round == 0 ? 255 : (uint8_t)test_random();
            if (round == 1)
                memset(bytes, 0, length);
            fr x;
            fr_from_bytes_reduce(&x, bytes, length);
            BIGNUM *want = BN_lebin2bn(bytes, (int)length, NULL);
            assert_true(BN_nnmod(want, want, r, ctx));
            assert_fr_is_bn(&x, want);
            BN_free(want);
        }
    BN_free(r);
}

static void check_inverse(const fr *a, const BIGNUM *r)
{
    fr fermat, vartime, product;
    fr_inv(&fermat, a);
    fr_inv_vartime(&vartime, a);
    assert_true(fr_equal(&fermat, &vartime));
    fr_mul(&product, a, &vartime);
    assert_true(fr_equal(&product, fr_is_zero(a) ? &FR_ZERO : &FR_ONE));
    if (fr_is_zero(a)) {
        assert_true(fr_is_zero(&vartime));
        return;
    }
    BIGNUM *x = bn_of_fr(a), *inverse = BN_mod_inverse(NULL, x, r, ctx);
    assert_fr_is_bn(&vartime, inverse);
    BN_free(x), BN_free(inverse);
    fr in_place = *a;
    fr_inv_vartime(&in_place, &in_place);
    assert_true(fr_equal(&in_place, &vartime));
}

static void test_inverse(void **state)
{
    (void)state;
    static struct limbs6 edges[TEST_EDGES_MAX];
    size_t count = test_edges(edges, FR_MODULUS.l, 4);
    BIGNUM *r = bn_r();
    for (size_t i = 0; i < count; i++) {
        fr_int plain;
        fr a;
        memcpy(plain.l, edges[i].l, 32);
        memcpy(a.l, edges[i].l, 32); /* as a residue, then as a value */
        check_inverse(&a, r);
        fr_from_int(&a, &plain);
        check_inverse(&a, r);
    }
    for (int i = 0; i < 256; i++) { /* powers of two: long runs of zeros */
        fr a = {{0}};
        a.l[i / 64] = UINT64_C(1) << (i % 64);
        if (limbs_less(a.l, FR_MODULUS.l, 4))
            check_inverse(&a, r);
    }
    for (int i = 0; i < 2000; i++) {
        fr a = test_random_fr();
        check_inverse(&a, r);
    }
    BN_free(r);
}

static void test_inverse_batch(void **state)
{
    (void)state;
    enum { MOST = 40 };
    for (size_t n = 0; n <= MOST; n++)
        for (int zeros = 0; zeros < 4; zeros++) { /* none, some, all but one, all */
            fr a[MOST + 1], before[MOST + 1], scratch[MOST];
            for (size_t i = 0; i < n; i++) {
                a[i] = test_random_fr();
                if ((zeros == 1 && test_random() % 3 == 0) || (zeros == 2 && i != n / 2) || zeros == 3)
                    a[i] = FR_ZERO;
            }
            a[n] = FR_ROOT; /* must stay */
            memcpy(before, a, sizeof before);
            fr_inv_batch_vartime(a, scratch, n);
            for (size_t i = 0; i < n; i++) {
                fr want;
                fr_inv(&want, &before[i]);
                assert_true(fr_equal(&a[i], &want));
            }
            assert_true(fr_equal(&a[n], &FR_ROOT));
        }
}

static void test_pow(void **state)
{
    (void)state;
    BIGNUM *r = bn_r(), *want = BN_new();
    for (int i = 0; i < 400; i++) {
        fr a = i == 1 ? FR_ZERO : test_random_fr(), x;
        uint64_t e[6];
        size_t limbs = (size_t)(i % 7);
        for (size_t j = 0; j < limbs; j++)
            e[j] = i % 5 == 0 ? UINT64_MAX : i % 5 == 1 ? 0 : test_random();
        BIGNUM *base = bn_of_fr(&a), *exponent = test_bn(e, (int)limbs);
        assert_true(BN_mod_exp(want, base, exponent, r, ctx));
        fr_pow_vartime(&x, &a, e, limbs);
        assert_fr_is_bn(&x, want);
        fr_pow_vartime(&a, &a, e, limbs);
        assert_true(fr_equal(&x, &a));
        BN_free(base), BN_free(exponent);
    }
    for (uint64_t e = 0; e < 100; e++) {
        fr a = test_random_fr(), x, y = FR_ONE;
        for (uint64_t i = 0; i < e; i++)
            fr_mul(&y, &y, &a);
        fr_pow_u64_vartime(&x, &a, e);
        assert_true(fr_equal(&x, &y));
    }
    BN_free(r), BN_free(want);
}

static void check_dot(const fr *a, const fr *b, size_t n)
{
    fr want = FR_ZERO, have, product;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&product, &a[i], &b[i]);
        fr_add(&want, &want, &product);
    }
    fr_dot_bulk_portable(&have, a, b, n);
    assert_true(fr_equal(&have, &want));
#ifdef CUZK_X86_64
    if (flavour_available(FLAVOUR_ADX)) {
        fr_dot_bulk_adx(&have, a, b, n);
        assert_true(fr_equal(&have, &want));
    }
#endif
    fr_dot(&have, a, b, n);
    assert_true(fr_equal(&have, &want));
}

static void test_dot(void **state)
{
    (void)state;
    fr a[FR_DOT_MAX], b[FR_DOT_MAX], largest;
    memcpy(&largest, &FR_MODULUS, sizeof largest);
    largest.l[0]--;
    for (int round = 0; round < 200; round++)
        for (size_t n = 0; n <= FR_DOT_MAX; n++) {
            for (size_t i = 0; i < n; i++) {
                uint64_t kind = round == 0 ? 0 : round == 1 ? 1 : test_random() % 8;
                a[i] = kind == 0 ? largest : kind == 2 ? FR_ZERO : test_random_fr();
                b[i] = kind == 0 ? largest : kind == 3 ? FR_ZERO : test_random_fr();
            }
            check_dot(a, b, n);
        }
    fr want;
    fr_dot(&want, a, b, 5);
    fr_dot(&a[2], a, b, 5); /* the result in place of an input */
    assert_true(fr_equal(&a[2], &want));
}

int main(int argc, char **argv)
{
    test_seed(argc, argv);
    ctx = BN_CTX_new();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),     cmocka_unit_test(test_roots),
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_bytes_not_canonical),
        cmocka_unit_test(test_reduce),        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_inverse_batch), cmocka_unit_test(test_pow),
        cmocka_unit_test(test_dot),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    BN_CTX_free(ctx);
    return failed;
}
