/* The XYZZ formulas of both groups as static inline functions, for FLAVOURED files of this room, where they
 * become loops over the fast multiplication without a call per addition: g1_xyzz_add_affine_inline and
 * friends, the same for g2. Everyone else calls the functions of curve/point.h. */
#ifndef CUZK_CURVE_GROUP_INLINE_H
#define CUZK_CURVE_GROUP_INLINE_H

#include "curve/point.h"

static inline fp fp_one_value(void)
{
    return FP_ONE;
}

static inline fp2 fp2_one_value(void)
{
    return FP2_ONE;
}

#define GROUP g1
#define FIELD fp
#include "curve/group_formulas.h"
#undef GROUP
#undef FIELD

#define GROUP g2
#define FIELD fp2
#include "curve/group_formulas.h"
#undef GROUP
#undef FIELD

#endif
