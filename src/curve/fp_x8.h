/* Eight elements of Fp at a time, one in each 64-bit lane, by AVX-512 IFMA (groth16
 * specification 8.5). For files compiled with -mavx512f -mavx512dq -mavx512ifma -mavx512vbmi2. Room-internal,
 * _vartime only in what it skips.
 *
 * A number is 8 limbs of 52 bits, each in [0, 2^52) wherever it is multiplied; 416 bits leave 35 above p, so
 * nothing is reduced between multiplications: bounds are in multiples of p at each function. The product is
 * (a*b + q*p) / 2^416 < (1 + A B 2^-35) p for a < A p, b < B p.
 *
 * Multiplications keep one execution unit busy and all the rest uses others, but the processor looks ahead
 * by less than one multiplication. So the rest comes in eight small steps each, one a limb or so, and
 * X8_MULTIPLY takes statements to run between the rows of a product: work on other numbers, step k beside
 * row k. Steps must be taken in order, k = 0 to 7; a result is there after the last.
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

/* The step functions share this for what they carry from step to step. */
struct x8_work {
    __m512i carry, times, r[8], w[6];
};

/* Row k of a b / 2^416, or of (a b + c d) / 2^416 if c is not NULL: limb products with limb k of b, then the
 * multiple of p that clears the lowest limb, whose carry is then that limb rounded up: no need to compute
 * it. t has 9 limbs, starts as zero and ends as the product, with limbs up to 2^58. 32 or 48 multiply-adds.
 */
X8_INLINE void fp_x8_row(__m512i *t, const fp_x8 *a, const fp_x8 *b, const fp_x8 *c, const fp_x8 *d, int k)
{
    __m512i zero = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int j = 0; j < X8_LIMBS; j++)
        t[j] = _mm512_madd52lo_epu64(t[j], a->l[j], b->l[k]);
    if (c) {
#pragma GCC unroll 8
        for (int j = 0; j < X8_LIMBS; j++)
            t[j] = _mm512_madd52lo_epu64(t[j], c->l[j], d->l[k]);
    }
    __m512i q = _mm512_madd52lo_epu64(zero, t[0], _mm512_set1_epi64((long long)X8_N0));
#pragma GCC unroll 8
    for (int j = 0; j < X8_LIMBS; j++)
        t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a->l[j], b->l[k]);
    if (c) {
#pragma GCC unroll 8
        for (int j = 0; j < X8_LIMBS; j++)
            t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], c->l[j], d->l[k]);
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

/* One limb of a number whose limbs may have any sign: the carry of the limb below comes in, [0, 2^52) stays.
 */
X8_INLINE __m512i x8_carry_limb(__m512i limb, __m512i *carry, int k)
{
    if (k > 0)
        limb = _mm512_add_epi64(limb, *carry);
    if (k == X8_LIMBS - 1)
        return limb;
    *carry = _mm512_srai_epi64(limb, 52);
    return _mm512_and_si512(limb, X8_MASK);
}

/* Limbs of any sign, with a sum in [0, 2^416), into [0, 2^52). */
X8_INLINE void fp_x8_carry_step(fp_x8 *a, struct x8_work *work, int k)
{
    a->l[k] = x8_carry_limb(a->l[k], &work->carry, k);
}

X8_INLINE void fp_x8_carry(fp_x8 *a)
{
    struct x8_work work;
#pragma GCC unroll 8
    for (int k = 0; k < X8_LIMBS; k++)
        fp_x8_carry_step(a, &work, k);
}

/* a - b + times p, times 1 to 4 */
X8_INLINE void fp_x8_sub_step(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, int times, struct x8_work *work,
                              int k)
{
    __m512i limb = _mm512_add_epi64(_mm512_sub_epi64(a->l[k], b->l[k]), x8_multiple(times, k));
    out->l[k] = x8_carry_limb(limb, &work->carry, k);
}

/* a + b, and 2p - b if a is NULL */
X8_INLINE void fp_x8_add(fp_x8 *out, const fp_x8 *a, const fp_x8 *b)
{
    __m512i carry = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (int k = 0; k < X8_LIMBS; k++) {
        __m512i limb = a ? _mm512_add_epi64(a->l[k], b->l[k]) : _mm512_sub_epi64(x8_multiple(2, k), b->l[k]);
        out->l[k] = x8_carry_limb(limb, &carry, k);
    }
}

/* a - b + times p and a - 2 b - c + times p, with limbs of any sign: for fp_x8_canonical_step. */
X8_INLINE void fp_x8_sub_lazy(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, int times)
{
#pragma GCC unroll 8
    for (int k = 0; k < X8_LIMBS; k++)
        out->l[k] = _mm512_add_epi64(_mm512_sub_epi64(a->l[k], b->l[k]), x8_multiple(times, k));
}

