/* Merkle paths in generic form: at each level the node is inserted among its siblings and all are hashed. */
#include "gadget/merkle.h"

#include "gadget/poseidon.h"
#include "gadget/sha256.h"

uint32_t tree_form_levels(const struct tree_form *f)
{
    return f->base_levels + (f->sub_arity > 0) + (f->top_arity > 0);
}

uint32_t tree_form_arity(const struct tree_form *f, uint32_t level)
{
    CHECK(level < tree_form_levels(f));
    if (level < f->base_levels)
        return f->base_arity;
    return level == f->base_levels && f->sub_arity > 0 ? f->sub_arity : f->top_arity;
}

uint32_t tree_form_log2_arity(const struct tree_form *f, uint32_t level)
{
    return (uint32_t)__builtin_ctz(tree_form_arity(f, level));
}

uint32_t tree_form_siblings(const struct tree_form *f)
{
    uint32_t sum = 0;
    for (uint32_t level = 0; level < tree_form_levels(f); level++)
        sum += tree_form_arity(f, level) - 1;
    return sum;
}

uint32_t tree_form_log2_leaves(const struct tree_form *f)
{
    uint32_t sum = 0;
    for (uint32_t level = 0; level < tree_form_levels(f); level++)
        sum += tree_form_log2_arity(f, level);
    return sum;
}

struct number hash_numbers(struct cs *cs, enum hasher hasher, const struct number *inputs, uint32_t count)
{
    if (hasher == HASHER_POSEIDON)
        return poseidon_circuit(cs, inputs, count, poseidon_merkle_tag(count));
    return sha256_hash_numbers(cs, inputs, count);
}

#define ARITY_MAX 16

struct number path_circuit(struct cs *cs, const struct tree_form *form, const struct number *leaf,
                           const struct tree_path *path, struct boolean *bits)
{
    struct number cur = *leaf, siblings[ARITY_MAX], children[ARITY_MAX];
    const fr *sibling = path ? path->siblings : NULL;
    uint32_t used = 0;
    for (uint32_t level = 0; level < tree_form_levels(form); level++) {
        uint32_t log2_arity = tree_form_log2_arity(form, level), arity = 1u << log2_arity;
        CHECK(arity <= ARITY_MAX);
        uint64_t index = path && used < 64 ? path->leaf >> used : 0;
        bits_alloc(cs, bits + used, &index, log2_arity);
        for (uint32_t i = 0; i + 1 < arity; i++)
            siblings[i] = number_alloc(cs, sibling ? sibling++ : NULL);
        number_insert(cs, children, &cur, bits + used, log2_arity, siblings);
        cur = hash_numbers(cs, form->hasher, children, arity);
        used += log2_arity;
    }
    return cur;
}

void por_circuit(struct cs *cs, const struct tree_form *form, const struct number *leaf,
                 const struct tree_path *path, const struct number *root)
{
    struct boolean bits[TREE_LEVELS_MAX * 4];
    CHECK(tree_form_levels(form) <= TREE_LEVELS_MAX);
    struct number computed = path_circuit(cs, form, leaf, path, bits);
    pack_into_inputs(cs, bits, tree_form_log2_leaves(form));
    number_equal(cs, &computed, root);
}

void por_circuit_values(struct cs *cs, const struct tree_form *form, const fr *leaf,
                        const struct tree_path *path, const fr *root, bool private_root)
{
    struct boolean bits[TREE_LEVELS_MAX * 4];
    CHECK(tree_form_levels(form) <= TREE_LEVELS_MAX);
    struct number leaf_number = number_alloc(cs, leaf);
    struct number computed = path_circuit(cs, form, &leaf_number, path, bits);
    pack_into_inputs(cs, bits, tree_form_log2_leaves(form));
    struct number root_number = number_alloc(cs, root);
    number_equal(cs, &computed, &root_number);
    if (!private_root)
        number_inputize(cs, &root_number);
}

void por_no_challenge_circuit(struct cs *cs, const struct tree_form *form, const struct boolean *bits,
                              const struct number *leaf, const struct number *siblings,
                              const struct number *root)
{
    struct number cur = *leaf, children[ARITY_MAX];
    for (uint32_t level = 0; level < tree_form_levels(form); level++) {
        uint32_t log2_arity = tree_form_log2_arity(form, level), arity = 1u << log2_arity;
        CHECK(arity <= ARITY_MAX);
        number_insert(cs, children, &cur, bits, log2_arity, siblings);
        cur = hash_numbers(cs, form->hasher, children, arity);
        bits += log2_arity;
        siblings += arity - 1;
    }
    number_equal(cs, &cur, root);
}
