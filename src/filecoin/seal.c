/* See seal.h. Every tree is kept whole, level by level, in one block; paths are read off it. */
#include "filecoin/seal.h"

#include "base/mem.h"
#include "filecoin/public.h"
#include "filecoin/sector.h"
#include "gadget/poseidon.h"
#include <string.h>

#define TASK_NODES 64 /* hashes per task */

struct tree {
    uint32_t levels, arities[SECTOR_LEVELS_MAX];
    uint64_t first[SECTOR_LEVELS_MAX + 1]; /* place of each level's first node; the root is the last */
    bool binary;                           /* tree_d */
    uint8_t (*nodes)[32];
};

struct sealed {
    const struct seal_request *request;
    const struct sector_size *sector;
    uint64_t nodes;
    struct graph graph;
    uint8_t replica_id[32];
    uint8_t (*labels)[32]; /* layer by layer */
    struct tree d, c, r;
    struct tree *tree; /* under construction */
    uint32_t level;
};

static struct status tree_start(struct tree *t, const uint32_t *arities, uint32_t levels, uint64_t leaves,
                                bool binary)
{
    uint64_t count = leaves, total = 0;
    t->levels = levels;
    t->binary = binary;
    for (uint32_t i = 0; i < levels; i++) {
        t->arities[i] = arities[i];
        t->first[i] = total;
        total += count;
        count /= arities[i];
    }
    CHECK(count == 1);
    t->first[levels] = total;
    t->nodes = mem_alloc(total + 1, 32);
    return t->nodes ? status_ok() : mem_failed("tree", total + 1, 32);
}

static void hash_task(void *context, size_t task)
{
    const struct sealed *s = context;
    const struct tree *t = s->tree;
    const uint32_t arity = t->arities[s->level];
    uint64_t end = (t->first[s->level + 1] - t->first[s->level]) / arity;
    for (uint64_t i = task * TASK_NODES; i < end && i < (task + 1) * TASK_NODES; i++) {
        uint8_t(*in)[32] = &t->nodes[t->first[s->level] + i * arity],
        *out = t->nodes[t->first[s->level + 1] + i];
        fr group[SECTOR_ARITY_MAX], hash;
        if (t->binary) {
            hash_nodes(out, in[0], in[1]);
            continue;
        }
        for (uint32_t k = 0; k < arity; k++)
            CHECK(fr_from_bytes(&group[k], in[k]));
        poseidon_hash(&hash, poseidon_of(arity), group);
        fr_to_bytes(out, &hash);
    }
}

static struct status tree_hash(struct sealed *s, struct tree *t, const struct work *work)
{
    s->tree = t;
    for (s->level = 0; s->level < t->levels; s->level++) {
        uint64_t count = (t->first[s->level + 1] - t->first[s->level]) / t->arities[s->level];
        if (!pool_run(work, hash_task, s, (count + TASK_NODES - 1) / TASK_NODES))
            return work_cancelled_status();
    }
    return status_ok();
}

static const uint8_t *tree_root(const struct tree *t)
{
    return t->nodes[t->first[t->levels]];
}

static void tree_prove(struct merkle_proof *out, const struct tree *t, uint64_t leaf)
{
    memcpy(out->root, tree_root(t), 32);
    memcpy(out->leaf, t->nodes[leaf], 32);
    for (uint32_t i = 0; i < t->levels; i++) {
        struct path_element *e = &out->path[i];
        uint64_t group = leaf - leaf % e->arity;
        e->index = (uint32_t)(leaf % e->arity);
        for (uint32_t k = 0, sibling = 0; k < e->arity; k++)
            if (k != e->index)
                memcpy(e->siblings[sibling++], t->nodes[t->first[i] + group + k], 32);
        leaf /= e->arity;
    }
}

static uint8_t *label_at(const struct sealed *s, uint32_t layer, uint64_t node)
{
    return s->labels[(layer - 1) * s->nodes + node];
}

