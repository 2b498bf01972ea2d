/* The stacked graph: which 14 nodes a node's labels depend on. Six DRG parents come from a ChaCha8 stream
 * per node, eight expander parents from a Feistel permutation with BLAKE2b; both are keyed by the porep_id,
 * so every registered number has its own graph. */
#ifndef CUZK_FILECOIN_GRAPH_H
#define CUZK_FILECOIN_GRAPH_H

#include "filecoin/registry.h"

struct graph {
    uint8_t drg_seed[28];
    uint64_t feistel_keys[4]; /* the last one is never used */
    uint32_t log2_nodes, half_bits;
    enum api_version api;
};

void graph_init(struct graph *g, const uint8_t porep_id[32], uint32_t log2_nodes, enum api_version api);

/* DRG parents, then expander parents, in the order of labels; repeats are kept. node < 2^log2_nodes.
 * About 2 us: 2 ChaCha8 blocks and 24 to 48 BLAKE2b compressions. */
void graph_parents(const struct graph *g, uint32_t out[PARENTS], uint64_t node);

#endif
