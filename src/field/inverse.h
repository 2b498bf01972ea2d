/* Modular inversion by 2-adic division steps (Bernstein, Yang: "Fast constant-time gcd computation and
 * modular inversion", 2019), in the variable-time form: 62 steps at a time are taken on the low words of
 * f and g alone and collected in a 2x2 matrix, which is then applied to the full numbers. Trailing zeros
 * are skipped by counting, and up to six bits of g are cancelled at once.
 *
 * Numbers are signed, little-endian in digits of 62 bits: all digits but the top one lie in [0, 2^62).
 * Invariants: f is odd; d*a = f*s and e*a = g*s modulo m, where s is the start value of e; d and e lie in
 * (-2m, m). Room-internal: used by fr.c and fp.c with n a constant. */
#ifndef CUZK_FIELD_INVERSE_H
#define CUZK_FIELD_INVERSE_H

#include "field/limbs.h"

__extension__ typedef __int128 i128;

#define DIGIT_BITS 62
#define DIGIT_MASK ((UINT64_C(1) << DIGIT_BITS) - 1)
#define DIGITS_MAX 7

/* 2^62 times a step matrix: (f, g) becomes (uf + vg, qf + rg) / 2^62. |u|+|v| and |q|+|r| are <= 2^62. */
struct step_matrix {
    int64_t u, v, q, r;
};

static inline void digits_from_limbs(int64_t *out, const uint64_t *limbs, int n, int digits)
{
    for (int i = 0; i < digits; i++) {
        int bit = i * DIGIT_BITS, word = bit / 64, shift = bit % 64;
        uint64_t x = word < n ? limbs[word] >> shift : 0;
        if (shift > 64 - DIGIT_BITS && word + 1 < n)
            x |= limbs[word + 1] << (64 - shift);
        out[i] = (int64_t)(x & DIGIT_MASK);
    }
}

/* Needs all digits in [0, 2^62). */
static inline void digits_to_limbs(uint64_t *out, const int64_t *digits, int n, int count)
{
    for (int i = 0; i < n; i++) {
        int bit = i * 64, digit = bit / DIGIT_BITS, shift = bit % DIGIT_BITS;
        uint64_t x = (uint64_t)digits[digit] >> shift;
        int have = DIGIT_BITS - shift;
        for (int j = digit + 1; have < 64 && j < count; j++, have += DIGIT_BITS)
            x |= (uint64_t)digits[j] << have;
        out[i] = x;
    }
}

