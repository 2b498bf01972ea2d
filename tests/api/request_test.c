/* Requests and statements of the public library: what a request completes, what it refuses, who owns what,
 * and verification from public values of every kind against the golden keys. Proving is tested through the
 * tool. */
#include "cuzk/cuzk.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COMM_R "a756d696775e623f97fb562fe1bbb3a073c2ebdc42dd899f4b9cc2d190b9e119"

static struct cuzk *cuzk;

static void ok(enum cuzk_code code, const struct cuzk_error *error)
{
    if (code != CUZK_OK)
        fail_msg("unexpected error: %s | %s | %s", error->message, error->detail, error->hint);
}

static void refuses(enum cuzk_code got, enum cuzk_code want, const struct cuzk_error *error, const char *part)
{
    if (got != want || strstr(error->message, part) == NULL)
        fail_msg("expected %d \"%s\", got %d \"%s\"", want, part, got, error->message);
}

static struct cuzk_bytes data_file(const char *name)
{
    char path[512];
    uint8_t *data;
    struct cuzk_bytes out;
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    struct status s = file_read(&data, &out.size, path, 1 << 24, 0);
    if (status_failed(&s))
        fail_msg("%s", s.message);
    out.data = data;
    return out;
}

static void end_file(struct cuzk_bytes file)
{
    mem_free((void *)(uintptr_t)file.data);
}

static void hex32(uint8_t out[32], const char *hex)
{
    assert_true(hex_decode(out, 32, hex, strlen(hex)));
}

static struct cuzk_statement winning_asked(void)
{
    struct cuzk_statement s = {.kind = CUZK_WINNING};
    memset(s.randomness, 7, 32);
    return s;
}

static struct cuzk_statement snap_asked(void)
{
    struct cuzk_statement s = {.kind = CUZK_SNAP};
    hex32(s.comm_r_old, COMM_R);
    hex32(s.comm_r_new, "0d3f028886a2451faed560e4a82ad3702363f8f169795c1328b0993992f53d50");
    hex32(s.comm_d_new, "0ef16053994ba14070827712354b0531d8a87e2cea0d5330f49c63dfc9615f2b");
    return s;
}

/* Opens, ends the file before anything else is done (nothing is borrowed), verifies the golden proof. */
static void golden(const struct cuzk_statement *asked, const char *vanilla_name, const char *circuit,
                   const char *vk_name, const char *proof_name, size_t proof_at)
{
    struct cuzk_request *request;
    struct cuzk_request_facts facts;
    struct cuzk_error error;
    struct cuzk_bytes vanilla = data_file(vanilla_name), vk = data_file(vk_name),
                      proof = data_file(proof_name);
    ok(cuzk_request_open(&request, cuzk, asked, &vanilla, 1, &error), &error);
    end_file(vanilla);
    cuzk_request_facts(&facts, request);
    assert_string_equal(facts.circuit, circuit);
    assert_int_equal(facts.sector_bytes, 2048);
    assert_int_equal(facts.partitions, 1);
    assert_int_equal(facts.proof_size, CUZK_PROOF_BYTES);
    const uint8_t *bytes = proof.data + proof_at;
    ok(cuzk_verify(cuzk, vk.data, vk.size, facts.statement, bytes, CUZK_PROOF_BYTES, &error), &error);
    refuses(cuzk_verify(cuzk, vk.data, vk.size, facts.statement, bytes, CUZK_PROOF_BYTES - 1, &error),
            CUZK_INVALID, &error, "bytes long");
    uint8_t bad[CUZK_PROOF_BYTES];
    memcpy(bad, bytes, sizeof bad);
    bad[0] ^= 0x20; /* the sign of A */
    refuses(cuzk_verify(cuzk, vk.data, vk.size, facts.statement, bad, sizeof bad, &error), CUZK_REJECTED,
            &error, "");
    cuzk_request_end(request);
    end_file(vk);
    end_file(proof);
}

