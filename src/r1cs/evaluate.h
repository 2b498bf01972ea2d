/* Evaluation of ranges of rows, compiled in both flavours (evaluate.c) and cut into tasks by
 * evaluate_run.c. Room-internal. */
#ifndef CUZK_R1CS_EVALUATE_H
#define CUZK_R1CS_EVALUATE_H

#include "field/flavour.h"
#include "r1cs/internal.h"
#include "r1cs/witness.h"

struct evaluation {
    const struct shape *shape;
    const struct witness *witness;
    fr *a, *b, *c;                   /* c NULL: not wanted, and A may be taken from C where B is ONE */
    uint32_t first;                  /* the row of a[0], b[0], c[0] */
    fr small[2 * SMALL_SUM_MAX + 1]; /* the integers from -SMALL_SUM_MAX on */
};

/* Ports of one instance: room for those of the largest template. */
struct evaluation_ports {
    uint64_t *bits;
    const fr **fields;
};

/* Rows [begin, end) of the circuit, no input rows. */
FLAVOUR_DECLARE(void, evaluate_rows,
                (const struct evaluation *e, const struct evaluation_ports *ports, uint32_t begin,
                 uint32_t end));

#endif
