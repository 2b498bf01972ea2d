/* What the tests of this room share: seeded random numbers, scalars, points, and hexadecimal text. */
#ifndef CUZK_TESTS_CURVE_TEST_H
#define CUZK_TESTS_CURVE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hex.h"
#include "curve/point.h"

static uint64_t random_state;

/* From CUZK_TEST_SEED, else from the clock; printed, so that a failure can be repeated. */
static inline int random_seed(void **state)
{
    (void)state;
    const char *text = getenv("CUZK_TEST_SEED");
    random_state = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed: CUZK_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return 0;
}

static inline uint64_t random_u64(void) /* splitmix64 */
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline void random_scalar(fr_int *out)
{
    do {
        for (int i = 0; i < 4; i++)
            out->l[i] = random_u64();
        out->l[3] >>= 1;
    } while (!limbs_less(out->l, FR_MODULUS.l, 4));
}

static inline void from_hex(uint8_t *out, size_t size, const char *text)
{
    assert_true(hex_decode(out, size, text, strlen(text)));
}

#endif
