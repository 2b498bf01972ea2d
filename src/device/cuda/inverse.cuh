/* 1/a in Fp by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular
 * inversion", 2019), variable time: 30 steps at a time on the low words give a 2x2 matrix, which is then
 * applied to the thirteen signed 30-bit limbs of f, g and of the cofactors d, e. At most 37 rounds for 381
 * bits. One thread inverts for a whole batch, so latency is what counts: about a fifth of a Fermat power. */
#ifndef CUZK_DEVICE_CUDA_INVERSE_CUH
#define CUZK_DEVICE_CUDA_INVERSE_CUH

#include "device/cuda/fp.cuh"

namespace gpu
{

#define GPU_INVERSE_LIMBS 13
#define GPU_INVERSE_MASK  0x3fffffff

struct inverse_matrix {
    int32_t u, v, q, r;
};

HD int count_trailing_zeros(uint32_t x) /* x != 0 */
{
#ifdef __CUDA_ARCH__
    return __ffs((int)x) - 1;
#else
    return __builtin_ctz(x);
#endif
}

HD int32_t inverse_steps(inverse_matrix &t, int32_t eta, uint32_t f, uint32_t g)
{
    uint32_t u = 1, v = 0, q = 0, r = 1;
    int left = 30;
    for (;;) {
        int zeros = count_trailing_zeros(g | (0xffffffffu << left));
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0)
            break;
        if (eta < 0) {
            uint32_t s;
            eta = -eta;
            s = f, f = g, g = 0u - s;
            s = u, u = q, q = 0u - s;
            s = v, v = r, r = 0u - s;
        }
        int limit = eta + 1 > left ? left : eta + 1;
        /* f (f^2 - 2) = -1/f mod 64 */
        uint32_t w = (g * f * (f * f - 2)) & (0xffffffffu >> (32 - limit)) & 63;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    t.u = (int32_t)u, t.v = (int32_t)v, t.q = (int32_t)q, t.r = (int32_t)r;
    return eta;
}

HD void inverse_update_fg(int32_t *f, int32_t *g, const inverse_matrix &t)
{
    int64_t cf = (int64_t)t.u * f[0] + (int64_t)t.v * g[0];
    int64_t cg = (int64_t)t.q * f[0] + (int64_t)t.r * g[0];
    cf >>= 30;
    cg >>= 30;
    UNROLL for (int i = 1; i < GPU_INVERSE_LIMBS; i++)
    {
        cf += (int64_t)t.u * f[i] + (int64_t)t.v * g[i];
        cg += (int64_t)t.q * f[i] + (int64_t)t.r * g[i];
        f[i - 1] = (int32_t)cf & GPU_INVERSE_MASK;
        g[i - 1] = (int32_t)cg & GPU_INVERSE_MASK;
        cf >>= 30;
        cg >>= 30;
    }
    f[GPU_INVERSE_LIMBS - 1] = (int32_t)cf;
    g[GPU_INVERSE_LIMBS - 1] = (int32_t)cg;
}

/* Keeps d and e in (-2p, p); divides by 2^30 modulo p. */
HD void inverse_update_de(int32_t *d, int32_t *e, const inverse_matrix &t)
{
    const int32_t p[GPU_INVERSE_LIMBS] = {0x3fffaaab, 0x27fbffff, 0x153ffffb, 0x2affffac, 0x30f6241e,
                                          0x034a83da, 0x112bf673, 0x12e13ce1, 0x2cd76477, 0x1ed90d2e,
                                          0x29a4b1ba, 0x3a8e5ff9, 0x001a0111};
    const uint32_t p_inverse = 0x30003; /* 1/p mod 2^30 */
    int32_t sd = d[GPU_INVERSE_LIMBS - 1] >> 31, se = e[GPU_INVERSE_LIMBS - 1] >> 31;
    int32_t md = (t.u & sd) + (t.v & se), me = (t.q & sd) + (t.r & se);
    int64_t cd = (int64_t)t.u * d[0] + (int64_t)t.v * e[0];
    int64_t ce = (int64_t)t.q * d[0] + (int64_t)t.r * e[0];
    md -= (int32_t)((p_inverse * (uint32_t)cd + (uint32_t)md) & GPU_INVERSE_MASK);
    me -= (int32_t)((p_inverse * (uint32_t)ce + (uint32_t)me) & GPU_INVERSE_MASK);
    cd += (int64_t)p[0] * md;
    ce += (int64_t)p[0] * me;
    cd >>= 30;
    ce >>= 30;
    UNROLL for (int i = 1; i < GPU_INVERSE_LIMBS; i++)
    {
        cd += (int64_t)t.u * d[i] + (int64_t)t.v * e[i] + (int64_t)p[i] * md;
        ce += (int64_t)t.q * d[i] + (int64_t)t.r * e[i] + (int64_t)p[i] * me;
        d[i - 1] = (int32_t)cd & GPU_INVERSE_MASK;
        e[i - 1] = (int32_t)ce & GPU_INVERSE_MASK;
        cd >>= 30;
        ce >>= 30;
    }
    d[GPU_INVERSE_LIMBS - 1] = (int32_t)cd;
    e[GPU_INVERSE_LIMBS - 1] = (int32_t)ce;
}

/* v = (v + k p), signed limbs, carried. */
HD void inverse_add_multiple(int32_t *v, int32_t k)
{
    const int32_t p[GPU_INVERSE_LIMBS] = {0x3fffaaab, 0x27fbffff, 0x153ffffb, 0x2affffac, 0x30f6241e,
                                          0x034a83da, 0x112bf673, 0x12e13ce1, 0x2cd76477, 0x1ed90d2e,
                                          0x29a4b1ba, 0x3a8e5ff9, 0x001a0111};
    int64_t c = 0;
    UNROLL for (int i = 0; i < GPU_INVERSE_LIMBS - 1; i++)
    {
        c += v[i] + (int64_t)p[i] * k;
        v[i] = (int32_t)c & GPU_INVERSE_MASK;
        c >>= 30;
    }
    v[GPU_INVERSE_LIMBS - 1] =
        (int32_t)(c + v[GPU_INVERSE_LIMBS - 1] + (int64_t)p[GPU_INVERSE_LIMBS - 1] * k);
}

/* 1/a in Montgomery form; 0 for 0. a < 2p; result < 2p. */
static HD_CALL void fp_inverted(fp &r, const fp &a) /* r is not a: see point.cuh */
{
    int32_t f[GPU_INVERSE_LIMBS] = {0x3fffaaab, 0x27fbffff, 0x153ffffb, 0x2affffac, 0x30f6241e,
                                    0x034a83da, 0x112bf673, 0x12e13ce1, 0x2cd76477, 0x1ed90d2e,
                                    0x29a4b1ba, 0x3a8e5ff9, 0x001a0111};
    int32_t g[GPU_INVERSE_LIMBS], d[GPU_INVERSE_LIMBS], e[GPU_INVERSE_LIMBS];
    fp t;
    fp_reduce(t, a);
    UNROLL for (int i = 0; i < GPU_INVERSE_LIMBS; i++)
    {
        int word = 30 * i / 32, shift = 30 * i % 32;
        uint32_t v = word < 12 ? t.l[word < 12 ? word : 0] >> shift : 0;
        if (shift > 2 && word + 1 < 12)
            v |= t.l[word + 1 < 12 ? word + 1 : 0] << (32 - shift);
        g[i] = (int32_t)(v & GPU_INVERSE_MASK);
        d[i] = 0;
        e[i] = i == 0;
    }
    int32_t eta = -1;
    for (;;) {
        int32_t any = 0;
        UNROLL for (int i = 0; i < GPU_INVERSE_LIMBS; i++) any |= g[i];
        if (any == 0)
            break;
        inverse_matrix m;
        uint32_t f0 = (uint32_t)f[0] | ((uint32_t)f[1] << 30), g0 = (uint32_t)g[0] | ((uint32_t)g[1] << 30);
        eta = inverse_steps(m, eta, f0, g0);
        inverse_update_fg(f, g, m);
        inverse_update_de(d, e, m);
    }
    /* f is 1 or -1 (or p, for a = 0, with d = 0); 1/a = d f */
    if (f[GPU_INVERSE_LIMBS - 1] < 0) {
        UNROLL for (int i = 0; i < GPU_INVERSE_LIMBS; i++) d[i] = -d[i];
        inverse_add_multiple(d, 0);
    }
    while (d[GPU_INVERSE_LIMBS - 1] < 0)
        inverse_add_multiple(d, 1);
    /* now in [0, 2p) */
    UNROLL for (int word = 0; word < 12; word++)
    {
        int limb = 32 * word / 30, shift = 32 * word % 30;
        uint32_t v = (uint32_t)d[limb] >> shift;
        v |= (uint32_t)d[limb + 1 < GPU_INVERSE_LIMBS ? limb + 1 : GPU_INVERSE_LIMBS - 1] << (30 - shift);
        if (shift == 29 && limb + 2 < GPU_INVERSE_LIMBS)
            v |= (uint32_t)d[limb + 2 < GPU_INVERSE_LIMBS ? limb + 2 : 0] << 31;
        t.l[word] = v;
    }
    /* t = 1/(a 2^384) as an integer: twice to Montgomery form */
    fp_mul(t, t, fp_r2());
    fp_mul(r, t, fp_r2());
}

HD void fp_inverse_vartime(fp &r, const fp &a)
{
    fp t;
    fp_inverted(t, a);
    r = t;
}

} // namespace gpu

#endif
