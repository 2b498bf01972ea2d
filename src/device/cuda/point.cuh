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

/* Multiplications out of line, for the complete formulas: inlined, one addition is 100 KB of code, and the
 * few warps that run it wait for instructions (50 microseconds an addition; a fifth of that this way). */
template <class F> HD_CALL F product_of(F a, F b)
{
    F r;
    fp_mul(r, a, b);
    return r;
}

template <class F> HD void mul_out(F &r, const F &a, const F &b)
{
    r = product_of(a, b);
}

template <class F> HD void sqr_out(F &r, const F &a)
{
    r = product_of(a, a);
}

/* These are not inlined, and r must not be a or b. The functions without this rule are below. */

/* Doubling: 6M + 4S with the squarings by multiplication counted apart (dbl-2008-s-1, a = 0). */
template <class F> HD_CALL void point_double(xyzz<F> &r, const xyzz<F> &a)
{
    F u, v, w, s, m, t;
    if (is_infinity(a)) {
        r = a;
        return;
    }
    fp_dbl(u, a.y);
    sqr_out(v, u);
    mul_out(w, u, v);
    mul_out(s, a.x, v);
    sqr_out(m, a.x);
    fp_dbl(t, m);
    fp_add(m, m, t);
    mul_out(r.zz, v, a.zz);
    mul_out(r.zzz, w, a.zzz);
    mul_out(t, w, a.y);
    sqr_out(u, m);
    fp_sub(u, u, s);
    fp_sub(u, u, s);
    fp_sub(s, s, u);
    mul_out(v, m, s);
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
    mul_out(p, b.x, a.zz);
    fp_sub(p, p, a.x);
    mul_out(q, b.y, a.zzz);
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
    sqr_out(pp, p);
    mul_out(ppp, pp, p);
    mul_out(t, a.x, pp);
    mul_out(r.zz, a.zz, pp);
    mul_out(r.zzz, a.zzz, ppp);
    mul_out(pp, a.y, ppp);
    sqr_out(p, q);
    fp_sub(p, p, ppp);
    fp_sub(p, p, t);
    fp_sub(p, p, t);
    fp_sub(t, t, p);
    mul_out(t, q, t);
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
    mul_out(u, a.x, b.zz);
    mul_out(p, b.x, a.zz);
    fp_sub(p, p, u);
    mul_out(s, a.y, b.zzz);
    mul_out(q, b.y, a.zzz);
    fp_sub(q, q, s);
    if (fp_is_zero(p)) {
        if (fp_is_zero(q))
            point_double(r, a);
        else
            set_infinity(r);
        return;
    }
    sqr_out(pp, p);
    mul_out(ppp, pp, p);
    mul_out(t, a.zz, b.zz);
    mul_out(r.zz, t, pp);
    mul_out(t, a.zzz, b.zzz);
    mul_out(r.zzz, t, ppp);
    mul_out(u, u, pp);
    mul_out(s, s, ppp);
    sqr_out(p, q);
    fp_sub(p, p, ppp);
    fp_sub(p, p, u);
    fp_sub(p, p, u);
    fp_sub(u, u, p);
    mul_out(u, q, u);
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
