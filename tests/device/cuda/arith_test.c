/* The card's field and point arithmetic (the .cuh headers of device/cuda, compiled for the host) against
 * field/ and curve/, on random values, on the edges, and on every lazy representative that the contracts
 * allow. */
#include "arith_shim.h"
#include "curve/point.h"
#include "field/fp2.h"
#include "field/fr.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 1;

static uint64_t next_u64(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Values whose limbs are often 0 or all ones: carries happen there. */
static void random_limbs(uint64_t *l, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t kind = next_u64() % 8;
        l[i] = kind == 0 ? 0 : kind == 1 ? UINT64_MAX : kind == 2 ? UINT64_C(0xffffffff) : next_u64();
    }
}

static fp random_fp(int i)
{
    fp a;
    do {
        random_limbs(a.l, 6);
        a.l[5] &= UINT64_C(0x1fffffffffffffff);
    } while (!limbs_less(a.l, FP_MODULUS.l, 6));
    if (i == 0)
        a = FP_ZERO;
    if (i == 1)
        a = FP_ONE;
    if (i == 2)
        fp_neg(&a, &FP_ONE);
    if (i == 3) {
        limbs_sub(a.l, FP_MODULUS.l, (const uint64_t[6]){1, 0, 0, 0, 0, 0}, 6);
    }
    return a;
}

static fr random_fr(int i)
{
    fr a;
    do {
        random_limbs(a.l, 4);
        a.l[3] &= UINT64_C(0x7fffffffffffffff);
    } while (!limbs_less(a.l, FR_MODULUS.l, 4));
    if (i == 0)
        a = FR_ZERO;
    if (i == 1)
        a = FR_ONE;
    if (i == 2)
        fr_neg(&a, &FR_ONE);
    if (i == 3) {
        limbs_sub(a.l, FR_MODULUS.l, (const uint64_t[4]){1, 0, 0, 0}, 4);
    }
    return a;
}

/* The same residue, as it is (lift 0) or with the modulus added (lift 1). */
static fp lifted(fp a, int lift)
{
    if (lift)
        limbs_add(a.l, a.l, FP_MODULUS.l, 6);
    return a;
}

static fr lifted_fr(fr a, int lift)
{
    if (lift)
        limbs_add(a.l, a.l, FR_MODULUS.l, 4);
    return a;
}

#define WORDS(x) ((const uint32_t *)(const void *)&(x))
#define OUT(x)   ((uint32_t *)(void *)&(x))

