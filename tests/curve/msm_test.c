/* Multi-scalar multiplication against known exponents and plain sums: every small size, every kind of
 * scalars and points, several threads; memory as planned; cancelling; no memory. The tests themselves are
 * the template msm_laws.h. */
#include "known_scalars.h"

#include "curve/batch_affine.h"
#include "curve/fixed_base.h"
#include "curve/msm.h"

#define GROUP             g1
#define FIELD             fp
#define GENERATOR         G1_GENERATOR
#define TERMS             2000
#define MSM               msm_g1
#define MSM_INDEXED       msm_g1_indexed
#define MSM_SCRATCH_BYTES msm_g1_scratch_bytes
#define FIXED_BASE        fixed_base_g1
#define FIXED_BASE_MAKE   fixed_base_g1_make
#define FIXED_BASE_MUL    fixed_base_g1_mul
#define FIXED_BASE_END    fixed_base_g1_end
#include "known_points.h"
#include "msm_laws.h"
#undef GROUP
#undef FIELD
#undef GENERATOR
#undef TERMS
#undef MSM
#undef MSM_INDEXED
#undef MSM_SCRATCH_BYTES
#undef FIXED_BASE
#undef FIXED_BASE_MAKE
#undef FIXED_BASE_MUL
#undef FIXED_BASE_END

#define GROUP             g2
#define FIELD             fp2
#define GENERATOR         G2_GENERATOR
#define TERMS             500
#define MSM               msm_g2
#define MSM_INDEXED       msm_g2_indexed
#define MSM_SCRATCH_BYTES msm_g2_scratch_bytes
#define FIXED_BASE        fixed_base_g2
#define FIXED_BASE_MAKE   fixed_base_g2_make
#define FIXED_BASE_MUL    fixed_base_g2_mul
#define FIXED_BASE_END    fixed_base_g2_end
#include "known_points.h"
#include "msm_laws.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_test_msm_naive),    cmocka_unit_test(g2_test_msm_naive),
        cmocka_unit_test(g1_test_msm_sizes),    cmocka_unit_test(g2_test_msm_sizes),
        cmocka_unit_test(g1_test_msm_large),    cmocka_unit_test(g2_test_msm_large),
        cmocka_unit_test(g1_test_msm_indexed),  cmocka_unit_test(g2_test_msm_indexed),
        cmocka_unit_test(g1_test_msm_memory),   cmocka_unit_test(g2_test_msm_memory),
        cmocka_unit_test(g1_test_msm_failures), cmocka_unit_test(g2_test_msm_failures),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
