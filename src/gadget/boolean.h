/* Booleans of gadgets specification 2: a constant, a bit variable, or the negation of one. Operations choose
 * among constant folding and bit gates exactly as the specification's tables, first matching row. */
#ifndef CUZK_GADGET_BOOLEAN_H
#define CUZK_GADGET_BOOLEAN_H

#include "r1cs/cs.h"

enum boolean_kind { BOOLEAN_CONST, BOOLEAN_IS, BOOLEAN_NOT };

struct boolean {
    variable v;    /* of the bit; ONE for a constant */
    uint8_t kind;  /* enum boolean_kind */
    uint8_t value; /* of the whole: 0 or 1; 0 where it is unknown, except for constants */
};

static inline struct boolean boolean_const(bool value)
{
    return (struct boolean){VARIABLE_ONE, BOOLEAN_CONST, value};
}

static inline struct boolean boolean_is(variable v, bool value)
{
    return (struct boolean){v, BOOLEAN_IS, value};
}

static inline struct boolean boolean_not(struct boolean b)
{
    if (b.kind != BOOLEAN_CONST)
        b.kind = b.kind == BOOLEAN_IS ? BOOLEAN_NOT : BOOLEAN_IS;
    b.value ^= 1;
    return b;
}

static inline bool boolean_is_const(struct boolean b, bool value)
{
    return b.kind == BOOLEAN_CONST && b.value == value;
}

/* A bit variable with its booleanity row. */
struct boolean bit_alloc(struct cs *cs, bool value);
/* A bit that is 0 unless m is 0; m an un-negated bit. */
struct boolean bit_alloc_conditionally(struct cs *cs, bool value, struct boolean m);
/* Gates on the bits themselves: operands must be BOOLEAN_IS. */
struct boolean bit_xor(struct cs *cs, struct boolean a, struct boolean b);
struct boolean bit_and(struct cs *cs, struct boolean a, struct boolean b);
struct boolean bit_and_not(struct cs *cs, struct boolean a, struct boolean b);
struct boolean bit_nor(struct cs *cs, struct boolean a, struct boolean b);

struct boolean boolean_xor(struct cs *cs, struct boolean a, struct boolean b);
struct boolean boolean_and(struct cs *cs, struct boolean a, struct boolean b);
struct boolean boolean_ch(struct cs *cs, struct boolean a, struct boolean b, struct boolean c);
struct boolean boolean_maj(struct cs *cs, struct boolean a, struct boolean b, struct boolean c);
/* Two different constants are an error of the system. */
void boolean_enforce_equal(struct cs *cs, struct boolean a, struct boolean b);

/* l += k * b */
void lc_add_boolean(struct lc *l, struct boolean b, const fr *k);

/* count bits of a value, lowest first, each allocated. */
void bits_alloc(struct cs *cs, struct boolean *out, const uint64_t *value, uint32_t count);

fr fr_of_bool(bool value);
/* 2^k as a field element, k <= 255; computed once. */
const fr *power_of_two(uint32_t k);

#endif
