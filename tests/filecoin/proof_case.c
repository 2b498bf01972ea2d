/* See proof_case.h. */
#include "proof_case.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/sha512.h"
#include "device/device.h"
#include "groth16/setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

static void must(struct status s)
{
    if (status_failed(&s)) {
        fprintf(stderr, "unexpected error: %s | %s | %s\n", s.message, s.detail, s.hint);
        abort();
    }
}

static void read_data(uint8_t **data, size_t *size, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, file);
    must(file_read(data, size, path, 1 << 26, 64));
}

void proof_case_load(struct proof_case_request *out, const struct proof_case *c)
{
    memset(out, 0, sizeof *out);
    out->vanilla = mem_alloc(c->files_count, sizeof *out->vanilla);
    for (size_t i = 0; i < c->files_count; i++) {
        uint8_t *data;
        read_data(&data, &out->vanilla[i].size, c->files[i]);
        out->vanilla[i].data = data;
    }
    memset(out->randomness, c->randomness, 32);
    out->request = (struct proof_request){.kind = c->kind,
                                          .registered_proof = c->registered_proof,
                                          .miner = 1000,
                                          .sector_number = 1,
                                          .randomness = {out->randomness, 32},
                                          .partition_index = c->partition_index,
                                          .vanilla = out->vanilla,
                                          .vanilla_count = c->files_count};
    if (c->comm_r_old != NULL) {
        const char *hex[3] = {c->comm_r_old, c->comm_r_new, c->comm_d_new};
        for (int i = 0; i < 3; i++)
            assert_true(hex_decode(out->comm[i], 32, hex[i], 64));
        out->request.comm_r_old = (struct bytes_view){out->comm[0], 32};
        out->request.comm_r_new = (struct bytes_view){out->comm[1], 32};
        out->request.comm_d_new = (struct bytes_view){out->comm[2], 32};
    }
}

void proof_case_end(struct proof_case_request *r)
{
    for (size_t i = 0; i < r->request.vanilla_count; i++)
        mem_free((uint8_t *)(uintptr_t)r->vanilla[i].data);
    mem_free(r->vanilla);
}

static void expect_digest(const char *what, const char *name, const uint8_t digest[32], const char *want)
{
    char hex[65];
    hex_encode(hex, digest, 32);
    if (want != NULL && strcmp(hex, want) != 0)
        fail_msg("%s: %s digest is %s, not %s", name, what, hex, want);
}

static void values_digest(uint8_t out[32], const fr *values, size_t n)
{
    struct sha256 h;
    sha256_begin(&h);
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &values[i]);
        sha256_add(&h, bytes, 32);
    }
    sha256_end(&h, out);
}

static void compare_witness(const struct proof_case *c, const struct shape *shape, const struct seeds *seeds)
{
    struct witness w;
    uint8_t digest[32];
    uint32_t bad_row;
    must(witness_start(&w, shape));
    must(witness_expand(&w, shape, seeds, &HERE));
    values_digest(digest, seeds->inputs, shape->inputs);
    expect_digest("inputs", c->name, digest, c->inputs);
    witness_aux_digest(digest, &w, shape, shape->aux);
    expect_digest("aux", c->name, digest, c->aux);
    must(witness_first_unsatisfied(&bad_row, shape, &w));
    assert_int_equal(bad_row, UINT32_MAX);
    size_t rows = shape_all_rows(shape);
    fr *v[3];
    for (int i = 0; i < 3; i++)
        v[i] = mem_alloc(rows, sizeof(fr));
    must(witness_evaluate(v[0], v[1], v[2], rows, shape, &w, &HERE));
    const char *want[3] = {c->a, c->b, c->c};
    for (int i = 0; i < 3; i++) {
        values_digest(digest, v[i], shape->rows);
        expect_digest("a, b or c", c->name, digest, want[i]);
        mem_free(v[i]);
    }
    witness_end(&w);
}

/* The walk's own inputs are those that a verifier derives. */
static void compare_inputs(const struct request *request, const struct seeds *seeds, uint32_t k)
{
    fr *inputs = mem_alloc(seeds->inputs_count, sizeof *inputs);
    must(request_inputs(inputs, request, k));
    for (uint32_t i = 1; i < seeds->inputs_count; i++)
        assert_true(fr_equal(&inputs[i - 1], &seeds->inputs[i]));
    mem_free(inputs);
}