/* Pointers to the labels that label(layer, node) hashes; returns their number. */
static uint32_t label_values(const struct sealed *s, const uint8_t *values[PARENTS], uint32_t layer,
                             uint64_t node)
{
    uint32_t parents[PARENTS];
    if (node == 0)
        return 0;
    graph_parents(&s->graph, parents, node);
    for (uint32_t i = 0; i < DRG_PARENTS; i++)
        values[i] = label_at(s, layer, parents[i]);
    for (uint32_t i = DRG_PARENTS; layer > 1 && i < PARENTS; i++)
        values[i] = label_at(s, layer - 1, parents[i]);
    return layer > 1 ? PARENTS : DRG_PARENTS;
}

static struct status make_labels(struct sealed *s, const struct work *work)
{
    for (uint32_t l = 1; l <= s->sector->layers; l++) {
        for (uint64_t v = 0; v < s->nodes; v++) {
            const uint8_t *values[PARENTS];
            uint32_t count = label_values(s, values, l, v);
            label_hash(label_at(s, l, v), s->replica_id, l, v, values, count, NULL);
            if (v % 4096 == 0 && work_cancelled(work))
                return work_cancelled_status();
        }
    }
    return status_ok();
}

static void data_task(void *context, size_t task)
{
    const struct sealed *s = context;
    for (uint64_t v = task * TASK_NODES; v < s->nodes && v < (task + 1) * TASK_NODES; v++) {
        s->request->data(s->request->context, v, s->d.nodes[v]);
        CHECK((s->d.nodes[v][31] & 0xc0) == 0);
    }
}

/* Leaves of tree_c and tree_r_last. */
static void leaf_task(void *context, size_t task)
{
    const struct sealed *s = context;
    const uint32_t layers = s->sector->layers;
    for (uint64_t v = task * TASK_NODES; v < s->nodes && v < (task + 1) * TASK_NODES; v++) {
        fr column[LAYERS_MAX], hash, data;
        for (uint32_t l = 1; l <= layers; l++)
            CHECK(fr_from_bytes(&column[l - 1], label_at(s, l, v)));
        poseidon_hash(&hash, poseidon_of(layers), column);
        fr_to_bytes(s->c.nodes[v], &hash);
        CHECK(fr_from_bytes(&data, s->d.nodes[v]));
        fr_add(&data, &data, &column[layers - 1]);
        fr_to_bytes(s->r.nodes[v], &data);
    }
}

static void prove_column(const struct sealed *s, struct column_proof *out, uint32_t node)
{
    out->index = node;
    for (uint32_t l = 1; l <= s->sector->layers; l++)
        memcpy(out->rows[l - 1], label_at(s, l, node), 32);
    tree_prove(&out->inclusion, &s->c, node);
}

static void prove_node(const struct sealed *s, struct vanilla_proof *p, uint64_t node)
{
    uint32_t parents[PARENTS], layers = s->sector->layers;
    tree_prove(&p->comm_d, &s->d, node);
    tree_prove(&p->comm_r_last, &s->r, node);
    prove_column(s, &p->c_x, (uint32_t)node);
    graph_parents(&s->graph, parents, node);
    for (uint32_t i = 0; i < PARENTS; i++)
        prove_column(s, &p->parents[i], parents[i]);
    for (uint32_t l = 1; l <= layers; l++) {
        struct labeling_proof *proof = &p->labels[l - 1];
        const uint8_t *values[PARENTS];
        uint8_t label[32];
        uint32_t count = label_values(s, values, l, node);
        proof->layer = l;
        proof->node = node;
        label_hash(label, s->replica_id, l, node, values, count, proof->parents);
    }
    p->encoding.layer = layers;
    p->encoding.node = node;
    memcpy(p->encoding.parents, p->labels[layers - 1].parents, 32 * LABEL_INPUTS);
}

/* Trees of data and replica. */
static struct status allocate_data_trees(struct sealed *s)
{
    uint32_t arities[SECTOR_LEVELS_MAX], binary[SECTOR_LEVELS_MAX];
    uint32_t levels = sector_arities(arities, s->sector);
    for (uint32_t i = 0; i < s->sector->log2_nodes; i++)
        binary[i] = 2;
    TRY(tree_start(&s->d, binary, s->sector->log2_nodes, s->nodes, true));
    return tree_start(&s->r, arities, levels, s->nodes, false);
}

