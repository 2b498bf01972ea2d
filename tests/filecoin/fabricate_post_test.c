/* Fabricated PoSts: the specification's known answers, the reference's production circuits by digest, broken
 * witnesses; and a real 32 GiB sector.
 *
 *     --threads  what the pool works on, for ThreadSanitizer
 *     --full     a 32 GiB Window partition: all digests, the real sector satisfies, 2,349 distinct sectors */
#include "circuit_digests.h"
#include "support.h"

#include "filecoin/fabricate_post.h"
#include "filecoin/request.h"
#include "groth16/proof.h"

#include <time.h>

static struct work WORK = {NULL, PRIORITY_NORMAL, NULL};
static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct fabricated_request {
    struct fabricated_post post;
    struct bytes_view *vanilla;
    struct proof_request request;
};

static void request_start(struct fabricated_request *r, uint64_t number, uint32_t partition_index)
{
    const struct registered_post *registered = registered_post(number);
    r->vanilla = mem_alloc(r->post.count, sizeof *r->vanilla);
    assert_non_null(r->vanilla);
    for (size_t i = 0; i < r->post.count; i++)
        r->vanilla[i] = (struct bytes_view){r->post.vanilla + i * r->post.sector_bytes, r->post.sector_bytes};
    r->request = (struct proof_request){.kind = registered->kind,
                                        .registered_proof = number,
                                        .sector_size = sector_bytes(registered->sector),
                                        .randomness = {r->post.randomness, 32},
                                        .partition_index = partition_index,
                                        .vanilla = r->vanilla,
                                        .vanilla_count = r->post.count};
}

static void fabricate(struct fabricated_request *r, uint64_t number, uint32_t partition_index,
                      const uint64_t *ids, size_t count, const char *name)
{
    struct fabricate_post_request wanted = {registered_post(number), partition_index, ids, count, name};
    ok(fabricate_post(&r->post, &wanted, &WORK));
    request_start(r, number, partition_index);
}

static void fabricated_end(struct fabricated_request *r)
{
    mem_free(r->vanilla);
    fabricated_post_end(&r->post);
}

/* ---- vanilla bytes ---- */

struct answer {
    uint64_t number, ids[2];
    uint32_t partition_index;
    size_t count, which; /* sector of the partition that the rest is about */
    uint64_t challenges[10];
    uint32_t challenges_count;
    const char *comm_r, *sha256;
};

/* clang-format off */
static const struct answer ANSWERS[] = {
    {0, {7}, 0, 1, 0, {33, 37, 45, 53, 36, 46, 51, 23, 4, 31}, 10, "02d3f424b429867c7e6874308ce942c58f55b7919c03f2bb7f0266b7bd8d7e01", "2e3f542b7657bf59340604531b3c9317e87768a497127cdc83f08ffe88ed315f"},
    {5, {1}, 0, 1, 0, {46, 10, 14, 42, 22, 8, 31, 41, 43, 30}, 10, "17d3ff5531f14c6f0104dfbb075a1fec633ec21e6e81720325d45b242ed1af41", "a76d3265ba10050e44c6e33bca337aa41936b1b8b3214ce97686e5aa1d0813b3"},
    {10, {1}, 0, 1, 0, {46, 10, 14, 42, 22, 8, 31, 41, 43, 30}, 10, "17d3ff5531f14c6f0104dfbb075a1fec633ec21e6e81720325d45b242ed1af41", "a76d3265ba10050e44c6e33bca337aa41936b1b8b3214ce97686e5aa1d0813b3"},
    {5, {1, 2}, 0, 2, 1, {22, 30, 25, 3, 8, 11, 55, 28, 0, 11}, 10, "d579957d303869090b4acd6c2adea2ab76564b55d784e9aeab1f8b2d9511ae14", "5e961488e4757ca7c6410a0b8575677fcaad7b88fd08b25c525c02982f0b585a"},
    {10, {1, 2}, 0, 2, 1, {46, 32, 45, 18, 29, 13, 10, 62, 52, 27}, 10, "8bf0aa34e1512b85e567c6a762f6d156ca53a67f7d7799cc1213164878747146", "90aa365786525c60bf6540d14bd2bb2a856620bf1860971c82965630ce650a49"},
    {10, {5}, 0, 1, 0, {26, 20, 59, 15, 60, 46, 40, 17, 54, 28}, 10, "c791d29f21844967cf96130b0ea20bc14b6f981bbf259a86f621ed83d054f24e", "04ac2b48995a16b065aa84cab0a74481810a3629ca67baea690a62a8a6c3f52d"},
    {5, {8}, 1, 1, 0, {44, 22, 47, 6, 48, 4, 20, 18, 43, 35}, 10, "647f242a22f99471919203afba11ea6c1d8be5b2244057bcce1cba39d569fc33", "46603f94d42c9a5e1de2f6585192ed136ced9f73a918217f6258fac8ba56a8c0"},
    {3, {7}, 0, 1, 0, {608454561, 354995621, 399825389, 347619957, 956114980}, 5, "36082f186195eccbde4abbbd2dcd49a4d9c287a7ca64871161f25ddf40750a26", "01f90af55c3040073b42b444bab4e02ddceb5897e1231f99a9f1098c4b73b268"},
    {13, {7}, 0, 1, 0, {608454561, 354995621, 399825389, 347619957, 956114980}, 5, "09a6823ef4bd0ad9a2975087a3381abed0de62a45b6cc1cd9be21799e62bd848", "860c936af132b00cb5c8a4c4d21fa701f04b8634a90cf38df9677b283a5f98db"},
    {14, {7}, 0, 1, 0, {1682196385, 1428737445, 1473567213, 347619957, 956114980, 576011694, 1279515187, 128991383, 2113086788, 907731871}, 10, "b0fe2a2ce239ba65341a0d6f977d400a633ee456f125b03efaa8df5ff8d5ba33", "5a9ebdca3989c2ca86975dc49a85c70c5ec1fe5392e6481e5447aea252b0c7f3"},
};
/* clang-format on */

