/* Numbers: one variable with a field value, and the gadgets of gadgets specification 3 and 7 that relate a
 * few of them. All run over the generic constraint system, for rows, values or both. */
#ifndef CUZK_GADGET_NUMBER_H
#define CUZK_GADGET_NUMBER_H

#include "gadget/boolean.h"

struct number {
    variable v;
    bool known; /* value is meaningful */
    fr value;
};

struct number number_alloc(struct cs *cs, const fr *value);
struct number number_alloc_input(struct cs *cs, const fr *value);
/* A number for a field variable that exists (a port, an input). */
struct number number_of(const struct cs *cs, variable v);

void number_inputize(struct cs *cs, const struct number *x);
struct number number_mul(struct cs *cs, const struct number *x, const struct number *y);
struct number number_square(struct cs *cs, const struct number *x);
void number_assert_nonzero(struct cs *cs, const struct number *x);
/* s true swaps. */
void number_conditionally_reverse(struct cs *cs, struct number *c, struct number *d, const struct number *a,
                                  const struct number *b, const struct boolean *s);
/* 255 bits, least significant first. Not forced to be canonical. */
void number_to_bits(struct cs *cs, struct boolean out[FR_BITS], const struct number *x);
void number_to_bits_strict(struct cs *cs, struct boolean out[FR_BITS], const struct number *x);
/* As number_to_bits with the packing row of the sector-update circuits: bits * 1 = x. */
void number_to_bits_update(struct cs *cs, struct boolean out[FR_BITS], const struct number *x);

void number_equal(struct cs *cs, const struct number *a, const struct number *b);
struct number number_add(struct cs *cs, const struct number *a, const struct number *b);
struct number number_sub(struct cs *cs, const struct number *a, const struct number *b);

/* sum of the terms, with the row terms * 1 = sum */
struct number number_sum(struct cs *cs, const struct number *terms, uint32_t count);
/* x * scale + offset, with the row (scale x + offset) * 1 = sum */
struct number number_scale_add(struct cs *cs, const struct number *x, uint64_t scale, uint64_t offset);
/* x * bit; bit un-negated */
struct number number_mul_bit(struct cs *cs, const struct number *x, const struct boolean *bit);

/* c ? a : b */
struct number number_pick(struct cs *cs, const struct boolean *c, const struct number *a,
                          const struct number *b);
/* from[sum of bits * 2^i]; log2_size at most SELECT_LOG2_MAX. */
#define SELECT_LOG2_MAX 7
struct number number_select(struct cs *cs, const struct number *from, const struct boolean *bits,
                            uint32_t log2_size);
/* out = siblings with e inserted at the place that bits name; out has 2^log2_size entries. log2_size <= 6;
 * for 3 the bits must be un-negated variables. */
void number_insert(struct cs *cs, struct number *out, const struct number *e, const struct boolean *bits,
                   uint32_t log2_size, const struct number *siblings);

/* One input per 254 bits. */
void pack_into_inputs(struct cs *cs, const struct boolean *bits, uint32_t count);
/* The row of pack_into_inputs for at most 254 bits with an input that exists. */
void pack_row(struct cs *cs, const struct boolean *bits, uint32_t count, variable packed);
/* The first 254 of the bits. */
struct number pack_bits(struct cs *cs, const struct boolean *bits, uint32_t count);

#endif
