/* Graph, labels, identifiers and challenges against the known answers of the specification, sections 8.1
 * and 8.2, most of which are asserted by the reference's own tests. */
#include "support.h"
#include "base/bytes.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/sector.h"
#include "field/fr.h"

static void parents_digest(uint32_t number, enum api_version api, uint32_t log2_nodes, const char *hex)
{
    struct graph g;
    struct sha256 h;
    uint8_t id[32], digest[32];
    porep_id(id, number);
    graph_init(&g, id, log2_nodes, api);
    sha256_begin(&h);
    for (uint64_t v = 0; v < UINT64_C(1) << log2_nodes; v++) {
        uint32_t parents[PARENTS];
        uint8_t bytes[4 * PARENTS];
        graph_parents(&g, parents, v);
        for (int i = 0; i < PARENTS; i++)
            store_le32(bytes + 4 * i, parents[i]);
        sha256_add(&h, bytes, sizeof bytes);
    }
    sha256_end(&h, digest);
    same_hex(digest, 32, hex);
}

static void parents_2k(void **state)
{
    (void)state;
    parents_digest(0, API_1_0, 6, "3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d");
    parents_digest(5, API_1_1, 6, "840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97");
}

static void parents_8m(void **state)
{
    (void)state;
    parents_digest(1, API_1_0, 18, "a76604f2f59f2744c7151653bbb1d8596b6b57d295e6fa6c1f0c41d725b502ce");
    parents_digest(6, API_1_1, 18, "03cd13565ded97c240a5f52e54295ad127bd0461b57904cb3a4d79b097bbecab");
}

