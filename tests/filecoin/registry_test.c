/* The tables against the specification's: counts, names, all 44 published files, identifier strings. */
#include "support.h"
#include "filecoin/registry.h"

static void sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t arities[12], count;
    } expected[SECTOR_SIZES] = {
        {2048, {8, 8}, 2},
        {4096, {8, 8, 2}, 3},
        {16384, {8, 8, 8}, 3},
        {32768, {8, 8, 8, 2}, 4},
        {8 << 20, {8, 8, 8, 8, 8, 8}, 6},
        {16 << 20, {8, 8, 8, 8, 8, 8, 2}, 7},
        {512 << 20, {8, 8, 8, 8, 8, 8, 8, 8}, 8},
        {1 << 30, {8, 8, 8, 8, 8, 8, 8, 8, 2}, 9},
        {UINT64_C(32) << 30, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8}, 10},
        {UINT64_C(64) << 30, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2}, 11},
    };
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        const struct sector_size *s = &SECTOR_SIZE[i];
        uint32_t arities[SECTOR_LEVELS_MAX];
        assert_true(sector_bytes(s) == expected[i].bytes);
        assert_ptr_equal(sector_by_bytes(expected[i].bytes), s);
        assert_ptr_equal(sector_by_circuit(s->circuit), s);
        assert_int_equal(sector_arities(arities, s), expected[i].count);
        uint64_t leaves = 1;
        for (uint32_t k = 0; k < expected[i].count; k++) {
            assert_int_equal(arities[k], expected[i].arities[k]);
            leaves *= arities[k];
        }
        assert_true(leaves == sector_nodes(s));
        assert_int_equal(s->challenges, (s->minimum + s->partitions - 1) / s->partitions);
        assert_int_equal(s->challenges, (s->ni_minimum + s->ni_partitions - 1) / s->ni_partitions);
        assert_true(s->layers <= LAYERS_MAX && s->challenges <= CHALLENGES_MAX &&
                    s->partitions <= PARTITIONS_MAX);
    }
    assert_null(sector_by_bytes(2047));
    assert_null(sector_by_circuit("3k"));
}

static void seals(void **state)
{
    (void)state;
    static const uint64_t bytes[5] = {2048, 8 << 20, 512 << 20, UINT64_C(32) << 30, UINT64_C(64) << 30};
    static const enum api_version api[4] = {API_1_0, API_1_1, API_1_2, API_1_2};
    static const enum seal_feature feature[4] = {SEAL_INTERACTIVE, SEAL_INTERACTIVE, SEAL_SYNTHETIC,
                                                 SEAL_NON_INTERACTIVE};
    for (uint32_t i = 0; i < REGISTERED_SEALS; i++) {
        const struct registered_seal *r = &REGISTERED_SEAL[i];
        assert_int_equal(r->number, i);
        assert_true(sector_bytes(r->sector) == bytes[i % 5] && r->sector->official);
        assert_true(r->api == api[i / 5] && r->feature == feature[i / 5]);
        assert_ptr_equal(registered_seal_by_name(r->name, strlen(r->name)), r);
        assert_null(registered_seal_by_name(r->name, strlen(r->name) - 1));
    }
    assert_string_equal(REGISTERED_SEAL[0].name, "StackedDrg2KiBV1");
    assert_string_equal(REGISTERED_SEAL[8].name, "StackedDrg32GiBV1_1");
    assert_string_equal(REGISTERED_SEAL[13].name, "StackedDrg32GiBV1_1_Feat_SyntheticPoRep");
    assert_string_equal(REGISTERED_SEAL[19].name, "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep");
    assert_string_equal(api_version_name(API_1_2), "1.2.0");
    uint8_t id[32], expected[32] = {8};
    porep_id(id, 8);
    assert_memory_equal(id, expected, 32);
}

