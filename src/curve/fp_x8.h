/* Eight elements of Fp or Fp2 at a time, one in each 64-bit lane, by AVX-512 IFMA (groth16
 * specification 8.5). For files compiled with -mavx512f -mavx512dq -mavx512ifma -mavx512vbmi2. Room-internal,
 * _vartime only in what it skips.
 *
 * A number is 8 limbs of 52 bits, each in [0, 2^52) wherever it is multiplied; 416 bits leave 35 above p, so
 * nothing is reduced between multiplications: bounds are in multiples of p at each function. The product is
 * (a*b + q*p) / 2^416 < (1 + A B 2^-35) p for a < A p, b < B p.
 *
 * Points are Montgomery residues of radix 2^384. The multiplication here divides by 2^416, so one operand
 * of an ordinary product is shifted up by 32 bits first (fp_x8_shift32): (2^32 a) b / 2^416 = a b / 2^384. */
#ifndef CUZK_CURVE_FP_X8_H
#define CUZK_CURVE_FP_X8_H

#include "field/fp2.h"
#include <immintrin.h>

#define X8_LANES  8
#define X8_LIMBS  8
#define X8_MASK   _mm512_set1_epi64((long long)((UINT64_C(1) << 52) - 1))
#define X8_INLINE static inline __attribute__((always_inline))

typedef struct {
    __m512i l[X8_LIMBS];
} fp_x8;

typedef struct {
    fp_x8 c0, c1;
} fp2_x8;

#define X8_N0 UINT64_C(0x3fffcfffcfffd) /* -1/p modulo 2^52 */

/* Limb i of 0, p, 2p, 3p, 4p; and 2^416 / p, rounded down: top limb times that, high part, is top limb / (p /
 * 2^364). */
static const uint64_t X8_MULTIPLES[X8_LIMBS][8] __attribute__((aligned(64))) = {
    {0, UINT64_C(0xeffffffffaaab), UINT64_C(0xdffffffff5556), UINT64_C(0xcffffffff0001),
     UINT64_C(0xbfffffffeaaac)},
    {0, UINT64_C(0xfeb153ffffb9f), UINT64_C(0xfd62a7ffff73f), UINT64_C(0xfc13fbffff2df),
     UINT64_C(0xfac54ffffee7f)},
    {0, UINT64_C(0x6b0f6241eabff), UINT64_C(0xd61ec483d57ff), UINT64_C(0x412e26c5c03ff),
     UINT64_C(0xac3d8907aafff)},
    {0, UINT64_C(0x12bf6730d2a0f), UINT64_C(0x257ece61a541e), UINT64_C(0x383e359277e2e),
     UINT64_C(0x4afd9cc34a83d)},
    {0, UINT64_C(0x764774b84f385), UINT64_C(0xec8ee9709e70a), UINT64_C(0x62d65e28eda8f),
     UINT64_C(0xd91dd2e13ce14)},
    {0, UINT64_C(0x1ba7b6434bacd), UINT64_C(0x374f6c869759a), UINT64_C(0x52f722c9e3068),
     UINT64_C(0x6e9ed90d2eb35)},
    {0, UINT64_C(0x1ea397fe69a4b), UINT64_C(0x3d472ffcd3496), UINT64_C(0x5beac7fb3cee1),
     UINT64_C(0x7a8e5ff9a692c)},
    {0, UINT64_C(0x1a011), UINT64_C(0x34022), UINT64_C(0x4e033), UINT64_C(0x68044)}};
#define X8_QUOTIENT INT64_C(0x9d835d2f3)

/* 2^416 modulo p as limbs of 64 bits: one, for this radix; and the factor 2^32 as an `fp`. */
static const fp X8_ONE = {{UINT64_C(0x44f6480ea8e9b9af), UINT64_C(0xa96f7d65766c8fe4),
                           UINT64_C(0xe82efd4228b540fe), UINT64_C(0x6723e5f0ade53b2e),
                           UINT64_C(0x25ff6eb6fdd4230a), UINT64_C(0x14c8ee06ef23c24a)}};