static void parents_large(void **state)
{
    (void)state;
    static const struct {
        uint32_t number, node, parents[PARENTS];
    } expected[] = {
        {8,
         1,
         {0, 0, 0, 0, 0, 0, 702693034, 366772265, 26763858, 547315823, 59704098, 413126652, 762902885,
          978177250}},
        {8,
         1000000,
         {999999, 728553, 970851, 951019, 995617, 999435, 89708585, 9031128, 72417564, 743307104, 529092067,
          472410944, 699455360, 465952275}},
        {8,
         1073741823,
         {1073741822, 1073258530, 440642413, 663190843, 1073741654, 1073741786, 307718517, 715446084,
          558280128, 265147410, 110937796, 626719228, 201839602, 653041812}},
        {9,
         2147483647,
         {2147483646, 2147483645, 2147473607, 2147483646, 2147483609, 1322413322, 319537050, 259923117,
          180788485, 1838730986, 786079656, 319786570, 1561782586, 1183784015}},
        {3,
         1000000,
         {938467, 900027, 999996, 976909, 996913, 999999, 130999353, 6684640, 72116556, 205654979, 187952996,
          201796893, 442254375, 365451623}},
        {4,
         2147483647,
         {2141235863, 2147212826, 2147482039, 772148166, 2147483452, 2147483646, 410488621, 225034157,
          275186360, 7928278, 248739608, 415470629, 20246382, 24229879}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct registered_seal *r = &REGISTERED_SEAL[expected[i].number];
        struct graph g;
        uint8_t id[32];
        uint32_t parents[PARENTS];
        porep_id(id, r->number);
        graph_init(&g, id, r->sector->log2_nodes, r->api);
        graph_parents(&g, parents, expected[i].node);
        for (int k = 0; k < PARENTS; k++)
            assert_int_equal(parents[k], expected[i].parents[k]);
    }
    struct graph g;
    uint8_t id[32];
    porep_id(id, 8);
    graph_init(&g, id, 30, API_1_1);
    same_hex(g.drg_seed, 28, "ba0350183955dc9f07e73503f5c63ff1bd9c22501363983de241f74a");
    assert_true(g.feistel_keys[0] == UINT64_C(0x35a20d6c881b3e73));
    assert_true(g.feistel_keys[2] == UINT64_C(0xa8c1ad029b31fcb5));
}

/* All labels of a small graph in plain order; the last layer's last label. */
static void all_labels(uint64_t words[4], uint32_t log2_nodes, uint8_t id_byte, enum api_version api)
{
    enum { NODES_MAX = 128 };
    static uint8_t labels[12][NODES_MAX][32];
    struct graph g;
    uint8_t id[32], replica[32];
    uint32_t n = 1U << log2_nodes;
    memset(id, id_byte, 32);
    memset(replica, 9, 32);
    graph_init(&g, id, log2_nodes, api);
    for (uint32_t l = 1; l <= 11; l++) {
        for (uint32_t v = 0; v < n; v++) {
            uint32_t parents[PARENTS];
            const uint8_t *values[PARENTS];
            graph_parents(&g, parents, v);
            for (uint32_t i = 0; i < PARENTS; i++)
                values[i] = labels[i < DRG_PARENTS ? l : l - 1][parents[i]];
            label_hash(labels[l][v], replica, l, v, values,
                       v == 0   ? 0
                       : l == 1 ? DRG_PARENTS
                                : PARENTS,
                       NULL);
        }
    }
    for (int i = 0; i < 4; i++)
        words[i] = load_le64(labels[11][n - 1] + 8 * i);
}

static void labels_of_reference(void **state)
{
    (void)state;
    static const struct {
        uint32_t log2_nodes;
        uint8_t id;
        enum api_version api;
        uint64_t words[4];
    } expected[] = {
        {6, 0x00, API_1_0, {0xd3faa96b9a0fba04, 0xea81a283d106485e, 0xe3d51b9afa5ac2b3, 0x0462f4f4f1a68d37}},
        {7, 0x00, API_1_0, {0x7e191e52c4a8da86, 0x5ae8a1c9e6fac148, 0xce239f3b88a894b8, 0x234c00d1dc1d53be}},
        {6, 0x7b, API_1_1, {0xabb3f38bb70defcf, 0x777a2e4d7769119f, 0x3448959d495490bc, 0x06021188c7a71cb5}},
        {7, 0x7b, API_1_1, {0x22ab81cf68c4676d, 0x7a77a82fc7c9c189, 0xc6c03d32c1e42d23, 0x0f777c18cc2c55bd}},
        {6, 0x7b, API_1_2, {0xabb3f38bb70defcf, 0x777a2e4d7769119f, 0x3448959d495490bc, 0x06021188c7a71cb5}},
        {7, 0x7b, API_1_2, {0x22ab81cf68c4676d, 0x7a77a82fc7c9c189, 0xc6c03d32c1e42d23, 0x0f777c18cc2c55bd}},
    };
    for (size_t i = 0; i < 6; i++) {
        uint64_t words[4];
        all_labels(words, expected[i].log2_nodes, expected[i].id, expected[i].api);
        assert_memory_equal(words, expected[i].words, sizeof words);
    }
}

static void counting_bytes(uint8_t out[32])
{
    for (uint8_t i = 0; i < 32; i++)
        out[i] = i;
}

static void single_labels(void **state)
{
    (void)state;
    uint8_t replica[32], out[32], values[PARENTS][32], inputs[LABEL_INPUTS][32];
    const uint8_t *pointers[PARENTS];
    counting_bytes(replica);
    for (uint32_t i = 0; i < PARENTS; i++) {
        memset(values[i], (int)i, 31);
        values[i][31] = 0;
        pointers[i] = values[i];
    }
    label_hash(out, replica, 1, 0, NULL, 0, NULL);
    same_hex(out, 32, "0673a1fdce8a76fa61e92977ee6b0b6b287f282791d0a522610a388fb3544e2c");
    label_hash(out, replica, 1, 5, pointers, DRG_PARENTS, inputs);
    same_hex(out, 32, "184ead56052d6a47dfdbf052fe905d830ba6666fabc2b7a3d2676bad69b9920d");
    for (uint32_t i = 0; i < LABEL_INPUTS; i++)
        assert_memory_equal(inputs[i], values[i % DRG_PARENTS], 32);
    label_hash(out, replica, 2, 5, pointers, PARENTS, inputs);
    same_hex(out, 32, "bc30ba13795acee97396c2a2843c6bf26ad87d1be8e09982136e226418fdcf09");
    for (uint32_t i = 0; i < LABEL_INPUTS; i++)
        assert_memory_equal(inputs[i], values[i % PARENTS], 32);
}

static void identifiers(void **state)
{
    (void)state;
    uint8_t prover[32], id[32], out[32], comm_d[32], ticket[32];
    prover_id(prover, 1000);
    uint8_t expected[32] = {0xe8, 0x07};
    assert_memory_equal(prover, expected, 32);
    prover_id(prover, 127);
    assert_true(prover[0] == 127 && prover[1] == 0);
    prover_id(prover, UINT64_MAX);
    assert_true(prover[8] == 0xff && prover[9] == 1 && prover[10] == 0);
    prover_id(prover, 1000);
    porep_id(id, 5);
    memset(ticket, 1, 32);
    from_hex(comm_d, 32, "a93b943af3658299a363ece64e2a1229a9701cc1d722f386f10816e398bbb212");
    replica_id(out, prover, 1, ticket, comm_d, id);
    same_hex(out, 32, "81e135c6566e304ce8944de204a0ce9a92d24d3f7de8b4bac913eb1e3c479c15");
}

static void challenges_of_each_kind(void **state)
{
    (void)state;
    struct challenges c;
    uint8_t replica[32], comm_r[32], seed[32];
    counting_bytes(replica);
    memset(comm_r, 9, 32);
    memset(seed, 7, 32);
    static const uint32_t numbers[2][4] = {{0, 1, 2, 179}, {0, 1, 2, 2267}};
    static const uint64_t interactive[4] = {633115437, 792032417, 769615770, 844325849},
                          non_interactive[4] = {481790168, 492641321, 319487856, 751777836},
                          set[3] = {1064439822, 506279729, 616078874};
    static const uint32_t selected[4] = {111399, 113370, 261970, 171694};
    ok(challenges_start(&c, SEAL_INTERACTIVE, 30, replica, comm_r, seed));
    for (int i = 0; i < 4; i++)
        assert_true(challenges_get(&c, numbers[0][i]) == interactive[i]);
    ok(challenges_start(&c, SEAL_NON_INTERACTIVE, 30, replica, comm_r, seed));
    for (int i = 0; i < 4; i++)
        assert_true(challenges_get(&c, numbers[1][i]) == non_interactive[i]);
    ok(challenges_start(&c, SEAL_SYNTHETIC, 30, replica, comm_r, seed));
    for (uint32_t i = 0; i < 3; i++)
        assert_true(challenges_synthetic(&c, i) == set[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(challenges_selected(&c, numbers[0][i]), selected[i]);
    assert_true(challenges_get(&c, 0) == challenges_synthetic(&c, 111399));
}

/* The reference's own hard-coded synthetic set. */
static void synthetic_of_reference(void **state)
{
    (void)state;
    static const uint64_t set[21] = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                     801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
    static const uint64_t chosen[10] = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
    uint8_t replica[32] = {55}, comm_r[32] = {101}, seed[32];
    struct challenges c;
    memset(seed, 1, 32);
    ok(challenges_start(&c, SEAL_SYNTHETIC, 10, replica, comm_r, seed));
    c.synthetic_count = 21;
    for (uint32_t i = 0; i < 21; i++)
        assert_true(challenges_synthetic(&c, i) == set[i]);
    for (uint32_t i = 0; i < 10; i++)
        assert_true(challenges_get(&c, i) == chosen[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parents_2k),
                                       cmocka_unit_test(parents_large),
                                       cmocka_unit_test(labels_of_reference),
                                       cmocka_unit_test(single_labels),
                                       cmocka_unit_test(identifiers),
                                       cmocka_unit_test(challenges_of_each_kind),
                                       cmocka_unit_test(synthetic_of_reference)};
    const struct CMUnitTest full[] = {cmocka_unit_test(parents_8m)};
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        return cmocka_run_group_tests(full, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
