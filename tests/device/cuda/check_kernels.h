/* What the comparisons need on the device besides the kernels under test: memory, random fill, and a few
 * reductions; with host stand-in and card behind the same names. */
#ifndef CUZK_TESTS_CHECK_KERNELS_H
#define CUZK_TESTS_CHECK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

MUST_USE struct status check_alloc(void **out, size_t bytes);
void check_free(void *at); /* NULL allowed */
MUST_USE struct status check_upload(void *to_dev, const void *from, size_t bytes);
MUST_USE struct status check_download(void *to, const void *from_dev, size_t bytes);
MUST_USE struct status check_copy(void *to_dev, const void *from_dev, size_t bytes);
MUST_USE struct status check_fill(void *to_dev, int byte, size_t bytes);
MUST_USE struct status check_sync(void);

MUST_USE struct status check_random_words(void *out_dev, size_t words, uint64_t seed); /* 64-bit, any value */
MUST_USE struct status check_random_elements(void *out_dev, size_t n, uint64_t seed);  /* below r */
/* Every element the same 32 bytes. */
MUST_USE struct status check_equal_elements(void *out_dev, size_t n, const void *element);
/* Elements that are 0 or 1 by a random word each. */
MUST_USE struct status check_bit_elements(void *out_dev, size_t n, uint64_t seed);
/* How many of the 64-bit words differ. */
MUST_USE struct status check_words_differ(uint64_t *out, const void *a_dev, const void *b_dev, size_t words);
/* sum of a[i] b[i] mod r, plain integers in and out (32 bytes); with bits_dev: sum of the b[i] whose bit is
 * set (a_dev may be null). */
MUST_USE struct status check_dot(void *out, const void *a_dev, const void *b_dev, const uint64_t *bits_dev,
                                 size_t n);

/* False, with a reason, where there is no card that works. */
bool check_device(char *text, size_t size);
size_t check_free_bytes(void);

/* Milliseconds on the device between two calls, and by phase (gpu_phase_hook) in between. */
void check_timer_start(void);
double check_timer_stop(void);
#define CHECK_PHASES 24
struct check_phase {
    const char *name;
    double ms;
};
/* Turns the collection on; check_phases() gives and clears what was collected. */
void check_phases_on(void);
int check_phases(struct check_phase out[CHECK_PHASES]);

/* Rates that floors are computed from: operations per second of the whole card. */
enum check_rate { RATE_FP_MUL, RATE_FP_SQR, RATE_FP2_MUL, RATE_FR_MUL, RATE_FR_SHOUP, RATE_WIDE_MAD, RATES };
MUST_USE struct status check_rate_of(double *out, enum check_rate rate);
MUST_USE struct status check_copy_rate(double *bytes_per_second); /* read and written */

#ifdef __cplusplus
}
#endif

#endif