static void vanilla_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ANSWERS / sizeof *ANSWERS; i++) {
        const struct answer *a = &ANSWERS[i];
        const struct registered_post *registered = registered_post(a->number);
        struct fabricated_request r;
        struct request *request;
        uint8_t digest[32];
        fabricate(&r, a->number, a->partition_index, a->ids, a->count, NULL);
        const struct bytes_view *v = &r.vanilla[a->which];
        same_hex(v->data + 8, 32, a->comm_r);
        sha256(digest, v->data, v->size);
        same_hex(digest, 32, a->sha256);
        for (uint32_t n = 0; n < a->challenges_count; n++)
            assert_true(post_leaf_challenge(registered, r.post.randomness, a->partition_index,
                                            (uint32_t)a->which, a->ids[a->which], n) == a->challenges[n]);
        ok(request_open(&request, &r.request, &WORK));
        ok(request_diagnose(request, &WORK));
        request_end(request);
        fabricated_end(&r);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const size_t winning[5] = {36816, 100176, 131856, 164064, 167760};
    static const size_t window[5] = {5680, 15280, 20080, 24960, 25520};
    for (uint32_t i = 0; i < REGISTERED_POSTS; i++)
        assert_int_equal(post_sector_bytes(registered_post(i)), i < 5 ? winning[i] : window[i % 5]);
    struct fabricated_post f;
    static const uint64_t ids[3] = {1, 2, 3};
    struct fabricate_post_request wanted = {registered_post(0), 0, ids, 2, NULL};
    fails(fabricate_post(&f, &wanted, &HERE), STATUS_INVALID, "of 1 to 1 sectors, not 2");
    wanted.registered = registered_post(5);
    wanted.count = 3;
    fails(fabricate_post(&f, &wanted, &HERE), STATUS_INVALID, "of 1 to 2 sectors, not 3");
    wanted.count = 0;
    fails(fabricate_post(&f, &wanted, &HERE), STATUS_INVALID, "not 0");
    wanted.count = 2;
    size_t used = mem_used();
    mem_fail_after(1);
    struct status s = fabricate_post(&f, &wanted, &HERE);
    mem_fail_after(0);
    assert_int_equal(s.code, STATUS_MEMORY);
    struct cancel cancel;
    atomic_init(&cancel.requested, true);
    struct work cancelled = {NULL, PRIORITY_NORMAL, &cancel};
    assert_int_equal(fabricate_post(&f, &wanted, &cancelled).code, STATUS_CANCELLED);
    assert_true(mem_used() == used);
}

