/* The hand-written decoder of the large message against protobuf's generated code, and against what clients
 * may send: any order, repeats, unknown fields, cuts, wrong types. */
#include "client.h"

#include "base/mem.h"
#include "cuzk.pb-c.h"
#include "serve/submission.h"
#include <stdlib.h>
#include <string.h>

/* ---- a writer of fields ---- */

struct writer {
    uint8_t bytes[8192];
    size_t size;
};

static void put_varint(struct writer *w, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        w->bytes[w->size++] = (uint8_t)(v | 0x80);
    w->bytes[w->size++] = (uint8_t)v;
}

static void put_number(struct writer *w, uint32_t field, uint64_t v)
{
    put_varint(w, (uint64_t)field << 3);
    put_varint(w, v);
}

static void put_bytes(struct writer *w, uint32_t field, const void *bytes, size_t size)
{
    put_varint(w, (uint64_t)field << 3 | 2);
    put_varint(w, size);
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_text(struct writer *w, uint32_t field, const char *text)
{
    put_bytes(w, field, text, strlen(text));
}

static bool is(struct bytes_view v, const char *text)
{
    return v.size == strlen(text) && memcmp(v.data, text, v.size) == 0;
}

static const char digest[] = "0123456789abcdef0123456789abcdef";

/* All fields, in an order of no meaning. */
static void put_everything(struct writer *w)
{
    put_bytes(w, 32, digest, 32);
    put_text(w, 11, "first");
    put_number(w, 5, 3);
    put_number(w, 23, 7);
    put_text(w, 11, "");
    put_number(w, 21, UINT64_MAX);
    put_number(w, 2, 3);
    put_text(w, 1, "wdpost-1000-1-[1 2 3]");
    put_number(w, 4, 13);
    put_text(w, 22, digest);
    put_number(w, 3, 34359738368);
    put_text(w, 10, "c1");
    put_text(w, 30, "r old");
    put_number(w, 20, 1234567);
    put_text(w, 11, "third");
    put_text(w, 31, "r new");
}

static void is_everything(const struct submission *s)
{
    assert_true(is(s->request_id, "wdpost-1000-1-[1 2 3]"));
    assert_int_equal(s->proof_kind, 3);
    assert_int_equal(s->priority, 3);
    assert_int_equal(s->sector_size, 34359738368);
    assert_int_equal(s->registered_proof, 13);
    assert_int_equal(s->sector_number, 1234567);
    assert_int_equal(s->miner_id, UINT64_MAX);
    assert_int_equal(s->partition_index, 7);
    assert_true(is(s->vanilla_proof, "c1") && is(s->randomness, digest));
    assert_true(is(s->comm_r_old, "r old") && is(s->comm_r_new, "r new") && is(s->comm_d_new, digest));
    assert_int_equal(s->vanilla_proofs_count, 3);
    assert_true(is(s->vanilla_proofs[0], "first") && is(s->vanilla_proofs[1], "") &&
                is(s->vanilla_proofs[2], "third"));
}

static void every_field(void **state)
{
    (void)state;
    struct writer w = {.size = 0}, outer = {.size = 0};
    struct submission s;
    put_everything(&w);
    ok(submission_decode(&s, w.bytes, w.size, false));
    is_everything(&s);
    assert_true(s.vanilla_proofs[0].data > w.bytes && s.vanilla_proofs[2].data < w.bytes + w.size);
    submission_end(&s);
    put_bytes(&outer, 1, w.bytes, w.size);
    ok(submission_decode(&s, outer.bytes, outer.size, true));
    is_everything(&s);
    submission_end(&s);
}

static void the_last_one_counts(void **state)
{
    (void)state;
    struct writer w = {.size = 0};
    struct submission s;
    put_number(&w, 2, 1);
    put_text(&w, 1, "first");
    put_everything(&w);
    put_number(&w, 2, 4);
    put_text(&w, 1, "last");
    put_text(&w, 11, "fourth");
    put_text(&w, 10, "");
    put_number(&w, 23, UINT64_C(0x100000005)); /* uint32: the low bits */
    put_number(&w, 5, UINT64_MAX);             /* an enumeration may be negative */
    ok(submission_decode(&s, w.bytes, w.size, false));
    assert_true(is(s.request_id, "last") && is(s.vanilla_proofs[3], "fourth"));
    assert_int_equal(s.proof_kind, 4);
    assert_int_equal(s.vanilla_proofs_count, 4);
    assert_int_equal(s.vanilla_proof.size, 0);
    assert_true(s.has_vanilla_proof);
    assert_int_equal(s.partition_index, 5);
    assert_int_equal(s.priority, -1);
    submission_end(&s);
}

/* `submit` twice: scalars of the second over those of the first, lists one after the other. */
static void submessages_merge(void **state)
{
    (void)state;
    struct writer one = {.size = 0}, two = {.size = 0}, outer = {.size = 0};
    struct submission s;
    put_everything(&one);
    put_text(&two, 11, "fourth");
    put_number(&two, 3, 2048);
    put_bytes(&outer, 1, one.bytes, one.size);
    put_number(&outer, 9, 1);
    put_bytes(&outer, 1, two.bytes, two.size);
    ok(submission_decode(&s, outer.bytes, outer.size, true));
    assert_int_equal(s.sector_size, 2048);
    assert_int_equal(s.registered_proof, 13);
    assert_int_equal(s.vanilla_proofs_count, 4);
    assert_true(is(s.vanilla_proofs[0], "first") && is(s.vanilla_proofs[3], "fourth"));
    submission_end(&s);
}

static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    struct writer w = {.size = 0};
    struct submission s;
    put_number(&w, 6, 5);
    put_text(&w, 500, "unknown");
    put_varint(&w, 7 << 3 | 1); /* fixed64 */
    memcpy(w.bytes + w.size, "12345678", 8);
    w.size += 8;
    put_varint(&w, 8 << 3 | 5); /* fixed32 */
    memcpy(w.bytes + w.size, "1234", 4);
    w.size += 4;
    put_varint(&w, 9 << 3 | 3); /* a group with a group in it */
    put_varint(&w, 1 << 3 | 3);
    put_text(&w, 1, "inner");
    put_varint(&w, 1 << 3 | 4);
    put_varint(&w, 9 << 3 | 4);
    put_everything(&w);
    put_text(&w, 2, "a kind is no text");
    put_number(&w, 1, 77); /* nor an id a number */
    put_number(&w, (1u << 29) - 1, 1);
    ok(submission_decode(&s, w.bytes, w.size, false));
    is_everything(&s);
    submission_end(&s);
}

