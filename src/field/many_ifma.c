/* Eight Montgomery multiplications at a time with AVX-512 IFMA (VPMADD52: the low or high 52 bits of a 52 x
 * 52 bit product, added to a 64-bit lane). Lane k of every vector belongs to pair k; an element becomes n = 8
 * (Fp) or n = 5 (Fr) digits of 52 bits.
 *
 * The n reduction steps divide by 2^(52n), that is 2^416 or 2^260, but residues are for 2^384 and 2^256. So a
 * is shifted left by 52n - 64 limbs bits, 32 or 4, while it is cut into digits, which costs nothing and still
 * fits 52n bits. The sum ends below p^2 / 2^384 + p (Fp) or r^2 / 2^256 + r (Fr), less than twice the
 * modulus. Carries wait in the upper 12 bits of the lanes: each digit position receives at most 4n < 2^6
 * addends below 2^52. 4n^2 + n products for eight multiplications; conversion in and out is about a third on
 * top. */
#include "field/many.h"

#include <immintrin.h>

typedef __m512i lanes;

#define DIGIT_MASK    ((UINT64_C(1) << 52) - 1)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

static const uint64_t FP_DIGITS[8] = {UINT64_C(0xeffffffffaaab), UINT64_C(0xfeb153ffffb9f),
                                      UINT64_C(0x6b0f6241eabff), UINT64_C(0x12bf6730d2a0f),
                                      UINT64_C(0x764774b84f385), UINT64_C(0x1ba7b6434bacd),
                                      UINT64_C(0x1ea397fe69a4b), UINT64_C(0x000000001a011)};
static const uint64_t FR_DIGITS[5] = {UINT64_C(0xfffff00000001), UINT64_C(0x02fffe5bfefff),
                                      UINT64_C(0x9a1d80553bda4), UINT64_C(0x7d483339d8080),
                                      UINT64_C(0x073eda753299d)};

ALWAYS_INLINE lanes all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* 52 bits of the number in x (n limbs) from the given bit, which may be as low as -51. */
ALWAYS_INLINE lanes digit_at(const lanes *x, int n, int bit)
{
    if (bit < 0)
        return _mm512_and_si512(_mm512_slli_epi64(x[0], (unsigned)-bit), all(DIGIT_MASK));
    int limb = bit / 64, shift = bit % 64;
    lanes d = _mm512_srli_epi64(x[limb], (unsigned)shift);
    if (shift > 12 && limb + 1 < n)
        d = _mm512_or_si512(d, _mm512_slli_epi64(x[limb + 1], (unsigned)(64 - shift)));
    return _mm512_and_si512(d, all(DIGIT_MASK));
}

/* 64 bits from the given bit of a number in digits (below 2^52 each). */
ALWAYS_INLINE lanes limb_at(const lanes *d, int n, int bit)
{
    int first = bit / 52, shift = bit % 52, end = (bit + 63) / 52 + 1;
    lanes x = _mm512_srli_epi64(d[first], (unsigned)shift);
    UNROLL
    for (int j = first + 1; j < (end < n ? end : n); j++)
        x = _mm512_or_si512(x, _mm512_slli_epi64(d[j], (unsigned)(52 * j - bit)));
    return x;
}

