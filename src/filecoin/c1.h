/* The C1 output: the vanilla proofs of all partitions of a sector with the public values, as plain structs
 * in one block of memory. c1_parse reads the JSON of both known writers and Curio's wrapper; c1_write writes
 * the first writer's JSON to the byte. What the numbers mean is checked in check.h, not here: the parser
 * only promises that every length is what the sector size demands, that every index is below its arity and
 * that every hash is a canonical field element. */
#ifndef CUZK_FILECOIN_C1_H
#define CUZK_FILECOIN_C1_H

#include "base/status.h"
#include "filecoin/registry.h"

struct path_element {
    uint8_t (*siblings)[32]; /* arity - 1 */
    uint32_t arity, index;   /* index < arity */
};

/* Base, sub and top parts in one list, leaf to root. */
struct merkle_proof {
    uint8_t root[32], leaf[32];
    struct path_element *path;
    uint32_t length;
};

struct column_proof {
    uint32_t index;
    uint8_t (*rows)[32]; /* one label per layer, layer 1 first */
    struct merkle_proof inclusion;
};

struct labeling_proof {
    uint8_t (*parents)[32]; /* LABEL_INPUTS */
    uint32_t layer;
    uint64_t node;
};

struct vanilla_proof {
    struct merkle_proof comm_d, comm_r_last;
    struct column_proof c_x, parents[PARENTS]; /* DRG parents, then expander parents */
    struct labeling_proof labels[LAYERS_MAX], encoding;
};

struct c1 {
    const struct registered_seal *seal;
    const struct sector_size *sector; /* seal->sector, except in tests of sizes that have no number */
    bool wrapped;
    uint64_t sector_number; /* only if wrapped */
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
    uint32_t partitions, challenges;
    struct vanilla_proof *proofs; /* partition k, challenge i: proofs[k * challenges + i] */
    void *arena;
};

/* Proof i of partition k. */
static inline struct vanilla_proof *c1_proof(const struct c1 *c1, uint32_t k, uint32_t i)
{
    return &c1->proofs[k * c1->challenges + i];
}

#define C1_PADDING   64 /* readable bytes that must follow the text given to c1_parse */
#define C1_BYTES_MAX (UINT64_C(1) << 28)

/* Reads a C1 output, bare or wrapped; copies all it needs. data[size, size + C1_PADDING) must be readable.
 * Errors name the place: "C1 output: comm_d[3]: 256 ...". Memory: c1_bytes of the sector (10 MB for 32 GiB),
 * the decoded text if wrapped, and simdjson's (json_shim.h). */
MUST_USE struct status c1_parse(struct c1 *out, const uint8_t *data, size_t size);
void c1_end(struct c1 *c1); /* a zeroed one is allowed */

/* Allocates the proofs of all partitions for a sector size, zeroed, all pointers set. */
MUST_USE struct status c1_start(struct c1 *out, const struct sector_size *sector);
size_t c1_bytes(const struct sector_size *sector);

/* The compact JSON of the Rust writer; for wrapped, Curio's wrapper round it with the sector number. Gives
 * *out (mem_free). Only official sectors have a form. */
MUST_USE struct status c1_write(uint8_t **out, size_t *size, const struct c1 *c1, bool wrapped);

#endif