static void blinding_value(fr *out, const char *name, uint32_t k)
{
    uint8_t digest[64];
    fr add;
    must(sha512(digest, name, strlen(name)));
    fr_from_bytes_reduce(out, digest, sizeof digest);
    fr_from_u64(&add, k);
    fr_add(out, out, &add);
}

static void prove(uint8_t bytes[PROOF_BYTES], const struct proof_case *c, const struct shape *shape,
                  const struct seeds *seeds, const struct image *image)
{
    struct device *device;
    struct device_srs *srs;
    struct device_shape *loaded;
    struct device_pending *pending;
    struct partial_sums sums;
    struct blinding blinding;
    struct proof proof;
    must(device_cpu_open(&device, NULL));
    const struct device_operations *op = device->operations;
    must(op->load_srs(&srs, device, image));
    must(op->load_shape(&loaded, device, shape));
    must(op->prove_start(&pending, device, srs, loaded, seeds, PRIORITY_NORMAL, NULL));
    must(op->prove_finish(&sums, device, pending));
    blinding_value(&blinding.r, "g16-r", c->partition);
    blinding_value(&blinding.s, "g16-s", c->partition);
    must(proof_assemble(&proof, &sums, &image->key, &blinding));
    must(proof_verify(&image->key, &proof, seeds->inputs + 1, seeds->inputs_count - 1));
    proof_encode(bytes, &proof);
    op->drop_shape(device, loaded);
    op->drop_srs(device, srs);
    op->close(device);
}

static void compare_proof(const struct proof_case *c, const struct shape *shape, const struct seeds *seeds,
                          const char *folder)
{
    char params[256], vk[256];
    struct toxic toxic;
    struct params_file file;
    struct image image;
    uint8_t digest[32], bytes[PROOF_BYTES], *golden, *golden_vk;
    size_t golden_size, golden_vk_size;
    snprintf(params, sizeof params, "%s/%s.params", folder, c->name);
    snprintf(vk, sizeof vk, "%s/%s.vk", folder, c->name);
    must(toxic_from_name(&toxic, "g16"));
    must(setup_run(params, vk, shape, &toxic, NULL, &HERE, NULL));
    must(params_open(&file, params));
    sha256(digest, file.map.data, file.map.size);
    expect_digest("params", c->name, digest, c->params_sha256);
    read_data(&golden_vk, &golden_vk_size, c->vk_file);
    assert_int_equal(golden_vk_size, vk_bytes(file.counts.ic));
    assert_memory_equal(golden_vk, file.map.data, golden_vk_size);
    must(image_decode(&image, &file, false, &HERE, NULL));
    prove(bytes, c, shape, seeds, &image);
    read_data(&golden, &golden_size, c->proof_file);
    assert_true(golden_size >= (c->partition + 1) * (size_t)PROOF_BYTES);
    assert_memory_equal(bytes, golden + (size_t)c->partition * PROOF_BYTES, PROOF_BYTES);
    mem_free(golden);
    mem_free(golden_vk);
    image_end(&image);
    params_close(&file);
    remove(params);
}

void proof_case_run(const struct proof_case *c, const char *folder)
{
    struct proof_case_request r;
    struct request *request;
    struct shape *shape;
    struct seeds seeds;
    uint8_t digest[32];
    proof_case_load(&r, c);
    must(request_open(&request, &r.request, &HERE));
    const struct request_outline *facts = request_facts(request);
    must(circuit_shape(&shape, facts->kind, facts->sector));
    must(shape_rows_digest(digest, shape, false, UINT32_MAX));
    expect_digest("rows", c->name, digest, c->rows);
    uint32_t k = facts->partitions == 1 ? 0 : c->partition;
    must(request_seeds(&seeds, request, shape, k));
    compare_inputs(request, &seeds, k);
    compare_witness(c, shape, &seeds);
    if (c->params_sha256 != NULL)
        compare_proof(c, shape, &seeds, folder);
    seeds_end(&seeds);
    shape_release(shape);
    request_end(request);
    proof_case_end(&r);
}
