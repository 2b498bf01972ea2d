/* See fabricate_porep.h. Only nodes that some proof opens exist: the challenged ones, their parents, and the
 * tree nodes above them. All other tree nodes are values of a pseudo-random function of their place, so that
 * a sibling has one value wherever it appears. The order matters: replica_id follows from the data,
 * challenges from replica_id, so the data is periodic and can be opened anywhere; labels of challenged nodes
 * are computed in increasing order, layer by layer, because a DRG parent has a smaller number in the same
 * layer. */
#include "filecoin/fabricate_porep.h"

#include "base/mem.h"
#include "base/sha256.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/sector.h"
#include "gadget/poseidon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN    16 /* period of the data, in nodes */
#define TASK_ITEMS 16 /* groups or columns per task */
#define NODES_MAX  (PARTITIONS_MAX * CHALLENGES_MAX * (1 + PARENTS))

/* Children of one tree node. */
struct group {
    uint64_t index; /* of the parent, in its level */
    uint32_t known; /* bit k: child k lies above an opened leaf; the others are filled */
    uint8_t nodes[SECTOR_ARITY_MAX][32];
    uint8_t hash[32];
};

struct sparse_tree {
    const char *tag;
    uint32_t levels, arities[SECTOR_LEVELS_MAX];
    struct group *groups[SECTOR_LEVELS_MAX]; /* by increasing index */
    size_t counts[SECTOR_LEVELS_MAX];
};

struct fabrication {
    const struct fabricate_porep_request *request;
    const struct sector_size *sector;
    struct graph graph;
    struct challenges challenges;
    uint8_t replica_id[32], ticket[32], seed[32];
    uint8_t data[2 * PATTERN][32];            /* rows of tree_d down to one node, one after the other */
    uint8_t data_tail[SECTOR_LEVELS_MAX][32]; /* the one node of every row above */
    uint64_t nodes[NODES_MAX];                /* challenged nodes and parents, increasing */
    size_t nodes_count;
    uint64_t challenged[PARTITIONS_MAX * CHALLENGES_MAX]; /* distinct, increasing */
    size_t challenged_count;
    uint8_t (*columns)[32]; /* of nodes[i], layer l: [i * layers + l - 1] */
    uint8_t (*leaves)[32];
    struct sparse_tree c, r;
    struct sparse_tree *tree; /* under construction */
    uint32_t level;
    struct c1 *out;
};

/* ---- pseudo-random values ---- */

/* SHA-256 of "TAG", "TAG:A" or "TAG:A:B", after "NAME/" if the instance has a name. */
static void digest_of(uint8_t out[32], const struct fabrication *f, const char *text)
{
    struct sha256 h;
    sha256_begin(&h);
    if (f->request->name != NULL) {
        sha256_add(&h, f->request->name, strlen(f->request->name));
        sha256_add(&h, "/", 1);
    }
    sha256_add(&h, text, strlen(text));
    sha256_end(&h, out);
}

static void fill(uint8_t out[32], const struct fabrication *f, const char *tag, uint64_t a, uint64_t b)
{
    char text[64];
    snprintf(text, sizeof text, "%s:%" PRIu64 ":%" PRIu64, tag, a, b);
    digest_of(out, f, text);
    trim(out);
}

static void fill_data(struct fabrication *f)
{
    for (uint32_t i = 0; i < PATTERN; i++) {
        char text[32];
        snprintf(text, sizeof text, "data:%u", i);
        digest_of(f->data[i], f, text);
        trim(f->data[i]);
    }
    digest_of(f->ticket, f, "ticket");
    digest_of(f->seed, f, "seed");
}

/* ---- tree_d ---- */

/* Node v of row h: rows repeat with the pattern, and are constant from log2(PATTERN) on. */
static const uint8_t *data_node(const struct fabrication *f, uint32_t h, uint64_t v)
{
    uint32_t size = PATTERN, first = 0;
    for (uint32_t i = 0; i < h; i++) {
        if (size == 1)
            return f->data_tail[h];
        first += size;
        size /= 2;
    }
    return f->data[first + v % size];
}

static void hash_data(struct fabrication *f)
{
    uint32_t h = 0, first = 0;
    for (uint32_t size = PATTERN; size > 1; size /= 2, h++) {
        for (uint32_t i = 0; i < size / 2; i++)
            hash_nodes(f->data[first + size + i], f->data[first + 2 * i], f->data[first + 2 * i + 1]);
        first += size;
    }
    memcpy(f->data_tail[h], f->data[first], 32);
    for (; h < f->sector->log2_nodes; h++)
        hash_nodes(f->data_tail[h + 1], f->data_tail[h], f->data_tail[h]);
}

