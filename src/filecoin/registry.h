/* What is fixed per sector size and per registered seal proof, as two tables, and the names that follow
 * from them: circuits ("porep-32g"), identifier strings, parameter files, and the published manifest of
 * their digests. Nothing here depends on a proof; everything else in this room starts from an entry of
 * these tables, so no other place knows a challenge count or a tree's shape. */
#ifndef CUZK_FILECOIN_REGISTRY_H
#define CUZK_FILECOIN_REGISTRY_H

#include "base/status.h"
#include <stdint.h>

#define NODE_BYTES        32
#define DRG_PARENTS       6
#define EXPANDER_PARENTS  8
#define PARENTS           (DRG_PARENTS + EXPANDER_PARENTS)
#define LABEL_INPUTS      37 /* parent values that one label hashes, repeats included */
#define LAYERS_MAX        11
#define CHALLENGES_MAX    18 /* per partition */
#define PARTITIONS_MAX    10 /* interactive and synthetic */
#define SECTOR_LEVELS_MAX 36
#define SECTOR_ARITY_MAX  8

struct sector_size {
    const char *name;    /* "32GiB": as in the JSON tags, and for people */
    const char *circuit; /* "32g": as in circuit names */
    uint32_t log2_nodes; /* a node is 32 bytes */
    uint32_t layers;
    uint32_t challenges;                /* per partition, all challenge kinds */
    uint32_t partitions;                /* interactive and synthetic */
    uint32_t minimum;                   /* challenges of all partitions that a seal needs */
    uint32_t ni_partitions, ni_minimum; /* the same, non-interactive */
    uint32_t sub, top; /* arities of tree_c and tree_r_last above the base trees of arity 8; 0 = absent */
    uint32_t window_sectors; /* sectors per WindowPoSt partition */
    bool official;           /* has registered proof numbers and published parameters */
};

/* All sizes, smallest first. */
#define SECTOR_SIZES 10
extern const struct sector_size SECTOR_SIZE[SECTOR_SIZES];

static inline uint64_t sector_nodes(const struct sector_size *s)
{
    return UINT64_C(1) << s->log2_nodes;
}
static inline uint64_t sector_bytes(const struct sector_size *s)
{
    return UINT64_C(32) << s->log2_nodes;
}
/* Arities of a path in tree_c and tree_r_last, leaf to root; returns their number. */
uint32_t sector_arities(uint32_t arities[SECTOR_LEVELS_MAX], const struct sector_size *s);
const struct sector_size *sector_by_bytes(uint64_t bytes);        /* NULL if there is none */
const struct sector_size *sector_by_circuit(const char *circuit); /* "32g" */

/* The order matters: later versions compare greater. */
enum api_version { API_1_0, API_1_1, API_1_2 };
const char *api_version_name(enum api_version api); /* "1.1.0" */
enum seal_feature { SEAL_INTERACTIVE, SEAL_SYNTHETIC, SEAL_NON_INTERACTIVE };

struct registered_seal {
    uint32_t number;  /* in Go, in the FFI and in porep_id */
    const char *name; /* in JSON */
    enum api_version api;
    enum seal_feature feature;
    const struct sector_size *sector;
};

#define REGISTERED_SEALS 20
extern const struct registered_seal REGISTERED_SEAL[REGISTERED_SEALS];                  /* by number */
const struct registered_seal *registered_seal_by_name(const char *name, size_t length); /* NULL if none */

/* LE64(number), 24 zero bytes. */
void porep_id(uint8_t out[32], uint32_t registered_number);

enum proof_kind { PROOF_POREP, PROOF_WINNING, PROOF_WINDOW, PROOF_SNAP, PROOF_SNAP_POSEIDON, PROOF_KINDS };
const char *proof_kind_name(enum proof_kind kind); /* "porep", "winning", "window", "snap", "snap-poseidon" */

/* Also by the kind's name in circuits ("wpost"). */
bool proof_kind_by_name(enum proof_kind *kind, const char *name, size_t length);

#define CIRCUIT_NAME_MAX 32
/* "porep-2k", "winning-2k", "wpost-2k", "snap-2k". */
void circuit_name(char out[CIRCUIT_NAME_MAX], enum proof_kind kind, const struct sector_size *sector);
/* The reverse, "window-2k" too; false for a name that stands for nothing. */
bool circuit_by_name(enum proof_kind *kind, const struct sector_size **sector, const char *name);

#define PARAMETER_IDENTIFIER_MAX 512
/* The string whose SHA-256 names the parameters. */
void parameter_identifier(char out[PARAMETER_IDENTIFIER_MAX], enum proof_kind kind,
                          const struct sector_size *sector);
#define PARAMETER_NAME_MAX 192
/* File name without ".params" or ".vk". */
void parameter_name(char out[PARAMETER_NAME_MAX], enum proof_kind kind, const struct sector_size *sector);

/* The published files: first 16 bytes of BLAKE2b-512. */
struct manifest_entry {
    const char *file; /* with extension */
    uint8_t digest[16];
    uint64_t sector_bytes;
};
extern const struct manifest_entry MANIFEST[];
extern const size_t MANIFEST_COUNT;
const struct manifest_entry *manifest_by_file(const char *file); /* NULL if not published */
const struct manifest_entry *manifest_by_digest(const uint8_t digest[16]);

#endif