static void in_07_malformed_lengths(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } cases[] = {
        {"\x08", 1, "field at byte 0 of 1"},                            /* no value */
        {"\x10\x01\x0a", 3, "field at byte 2 of 3"},                    /* no length */
        {"\x0a\x05gone", 6, "field at byte 0 of 6"},                    /* shorter than said */
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "byte 0"}, /* a length of 2^64-1: IN-07 */
        {"\x52\xff\xff\xff\xff\x0f", 6, "byte 0"},                      /* 2^32-1 */
        {"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "byte 0"}, /* more than 64 bits */
        {"\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "byte 0"},
        {"\x02\x01", 2, "byte 0"}, /* field 0 */
        {"\x0e\x01", 2, "byte 0"}, /* wire type 6 */
        {"\x0f\x01", 2, "byte 0"},
        {"\x4c", 1, "byte 0"},                         /* the end of no group */
        {"\x4b\x08\x01", 3, "byte 0"},                 /* a group without end */
        {"\x4b\x54", 2, "byte 0"},                     /* ... with another's */
        {"\x39\x01\x02", 3, "byte 0"},                 /* fixed64 of two bytes */
        {"\x80\x80\x80\x80\x80\x01\x00", 7, "byte 0"}, /* a field number of 33 bits */
    };
    struct submission s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status status = submission_decode(&s, (const uint8_t *)cases[i].bytes, cases[i].size, false);
        if (status.code != STATUS_INVALID || strstr(status.message, cases[i].part) == NULL)
            fail_msg("case %zu: %s %s", i, status_code_name(status.code), status.message);
    }
    uint8_t deep[200];
    memset(deep, 0x4b, sizeof deep);
    assert_int_equal(submission_decode(&s, deep, sizeof deep, false).code, STATUS_INVALID);
    struct status status = submission_decode(&s, (const uint8_t *)"\x10\x01", 2, true);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.message, "submit"));
    status = submission_decode(&s, NULL, 0, true);
    assert_int_equal(status.code, STATUS_INVALID);
    ok(submission_decode(&s, NULL, 0, false));
    submission_end(&s);
}

