/* The bincode form of vanilla proofs (PoSts, SnapDeals), read where it lies. For a given sector size every
 * count in it is known, so a Merkle proof is a fixed layout of bytes: decoding is checking that the bytes
 * have that layout (counts, variant, indices, canonical hashes), and a decoded proof is a pointer. */
#ifndef CUZK_FILECOIN_BINCODE_H
#define CUZK_FILECOIN_BINCODE_H

#include "base/bytes.h"
#include "field/fr.h"
#include "filecoin/registry.h"
#include "gadget/circuit.h"

/* Offsets in a MerkleProof of one shape. Level 0 is nearest to the leaves. */
struct merkle_layout {
    uint32_t variant; /* 0 Single, 1 Sub, 2 Top */
    uint32_t levels;
    uint32_t arity[SECTOR_LEVELS_MAX];
    uint32_t element[SECTOR_LEVELS_MAX]; /* of the sibling count of each element */
    uint32_t base_count; /* of the base path's count; sub and top have theirs 8 bytes before their element */
    uint32_t root, leaf;
    uint32_t size;
};
/* Paths in the replica trees of a sector, and in its binary data tree. */
void merkle_layout_replica(struct merkle_layout *out, const struct sector_size *sector);
void merkle_layout_binary(struct merkle_layout *out, const struct sector_size *sector);

/* Takes one MerkleProof from the cursor. Errors say what is wrong, to be prefixed with the place. */
MUST_USE struct status merkle_take(const uint8_t **out, struct cursor *c, const struct merkle_layout *layout);
MUST_USE struct status domain_take(const uint8_t **out, struct cursor *c, const char *name);
/* A count that must have one value. */
MUST_USE struct status count_take(struct cursor *c, uint64_t want, const char *name);

static inline const uint8_t *merkle_sibling(const struct merkle_layout *l, const uint8_t *m, uint32_t level,
                                            uint32_t i)
{
    return m + l->element[level] + 8 + 32 * (size_t)i;
}
static inline uint32_t merkle_index(const struct merkle_layout *l, const uint8_t *m, uint32_t level)
{
    return (uint32_t)load_le64(m + l->element[level] + 8 + 32 * (size_t)(l->arity[level] - 1));
}
/* Number of the leaf that the indices lead to. */
uint64_t merkle_leaf(const struct merkle_layout *l, const uint8_t *m);
/* The root that leaf and path lead to: by Poseidon, or by SHA-256 for the binary layout. */
void merkle_climb(uint8_t root[32], const struct merkle_layout *l, const uint8_t *m);
void merkle_climb_binary(uint8_t root[32], const struct merkle_layout *l, const uint8_t *m);
/* A part of the latter: from the node of level `from` to that of level `to`. */
void merkle_climb_levels(uint8_t node[32], const struct merkle_layout *l, const uint8_t *m, uint32_t from,
                         uint32_t to);

/* Node `position` of a level of a tree; level 0 are the leaves. */
typedef const uint8_t *merkle_node(const void *tree, uint32_t level, uint64_t position);
/* Writes the proof of a leaf: layout size bytes. */
void merkle_write(uint8_t *out, const struct merkle_layout *l, uint64_t leaf, merkle_node *node,
                  const void *tree);

#define MERKLE_SIBLINGS_MAX 80
/* Values for the circuit: siblings holds MERKLE_SIBLINGS_MAX elements and is borrowed by the path. */
void merkle_path(struct tree_path *out, fr *siblings, const struct merkle_layout *l, const uint8_t *m);
/* Canonical by merkle_take or domain_take. */
fr domain_value(const uint8_t bytes[32]);

#endif
