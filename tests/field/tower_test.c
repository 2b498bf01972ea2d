/* The pairing tower, in both flavours: each operation against a schoolbook product over Fp2[w]/(w^6 - (1+u)),
 * which knows nothing of Karatsuba or of the two-storey representation; Frobenius against powers. */
#include "field_test.h"

#include "field/fp12.h"

struct tower {
    void (*mul6)(fp6 *, const fp6 *, const fp6 *);
    void (*sqr6)(fp6 *, const fp6 *);
    void (*inv6)(fp6 *, const fp6 *, bool);
    void (*mul6_by_01)(fp6 *, const fp6 *, const fp2 *, const fp2 *);
    void (*mul6_by_1)(fp6 *, const fp6 *, const fp2 *);
    void (*mul)(fp12 *, const fp12 *, const fp12 *);
    void (*sqr)(fp12 *, const fp12 *);
    void (*inv)(fp12 *, const fp12 *, bool);
    void (*mul_by_014)(fp12 *, const fp12 *, const fp2 *, const fp2 *, const fp2 *);
    void (*cyclotomic_sqr)(fp12 *, const fp12 *);
    void (*frobenius)(fp12 *, const fp12 *, unsigned);
    void (*pow)(fp12 *, const fp12 *, const uint64_t *, size_t);
};

#define TOWER(s)                                                                                             \
    {                                                                                                        \
        fp6_mul_bulk##s, fp6_sqr_bulk##s, fp6_inv_bulk##s, fp6_mul_by_01_bulk##s, fp6_mul_by_1_bulk##s,      \
            fp12_mul_bulk##s, fp12_sqr_bulk##s, fp12_inv_bulk##s, fp12_mul_by_014_bulk##s,                   \
            fp12_cyclotomic_sqr_bulk##s, fp12_frobenius_bulk##s, fp12_pow_bulk##s                            \
    }

static const struct tower towers[] = {
    TOWER(_portable),
#ifdef CUZK_X86_64
    TOWER(_adx),
#endif
};

static size_t towers_count(void)
{
#ifdef CUZK_X86_64
    return flavour_available(FLAVOUR_ADX) ? 2 : 1;
#else
    return 1;
#endif
}

/* Coefficient of w^i. */
static fp2 *slot(fp12 *a, int i)
{
    fp6 *half = i % 2 ? &a->c1 : &a->c0;
    return i / 2 == 0 ? &half->c0 : i / 2 == 1 ? &half->c1 : &half->c2;
}

static void schoolbook(fp12 *out, const fp12 *a, const fp12 *b)
{
    fp12 x = *a, y = *b, z = {FP6_ZERO, FP6_ZERO};
    fp2 t;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            fp2_mul(&t, slot(&x, i), slot(&y, j));
            if (i + j >= 6)
                fp2_mul_nonresidue(&t, &t);
            fp2_add(slot(&z, (i + j) % 6), slot(&z, (i + j) % 6), &t);
        }
    *out = z;
}

/* Random, with some coefficients zero, one or minus one. */
static fp12 some_fp12(int round)
{
    fp12 a;
    for (int i = 0; i < 6; i++) {
        uint64_t kind = round % 3 == 0 ? 9 : test_random() % 6;
        *slot(&a, i) = kind == 0 ? FP2_ZERO : kind == 1 ? FP2_ONE : test_random_fp2();
        if (kind == 2)
            fp2_neg(slot(&a, i), &FP2_ONE);
    }
    return a;
}

/* A member of the cyclotomic subgroup: a^((p^6 - 1)(p^2 + 1)). */
static fp12 some_cyclotomic(const struct tower *t)
{
    fp12 a, b;
    do
        a = some_fp12(1);
    while (fp12_is_zero(&a));
    t->inv(&b, &a, true);
    fp12_conjugate(&a, &a);
    t->mul(&a, &a, &b);
    t->frobenius(&b, &a, 2);
    t->mul(&a, &a, &b);
    return a;
}