static void named(void **state)
{
    (void)state;
    static const uint64_t ids[2] = {12, UINT64_MAX};
    struct fabricated_request a, b;
    struct request *request;
    for (uint64_t number = 6; number <= 11; number += 5) { /* 8 MiB, both generations */
        fabricate(&a, number, 3, ids, 2, "one");
        fabricate(&b, number, 3, ids, 2, "one");
        assert_memory_equal(a.post.vanilla, b.post.vanilla, 2 * a.post.sector_bytes);
        fabricated_end(&b);
        ok(request_open(&request, &a.request, &WORK));
        request_end(request);
        fabricate(&b, number, 3, ids, 2, "two");
        assert_memory_not_equal(a.post.randomness, b.post.randomness, 32);
        fabricated_end(&b);
        fabricated_end(&a);
    }
}

/* ---- circuits ---- */

static void synthesise(struct circuit_digests *out, struct shape **shape, const struct fabricated_request *r,
                       unsigned wanted)
{
    struct request *request;
    struct seeds seeds;
    ok(request_open(&request, &r->request, &WORK));
    const struct request_outline *facts = request_facts(request);
    double start = seconds();
    ok(circuit_shape(shape, facts->kind, facts->sector));
    double built = seconds();
    ok(request_seeds(&seeds, request, *shape, 0));
    if (facts->sector->log2_nodes >= 30)
        print_message("%s: shape in %.2f s, %.1f MB; seeds in %.4f s, %.1f MB\n", facts->circuit,
                      built - start, (double)shape_bytes(*shape) / 1e6, seconds() - built,
                      (double)seeds_bytes(*shape) / 1e6);
    if (wanted)
        circuit_digests_of_seeds(out, *shape, &seeds, wanted, &WORK);
    seeds_end(&seeds);
    request_end(request);
}