static void test_golden(void **state)
{
    (void)state;
    struct cuzk_statement asked = winning_asked();
    golden(&asked, "winning-2k/sector-1.vproof", "winning-2k", "winning-2k/winning-2k.vk",
           "winning-2k/winning-2k.proof", 0);
    asked = snap_asked();
    golden(&asked, "snap-2k/partition-0.vproof", "snap-2k", "snap-2k/snap-2k.vk", "snap-2k/snap-2k.proof", 0);
    asked = (struct cuzk_statement){.kind = CUZK_WINDOW, .registered_proof = 5, .partition_index = 1};
    memset(asked.randomness, 8, 32);
    golden(&asked, "window-2k/v1-sector-3.vproof", "wpost-2k", "window-2k/window-2k.vk", "window-2k/v1.proof",
           CUZK_PROOF_BYTES);
    asked = (struct cuzk_statement){
        .kind = CUZK_POREP, .registered_proof = 5, .miner_id = 1000, .sector_number = 1};
    golden(&asked, "porep-2k/c1-wrapped.json", "porep-2k", "porep-2k/porep-2k.vk", "porep-2k/porep-2k.proof",
           0);
}

/* Every public value of a statement counts. */
static void test_every_value(void **state)
{
    (void)state;
    struct cuzk_error error;
    struct cuzk_bytes vk = data_file("winning-2k/winning-2k.vk"),
                      proof = data_file("winning-2k/winning-2k.proof");
    struct cuzk_statement s = winning_asked();
    struct cuzk_sector sector = {.number = 1};
    hex32(sector.comm_r, COMM_R);
    s.sectors = &sector;
    s.sectors_count = 1;
    ok(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), &error);
    sector.number = 2;
    refuses(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), CUZK_REJECTED, &error,
            "");
    sector.number = 1;
    sector.comm_r[0] ^= 1;
    refuses(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), CUZK_REJECTED, &error,
            "");
    end_file(vk);
    end_file(proof);
    vk = data_file("snap-2k/snap-2k.vk");
    proof = data_file("snap-2k/snap-2k.proof");
    for (int i = 0; i < 3; i++) {
        s = snap_asked();
        uint8_t *values[3] = {s.comm_r_old, s.comm_r_new, s.comm_d_new};
        ok(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), &error);
        values[i][3] ^= 1;
        refuses(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), CUZK_REJECTED,
                &error, "");
        memset(values[i], 0xff, 32);
        refuses(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), CUZK_INVALID, &error,
                "not a field element");
    }
    end_file(vk);
    end_file(proof);
}

