/* What a request for a sector update must be refused for: a good request with one thing changed. Errors name
 * partition, challenge and check. */
#include "proof_case.h"
#include "support.h"

#include "base/bytes.h"
#include "filecoin/fabricate_snap.h"

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

/* An update in memory whose bytes may be changed. */
struct change {
    const struct snap_size *size;
    struct fabricated_snap snap;
    struct bytes_view vanilla[SNAP_PARTITIONS_MAX + 1];
    struct proof_request request;
    uint8_t *bytes; /* of partition 0 */
    /* offsets in it */
    struct merkle_layout replica, data;
    size_t apex, count, proofs;
};

static void change_start(struct change *c, uint64_t registered_proof)
{
    c->size = registered_update(registered_proof)->size;
    ok(fabricate_snap(&c->snap, c->size, "refusals", &HERE));
    for (uint32_t k = 0; k < c->snap.partitions; k++)
        c->vanilla[k] =
            (struct bytes_view){c->snap.vanilla + k * c->snap.partition_bytes, c->snap.partition_bytes};
    c->request = (struct proof_request){.kind = PROOF_SNAP,
                                        .registered_proof = registered_proof,
                                        .comm_r_old = {c->snap.comm_r_old, 32},
                                        .comm_r_new = {c->snap.comm_r_new, 32},
                                        .comm_d_new = {c->snap.comm_d_new, 32},
                                        .vanilla = c->vanilla,
                                        .vanilla_count = c->snap.partitions};
    c->bytes = c->snap.vanilla;
    merkle_layout_replica(&c->replica, c->size->sector);
    merkle_layout_binary(&c->data, c->size->sector);
    c->apex = 40;
    c->count = c->apex + ((size_t)32 << c->size->log2_apex);
    c->proofs = c->count + 8;
}

static void change_end(struct change *c)
{
    fabricated_snap_end(&c->snap);
}

static void refused(const struct change *c, const char *part)
{
    struct request *request;
    size_t used = mem_used();
    struct status s = request_open(&request, &c->request, &HERE);
    if (!status_failed(&s))
        fail_msg("accepted, but should say: %s", part);
    if (strstr(s.message, part) == NULL)
        fail_msg("says \"%s\", not \"%s\"", s.message, part);
    assert_null(request);
    assert_true(mem_used() == used);
}

static void accepted(const struct change *c)
{
    struct request *request;
    ok(request_open(&request, &c->request, &HERE));
    request_end(request);
}

/* Refused with the byte changed, and sound again after. */
static void byte_refused(struct change *c, size_t at, const char *part)
{
    c->bytes[at] ^= 1;
    refused(c, part);
    c->bytes[at] ^= 1;
}

static void word_refused(struct change *c, size_t at, uint64_t value, const char *part)
{
    uint64_t kept = load_le64(c->bytes + at);
    store_le64(c->bytes + at, value);
    refused(c, part);
    store_le64(c->bytes + at, kept);
}

static void element_refused(struct change *c, size_t at, const char *part)
{
    static const uint8_t modulus[32] = {1,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                        0xff, 2,    0xa4, 0xbd, 0x53, 5,    0xd8, 0xa1, 9,    8,    0xd8,
                                        0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};
    uint8_t kept[32];
    memcpy(kept, c->bytes + at, 32);
    memcpy(c->bytes + at, modulus, 32);
    refused(c, part);
    memcpy(c->bytes + at, kept, 32);
}

/* The second challenge's proofs, so that the message's number is not that of the beginning. */
static size_t second(const struct change *c, int path)
{
    size_t at = c->proofs + 2 * (size_t)c->replica.size + c->data.size;
    return at + (path > 0 ? c->replica.size : 0) + (path > 1 ? c->data.size : 0);
}

static void cut_and_grown(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 0);
    accepted(&c);
    for (size_t size = 0; size < c.snap.partition_bytes; size += size < 400 ? 1 : 7) {
        uint8_t *cut = malloc(size + 1); /* of its own, so that the sanitizer sees what lies behind */
        memcpy(cut, c.bytes, size);
        c.vanilla[0] = (struct bytes_view){cut, size};
        refused(&c, "partition 0");
        free(cut);
    }
    uint8_t *grown = malloc(c.snap.partition_bytes + 1);
    memcpy(grown, c.bytes, c.snap.partition_bytes);
    grown[c.snap.partition_bytes] = 0;
    c.vanilla[0] = (struct bytes_view){grown, c.snap.partition_bytes + 1};
    refused(&c, "partition 0: 1 bytes follow the proof");
    free(grown);
    change_end(&c);
}