X8_INLINE __m512i x8_multiple(int times, int limb) /* of p; times 1 to 4 */
{
    return _mm512_set1_epi64((long long)X8_MULTIPLES[limb][times]);
}

/* Limbs of any sign, with a sum in [0, 2^416), into [0, 2^52). */
X8_INLINE void fp_x8_carry(fp_x8 *a)
{
#pragma GCC unroll 8
    for (int i = 0; i + 1 < X8_LIMBS; i++) {
        a->l[i + 1] = _mm512_add_epi64(a->l[i + 1], _mm512_srai_epi64(a->l[i], 52));
        a->l[i] = _mm512_and_si512(a->l[i], X8_MASK);
    }
}

/* a in (-p, 2p) to [0, p). */
static __attribute__((noinline, cold)) void fp_x8_correct(fp_x8 *a)
{
    for (int times = 0; times < 2;
         times++) { /* add p where negative; take it away where that leaves no less */
        fp_x8 d;
        for (int i = 0; i < X8_LIMBS; i++)
            d.l[i] = times == 0 ? _mm512_add_epi64(a->l[i], x8_multiple(1, i))
                                : _mm512_sub_epi64(a->l[i], x8_multiple(1, i));
        fp_x8_carry(&d);
        __mmask8 negative = _mm512_movepi64_mask(times == 0 ? a->l[7] : d.l[7]);
        __mmask8 take = times == 0 ? negative : (__mmask8)~negative;
        for (int i = 0; i < X8_LIMBS; i++)
            a->l[i] = _mm512_mask_mov_epi64(a->l[i], take, d.l[i]);
    }
}

/* Limbs of 64 bits, w[k] holding limb k of all lanes, into limbs of 52. */
X8_INLINE void fp_x8_split(fp_x8 *out, const __m512i w[6])
{
    out->l[0] = _mm512_and_si512(w[0], X8_MASK);
    out->l[1] = _mm512_and_si512(_mm512_shrdi_epi64(w[0], w[1], 52), X8_MASK);
    out->l[2] = _mm512_and_si512(_mm512_shrdi_epi64(w[1], w[2], 40), X8_MASK);
    out->l[3] = _mm512_and_si512(_mm512_shrdi_epi64(w[2], w[3], 28), X8_MASK);
    out->l[4] = _mm512_and_si512(_mm512_shrdi_epi64(w[3], w[4], 16), X8_MASK);
    out->l[5] = _mm512_and_si512(_mm512_srli_epi64(w[4], 4), X8_MASK);
    out->l[6] = _mm512_and_si512(_mm512_shrdi_epi64(w[4], w[5], 56), X8_MASK);
    out->l[7] = _mm512_srli_epi64(w[5], 44);
}

X8_INLINE void fp_x8_join(__m512i w[6], const fp_x8 *a)
{
    static const int first[6] = {0, 1, 2, 3, 4, 6};
#pragma GCC unroll 8
    for (int i = 0; i < 6; i++) {
        int limb = first[i], shift = 64 * i - 52 * limb; /* of the first limb, down */
        w[i] = _mm512_srli_epi64(a->l[limb], (unsigned)shift);
        w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a->l[limb + 1], (unsigned)(52 - shift)));
        if (i == 4)
            w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a->l[6], 56));
    }
}

#define X8_PAIRS(a, b, i) _mm512_shuffle_i64x2(a, b, i)

/* Eight numbers of six limbs from anywhere. */
X8_INLINE void fp_x8_load(fp_x8 *out, const fp *const in[X8_LANES])
{
    __m512i r[8], t[8], w[6];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        r[i] = _mm512_maskz_loadu_epi64(0x3f, in[i]->l);
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m512i low = X8_PAIRS(t[i], t[i + 2], 0x44), high = X8_PAIRS(t[i + 4], t[i + 6], 0x44);
        w[i] = X8_PAIRS(low, high, 0x88);
        w[i + 2] = X8_PAIRS(low, high, 0xdd);
        low = X8_PAIRS(t[i], t[i + 2], 0xee);
        high = X8_PAIRS(t[i + 4], t[i + 6], 0xee);
        w[i + 4] = X8_PAIRS(low, high, 0x88);
    }
    fp_x8_split(out, w);
}