static void test_wrong_statements(void **state)
{
    (void)state;
    struct cuzk_error error;
    struct cuzk_bytes vk = data_file("winning-2k/winning-2k.vk"),
                      proof = data_file("winning-2k/winning-2k.proof");
    struct cuzk_sector sectors[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    struct cuzk_statement s = winning_asked();
#define VERIFY(code, part)                                                                                   \
    refuses(cuzk_verify(cuzk, vk.data, vk.size, &s, proof.data, proof.size, &error), code, &error, part)
    VERIFY(CUZK_INVALID, "no vanilla proof");
    s.sectors = sectors;
    s.sectors_count = 2;
    VERIFY(CUZK_INVALID, "at most 1");
    s.sectors_count = 1;
    s.registered_proof = 5;
    VERIFY(CUZK_INVALID, "registered proof 5 does not exist for kind winning");
    s.kind = CUZK_WINDOW;
    VERIFY(CUZK_INVALID, "another circuit");
    s.sectors_count = 3;
    VERIFY(CUZK_INVALID, "at most 2");
    s.kind = CUZK_SNAP;
    VERIFY(CUZK_INVALID, "registered proof 5 does not exist for kind snap");
    s.kind = CUZK_POREP;
    s.registered_proof = 20;
    VERIFY(CUZK_INVALID, "registered proof 20 does not exist for kind porep");
    s.registered_proof = 15;
    s.comm_r[0] = s.comm_d[0] = s.seed[0] = 1;
    VERIFY(CUZK_UNSUPPORTED, "non-interactive");
    s.kind = (enum cuzk_kind)7;
    VERIFY(CUZK_INVALID, "kind of proof 7");
    s = winning_asked();
    s.sectors = sectors;
    s.sectors_count = 1;
    memset(s.randomness, 0xff, 32);
    VERIFY(CUZK_INVALID, "randomness is not a field element");
#undef VERIFY
    end_file(vk);
    end_file(proof);
}

static void test_refused_requests(void **state)
{
    (void)state;
    struct cuzk_request *request;
    struct cuzk_error error;
    struct cuzk_bytes c1 = data_file("porep-2k/c1.json"), twice[2] = {c1, c1};
    struct cuzk_statement s = {
        .kind = CUZK_POREP, .registered_proof = 5, .miner_id = 1000, .sector_number = 1};
#define OPEN(files, count, code, part)                                                                       \
    do {                                                                                                     \
        refuses(cuzk_request_open(&request, cuzk, &s, files, count, &error), code, &error, part);            \
        assert_null(request);                                                                                \
    } while (0)
    OPEN(twice, 2, CUZK_INVALID, "one vanilla proof");
    OPEN(twice, 0, CUZK_INVALID, "one vanilla proof");
    s.registered_proof = 6;
    OPEN(&c1, 1, CUZK_INVALID, "registered proof 5 (StackedDrg2KiBV1_1), the request of 6");
    s.registered_proof = 5;
    s.sector_number = 2;
    OPEN(&c1, 1, CUZK_INVALID, "replica_id");
    s.kind = CUZK_WINNING;
    s.registered_proof = 0;
    OPEN(&c1, 1, CUZK_INVALID, "vanilla proof 0");
    OPEN(&c1, 0, CUZK_INVALID, "no vanilla proof");
    s.kind = (enum cuzk_kind) - 1;
    OPEN(&c1, 1, CUZK_INVALID, "does not exist");
#undef OPEN
    end_file(c1);
}

/* A circuit takes its own requests only. */
static void test_synthesise(void **state)
{
    (void)state;
    struct cuzk_request *request;
    struct cuzk_circuit *window, *winning;
    struct cuzk_seeds *seeds;
    struct cuzk_error error;
    struct cuzk_bytes vanilla = data_file("winning-2k/sector-1.vproof");
    struct cuzk_statement asked = winning_asked();
    ok(cuzk_request_open(&request, cuzk, &asked, &vanilla, 1, &error), &error);
    end_file(vanilla);
    ok(cuzk_circuit_open(&window, cuzk, "window-2k", &error), &error);
    ok(cuzk_circuit_open(&winning, cuzk, "winning-2k", &error), &error);
    refuses(cuzk_synthesise(&seeds, window, request, 0, &error), CUZK_INVALID, &error,
            "for circuit winning-2k, not wpost-2k");
    assert_null(seeds);
    refuses(cuzk_synthesise(&seeds, winning, request, 1, &error), CUZK_INVALID, &error, "does not exist");
    ok(cuzk_synthesise(&seeds, winning, request, 0, &error), &error);
    cuzk_seeds_end(seeds);
    refuses(cuzk_circuit_save(winning, "/nonexistent/shape", &error), CUZK_MISSING, &error, "/nonexistent");
    cuzk_circuit_close(window);
    cuzk_circuit_close(winning);
    cuzk_request_end(request);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct cuzk_error error;
    struct cuzk_bytes vanilla = data_file("winning-2k/sector-1.vproof"), c1 = data_file("porep-2k/c1.json");
    struct cuzk_statement posts = winning_asked();
    struct cuzk_statement porep = {
        .kind = CUZK_POREP, .registered_proof = 5, .miner_id = 1000, .sector_number = 1};
    for (int i = 0; i < 2; i++) {
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            struct cuzk_request *request;
            size_t before = mem_used();
            mem_fail_after(n);
            enum cuzk_code code = cuzk_request_open(&request, cuzk, i == 0 ? &posts : &porep,
                                                    i == 0 ? &vanilla : &c1, 1, &error);
            mem_fail_after(0);
            done = code == CUZK_OK;
            if (!done)
                assert_int_equal(code, CUZK_MEMORY);
            cuzk_request_end(request);
            assert_int_equal(mem_used(), before);
            assert_true(n < 30);
        }
    }
    end_file(vanilla);
    end_file(c1);
}

static int start(void **state)
{
    (void)state;
    struct cuzk_error error;
    return cuzk_open(&cuzk, NULL, &error) != CUZK_OK;
}

static int end(void **state)
{
    (void)state;
    cuzk_close(cuzk);
    return mem_used() == 0 ? 0 : 1; /* nothing is kept */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),           cmocka_unit_test(test_every_value),
        cmocka_unit_test(test_wrong_statements), cmocka_unit_test(test_refused_requests),
        cmocka_unit_test(test_synthesise),       cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, start, end);
}