/* out = x y / 2^(64 limbs) mod m, fully reduced; all in limbs, one pair a lane. */
ALWAYS_INLINE void multiply(lanes *out, const lanes *x, const lanes *y, const uint64_t *modulus, uint64_t n0,
                            int limbs, int digits)
{
    lanes a[8], sum[9], rest[8];
    UNROLL
    for (int j = 0; j < digits; j++)
        a[j] = digit_at(x, limbs, 52 * j - (52 * digits - 64 * limbs));
    UNROLL
    for (int j = 0; j <= digits; j++)
        sum[j] = _mm512_setzero_si512();
    UNROLL
    for (int i = 0; i < digits; i++) {
        lanes b = digit_at(y, limbs, 52 * i);
        UNROLL
        for (int j = 0; j < digits; j++)
            sum[j] = _mm512_madd52lo_epu64(sum[j], a[j], b);
        lanes q = _mm512_madd52lo_epu64(_mm512_setzero_si512(), sum[0], all(n0 & DIGIT_MASK));
        UNROLL
        for (int j = 0; j < digits; j++)
            sum[j + 1] = _mm512_madd52hi_epu64(sum[j + 1], a[j], b);
        UNROLL
        for (int j = 0; j < digits; j++)
            sum[j] = _mm512_madd52lo_epu64(sum[j], all(modulus[j]), q);
        sum[1] = _mm512_add_epi64(sum[1], _mm512_srli_epi64(sum[0], 52));
        UNROLL
        for (int j = 0; j < digits; j++) /* and down by a digit */
            sum[j] = _mm512_madd52hi_epu64(sum[j + 1], all(modulus[j]), q);
        sum[digits] = _mm512_setzero_si512();
    }
    UNROLL
    for (int j = 0; j < digits; j++)
        rest[j] = _mm512_sub_epi64(sum[j], all(modulus[j]));
    UNROLL
    for (int j = 0; j + 1 < digits; j++) { /* carries, of the sum and of the sum less m */
        sum[j + 1] = _mm512_add_epi64(sum[j + 1], _mm512_srli_epi64(sum[j], 52));
        rest[j + 1] = _mm512_add_epi64(rest[j + 1], _mm512_srai_epi64(rest[j], 52));
    }
    __mmask8 below = _mm512_movepi64_mask(rest[digits - 1]);
    UNROLL
    for (int j = 0; j < digits; j++)
        sum[j] = _mm512_and_si512(_mm512_mask_blend_epi64(below, rest[j], sum[j]), all(DIGIT_MASK));
    UNROLL
    for (int i = 0; i < limbs; i++)
        out[i] = limb_at(sum, digits, 64 * i);
}

/* Limb i of the eight elements into x[i]; lanes in the order of the elements but for exchanges that
 * fp_scatter undoes. */
ALWAYS_INLINE void fp_gather(lanes x[6], const lanes row[8])
{
    lanes even[4], odd[4]; /* limbs 0 2 4 and 1 3 5 of two neighbouring rows in turn */
    UNROLL
    for (int i = 0; i < 4; i++) {
        even[i] = _mm512_unpacklo_epi64(row[2 * i], row[2 * i + 1]);
        odd[i] = _mm512_unpackhi_epi64(row[2 * i], row[2 * i + 1]);
    }
    lanes low = _mm512_shuffle_i64x2(even[0], even[1], 0x88),
          high = _mm512_shuffle_i64x2(even[2], even[3], 0x88);
    x[0] = _mm512_shuffle_i64x2(low, high, 0x88);
    x[4] = _mm512_shuffle_i64x2(low, high, 0xdd);
    x[2] = _mm512_shuffle_i64x2(_mm512_shuffle_i64x2(even[0], even[1], 0xdd),
                                _mm512_shuffle_i64x2(even[2], even[3], 0xdd), 0x88);
    low = _mm512_shuffle_i64x2(odd[0], odd[1], 0x88), high = _mm512_shuffle_i64x2(odd[2], odd[3], 0x88);
    x[1] = _mm512_shuffle_i64x2(low, high, 0x88);
    x[5] = _mm512_shuffle_i64x2(low, high, 0xdd);
    x[3] = _mm512_shuffle_i64x2(_mm512_shuffle_i64x2(odd[0], odd[1], 0xdd),
                                _mm512_shuffle_i64x2(odd[2], odd[3], 0xdd), 0x88);
}

/* Rows of four elements out of the pairs of limbs (0 1), (2 3), (4 5), each in a block of 128 bits. */
ALWAYS_INLINE void fp_scatter_half(lanes row[8], int first, lanes l01, lanes l23, lanes l45)
{
    lanes low = _mm512_shuffle_i64x2(l01, l23, 0x44), high = _mm512_shuffle_i64x2(l01, l23, 0xee);
    lanes low_end = _mm512_shuffle_i64x2(l45, l45, 0x44), high_end = _mm512_shuffle_i64x2(l45, l45, 0xee);
    row[first] = _mm512_shuffle_i64x2(low, low_end, 0x08);
    row[first + 2] = _mm512_shuffle_i64x2(low, low_end, 0x5d);
    row[first + 4] = _mm512_shuffle_i64x2(high, high_end, 0x08);
    row[first + 6] = _mm512_shuffle_i64x2(high, high_end, 0x5d);
}

