/* Proofs of retrievability: Merkle paths as circuits (gadgets specification, 7.5 and 7.6), in generic form.
 */
#ifndef CUZK_GADGET_MERKLE_H
#define CUZK_GADGET_MERKLE_H

#include "gadget/number.h"

enum hasher { HASHER_POSEIDON, HASHER_SHA256 };

#define TREE_LEVELS_MAX 64
struct tree_form {
    enum hasher hasher;
    uint32_t base_arity, base_levels; /* arities are powers of two, at most 8 */
    uint32_t sub_arity, top_arity;    /* 0: absent */
};
uint32_t tree_form_levels(const struct tree_form *f);
uint32_t tree_form_arity(const struct tree_form *f, uint32_t level); /* level 0 is nearest to the leaves */
uint32_t tree_form_log2_arity(const struct tree_form *f, uint32_t level);
uint32_t tree_form_siblings(const struct tree_form *f); /* sum of arity - 1 */
uint32_t tree_form_log2_leaves(const struct tree_form *f);

struct tree_path {
    uint64_t leaf;      /* number of the leaf; its bits, lowest first, are the positions level by level */
    const fr *siblings; /* tree_form_siblings(): level by level, in order */
};

/* hash_multi_leaf of the hasher. */
struct number hash_numbers(struct cs *cs, enum hasher hasher, const struct number *inputs, uint32_t count);

/* Path elements from cur up: allocates index bits and siblings, gives the computed root. bits: the
 * tree_form_log2_leaves() index bits in order. path may be NULL without a value sink. */
struct number path_circuit(struct cs *cs, const struct tree_form *form, const struct number *leaf,
                           const struct tree_path *path, struct boolean *bits);
/* PoRCircuit with leaf and root that exist; private. */
void por_circuit(struct cs *cs, const struct tree_form *form, const struct number *leaf,
                 const struct tree_path *path, const struct number *root);
/* PoRCircuit with leaf and root as values: the leaf is allocated first, the root after the path and exposed
 * unless private. */
void por_circuit_values(struct cs *cs, const struct tree_form *form, const fr *leaf,
                        const struct tree_path *path, const fr *root, bool private_root);
/* por_no_challenge_input: everything exists already; siblings level by level. */
void por_no_challenge_circuit(struct cs *cs, const struct tree_form *form, const struct boolean *bits,
                              const struct number *leaf, const struct number *siblings,
                              const struct number *root);

#endif