static void digests_2k(void **state)
{
    (void)state;
    static const char window[] = "e94b0a21e4c084b5e2840fb7df3fe30c19ce9da09b7ba006ca220b290b3af848";
    static const struct {
        uint64_t number, ids[2];
        uint32_t partition_index;
        size_t count;
        const char *rows, *witness;
    } expected[] = {
        {0,
         {7},
         0,
         1,
         "654fc20db63183dca27696ad58051b3b70f8cef6138071976821516959b36d4c",
         "3bc4182061ff26742a03a5614ad9fdbb859b49f44b7271a3a01a0cd1f780bcd7"},
        {5, {1, 2}, 0, 2, window, "a94a944766bdfc0b7f6fb8e81d3c49baf4ad29610c7aac1738f90fd88cecbffc"},
        {10, {1, 2}, 0, 2, window, "8b4b247b6db0426a0640a42bb411c25895996ab2ff8831c737a2a2d93f765b26"},
        {10, {5}, 0, 1, window, "0a3aba0216fed4a8a5d7e3abff7e5d5e28894d7863ef856e167a507c4cb1072f"},
        {5, {8}, 1, 1, window, "5d0464fb4b0e76f5218697ad2bcfe1e1f4b780319c2dd6063a7546840338aaef"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct fabricated_request r;
        struct circuit_digests d;
        struct shape *shape;
        fabricate(&r, expected[i].number, expected[i].partition_index, expected[i].ids, expected[i].count,
                  NULL);
        synthesise(&d, &shape, &r, DIGEST_ROWS_U64 | DIGEST_VALUES);
        assert_string_equal(d.rows_u64, expected[i].rows);
        assert_string_equal(d.witness, expected[i].witness);
        assert_int_equal(d.unsatisfied, 0);
        shape_release(shape);
        fabricated_end(&r);
    }
}

static void winning(void **state)
{
    (void)state;
    static const char *const files[] = {
        "production/winning-8m.facts.json", "production/winning-512m.facts.json",
        "production/winning-32g.facts.json", "production/winning-64g.facts.json"};
    static const uint64_t id = 7;
    for (uint64_t i = 0; i < 4; i++) {
        const unsigned wanted = DIGEST_ROWS | DIGEST_ROWS_U64 | DIGEST_VALUES;
        struct fabricated_request r;
        struct circuit_digests d;
        struct shape *shape;
        fabricate(&r, 1 + i, 0, &id, 1, NULL);
        synthesise(&d, &shape, &r, wanted);
        expect_facts(&d, shape, files[i], wanted);
        shape_release(shape);
        fabricated_end(&r);
    }
}

/* Counts and densities of a 32 GiB Window partition; with digests, everything. */
static void window_32g(unsigned wanted)
{
    static const uint64_t id = 7;
    struct fabricated_request r;
    struct circuit_digests d = {.unsatisfied = 0};
    struct shape *shape;
    fabricate(&r, 13, 0, &id, 1, NULL);
    double start = seconds();
    synthesise(&d, &shape, &r, wanted);
    if (wanted)
        print_message("wpost-32g: expansion and all digests in %.1f s\n", seconds() - start);
    expect_facts(&d, shape, "production/window-32g.facts.json", wanted);
    shape_release(shape);
    fabricated_end(&r);
}

static void window_32g_counts(void **state)
{
    (void)state;
    window_32g(0);
}

static void window_32g_digests(void **state)
{
    (void)state;
    window_32g(DIGEST_ROWS | DIGEST_VALUES);
}

/* 2,349 sectors, each its own tree. */
static void window_32g_distinct(void **state)
{
    (void)state;
    uint64_t ids[2349];
    struct fabricated_request r;
    struct shape *shape;
    for (uint32_t i = 0; i < 2349; i++)
        ids[i] = 3 * i + 1;
    double start = seconds();
    fabricate(&r, 13, 0, ids, 2349, "distinct");
    print_message("wpost-32g: 2,349 sectors fabricated in %.1f s\n", seconds() - start);
    synthesise(NULL, &shape, &r, 0);
    shape_release(shape);
    fabricated_end(&r);
}

/* ---- a real sector ---- */

static void real_sector(bool satisfied)
{
    static const uint64_t leaves[10] = {707914199, 439148358,  967788220, 548708700,  1061661429,
                                        6202012,   1055504637, 389535735, 1000069704, 600088878};
    struct fabricated_request r = {.post = {.count = 1}};
    struct request *request;
    r.post.vanilla = test_file("production/window-32g-sector.vproof", &r.post.sector_bytes);
    for (uint64_t number = 8; number <= 13; number += 5) {
        request_start(&r, number, 0);
        ok(request_open(&request, &r.request, &HERE));
        fr *inputs = mem_alloc(circuit_inputs(PROOF_WINDOW, request_facts(request)->sector), sizeof *inputs);
        assert_non_null(inputs);
        ok(request_inputs(inputs, request, 0));
        uint8_t comm_r[32];
        fr_to_bytes(comm_r, &inputs[0]);
        same_hex(comm_r, 32, "df691086e3c673c95a45908713d4c5938e5ced43f21b888bd9bc6e181c9f326b");
        for (uint32_t n = 0; n < 10; n++) {
            fr leaf;
            fr_from_u64(&leaf, leaves[n]);
            assert_true(fr_equal(&inputs[1 + n], &leaf));
        }
        mem_free(inputs);
        request_end(request);
        mem_free(r.vanilla);
    }
    if (satisfied) {
        struct circuit_digests d;
        struct shape *shape;
        request_start(&r, 13, 0);
        synthesise(&d, &shape, &r, DIGEST_VALUES);
        assert_int_equal(d.unsatisfied, 0);
        shape_release(shape);
        mem_free(r.vanilla);
    }
    mem_free(r.post.vanilla);
}

static void real_sector_opens(void **state)
{
    (void)state;
    real_sector(false);
}

static void real_sector_satisfies(void **state)
{
    (void)state;
    real_sector(true);
}

/* ---- broken witnesses and wrong inputs ---- */

static void broken(struct shape *shape, struct seeds *seeds, const char *what, uint32_t at)
{
    struct witness witness;
    uint32_t row;
    ok(witness_start(&witness, shape));
    ok(witness_expand(&witness, shape, seeds, &HERE));
    ok(witness_first_unsatisfied(&row, shape, &witness));
    if (row == UINT32_MAX)
        fail_msg("with %s %u changed every row holds", what, at);
    witness_end(&witness);
}

/* Seeds of a block: comm_r_last, comm_c, comm_r; leaf and 14 siblings, six index bits, of every path. The
 * first block with every seed, and the last one. */
static void every_class_breaks(void **state)
{
    (void)state;
    static const uint64_t ids[2] = {4, 9};
    for (uint64_t number = 0; number <= 10; number += 10) {
        struct fabricated_request r;
        struct request *request;
        struct shape *shape;
        struct seeds seeds;
        fabricate(&r, number, 0, ids, number == 0 ? 1 : 2, "broken");
        ok(request_open(&request, &r.request, &HERE));
        ok(circuit_shape(&shape, r.request.kind, request_facts(request)->sector));
        ok(request_seeds(&seeds, request, shape, 0));
        uint32_t last = seeds.fields_count - 15;
        for (uint32_t i = 0; i < seeds.fields_count; i = i == 17 ? last : i + 1) {
            fr good = seeds.fields[i];
            fr_add(&seeds.fields[i], &good, &FR_ONE);
            broken(shape, &seeds, "field seed", i);
            seeds.fields[i] = good;
        }
        for (uint32_t i = 0; i < seeds.bits_count; i = i == 5 ? seeds.bits_count - 1 : i + 1) {
            seeds.bits[i / 64] ^= UINT64_C(1) << i % 64;
            broken(shape, &seeds, "index bit", i);
            seeds.bits[i / 64] ^= UINT64_C(1) << i % 64;
        }
        for (uint32_t i = 0; i < seeds.inputs_count; i = i == 5 ? seeds.inputs_count - 1 : i + 1) {
            fr good = seeds.inputs[i];
            fr_add(&seeds.inputs[i], &good, &FR_ONE);
            broken(shape, &seeds, "input", i);
            seeds.inputs[i] = good;
        }
        seeds_end(&seeds);
        shape_release(shape);
        request_end(request);
        fabricated_end(&r);
    }
}

/* The published proof of a real 2 KiB sector holds for its inputs and for no others. */
static void inputs_are_those_of_the_proof(void **state)
{
    (void)state;
    uint8_t randomness[32];
    struct fabricated_request r = {.post = {.count = 1}};
    struct request *request;
    struct verifying_key key;
    struct proof proof;
    fr inputs[132], good;
    size_t size;
    uint8_t *vk = test_file("winning-2k/winning-2k.vk", &size);
    ok(vk_read(&key, vk, size, NULL));
    uint8_t *bytes = test_file("winning-2k/winning-2k.proof", &size);
    assert_int_equal(size, PROOF_BYTES);
    ok(proof_decode(&proof, bytes));
    r.post.vanilla = test_file("winning-2k/sector-1.vproof", &r.post.sector_bytes);
    request_start(&r, 0, 0);
    memset(randomness, 7, sizeof randomness);
    r.request.randomness.data = randomness;
    ok(request_open(&request, &r.request, &HERE));
    ok(request_inputs(inputs, request, 0));
    ok(proof_verify(&key, &proof, inputs, 132));
    for (int i = 0; i < 132; i += i < 4 ? 1 : 32) {
        good = inputs[i];
        fr_add(&inputs[i], &inputs[i], &FR_ONE);
        assert_int_equal(proof_verify(&key, &proof, inputs, 132).code, STATUS_REJECTED);
        inputs[i] = good;
    }
    request_end(request);
    vk_end(&key);
    mem_free(r.vanilla);
    mem_free(r.post.vanilla);
    mem_free(vk);
    mem_free(bytes);
}

static struct pool *pool;

static int start_pool(void **state)
{
    (void)state;
    ok(pool_start(&pool, 0));
    WORK.pool = pool;
    return 0;
}

static int end_pool(void **state)
{
    (void)state;
    pool_end(pool);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest quick[] = {
        cmocka_unit_test(vanilla_bytes),
        cmocka_unit_test(sizes),
        cmocka_unit_test(named),
        cmocka_unit_test(digests_2k),
        cmocka_unit_test(winning),
        cmocka_unit_test(window_32g_counts),
        cmocka_unit_test(real_sector_opens),
        cmocka_unit_test(every_class_breaks),
        cmocka_unit_test(inputs_are_those_of_the_proof),
    };
    const struct CMUnitTest full[] = {cmocka_unit_test(window_32g_distinct),
                                      cmocka_unit_test(real_sector_satisfies),
                                      cmocka_unit_test(window_32g_digests)};
    const struct CMUnitTest threads[] = {cmocka_unit_test(vanilla_bytes), cmocka_unit_test(named)};
    if (argc > 1 && strcmp(argv[1], "--threads") == 0)
        return cmocka_run_group_tests(threads, start_pool, end_pool);
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        return cmocka_run_group_tests(full, start_pool, end_pool);
    return cmocka_run_group_tests(quick, start_pool, end_pool);
}
