/* Honest sealing against the reference's sectors: commitments of four sizes, and C1 outputs to the byte. */
#include "seal_support.h"
#include "filecoin/check.h"

static void known_sectors(void **state)
{
    (void)state;
    static const struct {
        const char *circuit, *comm_d, *replica_id, *comm_c, *comm_r_last, *comm_r;
        uint32_t challenges[2];
    } expected[] = {
        {"2k",
         "a93b943af3658299a363ece64e2a1229a9701cc1d722f386f10816e398bbb212",
         "81e135c6566e304ce8944de204a0ce9a92d24d3f7de8b4bac913eb1e3c479c15",
         "4c6c3b2088ed40174527946b456524befda0d84711e834a3c58d4b3091a96a65",
         "1560179ee084ba16507e0c4d54bba63066d1e99a1a722ec24bb2a44e9b1f5073",
         "a756d696775e623f97fb562fe1bbb3a073c2ebdc42dd899f4b9cc2d190b9e119",
         {55, 54}},
        {"4k",
         "caf30e7428a385609b5bbc5259fef4973e87b12b2aa10cd836c9cb4d2fd0d01f",
         "b52ee19da92567678395e76af45121f6736b45526bd5820948fac9d68209d43d",
         "14035e48c1c19d1af784322f408451b11803aced456531f12a23eb9758850909",
         "9ddeab96fce86b4b8842ac0e528f1aa527894bef2f97f602262d2ddf201c470b",
         "5225b172dc6741ecf67f333da2d61423efe82b3415bdb6d805aacc40d5c63c4d",
         {23, 73}},
        {"16k",
         "4a367de2f8e7a42bb729cd856181c4012e67377654e790b9d08e01b58204650a",
         "52bc1c4d2c86403a2e1163c51ecf8a323cf6c21c0f3258e079472f24111b142d",
         "9d9f768a7345027c1796d81e1641a937c36a72e60cd01fc0bb2c4aa86b985125",
         "fa7cd46c61c204b2192df1e53391d31ac2cffe658a56065d71038282eb80f85b",
         "1516ab05a6f851f14b7903d56065b1d3cbd75f31d8ae8b4bd31c75a305cdaf5b",
         {407, 95}},
        {"32k",
         "eca642d02a72b4922745f86597f0f830dc037fd5f9e4607e0080a767cc423209",
         "7f8508d856f93ca68dc288696b99610b4db6d7b334a7ddcec9d3d01206c18015",
         "1f61c468c3d74e3cf0c17f87a04a91c25909a144eb89f15cd55c07118d5bab5a",
         "e033d9a6205133c1b7ff381ed34e5ba109e0ac85a80394e801d870ab75883e2d",
         "b2070bd84680bd6de810c4e28605a35c586aed05324242cb784137d4ef86ee41",
         {665, 411}},
    };
    struct pool *pool;
    ok(pool_start(&pool, 2));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    for (size_t i = 0; i < 4; i++) {
        struct c1 c1;
        struct porep_public public;
        ok(seal_known(&c1, expected[i].circuit, 5, 1, &work));
        const struct vanilla_proof *p = c1_proof(&c1, 0, 0);
        same_hex(c1.comm_d, 32, expected[i].comm_d);
        same_hex(c1.replica_id, 32, expected[i].replica_id);
        same_hex(p->c_x.inclusion.root, 32, expected[i].comm_c);
        same_hex(p->comm_r_last.root, 32, expected[i].comm_r_last);
        same_hex(c1.comm_r, 32, expected[i].comm_r);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(c1_proof(&c1, 0, k)->c_x.index, expected[i].challenges[k]);
        ok(porep_public_from_c1(&public, &c1));
        ok(porep_check_sector(&c1, 1000, 1));
        ok(c1_check(&c1, &public, &work));
        ok(porep_check_inputs(&public, &c1, 0));
        c1_end(&c1);
    }
    pool_end(pool);
}