static struct status allocate(struct sealed *s)
{
    uint32_t arities[SECTOR_LEVELS_MAX], levels = sector_arities(arities, s->sector);
    s->labels = mem_alloc(s->sector->layers * s->nodes, 32);
    if (!s->labels)
        return mem_failed("labels", s->sector->layers * s->nodes, 32);
    TRY(tree_start(&s->c, arities, levels, s->nodes, false));
    return allocate_data_trees(s);
}

static void find_replica_id(struct sealed *s, const uint8_t id[32])
{
    uint8_t prover[32];
    prover_id(prover, s->request->miner);
    replica_id(s->replica_id, prover, s->request->sector_number, s->request->ticket, tree_root(&s->d), id);
}

static void commit(uint8_t comm_r[32], const struct tree *c, const struct tree *r)
{
    fr roots[2], hash;
    CHECK(fr_from_bytes(&roots[0], tree_root(c)) && fr_from_bytes(&roots[1], tree_root(r)));
    poseidon_hash(&hash, poseidon_of(2), roots);
    fr_to_bytes(comm_r, &hash);
}

static struct status seal(struct sealed *s, const struct work *work)
{
    const struct seal_request *q = s->request;
    const size_t tasks = (s->nodes + TASK_NODES - 1) / TASK_NODES;
    uint8_t id[32];
    TRY(allocate(s));
    porep_id(id, q->seal->number);
    graph_init(&s->graph, id, s->sector->log2_nodes, q->seal->api);
    if (!pool_run(work, data_task, s, tasks))
        return work_cancelled_status();
    TRY(tree_hash(s, &s->d, work));
    find_replica_id(s, id);
    TRY(make_labels(s, work));
    if (!pool_run(work, leaf_task, s, tasks))
        return work_cancelled_status();
    TRY(tree_hash(s, &s->c, work));
    return tree_hash(s, &s->r, work);
}

struct status sealed_start(struct sealed **out, const struct seal_request *request, const struct work *work)
{
    const struct sector_size *sector = request->sector ? request->sector : request->seal->sector;
    *out = NULL;
    if (sector_bytes(sector) > UINT64_C(16) << 20)
        return status_error(STATUS_UNSUPPORTED,
                            "sealing a %s sector here is not possible: 16 MiB is the most", sector->name);
    struct sealed *s = mem_alloc_zero(1, sizeof *s);
    if (!s)
        return mem_failed("sector", 1, sizeof *s);
    s->request = request;
    s->sector = sector;
    s->nodes = sector_nodes(sector);
    struct status status = seal(s, work);
    if (status_failed(&status))
        sealed_end(s);
    else
        *out = s;
    return status;
}

static void free_trees(struct sealed *s)
{
    mem_free(s->labels);
    mem_free(s->d.nodes);
    mem_free(s->c.nodes);
    mem_free(s->r.nodes);
}

void sealed_end(struct sealed *s)
{
    if (!s)
        return;
    free_trees(s);
    mem_free(s);
}

/* ---- proofs of the sector ---- */

static struct status prove_c1(struct c1 *out, const struct sealed *s)
{
    const struct seal_request *q = s->request;
    struct porep_public public;
    out->seal = q->seal;
    out->sector_number = q->sector_number;
    memcpy(out->comm_d, tree_root(&s->d), 32);
    memcpy(out->replica_id, s->replica_id, 32);
    memcpy(out->seed, q->seed, 32);
    memcpy(out->ticket, q->ticket, 32);
    commit(out->comm_r, &s->c, &s->r);
    TRY(porep_public_from_c1(&public, out));
    for (uint32_t k = 0; k < out->partitions; k++)
        for (uint32_t i = 0; i < out->challenges; i++)
            prove_node(s, c1_proof(out, k, i), porep_challenge(&public, k, i));
    return status_ok();
}