static void circuit_names(void **state)
{
    (void)state;
    char name[CIRCUIT_NAME_MAX];
    enum proof_kind kind;
    const struct sector_size *sector;
    for (int k = 0; k < PROOF_KINDS; k++) {
        for (size_t i = 0; i < SECTOR_SIZES; i++) {
            circuit_name(name, (enum proof_kind)k, &SECTOR_SIZE[i]);
            assert_true(circuit_by_name(&kind, &sector, name));
            assert_true((int)kind == k && sector == &SECTOR_SIZE[i]);
        }
    }
    circuit_name(name, PROOF_POREP, &SECTOR_SIZE[8]);
    assert_string_equal(name, "porep-32g");
    circuit_name(name, PROOF_WINDOW, &SECTOR_SIZE[8]);
    assert_string_equal(name, "wpost-32g");
    assert_true(circuit_by_name(&kind, &sector, "window-32g"));
    assert_int_equal(kind, PROOF_WINDOW);
    static const char *const wrong[] = {"",    "porep",   "porep-",    "porep-3k",
                                        "-2k", "pore-2k", "porepp-2k", "porep-2k-"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(circuit_by_name(&kind, &sector, wrong[i]));
}

/* Every published name follows from the rules: 22 pairs. The Poseidon update exists for two sizes only. */
static void published_names(void **state)
{
    (void)state;
    size_t found = 0;
    for (int k = 0; k < PROOF_KINDS; k++) {
        for (size_t i = 0; i < SECTOR_SIZES; i++) {
            const struct sector_size *s = &SECTOR_SIZE[i];
            char name[PARAMETER_NAME_MAX], file[PARAMETER_NAME_MAX + 8];
            parameter_name(name, (enum proof_kind)k, s);
            static const char *const extensions[] = {"params", "vk"};
            for (int e = 0; e < 2; e++) {
                snprintf(file, sizeof file, "%s.%s", name, extensions[e]);
                const struct manifest_entry *m = manifest_by_file(file);
                bool published = s->official && (k != PROOF_SNAP_POSEIDON || s->layers == 11);
                assert_int_equal(m != NULL, published);
                if (!m)
                    continue;
                found++;
                assert_true(m->sector_bytes == sector_bytes(s));
                assert_ptr_equal(manifest_by_digest(m->digest), m);
            }
        }
    }
    assert_int_equal(found, 44);
    assert_int_equal(MANIFEST_COUNT, 44);
    assert_null(manifest_by_digest((const uint8_t[16]){0}));
    const struct manifest_entry *m =
        manifest_by_file("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
                         "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.params");
    assert_non_null(m);
    same_hex(m->digest, 16, "434fb1338ecfaf0f59256f30dde4968f");
}

static void unpublished_names(void **state)
{
    (void)state;
    static const struct {
        const char *circuit, *hash;
    } expected[] = {
        {"4k", "71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b"},
        {"16k", "5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74"},
        {"32k", "2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd"},
        {"16m", "86c715b389cbfdcb1c84b73e4bf276474652288a6aefcaa9f9600c21b0cff44e"},
        {"1g", "002b03e3cbccd5d23c5f673a39ec4127ae31a1820be2faa32f72fdc75cf262c2"},
    };
    for (size_t i = 0; i < 5; i++) {
        char name[PARAMETER_NAME_MAX];
        parameter_name(name, PROOF_POREP, sector_by_circuit(expected[i].circuit));
        assert_non_null(strstr(name, expected[i].hash));
    }
    char identifier[PARAMETER_IDENTIFIER_MAX];
    parameter_identifier(identifier, PROOF_POREP, sector_by_circuit("32g"));
    assert_string_equal(
        identifier,
        "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: 8 "
        "base_graph: drgraph::BucketGraph{size: 1073741824; degree: 6; hasher: poseidon_hasher} }, "
        "challenges: LayerChallenges { layers: 11, max_count: 18 }, tree: "
        "merkletree-poseidon_hasher-8-8-0 }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(seals),
                                       cmocka_unit_test(circuit_names), cmocka_unit_test(published_names),
                                       cmocka_unit_test(unpublished_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
