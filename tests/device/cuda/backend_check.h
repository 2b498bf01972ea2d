/* Whole proofs on a card, from fabricated inputs: what gpu-check's parts "prove" and "setup" do. */
#ifndef CUZK_TESTS_BACKEND_CHECK_H
#define CUZK_TESTS_BACKEND_CHECK_H

#include "base/status.h"
#include <stdint.h>

struct backend_check {
    const char *circuit;
    unsigned count;  /* proofs one after the other, each verified; partitions of a fabricated input in turn */
    bool cpu_sums;   /* the CPU backend's partial sums too, which must be the same */
    bool cpu_params; /* and the parameter file that setup writes from the same values */
    unsigned threads; /* 0: all */
    uint64_t limit;   /* bytes of the card for proving, once the parameters are made; 0: all */
};

/* Prints what it does and how long it took. False: something differs (said), or failed (status). */
MUST_USE struct status backend_check_run(bool *good, const struct backend_check *check);

/* Critical proofs of one circuit, alone and then while `check` runs: how long they take. */
MUST_USE struct status backend_check_beside(bool *good, const struct backend_check *check,
                                            const char *critical);

#endif
