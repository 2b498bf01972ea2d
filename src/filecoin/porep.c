/* See porep.h. The steps and their order are those of the reference's circuit; each function here is one
 * heading of the specification, section 4. */
#include "filecoin/porep.h"

#include <string.h>

_Static_assert(LABEL_INPUTS == LABEL_PARENTS, "the label gadget takes as many values as a label hashes");

/* Values of one path as field elements. */
#define PATH_SIBLINGS_MAX 80 /* 64 GiB: ten levels of 7 and one of 1; tree_d: 31 */
struct path_values {
    struct tree_path path;
    fr siblings[PATH_SIBLINGS_MAX];
};

struct column {
    struct number rows[LAYERS_MAX];
};

struct walk {
    struct circuit *c;
    const struct sector_size *sector;
    const struct c1 *c1;
    const struct porep_observer *observer;
    uint32_t challenge;
    struct tree_form tree_d, tree;
    struct number comm_d, comm_c, comm_r_last;
    struct bits replica_bits;
};

static void mark(struct walk *w, enum porep_section section, uint32_t number)
{
    if (w->observer)
        w->observer->mark(w->observer->context, w->c, section, w->challenge, number);
}

static fr value_of(const uint8_t bytes[32])
{
    fr x;
    CHECK(fr_from_bytes(&x, bytes));
    return x;
}

static struct number number_of_bytes(struct walk *w, const uint8_t *bytes)
{
    if (!bytes)
        return circuit_number(w->c, NULL);
    fr x = value_of(bytes);
    return circuit_number(w->c, &x);
}

/* PoR over a path of the C1 output; m is NULL without values. */
static void prove_path(struct walk *w, const struct tree_form *form, const struct number *leaf,
                       const struct merkle_proof *m, const struct number *root)
{
    if (!m) {
        circuit_por(w->c, form, leaf, NULL, root);
        return;
    }
    struct path_values v = {.path = {0, v.siblings}};
    uint32_t bits = 0, count = 0;
    for (uint32_t i = 0; i < m->length; i++) {
        const struct path_element *e = &m->path[i];
        v.path.leaf |= (uint64_t)e->index << bits;
        bits += (uint32_t)__builtin_ctz(e->arity);
        CHECK(count + e->arity - 1 <= PATH_SIBLINGS_MAX);
        for (uint32_t k = 0; k + 1 < e->arity; k++)
            v.siblings[count++] = value_of(e->siblings[k]);
    }
    circuit_por(w->c, form, leaf, &v.path, root);
}

/* Rows, hash and path of a parent's column. */
static void prove_parent(struct walk *w, struct column *column, const struct column_proof *p, uint32_t parent)
{
    fr rows[LAYERS_MAX];
    const uint32_t layers = w->sector->layers;
    for (uint32_t l = 0; p && l < layers; l++)
        rows[l] = value_of(p->rows[l]);
    circuit_numbers(w->c, column->rows, p ? rows : NULL, layers);
    struct number hash = circuit_poseidon(w->c, column->rows, layers);
    mark(w, POREP_PARENT_HASH, parent);
    prove_path(w, &w->tree, &hash, p ? &p->inclusion : NULL, &w->comm_c);
    mark(w, POREP_PARENT_PATH, parent);
}

/* The label of the challenged node at a layer. Every layer takes its parents apart anew. */
static struct number prove_label(struct walk *w, const struct column *columns, const struct bits *node,
                                 uint32_t layer)
{
    struct bits bits[PARENTS];
    const struct bits *inputs[LABEL_INPUTS];
    const uint32_t count = layer == 1 ? DRG_PARENTS : PARENTS;
    for (uint32_t i = 0; i < count; i++)
        bits[i] = circuit_to_bits(w->c, &columns[i].rows[i < DRG_PARENTS ? layer - 1 : layer - 2]);
    for (uint32_t i = 0; i < LABEL_INPUTS; i++)
        inputs[i] = &bits[i % count];
    mark(w, POREP_LABEL_BITS, layer - 1);
    struct number label = circuit_label(w->c, &w->replica_bits, inputs, layer, node);
    mark(w, POREP_LABEL, layer - 1);
    return label;
}

