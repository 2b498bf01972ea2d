/* The card's kernels on the host stand-in of the runtime (standin/), against their C twins: every size from 0
 * up, all distributions of scalars and points, several plans; and every runtime call of each made to fail in
 * turn. The same comparisons run on a card, at larger sizes, by gpu-check. */
#include "compare.h"
#include "device/cuda/kernels.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void ntt_is_as_its_twin(void **unused)
{
    (void)unused;
    for (unsigned log_size = 0; log_size <= 14; log_size++) {
        for (unsigned flags = 0; flags < 4; flags++) {
            assert_true(compare_ntt(log_size, flags, false));
            if (log_size < 8)
                assert_true(compare_ntt(log_size, flags, true));
        }
    }
    /* all widths of long passes, far apart and close */
    assert_true(compare_ntt(17, GPU_NTT_COSET, false));
    assert_true(compare_ntt(18, GPU_NTT_INVERSE | GPU_NTT_COSET, false));
}

static void h_is_as_its_twin(void **unused)
{
    (void)unused;
    for (unsigned log_size = 0; log_size <= 12; log_size++)
        assert_true(compare_h(log_size));
}

static void msm_is_as_its_twin(void **unused)
{
    (void)unused;
    for (size_t n = 0; n <= 10; n++)
        assert_true(compare_msm(1, n, SCALARS_RANDOM, POINTS_RANDOM, 0, 0));
    for (int kind = 0; kind < SCALARS_KINDS; kind++) {
        for (int points = 0; points < POINTS_KINDS; points++)
            assert_true(compare_msm(1, 70, (enum scalar_kind)kind, (enum point_kind)points, 4, 64));
    }
    assert_true(compare_msm(1, 300, SCALARS_RANDOM, POINTS_MULTIPLES, 5, 7));
    assert_true(compare_msm(1, 300, SCALARS_MIXED, POINTS_RANDOM, 8, 3));
    assert_true(compare_msm(1, 129, SCALARS_MIXED, POINTS_RANDOM, 9, 29));
    assert_true(compare_msm(2, 33, SCALARS_RANDOM, POINTS_RANDOM, 0, 0));
    assert_true(compare_msm(2, 40, SCALARS_MIXED, POINTS_INFINITY, 4, 64));
    assert_true(compare_msm_simple(1, 20, SCALARS_MIXED, POINTS_RANDOM));
    assert_true(compare_msm_simple(2, 5, SCALARS_RANDOM, POINTS_RANDOM));
}

static void bitsum_is_as_its_twin(void **unused)
{
    (void)unused;
    for (size_t n = 0; n <= 130; n += n < 6 ? 1 : 31) {
        for (int points = 0; points < POINTS_KINDS; points++) {
            assert_true(compare_bitsum(1, n, 50, false, (enum point_kind)points));
            assert_true(compare_bitsum(1, n, 80, true, (enum point_kind)points));
        }
        assert_true(compare_bitsum(1, n, 100, false, POINTS_RANDOM));
        assert_true(compare_bitsum(1, n, 0, false, POINTS_RANDOM));
    }
    assert_true(compare_bitsum(2, 100, 50, false, POINTS_RANDOM));
    assert_true(compare_bitsum(2, 65, 50, true, POINTS_EQUAL));
    assert_true(compare_bitsum_simple(1, 100, 50, POINTS_RANDOM));
    assert_true(compare_bitsum_simple(2, 100, 50, POINTS_RANDOM));
}

static void fixed_base_is_as_its_twin(void **unused)
{
    (void)unused;
    for (size_t n = 0; n <= 5; n++)
        assert_true(compare_fixed_base(1, n, 4, SCALARS_RANDOM));
    for (int kind = 0; kind < SCALARS_KINDS; kind++)
        assert_true(compare_fixed_base(1, 20, 6, (enum scalar_kind)kind));
    assert_true(compare_fixed_base(2, 9, 4, SCALARS_MIXED));
}

/* of standin/cuda_runtime.h, which is C++ */
void standin_fail_at(uint64_t n);
uint64_t standin_calls(void);

static bool msm_case(void)
{
    return compare_msm(1, 40, SCALARS_MIXED, POINTS_RANDOM, 4, 40);
}

static bool bitsum_case(void)
{
    return compare_bitsum(1, 90, 50, true, POINTS_RANDOM);
}

static bool fixed_base_case(void)
{
    return compare_fixed_base(1, 5, 4, SCALARS_RANDOM);
}

static bool h_case(void)
{
    return compare_h(11);
}

/* Call n and all after it fail, for every n: an error comes back each time, until n is beyond the last call.
 */
static void every_failing_call_is_told(void **unused)
{
    (void)unused;
    static bool (*const cases[])(void) = {msm_case, bitsum_case, fixed_base_case, h_case};
    compare_quietly(true);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t n = 1, calls;
        bool good;
        do {
            standin_fail_at(n);
            good = cases[c]();
            calls = standin_calls();
            standin_fail_at(0);
            assert_true(good == (calls < n));
            n += n < 30 ? 1 : 11;
        } while (!good);
        assert_true(n > 10);
    }
    compare_quietly(false);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    compare_seed(seed);
    printf("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ntt_is_as_its_twin),        cmocka_unit_test(h_is_as_its_twin),
        cmocka_unit_test(msm_is_as_its_twin),        cmocka_unit_test(bitsum_is_as_its_twin),
        cmocka_unit_test(fixed_base_is_as_its_twin), cmocka_unit_test(every_failing_call_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