static void prove_data(struct merkle_proof *out, const struct fabrication *f, uint64_t node)
{
    memcpy(out->root, data_node(f, f->sector->log2_nodes, 0), 32);
    memcpy(out->leaf, data_node(f, 0, node), 32);
    for (uint32_t h = 0; h < f->sector->log2_nodes; h++, node /= 2) {
        out->path[h].index = node & 1;
        memcpy(out->path[h].siblings[0], data_node(f, h, node ^ 1), 32);
    }
}

/* ---- sparse trees ---- */

static void group_task(void *context, size_t task)
{
    const struct fabrication *f = context;
    const struct sparse_tree *t = f->tree;
    uint32_t arity = t->arities[f->level];
    for (size_t i = task * TASK_ITEMS; i < t->counts[f->level] && i < (task + 1) * TASK_ITEMS; i++) {
        struct group *g = &t->groups[f->level][i];
        fr children[SECTOR_ARITY_MAX], hash;
        for (uint32_t k = 0; k < arity; k++) {
            if ((g->known >> k & 1) == 0)
                fill(g->nodes[k], f, t->tag, f->level, arity * g->index + k);
            CHECK(fr_from_bytes(&children[k], g->nodes[k]));
        }
        poseidon_hash(&hash, poseidon_of(arity), children);
        fr_to_bytes(g->hash, &hash);
    }
}

/* Sorts known nodes of a level, given by increasing place, into the groups of their parents. */
static struct status group_nodes(struct sparse_tree *t, uint32_t level, const uint64_t *places,
                                 const uint8_t (*values)[32], size_t count)
{
    const uint32_t arity = t->arities[level];
    struct group *groups = mem_alloc_zero(count, sizeof *groups);
    if (groups == NULL)
        return mem_failed("tree", count, sizeof *groups);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || groups[used - 1].index != places[i] / arity)
            groups[used++].index = places[i] / arity;
        uint32_t k = (uint32_t)(places[i] % arity);
        groups[used - 1].known |= 1U << k;
        memcpy(groups[used - 1].nodes[k], values[i], 32);
    }
    t->groups[level] = groups;
    t->counts[level] = used;
    return status_ok();
}

/* Leaves by increasing place; both arrays are used up. */
static struct status tree_build(struct fabrication *f, struct sparse_tree *t, const char *tag,
                                uint64_t *places, uint8_t (*values)[32], size_t count,
                                const struct work *work)
{
    t->tag = tag;
    t->levels = sector_arities(t->arities, f->sector);
    f->tree = t;
    for (f->level = 0; f->level < t->levels; f->level++) {
        TRY(group_nodes(t, f->level, places, (const uint8_t(*)[32])values, count));
        count = t->counts[f->level];
        if (!pool_run(work, group_task, f, (count + TASK_ITEMS - 1) / TASK_ITEMS))
            return work_cancelled_status();
        for (size_t i = 0; i < count; i++) {
            places[i] = t->groups[f->level][i].index;
            memcpy(values[i], t->groups[f->level][i].hash, 32);
        }
    }
    CHECK(count == 1 && places[0] == 0);
    return status_ok();
}

static void tree_end(struct sparse_tree *t)
{
    for (uint32_t i = 0; i < t->levels; i++)
        mem_free(t->groups[i]);
}

static const uint8_t *tree_root(const struct sparse_tree *t)
{
    return t->groups[t->levels - 1][0].hash;
}

static const struct group *find_group(const struct sparse_tree *t, uint32_t level, uint64_t index)
{
    size_t low = 0, high = t->counts[level];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->groups[level][middle].index <= index)
            low = middle;
        else
            high = middle;
    }
    CHECK(t->groups[level][low].index == index);
    return &t->groups[level][low];
}

static void tree_prove(struct merkle_proof *out, const struct sparse_tree *t, uint64_t leaf)
{
    memcpy(out->root, tree_root(t), 32);
    memcpy(out->leaf, find_group(t, 0, leaf / t->arities[0])->nodes[leaf % t->arities[0]], 32);
    for (uint32_t i = 0; i < t->levels; i++) {
        struct path_element *e = &out->path[i];
        const struct group *g = find_group(t, i, leaf / e->arity);
        e->index = (uint32_t)(leaf % e->arity);
        for (uint32_t k = 0, sibling = 0; k < e->arity; k++)
            if (k != e->index)
                memcpy(e->siblings[sibling++], g->nodes[k], 32);
        leaf /= e->arity;
    }
}

