/* See check.h. A challenge is sixteen tasks of about a millisecond: fifteen columns, and the rest. A failing
 * task only notes its number; the lowest one is run again alone for its text, so that threads share nothing
 * but that number. */
#include "filecoin/check.h"

#include "filecoin/sector.h"
#include "gadget/poseidon.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PARTS (2 + PARENTS) /* the rest, c_x, parents */

struct check {
    const struct c1 *c1;
    const struct porep_public *public;
    atomic_uint_fast64_t failed; /* lowest failing task */
};

static bool same(const uint8_t a[32], const uint8_t b[32])
{
    return memcmp(a, b, 32) == 0;
}

static __attribute__((format(printf, 1, 2), cold)) struct status bad(const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return status_hint(status_error(STATUS_INVALID, "%s", text),
                       "the C1 output is damaged, or belongs to another sector, seed or proof type");
}

/* Climbs a path by Poseidon. Hashes are canonical: the parser has seen to that. */
static void climb(uint8_t root[32], const struct merkle_proof *m)
{
    fr node, group[SECTOR_ARITY_MAX];
    CHECK(fr_from_bytes(&node, m->leaf));
    for (uint32_t i = 0; i < m->length; i++) {
        const struct path_element *e = &m->path[i];
        for (uint32_t k = 0, sibling = 0; k < e->arity; k++) {
            if (k == e->index)
                group[k] = node;
            else
                CHECK(fr_from_bytes(&group[k], e->siblings[sibling++]));
        }
        poseidon_hash(&node, poseidon_of(e->arity), group);
    }
    fr_to_bytes(root, &node);
}

static void climb_binary(uint8_t root[32], const struct merkle_proof *m)
{
    memcpy(root, m->leaf, 32);
    for (uint32_t i = 0; i < m->length; i++) {
        const struct path_element *e = &m->path[i];
        uint8_t node[32];
        memcpy(node, root, 32);
        if (e->index)
            hash_nodes(root, e->siblings[0], node);
        else
            hash_nodes(root, node, e->siblings[0]);
    }
}

static struct status check_path(const char *name, const struct merkle_proof *m, bool binary, uint64_t leaf,
                                const uint8_t root[32], const char *root_name)
{
    uint8_t computed[32];
    uint64_t number = merkle_leaf_number(m);
    if (number != leaf)
        return bad("%s: the path leads to leaf %llu, not %llu", name, (unsigned long long)number,
                   (unsigned long long)leaf);
    if (!same(m->root, root))
        return bad("%s: the root is not %s", name, root_name);
    if (binary)
        climb_binary(computed, m);
    else
        climb(computed, m);
    if (!same(computed, root))
        return bad("%s: leaf and path do not lead to the root", name);
    return status_ok();
}

static struct status check_column(const struct check *x, const struct vanilla_proof *p, uint32_t column,
                                  uint64_t challenge)
{
    char name[40] = "c_x";
    uint64_t node = challenge;
    const struct column_proof *c = &p->c_x;
    uint32_t layers = x->c1->sector->layers;
    fr rows[LAYERS_MAX], hash;
    uint8_t bytes[32];
    if (column > 0) {
        uint32_t parents[PARENTS], i = column - 1;
        graph_parents(&x->public->graph, parents, challenge);
        node = parents[i];
        c = &p->parents[i];
        snprintf(name, sizeof name, "%s[%u]", i < DRG_PARENTS ? "drg_parents" : "exp_parents",
                 i < DRG_PARENTS ? i : i - DRG_PARENTS);
    }
    if (c->index != node)
        return bad("%s: the column's index is %u, not %llu", name, c->index, (unsigned long long)node);
    for (uint32_t l = 0; l < layers; l++)
        CHECK(fr_from_bytes(&rows[l], c->rows[l]));
    poseidon_hash(&hash, poseidon_of(layers), rows);
    fr_to_bytes(bytes, &hash);
    if (!same(bytes, c->inclusion.leaf))
        return bad("%s: the leaf is not the hash of the column", name);
    return check_path(name, &c->inclusion, false, node, x->c1->proofs[0].c_x.inclusion.root,
                      "comm_c of the first proof");
}