static void layout(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 0);
    static const uint64_t counts[] = {0, 7, UINT64_C(1) << 63, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        word_refused(&c, 32, counts[i], "apex leaves, not 8");
        word_refused(&c, c.count, counts[i], "challenge proofs, not 10");
        word_refused(&c, second(&c, 0) + c.replica.base_count, counts[i],
                     "partition 0: challenge 1, old replica path: Merkle path has");
        word_refused(&c, second(&c, 1) + c.data.base_count, counts[i],
                     "partition 0: challenge 1, data path: Merkle path has");
        if (counts[i] != 7)
            word_refused(&c, second(&c, 2) + c.replica.element[1], counts[i],
                         "partition 0: challenge 1, new replica path: path element 1 has");
        word_refused(&c, second(&c, 1) + c.data.element[5], counts[i], "data path: path element 5 has");
    }
    for (int path = 0; path < 3; path++)
        for (uint32_t variant = 1; variant < 4; variant++) {
            store_le32(c.bytes + second(&c, path), variant);
            refused(&c, "Merkle proof variant is");
            store_le32(c.bytes + second(&c, path), 0);
        }
    word_refused(&c, second(&c, 0) + c.replica.element[0] + 8 + 7 * 32, 8, "index 8 is not below 8");
    word_refused(&c, second(&c, 1) + c.data.element[0] + 8 + 32, 2, "index 2 is not below 2");
    element_refused(&c, 0, "partition 0: comm_c is not a field element");
    element_refused(&c, c.apex + 5 * 32, "partition 0: apex leaf 5");
    element_refused(&c, second(&c, 0) + c.replica.root, "old replica path: Merkle root is not");
    element_refused(&c, second(&c, 1) + c.data.leaf, "data path: Merkle leaf is not");
    element_refused(&c, second(&c, 2) + c.replica.element[1] + 8 + 3 * 32, "sibling 3 is not");
    accepted(&c);
    change_end(&c);

    change_start(&c, 0); /* another size: other layouts */
    c.request.registered_proof = 3;
    refused(&c, "there are 1 partition proofs; an update of 32GiB sectors has 16 partitions");
    c.request.registered_proof = 5;
    refused(&c, "registered_proof 5 does not exist for kind snap");
    c.request.registered_proof = 0;
    c.request.sector_size = 4096;
    refused(&c, "contradicts registered_proof 0");
    c.request.sector_size = 2048;
    accepted(&c);
    c.request.kind = PROOF_SNAP_POSEIDON;
    refused(&c, "not in this version");
    change_end(&c);
}

/* One byte of every class of value in the second challenge, by the check that finds it. */
static void checks(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 1);
    size_t replica_sibling = c.replica.element[2] + 8, data_sibling = c.data.element[0] + 8;
    size_t replica_index = c.replica.element[2] + 8 + 7 * 32, data_index = c.data.element[3] + 8 + 32;
    byte_refused(&c, 0, "partition 0: comm_r_old is not the hash of comm_c");
    byte_refused(&c, second(&c, 0) + replica_index,
                 "partition 0, challenge 1: the old replica path opens leaf");
    byte_refused(&c, second(&c, 1) + data_index, "partition 0, challenge 1: the data path opens leaf");
    byte_refused(&c, second(&c, 2) + replica_index,
                 "partition 0, challenge 1: the new replica path opens leaf");
    byte_refused(&c, second(&c, 0) + c.replica.root,
                 "the old replica path's root is not that of challenge 0");
    byte_refused(&c, second(&c, 2) + c.replica.root,
                 "the new replica path's root is not that of challenge 0");
    byte_refused(&c, second(&c, 1) + c.data.root, "the data path's root is not comm_d_new");
    byte_refused(&c, second(&c, 0) + replica_sibling,
                 "siblings of the old replica path do not lead to its root");
    byte_refused(&c, second(&c, 2) + replica_sibling,
                 "siblings of the new replica path do not lead to its root");
    byte_refused(&c, second(&c, 0) + c.replica.leaf,
                 "siblings of the old replica path do not lead to its root");
    byte_refused(&c, second(&c, 1) + data_sibling, "of the data path do not lead to apex leaf");
    byte_refused(&c, second(&c, 1) + c.data.leaf, "of the data path do not lead to apex leaf");
    byte_refused(&c, second(&c, 1) + c.data.element[10] + 8, "of the data path do not lead to comm_d_new");
    byte_refused(&c, second(&c, 1) + c.data.element[17] + 8, "leaves the partition by another way");
    accepted(&c);

    /* An apex leaf that no challenge passes is found by the tree over all of them. */
    bool passed[SNAP_APEX_MAX] = {false};
    uint32_t unused = 0;
    fr_int digest;
    snap_digest(&digest, c.snap.comm_r_new, c.size, 0, 0);
    for (uint32_t t = 0; t < 10; t++)
        passed[snap_challenge(&digest, c.size, 0, t) >> snap_apex_level(c.size)] = true;
    while (passed[unused])
        unused++;
    byte_refused(&c, c.apex + 32 * unused, "partition 0: the apex leaves do not lead to comm_d_new");
    uint32_t used = 0;
    while (!passed[used])
        used++;
    byte_refused(&c, c.apex + 32 * used, "of the data path do not lead to apex leaf");

    /* Consistent with the first challenge in everything but the commitment: both roots changed alike. */
    for (uint32_t q = 0; q < 10; q++)
        c.bytes[c.proofs + q * (second(&c, 0) - c.proofs) + c.replica.root] ^= 1;
    refused(&c, "partition 0, challenge 0: leaf and siblings of the old replica path");
    change_end(&c);
}

