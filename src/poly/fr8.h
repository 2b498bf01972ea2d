/* Eight elements of Fr at a time with AVX-512 IFMA, whose multiply-add works on 52-bit limbs: element i of a
 * vector is spread over lane i of five registers. Montgomery with radix 2^260 inside; an element x in memory
 * (radix 2^256) goes in unchanged, and a factor w is held as w 2^260 mod r, so that x times w comes out as it
 * would in memory, and no conversion is needed but the splitting of limbs.
 *
 * 260 bits leave room for values below 35 r, which makes reductions rare:
 *   - limbs of sums may be negative or above 52 bits ("loose"); the value they add up to counts
 *   - fr8_mul needs its first operand tight (limbs of 52 bits, value below 32 r) and its second tight and
 *     below 2 r; the result is loose and below first * second / 2^260 + r, which is below 2 r in all uses
 * here
 *   - fr8_finish makes a value below 32 r canonical
 *
 * For files compiled with AVX-512 F, DQ and IFMA only. Multiplication: 115 instructions for eight products.
 */
#ifndef CUZK_POLY_FR8_H
#define CUZK_POLY_FR8_H

#include "field/fr.h"
#include <immintrin.h>

typedef struct {
    __m512i l[5];
} fr8;

#define FR8_INLINE   static inline __attribute__((always_inline))
#define FR8_MASK     UINT64_C(0xfffffffffffff)
#define FR8_N0       (FR_N0 & FR8_MASK)
#define FR8_QUOTIENT 35 /* 2^52 / (r / 2^208 + 1), rounded down */

/* r, 2^260 - r, 2 r, 4 r in limbs of 52 bits. */
static const uint64_t FR8_R[5] = {0xfffff00000001, 0x2fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080,
                                  0x73eda753299d};
static const uint64_t FR8_MINUS_R[5] = {0xffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f,
                                        0xf8c1258acd662};
static const uint64_t FR8_2R[5] = {0xffffe00000002, 0x5fffcb7fdfff, 0x343b00aa77b48, 0xfa906673b0101,
                                   0xe7db4ea6533a};
static const uint64_t FR8_4R[5] = {0xffffc00000004, 0xbfff96ffbfff, 0x68760154ef690, 0xf520cce760202,
                                   0x1cfb69d4ca675};

FR8_INLINE __m512i fr8_set(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* The same element in all lanes. */
FR8_INLINE fr8 fr8_broadcast(const uint64_t limbs[5])
{
    fr8 x;
    for (int i = 0; i < 5; i++)
        x.l[i] = fr8_set(limbs[i]);
    return x;
}

FR8_INLINE fr8 fr8_tighten(fr8 x)
{
    const __m512i mask = fr8_set(FR8_MASK);
    for (int i = 0; i < 4; i++) {
        x.l[i + 1] = _mm512_add_epi64(x.l[i + 1], _mm512_srai_epi64(x.l[i], 52));
        x.l[i] = _mm512_and_si512(x.l[i], mask);
    }
    return x;
}

FR8_INLINE fr8 fr8_add(fr8 a, fr8 b)
{
    for (int i = 0; i < 5; i++)
        a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    return a;
}

/* a - b + more, where `more` is a multiple of r that is at least b's value. */
FR8_INLINE fr8 fr8_sub(fr8 a, fr8 b, const uint64_t more[5])
{
    for (int i = 0; i < 5; i++)
        a.l[i] = _mm512_add_epi64(_mm512_sub_epi64(a.l[i], b.l[i]), fr8_set(more[i]));
    return a;
}

/* Montgomery product by operand scanning; a row's low halves, the reduction that clears the lowest limb, and
 * the high halves, which belong one limb up, that is, to the same register after the shift. */
FR8_INLINE fr8 fr8_mul(fr8 a, fr8 b)
{
    const __m512i zero = _mm512_setzero_si512(), n0 = fr8_set(FR8_N0);
    __m512i t0 = zero, t1 = zero, t2 = zero, t3 = zero, t4 = zero;
    const __m512i r0 = fr8_set(FR8_R[0]), r1 = fr8_set(FR8_R[1]), r2 = fr8_set(FR8_R[2]),
                  r3 = fr8_set(FR8_R[3]), r4 = fr8_set(FR8_R[4]);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        __m512i w = b.l[i], q;
        t0 = _mm512_madd52lo_epu64(t0, a.l[0], w);
        q = _mm512_madd52lo_epu64(zero, t0, n0);
        t1 = _mm512_madd52lo_epu64(t1, a.l[1], w);
        t2 = _mm512_madd52lo_epu64(t2, a.l[2], w);
        t3 = _mm512_madd52lo_epu64(t3, a.l[3], w);
        t4 = _mm512_madd52lo_epu64(t4, a.l[4], w);
        t0 = _mm512_madd52lo_epu64(t0, q, r0);
        t1 = _mm512_madd52lo_epu64(t1, q, r1);
        t2 = _mm512_madd52lo_epu64(t2, q, r2);
        t3 = _mm512_madd52lo_epu64(t3, q, r3);
        t4 = _mm512_madd52lo_epu64(t4, q, r4);
        t0 = _mm512_add_epi64(t1, _mm512_srli_epi64(t0, 52));
        t0 = _mm512_madd52hi_epu64(t0, a.l[0], w);
        t1 = _mm512_madd52hi_epu64(t2, a.l[1], w);
        t2 = _mm512_madd52hi_epu64(t3, a.l[2], w);
        t3 = _mm512_madd52hi_epu64(t4, a.l[3], w);
        t4 = _mm512_madd52hi_epu64(zero, a.l[4], w);
        t0 = _mm512_madd52hi_epu64(t0, q, r0);
        t1 = _mm512_madd52hi_epu64(t1, q, r1);
        t2 = _mm512_madd52hi_epu64(t2, q, r2);
        t3 = _mm512_madd52hi_epu64(t3, q, r3);
        t4 = _mm512_madd52hi_epu64(t4, q, r4);
    }
    return (fr8){{t0, t1, t2, t3, t4}};
}