/* Cut at every byte, a message is refused or a shorter one. */
static void in_01_cut_anywhere(void **state)
{
    (void)state;
    struct writer w = {.size = 0}, outer = {.size = 0};
    put_everything(&w);
    put_bytes(&outer, 1, w.bytes, w.size);
    for (size_t size = 0; size < outer.size; size++) {
        struct submission s;
        uint8_t *exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, outer.bytes, size);
        struct status status = submission_decode(&s, exact, size, true);
        assert_int_equal(status.code, STATUS_INVALID);
        status = submission_decode(&s, exact, size, false); /* field 1: a request_id that is cut */
        assert_int_equal(status.code, size == 0 ? STATUS_OK : STATUS_INVALID);
        if (!status_failed(&status))
            submission_end(&s);
        int32_t kind, priority;
        submission_peek(&kind, &priority, exact, size, true);
        assert_true((kind == 0 || kind == 3) && (priority == 0 || priority == 3));
        free(exact);
    }
}

static void too_many_vanilla_proofs(void **state)
{
    (void)state;
    size_t count = 1 << 20;
    uint8_t *bytes = malloc(2 * count);
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + 2 * i, "\x5a", 2);
    struct submission s;
    size_t before = mem_used();
    struct status status = submission_decode(&s, bytes, 2 * count, false);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.message, "1048576 vanilla_proofs"));
    ok(submission_decode(&s, bytes, 2 * SUBMISSION_VANILLA_MAX, false));
    assert_int_equal(s.vanilla_proofs_count, SUBMISSION_VANILLA_MAX);
    submission_end(&s);
    assert_int_equal(mem_used(), before);
    free(bytes);
}

static void the_head_tells_kind_and_priority(void **state)
{
    (void)state;
    static uint8_t vanilla[6000];
    struct writer w = {.size = 0}, outer = {.size = 0};
    int32_t kind, priority;
    /* As Curio's client writes it: in the order of the numbers. */
    put_text(&w, 1, "winpost-1000-0123456789abcdef");
    put_number(&w, 2, 4);
    put_number(&w, 4, 8);
    put_number(&w, 5, 4);
    put_bytes(&w, 11, vanilla, sizeof vanilla);
    put_bytes(&outer, 1, w.bytes, w.size);
    submission_peek(&kind, &priority, outer.bytes, 2048, true);
    assert_int_equal(kind, 4);
    assert_int_equal(priority, 4);
    submission_peek(&kind, &priority, w.bytes, 2048, false);
    assert_int_equal(kind, 4);
    submission_peek(&kind, &priority, w.bytes, 2048, true); /* field 1 is the id: no kind in it */
    assert_int_equal(kind, 0);
    submission_peek(&kind, &priority, NULL, 0, true);
    assert_int_equal(kind, 0);
}

/* ---- what the wire itself can get wrong ---- */

static struct submission good(enum proof_kind kind)
{
    static struct bytes_view vanilla[2] = {{(const uint8_t *)"a", 1}, {(const uint8_t *)"b", 1}};
    struct bytes_view word = {(const uint8_t *)digest, 32};
    struct submission s = {.request_id = {(const uint8_t *)"id", 2}, .registered_proof = 8};
    s.proof_kind = kind == PROOF_POREP ? 1 : kind == PROOF_SNAP ? 2 : kind == PROOF_WINDOW ? 3 : 4;
    if (kind == PROOF_POREP) {
        s.vanilla_proof = vanilla[0];
    } else {
        s.vanilla_proofs = vanilla;
        s.vanilla_proofs_count = 2;
    }
    if (kind == PROOF_SNAP)
        s.comm_r_old = s.comm_r_new = s.comm_d_new = word;
    if (kind == PROOF_WINDOW || kind == PROOF_WINNING)
        s.randomness = word;
    return s;
}

