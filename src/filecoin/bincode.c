/* See bincode.h. */
#include "filecoin/bincode.h"

#include "filecoin/sector.h"
#include "gadget/poseidon.h"

#include <string.h>

/* One inclusion path of `count` elements: its count, then the elements. */
static uint32_t lay_path(struct merkle_layout *l, uint32_t at, uint32_t first_level, uint32_t count)
{
    at += 8;
    for (uint32_t i = first_level; i < first_level + count; i++) {
        l->element[i] = at;
        at += 8 + 32 * (l->arity[i] - 1) + 8;
    }
    return at;
}

void merkle_layout_replica(struct merkle_layout *out, const struct sector_size *sector)
{
    memset(out, 0, sizeof *out);
    out->levels = sector_arities(out->arity, sector);
    out->variant = (sector->sub ? 1U : 0U) + (sector->top ? 1U : 0U);
    uint32_t base = out->levels - out->variant, at = 4;
    if (out->variant == 0) {
        out->root = at;
        out->leaf = at + 32;
        at += 64;
    }
    out->base_count = at;
    at = lay_path(out, at, 0, base);
    for (uint32_t i = base; i < out->levels; i++)
        at = lay_path(out, at, i, 1);
    if (out->variant != 0) {
        out->root = at;
        out->leaf = at + 32;
        at += 64;
    }
    out->size = at;
}

void merkle_layout_binary(struct merkle_layout *out, const struct sector_size *sector)
{
    memset(out, 0, sizeof *out);
    out->levels = sector->log2_nodes;
    for (uint32_t i = 0; i < out->levels; i++)
        out->arity[i] = 2;
    out->root = 4;
    out->leaf = 36;
    out->base_count = 68;
    out->size = lay_path(out, 68, 0, out->levels);
}

static bool canonical(const uint8_t *bytes)
{
    fr_int x;
    return bytes[31] < 0x73 || fr_int_from_bytes(&x, bytes);
}

static struct status not_canonical(const char *name)
{
    return status_error(STATUS_INVALID, "%s is not a field element", name);
}

static struct status check_element(const struct merkle_layout *l, const uint8_t *m, uint32_t level)
{
    uint64_t siblings = load_le64(m + l->element[level]);
    if (siblings != l->arity[level] - 1)
        return status_error(STATUS_INVALID, "path element %u has %llu siblings, not %u", level,
                            (unsigned long long)siblings, l->arity[level] - 1);
    for (uint32_t i = 0; i + 1 < l->arity[level]; i++)
        if (!canonical(merkle_sibling(l, m, level, i)))
            return status_error(STATUS_INVALID, "path element %u: sibling %u is not a field element", level,
                                i);
    uint64_t index = load_le64(m + l->element[level] + 8 + 32 * (size_t)(l->arity[level] - 1));
    if (index >= l->arity[level])
        return status_error(STATUS_INVALID, "path element %u: index %llu is not below %u", level,
                            (unsigned long long)index, l->arity[level]);
    return status_ok();
}

struct status merkle_take(const uint8_t **out, struct cursor *c, const struct merkle_layout *l)
{
    static const char *const variants[] = {"Single", "Sub", "Top"};
    const uint8_t *m = cursor_take(c, l->size);
    if (m == NULL)
        return status_error(STATUS_INVALID, "the bytes end inside a Merkle proof of %u bytes", l->size);
    if (load_le32(m) != l->variant)
        return status_error(STATUS_INVALID, "Merkle proof variant is %u, this sector size has %u (%s)",
                            load_le32(m), l->variant, variants[l->variant]);
    uint32_t base = l->levels - l->variant;
    if (load_le64(m + l->base_count) != base)
        return status_error(STATUS_INVALID, "Merkle path has %llu elements, not %u",
                            (unsigned long long)load_le64(m + l->base_count), base);
    for (uint32_t level = base; level < l->levels; level++)
        if (load_le64(m + l->element[level] - 8) != 1)
            return status_error(STATUS_INVALID, "%s path has %llu elements, not 1",
                                level == base ? "sub" : "top",
                                (unsigned long long)load_le64(m + l->element[level] - 8));
    if (!canonical(m + l->root))
        return not_canonical("Merkle root");
    if (!canonical(m + l->leaf))
        return not_canonical("Merkle leaf");
    for (uint32_t level = 0; level < l->levels; level++)
        TRY(check_element(l, m, level));
    *out = m;
    return status_ok();
}

