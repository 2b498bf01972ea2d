/* The two flavours of the functions of curve/point.h that multiply; curve/point.c chooses. Other files of
 * this room that are FLAVOURED themselves may call FLAVOUR(g1_..._impl) to stay in their flavour. */
#ifndef CUZK_CURVE_POINT_IMPL_H
#define CUZK_CURVE_POINT_IMPL_H

#include "curve/point.h"
#include "field/flavour.h"

#define CURVE_GROUP_IMPL(g)                                                                                  \
    FLAVOUR_DECLARE(bool, g##_affine_on_curve_impl, (const g##_affine *a));                                  \
    FLAVOUR_DECLARE(bool, g##_equal_impl, (const g##_xyzz *a, const g##_xyzz *b));                           \
    FLAVOUR_DECLARE(void, g##_to_affine_impl, (g##_affine * out, const g##_xyzz *a));                        \
    FLAVOUR_DECLARE(void, g##_dbl_impl, (g##_xyzz * out, const g##_xyzz *a));                                \
    FLAVOUR_DECLARE(void, g##_add_impl, (g##_xyzz * out, const g##_xyzz *a, const g##_xyzz *b));             \
    FLAVOUR_DECLARE(void, g##_add_affine_impl, (g##_xyzz * out, const g##_xyzz *a, const g##_affine *b));    \
    FLAVOUR_DECLARE(void, g##_mul_impl, (g##_xyzz * out, const g##_xyzz *a, const fr_int *scalar));          \
    FLAVOUR_DECLARE(void, g##_mul_vartime_impl, (g##_xyzz * out, const g##_xyzz *a, const fr_int *scalar));  \
    FLAVOUR_DECLARE(void, g##_mul_limbs_vartime_impl,                                                        \
                    (g##_xyzz * out, const g##_xyzz *a, const uint64_t *scalar, size_t limbs));              \
    FLAVOUR_DECLARE(bool, g##_in_subgroup_impl, (const g##_affine *a));                                      \
    FLAVOUR_DECLARE(void, g##_to_affine_batch_vartime_impl,                                                  \
                    (g##_affine * out, const g##_xyzz *in, void *scratch, size_t n));

CURVE_GROUP_IMPL(g1)
CURVE_GROUP_IMPL(g2)

#endif
