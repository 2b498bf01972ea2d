/* The conformance cases of the gadgets specification, 11: recipes over the generic constraint system, with
 * the counts, densities and digests that the reference circuits have. Recipes also write values that satisfy
 * their rows (but for one case that cannot be satisfied), so that the same table serves every test. */
#ifndef CUZK_TESTS_GADGET_CASES_H
#define CUZK_TESTS_GADGET_CASES_H

#include "r1cs/cs.h"

enum values { VALUES_RANDOM, VALUES_ZERO, VALUES_ONE, VALUES_TOP, VALUES_COUNT }; /* TOP: r - 1, all bits 1 */

struct maker {
    struct cs *cs;
    uint64_t random_state;
    enum values values;
    uint8_t *is_free; /* per aux: a number of the recipe, which rows need not determine; NULL: not wanted */
};
uint64_t maker_random(struct maker *m);
fr maker_element(struct maker *m);

struct gadget_case {
    const char *name;
    void (*recipe)(struct maker *m);
    uint32_t counts[3];  /* inputs, aux, rows */
    uint32_t density[3]; /* A aux, B inputs, B aux */
    const char *digest;
};
extern const struct gadget_case gadget_cases[];
extern const uint32_t gadget_cases_count;

#endif