struct status domain_take(const uint8_t **out, struct cursor *c, const char *name)
{
    *out = cursor_take(c, 32);
    if (*out == NULL)
        return status_error(STATUS_INVALID, "the bytes end before %s", name);
    return canonical(*out) ? status_ok() : not_canonical(name);
}

struct status count_take(struct cursor *c, uint64_t want, const char *name)
{
    uint64_t have = cursor_le64(c);
    if (c->failed)
        return status_error(STATUS_INVALID, "the bytes end before the count of %s", name);
    if (have != want)
        return status_error(STATUS_INVALID, "there are %llu %s, not %llu", (unsigned long long)have, name,
                            (unsigned long long)want);
    return status_ok();
}

uint64_t merkle_leaf(const struct merkle_layout *l, const uint8_t *m)
{
    uint64_t leaf = 0;
    uint32_t shift = 0;
    for (uint32_t level = 0; level < l->levels; level++) {
        leaf |= (uint64_t)merkle_index(l, m, level) << shift;
        shift += (uint32_t)__builtin_ctz(l->arity[level]);
    }
    return leaf;
}

fr domain_value(const uint8_t bytes[32])
{
    fr x;
    CHECK(fr_from_bytes(&x, bytes));
    return x;
}

void merkle_climb(uint8_t root[32], const struct merkle_layout *l, const uint8_t *m)
{
    fr node = domain_value(m + l->leaf), group[SECTOR_ARITY_MAX];
    for (uint32_t level = 0; level < l->levels; level++) {
        uint32_t index = merkle_index(l, m, level), sibling = 0;
        for (uint32_t k = 0; k < l->arity[level]; k++)
            group[k] = k == index ? node : domain_value(merkle_sibling(l, m, level, sibling++));
        poseidon_hash(&node, poseidon_of(l->arity[level]), group);
    }
    fr_to_bytes(root, &node);
}

void merkle_climb_binary(uint8_t root[32], const struct merkle_layout *l, const uint8_t *m)
{
    memcpy(root, m + l->leaf, 32);
    merkle_climb_levels(root, l, m, 0, l->levels);
}

void merkle_climb_levels(uint8_t node[32], const struct merkle_layout *l, const uint8_t *m, uint32_t from,
                         uint32_t to)
{
    CHECK(to <= l->levels);
    for (uint32_t level = from; level < to; level++) {
        uint8_t below[32];
        const uint8_t *sibling = merkle_sibling(l, m, level, 0);
        memcpy(below, node, 32);
        if (merkle_index(l, m, level) == 0)
            hash_nodes(node, below, sibling);
        else
            hash_nodes(node, sibling, below);
    }
}

void merkle_write(uint8_t *out, const struct merkle_layout *l, uint64_t leaf, merkle_node *node,
                  const void *tree)
{
    uint32_t base = l->levels - l->variant;
    uint64_t position = leaf;
    store_le32(out, l->variant);
    store_le64(out + l->base_count, base);
    for (uint32_t level = base; level < l->levels; level++)
        store_le64(out + l->element[level] - 8, 1);
    memcpy(out + l->leaf, node(tree, 0, leaf), 32);
    for (uint32_t level = 0; level < l->levels; level++) {
        uint32_t arity = l->arity[level], index = (uint32_t)(position & (arity - 1));
        uint8_t *at = out + l->element[level];
        store_le64(at, arity - 1);
        at += 8;
        for (uint32_t i = 0; i < arity; i++) {
            if (i == index)
                continue;
            memcpy(at, node(tree, level, position - index + i), 32);
            at += 32;
        }
        store_le64(at, index);
        position /= arity;
    }
    memcpy(out + l->root, node(tree, l->levels, 0), 32);
}

void merkle_path(struct tree_path *out, fr *siblings, const struct merkle_layout *l, const uint8_t *m)
{
    uint32_t count = 0;
    for (uint32_t level = 0; level < l->levels; level++) {
        CHECK(count + l->arity[level] - 1 <= MERKLE_SIBLINGS_MAX);
        for (uint32_t i = 0; i + 1 < l->arity[level]; i++)
            siblings[count++] = domain_value(merkle_sibling(l, m, level, i));
    }
    out->leaf = merkle_leaf(l, m);
    out->siblings = siblings;
}
