/* Random circuits for the tests of shapes and witnesses: a few templates made of random operations, placed
 * with random bindings of ports (consecutive, scattered, aliased, to inputs, to ONE), and at the same time
 * run into a generic system, which is the oracle. Every local column stands in a sum at the end of its own
 * instance and every input in one at the end of the circuit, so that no single value can change unnoticed. */
#ifndef CUZK_TESTS_R1CS_RANDOM_CIRCUIT_H
#define CUZK_TESTS_R1CS_RANDOM_CIRCUIT_H

#include "r1cs/cs.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

struct random_circuit {
    struct shape *shape;
    struct dictionary dictionary; /* of the oracle; the shape has its own */
    struct cs oracle;             /* rows and values */
    struct seeds seeds;
    uint32_t aliased; /* instances with a variable bound twice, or ONE */
};

uint64_t random_u64(void);
void random_seed(uint64_t seed);
uint32_t random_below(uint32_t bound);
fr random_fr(void);

/* Aborts the test on any error. instances: how many random ones; size: rough number of operations each. */
void random_circuit_make(struct random_circuit *c, uint32_t instances, uint32_t size);
void random_circuit_end(struct random_circuit *c);
/* The same, but an error (of memory) is returned, with nothing left behind. The random numbers drawn do not
 * depend on the error. */
MUST_USE struct status random_circuit_try(struct random_circuit *c, uint32_t instances, uint32_t size);

extern const struct expander *const random_expanders[];
extern const size_t random_expanders_count;

#endif
