/* Sums over set bits against known exponents: every size to 130, all densities, masks of present variables,
 * repeated and opposite points, several threads; memory as planned; cancelling; no memory. The tests
 * themselves are the template bitsum_laws.h. */
#include "known_scalars.h"

#include "curve/msm.h"

#define GROUP                g1
#define FIELD                fp
#define GENERATOR            G1_GENERATOR
#define VARIABLES            100000
#define BITSUM               bitsum_g1
#define BITSUM_SCRATCH_BYTES bitsum_g1_scratch_bytes
#include "known_points.h"
#include "bitsum_laws.h"
#undef GROUP
#undef FIELD
#undef GENERATOR
#undef VARIABLES
#undef BITSUM
#undef BITSUM_SCRATCH_BYTES

#define GROUP                g2
#define FIELD                fp2
#define GENERATOR            G2_GENERATOR
#define VARIABLES            30000
#define BITSUM               bitsum_g2
#define BITSUM_SCRATCH_BYTES bitsum_g2_scratch_bytes
#include "known_points.h"
#include "bitsum_laws.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_test_bitsum_sizes),    cmocka_unit_test(g2_test_bitsum_sizes),
        cmocka_unit_test(g1_test_bitsum_large),    cmocka_unit_test(g2_test_bitsum_large),
        cmocka_unit_test(g1_test_bitsum_failures), cmocka_unit_test(g2_test_bitsum_failures),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