static void refused(const struct submission *s, const char *part, const char *other)
{
    struct proof_request r;
    struct status status = submission_request(&r, s);
    if (status.code != STATUS_INVALID || strstr(status.message, part) == NULL ||
        strstr(status.message, other) == NULL)
        fail_msg("expected \"%s\" \"%s\", got %s \"%s\"", part, other, status_code_name(status.code),
                 status.message);
}

static void requests_of_every_kind(void **state)
{
    (void)state;
    static const enum proof_kind kinds[] = {PROOF_POREP, PROOF_SNAP, PROOF_WINDOW, PROOF_WINNING};
    for (size_t i = 0; i < 4; i++) {
        struct submission s = good(kinds[i]);
        struct proof_request r;
        s.sector_size = 2048;
        s.sector_number = 5;
        s.miner_id = 6;
        s.partition_index = 7;
        ok(submission_request(&r, &s));
        assert_int_equal(r.kind, kinds[i]);
        assert_int_equal(r.vanilla_count, i == 0 ? 1 : 2);
        assert_ptr_equal(r.vanilla, i == 0 ? &s.vanilla_proof : s.vanilla_proofs);
        assert_int_equal(r.registered_proof + r.sector_size + r.sector_number + r.miner + r.partition_index,
                         8 + 2048 + 5 + 6 + 7);
    }
}

static void in_05_09_10_refusals(void **state)
{
    (void)state;
    static const int32_t bad_kinds[] = {0, 5, -1, INT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        struct submission s = good(PROOF_POREP);
        s.proof_kind = bad_kinds[i];
        refused(&s, "proof_kind", "does not exist");
    }
    struct submission porep = good(PROOF_POREP), window = good(PROOF_WINDOW), snap = good(PROOF_SNAP), s;
    s = porep;
    s.vanilla_proof.size = 0;
    refused(&s, "vanilla_proof is empty", "porep-c2");
    s = porep;
    s.vanilla_proofs = window.vanilla_proofs;
    s.vanilla_proofs_count = 2;
    refused(&s, "vanilla_proofs does not belong", "porep-c2");
    s = window;
    s.vanilla_proof = porep.vanilla_proof;
    refused(&s, "vanilla_proof does not belong", "window-post");
    s = window;
    s.vanilla_proofs_count = 0;
    refused(&s, "vanilla_proofs is empty", "window-post");
    struct bytes_view hole[2] = {window.vanilla_proofs[0], {NULL, 0}};
    s = window;
    s.vanilla_proofs = hole;
    refused(&s, "vanilla_proofs[1] is empty", "");
    s = window;
    s.randomness.size = 31;
    refused(&s, "randomness", "31 bytes");
    s = window;
    s.randomness.size = 0;
    refused(&s, "randomness", "0 bytes");
    s = snap;
    s.comm_r_old.size = 0;
    refused(&s, "comm_r_old of a snap-update", "0 bytes");
    s = snap;
    s.comm_r_new.size = 16;
    refused(&s, "comm_r_new", "16 bytes");
    s = snap;
    s.comm_d_new.size = 0;
    refused(&s, "comm_d_new", "must have 32");
    s = porep;
    s.comm_d_new = (struct bytes_view){(const uint8_t *)digest, 5}; /* not needed, but wrong */
    refused(&s, "comm_d_new", "5 bytes");
    s = porep;
    s.request_id = (struct bytes_view){(const uint8_t *)"a\0b", 3};
    refused(&s, "request_id", "UTF-8");
    s.request_id = (struct bytes_view){(const uint8_t *)"\xff", 1};
    refused(&s, "request_id", "UTF-8");
    static uint8_t large[REQUEST_ID_MAX + 1];
    memset(large, 'x', sizeof large);
    s.request_id = (struct bytes_view){large, sizeof large};
    refused(&s, "request_id", "1024");
    s.request_id.size--;
    struct proof_request r;
    ok(submission_request(&r, &s));
    assert_string_equal(wire_kind_name(PROOF_SNAP_POSEIDON), "snap-update");
    assert_string_equal(wire_kind_name(PROOF_KINDS), "unknown");
}