static void test_products(void **state)
{
    (void)state;
    for (size_t f = 0; f < towers_count(); f++)
        for (int round = 0; round < 600; round++) {
            const struct tower *t = &towers[f];
            fp12 a = some_fp12(round), b = some_fp12(round / 3), want, have;
            schoolbook(&want, &a, &b);
            t->mul(&have, &a, &b), assert_true(fp12_equal(&have, &want));
            have = a, t->mul(&have, &have, &b), assert_true(fp12_equal(&have, &want));
            have = b, t->mul(&have, &a, &have), assert_true(fp12_equal(&have, &want));
            schoolbook(&want, &a, &a);
            t->sqr(&have, &a), assert_true(fp12_equal(&have, &want));
            have = a, t->sqr(&have, &have), assert_true(fp12_equal(&have, &want));
            have = a, t->mul(&have, &have, &have), assert_true(fp12_equal(&have, &want));

            fp12 line = {FP6_ZERO, FP6_ZERO};
            line.c0.c0 = b.c0.c0, line.c0.c1 = b.c0.c1, line.c1.c1 = b.c1.c1;
            schoolbook(&want, &a, &line);
            t->mul_by_014(&have, &a, &b.c0.c0, &b.c0.c1, &b.c1.c1);
            assert_true(fp12_equal(&have, &want));
            have = a, t->mul_by_014(&have, &have, &b.c0.c0, &b.c0.c1, &b.c1.c1);
            assert_true(fp12_equal(&have, &want));
        }
}

static void test_products_fp6(void **state)
{
    (void)state;
    for (size_t f = 0; f < towers_count(); f++)
        for (int round = 0; round < 600; round++) {
            const struct tower *t = &towers[f];
            fp12 a = some_fp12(round), b = some_fp12(round / 3), want;
            fp6 have;
            a.c1 = b.c1 = FP6_ZERO;
            schoolbook(&want, &a, &b);
            t->mul6(&have, &a.c0, &b.c0), assert_true(fp6_equal(&have, &want.c0));
            have = a.c0, t->mul6(&have, &have, &b.c0), assert_true(fp6_equal(&have, &want.c0));
            have = b.c0, t->mul6(&have, &a.c0, &have), assert_true(fp6_equal(&have, &want.c0));
            schoolbook(&want, &a, &a);
            t->sqr6(&have, &a.c0), assert_true(fp6_equal(&have, &want.c0));
            have = a.c0, t->sqr6(&have, &have), assert_true(fp6_equal(&have, &want.c0));
            fp12 factor = b;
            factor.c0.c2 = FP2_ZERO;
            schoolbook(&want, &a, &factor);
            have = a.c0, t->mul6_by_01(&have, &have, &b.c0.c0, &b.c0.c1);
            assert_true(fp6_equal(&have, &want.c0));
            factor.c0.c0 = FP2_ZERO;
            schoolbook(&want, &a, &factor);
            have = a.c0, t->mul6_by_1(&have, &have, &b.c0.c1);
            assert_true(fp6_equal(&have, &want.c0));
            factor.c0.c1 = FP2_ONE;
            schoolbook(&want, &a, &factor);
            have = a.c0, fp6_mul_v(&have, &have), assert_true(fp6_equal(&have, &want.c0));
        }
}

static void test_inverses(void **state)
{
    (void)state;
    fp12 zero = {FP6_ZERO, FP6_ZERO};
    for (size_t f = 0; f < towers_count(); f++)
        for (int round = 0; round < 100; round++) {
            const struct tower *t = &towers[f];
            fp12 a = some_fp12(round), b, c;
            if (round == 1)
                a = zero;
            t->inv(&b, &a, false);
            t->inv(&c, &a, true);
            assert_true(fp12_equal(&b, &c));
            schoolbook(&b, &a, &c);
            assert_true(fp12_is_zero(&a) ? fp12_is_zero(&c) : fp12_is_one(&b));
            b = a, t->inv(&b, &b, true), assert_true(fp12_equal(&b, &c));

            fp6 x, y, one;
            fp6_one(&one);
            t->inv6(&x, &a.c0, false);
            t->inv6(&y, &a.c0, true);
            assert_true(fp6_equal(&x, &y));
            t->mul6(&x, &a.c0, &y);
            assert_true(fp6_is_zero(&a.c0) ? fp6_is_zero(&y) : fp6_equal(&x, &one));
        }
}

