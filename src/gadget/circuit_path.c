/* Merkle paths in a walk: one instance per Poseidon level, three and more per SHA-256 level. Seeds are index
 * bits and siblings; for SHA-256 the nodes are hashed on the way, because blocks want their words as hints.
 */
#include "gadget/circuit_internal.h"

#include "gadget/insert_values.h"
#include "gadget/poseidon.h"
#include <string.h>

/* The index bits of the path, as runs of variables. */
struct path_walk {
    struct circuit *c;
    const struct tree_form *form;
    const fr *siblings;     /* of this level; NULL without values */
    uint64_t index;         /* what is left of the leaf's number */
    struct port_list ports; /* index bits so far */
};

/* Places the head of a level: index bits, siblings. */
static uint32_t place_level(struct path_walk *w, enum template_kind kind, uint32_t arity, uint32_t log2_arity,
                            variable node, uint32_t out[8])
{
    struct template_key key = {kind, {arity}};
    struct port_list ports;
    ports_clear(&ports);
    ports_number(&ports, node);
    uint32_t first = circuit_place(w->c, &key, &ports, out);
    ports_bits(&w->ports, variable_aux(first), log2_arity);
    return first;
}

static void seed_level(struct path_walk *w, uint32_t arity, uint32_t log2_arity)
{
    seeds_bits(w->c->seeds, w->index & (arity - 1), log2_arity);
    for (uint32_t i = 0; i + 1 < arity; i++)
        seeds_field(w->c->seeds, &w->siblings[i]);
}

static struct number poseidon_level(struct path_walk *w, uint32_t arity, uint32_t log2_arity,
                                    const struct number *node)
{
    uint32_t out[8], placed = 0;
    if (w->c->builder)
        placed = place_level(w, TEMPLATE_PATH_ELEMENT, arity, log2_arity, node->v, out) + out[0];
    if (w->c->seeds)
        seed_level(w, arity, log2_arity);
    return (struct number){.v = variable_aux(placed)};
}

static struct number sha_level(struct path_walk *w, uint32_t arity, uint32_t log2_arity,
                               const struct number *node)
{
    struct circuit *c = w->c;
    struct bits children[8];
    uint32_t out[8], first = 0;
    memset(children, 0, sizeof children);
    if (c->builder) {
        first = place_level(w, TEMPLATE_SHA_PATH_HEAD, arity, log2_arity, node->v, out);
        for (uint32_t i = 0; i < arity; i++)
            children[i].first = variable_aux(first + out[i]);
    }
    if (c->seeds) {
        CHECK(node->known);
        seed_level(w, arity, log2_arity);
    }
    const fr *sibling = w->siblings;
    for (uint32_t i = 0; i < arity; i++) {
        children[i].count = FR_BITS;
        if (c->seeds) {
            fr_int value;
            fr_to_int(&value, i == (w->index & (arity - 1)) ? &node->value : sibling++);
            memcpy(children[i].values, value.l, sizeof value.l);
        }
    }
    return circuit_sha_decomposed(c, children, arity);
}

/* The template form of a path; the computed root. */
static struct number walk_path(struct path_walk *w, const struct number *leaf)
{
    struct number node = *leaf;
    for (uint32_t level = 0; level < tree_form_levels(w->form); level++) {
        uint32_t arity = tree_form_arity(w->form, level), log2_arity = tree_form_log2_arity(w->form, level);
        CHECK(arity == 2 || arity == 4 || arity == 8);
        node = (w->form->hasher == HASHER_POSEIDON ? poseidon_level : sha_level)(w, arity, log2_arity, &node);
        w->index >>= log2_arity;
        if (w->siblings)
            w->siblings += arity - 1;
    }
    return node;
}

static struct number start_and_walk(struct path_walk *w, struct circuit *c, const struct tree_form *form,
                                    const struct number *leaf, const struct tree_path *path)
{
    CHECK(path || !circuit_has_values(c));
    uint32_t log2_leaves = tree_form_log2_leaves(form);
    CHECK(log2_leaves >= 1 && log2_leaves <= 64);
    w->c = c;
    w->form = form;
    w->siblings = path ? path->siblings : NULL;
    w->index = path ? path->leaf : 0;
    CHECK(log2_leaves == 64 || w->index >> log2_leaves == 0);
    ports_clear(&w->ports);
    return walk_path(w, leaf);
}

/* The packed index as the next input. */
static void add_index_input(struct path_walk *w, const struct tree_path *path)
{
    fr value;
    if (w->c->seeds) {
        fr_from_u64(&value, path->leaf);
        seeds_input(w->c->seeds, &value);
    }
    if (w->c->builder && circuit_ok(w->c))
        ports_number(&w->ports, shape_builder_input(w->c->builder));
}

