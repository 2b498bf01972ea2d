/* Expanders: the hand-written functions that fill the derived variables of template instances. Their oracle
 * is the generic gadget code that the same template was recorded from. Numbers are part of shape files and
 * select device kernels: they never change.
 *
 * For each: columns in order (s: seed), ports in order, parameters. "k" is log2 of an arity a in {2, 4, 8};
 * "picks" are 2, 8 or 20 numbers, for a = 8 behind two bits (neither of bits 0 and 1; both of them).
 *
 * SHA256_BLOCK    all bits in the order of gadgets specification 5.1. Ports: 256 bits of the incoming state,
 * word by word, lowest first, unless it is constant; then the message bits that are variables, byte by byte,
 * lowest first. Not read: hints are 8 state words and 16 message words, constant bits included. Parameters:
 * 16 masks of the constant bits of the message words; 1 if the state is constant. Ports are never negated.
 * POSEIDON        poseidon_circuit_size numbers. Ports: arity numbers. Parameters: arity, tag (low, high).
 * PATH_ELEMENT    s k bits, s a - 1 siblings, picks, Poseidon of arity a with the Merkle tag. Port: the node.
 *                 Parameter: a.
 * TO_BITS         255 bits. Port: the number.
 * SHA_PATH_HEAD   s k bits, s a - 1 siblings, picks, 255 bits of each of the a children. Port: the node.
 *                 Parameter: a.
 * PACK            one number. Ports: n <= 254 bits, lowest first. Parameter: n.
 * SUM             one number. Ports: n numbers. Parameter: n.
 * DIFFERENCE      one number a - b. Ports: a, b.
 * MUL             one number. Ports: two numbers.
 * MUL_BIT         one number. Ports: number, bit.
 * SCALE_ADD       one number x * p0 + p1. Port: x. Parameters: p0, p1.
 * INSERT          picks. Ports: k bits, the node, a - 1 siblings. Parameter: a.
 * SELECT          2^m - 1 numbers: of the 2^m given, halves chosen by the highest bit first, until one is
 * left. Ports: m bits, lowest first, 1 <= m <= 7; 2^m numbers. Parameter: m. */
#ifndef CUZK_GADGET_EXPANDERS_H
#define CUZK_GADGET_EXPANDERS_H

#include "r1cs/template.h"

enum expander_number {
    EXPANDER_NONE,
    EXPANDER_SHA256_BLOCK,
    EXPANDER_POSEIDON,
    EXPANDER_PATH_ELEMENT,
    EXPANDER_TO_BITS,
    EXPANDER_SHA_PATH_HEAD,
    EXPANDER_PACK,
    EXPANDER_SUM,
    EXPANDER_DIFFERENCE,
    EXPANDER_MUL,
    EXPANDER_MUL_BIT,
    EXPANDER_SCALE_ADD,
    EXPANDER_INSERT,
    EXPANDER_SELECT,
    EXPANDER_COUNT,
};

/* All of them, for shape_load. */
const struct expander *const *gadget_expanders(size_t *count);
/* One by number; not EXPANDER_NONE. */
const struct expander *gadget_expander(enum expander_number number);

#define SHA256_BLOCK_HINTS      24
#define SHA256_BLOCK_PARAMETERS 17
/* Columns of a SHA256_BLOCK with these parameters. */
uint32_t sha256_block_locals(const uint32_t parameters[SHA256_BLOCK_PARAMETERS]);

#endif