static void test_sums(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        fp12 a = some_fp12(round), b = some_fp12(round + 1), c, d, two = {FP6_ZERO, FP6_ZERO};
        fp2_dbl(&two.c0.c0, &FP2_ONE);
        fp12_add(&c, &a, &a), schoolbook(&d, &a, &two), assert_true(fp12_equal(&c, &d));
        fp12_sub(&c, &a, &b), fp12_add(&c, &c, &b), assert_true(fp12_equal(&c, &a));
        fp12_neg(&c, &a), fp12_add(&c, &c, &a), assert_true(fp12_is_zero(&c));
        fp6_dbl(&c.c0, &a.c0), fp6_add(&d.c0, &a.c0, &a.c0), assert_true(fp6_equal(&c.c0, &d.c0));
        fp6_sub(&c.c0, &a.c0, &b.c0), fp6_neg(&d.c0, &b.c0), fp6_add(&d.c0, &a.c0, &d.c0);
        assert_true(fp6_equal(&c.c0, &d.c0));
        c = a, slot(&c, round % 6)->c1.l[round % 5] ^= 1; /* equality looks at every coefficient */
        assert_false(fp12_equal(&c, &a));
    }
    fp12 one;
    fp12_one(&one);
    assert_true(fp12_is_one(&one) && !fp12_is_zero(&one));
}

static void test_frobenius(void **state)
{
    (void)state;
    for (size_t f = 0; f < towers_count(); f++)
        for (int round = 0; round < 4; round++) {
            const struct tower *t = &towers[f];
            fp12 a = some_fp12(round), power = a, have;
            for (unsigned k = 1; k <= 6; k++) {
                t->pow(&power, &power, FP_MODULUS.l, 6);
                if (k <= 3) {
                    t->frobenius(&have, &a, k);
                    assert_true(fp12_equal(&have, &power));
                    have = a, t->frobenius(&have, &have, k);
                    assert_true(fp12_equal(&have, &power));
                }
            }
            fp12_conjugate(&have, &a); /* the sixth power of Frobenius */
            assert_true(fp12_equal(&have, &power));
        }
}

static void test_cyclotomic(void **state)
{
    (void)state;
    for (size_t f = 0; f < towers_count(); f++)
        for (int round = 0; round < 50; round++) {
            const struct tower *t = &towers[f];
            fp12 a = some_cyclotomic(t), b, c;
            t->frobenius(&b, &a, 2); /* a^(p^4 - p^2 + 1) = 1 */
            t->frobenius(&c, &b, 2);
            t->mul(&c, &c, &a);
            assert_true(fp12_equal(&b, &c));
            schoolbook(&b, &a, &a);
            t->cyclotomic_sqr(&c, &a), assert_true(fp12_equal(&b, &c));
            c = a, t->cyclotomic_sqr(&c, &c), assert_true(fp12_equal(&b, &c));
            fp12_conjugate(&c, &a);
            t->mul(&c, &c, &a);
            assert_true(fp12_is_one(&c));
        }
}

static void test_pow(void **state)
{
    (void)state;
    for (size_t f = 0; f < towers_count(); f++)
        for (uint64_t e = 0; e < 40; e++) {
            fp12 a = some_fp12((int)e), have, want;
            fp12_one(&want);
            for (uint64_t i = 0; i < e; i++)
                schoolbook(&want, &want, &a);
            towers[f].pow(&have, &a, &e, 1);
            assert_true(fp12_equal(&have, &want));
        }
}

int main(int argc, char **argv)
{
    test_seed(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),  cmocka_unit_test(test_products_fp6),
        cmocka_unit_test(test_inverses),  cmocka_unit_test(test_sums),
        cmocka_unit_test(test_frobenius), cmocka_unit_test(test_cyclotomic),
        cmocka_unit_test(test_pow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
