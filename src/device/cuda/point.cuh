/* Points of G1 (F = fp) and G2 (F = fp2) on the card, in the memory form of curve/point.h: affine with
 * infinity all zero, and XYZZ accumulators with infinity ZZ = 0. Every addition here is exact for infinity,
 * equal and opposite operands. These are the slow, complete formulas: tails and the simple versions of the
 * kernels; the bulk of the additions is batch affine (pairs.cuh). */
#ifndef CUZK_DEVICE_CUDA_POINT_CUH
#define CUZK_DEVICE_CUDA_POINT_CUH

#include "device/cuda/fp2.cuh"

namespace gpu
{

template <class F> struct affine {
    F x, y;
};

template <class F> struct xyzz {
    F x, y, zz, zzz;
};

typedef affine<fp> g1_affine;
typedef affine<fp2> g2_affine;
typedef xyzz<fp> g1_xyzz;
typedef xyzz<fp2> g2_xyzz;

template <class F> HD bool is_infinity(const affine<F> &a)
{
    return fp_is_zero(a.y) && fp_is_zero(a.x); /* no point of order two: y = 0 alone would do */
}

template <class F> HD bool is_infinity(const xyzz<F> &a)
{
    return fp_is_zero(a.zz);
}

template <class F> HD void set_infinity(affine<F> &r)
{
    r.x = r.y = field_of<F>::zero();
}

template <class F> HD void set_infinity(xyzz<F> &r)
{
    r.x = r.y = r.zz = r.zzz = field_of<F>::zero();
}

template <class F> HD void from_affine(xyzz<F> &r, const affine<F> &a)
{
    if (is_infinity(a)) {
        set_infinity(r);
        return;
    }
    r.x = a.x;
    r.y = a.y;
    r.zz = r.zzz = field_of<F>::one();
}

/* Not inlined, and all by value: with references, of which two might be the same, nvcc 13.0 took a caller's
 * first 16 bytes for undefined after such a call and dropped their store (seen in the PTX of sum_xyzz in G1).
 */

/* Doubling: 6M + 4S with the squarings by multiplication counted apart (dbl-2008-s-1, a = 0). */
template <class F> HD_CALL xyzz<F> point_double(xyzz<F> a)
{
    xyzz<F> r;
    F u, v, w, s, m, t;
    if (is_infinity(a)) {
        return a;
    }
    fp_dbl(u, a.y);
    fp_sqr(v, u);
    fp_mul(w, u, v);
    fp_mul(s, a.x, v);
    fp_sqr(m, a.x);
    fp_dbl(t, m);
    fp_add(m, m, t);
    fp_mul(r.zz, v, a.zz);
    fp_mul(r.zzz, w, a.zzz);
    fp_mul(t, w, a.y);
    fp_sqr(u, m);
    fp_sub(u, u, s);
    fp_sub(u, u, s);
    fp_sub(s, s, u);
    fp_mul(v, m, s);
    r.x = u;
    fp_sub(r.y, v, t);
    return r;
}

/* r = a + b: 8M + 2S. */
template <class F> HD_CALL xyzz<F> point_sum(xyzz<F> a, affine<F> b)
{
    xyzz<F> r;
    F p, q, pp, ppp, t;
    if (is_infinity(b)) {
        return a;
    }
    if (is_infinity(a)) {
        from_affine(r, b);
        return r;
    }
    fp_mul(p, b.x, a.zz);
    fp_sub(p, p, a.x);
    fp_mul(q, b.y, a.zzz);
    fp_sub(q, q, a.y);
    if (fp_is_zero(p)) {
        if (fp_is_zero(q)) {
            from_affine(r, b);
            return point_double(r);
        }
        set_infinity(r);
        return r;
    }
    fp_sqr(pp, p);
    fp_mul(ppp, pp, p);
    fp_mul(t, a.x, pp);
    fp_mul(r.zz, a.zz, pp);
    fp_mul(r.zzz, a.zzz, ppp);
    fp_mul(pp, a.y, ppp);
    fp_sqr(p, q);
    fp_sub(p, p, ppp);
    fp_sub(p, p, t);
    fp_sub(p, p, t);
    fp_sub(t, t, p);
    fp_mul(t, q, t);
    r.x = p;
    fp_sub(r.y, t, pp);
    return r;
}

/* r = a + b: 12M + 2S. */
template <class F> HD_CALL xyzz<F> point_sum(xyzz<F> a, xyzz<F> b)
{
    xyzz<F> r;
    F u, p, s, q, pp, ppp, t;
    if (is_infinity(b)) {
        return a;
    }
    if (is_infinity(a)) {
        return b;
    }
    fp_mul(u, a.x, b.zz);
    fp_mul(p, b.x, a.zz);
    fp_sub(p, p, u);
    fp_mul(s, a.y, b.zzz);
    fp_mul(q, b.y, a.zzz);
    fp_sub(q, q, s);
    if (fp_is_zero(p)) {
        if (fp_is_zero(q))
            return point_double(a);
        set_infinity(r);
        return r;
    }
    fp_sqr(pp, p);
    fp_mul(ppp, pp, p);
    fp_mul(t, a.zz, b.zz);
    fp_mul(r.zz, t, pp);
    fp_mul(t, a.zzz, b.zzz);
    fp_mul(r.zzz, t, ppp);
    fp_mul(u, u, pp);
    fp_mul(s, s, ppp);
    fp_sqr(p, q);
    fp_sub(p, p, ppp);
    fp_sub(p, p, u);
    fp_sub(p, p, u);
    fp_sub(u, u, p);
    fp_mul(u, q, u);
    r.x = p;
    fp_sub(r.y, u, s);
    return r;
}

template <class F> HD void point_dbl(xyzz<F> &r, const xyzz<F> &a)
{
    r = point_double(a);
}

template <class F> HD void point_add(xyzz<F> &r, const xyzz<F> &a, const affine<F> &b)
{
    r = point_sum(a, b);
}

template <class F> HD void point_add(xyzz<F> &r, const xyzz<F> &a, const xyzz<F> &b)
{
    r = point_sum(a, b);
}

template <class F> HD void point_neg(affine<F> &r, const affine<F> &a)
{
    r.x = a.x;
    fp_neg(r.y, a.y);
}

/* r = scalar a, by doubling and adding from the top; bits counts from the lowest. */
template <class F> HD void point_mul(xyzz<F> &r, const affine<F> &a, const uint32_t *scalar, int bits)
{
    set_infinity(r);
    for (int i = bits - 1; i >= 0; i--) {
        point_dbl(r, r);
        if ((scalar[i / 32] >> (i % 32)) & 1)
            point_add(r, r, a);
    }
}

template <class F> HD void to_affine(affine<F> &r, const xyzz<F> &a) /* fully reduced */
{
    F i, t;
    if (is_infinity(a)) {
        set_infinity(r);
        return;
    }
    /* zz^-1 = (zz/zzz)^2: one inversion */
    fp_inverse_vartime(i, a.zzz);
    fp_mul(t, a.y, i);
    fp_reduce(r.y, t);
    fp_mul(i, i, a.zz);
    fp_sqr(i, i);
    fp_mul(t, a.x, i);
    fp_reduce(r.x, t);
}

} // namespace gpu

#endif
