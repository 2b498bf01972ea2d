/* The 2 KiB PoRep of a really sealed sector, byte for byte as the reference makes it: parameters (digest),
 * key, and the proof for fixed blinding. The parameter set comes from the fixture porep_2k_params
 * (CUZK_TEST_PARAMS names it). */
#include "api/internal.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/sha512.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DATA CUZK_TEST_DATA "/porep-2k/"
static const char PARAMS_SHA256[] = "ac5b28866a8434ff8e7a8158c9a4de5adc4673a521f01d72e7fb8133bce2a823";
static const char VK_SHA256[] = "4be7c62794b13ff356d7a1c4c45e2064886c5562e4b06698d9039a93178ff76d";

static struct cuzk *cuzk;
static struct cuzk_circuit *circuit;
static const char *params_path;

static void must(struct status s)
{
    if (status_failed(&s)) {
        fprintf(stderr, "unexpected error: %s | %s | %s\n", s.message, s.detail, s.hint);
        abort();
    }
}

static void ok(enum cuzk_code code, const struct cuzk_error *error)
{
    if (code != CUZK_OK) {
        fprintf(stderr, "unexpected error: %s | %s | %s\n", error->message, error->detail, error->hint);
        abort();
    }
}

static struct cuzk_c1 *golden_c1(const char *name)
{
    char path[512];
    uint8_t *data;
    size_t size;
    struct cuzk_c1 *c1;
    struct cuzk_error error;
    snprintf(path, sizeof path, DATA "%s", name);
    must(file_read(&data, &size, path, 1 << 24, 0));
    ok(cuzk_c1_read(&c1, data, size, &error), &error);
    mem_free(data);
    return c1;
}

static void file_sha256(char hex[65], const char *path)
{
    struct file_map map;
    uint8_t digest[32];
    must(file_map_open(&map, path));
    sha256(digest, map.data, map.size);
    file_map_close(&map);
    hex_encode(hex, digest, 32);
}

static void test_files(void **state)
{
    (void)state;
    char hex[65], vk[4096];
    file_sha256(hex, params_path);
    assert_string_equal(hex, PARAMS_SHA256);
    snprintf(vk, sizeof vk, "%.*s.vk", (int)(strlen(params_path) - strlen(".params")), params_path);
    file_sha256(hex, vk);
    assert_string_equal(hex, VK_SHA256);
}

static void fixed_value(fr *out, const char *name)
{
    uint8_t digest[64];
    must(sha512(digest, name, strlen(name)));
    fr_from_bytes_reduce(out, digest, sizeof digest);
}

static struct cuzk_params *open_params(void)
{
    struct cuzk_params *params;
    struct cuzk_error error;
    ok(cuzk_params_open(&params, cuzk, circuit, params_path, NULL, CUZK_ALLOW_TEST_PARAMS, NULL, NULL,
                        &error),
       &error);
    return params;
}

static void test_proof_bytes(void **state)
{
    (void)state;
    struct cuzk_params *params = open_params();
    struct cuzk_c1 *c1 = golden_c1("c1.json");
    struct cuzk_request *request;
    struct cuzk_seeds *seeds;
    struct cuzk_error error;
    struct device_pending *pending;
    struct partial_sums sums;
    struct blinding blinding;
    struct proof proof;
    uint8_t bytes[PROOF_BYTES], *golden;
    size_t golden_size;
    ok(cuzk_request_from_c1(&request, cuzk, c1, 1000, 1, &error), &error);
    ok(cuzk_synthesise(&seeds, circuit, request, 0, &error), &error);
    const struct device_operations *op = cuzk->device->operations;
    must(op->prove_start(&pending, cuzk->device, params->loaded, circuit->loaded, &seeds->seeds,
                         PRIORITY_NORMAL, NULL));
    must(op->prove_finish(&sums, cuzk->device, pending));
    fixed_value(&blinding.r, "g16-r");
    fixed_value(&blinding.s, "g16-s");
    must(proof_assemble(&proof, &sums, &params->image.key, &blinding));
    proof_encode(bytes, &proof);
    must(file_read(&golden, &golden_size, DATA "porep-2k.proof", 4096, 0));
    assert_int_equal(golden_size, PROOF_BYTES);
    assert_memory_equal(bytes, golden, PROOF_BYTES);
    mem_free(golden);
    cuzk_seeds_end(seeds);
    cuzk_request_end(request);
    cuzk_c1_end(c1);
    cuzk_params_close(params);
}

