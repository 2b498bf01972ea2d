/* Vanilla proofs for WinningPoSt and WindowPoSt without sealed sectors. The challenges depend on randomness
 * and sector id alone, so the tree is made for them: every leaf has one value but those that are challenged,
 * and only nodes above these are hashed. They pass post_check, satisfy the circuit, and their proofs verify.
 * For tests and measurements. */
#ifndef CUZK_FILECOIN_FABRICATE_POST_H
#define CUZK_FILECOIN_FABRICATE_POST_H

#include "filecoin/post.h"

struct fabricate_post_request {
    const struct registered_post *registered;
    uint32_t partition_index;
    const uint64_t *ids; /* of the sectors, in the order of the partition */
    size_t count;        /* 1 for Winning; at most the partition's sectors */
    /* NULL for the published instance (recipe R: byte i of the randomness is i; leaves are 1000 + id but
     * 5000000 + c at challenge c; comm_c is 9000000 + id). Otherwise all these depend on the name. */
    const char *name;
};

struct fabricated_post {
    uint8_t randomness[32];
    size_t count, sector_bytes;
    uint8_t *vanilla; /* owned; sector i begins at i * sector_bytes */
};

/* Work for a sector: (challenges + 1) * levels Poseidon hashes (32 GiB: 670 Winning, 110 Window). */
MUST_USE struct status fabricate_post(struct fabricated_post *out,
                                      const struct fabricate_post_request *request, const struct work *work);
void fabricated_post_end(struct fabricated_post *f);

#endif