X8_INLINE void fp_x8_sub_twice_lazy(fp_x8 *out, const fp_x8 *a, const fp_x8 *b, const fp_x8 *c, int times)
{
#pragma GCC unroll 8
    for (int k = 0; k < X8_LIMBS; k++) {
        __m512i s = _mm512_add_epi64(_mm512_slli_epi64(b->l[k], 1), c->l[k]);
        out->l[k] = _mm512_add_epi64(_mm512_sub_epi64(a->l[k], s), x8_multiple(times, k));
    }
}

/* -a in the lanes of `lanes`, with limbs of that sign: for sums only. */
X8_INLINE void fp_x8_signed(fp_x8 *a, __mmask8 lanes)
{
#pragma GCC unroll 8
    for (int k = 0; k < X8_LIMBS; k++)
        a->l[k] = _mm512_mask_sub_epi64(a->l[k], lanes, _mm512_setzero_si512(), a->l[k]);
}

/* a in (-p, 2p) to [0, p): adds p where it is negative, then takes p away where that leaves no less. */
static __attribute__((noinline, cold)) void fp_x8_correct(fp_x8 *a)
{
    fp_x8 d;
    for (int k = 0; k < X8_LIMBS; k++)
        d.l[k] = _mm512_add_epi64(a->l[k], x8_multiple(1, k));
    fp_x8_carry(&d);
    __mmask8 take = _mm512_movepi64_mask(a->l[X8_LIMBS - 1]);
    for (int k = 0; k < X8_LIMBS; k++)
        a->l[k] = _mm512_mask_mov_epi64(a->l[k], take, d.l[k]);
    for (int k = 0; k < X8_LIMBS; k++)
        d.l[k] = _mm512_sub_epi64(a->l[k], x8_multiple(1, k));
    fp_x8_carry(&d);
    take = (__mmask8)~_mm512_movepi64_mask(d.l[X8_LIMBS - 1]);
    for (int k = 0; k < X8_LIMBS; k++)
        a->l[k] = _mm512_mask_mov_epi64(a->l[k], take, d.l[k]);
}

/* a in [0, 4p), limbs of any sign, to [0, p), for all but one number in 10^5. The number of p to take away is
 * guessed from the top limb; whether it was right shows in the top limb of the result: fp_x8_settle, due
 * after the last step, then does the exact comparison. */
X8_INLINE void fp_x8_canonical_step(fp_x8 *a, struct x8_work *work, int k)
{
    if (k == 0) {
        __m512i top = _mm512_add_epi64(a->l[7], _mm512_srai_epi64(a->l[6], 52)),
                zero = _mm512_setzero_si512();
        top = _mm512_max_epi64(top, zero);
        work->times = _mm512_madd52hi_epu64(zero, top, _mm512_set1_epi64(X8_QUOTIENT));
    }
    __m512i multiples = _mm512_load_si512(X8_MULTIPLES[k]);
    __m512i limb = _mm512_sub_epi64(a->l[k], _mm512_permutexvar_epi64(work->times, multiples));
    a->l[k] = x8_carry_limb(limb, &work->carry, k);
}

X8_INLINE void fp_x8_settle(fp_x8 *a)
{
    if (__builtin_expect(_mm512_cmpge_epu64_mask(a->l[7], x8_multiple(1, 7)) != 0, 0))
        fp_x8_correct(a);
}

/* 2^32 a, for a < 8p. */
X8_INLINE void fp_x8_shift32(fp_x8 *out, const fp_x8 *a)
{
    out->l[0] = _mm512_and_si512(_mm512_slli_epi64(a->l[0], 32), X8_MASK);
#pragma GCC unroll 8
    for (int k = 1; k < X8_LIMBS; k++) {
        __m512i limb = _mm512_or_si512(_mm512_slli_epi64(a->l[k], 32), _mm512_srli_epi64(a->l[k - 1], 20));
        out->l[k] = _mm512_and_si512(limb, X8_MASK);
    }
}

#define X8_PAIRS(a, b, i) _mm512_shuffle_i64x2(a, b, i)

/* Limbs of 64 bits, w[i] holding limb i of all lanes, into limbs of 52: half of them in steps 6 and 7 each.
 */
X8_INLINE void fp_x8_split_step(fp_x8 *out, const __m512i w[6], int k)
{
    if (k == 6) {
        out->l[0] = _mm512_and_si512(w[0], X8_MASK);
        out->l[1] = _mm512_and_si512(_mm512_shrdi_epi64(w[0], w[1], 52), X8_MASK);
        out->l[2] = _mm512_and_si512(_mm512_shrdi_epi64(w[1], w[2], 40), X8_MASK);
        out->l[3] = _mm512_and_si512(_mm512_shrdi_epi64(w[2], w[3], 28), X8_MASK);
    } else {
        out->l[4] = _mm512_and_si512(_mm512_shrdi_epi64(w[3], w[4], 16), X8_MASK);
        out->l[5] = _mm512_and_si512(_mm512_srli_epi64(w[4], 4), X8_MASK);
        out->l[6] = _mm512_and_si512(_mm512_shrdi_epi64(w[4], w[5], 56), X8_MASK);
        out->l[7] = _mm512_srli_epi64(w[5], 44);
    }
}

