/* See arith_shim.h. */
extern "C" {
#include "arith_shim.h"
}
#include "device/cuda/fr.cuh"
#include "device/cuda/point.cuh"
#include <string.h>

using namespace gpu;

namespace
{

template <class T> T load(const uint32_t *words)
{
    T t;
    memcpy(&t, words, sizeof t);
    return t;
}

bool below_2p(const fp &a)
{
    const uint32_t m[12] = GPU_FP_2P;
    uint32_t d[12];
    return words_sub<12>(d, a.l, m) != 0;
}

bool below_2p(const fp2 &a)
{
    return below_2p(a.c0) && below_2p(a.c1);
}

bool below_2r(const fr &a)
{
    const uint32_t m[8] = GPU_FR_2R;
    uint32_t d[8];
    return words_sub<8>(d, a.l, m) != 0;
}

template <class F> int run(uint32_t *out, enum shim_op op, const uint32_t *wa, const uint32_t *wb)
{
    F a = load<F>(wa), b = load<F>(wb), r = a;
    switch (op) {
    case SHIM_MUL:
        fp_mul(r, a, b);
        break;
    case SHIM_SQR:
        fp_sqr(r, a);
        break;
    case SHIM_ADD:
        fp_add(r, a, b);
        break;
    case SHIM_SUB:
        fp_sub(r, a, b);
        break;
    case SHIM_SUB_WIDE_MUL: /* (a - b) b */
        fp_sub_wide(r, a, b);
        fp_mul(r, r, b);
        break;
    case SHIM_NEG:
        fp_neg(r, a);
        break;
    case SHIM_INVERSE:
        fp_inverse_vartime(r, a);
        break;
    }
    if (!below_2p(r))
        return 0;
    fp_reduce(r, r);
    memcpy(out, &r, sizeof r);
    return 1;
}

int finish(uint32_t *out, fr r)
{
    if (!below_2r(r))
        return 0;
    fr_reduce(r, r);
    memcpy(out, &r, sizeof r);
    return 1;
}

template <class F> void add_points(uint32_t *out, const uint32_t *wa, const uint32_t *wb, int kind)
{
    affine<F> a = load<affine<F>>(wa), b = load<affine<F>>(wb);
    xyzz<F> r, s;
    from_affine(r, a);
    if (kind == 0) {
        point_add(r, r, b);
    } else {
        /* give both operands denominators that are not one: 2a + b - a */
        affine<F> na;
        point_neg(na, a);
        point_dbl(r, r);
        point_add(r, r, na);
        from_affine(s, b);
        point_dbl(s, s);
        affine<F> nb;
        point_neg(nb, b);
        point_add(s, s, nb);
        point_add(r, r, s);
    }
    affine<F> o;
    to_affine(o, r);
    memcpy(out, &o, sizeof o);
}

template <class F> void mul_point(uint32_t *out, const uint32_t *wa, const uint32_t *scalar)
{
    affine<F> a = load<affine<F>>(wa), o;
    xyzz<F> r;
    point_mul(r, a, scalar, 256);
    to_affine(o, r);
    memcpy(out, &o, sizeof o);
}

} // namespace

extern "C" {

int shim_fp(uint32_t out[12], enum shim_op op, const uint32_t a[12], const uint32_t b[12])
{
    return run<fp>(out, op, a, b);
}

int shim_fp2(uint32_t out[24], enum shim_op op, const uint32_t a[24], const uint32_t b[24])
{
    return run<fp2>(out, op, a, b);
}

int shim_fp_mul_add_mul(uint32_t out[12], const uint32_t a[12], const uint32_t b[12], const uint32_t c[12],
                        const uint32_t d[12])
{
    fp r;
    fp_mul_add_mul(r, load<fp>(a), load<fp>(b), load<fp>(c), load<fp>(d));
    if (!below_2p(r))
        return 0;
    fp_reduce(r, r);
    memcpy(out, &r, sizeof r);
    return 1;
}

int shim_fr(uint32_t out[8], enum shim_op op, const uint32_t *wa, const uint32_t *wb)
{
    fr a = load<fr>(wa), b = load<fr>(wb), r = a;
    if (op == SHIM_MUL)
        fr_mul(r, a, b);
    else if (op == SHIM_ADD)
        fr_add(r, a, b);
    else
        fr_sub(r, a, b);
    return finish(out, r);
}

int shim_fr_shoup(uint32_t out[8], const uint32_t *wa, const uint32_t *wb)
{
    fr_shoup s;
    fr r;
    fr_shoup_from(s, load<fr>(wb));
    fr_mul_shoup(r, load<fr>(wa), s.w, s.q);
    return finish(out, r);
}

int shim_fr_lazy(uint32_t out[8], enum shim_op op, const uint32_t *wa, const uint32_t *wb)
{
    fr r;
    if (op == SHIM_ADD)
        fr_add_lazy(r, load<fr>(wa), load<fr>(wb));
    else
        fr_sub_lazy(r, load<fr>(wa), load<fr>(wb));
    return finish(out, r);
}

void shim_g1_add(uint32_t out[24], const uint32_t a[24], const uint32_t b[24], int kind)
{
    add_points<fp>(out, a, b, kind);
}

void shim_g2_add(uint32_t out[48], const uint32_t a[48], const uint32_t b[48], int kind)
{
    add_points<fp2>(out, a, b, kind);
}

void shim_g1_mul(uint32_t out[24], const uint32_t a[24], const uint32_t scalar[8])
{
    mul_point<fp>(out, a, scalar);
}

void shim_g2_mul(uint32_t out[48], const uint32_t a[48], const uint32_t scalar[8])
{
    mul_point<fp2>(out, a, scalar);
}
}