static void same_as_file(struct c1 *c1, const char *file)
{
    size_t size, written_size;
    uint8_t *data = test_file(file, &size), *written;
    ok(c1_write(&written, &written_size, c1, false));
    assert_int_equal(written_size, size);
    assert_memory_equal(written, data, size);
    mem_free(written);
    mem_free(data);
}

static void written_2k(void **state)
{
    (void)state;
    struct c1 c1;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    ok(seal_known(&c1, "2k", 5, 1, &work));
    same_as_file(&c1, "porep-2k/c1.json");
    c1_end(&c1);
}

static void written_8m(void **state)
{
    (void)state;
    struct c1 c1;
    struct pool *pool;
    ok(pool_start(&pool, 0));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    ok(seal_known(&c1, "8m", 6, 11, &work));
    same_as_file(&c1, "porep-8m/c1.json");
    c1_end(&c1);
    pool_end(pool);
}

static void same_vanilla(const uint8_t *bytes, size_t size, const char *format, unsigned number)
{
    char name[64];
    size_t golden_size;
    snprintf(name, sizeof name, format, number);
    uint8_t *golden = test_file(name, &golden_size);
    assert_int_equal(golden_size, size);
    assert_memory_equal(golden, bytes, size);
    mem_free(golden);
}

static void numbered_data(void *context, uint64_t node, uint8_t out[32])
{
    char text[32] = "porep-gv-data";
    uint32_t number = *(const uint32_t *)context;
    if (number > 1)
        snprintf(text, sizeof text, "porep-gv-data-%u", number);
    size_t length = strlen(text);
    store_le32((uint8_t *)text + length, (uint32_t)node);
    sha256(out, text, length + 4);
    out[31] &= 0x3f;
}

/* Vanilla proofs of PoSts over sectors 1 to 3, of both generations, equal the reference's. */
static void golden_posts(void **state)
{
    (void)state;
    static const struct {
        uint32_t number;
        uint8_t randomness;
        const char *file;
    } cases[] = {{0, 7, "winning-2k/sector-%u.vproof"},
                 {5, 8, "window-2k/v1-sector-%u.vproof"},
                 {10, 8, "window-2k/v1_2-sector-%u.vproof"}};
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    for (uint32_t number = 1; number <= 3; number++) {
        struct sealed *sealed;
        struct seal_request q = known_sector("2k", 5, number);
        uint8_t ticket[32];
        memset(ticket, (int)(2 * number - 1), 32);
        q.ticket = ticket;
        q.data = numbered_data;
        q.context = &number;
        ok(sealed_start(&sealed, &q, &work));
        for (int i = number == 1 ? 0 : 1; i < 3; i++) {
            const struct registered_post *post = registered_post(cases[i].number);
            uint8_t randomness[32], *bytes = mem_alloc(post_sector_bytes(post), 1);
            memset(randomness, cases[i].randomness, 32);
            sealed_post(bytes, sealed, post, randomness, (number - 1) / 2, (number - 1) % 2);
            same_vanilla(bytes, post_sector_bytes(post), cases[i].file, number);
            mem_free(bytes);
        }
        sealed_end(sealed);
    }
}

static void known_new_data(void *context, uint64_t node, uint8_t out[32])
{
    uint8_t text[21] = "porep-gv-new-data";
    (void)context;
    store_le32(text + 17, (uint32_t)node);
    sha256(out, text, sizeof text);
    out[31] &= 0x3f;
}

static void golden_update(void **state)
{
    (void)state;
    struct sealed *sealed;
    struct fabricated_snap made;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    struct seal_request q = known_sector("2k", 5, 1);
    ok(sealed_start(&sealed, &q, &work));
    ok(sealed_update(&made, sealed, snap_size_of(q.sector), known_new_data, NULL, &work));
    same_hex(made.comm_r_new, 32, "0d3f028886a2451faed560e4a82ad3702363f8f169795c1328b0993992f53d50");
    same_hex(made.comm_d_new, 32, "0ef16053994ba14070827712354b0531d8a87e2cea0d5330f49c63dfc9615f2b");
    same_vanilla(made.vanilla, made.partition_bytes, "snap-2k/partition-%u.vproof", 0);
    fabricated_snap_end(&made);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        size_t before = mem_used();
        mem_fail_after(n);
        struct status s = sealed_update(&made, sealed, snap_size_of(q.sector), known_new_data, NULL, &work);
        mem_fail_after(0);
        done = !status_failed(&s);
        if (!done)
            assert_int_equal(s.code, STATUS_MEMORY);
        fabricated_snap_end(&made);
        assert_int_equal(mem_used(), before);
        assert_true(n < 10);
    }
    sealed_end(sealed);
}

