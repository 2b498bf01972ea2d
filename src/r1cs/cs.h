/* The generic constraint system: gadget code runs over it once and feeds two sinks, rows and values, either
 * of which may be absent. It is the oracle of the template form and the recorder of templates; production
 * witnesses and shapes never pass through it whole.
 *
 * Allocation adds no row. Rows are stored with repeated variables merged, zero coefficients dropped, terms
 * sorted (inputs, then aux), coefficients by dictionary number. */
#ifndef CUZK_R1CS_CS_H
#define CUZK_R1CS_CS_H

#include "base/status.h"
#include "field/fr.h"
#include "r1cs/variable.h"

/* Distinct coefficients, numbered from 0 in order of first use; number 0 is 1, number 1 is -1. At most
 * 65,536. */
struct dictionary {
    fr *values;
    uint32_t count, capacity;
    uint32_t *table; /* hash table of number + 1 */
    uint32_t table_size;
};
MUST_USE struct status dictionary_init(struct dictionary *d);
void dictionary_end(struct dictionary *d);
MUST_USE struct status dictionary_number(struct dictionary *d, uint16_t *out, const fr *value);

/* A linear combination under construction: terms in any order, repeats allowed. Grows as needed; reuse it
 * with lc_clear. An allocation failure is remembered in the lc and reported by cs_enforce. The block of terms
 * holds 2 * capacity of them: the second half is room for sorting. */
struct lc_term {
    variable v;
    fr coefficient;
};
struct lc {
    struct lc_term *terms;
    uint32_t count, capacity;
    bool failed;
};
void lc_init(struct lc *l);
void lc_end(struct lc *l);
void lc_clear(struct lc *l);
void lc_add(struct lc *l, variable v, const fr *coefficient);
void lc_add_one(struct lc *l, variable v);                             /* coefficient 1 */
void lc_sub_one(struct lc *l, variable v);                             /* coefficient -1 */
void lc_add_lc(struct lc *l, const struct lc *other, const fr *scale); /* scale NULL: 1 */
void lc_simplify(struct lc *l);                                        /* sorts, merges, drops zeros */

/* Stored rows: matrix k in {A, B, C} of row i has terms [first[3i+k], first[3i+k+1]). */
struct row_store {
    uint64_t *first;
    uint32_t *columns;      /* variable ids */
    uint16_t *coefficients; /* dictionary numbers */
    uint32_t rows;
    uint64_t terms;
    uint64_t rows_capacity, terms_capacity;
};

struct cs {
    bool with_rows, with_values;
    uint32_t inputs, aux;
    struct dictionary *dictionary; /* borrowed; may be shared by many systems */
    struct row_store rows;
    fr *input_values, *aux_values;
    uint8_t *aux_kinds; /* enum variable_kind per aux */
    uint32_t inputs_capacity, aux_capacity;
    struct lc scratch[3]; /* the row under construction */
    struct status error;  /* the first error; later calls do nothing */
};

/* Input 0 = ONE is there from the start. dictionary is borrowed. */
MUST_USE struct status cs_init(struct cs *cs, struct dictionary *dictionary, bool with_rows,
                               bool with_values);
void cs_end(struct cs *cs);

/* value may be NULL when there is no value sink. Errors (memory, dictionary full, a row not satisfied is NOT
 * an error here) stay in cs->error; the returned variable is then meaningless but harmless. */
variable cs_alloc(struct cs *cs, enum variable_kind kind, const fr *value);
variable cs_alloc_input(struct cs *cs, const fr *value);
void cs_enforce(struct cs *cs, const struct lc *a, const struct lc *b, const struct lc *c);
/* The same without copies: cs_row clears and lends the three sides of the next row, cs_enforce_row appends
 * it. */
struct lc *cs_row(struct cs *cs);
void cs_enforce_row(struct cs *cs);
/* Records an error (a constant that contradicts another) unless there is one already. */
void cs_fail(struct cs *cs, struct status error);
/* Value of a variable; zero without a value sink. */
fr cs_value(const struct cs *cs, variable v);
fr cs_lc_value(const struct cs *cs, const struct lc *l);

/* First row whose <A><B> = <C> does not hold, or UINT32_MAX. Needs both sinks. */
uint32_t cs_first_unsatisfied(const struct cs *cs);

/* Non-zero columns (gadgets specification 1.5), counted over the stored rows. */
struct cs_density {
    uint32_t a_aux, b_input, b_aux;
};
MUST_USE struct status cs_count_density(struct cs_density *out, const struct cs *cs);

/* Digests of gadgets specification section 11. header: with the 12-byte header of counts. The dummy input
 * rows are not included. rows_end: only rows before it (UINT32_MAX: all). */
void cs_rows_digest(uint8_t out[32], const struct cs *cs, bool header, uint32_t rows_end);
/* SHA-256 of the values as 32-byte little-endian canonical numbers. */
void cs_aux_digest(uint8_t out[32], const struct cs *cs, uint32_t aux_end);

#endif