/* a must be canonical. */
X8_INLINE void fp_x8_store(fp *const out[X8_LANES], const fp_x8 *a)
{
    __m512i w[6], r[8];
    fp_x8_join(w, a);
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; odd++) {
        __m512i x = odd ? _mm512_unpackhi_epi64(w[0], w[1]) : _mm512_unpacklo_epi64(w[0], w[1]);
        __m512i y = odd ? _mm512_unpackhi_epi64(w[2], w[3]) : _mm512_unpacklo_epi64(w[2], w[3]);
        __m512i z = odd ? _mm512_unpackhi_epi64(w[4], w[5]) : _mm512_unpacklo_epi64(w[4], w[5]);
        __m512i low = X8_PAIRS(x, y, 0x44), high = X8_PAIRS(x, y, 0xee);
        r[odd] = X8_PAIRS(low, z, 0x08);
        r[odd + 2] = X8_PAIRS(low, z, 0x1d);
        r[odd + 4] = X8_PAIRS(high, z, 0x28);
        r[odd + 6] = X8_PAIRS(high, z, 0x3d);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        _mm512_mask_storeu_epi64(out[i]->l, 0x3f, r[i]);
}

/* (a b + c d) / 2^416, or a b / 2^416 without the second pair: limb products of one row of a, then the
 * multiple of p that clears the lowest limb, whose carry is then that limb rounded up: no need to compute it.
 * Limbs of the result are sums below 2^58. 256 or 384 multiply-adds. */
X8_INLINE void fp_x8_mul_rows_lazy(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, const fp_x8 *c, const fp_x8 *d)
{
    __m512i t[X8_LIMBS + 1], zero = _mm512_setzero_si512(), n0 = _mm512_set1_epi64((long long)X8_N0);
#pragma GCC unroll 9
    for (int j = 0; j <= X8_LIMBS; j++)
        t[j] = zero;
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++) {
#pragma GCC unroll 8
        for (int j = 0; j < X8_LIMBS; j++)
            t[j] = _mm512_madd52lo_epu64(t[j], a->l[j], b->l[i]);
        if (c) {
#pragma GCC unroll 8
            for (int j = 0; j < X8_LIMBS; j++)
                t[j] = _mm512_madd52lo_epu64(t[j], c->l[j], d->l[i]);
        }
        __m512i q = _mm512_madd52lo_epu64(zero, t[0], n0);
#pragma GCC unroll 8
        for (int j = 0; j < X8_LIMBS; j++)
            t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a->l[j], b->l[i]);
        if (c) {
#pragma GCC unroll 8
            for (int j = 0; j < X8_LIMBS; j++)
                t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], c->l[j], d->l[i]);
        }
#pragma GCC unroll 8
        for (int j = 1; j < X8_LIMBS; j++)
            t[j] = _mm512_madd52lo_epu64(t[j], q, x8_multiple(1, j));
#pragma GCC unroll 8
        for (int j = 0; j < X8_LIMBS; j++)
            t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], q, x8_multiple(1, j));
        t[0] = _mm512_add_epi64(t[1], _mm512_srli_epi64(_mm512_add_epi64(t[0], X8_MASK), 52));
#pragma GCC unroll 8
        for (int j = 1; j < X8_LIMBS; j++)
            t[j] = t[j + 1];
        t[X8_LIMBS] = zero;
    }
#pragma GCC unroll 8
    for (int j = 0; j < X8_LIMBS; j++)
        out->l[j] = t[j];
}

/* a b / 2^416, with limbs up to 2^58. */
X8_INLINE void fp_x8_mul_lazy(fp_x8 *out, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_mul_rows_lazy(out, a, b, NULL, NULL);
}

