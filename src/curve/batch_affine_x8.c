/* The kernels of batch-affine addition with AVX-512 IFMA, for processors that have it: an addition takes less
 * than half the time of the scalar kernel. Compiled with the instructions enabled; batch_affine.c asks the
 * processor before it calls anything here. The other kernels are the oracle in the tests. */
#include "curve/batch_affine.h"
#include "curve/fp_x8.h"

X8_INLINE void fp_x8_set_one(fp_x8 *out)
{
    fp_x8_set1(out, &X8_ONE);
}

X8_INLINE void fp_x8_sqr_shifted_lazy(fp_x8 *out, const fp_x8 *a, const fp_x8 *shifted)
{
    fp_x8_mul_lazy(out, a, shifted);
}

static inline void fp_scale(fp *out, const fp *a, const fp *b)
{
    fp_mul(out, a, b);
}

X8_INLINE void fp2_x8_set_one(fp2_x8 *out)
{
    fp_x8_set1(&out->c0, &X8_ONE);
    fp_x8_set1(&out->c1, &FP_ZERO);
}

X8_INLINE void fp2_x8_load(fp2_x8 *out, const fp2 *const in[X8_LANES])
{
    const fp *c0[X8_LANES], *c1[X8_LANES];
    for (int i = 0; i < X8_LANES; i++) {
        c0[i] = &in[i]->c0;
        c1[i] = &in[i]->c1;
    }
    fp_x8_load(&out->c0, c0);
    fp_x8_load(&out->c1, c1);
}

X8_INLINE void fp2_x8_store(fp2 *const out[X8_LANES], const fp2_x8 *a)
{
    fp *c0[X8_LANES], *c1[X8_LANES];
    for (int i = 0; i < X8_LANES; i++) {
        c0[i] = &out[i]->c0;
        c1[i] = &out[i]->c1;
    }
    fp_x8_store(c0, &a->c0);
    fp_x8_store(c1, &a->c1);
}

X8_INLINE void fp2_x8_sub(fp2_x8 *out, const fp2_x8 *a, const fp2_x8 *b, int times)
{
    fp_x8_sub(&out->c0, &a->c0, &b->c0, times);
    fp_x8_sub(&out->c1, &a->c1, &b->c1, times);
}

X8_INLINE void fp2_x8_sub_lazy(fp2_x8 *out, const fp2_x8 *a, const fp2_x8 *b, int times)
{
    fp_x8_sub_lazy(&out->c0, &a->c0, &b->c0, times);
    fp_x8_sub_lazy(&out->c1, &a->c1, &b->c1, times);
}

X8_INLINE void fp2_x8_sub_twice(fp2_x8 *out, const fp2_x8 *a, const fp2_x8 *b, const fp2_x8 *c, int times)
{
    fp_x8_sub_twice(&out->c0, &a->c0, &b->c0, &c->c0, times);
    fp_x8_sub_twice(&out->c1, &a->c1, &b->c1, &c->c1, times);
}

X8_INLINE void fp2_x8_signed(fp2_x8 *a, __mmask8 lanes)
{
    fp_x8_signed(&a->c0, lanes);
    fp_x8_signed(&a->c1, lanes);
}

X8_INLINE void fp2_x8_canonical(fp2_x8 *a)
{
    fp_x8_canonical(&a->c0);
    fp_x8_canonical(&a->c1);
}

X8_INLINE void fp2_x8_shift32(fp2_x8 *out, const fp2_x8 *a)
{
    fp_x8_shift32(&out->c0, &a->c0);
    fp_x8_shift32(&out->c1, &a->c1);
}

/* Schoolbook with one reduction a component, 768 multiply-adds: Karatsuba's 768 need more additions. For
 * b <= 2p: a1 b1 is subtracted as a1 (2p - b1) added. */
static __attribute__((noinline)) void fp2_x8_mul_lazy(fp2_x8 *out, const fp2_x8 *a, const fp2_x8 *b)
{
    fp_x8 minus, c0;
    fp_x8_neg(&minus, &b->c1);
    fp_x8_mul_rows_lazy(&c0, &a->c0, &b->c0, &a->c1, &minus);
    fp_x8_mul_rows_lazy(&out->c1, &a->c0, &b->c1, &a->c1, &b->c0);
    out->c0 = c0;
}

X8_INLINE void fp2_x8_mul(fp2_x8 *out, const fp2_x8 *a, const fp2_x8 *b)
{
    fp2_x8_mul_lazy(out, a, b);
    fp_x8_carry(&out->c0);
    fp_x8_carry(&out->c1);
}

/* a^2 for shifted = 2^32 a, a < 1.1p: (a0 + a1)(a0 - a1 + 2p), 2 a0 a1; 512 multiply-adds. */
static __attribute__((noinline)) void fp2_x8_sqr_shifted_lazy(fp2_x8 *out, const fp2_x8 *a,
                                                              const fp2_x8 *shifted)
{
    fp_x8 s, d;
    fp_x8_add(&s, &shifted->c0, &shifted->c1);
    fp_x8_sub(&d, &a->c0, &a->c1, 2);
    fp_x8_mul_lazy(&out->c0, &s, &d);
    fp_x8_add(&s, &shifted->c0, &shifted->c0);
    fp_x8_mul_lazy(&out->c1, &s, &a->c1);
}

static inline void fp2_scale(fp2 *out, const fp2 *a, const fp *b)
{
    fp2_mul_fp(out, a, b);
}

#define GROUP  g1
#define FIELD  fp
#define VECTOR fp_x8
#define FIELD_SMALL_ONE                                                                                      \
    {                                                                                                        \
        {                                                                                                    \
            1                                                                                                \
        }                                                                                                    \
    }
#include "curve/batch_affine_x8_kernel.h"
#undef GROUP
#undef FIELD
#undef VECTOR
#undef FIELD_SMALL_ONE

#define GROUP  g2
#define FIELD  fp2
#define VECTOR fp2_x8
#define FIELD_SMALL_ONE                                                                                      \
    {                                                                                                        \
        {{1}},                                                                                               \
        {                                                                                                    \
            {                                                                                                \
                0                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }
#include "curve/batch_affine_x8_kernel.h"
