/* WinningPoSt and WindowPoSt: vanilla proofs of sectors, their check, the circuit, and the verifier's inputs.
 *
 * Winning is 66 blocks about one sector with one challenge each; Window a block a sector with ten. A Window
 * list is taken as it comes: its order is what is proved, and the last sector is repeated to fill the
 * partition. */
#ifndef CUZK_FILECOIN_POST_H
#define CUZK_FILECOIN_POST_H

#include "base/pool.h"
#include "filecoin/bincode.h"
#include "r1cs/witness.h"

#define WINNING_CHALLENGES 66
#define WINDOW_CHALLENGES  10

struct registered_post {
    uint32_t number;
    const char *name;
    enum proof_kind kind; /* PROOF_WINNING or PROOF_WINDOW */
    enum api_version api;
    const struct sector_size *sector;
};
#define REGISTERED_POSTS 15
const struct registered_post *registered_post(uint64_t number); /* NULL if there is none */

struct post_sector {
    uint64_t id;
    const uint8_t *comm_r, *comm_c, *comm_r_last; /* in the vanilla bytes */
    const uint8_t *proofs;                        /* its inclusion proofs, one after the other */
};

struct post {
    enum proof_kind kind;
    enum api_version api;
    const struct sector_size *sector_size;
    struct merkle_layout layout;
    uint8_t randomness[32];
    uint32_t partition_index;
    uint32_t challenges; /* inclusion proofs per sector in the vanilla bytes: 66 or 10 */
    uint32_t sectors_count;
    struct post_sector *sectors; /* owned */
};

/* Blocks of the circuit, and challenges in each. */
uint32_t post_blocks(enum proof_kind kind, const struct sector_size *sector);
uint32_t post_block_challenges(enum proof_kind kind);
/* The leaf that challenge n of a sector is, at `position` of a partition. */
uint64_t post_leaf_challenge(const struct registered_post *r, const uint8_t randomness[32],
                             uint32_t partition_index, uint32_t position, uint64_t id, uint32_t n);
/* The challenge that inclusion proof n of the sector at `position` must open. */
uint64_t post_challenge(const struct post *p, uint32_t position, uint32_t n);

/* Bytes of one sector's vanilla proof, and its writing from the sector's replica tree. */
size_t post_sector_bytes(const struct registered_post *registered);
void post_write_sector(uint8_t *out, const struct registered_post *registered, const uint8_t randomness[32],
                       uint32_t partition_index, uint32_t position, uint64_t id, const uint8_t comm_c[32],
                       merkle_node *node, const void *tree);

/* Decodes without copying: the vanilla bytes must outlive it. Checks layout, canonical values, randomness,
 * and that the list fits the partition. Errors name sector and challenge. */
MUST_USE struct status post_open(struct post *out, const struct registered_post *registered,
                                 const uint8_t *randomness, size_t randomness_size, uint32_t partition_index,
                                 const uint8_t *const *vanilla, const size_t *sizes, size_t count);
/* The verifier's side alone: sectors by id and comm_r, copied; good for post_inputs and nothing else. */
MUST_USE struct status post_open_public(struct post *out, const struct registered_post *registered,
                                        const uint8_t randomness[32], uint32_t partition_index,
                                        const struct post_sector *sectors, size_t count);
void post_end(struct post *p);
/* Challenges, roots and comm_r of every sector; with paths, also that every path hashes to its root, which
 * costs as many hashes as the circuit's expansion: for a full Window it is left to that, and done here only
 * to name what is wrong when a proof did not verify. */
MUST_USE struct status post_check(const struct post *p, bool paths, const struct work *work);

/* One walk: shape, seeds or generic form. p is NULL without values. */
void post_circuit(struct circuit *c, enum proof_kind kind, const struct sector_size *sector,
                  const struct post *p);
/* The verifier's vector without ONE: post_inputs_count() values. */
uint32_t post_inputs_count(enum proof_kind kind, const struct sector_size *sector);
void post_inputs(fr *out, const struct post *p);

#endif
