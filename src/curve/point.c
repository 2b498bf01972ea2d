/* The public face of curve/point_impl.c: chooses the flavour once per call, and does what needs no
 * multiplication itself. */
#include "curve/point_impl.h"

const g1_affine G1_GENERATOR = {
    {{UINT64_C(0x5cb38790fd530c16), UINT64_C(0x7817fc679976fff5), UINT64_C(0x154f95c7143ba1c1),
      UINT64_C(0xf0ae6acdf3d0e747), UINT64_C(0xedce6ecc21dbf440), UINT64_C(0x120177419e0bfb75)}},
    {{UINT64_C(0xbaac93d50ce72271), UINT64_C(0x8c22631a7918fd8e), UINT64_C(0xdd595f13570725ce),
      UINT64_C(0x51ac582950405194), UINT64_C(0x0e1c8c3fad0059c0), UINT64_C(0x0bbc3efc5008a26a)}}};

const g2_affine G2_GENERATOR = {
    {{{UINT64_C(0xf5f28fa202940a10), UINT64_C(0xb3f5fb2687b4961a), UINT64_C(0xa1a893b53e2ae580),
       UINT64_C(0x9894999d1a3caee9), UINT64_C(0x6f67b7631863366b), UINT64_C(0x058191924350bcd7)}},
     {{UINT64_C(0xa5a9c0759e23f606), UINT64_C(0xaaa0c59dbccd60c3), UINT64_C(0x3bb17e18e2867806),
       UINT64_C(0x1b1ab6cc8541b367), UINT64_C(0xc2b6ed0ef2158547), UINT64_C(0x11922a097360edf3)}}},
    {{{UINT64_C(0x4c730af860494c4a), UINT64_C(0x597cfa1f5e369c5a), UINT64_C(0xe7e6856caa0a635a),
       UINT64_C(0xbbefb5e96e0d495f), UINT64_C(0x07d3a975f0ef25a2), UINT64_C(0x0083fd8e7e80dae5)}},
     {{UINT64_C(0xadc0fc92df64b05d), UINT64_C(0x18aa270a2b1461dc), UINT64_C(0x86adac6a3be4eba0),
       UINT64_C(0x79495c4ec93da33a), UINT64_C(0xe7175850a43ccaed), UINT64_C(0x0b2bc2a163de1bf2)}}}};

#define DEFINE_GROUP(g, f, ONE)                                                                              \
    bool g##_affine_is_infinity(const g##_affine *a)                                                         \
    {                                                                                                        \
        return f##_is_zero(&a->x) && f##_is_zero(&a->y);                                                     \
    }                                                                                                        \
    bool g##_affine_equal(const g##_affine *a, const g##_affine *b)                                          \
    {                                                                                                        \
        return f##_equal(&a->x, &b->x) && f##_equal(&a->y, &b->y);                                           \
    }                                                                                                        \
    bool g##_affine_on_curve(const g##_affine *a)                                                            \
    {                                                                                                        \
        return FLAVOUR_CALL(g##_affine_on_curve_impl, a);                                                    \
    }                                                                                                        \
    void g##_affine_neg(g##_affine *out, const g##_affine *a)                                                \
    {                                                                                                        \
        out->x = a->x;                                                                                       \
        f##_neg(&out->y, &a->y);                                                                             \
    }                                                                                                        \
    void g##_infinity(g##_xyzz *out)                                                                         \
    {                                                                                                        \
        *out = (g##_xyzz){0};                                                                                \
    }                                                                                                        \
    bool g##_is_infinity(const g##_xyzz *a)                                                                  \
    {                                                                                                        \
        return f##_is_zero(&a->zz);                                                                          \
    }                                                                                                        \
    bool g##_equal(const g##_xyzz *a, const g##_xyzz *b)                                                     \
    {                                                                                                        \
        return FLAVOUR_CALL(g##_equal_impl, a, b);                                                           \
    }                                                                                                        \
    void g##_from_affine(g##_xyzz *out, const g##_affine *a)                                                 \
    {                                                                                                        \
        if (g##_affine_is_infinity(a))                                                                       \
            *out = (g##_xyzz){0};                                                                            \
        else                                                                                                 \
            *out = (g##_xyzz){a->x, a->y, ONE, ONE};                                                         \
    }                                                                                                        \
    void g##_to_affine(g##_affine *out, const g##_xyzz *a)                                                   \
    {                                                                                                        \
        FLAVOUR_CALL(g##_to_affine_impl, out, a);                                                            \
    }                                                                                                        \
    void g##_neg(g##_xyzz *out, const g##_xyzz *a)                                                           \
    {                                                                                                        \
        *out = *a;                                                                                           \
        f##_neg(&out->y, &a->y);                                                                             \
    }                                                                                                        \
    void g##_dbl(g##_xyzz *out, const g##_xyzz *a)                                                           \
    {                                                                                                        \
        FLAVOUR_CALL(g##_dbl_impl, out, a);                                                                  \
    }                                                                                                        \
    void g##_add(g##_xyzz *out, const g##_xyzz *a, const g##_xyzz *b)                                        \
    {                                                                                                        \
        FLAVOUR_CALL(g##_add_impl, out, a, b);                                                               \
    }                                                                                                        \
    void g##_add_affine(g##_xyzz *out, const g##_xyzz *a, const g##_affine *b)                               \
    {                                                                                                        \
        FLAVOUR_CALL(g##_add_affine_impl, out, a, b);                                                        \
    }                                                                                                        \
    void g##_mul(g##_xyzz *out, const g##_xyzz *a, const fr_int *scalar)                                     \
    {                                                                                                        \
        FLAVOUR_CALL(g##_mul_impl, out, a, scalar);                                                          \
    }                                                                                                        \
    void g##_mul_vartime(g##_xyzz *out, const g##_xyzz *a, const fr_int *scalar)                             \
    {                                                                                                        \
        FLAVOUR_CALL(g##_mul_vartime_impl, out, a, scalar);                                                  \
    }                                                                                                        \
    void g##_mul_limbs_vartime(g##_xyzz *out, const g##_xyzz *a, const uint64_t *scalar, size_t limbs)       \
    {                                                                                                        \
        FLAVOUR_CALL(g##_mul_limbs_vartime_impl, out, a, scalar, limbs);                                     \
    }                                                                                                        \
    bool g##_in_subgroup(const g##_affine *a)                                                                \
    {                                                                                                        \
        return FLAVOUR_CALL(g##_in_subgroup_impl, a);                                                        \
    }                                                                                                        \
    void g##_to_affine_batch_vartime(g##_affine *out, const g##_xyzz *in, void *scratch, size_t n)           \
    {                                                                                                        \
        FLAVOUR_CALL(g##_to_affine_batch_vartime_impl, out, in, scratch, n);                                 \
    }

DEFINE_GROUP(g1, fp, FP_ONE)
DEFINE_GROUP(g2, fp2, FP2_ONE)