void circuit_por(struct circuit *c, const struct tree_form *form, const struct number *leaf,
                 const struct tree_path *path, const struct number *root)
{
    struct path_walk w;
    if (c->cs)
        por_circuit(c->cs, form, leaf, path, root);
    if (!c->builder && !c->seeds)
        return;
    struct number computed = start_and_walk(&w, c, form, leaf, path);
    add_index_input(&w, path);
    if (c->builder) {
        struct template_key key = {TEMPLATE_PATH_END, {tree_form_log2_leaves(form)}};
        ports_number(&w.ports, computed.v);
        ports_number(&w.ports, root->v);
        circuit_place(c, &key, &w.ports, NULL);
    }
}

/* ---- paths whose every part exists ---- */

/* Inserts the node among its siblings; the children as numbers. */
static void insert_existing(struct circuit *c, struct number children[8], const struct joined_bits *index,
                            uint32_t arity, const struct number *node, const struct number *siblings)
{
    fr picks[20], sibling_values[7], values[8];
    uint32_t out[8] = {0}, first = 0;
    bool known = node->known;
    for (uint32_t i = 0; i + 1 < arity; i++) {
        sibling_values[i] = siblings[i].value;
        known &= siblings[i].known;
    }
    insert_values(picks, values, joined_count(index), (uint32_t)joined_value(index), &node->value,
                  sibling_values);
    if (c->builder) {
        struct template_key key = {TEMPLATE_INSERT, {arity}};
        struct port_list ports;
        ports_clear(&ports);
        ports_joined(&ports, index);
        ports_number(&ports, node->v);
        for (uint32_t i = 0; i + 1 < arity; i++)
            ports_number(&ports, siblings[i].v);
        first = circuit_place(c, &key, &ports, out);
    }
    for (uint32_t i = 0; i < arity; i++)
        children[i] = (struct number){.v = variable_aux(first + out[i]), .known = known, .value = values[i]};
}

void circuit_por_existing(struct circuit *c, const struct tree_form *form, const struct bits *index,
                          const struct number *leaf, const struct number *siblings, const struct number *root)
{
    struct joined_bits joined = {.low = *index};
    circuit_por_joined(c, form, &joined, leaf, siblings, root);
}

void circuit_por_joined(struct circuit *c, const struct tree_form *form, const struct joined_bits *index,
                        const struct number *leaf, const struct number *siblings, const struct number *root)
{
    struct cs *cs = c->cs;
    struct number node = *leaf, children[8];
    uint32_t used = 0;
    CHECK(joined_count(index) == tree_form_log2_leaves(form));
    if (cs) {
        struct boolean booleans[256];
        joined_to_booleans(booleans, index);
        por_no_challenge_circuit(cs, form, booleans, leaf, siblings, root);
    }
    if (!c->builder && !c->seeds)
        return;
    c->cs = NULL; /* the generic form has run as a whole */
    for (uint32_t level = 0; level < tree_form_levels(form); level++) {
        uint32_t arity = tree_form_arity(form, level), log2_arity = tree_form_log2_arity(form, level);
        struct joined_bits here = joined_slice(index, used, log2_arity);
        CHECK(arity == 2 || arity == 4 || arity == 8);
        insert_existing(c, children, &here, arity, &node, siblings);
        if (form->hasher == HASHER_POSEIDON)
            node = circuit_poseidon(c, children, arity);
        else
            node = circuit_sha_numbers(c, children, arity);
        used += log2_arity;
        siblings += arity - 1;
    }
    circuit_equal(c, &node, root);
    c->cs = cs;
}

/* ---- paths with leaf and root of their own ---- */

void circuit_por_values(struct circuit *c, const struct tree_form *form, const fr *leaf,
                        const struct tree_path *path, const fr *root, bool private_root)
{
    struct cs *cs = c->cs;
    struct path_walk w;
    if (cs)
        por_circuit_values(cs, form, leaf, path, root, private_root);
    if (!c->builder && !c->seeds)
        return;
    c->cs = NULL; /* the generic form has run as a whole */
    struct number leaf_number = circuit_number(c, leaf);
    struct number computed = start_and_walk(&w, c, form, &leaf_number, path);
    add_index_input(&w, path);
    if (c->builder) {
        struct template_key key = {TEMPLATE_PACK_INPUT, {tree_form_log2_leaves(form)}};
        circuit_place(c, &key, &w.ports, NULL);
    }
    struct number root_number = circuit_number(c, root);
    circuit_equal(c, &computed, &root_number);
    if (!private_root)
        circuit_inputize(c, &root_number);
    c->cs = cs;
}