static struct status check_labels(const struct check *x, const struct vanilla_proof *p, uint64_t challenge)
{
    const uint32_t layers = x->c1->sector->layers;
    uint8_t label[32], inputs[LABEL_INPUTS][32];
    for (uint32_t l = 1; l <= layers; l++) {
        const struct labeling_proof *given = &p->labels[l - 1];
        const uint8_t *values[PARENTS];
        for (uint32_t i = 0; i < DRG_PARENTS; i++)
            values[i] = p->parents[i].rows[l - 1];
        for (uint32_t i = DRG_PARENTS; l > 1 && i < PARENTS; i++)
            values[i] = p->parents[i].rows[l - 2];
        label_hash(label, x->c1->replica_id, l, challenge, values, l > 1 ? PARENTS : DRG_PARENTS, inputs);
        if (!same(label, p->c_x.rows[l - 1]))
            return bad("layer %u: the label does not follow from the parents' columns", l);
        if (given->layer != l || given->node != challenge)
            return bad("layer %u: labeling_proofs is for layer %u, node %llu", l, given->layer,
                       (unsigned long long)given->node);
        if (memcmp(given->parents, inputs, sizeof inputs) != 0)
            return bad("layer %u: labeling_proofs holds other values than the parents' columns", l);
    }
    const struct labeling_proof *e = &p->encoding;
    if (e->layer != layers || e->node != challenge || memcmp(e->parents, inputs, sizeof inputs) != 0)
        return bad("encoding_proof is not the last labeling proof");
    return status_ok();
}

/* All but the columns. */
static struct status check_rest(const struct check *x, const struct vanilla_proof *p, uint64_t challenge)
{
    const struct c1 *c1 = x->c1;
    fr data, key, replica;
    uint8_t bytes[32];
    TRY(check_path("comm_d", &p->comm_d, true, challenge, c1->comm_d, "comm_d"));
    TRY(check_path("comm_r_last", &p->comm_r_last, false, challenge, c1->proofs[0].comm_r_last.root,
                   "comm_r_last of the first proof"));
    TRY(check_labels(x, p, challenge));
    CHECK(fr_from_bytes(&data, p->comm_d.leaf));
    CHECK(fr_from_bytes(&key, p->c_x.rows[c1->sector->layers - 1]));
    fr_add(&replica, &data, &key);
    fr_to_bytes(bytes, &replica);
    if (!same(bytes, p->comm_r_last.leaf))
        return bad("encoding: the replica is not data plus key");
    return status_ok();
}

static struct status check_task(const struct check *x, size_t task)
{
    const struct c1 *c1 = x->c1;
    uint32_t part = (uint32_t)(task % PARTS), i = (uint32_t)(task / PARTS) % c1->challenges,
             k = (uint32_t)(task / PARTS) / c1->challenges;
    const struct vanilla_proof *p = c1_proof(c1, k, i);
    uint64_t challenge = porep_challenge(x->public, k, i);
    struct status s = part == 0 ? check_rest(x, p, challenge) : check_column(x, p, part - 1, challenge);
    if (status_failed(&s))
        return status_within(s, "partition %u, challenge %u (node %llu)", k, i,
                             (unsigned long long)challenge);
    return s;
}

static void run_task(void *context, size_t task)
{
    struct check *x = context;
    if (atomic_load_explicit(&x->failed, memory_order_relaxed) < task)
        return;
    struct status s = check_task(x, task);
    if (!status_failed(&s))
        return;
    uint_fast64_t lowest = atomic_load(&x->failed);
    while (task < lowest && !atomic_compare_exchange_weak(&x->failed, &lowest, task))
        ;
}

static struct status check_comm_r(const struct c1 *c1)
{
    fr roots[2], hash;
    uint8_t bytes[32];
    CHECK(fr_from_bytes(&roots[0], c1->proofs[0].c_x.inclusion.root));
    CHECK(fr_from_bytes(&roots[1], c1->proofs[0].comm_r_last.root));
    poseidon_hash(&hash, poseidon_of(2), roots);
    fr_to_bytes(bytes, &hash);
    if (!same(bytes, c1->comm_r))
        return bad("comm_r is not the hash of comm_c and comm_r_last");
    return status_ok();
}

struct status c1_check(const struct c1 *c1, const struct porep_public *public, const struct work *work)
{
    struct check x = {c1, public, UINT64_MAX};
    if (!same(c1->replica_id, public->replica_id))
        return bad("replica_id is not that of the sector");
    if (!same(c1->comm_d, public->comm_d) || !same(c1->comm_r, public->comm_r))
        return bad("comm_d or comm_r is not the sector's");
    size_t tasks = (size_t)c1->partitions * c1->challenges * PARTS;
    if (!pool_run(work, run_task, &x, tasks))
        return work_cancelled_status();
    uint_fast64_t failed = atomic_load(&x.failed);
    if (failed != UINT64_MAX)
        return check_task(&x, (size_t)failed);
    return check_comm_r(c1);
}