struct status sealed_c1(struct c1 *out, const struct sealed *s)
{
    TRY(c1_start(out, s->sector));
    struct status status = prove_c1(out, s);
    if (status_failed(&status))
        c1_end(out);
    return status;
}

static const uint8_t *tree_node(const void *tree, uint32_t level, uint64_t position)
{
    const struct tree *t = tree;
    return t->nodes[t->first[level] + position];
}

void sealed_post(uint8_t *out, const struct sealed *s, const struct registered_post *registered,
                 const uint8_t randomness[32], uint32_t partition_index, uint32_t position)
{
    CHECK(registered->sector == s->sector);
    post_write_sector(out, registered, randomness, partition_index, position, s->request->sector_number,
                      tree_root(&s->c), tree_node, &s->r);
}

/* ---- updates ---- */

struct update {
    const struct sealed *old;
    struct sealed new; /* its data and replica trees only */
    const struct snap_size *size;
    fr phi;
};

static void encode_task(void *context, size_t task)
{
    struct update *u = context;
    const uint64_t block = u->new.nodes >> u->size->height;
    fr rho, data, old;
    for (uint64_t v = task * TASK_NODES; v < u->new.nodes &&v < (task + 1) * TASK_NODES; v++) {
        if (v == task * TASK_NODES || v % block == 0)
            snap_rho(&rho, &u->phi, u->size, v);
        CHECK(fr_from_bytes(&data, u->new.d.nodes[v]) && fr_from_bytes(&old, u->old->r.nodes[v]));
        fr_mul(&data, &data, &rho);
        fr_add(&data, &data, &old);
        fr_to_bytes(u->new.r.nodes[v], &data);
    }
}

static struct status encode(struct update *u, struct fabricated_snap *out, const struct work *work)
{
    struct sealed *s = &u->new;
    const size_t tasks = (s->nodes + TASK_NODES - 1) / TASK_NODES;
    TRY(allocate_data_trees(s));
    if (!pool_run(work, data_task, s, tasks))
        return work_cancelled_status();
    TRY(tree_hash(s, &s->d, work));
    commit(out->comm_r_old, &u->old->c, &u->old->r);
    memcpy(out->comm_d_new, tree_root(&s->d), 32);
    snap_phi(&u->phi, out->comm_d_new, out->comm_r_old);
    if (!pool_run(work, encode_task, u, tasks))
        return work_cancelled_status();
    TRY(tree_hash(s, &s->r, work));
    commit(out->comm_r_new, &u->old->c, &s->r);
    return status_ok();
}

struct status sealed_update(struct fabricated_snap *out, const struct sealed *s, const struct snap_size *size,
                            seal_data *data, void *context, const struct work *work)
{
    struct seal_request request = {.data = data, .context = context};
    struct update u = {.old = s, .size = size};
    CHECK(size->sector == s->sector);
    u.new.request = &request;
    u.new.sector = s->sector;
    u.new.nodes = s->nodes;
    *out = (struct fabricated_snap){.partitions = snap_partitions(size),
                                    .partition_bytes = snap_partition_bytes(size)};
    struct status status = encode(&u, out, work);
    if (!status_failed(&status)) {
        out->vanilla = mem_alloc(out->partitions, out->partition_bytes);
        if (!out->vanilla)
            status = mem_failed("vanilla proofs", out->partitions, out->partition_bytes);
    }
    const struct snap_trees trees = {tree_node, &s->r, &u.new.d, &u.new.r};
    for (uint32_t k = 0; k < out->partitions && !status_failed(&status); k++)
        snap_write_partition(out->vanilla + k * out->partition_bytes, size, k, tree_root(&s->c),
                             out->comm_r_new, &trees);
    free_trees(&u.new);
    return status;
}

struct status seal_small(struct c1 *out, const struct seal_request *request, const struct work *work)
{
    struct sealed *s;
    memset(out, 0, sizeof *out);
    struct status status = sealed_start(&s, request, work);
    if (!status_failed(&status))
        status = sealed_c1(out, s);
    sealed_end(s);
    return status;
}