X8_INLINE void fp_x8_mul(fp_x8 *out, const fp_x8 *a, const fp_x8 *b)
{
    fp_x8_mul_rows_lazy(out, a, b, NULL, NULL);
    fp_x8_carry(out);
}

/* a + b */
X8_INLINE void fp_x8_add(fp_x8 *out, const fp_x8 *a, const fp_x8 *b)
{
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++)
        out->l[i] = _mm512_add_epi64(a->l[i], b->l[i]);
    fp_x8_carry(out);
}

/* a - b + times p, times 1 to 4 */
X8_INLINE void fp_x8_sub(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, int times)
{
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++)
        out->l[i] = _mm512_add_epi64(_mm512_sub_epi64(a->l[i], b->l[i]), x8_multiple(times, i));
    fp_x8_carry(out);
}

/* The same with limbs of any sign, for fp_x8_canonical. */
X8_INLINE void fp_x8_sub_lazy(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, int times)
{
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++)
        out->l[i] = _mm512_add_epi64(_mm512_sub_epi64(a->l[i], b->l[i]), x8_multiple(times, i));
}

/* a - 2 b - c + times p, with limbs of any sign. */
X8_INLINE void fp_x8_sub_twice(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, const fp_x8 *c, int times)
{
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++) {
        __m512i s = _mm512_add_epi64(_mm512_slli_epi64(b->l[i], 1), c->l[i]);
        out->l[i] = _mm512_add_epi64(_mm512_sub_epi64(a->l[i], s), x8_multiple(times, i));
    }
}

/* 2p - a */
X8_INLINE void fp_x8_neg(fp_x8 *out, const fp_x8 *a)
{
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++)
        out->l[i] = _mm512_sub_epi64(x8_multiple(2, i), a->l[i]);
    fp_x8_carry(out);
}

/* -a in the lanes of `lanes`, with limbs of that sign: for sums only. */
X8_INLINE void fp_x8_signed(fp_x8 *a, __mmask8 lanes)
{
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++)
        a->l[i] = _mm512_mask_sub_epi64(a->l[i], lanes, _mm512_setzero_si512(), a->l[i]);
}

/* a in [0, 4p), limbs of any sign, to [0, p). The number of p to take away is guessed from the top limb; that
 * it is right shows in the top limb of the result, but for one number in 10^5, which gets the exact
 * comparison. */
X8_INLINE void fp_x8_canonical(fp_x8 *a)
{
    __m512i top = _mm512_add_epi64(a->l[7], _mm512_srai_epi64(a->l[6], 52)), times;
    top = _mm512_max_epi64(top, _mm512_setzero_si512());
    times = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, _mm512_set1_epi64(X8_QUOTIENT));
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++) {
        __m512i multiples = _mm512_load_si512(X8_MULTIPLES[i]);
        a->l[i] = _mm512_sub_epi64(a->l[i], _mm512_permutexvar_epi64(times, multiples));
    }
    fp_x8_carry(a);
    if (__builtin_expect(_mm512_cmpge_epu64_mask(a->l[7], x8_multiple(1, 7)) != 0, 0))
        fp_x8_correct(a);
}

/* 2^32 a, for a < 8p. */
X8_INLINE void fp_x8_shift32(fp_x8 *out, const fp_x8 *a)
{
    __m512i below = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int i = 0; i < X8_LIMBS; i++) {
        __m512i limb = a->l[i];
        out->l[i] = _mm512_and_si512(
            _mm512_or_si512(_mm512_slli_epi64(limb, 32), _mm512_srli_epi64(below, 20)), X8_MASK);
        below = limb;
    }
}

X8_INLINE void fp_x8_set1(fp_x8 *out, const fp *a)
{
    __m512i w[6];
#pragma GCC unroll 8
    for (int i = 0; i < 6; i++)
        w[i] = _mm512_set1_epi64((long long)a->l[i]);
    fp_x8_split(out, w);
}

#endif
