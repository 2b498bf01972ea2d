/* Fixed-size multi-limb arithmetic in portable C: little-endian arrays of 64-bit limbs, and Montgomery
 * multiplication by operand scanning with interleaved reduction (CIOS; Koc, Acar, Kaliski 1996):
 * 2n^2 + n limb products. Requires the modulus' top limb to be below 2^63 - 1, which lets the running
 * sum stay within n + 1 limbs. Everything here is branch-free unless its name ends in _vartime. */
#ifndef CUZK_FIELD_LIMBS_H
#define CUZK_FIELD_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 u128;

/* GCC leaves the limbs in memory unless every loop is unrolled; clang is slower for being told. */
#if defined(__GNUC__) && !defined(__clang__)
#define LIMBS_UNROLL _Pragma("GCC unroll 8")
#else
#define LIMBS_UNROLL
#endif

/* a + b + *carry and a - b - *borrow; carries and borrows, in and out, are 0 or 1. Spelled so that
 * each compiler makes add-with-carry of it: through 128-bit sums GCC 12 takes five times as long. */
#if defined(__clang__)
static inline uint64_t limb_add(uint64_t a, uint64_t b, uint64_t *carry)
{
    unsigned long long out, sum = __builtin_addcll(a, b, *carry, &out);
    *carry = out;
    return sum;
}

static inline uint64_t limb_sub(uint64_t a, uint64_t b, uint64_t *borrow)
{
    unsigned long long out, difference = __builtin_subcll(a, b, *borrow, &out);
    *borrow = out;
    return difference;
}
#elif defined(__x86_64__)
static inline uint64_t limb_add(uint64_t a, uint64_t b, uint64_t *carry)
{
    unsigned long long sum;
    *carry = __builtin_ia32_addcarryx_u64((unsigned char)*carry, a, b, &sum);
    return sum;
}

static inline uint64_t limb_sub(uint64_t a, uint64_t b, uint64_t *borrow)
{
    unsigned long long difference;
    *borrow = __builtin_ia32_sbb_u64((unsigned char)*borrow, a, b, &difference);
    return difference;
}
#else
static inline uint64_t limb_add(uint64_t a, uint64_t b, uint64_t *carry)
{
    uint64_t sum, out = __builtin_add_overflow(a, b, &sum);
    *carry = out | __builtin_add_overflow(sum, *carry, &sum);
    return sum;
}

static inline uint64_t limb_sub(uint64_t a, uint64_t b, uint64_t *borrow)
{
    uint64_t difference, out = __builtin_sub_overflow(a, b, &difference);
    *borrow = out | __builtin_sub_overflow(difference, *borrow, &difference);
    return difference;
}
#endif

/* a + b*c + *carry, which cannot overflow 128 bits; the high limb replaces *carry. */
static inline uint64_t limb_mac(uint64_t a, uint64_t b, uint64_t c, uint64_t *carry)
{
    u128 t = (u128)b * c + a + *carry;
    *carry = (uint64_t)(t >> 64);
    return (uint64_t)t;
}

static inline uint64_t limbs_add(uint64_t *out, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t carry = 0;
    LIMBS_UNROLL
    for (int i = 0; i < n; i++)
        out[i] = limb_add(a[i], b[i], &carry);
    return carry;
}

static inline uint64_t limbs_sub(uint64_t *out, const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t borrow = 0;
    LIMBS_UNROLL
    for (int i = 0; i < n; i++)
        out[i] = limb_sub(a[i], b[i], &borrow);
    return borrow;
}

/* out = a - m if a >= m, else a. */
static inline void limbs_reduce_once(uint64_t *out, const uint64_t *a, const uint64_t *m, int n)
{
    uint64_t d[8], borrow = 0;
    uint64_t take = limbs_sub(d, a, m, n) - 1; /* a mask; a select loop would be vectorised, and slow */
    LIMBS_UNROLL
    for (int i = 0; i < n; i++)
        out[i] = limb_sub(a[i], m[i] & take, &borrow);
}

static inline void limbs_add_mod(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                                 int n)
{
    uint64_t s[8];
    limbs_add(s, a, b, n);
    limbs_reduce_once(out, s, m, n);
}

static inline void limbs_sub_mod(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                                 int n)
{
    uint64_t d[8];
    uint64_t mask = 0 - limbs_sub(d, a, b, n);
    uint64_t carry = 0;
    LIMBS_UNROLL
    for (int i = 0; i < n; i++)
        out[i] = limb_add(d[i], m[i] & mask, &carry);
}

static inline bool limbs_is_zero(const uint64_t *a, int n)
{
    uint64_t x = 0;
    LIMBS_UNROLL
    for (int i = 0; i < n; i++)
        x |= a[i];
    return x == 0;
}

static inline bool limbs_equal(const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t x = 0;
    LIMBS_UNROLL
    for (int i = 0; i < n; i++)
        x |= a[i] ^ b[i];
    return x == 0;
}

/* a < b as integers. */
static inline bool limbs_less(const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t d[8];
    return limbs_sub(d, a, b, n) != 0;
}

/* out = a*b / 2^(64n) mod m, for a, b < m; n0 = -1/m mod 2^64. out may alias a or b. */
static inline __attribute__((always_inline)) void
limbs_mont_mul(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, uint64_t n0, int n)
{
    uint64_t t[9] = {0};
    LIMBS_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        LIMBS_UNROLL
        for (int j = 0; j < n; j++)
            t[j] = limb_mac(t[j], a[j], b[i], &carry);
        uint64_t top = t[n] + carry;
        uint64_t q = t[0] * n0;
        carry = 0;
        (void)limb_mac(t[0], q, m[0], &carry);
        LIMBS_UNROLL
        for (int j = 1; j < n; j++)
            t[j - 1] = limb_mac(t[j], q, m[j], &carry);
        t[n - 1] = top + carry;
        t[n] = t[n - 1] < carry;
    }
    limbs_reduce_once(out, t, m, n);
}

#endif
