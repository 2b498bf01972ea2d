/* Fp of BLS12-381 on the card: twelve 32-bit limbs, Montgomery radix 2^384, the memory form of field/fp.h.
 *
 * Values are lazy: any representative in [0, 2p), written "< 2p" below; fp_reduce() gives the canonical one,
 * which is what leaves the card. 2^384 > 9.8 p, so a product of factors with a*b < 9.8 p^2 comes out below 2p
 * without a final subtraction: [0,4p) times [0,2p) is allowed, and so is the sum of two products of [0,2p).
 *
 * Multiplication: operand scanning with interleaved reduction over two accumulators, one for the products
 * that start on even words and one for odd, so that each row is two unbroken carry chains of wide
 * multiply-adds: 288 of them, 12 low products and about 48 additions. By the cost law of docs/gpu.md
 * (4 cycles a wide product, 2 a low one, 0.9 an addition) 1,219 cycles a warp. */
#ifndef CUZK_DEVICE_CUDA_FP_CUH
#define CUZK_DEVICE_CUDA_FP_CUH

#include "device/cuda/carry.cuh"

namespace gpu
{

struct alignas(16) fp {
    uint32_t l[12];
};

#define GPU_FP_N0 0xfffcfffdu
#define GPU_FP_P                                                                                             \
    {                                                                                                        \
        0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0, 0xf38512bf, 0x64774b84,      \
            0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea                                                   \
    }
#define GPU_FP_2P                                                                                            \
    {                                                                                                        \
        0xffff5556, 0x73fdffff, 0x62a7ffff, 0x3d57fffd, 0xed61ec48, 0xce61a541, 0xe70a257e, 0xc8ee9709,      \
            0x869759ae, 0x96374f6c, 0x72ffcd34, 0x340223d4                                                   \
    }

HD fp fp_zero()
{
    return fp{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
}

HD fp fp_one()
{
    return fp{{0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857, 0x70525745, 0x77ce5853,
               0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3}};
}

HD fp fp_r2() /* 2^768 mod p: times this takes an integer to Montgomery form */
{
    return fp{{0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c, 0x939d83c0, 0x67eb88a9,
               0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5}};
}

/* One row of operand scanning: even and odd hold the running sum as even + 2^32 odd. */

/* (odd, even >> 64) += a * b, after the shift by one word that made odd the even accumulator. */
HD void fp_row_mul(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    carry c;
    even[0] = add_cc(c, even[0], odd[1]);
    UNROLL for (int j = 0; j < 10; j += 2)
        madc_cc(c, odd[j], odd[j + 1], a[j + 1], b, odd[j + 2], odd[j + 3]);
    madc(c, odd[10], odd[11], a[11], b, 0, 0);
    mad_cc(c, even[0], even[1], a[0], b, even[0], even[1]);
    UNROLL for (int j = 2; j < 12; j += 2) madc_cc(c, even[j], even[j + 1], a[j], b, even[j], even[j + 1]);
    odd[11] = addc(c, odd[11], 0);
}

/* The same without the shift: a second product in the same row. */
HD void fp_row_mul_again(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    carry c;
    mad_cc(c, odd[0], odd[1], a[1], b, odd[0], odd[1]);
    UNROLL for (int j = 2; j < 10; j += 2) madc_cc(c, odd[j], odd[j + 1], a[j + 1], b, odd[j], odd[j + 1]);
    madc(c, odd[10], odd[11], a[11], b, odd[10], odd[11]);
    mad_cc(c, even[0], even[1], a[0], b, even[0], even[1]);
    UNROLL for (int j = 2; j < 12; j += 2) madc_cc(c, even[j], even[j + 1], a[j], b, even[j], even[j + 1]);
    odd[11] = addc(c, odd[11], 0);
}

/* Makes even[0] zero by adding a multiple of p. */
HD void fp_row_reduce(uint32_t *even, uint32_t *odd)
{
    const uint32_t p[12] = GPU_FP_P;
    carry c;
    uint32_t q = even[0] * GPU_FP_N0;
    mad_cc(c, odd[0], odd[1], p[1], q, odd[0], odd[1]);
    UNROLL for (int j = 2; j < 10; j += 2) madc_cc(c, odd[j], odd[j + 1], p[j + 1], q, odd[j], odd[j + 1]);
    madc(c, odd[10], odd[11], p[11], q, odd[10], odd[11]);
    mad_cc(c, even[0], even[1], p[0], q, even[0], even[1]);
    UNROLL for (int j = 2; j < 12; j += 2) madc_cc(c, even[j], even[j + 1], p[j], q, even[j], even[j + 1]);
    odd[11] = addc(c, odd[11], 0);
}

HD void fp_row_first(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    UNROLL for (int j = 0; j < 12; j += 2)
    {
        mul_wide(odd[j], odd[j + 1], a[j + 1], b);
        mul_wide(even[j], even[j + 1], a[j], b);
    }
}

/* (even >> 32) + odd */
HD void fp_row_last(uint32_t *r, const uint32_t *even, const uint32_t *odd)
{
    carry c;
    r[0] = add_cc(c, odd[0], even[1]);
    UNROLL for (int j = 1; j < 11; j++) r[j] = addc_cc(c, odd[j], even[j + 1]);
    r[11] = addc(c, odd[11], 0);
}

/* r = a*b/2^384: a*b < 9.8 p^2, a < 4p; r < 2p. */
HD void fp_mul(fp &r, const fp &a, const fp &b)
{
    uint32_t even[12], odd[12];
    fp_row_first(even, odd, a.l, b.l[0]);
    fp_row_reduce(even, odd);
    UNROLL for (int i = 1; i < 11; i += 2)
    {
        fp_row_mul(odd, even, a.l, b.l[i]);
        fp_row_reduce(odd, even);
        fp_row_mul(even, odd, a.l, b.l[i + 1]);
        fp_row_reduce(even, odd);
    }
    fp_row_mul(odd, even, a.l, b.l[11]);
    fp_row_reduce(odd, even);
    fp_row_last(r.l, odd, even);
}

/* r = (a*b + c*d)/2^384, all factors < 2p; r < 2p. One reduction for two products. */
HD void fp_mul_add_mul(fp &r, const fp &a, const fp &b, const fp &c, const fp &d)
{
    uint32_t even[12], odd[12];
    fp_row_first(even, odd, a.l, b.l[0]);
    fp_row_mul_again(even, odd, c.l, d.l[0]);
    fp_row_reduce(even, odd);
    UNROLL for (int i = 1; i < 11; i += 2)
    {
        fp_row_mul(odd, even, a.l, b.l[i]);
        fp_row_mul_again(odd, even, c.l, d.l[i]);
        fp_row_reduce(odd, even);
        fp_row_mul(even, odd, a.l, b.l[i + 1]);
        fp_row_mul_again(even, odd, c.l, d.l[i + 1]);
        fp_row_reduce(even, odd);
    }
    fp_row_mul(odd, even, a.l, b.l[11]);
    fp_row_mul_again(odd, even, c.l, d.l[11]);
    fp_row_reduce(odd, even);
    fp_row_last(r.l, odd, even);
}

/* One row of the reduction alone: shift by a word, then as fp_row_reduce. */
HD void fp_row_shift_reduce(uint32_t *even, uint32_t *odd)
{
    const uint32_t p[12] = GPU_FP_P;
    carry c;
    even[0] = add_cc(c, even[0], odd[1]);
    uint32_t q = even[0] * GPU_FP_N0;
    UNROLL for (int j = 0; j < 10; j += 2)
        madc_cc(c, odd[j], odd[j + 1], p[j + 1], q, odd[j + 2], odd[j + 3]);
    madc(c, odd[10], odd[11], p[11], q, 0, 0);
    mad_cc(c, even[0], even[1], p[0], q, even[0], even[1]);
    UNROLL for (int j = 2; j < 12; j += 2) madc_cc(c, even[j], even[j + 1], p[j], q, even[j], even[j + 1]);
    odd[11] = addc(c, odd[11], 0);
}

/* r = t/2^384 for 24 words t < 9.8 p^2; r < 2p. Destroys t. */
HD void fp_redc(fp &r, uint32_t *t)
{
    const uint32_t p[12] = GPU_FP_P;
    uint32_t odd[12];
    carry c;
    {
        uint32_t q = t[0] * GPU_FP_N0;
        UNROLL for (int j = 0; j < 12; j += 2) mul_wide(odd[j], odd[j + 1], p[j + 1], q);
        mad_cc(c, t[0], t[1], p[0], q, t[0], t[1]);
        UNROLL for (int j = 2; j < 12; j += 2) madc_cc(c, t[j], t[j + 1], p[j], q, t[j], t[j + 1]);
        odd[11] = addc(c, odd[11], 0);
    }
    UNROLL for (int i = 1; i < 11; i += 2)
    {
        fp_row_shift_reduce(odd, t);
        fp_row_shift_reduce(t, odd);
    }
    fp_row_shift_reduce(odd, t);
    fp_row_last(odd, odd, t);
    words_add<12>(r.l, odd, t + 12);
}

/* r = a^2/2^384, a < 2p; r < 2p. Row i multiplies a_i by (a_i, 2 a_(i+1), 2 a_(i+2), ...): 78 products. */
HD void fp_sqr(fp &r, const fp &a)
{
    uint32_t twice[12], even[24], odd[24];
    carry c;
    UNROLL for (int i = 1; i < 12; i++) twice[i] = (a.l[i] << 1) | (a.l[i - 1] >> 31);
    twice[0] = 0;
    UNROLL for (int i = 0; i < 24; i++) even[i] = odd[i] = 0;
    UNROLL for (int i = 0; i < 12; i++)
    {
        uint32_t next = i < 11 ? a.l[i < 11 ? i + 1 : 11] << 1 : 0;
        /* even columns: 2i, 2i+2, ... */
        mad_cc(c, even[2 * i], even[2 * i + 1], a.l[i], a.l[i], even[2 * i], even[2 * i + 1]);
        UNROLL for (int j = i + 2; j < 12; j += 2)
            madc_cc(c, even[i + j], even[i + j + 1], a.l[i], twice[j], even[i + j], even[i + j + 1]);
        {
            int top = i + ((11 - i) & ~1) + i + 2;
            if (top < 24)
                even[top] = addc(c, even[top], 0);
        }
        /* odd columns: odd[k] holds word k + 1 */
        if (i < 11) {
            mad_cc(c, odd[2 * i], odd[2 * i + 1], a.l[i], next, odd[2 * i], odd[2 * i + 1]);
            UNROLL for (int j = i + 3; j < 12; j += 2)
                madc_cc(c, odd[i + j - 1], odd[i + j], a.l[i], twice[j], odd[i + j - 1], odd[i + j]);
            int top = i + (i + 1 + ((10 - i) & ~1)) + 1;
            if (top < 24)
                odd[top] = addc(c, odd[top], 0);
        }
    }
    even[1] = add_cc(c, even[1], odd[0]);
    UNROLL for (int i = 2; i < 23; i++) even[i] = addc_cc(c, even[i], odd[i - 1]);
    even[23] = addc(c, even[23], odd[22]);
    fp_redc(r, even);
}

/* a, b < 2p; r < 2p */
HD void fp_add(fp &r, const fp &a, const fp &b)
{
    const uint32_t m[12] = GPU_FP_2P;
    uint32_t s[12];
    words_add<12>(s, a.l, b.l);
    words_reduce_once<12>(r.l, s, m);
}

HD void fp_sub(fp &r, const fp &a, const fp &b)
{
    const uint32_t m[12] = GPU_FP_2P;
    uint32_t d[12];
    uint32_t borrow = words_sub<12>(d, a.l, b.l);
    words_add_masked<12>(r.l, d, m, borrow);
}

/* a - b + 2p, below 4p: for a factor of fp_mul. 13 additions cheaper than fp_sub. */
HD void fp_sub_wide(fp &r, const fp &a, const fp &b)
{
    const uint32_t m[12] = GPU_FP_2P;
    uint32_t t[12];
    words_add<12>(t, a.l, m);
    words_sub<12>(r.l, t, b.l);
}

HD void fp_dbl(fp &r, const fp &a)
{
    fp_add(r, a, a);
}

HD void fp_neg(fp &r, const fp &a) /* 0 becomes 0, so that r < 2p */
{
    fp_sub(r, fp_zero(), a);
}

/* r = negative ? 2p - a : a, for a != 0 mod p, or 0 for a = 0. */
HD void fp_neg_if(fp &r, const fp &a, uint32_t negative)
{
    const uint32_t m[12] = GPU_FP_2P;
    uint32_t d[12];
    words_sub<12>(d, m, a.l);
    UNROLL for (int i = 0; i < 12; i++) r.l[i] = negative ? d[i] : a.l[i];
}

HD void fp_reduce(fp &r, const fp &a) /* [0,2p) to [0,p) */
{
    const uint32_t p[12] = GPU_FP_P;
    words_reduce_once<12>(r.l, a.l, p);
}

HD bool fp_is_zero(const fp &a) /* a < 2p */
{
    const uint32_t p[12] = GPU_FP_P;
    return words_is_zero<12>(a.l) || words_equal<12>(a.l, p);
}

HD bool fp_equal(const fp &a, const fp &b)
{
    fp d;
    fp_sub(d, a, b);
    return fp_is_zero(d);
}

} // namespace gpu

#endif
