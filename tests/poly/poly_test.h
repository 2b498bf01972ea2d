/* What the tests of the polynomials share: pseudo-random elements from a printed seed, and a slow transform
 * that follows the definition. */
#ifndef CUZK_TESTS_POLY_TEST_H
#define CUZK_TESTS_POLY_TEST_H

#include "base/mem.h"
#include "base/pool.h"
#include "poly/domain.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t test_seed = 20240811;

/* CUZK_TEST_SEED chooses another seed. */
static inline void test_seed_start(void)
{
    const char *text = getenv("CUZK_TEST_SEED");
    if (text)
        test_seed = strtoull(text, NULL, 0);
    printf("seed %llu\n", (unsigned long long)test_seed);
}

/* splitmix64 */
static inline uint64_t test_random(void)
{
    uint64_t z = test_seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One element in eight is 0, 1 or -1. */
static inline void test_random_fr(fr *out)
{
    uint8_t bytes[32];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random();
    fr_from_bytes_reduce(out, bytes, sizeof bytes);
    uint64_t edge = test_random() % 24;
    if (edge < 3) {
        *out = edge == 0 ? FR_ZERO : FR_ONE;
        if (edge == 2)
            fr_neg(out, out);
    }
}

static inline fr *test_vector(size_t n)
{
    fr *v = mem_alloc(n, sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++)
        test_random_fr(&v[i]);
    return v;
}

static inline fr *test_copy(const fr *v, size_t n)
{
    fr *copy = mem_alloc(n, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, v, n * sizeof *v);
    return copy;
}

static inline void test_equal(const fr *a, const fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!fr_equal(&a[i], &b[i]))
            fail_msg("element %zu of %zu differs", i, n);
}

static inline void test_ok(struct status s)
{
    if (s.code != STATUS_OK)
        fail_msg("%s", s.message);
}

/* The value at x of the polynomial with these coefficients (natural order), by Horner's rule. */
static inline void test_evaluate(fr *out, const fr *coefficients, size_t n, const fr *x)
{
    fr sum = FR_ZERO;
    for (size_t i = n; i-- > 0;) {
        fr_mul(&sum, &sum, x);
        fr_add(&sum, &sum, &coefficients[i]);
    }
    *out = sum;
}

static inline void test_open(struct domain *d, unsigned k)
{
    test_ok(domain_open(d, k));
    assert_int_equal(d->size, (size_t)1 << k);
}

#endif