/* Eight numbers from anywhere. Step k < 4 reads in[2k] and in[2k + 1] only; the others read none. */
X8_INLINE void fp_x8_load_step(fp_x8 *out, const fp *const in[X8_LANES], struct x8_work *work, int k)
{
    __m512i *t = work->r, *w = work->w;
    if (k < 4) {
        __m512i a = _mm512_maskz_loadu_epi64(0x3f, in[2 * k]->l);
        __m512i b = _mm512_maskz_loadu_epi64(0x3f, in[2 * k + 1]->l);
        t[2 * k] = _mm512_unpacklo_epi64(a, b);
        t[2 * k + 1] = _mm512_unpackhi_epi64(a, b);
    } else if (k < 6) {
        int i = k - 4;
        __m512i low = X8_PAIRS(t[i], t[i + 2], 0x44), high = X8_PAIRS(t[i + 4], t[i + 6], 0x44);
        w[i] = X8_PAIRS(low, high, 0x88);
        w[i + 2] = X8_PAIRS(low, high, 0xdd);
        low = X8_PAIRS(t[i], t[i + 2], 0xee);
        high = X8_PAIRS(t[i + 4], t[i + 6], 0xee);
        w[i + 4] = X8_PAIRS(low, high, 0x88);
    } else {
        fp_x8_split_step(out, w, k);
    }
}

X8_INLINE void fp_x8_load(fp_x8 *out, const fp *const in[X8_LANES])
{
    struct x8_work work;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        fp_x8_load_step(out, in, &work, k);
}

/* Limb i of 64 bits. */
X8_INLINE __m512i fp_x8_join(const fp_x8 *a, int i)
{
    int limb = i < 5 ? i : 6, shift = 64 * i - 52 * limb; /* of the first limb, down */
    __m512i w = _mm512_srli_epi64(a->l[limb], (unsigned)shift);
    w = _mm512_or_si512(w, _mm512_slli_epi64(a->l[limb + 1], (unsigned)(52 - shift)));
    return i == 4 ? _mm512_or_si512(w, _mm512_slli_epi64(a->l[6], 56)) : w;
}

/* a must be canonical. The last three steps write. */
X8_INLINE void fp_x8_store_step(fp *const out[X8_LANES], const fp_x8 *a, struct x8_work *work, int k)
{
    __m512i *w = work->w, *r = work->r;
    if (k < 3) {
        w[2 * k] = fp_x8_join(a, 2 * k);
        w[2 * k + 1] = fp_x8_join(a, 2 * k + 1);
    } else if (k < 5) {
        int odd = k - 3;
        __m512i x = odd ? _mm512_unpackhi_epi64(w[0], w[1]) : _mm512_unpacklo_epi64(w[0], w[1]);
        __m512i y = odd ? _mm512_unpackhi_epi64(w[2], w[3]) : _mm512_unpacklo_epi64(w[2], w[3]);
        __m512i z = odd ? _mm512_unpackhi_epi64(w[4], w[5]) : _mm512_unpacklo_epi64(w[4], w[5]);
        __m512i low = X8_PAIRS(x, y, 0x44), high = X8_PAIRS(x, y, 0xee);
        r[odd] = X8_PAIRS(low, z, 0x08);
        r[odd + 2] = X8_PAIRS(low, z, 0x1d);
        r[odd + 4] = X8_PAIRS(high, z, 0x28);
        r[odd + 6] = X8_PAIRS(high, z, 0x3d);
    } else {
        int i = 3 * (k - 5);
        _mm512_mask_storeu_epi64(out[i]->l, 0x3f, r[i]);
        _mm512_mask_storeu_epi64(out[i + 1]->l, 0x3f, r[i + 1]);
        if (k < 7)
            _mm512_mask_storeu_epi64(out[i + 2]->l, 0x3f, r[i + 2]);
    }
}

X8_INLINE void fp_x8_store(fp *const out[X8_LANES], const fp_x8 *a)
{
    struct x8_work work;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        fp_x8_store_step(out, a, &work, k);
}

X8_INLINE void fp_x8_set1(fp_x8 *out, const fp *a)
{
    __m512i w[6];
#pragma GCC unroll 8
    for (int i = 0; i < 6; i++)
        w[i] = _mm512_set1_epi64((long long)a->l[i]);
    fp_x8_split_step(out, w, 6);
    fp_x8_split_step(out, w, 7);
}

#endif
