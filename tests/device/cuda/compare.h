/* Comparisons of the card's kernels with their C twins, one call a case: used by cuda_kernels_test (on the
 * host stand-in, small sizes) and by gpu-check (on a card). Each prints what differs and returns false, or
 * true. */
#ifndef CUZK_TESTS_COMPARE_H
#define CUZK_TESTS_COMPARE_H

#include "check_kernels.h"

enum scalar_kind {
    SCALARS_RANDOM,
    SCALARS_ZERO,
    SCALARS_ONE,
    SCALARS_MINUS_ONE,
    SCALARS_EQUAL, /* one random value for all */
    SCALARS_BITS,  /* zeros and ones */
    SCALARS_MIXED, /* 0, 1, -1, 2^k, 2^k - 1 and random ones */
    SCALARS_KINDS
};

enum point_kind {
    POINTS_RANDOM,
    POINTS_MULTIPLES, /* (i + 1) G: many partial sums are equal */
    POINTS_EQUAL,
    POINTS_OPPOSITE, /* P, -P, P, -P, ... */
    POINTS_INFINITY, /* every third one, and the first few */
    POINTS_KINDS
};

const char *scalar_kind_name(enum scalar_kind kind);
const char *point_kind_name(enum point_kind kind);

void compare_seed(uint64_t seed);
/* Says nothing of statuses: for tests that make calls fail. Wrong results are still told. */
void compare_quietly(bool on);
/* group: 1 or 2. window_bits 0: as planned; else given, with window_group windows at once. */
bool compare_msm(int group, size_t n, enum scalar_kind scalars, enum point_kind points, uint32_t window_bits,
                 uint32_t window_group);
bool compare_msm_simple(int group, size_t n, enum scalar_kind scalars, enum point_kind points);
/* percent: of bits set; present: with a presence bitmap, half set. */
bool compare_bitsum(int group, size_t n, unsigned percent, bool present, enum point_kind points);
bool compare_bitsum_simple(int group, size_t n, unsigned percent, enum point_kind points);
bool compare_fixed_base(int group, size_t n, uint32_t window_bits, enum scalar_kind scalars);
/* flags of gpu_ntt */
bool compare_ntt(unsigned log_size, unsigned flags, bool simple);
bool compare_h(unsigned log_size);

#endif
