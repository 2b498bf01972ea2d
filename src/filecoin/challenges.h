/* Which nodes a seal proof must open: interactive from the chain's seed, synthetic from a fixed set of 2^18
 * that the seed selects from, non-interactive from comm_r. */
#ifndef CUZK_FILECOIN_CHALLENGES_H
#define CUZK_FILECOIN_CHALLENGES_H

#include "filecoin/registry.h"

struct challenges {
    enum seal_feature feature;
    uint64_t nodes;
    uint32_t synthetic_count; /* size of the synthetic set */
    uint8_t replica_id[32], comm_r[32], seed[32];
    uint8_t generation[32], selection[32]; /* ChaCha20 keys of the synthetic kind */
};

/* comm_r is not used by the interactive kind, seed not by the non-interactive one. Fails only if libcrypto
 * does. */
MUST_USE struct status challenges_start(struct challenges *out, enum seal_feature feature,
                                        uint32_t log2_nodes, const uint8_t replica_id[32],
                                        const uint8_t comm_r[32], const uint8_t seed[32]);

/* Challenge number j, counted over all partitions: 1 to nodes - 1. */
uint64_t challenges_get(const struct challenges *c, uint32_t j);

/* Entry i of the synthetic set, and the entry that number j selects. */
uint64_t challenges_synthetic(const struct challenges *c, uint32_t i);
uint32_t challenges_selected(const struct challenges *c, uint32_t j);

#endif
