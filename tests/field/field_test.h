/* What the tests of field/ share: seeded random elements, edge values, and OpenSSL's big numbers as the
 * independent oracle. Limbs are little-endian. */
#ifndef CUZK_TESTS_FIELD_TEST_H
#define CUZK_TESTS_FIELD_TEST_H

#include "field/fp2.h"
#include "field/fr.h"
#include <openssl/bn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* after the four headers that it needs */
#include <cmocka.h>

static uint64_t test_state;

/* The seed is the first argument, or the clock; printed either way. */
static inline void test_seed(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %llu (give it as the first argument to repeat)\n", (unsigned long long)seed);
    fflush(stdout);
    test_state = seed;
}

/* splitmix64 */
static inline uint64_t test_random(void)
{
    uint64_t z = test_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline void test_random_limbs(uint64_t *out, const uint64_t *m, int n)
{
    uint64_t mask = UINT64_MAX >> __builtin_clzll(m[n - 1]);
    do {
        for (int i = 0; i < n; i++)
            out[i] = test_random();
        out[n - 1] &= mask;
    } while (!limbs_less(out, m, n));
}

static inline fr test_random_fr(void)
{
    fr a;
    test_random_limbs(a.l, FR_MODULUS.l, 4);
    return a;
}

static inline fp test_random_fp(void)
{
    fp a;
    test_random_limbs(a.l, FP_MODULUS.l, 6);
    return a;
}

static inline fp2 test_random_fp2(void)
{
    return (fp2){test_random_fp(), test_random_fp()};
}

struct limbs6 {
    uint64_t l[6];
};

#define TEST_EDGES_MAX 800

/* Values below m that press on carries: every limb one of 0, all ones and the modulus' own limb (odd limbs
 * and even ones shifted by one), then small numbers and numbers close below m. Returns how many. */
static inline size_t test_edges(struct limbs6 *out, const uint64_t *m, int n)
{
    size_t count = 0, patterns = 1;
    for (int i = 0; i < n; i++)
        patterns *= 3;
    for (size_t p = 0; p < patterns; p++) {
        struct limbs6 e = {{0}};
        size_t rest = p;
        for (int i = 0; i < n; i++, rest /= 3)
            e.l[i] = rest % 3 == 0 ? 0 : rest % 3 == 1 ? m[i] : i == n - 1 ? m[i] - 1 : UINT64_MAX;
        if (limbs_less(e.l, m, n))
            out[count++] = e;
    }
    for (uint64_t d = 1; d <= 8; d++) {
        struct limbs6 small = {{d}}, big = {{0}};
        limbs_sub(big.l, m, small.l, n);
        out[count++] = small;
        out[count++] = big;
    }
    struct limbs6 half = {{0}}; /* (m-1)/2 and (m+1)/2 */
    for (int i = 0; i < n; i++)
        half.l[i] = m[i] >> 1 | (i + 1 < n ? m[i + 1] << 63 : 0);
    out[count++] = half;
    half.l[0]++;
    out[count++] = half;
    assert_true(count <= TEST_EDGES_MAX);
    return count;
}

static inline BIGNUM *test_bn(const uint64_t *limbs, int n)
{
    uint8_t bytes[64];
    for (int i = 0; i < 8 * n; i++)
        bytes[i] = (uint8_t)(limbs[i / 8] >> (i % 8 * 8));
    BIGNUM *bn = BN_lebin2bn(bytes, 8 * n, NULL);
    assert_non_null(bn);
    return bn;
}

static inline void test_bn_to_limbs(uint64_t *out, const BIGNUM *bn, int n)
{
    uint8_t bytes[64];
    assert_int_equal(BN_bn2lebinpad(bn, bytes, 8 * n), 8 * n);
    for (int i = 0; i < n; i++) {
        out[i] = 0;
        for (int j = 7; j >= 0; j--)
            out[i] = out[i] << 8 | bytes[8 * i + j];
    }
}

#endif
