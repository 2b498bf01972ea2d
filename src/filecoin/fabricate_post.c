/* See fabricate_post.h. A level of the tree is the value that most of its nodes have, and a short sorted list
 * of those that differ because a challenged leaf lies below them. */
#include "filecoin/fabricate_post.h"

#include "base/mem.h"
#include "base/sha256.h"
#include "gadget/poseidon.h"

#include <stdlib.h>
#include <string.h>

#define CHALLENGES  WINNING_CHALLENGES /* the greater of the two */
#define LEVELS_MAX  12                 /* with the leaves; 64 GiB has as many */
#define TASK_HASHES 16

struct sparse_level {
    uint8_t common[32];
    uint32_t count;
    uint64_t positions[CHALLENGES]; /* increasing */
    uint8_t nodes[CHALLENGES][32];
};

struct sparse_tree {
    const struct merkle_layout *layout;
    struct sparse_level levels[LEVELS_MAX];
    uint32_t level; /* under construction */
};

struct recipe {
    uint8_t randomness[32];
    fr leaf, challenged, comm_c; /* to which id or challenge is added */
};

struct fabrication {
    const struct fabricate_post_request *request;
    const struct work *work;
    struct merkle_layout layout;
    struct recipe recipe;
    struct fabricated_post *out;
    atomic_bool cancelled;
};

/* ---- the tree ---- */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static const uint8_t *tree_node(const void *tree, uint32_t level, uint64_t position)
{
    const struct sparse_level *l = &((const struct sparse_tree *)tree)->levels[level];
    const uint64_t *at = bsearch(&position, l->positions, l->count, sizeof position, compare);
    return at == NULL ? l->common : l->nodes[at - l->positions];
}

static void hash_children(uint8_t out[32], const struct sparse_tree *t, uint32_t level, uint64_t position)
{
    uint32_t arity = t->layout->arity[level - 1];
    fr children[SECTOR_ARITY_MAX], hash;
    for (uint32_t i = 0; i < arity; i++)
        children[i] = domain_value(tree_node(t, level - 1, position * arity + i));
    poseidon_hash(&hash, poseidon_of(arity), children);
    fr_to_bytes(out, &hash);
}

static void hash_task(void *context, size_t task)
{
    struct sparse_tree *t = context;
    struct sparse_level *l = &t->levels[t->level];
    for (uint32_t i = (uint32_t)task * TASK_HASHES; i < l->count && i < (task + 1) * TASK_HASHES; i++)
        hash_children(l->nodes[i], t, t->level, l->positions[i]);
}

static void hash_common(struct sparse_tree *t, uint32_t level)
{
    uint32_t arity = t->layout->arity[level - 1];
    fr children[SECTOR_ARITY_MAX], hash;
    for (uint32_t i = 0; i < arity; i++)
        children[i] = domain_value(t->levels[level - 1].common);
    poseidon_hash(&hash, poseidon_of(arity), children);
    fr_to_bytes(t->levels[level].common, &hash);
}

/* Positions of the parents, each once. */
static void parents(struct sparse_level *out, const struct sparse_level *below, uint32_t arity)
{
    out->count = 0;
    for (uint32_t i = 0; i < below->count; i++) {
        uint64_t parent = below->positions[i] / arity;
        if (out->count == 0 || out->positions[out->count - 1] != parent)
            out->positions[out->count++] = parent;
    }
}

/* Level 0 is there. */
static bool tree_grow(struct sparse_tree *t, const struct work *work)
{
    CHECK(t->layout->levels < LEVELS_MAX);
    for (t->level = 1; t->level <= t->layout->levels; t->level++) {
        struct sparse_level *l = &t->levels[t->level];
        parents(l, &t->levels[t->level - 1], t->layout->arity[t->level - 1]);
        hash_common(t, t->level);
        if (!pool_run(work, hash_task, t, (l->count + TASK_HASHES - 1) / TASK_HASHES))
            return false;
    }
    return true;
}

/* ---- contents ---- */

static void named_bytes(uint8_t out[32], const char *name, const char *what)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, what, strlen(what) + 1);
    sha256_add(&h, name, strlen(name));
    sha256_end(&h, out);
    out[31] &= 0x3f;
}

