/* The tables of registry.h and the names that follow from them. */
#include "filecoin/registry.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "base/sha256.h"
#include <stdio.h>
#include <string.h>

#define SMALL 2, 2, 1, 2, 13, 26
#define LARGE 11, 18, 10, 176, 126, 2253

const struct sector_size SECTOR_SIZE[SECTOR_SIZES] = {
    {"2KiB", "2k", 6, SMALL, 0, 0, 2, true},       {"4KiB", "4k", 7, SMALL, 2, 0, 2, false},
    {"16KiB", "16k", 9, SMALL, 8, 0, 2, false},    {"32KiB", "32k", 10, SMALL, 8, 2, 2, false},
    {"8MiB", "8m", 18, SMALL, 0, 0, 2, true},      {"16MiB", "16m", 19, SMALL, 2, 0, 2, false},
    {"512MiB", "512m", 24, SMALL, 0, 0, 2, true},  {"1GiB", "1g", 25, SMALL, 2, 0, 2, false},
    {"32GiB", "32g", 30, LARGE, 8, 0, 2349, true}, {"64GiB", "64g", 31, LARGE, 8, 2, 2300, true},
};

#define SEALS(first, suffix, api, feature)                                                                   \
    {first, "StackedDrg2KiB" suffix, api, feature, &SECTOR_SIZE[0]},                                         \
        {first + 1, "StackedDrg8MiB" suffix, api, feature, &SECTOR_SIZE[4]},                                 \
        {first + 2, "StackedDrg512MiB" suffix, api, feature, &SECTOR_SIZE[6]},                               \
        {first + 3, "StackedDrg32GiB" suffix, api, feature, &SECTOR_SIZE[8]},                                \
    {                                                                                                        \
        first + 4, "StackedDrg64GiB" suffix, api, feature, &SECTOR_SIZE[9]                                   \
    }

const struct registered_seal REGISTERED_SEAL[REGISTERED_SEALS] = {
    SEALS(0, "V1", API_1_0, SEAL_INTERACTIVE),
    SEALS(5, "V1_1", API_1_1, SEAL_INTERACTIVE),
    SEALS(10, "V1_1_Feat_SyntheticPoRep", API_1_2, SEAL_SYNTHETIC), /* 1.2.0 in spite of the name */
    SEALS(15, "V1_2_Feat_NonInteractivePoRep", API_1_2, SEAL_NON_INTERACTIVE),
};

uint32_t sector_arities(uint32_t arities[SECTOR_LEVELS_MAX], const struct sector_size *s)
{
    uint32_t bits = s->log2_nodes, count = 0;
    for (uint32_t arity = 1; arity < s->sub; arity *= 2)
        bits--;
    for (uint32_t arity = 1; arity < s->top; arity *= 2)
        bits--;
    CHECK(bits % 3 == 0);
    for (; count < bits / 3; count++)
        arities[count] = 8;
    if (s->sub)
        arities[count++] = s->sub;
    if (s->top)
        arities[count++] = s->top;
    return count;
}

const struct sector_size *sector_by_bytes(uint64_t bytes)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++)
        if (sector_bytes(&SECTOR_SIZE[i]) == bytes)
            return &SECTOR_SIZE[i];
    return NULL;
}

const struct sector_size *sector_by_circuit(const char *circuit)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++)
        if (strcmp(SECTOR_SIZE[i].circuit, circuit) == 0)
            return &SECTOR_SIZE[i];
    return NULL;
}

const char *api_version_name(enum api_version api)
{
    static const char *const names[] = {"1.0.0", "1.1.0", "1.2.0"};
    return names[api];
}

const struct registered_seal *registered_seal_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < REGISTERED_SEALS; i++)
        if (strlen(REGISTERED_SEAL[i].name) == length && memcmp(REGISTERED_SEAL[i].name, name, length) == 0)
            return &REGISTERED_SEAL[i];
    return NULL;
}

void porep_id(uint8_t out[32], uint32_t registered_number)
{
    memset(out, 0, 32);
    store_le64(out, registered_number);
}

static const char *const KIND_NAME[PROOF_KINDS] = {"porep", "winning", "window", "snap", "snap-poseidon"};

const char *proof_kind_name(enum proof_kind kind)
{
    return KIND_NAME[kind];
}