ALWAYS_INLINE void fp_scatter(lanes row[8], const lanes x[6])
{
    fp_scatter_half(row, 0, _mm512_unpacklo_epi64(x[0], x[1]), _mm512_unpacklo_epi64(x[2], x[3]),
                    _mm512_unpacklo_epi64(x[4], x[5]));
    fp_scatter_half(row, 1, _mm512_unpackhi_epi64(x[0], x[1]), _mm512_unpackhi_epi64(x[2], x[3]),
                    _mm512_unpackhi_epi64(x[4], x[5]));
}

enum { SIX_LIMBS = 0x3f }; /* the mask of an element in a vector */

ALWAYS_INLINE void fp_multiply_rows(lanes out[8], const lanes a[8], const lanes b[8])
{
    lanes x[6], y[6];
    fp_gather(x, a);
    fp_gather(y, b);
    multiply(x, x, y, FP_DIGITS, FP_N0, 6, 8);
    fp_scatter(out, x);
}

void fp_mul_eight_ifma(fp *const out[8], const fp *const a[8], const fp *const b[8])
{
    lanes x[8], y[8];
    UNROLL
    for (int i = 0; i < 8; i++) {
        x[i] = _mm512_maskz_loadu_epi64(SIX_LIMBS, a[i]->l);
        y[i] = _mm512_maskz_loadu_epi64(SIX_LIMBS, b[i]->l);
    }
    fp_multiply_rows(x, x, y);
    UNROLL
    for (int i = 0; i < 8; i++)
        _mm512_mask_storeu_epi64(out[i]->l, SIX_LIMBS, x[i]);
}

void fp_mul_many_ifma(fp *out, const fp *a, const fp *b, size_t n)
{
    for (size_t k = 0; k < n; k += 8) {
        lanes x[8], y[8];
        UNROLL
        for (size_t i = 0; i < 8; i++) {
            x[i] = _mm512_maskz_loadu_epi64(SIX_LIMBS, a[k + i].l);
            y[i] = _mm512_maskz_loadu_epi64(SIX_LIMBS, b[k + i].l);
        }
        fp_multiply_rows(x, x, y);
        UNROLL
        for (size_t i = 0; i < 8; i++)
            _mm512_mask_storeu_epi64(out[k + i].l, SIX_LIMBS, x[i]);
    }
}

/* Eight elements lie in four vectors; lanes take the elements in the order 0 2 1 3 4 6 5 7. */
ALWAYS_INLINE void fr_gather(lanes x[4], const fr *a)
{
    lanes v0 = _mm512_loadu_si512(a[0].l), v1 = _mm512_loadu_si512(a[2].l);
    lanes v2 = _mm512_loadu_si512(a[4].l), v3 = _mm512_loadu_si512(a[6].l);
    lanes even0 = _mm512_unpacklo_epi64(v0, v1), even1 = _mm512_unpacklo_epi64(v2, v3);
    lanes odd0 = _mm512_unpackhi_epi64(v0, v1), odd1 = _mm512_unpackhi_epi64(v2, v3);
    x[0] = _mm512_shuffle_i64x2(even0, even1, 0x88);
    x[1] = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
    x[2] = _mm512_shuffle_i64x2(even0, even1, 0xdd);
    x[3] = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
}

ALWAYS_INLINE void fr_scatter(fr *out, const lanes x[4])
{
    const lanes low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const lanes high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    lanes a01 = _mm512_unpacklo_epi64(x[0], x[1]),
          a23 = _mm512_unpacklo_epi64(x[2], x[3]); /* elements 0 1 4 5 */
    lanes b01 = _mm512_unpackhi_epi64(x[0], x[1]),
          b23 = _mm512_unpackhi_epi64(x[2], x[3]); /* elements 2 3 6 7 */
    _mm512_storeu_si512(out[0].l, _mm512_permutex2var_epi64(a01, low, a23));
    _mm512_storeu_si512(out[2].l, _mm512_permutex2var_epi64(b01, low, b23));
    _mm512_storeu_si512(out[4].l, _mm512_permutex2var_epi64(a01, high, a23));
    _mm512_storeu_si512(out[6].l, _mm512_permutex2var_epi64(b01, high, b23));
}

void fr_mul_many_ifma(fr *out, const fr *a, const fr *b, size_t n)
{
    for (size_t k = 0; k < n; k += 8) {
        lanes x[4], y[4];
        fr_gather(x, a + k);
        fr_gather(y, b + k);
        multiply(x, x, y, FR_DIGITS, FR_N0, 4, 5);
        fr_scatter(out + k, x);
    }
}
