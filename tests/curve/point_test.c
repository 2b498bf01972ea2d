/* Points of G1 and G2: group laws at every edge, multiples against known answers, subgroup tests against
 * multiplication by r. The tests themselves are the template group_laws.h. */
#include "curve_test.h"

#include "curve/encoding.h"
#include "curve/group_inline.h"
#include "curve_vectors.h"

static void g1_outside(g1_affine *out, size_t i)
{
    uint8_t bytes[96];
    from_hex(bytes, 96, G1_OUTSIDE[i]);
    assert_int_equal(g1_from_uncompressed(out, bytes, false), POINT_OK);
}

static void g2_outside(g2_affine *out, size_t i)
{
    uint8_t bytes[192];
    from_hex(bytes, 192, G2_OUTSIDE[i]);
    assert_int_equal(g2_from_uncompressed(out, bytes, false), POINT_OK);
}

#define GROUP     g1
#define FIELD     fp
#define GENERATOR G1_GENERATOR
#define OUTSIDE   G1_OUTSIDE
#define CLEARED   G1_CLEARED
#define COFACTOR  G1_COFACTOR
#define ENCODED   g1
#include "group_laws.h"
#undef GROUP
#undef FIELD
#undef GENERATOR
#undef OUTSIDE
#undef CLEARED
#undef COFACTOR
#undef ENCODED

#define GROUP     g2
#define FIELD     fp2
#define GENERATOR G2_GENERATOR
#define OUTSIDE   G2_OUTSIDE
#define CLEARED   G2_CLEARED
#define COFACTOR  G2_COFACTOR
#define ENCODED   g2
#include "group_laws.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_test_group_law),
        cmocka_unit_test(g2_test_group_law),
        cmocka_unit_test(g1_test_inline_forms),
        cmocka_unit_test(g2_test_inline_forms),
        cmocka_unit_test(g1_test_known_multiples),
        cmocka_unit_test(g2_test_known_multiples),
        cmocka_unit_test(g1_test_random_multiples),
        cmocka_unit_test(g2_test_random_multiples),
        cmocka_unit_test(g1_test_subgroup),
        cmocka_unit_test(g2_test_subgroup),
        cmocka_unit_test(g1_test_batch),
        cmocka_unit_test(g2_test_batch),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