/* Tight and canonical, from a value below 2 r (loose). */
FR8_INLINE fr8 fr8_subtract_once(fr8 x)
{
    const __m512i mask = fr8_set(FR8_MASK);
    x = fr8_tighten(x);
    fr8 y = fr8_tighten(fr8_add(x, fr8_broadcast(FR8_MINUS_R)));
    /* 2^260 is reached exactly if x >= r. */
    __mmask8 above = _mm512_cmpgt_epu64_mask(y.l[4], mask);
    y.l[4] = _mm512_and_si512(y.l[4], mask);
    for (int i = 0; i < 5; i++)
        x.l[i] = _mm512_mask_mov_epi64(x.l[i], above, y.l[i]);
    return x;
}

/* Tight and canonical, from a value below 32 r (loose). The quotient from the top limb is right or one too
 * small. */
FR8_INLINE fr8 fr8_finish(fr8 x)
{
    x = fr8_tighten(x);
    const __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), x.l[4], fr8_set(FR8_QUOTIENT));
    for (int i = 0; i < 5; i++) {
        const __m512i minus = fr8_set(FR8_MINUS_R[i]);
        x.l[i] = _mm512_madd52lo_epu64(x.l[i], q, minus);
        if (i < 4)
            x.l[i + 1] = _mm512_madd52hi_epu64(x.l[i + 1], q, minus);
    }
    x = fr8_tighten(x);
    x.l[4] = _mm512_and_si512(x.l[4], fr8_set(FR8_MASK));
    return fr8_subtract_once(x);
}

/* z[i] holds elements 2i and 2i + 1; words[j] gets word j of all eight; and back. */
FR8_INLINE void fr8_gather_words(__m512i words[4], const __m512i z[4])
{
    const __m512i low = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i high = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    __m512i a = _mm512_permutex2var_epi64(z[0], low, z[1]), b = _mm512_permutex2var_epi64(z[2], low, z[3]);
    __m512i c = _mm512_permutex2var_epi64(z[0], high, z[1]), d = _mm512_permutex2var_epi64(z[2], high, z[3]);
    words[0] = _mm512_shuffle_i64x2(a, b, 0x44);
    words[1] = _mm512_shuffle_i64x2(a, b, 0xee);
    words[2] = _mm512_shuffle_i64x2(c, d, 0x44);
    words[3] = _mm512_shuffle_i64x2(c, d, 0xee);
}