/* As on the wire, where a Window circuit is "wpost". */
static const char *const CIRCUIT_KIND[PROOF_KINDS] = {"porep", "winning", "wpost", "snap", "snap-poseidon"};

void circuit_name(char out[CIRCUIT_NAME_MAX], enum proof_kind kind, const struct sector_size *sector)
{
    snprintf(out, CIRCUIT_NAME_MAX, "%s-%s", CIRCUIT_KIND[kind], sector->circuit);
}

static bool is_text(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool proof_kind_by_name(enum proof_kind *kind, const char *name, size_t length)
{
    for (int k = 0; k < PROOF_KINDS; k++) {
        if (is_text(KIND_NAME[k], name, length) || is_text(CIRCUIT_KIND[k], name, length)) {
            *kind = (enum proof_kind)k;
            return true;
        }
    }
    return false;
}

bool circuit_by_name(enum proof_kind *kind, const struct sector_size **sector, const char *name)
{
    const char *dash = strrchr(name, '-');
    if (!dash)
        return false;
    *sector = sector_by_circuit(dash + 1);
    return *sector != NULL && proof_kind_by_name(kind, name, (size_t)(dash - name));
}

static void tree_name(char out[64], const struct sector_size *s)
{
    snprintf(out, 64, "merkletree-poseidon_hasher-8-%u-%u", s->sub, s->top);
}

void parameter_identifier(char out[PARAMETER_IDENTIFIER_MAX], enum proof_kind kind,
                          const struct sector_size *s)
{
    char tree[64];
    tree_name(tree, s);
    unsigned long long nodes = sector_nodes(s), bytes = sector_bytes(s);
    switch (kind) {
    case PROOF_POREP:
        snprintf(out, PARAMETER_IDENTIFIER_MAX,
                 "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: %d "
                 "base_graph: drgraph::BucketGraph{size: %llu; degree: %d; hasher: poseidon_hasher} }, "
                 "challenges: LayerChallenges { layers: %u, max_count: %u }, tree: %s }",
                 EXPANDER_PARENTS, nodes, DRG_PARENTS, s->layers, s->challenges, tree);
        return;
    case PROOF_WINNING:
    case PROOF_WINDOW:
        snprintf(out, PARAMETER_IDENTIFIER_MAX,
                 "FallbackPoSt::PublicParams{sector_size: %llu, challenge_count: %u, sector_count: %u}",
                 bytes, kind == PROOF_WINNING ? 1U : 10U, kind == PROOF_WINNING ? 66U : s->window_sectors);
        return;
    case PROOF_SNAP:
    case PROOF_SNAP_POSEIDON:
        snprintf(out, PARAMETER_IDENTIFIER_MAX, "empty_sector_update::PublicParams{ sector_nodes: %llu }",
                 nodes);
        return;
    case PROOF_KINDS:
        break;
    }
    CHECK(kind < PROOF_KINDS);
}

void parameter_name(char out[PARAMETER_NAME_MAX], enum proof_kind kind, const struct sector_size *s)
{
    static const char *const prefix[PROOF_KINDS] = {
        "stacked-proof-of-replication", "proof-of-spacetime-fallback", "proof-of-spacetime-fallback",
        "empty-sector-update", "empty-sector-update-poseidon"};
    char identifier[PARAMETER_IDENTIFIER_MAX], tree[64], hex[65];
    uint8_t digest[32];
    parameter_identifier(identifier, kind, s);
    sha256(digest, identifier, strlen(identifier));
    hex_encode(hex, digest, 32);
    tree_name(tree, s);
    snprintf(out, PARAMETER_NAME_MAX, "v28-%s-%s-%s%s", prefix[kind], tree,
             kind == PROOF_POREP ? "sha256_hasher-" : "", hex);
}

const struct manifest_entry *manifest_by_file(const char *file)
{
    for (size_t i = 0; i < MANIFEST_COUNT; i++)
        if (strcmp(MANIFEST[i].file, file) == 0)
            return &MANIFEST[i];
    return NULL;
}

const struct manifest_entry *manifest_by_digest(const uint8_t digest[16])
{
    for (size_t i = 0; i < MANIFEST_COUNT; i++)
        if (memcmp(MANIFEST[i].digest, digest, 16) == 0)
            return &MANIFEST[i];
    return NULL;
}