static void named_number(fr *out, const char *name, const char *what)
{
    uint8_t bytes[32];
    named_bytes(bytes, name, what);
    *out = domain_value(bytes);
}

static void recipe_start(struct recipe *r, const char *name)
{
    if (name == NULL) {
        for (uint32_t i = 0; i < 32; i++)
            r->randomness[i] = (uint8_t)i;
        fr_from_u64(&r->leaf, 1000);
        fr_from_u64(&r->challenged, 5000000);
        fr_from_u64(&r->comm_c, 9000000);
    } else {
        named_bytes(r->randomness, name, "fabricated PoSt: randomness");
        named_number(&r->leaf, name, "fabricated PoSt: leaf");
        named_number(&r->challenged, name, "fabricated PoSt: challenged leaf");
        named_number(&r->comm_c, name, "fabricated PoSt: comm_c");
    }
}

static void put_sum(uint8_t out[32], const fr *base, uint64_t more)
{
    fr x;
    fr_from_u64(&x, more);
    fr_add(&x, &x, base);
    fr_to_bytes(out, &x);
}

static void leaves(struct sparse_level *l, const struct recipe *r, uint64_t id, const uint64_t *challenges,
                   uint32_t count)
{
    uint64_t sorted[CHALLENGES];
    memcpy(sorted, challenges, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    put_sum(l->common, &r->leaf, id);
    l->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1])
            continue;
        l->positions[l->count] = sorted[i];
        put_sum(l->nodes[l->count++], &r->challenged, sorted[i]);
    }
}

/* ---- vanilla proofs ---- */

static void sector_task(void *context, size_t i)
{
    struct fabrication *f = context;
    const struct registered_post *r = f->request->registered;
    uint32_t count = r->kind == PROOF_WINNING ? WINNING_CHALLENGES : WINDOW_CHALLENGES;
    uint64_t id = f->request->ids[i], challenges[CHALLENGES];
    struct sparse_tree tree = {.layout = &f->layout};
    for (uint32_t n = 0; n < count; n++)
        challenges[n] =
            post_leaf_challenge(r, f->recipe.randomness, f->request->partition_index, (uint32_t)i, id, n);
    leaves(&tree.levels[0], &f->recipe, id, challenges, count);
    if (!tree_grow(&tree, f->work)) {
        atomic_store(&f->cancelled, true);
        return;
    }
    uint8_t comm_c[32];
    put_sum(comm_c, &f->recipe.comm_c, id);
    post_write_sector(f->out->vanilla + i * f->out->sector_bytes, r, f->recipe.randomness,
                      f->request->partition_index, (uint32_t)i, id, comm_c, tree_node, &tree);
}

struct status fabricate_post(struct fabricated_post *out, const struct fabricate_post_request *request,
                             const struct work *work)
{
    const struct registered_post *r = request->registered;
    struct fabrication f = {.request = request, .work = work, .out = out};
    uint32_t most = r->kind == PROOF_WINNING ? 1 : r->sector->window_sectors;
    *out = (struct fabricated_post){.count = request->count, .sector_bytes = post_sector_bytes(r)};
    if (request->count == 0 || request->count > most)
        return status_error(STATUS_INVALID, "a %s proof of %s sectors is of 1 to %u sectors, not %zu",
                            proof_kind_name(r->kind), r->sector->name, most, request->count);
    merkle_layout_replica(&f.layout, r->sector);
    recipe_start(&f.recipe, request->name);
    atomic_init(&f.cancelled, false);
    memcpy(out->randomness, f.recipe.randomness, 32);
    out->vanilla = mem_alloc_zero(out->count, out->sector_bytes);
    if (out->vanilla == NULL)
        return mem_failed("fabricated vanilla proofs", out->count, out->sector_bytes);
    if (!pool_run(work, sector_task, &f, out->count) || atomic_load(&f.cancelled)) {
        fabricated_post_end(out);
        return work_cancelled_status();
    }
    return status_ok();
}

void fabricated_post_end(struct fabricated_post *f)
{
    mem_free(f->vanilla);
    f->vanilla = NULL;
}