static void commitments(void **state)
{
    (void)state;
    struct change c;
    static const char *const names[] = {"comm_r_old", "comm_r_new", "comm_d_new"};
    static const char *const wrong[] = {"challenge 0: the new leaf is not the old one with the data encoded",
                                        "partition 0, challenge 0: the old replica path opens leaf",
                                        "challenge 0: the data path's root is not comm_d_new"};
    uint8_t cid[41] = {1};
    change_start(&c, 0);
    struct bytes_view *views[] = {&c.request.comm_r_old, &c.request.comm_r_new, &c.request.comm_d_new};
    for (int i = 0; i < 3; i++) {
        struct bytes_view kept = *views[i];
        uint8_t *bytes = (uint8_t *)(uintptr_t)kept.data, last = bytes[31];
        char text[64];
        bytes[0] ^= 1;
        refused(&c, wrong[i]);
        bytes[0] ^= 1;
        bytes[31] = 0xff;
        snprintf(text, sizeof text, "%s is not a field element", names[i]);
        refused(&c, text);
        bytes[31] = last;
        *views[i] = (struct bytes_view){cid, sizeof cid};
        snprintf(text, sizeof text, "%s is 41 bytes long, not 32", names[i]);
        refused(&c, text);
        *views[i] = (struct bytes_view){NULL, 0};
        snprintf(text, sizeof text, "%s is 0 bytes long, not 32", names[i]);
        refused(&c, text);
        *views[i] = kept;
    }
    /* exchanged: each is canonical, and wrong in its place */
    c.request.comm_r_old = *views[1];
    c.request.comm_r_new = (struct bytes_view){c.snap.comm_r_old, 32};
    refused(&c, "partition 0, challenge 0");
    change_end(&c);
}

/* Their number and their order. */
static void partitions(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 1);
    struct bytes_view kept[4];
    memcpy(kept, c.vanilla, sizeof kept);
    c.vanilla[1] = kept[2];
    c.vanilla[2] = kept[1];
    refused(&c, "partition 1, challenge 0: the old replica path opens leaf");
    struct request *request;
    struct status s = request_open(&request, &c.request, &HERE);
    assert_non_null(strstr(s.message, "which belongs to partition 2"));
    assert_non_null(strstr(s.hint, "in order, each partition once"));
    c.vanilla[1] = kept[1];
    c.vanilla[2] = kept[1];
    refused(&c, "partition 2, challenge 0: the old replica path opens leaf");
    c.vanilla[2] = kept[2];
    accepted(&c);
    c.vanilla[4] = kept[3];
    static const uint32_t counts[] = {0, 1, 3, 5};
    for (int i = 0; i < 4; i++) {
        char text[80];
        c.request.vanilla_count = counts[i];
        snprintf(text, sizeof text,
                 "there are %u partition proofs; an update of 8MiB sectors has 4 partitions", counts[i]);
        refused(&c, text);
    }
    c.request.vanilla_count = 4;
    c.bytes += 3 * c.snap.partition_bytes; /* the last partition is looked at as well */
    byte_refused(&c, second(&c, 2) + c.replica.leaf, "partition 3, challenge 1");
    change_end(&c);
}

/* Every byte matters: changed, it is refused. */
static void every_byte(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 0);
    for (size_t i = 0; i < c.snap.partition_bytes; i += 11)
        byte_refused(&c, i, "partition 0");
    change_end(&c);
}

static void out_of_memory(void **state)
{
    (void)state;
    struct change c;
    struct fabricated_snap again;
    change_start(&c, 0);
    size_t used = mem_used();
    for (uint64_t n = 1;; n++) {
        struct request *request;
        mem_fail_after(n);
        struct status s = request_open(&request, &c.request, &HERE);
        mem_fail_after(0);
        if (!status_failed(&s)) {
            request_end(request);
            assert_true(n > 3);
            break;
        }
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_true(mem_used() == used);
    }
    for (uint64_t n = 1;; n++) {
        mem_fail_after(n);
        struct status s = fabricate_snap(&again, c.size, NULL, &HERE);
        mem_fail_after(0);
        if (!status_failed(&s)) {
            fabricated_snap_end(&again);
            break;
        }
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_true(mem_used() == used);
    }
    struct cancel cancel;
    atomic_init(&cancel.requested, true);
    struct work cancelled = {NULL, PRIORITY_NORMAL, &cancel};
    struct request *request;
    assert_int_equal(request_open(&request, &c.request, &cancelled).code, STATUS_CANCELLED);
    assert_int_equal(fabricate_snap(&again, c.size, NULL, &cancelled).code, STATUS_CANCELLED);
    assert_true(mem_used() == used);
    change_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_and_grown), cmocka_unit_test(layout),     cmocka_unit_test(checks),
        cmocka_unit_test(commitments),   cmocka_unit_test(partitions), cmocka_unit_test(every_byte),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
