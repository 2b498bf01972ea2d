/* Shapes with seeds for the comparisons of the witness kernels, and these comparisons: used by
 * cuda_witness_test (on the host stand-in) and by gpu-check (on a card). */
#ifndef CUZK_TESTS_WITNESS_CASES_H
#define CUZK_TESTS_WITNESS_CASES_H

#include "r1cs/witness.h"

struct witness_case {
    struct shape *shape;
    struct seeds seeds;
};

/* Partition 0 of a circuit ("porep-2k", "window-32g"), fabricated; or "steps", a circuit of everything that a
 * walk can say; or "rows", such as no gadget has, "rows-N", N of them. */
MUST_USE struct status witness_case_make(struct witness_case *out, const char *name, const struct work *work);
void witness_case_end(struct witness_case *c);

/* Expansion and evaluation on the device against those of the CPU, bit for bit; small ones twice in the same
 * memory. Prints what differs and returns false. */
bool compare_witness(const struct witness_case *c, const char *name, const struct work *work);
/* Says nothing of statuses: for tests that make calls fail. */
void compare_witness_quietly(bool on);

#endif
