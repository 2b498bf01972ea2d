/* See fabricate_snap.h. In a tree that is constant on blocks, a level low enough that its nodes lie within
 * blocks has one value a block, which is stored once; above that every node is stored. Both are the same
 * array, indexed by the node's position without the bits that do not matter. */
#include "filecoin/fabricate_snap.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "filecoin/sector.h"
#include "gadget/poseidon.h"

#include <string.h>

#define LEVELS_MAX SECTOR_LEVELS_MAX
#define TASK_NODES 32

struct block_tree {
    struct merkle_layout layout;
    bool sha256;
    uint32_t log2_count[LEVELS_MAX + 1]; /* of the nodes stored */
    uint32_t shift[LEVELS_MAX + 1];      /* position bits below them, which do not matter */
    uint8_t (*nodes[LEVELS_MAX + 1])[32];
    uint32_t level; /* under construction */
};

struct fabrication {
    const struct snap_size *size;
    struct fabricated_snap *out;
    uint8_t comm_c[32];
    struct block_tree r_old, d_new, r_new;
};

/* ---- trees ---- */

static const uint8_t *tree_node(const void *tree, uint32_t level, uint64_t position)
{
    const struct block_tree *t = tree;
    return t->nodes[level][position >> t->shift[level]];
}

static const uint8_t *tree_root(const struct block_tree *t)
{
    return t->nodes[t->layout.levels][0];
}

/* Leaves are left to the caller: nodes[0], one a block. */
static struct status tree_start(struct block_tree *t, const struct snap_size *size, bool sha256)
{
    uint32_t bits = size->sector->log2_nodes, block = bits - size->height, below = 0;
    t->sha256 = sha256;
    if (sha256)
        merkle_layout_binary(&t->layout, size->sector);
    else
        merkle_layout_replica(&t->layout, size->sector);
    for (uint32_t level = 0; level <= t->layout.levels; level++) {
        t->shift[level] = below < block ? block - below : 0;
        t->log2_count[level] = bits - below - t->shift[level];
        t->nodes[level] = mem_alloc((size_t)1 << t->log2_count[level], sizeof *t->nodes[level]);
        if (t->nodes[level] == NULL)
            return mem_failed("fabricated tree", (size_t)1 << t->log2_count[level], sizeof *t->nodes[level]);
        if (level < t->layout.levels)
            below += (uint32_t)__builtin_ctz(t->layout.arity[level]);
    }
    return status_ok();
}

static void tree_end(struct block_tree *t)
{
    for (uint32_t level = 0; level <= LEVELS_MAX; level++)
        mem_free(t->nodes[level]);
}

static void hash_children(const struct block_tree *t, uint32_t level, uint32_t i)
{
    uint64_t first = ((uint64_t)i << t->shift[level]) * t->layout.arity[level - 1];
    uint8_t *out = t->nodes[level][i];
    if (t->sha256) {
        hash_nodes(out, tree_node(t, level - 1, first), tree_node(t, level - 1, first + 1));
        return;
    }
    fr children[SECTOR_ARITY_MAX], hash;
    for (uint32_t k = 0; k < t->layout.arity[level - 1]; k++)
        children[k] = domain_value(tree_node(t, level - 1, first + k));
    poseidon_hash(&hash, poseidon_of(t->layout.arity[level - 1]), children);
    fr_to_bytes(out, &hash);
}

static void hash_task(void *context, size_t task)
{
    const struct block_tree *t = context;
    uint32_t begin = (uint32_t)task * TASK_NODES, count = 1U << t->log2_count[t->level];
    for (uint32_t i = begin; i < count && i < begin + TASK_NODES; i++)
        hash_children(t, t->level, i);
}

static struct status tree_grow(struct block_tree *t, const struct work *work)
{
    for (t->level = 1; t->level <= t->layout.levels; t->level++) {
        size_t count = (size_t)1 << t->log2_count[t->level];
        if (!pool_run(work, hash_task, t, (count + TASK_NODES - 1) / TASK_NODES))
            return work_cancelled_status();
    }
    return status_ok();
}

/* ---- contents ---- */

/* A number below 2^252: room for the block's number without a carry beyond what data may hold. */
static void named_number(fr *out, const char *name, const char *what)
{
    struct sha256 h;
    uint8_t digest[32];
    sha256_begin(&h);
    sha256_add(&h, what, strlen(what) + 1);
    sha256_add(&h, name, strlen(name));
    sha256_end(&h, digest);
    digest[31] &= 0x0f;
    *out = domain_value(digest);
}