/* The golden proof and ours verify from public values; neither does for another sector, miner, seed, or bit.
 */
static void test_prove_and_verify(void **state)
{
    (void)state;
    struct cuzk_params *params = open_params();
    struct cuzk_c1 *c1 = golden_c1("c1-wrapped.json");
    struct cuzk_c1_facts facts;
    struct cuzk_request *request;
    struct cuzk_request_facts request_facts;
    struct cuzk_error error;
    uint8_t proof[CUZK_PROOF_BYTES], *vk, *golden;
    size_t vk_size, golden_size;
    cuzk_c1_facts(&facts, c1);
    assert_true(facts.has_sector_number);
    ok(cuzk_request_from_c1(&request, cuzk, c1, 1000, 1, &error), &error);
    size_t held = mem_used();
    mem_peak_reset();
    ok(cuzk_prove(proof, sizeof proof, cuzk, params, request, &error), &error);
    double peak = (double)(mem_peak() - held);
    struct cuzk_circuit_facts plan;
    ok(cuzk_circuit_facts(&plan, cuzk, circuit, &error), &error);
    printf("peak %.1f MiB, planned %.1f MiB\n", peak / 1048576, (double)plan.proof_bytes / 1048576);
    assert_true(peak < 1.1 * (double)plan.proof_bytes && peak > 0.9 * (double)plan.proof_bytes);
    assert_true(peak < 1073741824.0);

    cuzk_request_facts(&request_facts, request);
    struct cuzk_statement seal = *request_facts.statement;
    assert_int_equal(seal.registered_proof, facts.registered_proof);
    assert_memory_equal(seal.comm_r, facts.comm_r, 32);
    must(file_read(&vk, &vk_size, DATA "porep-2k.vk", 1 << 20, 0));
    must(file_read(&golden, &golden_size, DATA "porep-2k.proof", 4096, 0));
    ok(cuzk_verify(cuzk, vk, vk_size, &seal, proof, sizeof proof, &error), &error);
    ok(cuzk_verify(cuzk, vk, vk_size, &seal, golden, golden_size, &error), &error);
    struct cuzk_statement other = seal;
    other.sector_number = 2;
    assert_int_equal(cuzk_verify(cuzk, vk, vk_size, &other, proof, sizeof proof, &error), CUZK_REJECTED);
    other = seal;
    other.miner_id = 1001;
    assert_int_equal(cuzk_verify(cuzk, vk, vk_size, &other, proof, sizeof proof, &error), CUZK_REJECTED);
    other = seal;
    other.seed[0] ^= 1;
    assert_int_equal(cuzk_verify(cuzk, vk, vk_size, &other, proof, sizeof proof, &error), CUZK_REJECTED);
    proof[100] ^= 1;
    assert_int_equal(cuzk_verify(cuzk, vk, vk_size, &seal, proof, sizeof proof, &error), CUZK_REJECTED);
    assert_int_equal(cuzk_key_trusted(vk, vk_size, &error), CUZK_UNTRUSTED);
    mem_free(vk);
    mem_free(golden);
    cuzk_request_end(request);
    cuzk_c1_end(c1);
    cuzk_params_close(params);
}

/* Test parameters are not used unless they are admitted. */
static void test_untrusted(void **state)
{
    (void)state;
    struct cuzk_params *params;
    struct cuzk_error error;
    assert_int_equal(cuzk_params_open(&params, cuzk, circuit, params_path, NULL, 0, NULL, NULL, &error),
                     CUZK_UNTRUSTED);
    assert_null(params);
    assert_non_null(strstr(error.message, "is not trusted"));
}

static int start(void **state)
{
    (void)state;
    struct cuzk_error error;
    params_path = getenv("CUZK_TEST_PARAMS");
    if (params_path == NULL) {
        fprintf(stderr, "CUZK_TEST_PARAMS must name the parameters of porep-2k with test seed g16\n");
        return 1;
    }
    ok(cuzk_open(&cuzk, NULL, &error), &error);
    ok(cuzk_circuit_open(&circuit, cuzk, "porep-2k", &error), &error);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cuzk_circuit_close(circuit);
    cuzk_close(cuzk);
    return mem_used() == 0 ? 0 : 1; /* nothing is kept */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_proof_bytes),
        cmocka_unit_test(test_prove_and_verify),
        cmocka_unit_test(test_untrusted),
    };
    return cmocka_run_group_tests(tests, start, end);
}
