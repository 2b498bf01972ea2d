/* What identifies a sector and what its bytes become: prover and replica identifiers, labels. All in plain
 * bytes; the circuit proves the same facts. */
#ifndef CUZK_FILECOIN_SECTOR_H
#define CUZK_FILECOIN_SECTOR_H

#include "filecoin/registry.h"

/* Unsigned LEB128 of the miner's actor id, then zeros. */
void prover_id(uint8_t out[32], uint64_t miner);

/* SHA-256 of all that fixes the encoding, cut to 254 bits. */
void replica_id(uint8_t out[32], const uint8_t prover_id[32], uint64_t sector_number,
                const uint8_t ticket[32], const uint8_t comm_d[32], const uint8_t porep_id[32]);

/* Clears the two top bits of a digest. */
static inline void trim(uint8_t digest[32])
{
    digest[31] &= 0x3f;
}

/* tree_d's hash of two nodes. */
void hash_nodes(uint8_t out[32], const uint8_t left[32], const uint8_t right[32]);

/* The label of a node at a layer from its parents' labels: DRG parents at the same layer, then (layer 2 on)
 * expander parents at the layer below. values are pointers; count is 6, 14, or 0 for node 0, which has no
 * parents. 20 compressions, or 2. inputs, if not NULL, receives the LABEL_INPUTS values that were hashed. */
void label_hash(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer, uint64_t node,
                const uint8_t *const *values, uint32_t count, uint8_t (*inputs)[32]);

#endif
