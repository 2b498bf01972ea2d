/* SnapDeals, the update of an empty sector: vanilla proofs of its partitions, their check, the circuit of one
 * partition, and the verifier's inputs.
 *
 * Data is encoded into a sealed sector: new = old + data * rho in every leaf, where rho hashes the
 * commitments and the highest bits of the leaf's number. A partition opens its share of challenged leaves in
 * three trees (old and new replica, new data) and ties its part of the data tree to the whole by the part's
 * apex leaves. */
#ifndef CUZK_FILECOIN_SNAP_H
#define CUZK_FILECOIN_SNAP_H

#include "base/pool.h"
#include "filecoin/bincode.h"

#define SNAP_HEIGHTS        6   /* candidates for h that the circuit knows */
#define SNAP_PARTITIONS_MAX 16  /* of all sizes */
#define SNAP_APEX_MAX       128 /* apex leaves of a partition */
#define SNAP_INPUTS         4

struct snap_size {
    const struct sector_size *sector;
    uint32_t log2_partitions;
    uint32_t challenges; /* per partition */
    uint32_t log2_apex;
    uint32_t heights[SNAP_HEIGHTS];
    uint32_t height; /* the one in use, which is heights[height_index] */
    uint32_t height_index;
};
/* NULL: there are no updates of such sectors. */
const struct snap_size *snap_size_of(const struct sector_size *sector);
/* All of them, those that only tests use among them, smallest first. */
#define SNAP_SIZES 11
extern const struct snap_size SNAP_SIZE[SNAP_SIZES];

static inline uint32_t snap_partitions(const struct snap_size *s)
{
    return 1U << s->log2_partitions;
}
/* Bits of a challenge that are drawn; those above them are the partition's number. */
static inline uint32_t snap_random_bits(const struct snap_size *s)
{
    return s->sector->log2_nodes - s->log2_partitions;
}
/* Levels of the data tree below the apex leaves. */
static inline uint32_t snap_apex_level(const struct snap_size *s)
{
    return snap_random_bits(s) - s->log2_apex;
}
static inline uint32_t snap_challenges_per_digest(const struct snap_size *s)
{
    return 254 / snap_random_bits(s);
}
static inline uint32_t snap_digests(const struct snap_size *s)
{
    uint32_t per_digest = snap_challenges_per_digest(s);
    return (s->challenges + per_digest - 1) / per_digest;
}

struct registered_update {
    uint32_t number;
    const char *name;
    const struct snap_size *size;
};
#define REGISTERED_UPDATES 5
const struct registered_update *registered_update(uint64_t number); /* NULL if there is none */

/* Bytes of one partition's vanilla proof. */
size_t snap_partition_bytes(const struct snap_size *size);

/* Writes partition k from the three trees. */
struct snap_trees {
    merkle_node *node;
    const void *r_old, *d_new, *r_new;
};
void snap_write_partition(uint8_t *out, const struct snap_size *size, uint32_t k, const uint8_t comm_c[32],
                          const uint8_t comm_r_new[32], const struct snap_trees *trees);

struct snap_partition {
    const uint8_t *comm_c, *apex, *proofs; /* in the vanilla bytes */
};

struct snap {
    const struct snap_size *size;
    struct merkle_layout replica, data;
    size_t proof_bytes; /* of the three paths of one challenge */
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
    struct snap_partition partitions[SNAP_PARTITIONS_MAX];
};

/* phi, from which every rho follows; and rho of a leaf. */
void snap_phi(fr *phi, const uint8_t comm_d_new[32], const uint8_t comm_r_old[32]);
void snap_rho(fr *rho, const fr *phi, const struct snap_size *size, uint64_t leaf);
/* Digest j of partition k, and the leaf that its group t of bits challenges. */
void snap_digest(fr_int *digest, const uint8_t comm_r_new[32], const struct snap_size *size, uint32_t k,
                 uint32_t j);
uint64_t snap_challenge(const fr_int *digest, const struct snap_size *size, uint32_t k, uint32_t t);

struct snap_commitments {
    const uint8_t *r_old, *r_new, *d_new;
    size_t r_old_size, r_new_size, d_new_size;
};
/* Decodes without copying: the vanilla bytes must outlive it. Element i is partition i. Checks counts, layout
 * and canonical values. Errors name partition and challenge. */
MUST_USE struct status snap_open(struct snap *out, const struct snap_size *size,
                                 const struct snap_commitments *commitments, const uint8_t *const *vanilla,
                                 const size_t *sizes, size_t count);
/* Everything that the circuit will prove and more: challenges, commitments, every path to its root, apex
 * leaves, encoding. Two Poseidon paths a challenge: 0.8 s of one slow core for 32 GiB, in tasks. */
MUST_USE struct status snap_check(const struct snap *s, const struct work *work);

/* One walk over partition k: shape, seeds or generic form. s is NULL without values. */
void snap_circuit(struct circuit *c, const struct snap_size *size, const struct snap *s, uint32_t k);
/* The verifier's vector without ONE. */
void snap_inputs(fr out[SNAP_INPUTS], const struct snap *s, uint32_t k);

#endif