/* ---- nodes and columns ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_unique(uint64_t *values, size_t count)
{
    size_t used = 0;
    qsort(values, count, sizeof *values, compare_u64);
    for (size_t i = 0; i < count; i++)
        if (used == 0 || values[used - 1] != values[i])
            values[used++] = values[i];
    return used;
}

static uint32_t challenges_count(const struct fabrication *f)
{
    return f->sector->partitions * f->sector->challenges;
}

static void find_nodes(struct fabrication *f)
{
    for (uint32_t j = 0; j < challenges_count(f); j++)
        f->challenged[j] = challenges_get(&f->challenges, j);
    f->challenged_count = sort_unique(f->challenged, challenges_count(f));
    size_t count = 0;
    for (size_t i = 0; i < f->challenged_count; i++) {
        uint32_t parents[PARENTS];
        graph_parents(&f->graph, parents, f->challenged[i]);
        f->nodes[count++] = f->challenged[i];
        for (uint32_t k = 0; k < PARENTS; k++)
            f->nodes[count++] = parents[k];
    }
    f->nodes_count = sort_unique(f->nodes, count);
}

static uint8_t (*column_of(const struct fabrication *f, uint64_t node))[32]
{
    const uint64_t *at = bsearch(&node, f->nodes, f->nodes_count, sizeof node, compare_u64);
    CHECK(at != NULL);
    return f->columns + (size_t)(at - f->nodes) * f->sector->layers;
}

/* The label of a challenged node from its parents' columns; inputs as in label_hash. */
static void label_of(uint8_t out[32], const struct fabrication *f, uint32_t layer, uint64_t node,
                     uint8_t (*inputs)[32])
{
    uint32_t parents[PARENTS];
    const uint8_t *values[PARENTS];
    graph_parents(&f->graph, parents, node);
    for (uint32_t i = 0; i < DRG_PARENTS; i++)
        values[i] = column_of(f, parents[i])[layer - 1];
    for (uint32_t i = DRG_PARENTS; layer > 1 && i < PARENTS; i++)
        values[i] = column_of(f, parents[i])[layer - 2];
    label_hash(out, f->replica_id, layer, node, values, layer > 1 ? PARENTS : DRG_PARENTS, inputs);
}

static bool is_challenged(const struct fabrication *f, uint64_t node)
{
    return bsearch(&node, f->challenged, f->challenged_count, sizeof node, compare_u64) != NULL;
}

static void column_task(void *context, size_t task)
{
    const struct fabrication *f = context;
    const uint32_t layers = f->sector->layers;
    for (size_t i = task * TASK_ITEMS; i < f->nodes_count && i < (task + 1) * TASK_ITEMS; i++)
        for (uint32_t l = 1; l <= layers && !is_challenged(f, f->nodes[i]); l++)
            fill(f->columns[i * layers + l - 1], f, "label", l, f->nodes[i]);
}

static void column_hash_task(void *context, size_t task)
{
    const struct fabrication *f = context;
    const uint32_t layers = f->sector->layers;
    for (size_t i = task * TASK_ITEMS; i < f->nodes_count && i < (task + 1) * TASK_ITEMS; i++) {
        fr column[LAYERS_MAX], hash;
        for (uint32_t l = 0; l < layers; l++)
            CHECK(fr_from_bytes(&column[l], f->columns[i * layers + l]));
        poseidon_hash(&hash, poseidon_of(layers), column);
        fr_to_bytes(f->leaves[i], &hash);
    }
}

static struct status make_columns(struct fabrication *f, const struct work *work)
{
    const size_t tasks = (f->nodes_count + TASK_ITEMS - 1) / TASK_ITEMS;
    const uint32_t layers = f->sector->layers;
    f->columns = mem_alloc(f->nodes_count * layers, 32);
    f->leaves = mem_alloc(f->nodes_count, 32);
    if (f->columns == NULL || f->leaves == NULL)
        return mem_failed("columns", f->nodes_count, (layers + 1) * (size_t)32);
    if (!pool_run(work, column_task, f, tasks))
        return work_cancelled_status();
    for (uint32_t l = 1; l <= layers; l++)
        for (size_t i = 0; i < f->challenged_count; i++)
            label_of(column_of(f, f->challenged[i])[l - 1], f, l, f->challenged[i], NULL);
    return pool_run(work, column_hash_task, f, tasks) ? status_ok() : work_cancelled_status();
}

