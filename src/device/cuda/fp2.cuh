/* Fp2 = Fp[u]/(u^2 + 1) on the card, lazy as Fp: both coordinates in [0, 2p).
 *
 * A multiplication is four products with two reductions (fp_mul_add_mul): 864 wide multiply-adds, as many as
 * Karatsuba's three multiplications, but without its five additions and with fewer live values. */
#ifndef CUZK_DEVICE_CUDA_FP2_CUH
#define CUZK_DEVICE_CUDA_FP2_CUH

#include "device/cuda/inverse.cuh"

namespace gpu
{

struct alignas(16) fp2 {
    fp c0, c1;
};

HD void fp_mul(fp2 &r, const fp2 &a, const fp2 &b)
{
    fp n, c1;
    const uint32_t m[12] = GPU_FP_2P;
    /* c0 = a0 b0 + a1 (2p - b1): the second factor is at most 2p, and the sum below 8 p^2 + 2p^2 */
    words_sub<12>(n.l, m, b.c1.l);
    fp_mul_add_mul(c1, a.c0, b.c1, a.c1, b.c0);
    fp_mul_add_mul(r.c0, a.c0, b.c0, a.c1, n);
    r.c1 = c1;
}

HD void fp_sqr(fp2 &r, const fp2 &a)
{
    fp s, d, m;
    fp_add(s, a.c0, a.c1);
    fp_sub_wide(d, a.c0, a.c1);
    fp_mul(m, a.c0, a.c1);
    fp_mul(r.c0, d, s);
    fp_add(r.c1, m, m);
}

HD void fp_add(fp2 &r, const fp2 &a, const fp2 &b)
{
    fp_add(r.c0, a.c0, b.c0);
    fp_add(r.c1, a.c1, b.c1);
}

HD void fp_sub(fp2 &r, const fp2 &a, const fp2 &b)
{
    fp_sub(r.c0, a.c0, b.c0);
    fp_sub(r.c1, a.c1, b.c1);
}

HD void fp_sub_wide(fp2 &r, const fp2 &a, const fp2 &b) /* no room for a wide difference here */
{
    fp_sub(r, a, b);
}

HD void fp_dbl(fp2 &r, const fp2 &a)
{
    fp_add(r, a, a);
}

HD void fp_neg(fp2 &r, const fp2 &a)
{
    fp_neg(r.c0, a.c0);
    fp_neg(r.c1, a.c1);
}

HD void fp_neg_if(fp2 &r, const fp2 &a, uint32_t negative)
{
    /* a coordinate may be zero here, so that 2p - 0 must come out as 0 */
    fp2 n;
    fp_neg(n, a);
    UNROLL for (int i = 0; i < 12; i++)
    {
        r.c0.l[i] = negative ? n.c0.l[i] : a.c0.l[i];
        r.c1.l[i] = negative ? n.c1.l[i] : a.c1.l[i];
    }
}

HD void fp_reduce(fp2 &r, const fp2 &a)
{
    fp_reduce(r.c0, a.c0);
    fp_reduce(r.c1, a.c1);
}

HD bool fp_is_zero(const fp2 &a)
{
    return fp_is_zero(a.c0) && fp_is_zero(a.c1);
}

HD bool fp_equal(const fp2 &a, const fp2 &b)
{
    return fp_equal(a.c0, b.c0) && fp_equal(a.c1, b.c1);
}

HD void fp_inverse_vartime(fp2 &r, const fp2 &a)
{
    fp n, t;
    fp_sqr(n, a.c0);
    fp_sqr(t, a.c1);
    fp_add(n, n, t);
    fp_inverse_vartime(n, n);
    fp_mul(r.c0, a.c0, n);
    fp_neg(t, a.c1);
    fp_mul(r.c1, t, n);
}

/* Zero and one of either field, for templates. */
template <class F> struct field_of;
template <> struct field_of<fp> {
    static HD fp zero()
    {
        return fp_zero();
    }
    static HD fp one()
    {
        return fp_one();
    }
};
template <> struct field_of<fp2> {
    static HD fp2 zero()
    {
        return fp2{fp_zero(), fp_zero()};
    }
    static HD fp2 one()
    {
        return fp2{fp_one(), fp_zero()};
    }
};

} // namespace gpu

#endif