static void prove_challenge(struct walk *w, const struct vanilla_proof *p)
{
    struct column columns[PARENTS];
    struct number labels[LAYERS_MAX];
    const uint32_t layers = w->sector->layers;
    struct number data = number_of_bytes(w, p ? p->comm_d.leaf : NULL);
    prove_path(w, &w->tree_d, &data, p ? &p->comm_d : NULL, &w->comm_d);
    mark(w, POREP_TREE_D, 0);
    for (uint32_t i = 0; i < PARENTS; i++)
        prove_parent(w, &columns[i], p ? &p->parents[i] : NULL, i);
    struct bits node = circuit_uint64(w->c, p ? p->labels[0].node : 0);
    circuit_pack_input(w->c, &node);
    mark(w, POREP_NODE, 0);
    for (uint32_t l = 1; l <= layers; l++)
        labels[l - 1] = prove_label(w, columns, &node, l);
    struct number replica = circuit_encode(w->c, &labels[layers - 1], &data);
    mark(w, POREP_ENCODE, 0);
    prove_path(w, &w->tree, &replica, p ? &p->comm_r_last : NULL, &w->comm_r_last);
    mark(w, POREP_TREE_R, 0);
    struct number hash = circuit_poseidon(w->c, labels, layers);
    mark(w, POREP_COLUMN_HASH, 0);
    prove_path(w, &w->tree, &hash, p ? &p->c_x.inclusion : NULL, &w->comm_c);
    mark(w, POREP_CHALLENGE, 0);
}

static void prove_top(struct walk *w, uint32_t k)
{
    const struct vanilla_proof *first = w->c1 ? c1_proof(w->c1, k, 0) : NULL;
    struct number replica_id = number_of_bytes(w, w->c1 ? w->c1->replica_id : NULL);
    circuit_inputize(w->c, &replica_id);
    w->replica_bits = circuit_to_bits(w->c, &replica_id);
    mark(w, POREP_REPLICA_BITS, 0);
    w->comm_d = number_of_bytes(w, w->c1 ? w->c1->comm_d : NULL);
    circuit_inputize(w->c, &w->comm_d);
    struct number comm_r = number_of_bytes(w, w->c1 ? w->c1->comm_r : NULL);
    circuit_inputize(w->c, &comm_r);
    w->comm_r_last = number_of_bytes(w, first ? first->comm_r_last.root : NULL);
    w->comm_c = number_of_bytes(w, first ? first->c_x.inclusion.root : NULL);
    mark(w, POREP_COMMITMENTS, 0);
    struct number hash = circuit_hash2(w->c, &w->comm_c, &w->comm_r_last);
    circuit_equal(w->c, &comm_r, &hash);
    mark(w, POREP_TOP, 0);
}

void porep_circuit(struct circuit *c, const struct sector_size *sector, const struct c1 *c1, uint32_t k,
                   const struct porep_observer *observer)
{
    uint32_t arities[SECTOR_LEVELS_MAX];
    uint32_t above = (sector->sub ? 1U : 0U) + (sector->top ? 1U : 0U);
    uint32_t levels = sector_arities(arities, sector);
    CHECK(!c1 || (c1->sector == sector && k < c1->partitions));
    struct walk w = {.c = c, .sector = sector, .c1 = c1, .observer = observer};
    w.tree_d = (struct tree_form){HASHER_SHA256, 2, sector->log2_nodes, 0, 0};
    w.tree = (struct tree_form){HASHER_POSEIDON, 8, levels - above, sector->sub, sector->top};
    prove_top(&w, k);
    for (; w.challenge < sector->challenges; w.challenge++)
        prove_challenge(&w, c1 ? c1_proof(c1, k, w.challenge) : NULL);
}

struct status porep_shape(struct shape **out, const struct sector_size *sector)
{
    struct shape_builder *builder;
    struct circuit c;
    *out = NULL;
    TRY(shape_builder_start(&builder));
    struct status s = circuit_start(&c, builder, NULL, NULL);
    if (!status_failed(&s)) {
        porep_circuit(&c, sector, NULL, 0, NULL);
        s = circuit_end(&c);
    }
    if (status_failed(&s)) {
        shape_builder_abandon(builder);
        return s;
    }
    return shape_builder_finish(out, builder);
}

struct status porep_seeds(struct seeds *out, const struct shape *shape, const struct c1 *c1, uint32_t k)
{
    struct circuit c;
    TRY(seeds_start(out, shape));
    struct status s = circuit_start(&c, NULL, out, NULL);
    if (!status_failed(&s)) {
        porep_circuit(&c, c1->sector, c1, k, NULL);
        s = circuit_end(&c);
    }
    if (status_failed(&s)) {
        seeds_end(out);
        return s;
    }
    CHECK(seeds_complete(out));
    return status_ok();
}
