/* Fr of BLS12-381 on the card: eight 32-bit limbs; `fr` is a Montgomery residue (radix 2^256, the memory form
 * of field/fr.h), `fr_int` a plain integer. Constants of the NTT are `fr_shoup`.
 *
 * r = 1 mod 2^32, so the quotient digit of a reduction row is the negated low word and the lowest product is
 * no product at all: 120 wide multiply-adds a multiplication. 2^256 > 2.2 r only: Montgomery results are
 * fully reduced where both factors are below r, and below 2r where one factor is below 2r.
 *
 * Shoup form of a constant w: w and floor(w 2^256 / r). x w mod r then takes the high half of one product
 * and the low halves of two: 86 wide and 14 low multiplications, no Montgomery factor, result below 2r for
 * any x below 2r. Dropping the products below column 6 makes the quotient too small by less than 2^-29, which
 * leaves the bound x/2^256 + 1 + 2^-29 < 2. */
#ifndef CUZK_DEVICE_CUDA_FR_CUH
#define CUZK_DEVICE_CUDA_FR_CUH

#include "device/cuda/carry.cuh"

namespace gpu
{

struct alignas(16) fr {
    uint32_t l[8];
};

struct alignas(16) fr_int {
    uint32_t l[8];
};

struct alignas(16) fr_shoup {
    uint32_t w[8]; /* below r, not Montgomery */
    uint32_t q[8]; /* floor(w 2^256 / r) */
};

#define GPU_FR_R                                                                                             \
    {                                                                                                        \
        0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402, 0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753       \
    }
#define GPU_FR_2R                                                                                            \
    {                                                                                                        \
        0x00000002, 0xfffffffe, 0xfffcb7fd, 0xa77b4805, 0x1343b00a, 0x6673b010, 0x533afa90, 0xe7db4ea6       \
    }
#define GPU_FR_NEG_R /* 2^256 - r; word 1 is zero */                                                         \
    {                                                                                                        \
        0xffffffff, 0x00000000, 0x0001a401, 0xac425bfd, 0xf65e27fa, 0xccc627f7, 0xd66282b7, 0x8c1258ac       \
    }
#define GPU_FR_NEG_INVERSE /* -1/r mod 2^256 */                                                              \
    {                                                                                                        \
        0xffffffff, 0xfffffffe, 0xfffe5bfd, 0x53ba5bff, 0x0004ec06, 0x181b2c17, 0xd7bf2839, 0x3d443ab0       \
    }

HD fr fr_zero()
{
    return fr{{0, 0, 0, 0, 0, 0, 0, 0}};
}

HD fr fr_one()
{
    return fr{
        {0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa, 0xecbc4ff5, 0x998c4fef, 0xacc5056f, 0x1824b159}};
}

HD fr fr_r2()
{
    return fr{
        {0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb, 0x7254398f, 0x05d31496, 0x9f59ff11, 0x0748d9d9}};
}

/* (even, odd as in fp.cuh) += a * b after the shift */
HD void fr_row_mul(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    carry c;
    even[0] = add_cc(c, even[0], odd[1]);
    UNROLL for (int j = 0; j < 6; j += 2) madc_cc(c, odd[j], odd[j + 1], a[j + 1], b, odd[j + 2], odd[j + 3]);
    madc(c, odd[6], odd[7], a[7], b, 0, 0);
    mad_cc(c, even[0], even[1], a[0], b, even[0], even[1]);
    UNROLL for (int j = 2; j < 8; j += 2) madc_cc(c, even[j], even[j + 1], a[j], b, even[j], even[j + 1]);
    odd[7] = addc(c, odd[7], 0);
}

/* Adds q r with q = -even[0]: even[0] + q r_0 is 0 or 2^32. */
HD void fr_row_reduce(uint32_t *even, uint32_t *odd)
{
    const uint32_t r[8] = GPU_FR_R;
    carry c;
    uint32_t q = negated(even[0]);
    (void)add_cc(c, even[0], q);
    madc_cc(c, odd[0], odd[1], r[1], q, odd[0], odd[1]);
    UNROLL for (int j = 2; j < 6; j += 2) madc_cc(c, odd[j], odd[j + 1], r[j + 1], q, odd[j], odd[j + 1]);
    madc(c, odd[6], odd[7], r[7], q, odd[6], odd[7]);
    mad_cc(c, even[2], even[3], r[2], q, even[2], even[3]);
    madc_cc(c, even[4], even[5], r[4], q, even[4], even[5]);
    madc_cc(c, even[6], even[7], r[6], q, even[6], even[7]);
    odd[7] = addc(c, odd[7], 0);
}

/* out = a b / 2^256 for a < r (running sums stay below a + r, which must be below 2^256) and any b: below
 * r (1 + a b / (r 2^256)), so below 2r for b < 2^256. */
HD void fr_mul_words(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    uint32_t even[8], odd[8];
    carry c;
    UNROLL for (int j = 0; j < 8; j += 2)
    {
        mul_wide(odd[j], odd[j + 1], a[j + 1], b[0]);
        mul_wide(even[j], even[j + 1], a[j], b[0]);
    }
    fr_row_reduce(even, odd);
    UNROLL for (int i = 1; i < 7; i += 2)
    {
        fr_row_mul(odd, even, a, b[i]);
        fr_row_reduce(odd, even);
        fr_row_mul(even, odd, a, b[i + 1]);
        fr_row_reduce(even, odd);
    }
    fr_row_mul(odd, even, a, b[7]);
    fr_row_reduce(odd, even);
    out[0] = add_cc(c, even[0], odd[1]);
    UNROLL for (int j = 1; j < 7; j++) out[j] = addc_cc(c, even[j], odd[j + 1]);
    out[7] = addc(c, even[7], 0);
}

HD void fr_reduce(fr &r, const fr &a) /* [0,2r) to [0,r) */
{
    const uint32_t m[8] = GPU_FR_R;
    words_reduce_once<8>(r.l, a.l, m);
}

/* a < r, b < 2r; fully reduced. */
HD void fr_mul(fr &r, const fr &a, const fr &b)
{
    fr t;
    fr_mul_words(t.l, a.l, b.l);
    fr_reduce(r, t);
}

HD void fr_add(fr &r, const fr &a, const fr &b)
{
    const uint32_t m[8] = GPU_FR_R;
    uint32_t s[8];
    words_add<8>(s, a.l, b.l);
    words_reduce_once<8>(r.l, s, m);
}

HD void fr_sub(fr &r, const fr &a, const fr &b)
{
    const uint32_t m[8] = GPU_FR_R;
    uint32_t d[8];
    uint32_t borrow = words_sub<8>(d, a.l, b.l);
    words_add_masked<8>(r.l, d, m, borrow);
}

/* Modulo 2r, for the lazy values of a butterfly: a, b < 2r; r < 2r. */
HD void fr_add_lazy(fr &r, const fr &a, const fr &b)
{
    const uint32_t m[8] = GPU_FR_2R;
    uint32_t s[8], d[8];
    carry c;
    s[0] = add_cc(c, a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 8; i++) s[i] = addc_cc(c, a.l[i], b.l[i]);
    uint32_t top = addc(c, 0, 0);
    d[0] = sub_cc(c, s[0], m[0]);
    UNROLL for (int i = 1; i < 8; i++) d[i] = subc_cc(c, s[i], m[i]);
    uint32_t less = subc(c, top, 0); /* all ones if a + b < 2r */
    UNROLL for (int i = 0; i < 8; i++) r.l[i] = less ? s[i] : d[i];
}

HD void fr_sub_lazy(fr &r, const fr &a, const fr &b)
{
    const uint32_t m[8] = GPU_FR_2R;
    uint32_t d[8];
    uint32_t borrow = words_sub<8>(d, a.l, b.l);
    words_add_masked<8>(r.l, d, m, borrow);
}

HD bool fr_is_zero(const fr &a)
{
    return words_is_zero<8>(a.l);
}

HD bool fr_equal(const fr &a, const fr &b)
{
    return words_equal<8>(a.l, b.l);
}

HD void fr_from_int(fr &r, const fr_int &a)
{
    fr t;
    UNROLL for (int i = 0; i < 8; i++) t.l[i] = a.l[i];
    fr_mul(r, fr_r2(), t);
}

HD void fr_to_int(fr_int &r, const fr &a) /* a < 2r */
{
    fr t, one = fr{{1, 0, 0, 0, 0, 0, 0, 0}};
    fr_mul(t, one, a);
    UNROLL for (int i = 0; i < 8; i++) r.l[i] = t.l[i];
}

/* Accumulators as in fp.cuh: even[k] holds word k, odd[k] word k + 1. */

/* (even, odd) += a b mod 2^256, for the rows from..7 of b. */
template <int from> HD void words_mac_low(uint32_t *even, uint32_t *odd, const uint32_t *a, const uint32_t *b)
{
    carry c;
    UNROLL for (int i = from; i < 8; i++)
    {
        UNROLL for (int j = 0; j < 8; j++)
        {
            int k = i + j;
            if (k < 8 && k % 2 == 0) {
                if (j < 2)
                    mad_cc(c, even[k], even[k + 1], a[j], b[i], even[k], even[k + 1]);
                else
                    madc_cc(c, even[k], even[k + 1], a[j], b[i], even[k], even[k + 1]);
            }
        }
        UNROLL for (int j = 0; j < 8; j++)
        {
            int k = i + j - 1;
            if (k >= 0 && k < 6 && k % 2 == 0) {
                if (j < 2)
                    mad_cc(c, odd[k], odd[k + 1], a[j], b[i], odd[k], odd[k + 1]);
                else
                    madc_cc(c, odd[k], odd[k + 1], a[j], b[i], odd[k], odd[k + 1]);
            } else if (k == 6) {
                odd[6] = j < 2 ? mad_lo(c, a[j], b[i], odd[6]) : madc_lo(c, a[j], b[i], odd[6]);
            }
        }
    }
}

/* out = a b mod 2^256. */
HD void words_mul_low(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    uint32_t even[8], odd[8];
    carry c;
    UNROLL for (int i = 0; i < 8; i++) even[i] = odd[i] = 0;
    words_mac_low<0>(even, odd, a, b);
    out[0] = even[0];
    out[1] = add_cc(c, even[1], odd[0]);
    UNROLL for (int i = 2; i < 7; i++) out[i] = addc_cc(c, even[i], odd[i - 1]);
    out[7] = addc(c, even[7], odd[6]);
}

/* out = words 8..15 of a*b without the products of columns 0..5: at most 1 too small (2^-29 of the time). */
HD void words_mul_high(uint32_t *out, const uint32_t *a, const uint32_t *b)
{
    /* even[k] holds word 6 + k (columns 6, 8, ..., 14), odd[k] word 7 + k (columns 7, ..., 13) */
    uint32_t even[10], odd[9];
    carry c;
    UNROLL for (int i = 0; i < 10; i++) even[i] = 0;
    UNROLL for (int i = 0; i < 9; i++) odd[i] = 0;
    UNROLL for (int i = 0; i < 8; i++)
    {
        UNROLL for (int j = 0; j < 8; j++)
        {
            int k = i + j - 6;
            if (k >= 0 && k % 2 == 0) {
                if (k < 2 || j < 2)
                    mad_cc(c, even[k], even[k + 1], a[j], b[i], even[k], even[k + 1]);
                else
                    madc_cc(c, even[k], even[k + 1], a[j], b[i], even[k], even[k + 1]);
                if (j >= 6 && k + 2 < 10)
                    even[k + 2] = addc(c, even[k + 2], 0);
            }
        }
        UNROLL for (int j = 0; j < 8; j++)
        {
            int k = i + j - 7;
            if (k >= 0 && k % 2 == 0) {
                if (k < 2 || j < 2)
                    mad_cc(c, odd[k], odd[k + 1], a[j], b[i], odd[k], odd[k + 1]);
                else
                    madc_cc(c, odd[k], odd[k + 1], a[j], b[i], odd[k], odd[k + 1]);
                if (j >= 6 && k + 2 < 9)
                    odd[k + 2] = addc(c, odd[k + 2], 0);
            }
        }
    }
    /* word 7 is dropped but for its carry */
    (void)add_cc(c, even[1], odd[0]);
    UNROLL for (int i = 0; i < 7; i++) out[i] = addc_cc(c, even[i + 2], odd[i + 1]);
    out[7] = addc(c, even[9], odd[8]);
}

/* r = x w mod r, lazily: x < 2r (any representation: Montgomery in, Montgomery out); r < 2r. */
HD void fr_mul_shoup(fr &r, const fr &x, const uint32_t *w, const uint32_t *wq)
{
    const uint32_t neg[8] = GPU_FR_NEG_R;
    uint32_t q[8], even[8], odd[8];
    carry c;
    words_mul_high(q, x.l, wq);
    /* x w - q r mod 2^256, as x w + q (2^256 - r); word 1 of the latter is zero and word 0 is -1 */
    UNROLL for (int i = 0; i < 8; i++) even[i] = odd[i] = 0;
    words_mac_low<0>(even, odd, x.l, w);
    words_mac_low<2>(even, odd, q, neg);
    /* q times word 0 (2^32 - 1) is (q << 32) - q; the shifted copy rides in the odd words */
    odd[0] = add_cc(c, odd[0], q[0]);
    UNROLL for (int i = 1; i < 6; i++) odd[i] = addc_cc(c, odd[i], q[i]);
    odd[6] = addc(c, odd[6], q[6]);
    even[1] = add_cc(c, even[1], odd[0]);
    UNROLL for (int i = 2; i < 7; i++) even[i] = addc_cc(c, even[i], odd[i - 1]);
    even[7] = addc(c, even[7], odd[6]);
    words_sub<8>(r.l, even, q);
}

/* Shoup form of w, given w in Montgomery form: q = (w 2^256 - (w 2^256 mod r)) / r, an exact quotient, so
 * that q = -(w 2^256 mod r) / r mod 2^256; and w 2^256 mod r is the Montgomery form. */
HD void fr_shoup_from(fr_shoup &out, const fr &montgomery)
{
    const uint32_t inverse[8] = GPU_FR_NEG_INVERSE;
    fr_int plain;
    fr_to_int(plain, montgomery);
    UNROLL for (int i = 0; i < 8; i++) out.w[i] = plain.l[i];
    words_mul_low(out.q, montgomery.l, inverse);
}

} // namespace gpu

#endif