static void fill(struct block_tree *t, const fr *base)
{
    for (uint32_t b = 0; b < 1U << t->log2_count[0]; b++) {
        fr x;
        fr_from_u64(&x, b);
        fr_add(&x, &x, base);
        fr_to_bytes(t->nodes[0][b], &x);
    }
}

static void fill_old_and_data(struct fabrication *f, const char *name)
{
    fr old, data, comm_c;
    if (name == NULL) {
        fr_int seven = {{0, 0, 0, UINT64_C(7) << (200 - 192)}};
        fr_from_u64(&old, 1000);
        fr_from_int(&data, &seven);
        fr_from_u64(&comm_c, 0xc0ffee);
    } else {
        named_number(&old, name, "fabricated update: old replica");
        named_number(&data, name, "fabricated update: data");
        named_number(&comm_c, name, "fabricated update: comm_c");
    }
    fill(&f->r_old, &old);
    fill(&f->d_new, &data);
    fr_to_bytes(f->comm_c, &comm_c);
}

static void commit(uint8_t comm_r[32], const uint8_t comm_c[32], const uint8_t root[32])
{
    fr pair[2] = {domain_value(comm_c), domain_value(root)}, hash;
    poseidon_hash(&hash, poseidon_of(2), pair);
    fr_to_bytes(comm_r, &hash);
}

static void encode(struct fabrication *f)
{
    fr phi, rho, old, data;
    uint32_t block = f->size->sector->log2_nodes - f->size->height;
    snap_phi(&phi, f->out->comm_d_new, f->out->comm_r_old);
    for (uint32_t b = 0; b < 1U << f->size->height; b++) {
        snap_rho(&rho, &phi, f->size, (uint64_t)b << block);
        old = domain_value(f->r_old.nodes[0][b]);
        data = domain_value(f->d_new.nodes[0][b]);
        fr_mul(&rho, &rho, &data);
        fr_add(&rho, &rho, &old);
        fr_to_bytes(f->r_new.nodes[0][b], &rho);
    }
}

/* ---- vanilla proofs ---- */

static void write_partition(void *context, size_t k)
{
    const struct fabrication *f = context;
    const struct snap_trees trees = {tree_node, &f->r_old, &f->d_new, &f->r_new};
    snap_write_partition(f->out->vanilla + k * f->out->partition_bytes, f->size, (uint32_t)k, f->comm_c,
                         f->out->comm_r_new, &trees);
}

static struct status fabricate(struct fabrication *f, const char *name, const struct work *work)
{
    struct fabricated_snap *out = f->out;
    TRY(tree_start(&f->r_old, f->size, false));
    TRY(tree_start(&f->d_new, f->size, true));
    TRY(tree_start(&f->r_new, f->size, false));
    fill_old_and_data(f, name);
    TRY(tree_grow(&f->r_old, work));
    TRY(tree_grow(&f->d_new, work));
    commit(out->comm_r_old, f->comm_c, tree_root(&f->r_old));
    memcpy(out->comm_d_new, tree_root(&f->d_new), 32);
    encode(f);
    TRY(tree_grow(&f->r_new, work));
    commit(out->comm_r_new, f->comm_c, tree_root(&f->r_new));
    return pool_run(work, write_partition, f, out->partitions) ? status_ok() : work_cancelled_status();
}

struct status fabricate_snap(struct fabricated_snap *out, const struct snap_size *size, const char *name,
                             const struct work *work)
{
    struct fabrication f = {.size = size, .out = out};
    *out = (struct fabricated_snap){.partitions = snap_partitions(size),
                                    .partition_bytes = snap_partition_bytes(size)};
    out->vanilla = mem_alloc_zero(out->partitions, out->partition_bytes);
    if (out->vanilla == NULL)
        return mem_failed("fabricated vanilla proofs", out->partitions, out->partition_bytes);
    struct status s = fabricate(&f, name, work);
    tree_end(&f.r_old);
    tree_end(&f.d_new);
    tree_end(&f.r_new);
    if (status_failed(&s))
        fabricated_snap_end(out);
    return s;
}

void fabricated_snap_end(struct fabricated_snap *f)
{
    mem_free(f->vanilla);
    f->vanilla = NULL;
}