FR8_INLINE void fr8_scatter_words(__m512i z[4], const __m512i words[4])
{
    const __m512i low = _mm512_setr_epi64(0, 8, 4, 12, 1, 9, 5, 13);
    const __m512i high = _mm512_setr_epi64(2, 10, 6, 14, 3, 11, 7, 15);
    /* a: words 0 and 1 of elements 0..3, each as [w0(0..3) w1(0..3)]; b: of elements 4..7; c, d: words 2, 3
     */
    __m512i a = _mm512_shuffle_i64x2(words[0], words[1], 0x44),
            b = _mm512_shuffle_i64x2(words[0], words[1], 0xee);
    __m512i c = _mm512_shuffle_i64x2(words[2], words[3], 0x44),
            d = _mm512_shuffle_i64x2(words[2], words[3], 0xee);
    /* [w0 w2 w1 w3] of an element in order of the two inputs, then put right */
    z[0] = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 1, 3, 4, 6, 5, 7),
                                    _mm512_permutex2var_epi64(a, low, c));
    z[1] = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 1, 3, 4, 6, 5, 7),
                                    _mm512_permutex2var_epi64(a, high, c));
    z[2] = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 1, 3, 4, 6, 5, 7),
                                    _mm512_permutex2var_epi64(b, low, d));
    z[3] = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 1, 3, 4, 6, 5, 7),
                                    _mm512_permutex2var_epi64(b, high, d));
}

/* Words to limbs, times 2^up (up 0 or 4). */
FR8_INLINE fr8 fr8_split(const __m512i w[4], unsigned up)
{
    const __m512i mask = fr8_set(FR8_MASK);
    fr8 x;
    x.l[0] = _mm512_and_si512(_mm512_slli_epi64(w[0], up), mask);
    for (unsigned i = 1; i < 4; i++)
        x.l[i] = _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(w[i - 1], 64 - 12 * i - up),
                                                  _mm512_slli_epi64(w[i], 12 * i + up)),
                                  mask);
    x.l[4] = _mm512_srli_epi64(w[3], 16 - up);
    return x;
}

/* Limbs of canonical tight elements to words. */
FR8_INLINE void fr8_join(__m512i w[4], fr8 x)
{
    for (unsigned i = 0; i < 4; i++)
        w[i] = _mm512_or_si512(_mm512_srli_epi64(x.l[i], 12 * i), _mm512_slli_epi64(x.l[i + 1], 52 - 12 * i));
}

/* Eight consecutive elements, times 2^up. */
FR8_INLINE fr8 fr8_load(const fr *p, unsigned up)
{
    __m512i z[4], w[4];
    for (int i = 0; i < 4; i++)
        z[i] = _mm512_loadu_si512(p + 2 * i);
    fr8_gather_words(w, z);
    return fr8_split(w, up);
}

FR8_INLINE void fr8_store(fr *p, fr8 canonical)
{
    __m512i z[4], w[4];
    fr8_join(w, canonical);
    fr8_scatter_words(z, w);
    for (int i = 0; i < 4; i++)
        _mm512_storeu_si512(p + 2 * i, z[i]);
}

/* Elements p[0], p[8], .. p[56]. */
FR8_INLINE fr8 fr8_load_strided(const fr *p)
{
    __m512i z[4], w[4];
    for (int i = 0; i < 4; i++)
        z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(p + 16 * i))),
                                  _mm256_loadu_si256((const __m256i *)(p + 16 * i + 8)), 1);
    fr8_gather_words(w, z);
    return fr8_split(w, 0);
}

FR8_INLINE void fr8_store_strided(fr *p, fr8 canonical)
{
    __m512i z[4], w[4];
    fr8_join(w, canonical);
    fr8_scatter_words(z, w);
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)(p + 16 * i), _mm512_castsi512_si256(z[i]));
        _mm256_storeu_si256((__m256i *)(p + 16 * i + 8), _mm512_extracti64x4_epi64(z[i], 1));
    }
}

/* Transposes an 8 x 8 matrix of words. */
FR8_INLINE void fr8_transpose_words(__m512i m[8])
{
    __m512i t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi64(m[i], m[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi64(m[i], m[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            u[i + j] = _mm512_shuffle_i64x2(t[i + j], t[i + 2 + j], 0x88);     /* columns j, j + 4 */
            u[i + 2 + j] = _mm512_shuffle_i64x2(t[i + j], t[i + 2 + j], 0xdd); /* columns j + 2, j + 6 */
        }
    for (int j = 0; j < 4; j++) {
        m[j] = _mm512_shuffle_i64x2(u[j], u[4 + j], 0x88);
        m[j + 4] = _mm512_shuffle_i64x2(u[j], u[4 + j], 0xdd);
    }
}

/* Lane i of x[j] and lane j of x[i] change places. */
FR8_INLINE void fr8_transpose(fr8 x[8])
{
    for (int k = 0; k < 5; k++) {
        __m512i m[8];
        for (int i = 0; i < 8; i++)
            m[i] = x[i].l[k];
        fr8_transpose_words(m);
        for (int i = 0; i < 8; i++)
            x[i].l[k] = m[i];
    }
}

#endif
