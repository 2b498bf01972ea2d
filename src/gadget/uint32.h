/* 32-bit words of booleans, least significant first, and the batched equalities (MultiEq) that their
 * additions end in (gadgets specification, 4). */
#ifndef CUZK_GADGET_UINT32_H
#define CUZK_GADGET_UINT32_H

#include "gadget/boolean.h"

struct uint32_bits {
    struct boolean bit[32];
};

/* Equalities of small sums, gathered into rows of up to 254 bits. A row appears when the batch is full, that
 * is late, and at the end. */
struct multi_eq {
    struct cs *cs;
    struct lc left, right;
    uint32_t used;
};
void multi_eq_init(struct multi_eq *m, struct cs *cs);
void multi_eq_end(struct multi_eq *m); /* flushes */
/* Claims left == right, both below 2^bits. */
void multi_eq_equal(struct multi_eq *m, uint32_t bits, const struct lc *left, const struct lc *right);

struct uint32_bits uint32_constant(uint32_t value);
struct uint32_bits uint32_alloc(struct cs *cs, uint32_t value);
/* From 32 booleans, most significant first. */
struct uint32_bits uint32_from_be(const struct boolean *bits);
void uint32_to_be(struct boolean *bits, const struct uint32_bits *a);
uint32_t uint32_value(const struct uint32_bits *a);

struct uint32_bits uint32_rotr(const struct uint32_bits *a, uint32_t by);
struct uint32_bits uint32_shr(const struct uint32_bits *a, uint32_t by);
struct uint32_bits uint32_xor(struct cs *cs, const struct uint32_bits *a, const struct uint32_bits *b);
struct uint32_bits uint32_ch(struct cs *cs, const struct uint32_bits *a, const struct uint32_bits *b,
                             const struct uint32_bits *c);
struct uint32_bits uint32_maj(struct cs *cs, const struct uint32_bits *a, const struct uint32_bits *b,
                              const struct uint32_bits *c);
/* Sum modulo 2^32 of 2 to 10 operands. */
struct uint32_bits uint32_add_many(struct multi_eq *m, const struct uint32_bits *const *operands,
                                   uint32_t count);

#endif
