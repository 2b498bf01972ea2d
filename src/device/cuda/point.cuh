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

/* These are not inlined, and r must not be a or b: otherwise nvcc 13.0 takes the caller's first 16 bytes for
 * undefined after the call and drops their store (seen in the PTX of sum_xyzz in G1; structures by value came out
 * wrong as well, in G2). The functions without this rule are below. */

/* Doubling: 6M + 4S with the squarings by multiplication counted apart (dbl-2008-s-1, a = 0). */
template <class F> HD_CALL void point_double(xyzz<F> &r, const xyzz<F> &a)
{
    F u, v, w, s, m, t;
    if (is_infinity(a)) {
        r = a;
        return;
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
}

/* r = a + b: 8M + 2S. */
template <class F> HD_CALL void point_sum(xyzz<F> &r, const xyzz<F> &a, const affine<F> &b)
{
    F p, q, pp, ppp, t;
    if (is_infinity(b)) {
        r = a;
        return;
    }
    if (is_infinity(a)) {
        from_affine(r, b);
        return;
    }
    fp_mul(p, b.x, a.zz);
    fp_sub(p, p, a.x);
    fp_mul(q, b.y, a.zzz);
    fp_sub(q, q, a.y);
    if (fp_is_zero(p)) {
        if (fp_is_zero(q)) {
            xyzz<F> d;
            from_affine(d, b);
            point_double(r, d);
            return;
        }
        set_infinity(r);
        return;
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
}

/* r = a + b: 12M + 2S. */
template <class F> HD_CALL void point_sum(xyzz<F> &r, const xyzz<F> &a, const xyzz<F> &b)
{
    F u, p, s, q, pp, ppp, t;
    if (is_infinity(b)) {
        r = a;
        return;
    }
    if (is_infinity(a)) {
        r = b;
        return;
    }
    fp_mul(u, a.x, b.zz);
    fp_mul(p, b.x, a.zz);
    fp_sub(p, p, u);
    fp_mul(s, a.y, b.zzz);
    fp_mul(q, b.y, a.zzz);
    fp_sub(q, q, s);
    if (fp_is_zero(p)) {
        if (fp_is_zero(q))
            point_double(r, a);
        else
            set_infinity(r);
        return;
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
}

template <class F> HD void point_dbl(xyzz<F> &r, const xyzz<F> &a)
{
    xyzz<F> t;
    point_double(t, a);
    r = t;
}

template <class F> HD void point_add(xyzz<F> &r, const xyzz<F> &a, const affine<F> &b)
{
    xyzz<F> t;
    point_sum(t, a, b);
    r = t;
}

template <class F> HD void point_add(xyzz<F> &r, const xyzz<F> &a, const xyzz<F> &b)
{
    xyzz<F> t;
    point_sum(t, a, b);
    r = t;
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
