/* Fixed-base multiplication against single multiplications: every kind of scalars, all windows, several
 * threads; memory as planned; cancelling; no memory. The tests themselves are the template
 * fixed_base_laws.h. */
#include "known_scalars.h"

#include "curve/fixed_base.h"
#include "curve/msm.h"

#define GROUP                  g1
#define FIELD                  fp
#define GENERATOR              G1_GENERATOR
#define SCALARS                ((size_t)20000)
#define MSM                    msm_g1
#define FIXED_BASE             fixed_base_g1
#define FIXED_BASE_TABLE_BYTES fixed_base_g1_table_bytes
#define FIXED_BASE_MAKE        fixed_base_g1_make
#define FIXED_BASE_MUL         fixed_base_g1_mul
#define FIXED_BASE_END         fixed_base_g1_end
#include "known_points.h"
#include "fixed_base_laws.h"
#undef GROUP
#undef FIELD
#undef GENERATOR
#undef SCALARS
#undef MSM
#undef FIXED_BASE
#undef FIXED_BASE_TABLE_BYTES
#undef FIXED_BASE_MAKE
#undef FIXED_BASE_MUL
#undef FIXED_BASE_END

#define GROUP                  g2
#define FIELD                  fp2
#define GENERATOR              G2_GENERATOR
#define SCALARS                ((size_t)5000)
#define MSM                    msm_g2
#define FIXED_BASE             fixed_base_g2
#define FIXED_BASE_TABLE_BYTES fixed_base_g2_table_bytes
#define FIXED_BASE_MAKE        fixed_base_g2_make
#define FIXED_BASE_MUL         fixed_base_g2_mul
#define FIXED_BASE_END         fixed_base_g2_end
#include "known_points.h"
#include "fixed_base_laws.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_test_fixed_base_kinds),    cmocka_unit_test(g2_test_fixed_base_kinds),
        cmocka_unit_test(g1_test_fixed_base_threads),  cmocka_unit_test(g2_test_fixed_base_threads),
        cmocka_unit_test(g1_test_fixed_base_infinity), cmocka_unit_test(g2_test_fixed_base_infinity),
        cmocka_unit_test(g1_test_fixed_base_failures), cmocka_unit_test(g2_test_fixed_base_failures),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