static struct status make_trees(struct fabrication *f, const struct work *work)
{
    uint64_t places[NODES_MAX];
    memcpy(places, f->nodes, f->nodes_count * sizeof *places);
    TRY(tree_build(f, &f->c, "C", places, f->leaves, f->nodes_count, work));
    for (size_t i = 0; i < f->challenged_count; i++) {
        fr data, key;
        CHECK(fr_from_bytes(&data, data_node(f, 0, f->challenged[i])));
        CHECK(fr_from_bytes(&key, column_of(f, f->challenged[i])[f->sector->layers - 1]));
        fr_add(&data, &data, &key);
        fr_to_bytes(f->leaves[i], &data);
        places[i] = f->challenged[i];
    }
    return tree_build(f, &f->r, "R", places, f->leaves, f->challenged_count, work);
}

/* ---- proofs ---- */

static void prove_column(struct column_proof *out, const struct fabrication *f, uint64_t node)
{
    out->index = (uint32_t)node;
    memcpy(out->rows, column_of(f, node), f->sector->layers * (size_t)32);
    tree_prove(&out->inclusion, &f->c, node);
}

static void prove_task(void *context, size_t task)
{
    const struct fabrication *f = context;
    const uint32_t layers = f->sector->layers;
    struct vanilla_proof *p = &f->out->proofs[task];
    uint64_t node = challenges_get(&f->challenges, (uint32_t)task);
    uint32_t parents[PARENTS];
    uint8_t label[32];
    prove_data(&p->comm_d, f, node);
    tree_prove(&p->comm_r_last, &f->r, node);
    prove_column(&p->c_x, f, node);
    graph_parents(&f->graph, parents, node);
    for (uint32_t i = 0; i < PARENTS; i++)
        prove_column(&p->parents[i], f, parents[i]);
    for (uint32_t l = 1; l <= layers; l++) {
        p->labels[l - 1].layer = l;
        p->labels[l - 1].node = node;
        label_of(label, f, l, node, p->labels[l - 1].parents);
    }
    p->encoding.layer = layers;
    p->encoding.node = node;
    memcpy(p->encoding.parents, p->labels[layers - 1].parents, LABEL_INPUTS * (size_t)32);
}

static struct status start(struct fabrication *f)
{
    const struct fabricate_porep_request *q = f->request;
    uint8_t prover[32], id[32];
    if (q->seal->feature != SEAL_INTERACTIVE)
        return status_hint(status_error(STATUS_UNSUPPORTED,
                                        "%s cannot be fabricated: its challenges depend on comm_r, which "
                                        "depends on the labels of the challenged nodes",
                                        q->seal->name),
                           "seal a small sector honestly, or fabricate an interactive proof");
    fill_data(f);
    hash_data(f);
    porep_id(id, q->seal->number);
    prover_id(prover, q->miner);
    replica_id(f->replica_id, prover, q->sector_number, f->ticket, data_node(f, f->sector->log2_nodes, 0),
               id);
    graph_init(&f->graph, id, f->sector->log2_nodes, q->seal->api);
    return challenges_start(&f->challenges, SEAL_INTERACTIVE, f->sector->log2_nodes, f->replica_id, f->seed,
                            f->seed);
}

static struct status fabricate(struct fabrication *f, const struct work *work)
{
    TRY(start(f));
    find_nodes(f);
    TRY(make_columns(f, work));
    TRY(make_trees(f, work));
    TRY(c1_start(f->out, f->sector));
    f->out->seal = f->request->seal;
    f->out->sector_number = f->request->sector_number;
    memcpy(f->out->comm_d, data_node(f, f->sector->log2_nodes, 0), 32);
    memcpy(f->out->replica_id, f->replica_id, 32);
    memcpy(f->out->seed, f->seed, 32);
    memcpy(f->out->ticket, f->ticket, 32);
    fr roots[2], hash;
    CHECK(fr_from_bytes(&roots[0], tree_root(&f->c)) && fr_from_bytes(&roots[1], tree_root(&f->r)));
    poseidon_hash(&hash, poseidon_of(2), roots);
    fr_to_bytes(f->out->comm_r, &hash);
    return pool_run(work, prove_task, f, challenges_count(f)) ? status_ok() : work_cancelled_status();
}

struct status fabricate_porep(struct c1 *out, const struct fabricate_porep_request *request,
                              const struct work *work)
{
    memset(out, 0, sizeof *out);
    struct fabrication *f = mem_alloc_zero(1, sizeof *f);
    if (f == NULL)
        return mem_failed("fabrication", 1, sizeof *f);
    f->request = request;
    f->sector = request->sector != NULL ? request->sector : request->seal->sector;
    f->out = out;
    struct status s = fabricate(f, work);
    if (status_failed(&s))
        c1_end(out);
    tree_end(&f->c);
    tree_end(&f->r);
    mem_free(f->columns);
    mem_free(f->leaves);
    mem_free(f);
    return s;
}
