/* Witnesses. `seeds` is what a circuit writes and what travels to a device: a few MB. `witness` is all
 * values after expansion: one bit for every bit variable, 32 bytes for every field variable. */
#ifndef CUZK_R1CS_WITNESS_H
#define CUZK_R1CS_WITNESS_H

#include "r1cs/shape.h"

/* Appended to in circuit order; sizes are fixed by the shape. */
struct seeds {
    fr *inputs;                                                               /* shape.inputs, ONE first */
    fr *fields;                                                               /* shape.seed_fields */
    uint64_t *bits;                                                           /* shape.seed_bits, packed */
    uint32_t *hints;                                                          /* shape.hint_words */
    uint32_t inputs_count, fields_count, bits_count, hints_count;             /* written so far */
    uint32_t inputs_capacity, fields_capacity, bits_capacity, hints_capacity; /* what the shape wants */
};
size_t seeds_bytes(const struct shape *shape);
MUST_USE struct status seeds_start(struct seeds *out, const struct shape *shape); /* input ONE is written */
void seeds_end(struct seeds *seeds);
/* Writing beyond the shape's counts aborts (broken contract). */
void seeds_input(struct seeds *seeds, const fr *value);
void seeds_field(struct seeds *seeds, const fr *value);
void seeds_bits(struct seeds *seeds, uint64_t value, uint32_t count); /* low bit first, count <= 64 */
void seeds_hints(struct seeds *seeds, const uint32_t *words, uint32_t count);
bool seeds_complete(const struct seeds *seeds);

struct witness {
    const fr *inputs; /* borrowed from the seeds */
    uint64_t *bits;   /* bit per aux variable; zero for field variables */
    fr *fields;       /* by slot */
};
size_t witness_bytes(const struct shape *shape);
MUST_USE struct status witness_start(struct witness *out, const struct shape *shape);
void witness_end(struct witness *witness);

/* Scatters the seeds, then expands wave by wave. The seeds must be complete and outlive witness.inputs. */
MUST_USE struct status witness_expand(struct witness *witness, const struct shape *shape,
                                      const struct seeds *seeds, const struct work *work);

/* a[k] = <A_k, w>, b[k] = <B_k, w> for all rows with the input rows; entries from there to `size` are zeroed.
 * size >= shape_all_rows. c likewise, or NULL: then a[k] may be taken from C where B is {ONE: 1}. That is the
 * same value if the row holds; of a witness that breaks a row no proof verifies in either case. */
MUST_USE struct status witness_evaluate(fr *a, fr *b, fr *c, size_t size, const struct shape *shape,
                                        const struct witness *witness, const struct work *work);

/* The same for the circuit rows [begin, end) alone: a, b and c hold end - begin values. For what takes them
 * piece by piece: all values of a 32 GiB PoRep partition would be 12.5 GB. */
MUST_USE struct status witness_evaluate_rows(fr *a, fr *b, fr *c, uint32_t begin, uint32_t end,
                                             const struct shape *shape, const struct witness *witness,
                                             const struct work *work);

/* The first row that does not hold, or UINT32_MAX. Slow path for tests and diagnosis. */
MUST_USE struct status witness_first_unsatisfied(uint32_t *row, const struct shape *shape,
                                                 const struct witness *witness);

/* Aux index of every field slot, ascending: fields' places in the queries. out holds shape.fields. */
void shape_field_variables(uint32_t *out, const struct shape *shape);
/* Value of a variable. */
fr witness_value(const struct witness *witness, const struct shape *shape, variable v);
/* SHA-256 of aux values [0, aux_end) as 32-byte little-endian canonical numbers. */
void witness_aux_digest(uint8_t out[32], const struct witness *witness, const struct shape *shape,
                        uint32_t aux_end);

#endif