/* ---- against generated code ---- */

static bool same(struct bytes_view v, const ProtobufCBinaryData *b)
{
    return v.size == b->len && (v.size == 0 || memcmp(v.data, b->data, v.size) == 0);
}

static void compare(const struct submission *s, const Cuzk__V1__SubmitProofRequest *p)
{
    assert_int_equal(s->proof_kind, (int32_t)p->proof_kind);
    assert_int_equal(s->priority, (int32_t)p->priority);
    assert_int_equal(s->sector_size, p->sector_size);
    assert_int_equal(s->registered_proof, p->registered_proof);
    assert_int_equal(s->sector_number, p->sector_number);
    assert_int_equal(s->miner_id, p->miner_id);
    assert_int_equal(s->partition_index, p->partition_index);
    assert_true(same(s->vanilla_proof, &p->vanilla_proof) && same(s->randomness, &p->randomness));
    assert_true(same(s->comm_r_old, &p->comm_r_old) && same(s->comm_r_new, &p->comm_r_new) &&
                same(s->comm_d_new, &p->comm_d_new));
    assert_int_equal(s->request_id.size, strlen(p->request_id));
    assert_memory_equal(s->request_id.data, p->request_id, s->request_id.size);
    assert_int_equal(s->vanilla_proofs_count, p->n_vanilla_proofs);
    for (size_t i = 0; i < p->n_vanilla_proofs; i++)
        assert_true(same(s->vanilla_proofs[i], &p->vanilla_proofs[i]));
}

static void random_fields(struct writer *w)
{
    static const uint32_t numbers[] = {1, 2, 3, 4, 5, 10, 11, 20, 21, 22, 23, 30, 31, 32, 6, 99};
    uint8_t bytes[64];
    for (long i = random() % 12; i >= 0; i--) {
        uint32_t n = numbers[random() % 16];
        bool number = (n >= 2 && n <= 5) || n == 20 || n == 21 || n == 23 || (n == 6 && random() % 2);
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(n == 1 ? 'a' + random() % 26 : random());
        if (number)
            put_number(w, n, (uint64_t)random() << (random() % 40));
        else
            put_bytes(w, n, bytes, (size_t)random() % sizeof bytes);
    }
}

static void as_generated_code_reads_it(void **state)
{
    (void)state;
    unsigned seed = 7;
    print_message("seed %u\n", seed);
    srandom(seed);
    for (int round = 0; round < 3000; round++) {
        struct writer w = {.size = 0}, v = {.size = 0}, outer = {.size = 0};
        struct submission s;
        random_fields(&w);
        random_fields(&v);
        Cuzk__V1__SubmitProofRequest *p = cuzk__v1__submit_proof_request__unpack(NULL, w.size, w.bytes);
        assert_non_null(p);
        ok(submission_decode(&s, w.bytes, w.size, false));
        compare(&s, p);
        submission_end(&s);
        cuzk__v1__submit_proof_request__free_unpacked(p, NULL);

        put_bytes(&outer, 1, w.bytes, w.size);
        if (round % 2)
            put_bytes(&outer, 1, v.bytes, v.size);
        Cuzk__V1__ProveRequest *q = cuzk__v1__prove_request__unpack(NULL, outer.size, outer.bytes);
        assert_non_null(q);
        ok(submission_decode(&s, outer.bytes, outer.size, true));
        if (round % 2 == 0) /* protobuf-c merges by rules of its own: see submessages_merge */
            compare(&s, q->submit);
        submission_end(&s);
        cuzk__v1__prove_request__free_unpacked(q, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),
        cmocka_unit_test(the_last_one_counts),
        cmocka_unit_test(submessages_merge),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(in_07_malformed_lengths),
        cmocka_unit_test(in_01_cut_anywhere),
        cmocka_unit_test(too_many_vanilla_proofs),
        cmocka_unit_test(the_head_tells_kind_and_priority),
        cmocka_unit_test(requests_of_every_kind),
        cmocka_unit_test(in_05_09_10_refusals),
        cmocka_unit_test(as_generated_code_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