/* Sizes with sub and top trees, and several partitions. */
static void checked_updates(void **state)
{
    (void)state;
    static const char *const sizes[] = {"4k", "16k", "32k"};
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    for (int i = 0; i < 3; i++) {
        struct sealed *sealed;
        struct fabricated_snap made;
        struct snap snap;
        struct seal_request q = known_sector(sizes[i], 5, 1);
        const struct snap_size *size = snap_size_of(q.sector);
        ok(sealed_start(&sealed, &q, &work));
        ok(sealed_update(&made, sealed, size, known_new_data, NULL, &work));
        const uint8_t *vanilla[SNAP_PARTITIONS_MAX];
        size_t sizes_of[SNAP_PARTITIONS_MAX];
        for (uint32_t k = 0; k < made.partitions; k++) {
            vanilla[k] = made.vanilla + k * made.partition_bytes;
            sizes_of[k] = made.partition_bytes;
        }
        struct snap_commitments c = {made.comm_r_old, made.comm_r_new, made.comm_d_new, 32, 32, 32};
        ok(snap_open(&snap, size, &c, vanilla, sizes_of, made.partitions));
        ok(snap_check(&snap, &work));
        fabricated_snap_end(&made);
        sealed_end(sealed);
    }
}

/* All versions and the synthetic kind seal to outputs that pass the check; their graphs differ. */
static void other_versions(void **state)
{
    (void)state;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    uint8_t comm_r[3][32];
    static const uint32_t numbers[3] = {0, 5, 10};
    for (int i = 0; i < 3; i++) {
        struct c1 c1;
        struct porep_public public;
        ok(seal_known(&c1, "2k", numbers[i], 1, &work));
        ok(porep_public_from_c1(&public, &c1));
        ok(c1_check(&c1, &public, &work));
        memcpy(comm_r[i], c1.comm_r, 32);
        c1_end(&c1);
    }
    assert_memory_not_equal(comm_r[0], comm_r[1], 32);
    assert_memory_not_equal(comm_r[1], comm_r[2], 32);
}

static void refusals(void **state)
{
    (void)state;
    struct c1 c1;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    fails(seal_known(&c1, "512m", 2, 1, &work), STATUS_UNSUPPORTED, "sealing a 512MiB sector");
    fails(seal_known(&c1, "2k", 15, 1, &work), STATUS_UNSUPPORTED, "non-interactive");
    assert_null(c1.arena);
    struct cancel cancel = {true};
    work.cancel = &cancel;
    fails(seal_known(&c1, "2k", 5, 1, &work), STATUS_CANCELLED, "");
    work.cancel = NULL;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        size_t before = mem_used();
        mem_fail_after(n);
        struct status s = seal_known(&c1, "2k", 5, 1, &work);
        mem_fail_after(0);
        done = !status_failed(&s);
        if (!done)
            assert_int_equal(s.code, STATUS_MEMORY);
        c1_end(&c1);
        assert_int_equal(mem_used(), before);
        assert_true(n < 20);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_sectors),   cmocka_unit_test(written_2k),
                                       cmocka_unit_test(golden_posts),    cmocka_unit_test(golden_update),
                                       cmocka_unit_test(checked_updates), cmocka_unit_test(other_versions),
                                       cmocka_unit_test(refusals)};
    const struct CMUnitTest full[] = {cmocka_unit_test(written_8m)};
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        return cmocka_run_group_tests(full, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
