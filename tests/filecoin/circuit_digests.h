/* All digests of a circuit and its values in one walk over the rows, whatever the size: nothing is stored per
 * row. The values of rows are computed here from variables and coefficients, without the evaluation that
 * provers use. Names are those of the golden facts.json files. */
#ifndef CUZK_TESTS_FILECOIN_CIRCUIT_DIGESTS_H
#define CUZK_TESTS_FILECOIN_CIRCUIT_DIGESTS_H

#include "r1cs/witness.h"

struct circuit_digests {
    char rows[65];     /* terms with 32-bit indices */
    char rows_u64[65]; /* with 64-bit indices */
    char inputs[65], aux[65], witness[65], a[65], b[65], c[65];
    uint32_t unsatisfied;
};

enum digests_wanted { DIGEST_ROWS = 1, DIGEST_ROWS_U64 = 2, DIGEST_VALUES = 4 };
/* w may be NULL if no values are wanted; a part that is not wanted stays empty. */
void circuit_digests(struct circuit_digests *out, const struct shape *shape, const struct witness *w,
                     unsigned wanted);

/* Expands the seeds and takes the digests. */
void circuit_digests_of_seeds(struct circuit_digests *out, const struct shape *shape,
                              const struct seeds *seeds, unsigned wanted, const struct work *work);

/* The text of a key in a JSON file of tests/data: the first `"key": "..."`. */
void facts_text(char *out, size_t size, const char *file, const char *key);
uint64_t facts_number(const char *file, const char *key);
/* Compares whatever is wanted with a facts.json file of one partition, counts and densities included. */
void expect_facts(const struct circuit_digests *have, const struct shape *shape, const char *file,
                  unsigned wanted);

#endif
