/* The walker that circuits are written over. A circuit is one C function that makes the calls below in
 * circuit order; what comes of it depends on the sinks, each of which may be absent:
 *
 *   builder  places template instances and so builds the shape; templates are recorded at first use;
 *   seeds    receives inputs, seeds and hints of a real witness; nothing that a device can derive is
 *            computed, except SHA-256 states and messages, which are hints;
 *   cs       runs the generic gadget code: the oracle of the other two.
 *
 * Handles are plain values. A handle's variables are right if there is a builder or a cs, its values if there
 * are seeds or a cs with values and the value is known: numbers that Poseidon produces are not known to a
 * walk without cs (nothing needs them on the host). Without a value sink, pointers to values may be NULL and
 * other values are ignored.
 *
 * Errors stay in the circuit, later calls do nothing harmful, and circuit_end returns the first. */
#ifndef CUZK_GADGET_CIRCUIT_H
#define CUZK_GADGET_CIRCUIT_H

#include "gadget/number.h"
#include "gadget/merkle.h"
#include "gadget/sha256.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

/* Up to 256 consecutive bit variables, un-negated, lowest first. */
struct bits {
    variable first;
    uint32_t count;
    uint64_t values[4];
};
static inline bool bits_at(const struct bits *b, uint32_t i)
{
    return (b->values[i / 64] >> (i % 64)) & 1;
}
struct bits bits_slice(const struct bits *b, uint32_t from, uint32_t count);

/* Bits that lie in two places: those of low, then those of high. Either part, or both, may be empty. */
struct joined_bits {
    struct bits low, high;
};
static inline uint32_t joined_count(const struct joined_bits *b)
{
    return b->low.count + b->high.count;
}
struct joined_bits joined_slice(const struct joined_bits *b, uint32_t from, uint32_t count);
uint64_t joined_value(const struct joined_bits *b); /* at most 64 bits */

struct circuit_template; /* a template with what the walk must know of it; circuit.c */
struct circuit {
    struct shape_builder *builder;
    struct seeds *seeds;
    struct cs *cs;
    bool variables; /* there is a builder or a cs */
    struct circuit_template *templates;
    uint32_t templates_count, templates_capacity;
    struct status error;
};

/* The sinks are borrowed. With builder and cs together, both must be fresh. */
MUST_USE struct status circuit_start(struct circuit *c, struct shape_builder *builder, struct seeds *seeds,
                                     struct cs *cs);
MUST_USE struct status circuit_end(struct circuit *c);
/* Rows, aux and inputs so far; needs a builder or a cs. For digests of sections. */
void circuit_counts(const struct circuit *c, uint32_t *rows, uint32_t *aux, uint32_t *inputs);

/* ---- numbers ---- */
struct number circuit_number(struct circuit *c, const fr *value);
void circuit_numbers(struct circuit *c, struct number *out, const fr *values, uint32_t count); /* in order */
void circuit_inputize(struct circuit *c, const struct number *x); /* x must be known */
void circuit_equal(struct circuit *c, const struct number *a, const struct number *b);
struct number circuit_add(struct circuit *c, const struct number *a, const struct number *b);
struct number circuit_sub(struct circuit *c, const struct number *a, const struct number *b);
struct number circuit_mul(struct circuit *c, const struct number *a, const struct number *b);
struct number circuit_sum(struct circuit *c, const struct number *terms, uint32_t count); /* 1 to 64 */
/* x * scale + offset */
struct number circuit_scale_add(struct circuit *c, const struct number *x, uint32_t scale, uint32_t offset);
/* encode of gadgets specification 7.1 */
static inline struct number circuit_encode(struct circuit *c, const struct number *key,
                                           const struct number *value)
{
    return circuit_add(c, key, value);
}

/* ---- bits ---- */
struct bits circuit_bits(struct circuit *c, uint64_t value, uint32_t count); /* allocates; count <= 64 */
static inline struct bits circuit_uint64(struct circuit *c, uint64_t value)
{
    return circuit_bits(c, value, 64);
}
struct bits circuit_to_bits(struct circuit *c, const struct number *x); /* to_bits_le: 255 bits; x known */
struct bits circuit_to_bits_update(struct circuit *c, const struct number *x); /* the other packing row */
void circuit_pack_input(struct circuit *c, const struct bits *b);    /* one input; at most 254 bits */
struct number circuit_pack(struct circuit *c, const struct bits *b); /* pack_bits; at most 254 bits */
/* The same for at most 64 bits in two places; of no bits, it is a number that a row holds at zero. */
struct number circuit_pack_joined(struct circuit *c, const struct joined_bits *b);
/* The row sum of 2^i bits[i] * 1 = x, for x that exists; at most 254 bits. */
void circuit_bits_equal(struct circuit *c, const struct bits *b, const struct number *x);

/* The bit's product with x; bit has one bit. */
struct number circuit_mul_bit(struct circuit *c, const struct number *x, const struct bits *bit);
/* from[index]: 2^k - 1 picks among 2^k numbers for an index of k bits, 1 to 7. */
struct number circuit_select(struct circuit *c, const struct number *from, const struct joined_bits *index);

/* ---- hashes ---- */
/* Legacy Poseidon circuit with the Merkle tag of the arity; arity at most 11. */
struct number circuit_poseidon(struct circuit *c, const struct number *inputs, uint32_t arity);
struct number circuit_poseidon_tagged(struct circuit *c, const struct number *inputs, uint32_t arity,
                                      uint64_t tag);
/* The same and the value computed, for inputs that are known: where the walk goes on with its bits. */
struct number circuit_poseidon_valued(struct circuit *c, const struct number *inputs, uint32_t arity,
                                      uint64_t tag);
static inline struct number circuit_hash2(struct circuit *c, const struct number *a, const struct number *b)
{
    struct number inputs[2] = {*a, *b};
    return circuit_poseidon(c, inputs, 2);
}
/* hash_multi_leaf of SHA-256: to_bits_le of each, the hash, the packing. count even, 2 to 8; inputs known. */
struct number circuit_sha_numbers(struct circuit *c, const struct number *inputs, uint32_t count);
/* create_label_circuit: replica_id and parents are the 255 bits of to_bits_le, node the 64 of a UInt64. */
struct number circuit_label(struct circuit *c, const struct bits *replica_id,
                            const struct bits *const parents[LABEL_PARENTS], uint32_t layer,
                            const struct bits *node);

/* ---- Merkle paths ---- */
/* PoRCircuit with a leaf and a root that exist, private: path elements, the packed input, equality with the
 * root. For SHA-256 the leaf must be known. path may be NULL without a value sink. */
void circuit_por(struct circuit *c, const struct tree_form *form, const struct number *leaf,
                 const struct tree_path *path, const struct number *root);
/* por_no_challenge_input: index bits, leaf, siblings (level by level) and root all exist. For SHA-256 leaf
 * and siblings must be known. */
void circuit_por_existing(struct circuit *c, const struct tree_form *form, const struct bits *index,
                          const struct number *leaf, const struct number *siblings,
                          const struct number *root);
/* The same with an index in two places, at most 64 bits; a path of no levels is the equality alone. */
void circuit_por_joined(struct circuit *c, const struct tree_form *form, const struct joined_bits *index,
                        const struct number *leaf, const struct number *siblings, const struct number *root);
/* PoRCircuit whose leaf and root are values: allocates the leaf first, the root after the path, and exposes
 * the root as an input unless it is private. */
void circuit_por_values(struct circuit *c, const struct tree_form *form, const fr *leaf,
                        const struct tree_path *path, const fr *root, bool private_root);

#endif