/* 62 division steps on the low words of f (odd) and g; eta is minus the step counter delta. */
static inline int64_t steps_62_vartime(struct step_matrix *out, int64_t eta, uint64_t f, uint64_t g)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = DIGIT_BITS;
    for (;;) {
        int zeros = __builtin_ctzll(g | (UINT64_MAX << left));
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0)
            break;
        uint64_t w, mask;
        if (eta < 0) { /* exchange: (f, g) := (g, -f) */
            uint64_t t = f;
            f = g, g = 0 - t;
            t = u, u = q, q = 0 - t;
            t = v, v = r, r = 0 - t;
            eta = -eta;
            w = f * g * (f * f - 2); /* -g/f modulo 64 */
            mask = 63;
        } else {
            w = f + (((f + 1) & 4) << 1); /* 1/f modulo 16 */
            w = 0 - w * g;
            mask = 15;
        }
        int limit = eta + 1 > left ? left : (int)eta + 1; /* steps until the next exchange is possible */
        w &= mask & (UINT64_MAX >> (64 - limit));
        g += f * w;
        q += u * w;
        r += v * w;
    }
    *out = (struct step_matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

/* (f, g) := matrix (f, g) / 2^62, exactly. */
static inline __attribute__((always_inline)) void steps_apply(int64_t *f, int64_t *g,
                                                              const struct step_matrix *t, int count)
{
    i128 cf = (i128)t->u * f[0] + (i128)t->v * g[0];
    i128 cg = (i128)t->q * f[0] + (i128)t->r * g[0];
    cf >>= DIGIT_BITS;
    cg >>= DIGIT_BITS;
    for (int i = 1; i < count; i++) {
        int64_t fi = f[i], gi = g[i];
        cf += (i128)t->u * fi + (i128)t->v * gi;
        cg += (i128)t->q * fi + (i128)t->r * gi;
        f[i - 1] = (int64_t)((uint64_t)cf & DIGIT_MASK);
        g[i - 1] = (int64_t)((uint64_t)cg & DIGIT_MASK);
        cf >>= DIGIT_BITS;
        cg >>= DIGIT_BITS;
    }
    f[count - 1] = (int64_t)cf;
    g[count - 1] = (int64_t)cg;
}

/* (d, e) := matrix (d, e) / 2^62 modulo m: multiples of m make the low digits vanish and keep both in
 * (-2m, m). m_inverse = 1/m modulo 2^62. */
static inline __attribute__((always_inline)) void steps_apply_mod(int64_t *d, int64_t *e,
                                                                  const struct step_matrix *t,
                                                                  const int64_t *m, uint64_t m_inverse,
                                                                  int count)
{
    int64_t d_sign = d[count - 1] >> 63, e_sign = e[count - 1] >> 63;
    int64_t md = (t->u & d_sign) + (t->v & e_sign);
    int64_t me = (t->q & d_sign) + (t->r & e_sign);
    i128 cd = (i128)t->u * d[0] + (i128)t->v * e[0];
    i128 ce = (i128)t->q * d[0] + (i128)t->r * e[0];
    md -= (int64_t)((m_inverse * (uint64_t)cd + (uint64_t)md) & DIGIT_MASK);
    me -= (int64_t)((m_inverse * (uint64_t)ce + (uint64_t)me) & DIGIT_MASK);
    cd += (i128)m[0] * md;
    ce += (i128)m[0] * me;
    cd >>= DIGIT_BITS;
    ce >>= DIGIT_BITS;
    for (int i = 1; i < count; i++) {
        int64_t di = d[i], ei = e[i];
        cd += (i128)t->u * di + (i128)t->v * ei + (i128)m[i] * md;
        ce += (i128)t->q * di + (i128)t->r * ei + (i128)m[i] * me;
        d[i - 1] = (int64_t)((uint64_t)cd & DIGIT_MASK);
        e[i - 1] = (int64_t)((uint64_t)ce & DIGIT_MASK);
        cd >>= DIGIT_BITS;
        ce >>= DIGIT_BITS;
    }
    d[count - 1] = (int64_t)cd;
    e[count - 1] = (int64_t)ce;
}

static inline void digits_carry(int64_t *a, int count)
{
    for (int i = 0; i + 1 < count; i++) {
        a[i + 1] += a[i] >> DIGIT_BITS;
        a[i] &= (int64_t)DIGIT_MASK;
    }
}

/* a in (-2m, m), negated if wanted, brought into [0, m). */
static inline void digits_normalize(int64_t *a, bool negate, const int64_t *m, int count)
{
    int64_t add = a[count - 1] >> 63;
    int64_t flip = 0 - (int64_t)negate;
    for (int i = 0; i < count; i++)
        a[i] = ((a[i] + (m[i] & add)) ^ flip) - flip;
    digits_carry(a, count);
    add = a[count - 1] >> 63;
    for (int i = 0; i < count; i++)
        a[i] += m[i] & add;
    digits_carry(a, count);
}

/* out = start / a modulo the odd prime m (n limbs of 64 bits), for 0 <= a < m; 0 for a = 0.
 * n0 = -1/m modulo 2^64. */
static inline __attribute__((always_inline)) void limbs_inverse_vartime(uint64_t *out, const uint64_t *a,
                                                                        const uint64_t *start,
                                                                        const uint64_t *modulus, uint64_t n0,
                                                                        int n, int digits)
{
    int64_t f[DIGITS_MAX], g[DIGITS_MAX], d[DIGITS_MAX] = {0}, e[DIGITS_MAX], m[DIGITS_MAX];
    digits_from_limbs(m, modulus, n, digits);
    digits_from_limbs(f, modulus, n, digits);
    digits_from_limbs(g, a, n, digits);
    digits_from_limbs(e, start, n, digits);
    int64_t eta = -1;
    for (;;) {
        struct step_matrix t;
        int64_t rest = 0;
        for (int i = 0; i < digits; i++)
            rest |= g[i];
        if (rest == 0)
            break;
        eta = steps_62_vartime(&t, eta, (uint64_t)f[0], (uint64_t)g[0]);
        steps_apply_mod(d, e, &t, m, 0 - n0, digits);
        steps_apply(f, g, &t, digits);
    }
    digits_normalize(d, f[digits - 1] < 0, m, digits); /* f is +-1 now, or m itself with d = 0 */
    digits_to_limbs(out, d, n, digits);
}

#endif