static void fp_is_as_on_the_host(void **unused)
{
    (void)unused;
    for (int n = 0; n < 3000; n++) {
        fp a = random_fp(n % 60), b = random_fp(n / 60 % 60), c = random_fp(-1), d = random_fp(-1), want, t,
           got;
        for (int lift = 0; lift < 4; lift++) {
            fp la = lifted(a, lift & 1), lb = lifted(b, lift >> 1);
            fp_mul(&want, &a, &b);
            assert_true(shim_fp(OUT(got), SHIM_MUL, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
            fp_sqr(&want, &a);
            assert_true(shim_fp(OUT(got), SHIM_SQR, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
            fp_add(&want, &a, &b);
            assert_true(shim_fp(OUT(got), SHIM_ADD, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
            fp_sub(&want, &a, &b);
            assert_true(shim_fp(OUT(got), SHIM_SUB, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
            fp_mul(&want, &want, &b);
            assert_true(shim_fp(OUT(got), SHIM_SUB_WIDE_MUL, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
            fp_neg(&want, &a);
            assert_true(shim_fp(OUT(got), SHIM_NEG, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
            fp lc = lifted(c, lift & 1), ld = lifted(d, lift & 1);
            fp_mul(&want, &a, &b);
            fp_mul(&t, &c, &d);
            fp_add(&want, &want, &t);
            assert_true(shim_fp_mul_add_mul(OUT(got), WORDS(la), WORDS(lb), WORDS(lc), WORDS(ld)));
            assert_memory_equal(&got, &want, sizeof got);
        }
    }
}

static void fp_inverse_is_as_on_the_host(void **unused)
{
    (void)unused;
    for (int n = 0; n < 300; n++) {
        fp a = random_fp(n), want, got, la = lifted(a, n & 1);
        fp_inv(&want, &a);
        assert_true(shim_fp(OUT(got), SHIM_INVERSE, WORDS(la), WORDS(la)));
        assert_memory_equal(&got, &want, sizeof got);
    }
}

static void fp2_is_as_on_the_host(void **unused)
{
    (void)unused;
    for (int n = 0; n < 2000; n++) {
        fp2 a = {random_fp(n % 7), random_fp(n / 7 % 7)}, b = {random_fp(n / 49 % 7), random_fp(n / 343)};
        fp2 want, got, la = {lifted(a.c0, n & 1), lifted(a.c1, n >> 1 & 1)};
        fp2 lb = {lifted(b.c0, n >> 2 & 1), lifted(b.c1, n >> 3 & 1)};
        fp2_mul(&want, &a, &b);
        assert_true(shim_fp2(OUT(got), SHIM_MUL, WORDS(la), WORDS(lb)));
        assert_memory_equal(&got, &want, sizeof got);
        fp2_sqr(&want, &a);
        assert_true(shim_fp2(OUT(got), SHIM_SQR, WORDS(la), WORDS(lb)));
        assert_memory_equal(&got, &want, sizeof got);
        fp2_sub(&want, &a, &b);
        assert_true(shim_fp2(OUT(got), SHIM_SUB, WORDS(la), WORDS(lb)));
        assert_memory_equal(&got, &want, sizeof got);
        if (n < 100) {
            fp2_inv(&want, &a);
            assert_true(shim_fp2(OUT(got), SHIM_INVERSE, WORDS(la), WORDS(lb)));
            assert_memory_equal(&got, &want, sizeof got);
        }
    }
}

static void fr_is_as_on_the_host(void **unused)
{
    (void)unused;
    for (int n = 0; n < 5000; n++) {
        fr a = random_fr(n % 70), b = random_fr(n / 70), want, t, got, la = lifted_fr(a, 1),
           lb = lifted_fr(b, 1);
        fr_mul(&want, &a, &b);
        assert_true(shim_fr(OUT(got), SHIM_MUL, WORDS(a), WORDS(b)));
        assert_memory_equal(&got, &want, sizeof got);
        assert_true(shim_fr(OUT(got), SHIM_MUL, WORDS(a), WORDS(lb)));
        assert_memory_equal(&got, &want, sizeof got);
        assert_true(shim_fr_shoup(OUT(got), WORDS(a), WORDS(b)));
        assert_memory_equal(&got, &want, sizeof got);
        assert_true(shim_fr_shoup(OUT(got), WORDS(la), WORDS(b)));
        assert_memory_equal(&got, &want, sizeof got);
        fr_add(&want, &a, &b);
        assert_true(shim_fr(OUT(got), SHIM_ADD, WORDS(a), WORDS(b)));
        assert_memory_equal(&got, &want, sizeof got);
        fr_sub(&t, &a, &b);
        assert_true(shim_fr(OUT(got), SHIM_SUB, WORDS(a), WORDS(b)));
        assert_memory_equal(&got, &t, sizeof got);
        for (int lift = 0; lift < 4; lift++) {
            fr x = lifted_fr(a, lift & 1), y = lifted_fr(b, lift >> 1);
            assert_true(shim_fr_lazy(OUT(got), SHIM_ADD, WORDS(x), WORDS(y)));
            assert_memory_equal(&got, &want, sizeof got);
            assert_true(shim_fr_lazy(OUT(got), SHIM_SUB, WORDS(x), WORDS(y)));
            assert_memory_equal(&got, &t, sizeof got);
        }
    }
}

#define POINT_TEST(g, G)                                                                                     \
    static void g##_points_are_as_on_the_host(void **unused)                                                 \
    {                                                                                                        \
        (void)unused;                                                                                        \
        enum { POINTS = 7 };                                                                                 \
        g##_affine p[POINTS];                                                                                \
        memset(&p[0], 0, sizeof p[0]);                                                                       \
        p[1] = G##_GENERATOR;                                                                                \
        g##_affine_neg(&p[2], &p[1]);                                                                        \
        for (int i = 3; i < POINTS; i++) {                                                                   \
            fr s = random_fr(-1);                                                                            \
            fr_int k;                                                                                        \
            g##_xyzz t;                                                                                      \
            g##_affine got;                                                                                  \
            fr_to_int(&k, &s);                                                                               \
            g##_from_affine(&t, &p[1]);                                                                      \
            g##_mul_vartime(&t, &t, &k);                                                                     \
            g##_to_affine(&p[i], &t);                                                                        \
            shim_##g##_mul(OUT(got), WORDS(p[1]), WORDS(k));                                                 \
            assert_memory_equal(&got, &p[i], sizeof got);                                                    \
        }                                                                                                    \
        for (int i = 0; i < POINTS; i++) {                                                                   \
            for (int j = 0; j < POINTS; j++) {                                                               \
                g##_xyzz t;                                                                                  \
                g##_affine want, got;                                                                        \
                g##_from_affine(&t, &p[i]);                                                                  \
                g##_add_affine(&t, &t, &p[j]);                                                               \
                g##_to_affine(&want, &t);                                                                    \
                for (int kind = 0; kind < 2; kind++) {                                                       \
                    shim_##g##_add(OUT(got), WORDS(p[i]), WORDS(p[j]), kind);                                \
                    assert_memory_equal(&got, &want, sizeof got);                                            \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

POINT_TEST(g1, G1)
POINT_TEST(g2, G2)

int main(int argc, char **argv)
{
    if (argc > 1)
        state = strtoull(argv[1], NULL, 0);
    printf("seed %llu\n", (unsigned long long)state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp_is_as_on_the_host),         cmocka_unit_test(fp_inverse_is_as_on_the_host),
        cmocka_unit_test(fp2_is_as_on_the_host),        cmocka_unit_test(fr_is_as_on_the_host),
        cmocka_unit_test(g1_points_are_as_on_the_host), cmocka_unit_test(g2_points_are_as_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
