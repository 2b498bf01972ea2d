/* Batch-affine addition: every kernel this processor can run against XYZZ addition, and the queue with
 * infinity, equal and opposite points. The tests themselves are the template batch_affine_laws.h. */
#include "known_scalars.h"

#include "curve/batch_affine.h"

#define GROUP     g1
#define FIELD     fp
#define GENERATOR G1_GENERATOR
#include "known_points.h"
#include "batch_affine_laws.h"
#undef GROUP
#undef FIELD
#undef GENERATOR

#define GROUP     g2
#define FIELD     fp2
#define GENERATOR G2_GENERATOR
#include "known_points.h"
#include "batch_affine_laws.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_test_kernels),       cmocka_unit_test(g2_test_kernels),
        cmocka_unit_test(g1_test_kernels_edges), cmocka_unit_test(g2_test_kernels_edges),
        cmocka_unit_test(g1_test_queue),         cmocka_unit_test(g2_test_queue),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
