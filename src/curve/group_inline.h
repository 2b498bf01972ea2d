/* The XYZZ formulas of both groups as static inline functions, for FLAVOURED files of this room, where they
 * become loops over the fast multiplication without a call per addition: g1_xyzz_add_affine_inline and
 * friends, the same for g2; and the curve constants. Everyone else calls the functions of curve/point.h. */
#ifndef CUZK_CURVE_GROUP_INLINE_H
#define CUZK_CURVE_GROUP_INLINE_H

#include "curve/point.h"

/* The constants of the curve equations: 4 and 4(1 + u). */
static const fp G1_B = {{UINT64_C(0xaa270000000cfff3), UINT64_C(0x53cc0032fc34000a),
                         UINT64_C(0x478fe97a6b0a807f), UINT64_C(0xb1d37ebee6ba24d7),
                         UINT64_C(0x8ec9733bbf78ab2f), UINT64_C(0x09d645513d83de7e)}};
static const fp2 G2_B = {
    {{UINT64_C(0xaa270000000cfff3), UINT64_C(0x53cc0032fc34000a), UINT64_C(0x478fe97a6b0a807f),
      UINT64_C(0xb1d37ebee6ba24d7), UINT64_C(0x8ec9733bbf78ab2f), UINT64_C(0x09d645513d83de7e)}},
    {{UINT64_C(0xaa270000000cfff3), UINT64_C(0x53cc0032fc34000a), UINT64_C(0x478fe97a6b0a807f),
      UINT64_C(0xb1d37ebee6ba24d7), UINT64_C(0x8ec9733bbf78ab2f), UINT64_C(0x09d645513d83de7e)}}};

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
