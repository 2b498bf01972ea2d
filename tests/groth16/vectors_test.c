/* Byte equality with the reference: parameter files, keys and proofs of T1, T2, T3; verification and its
 * refusals. */
#include "vectors.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "base/sha512.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static void t3_value(fr *out, const char *name)
{
    uint8_t digest[64];
    char text[32];
    snprintf(text, sizeof text, "g16-%s", name);
    must(sha512(digest, text, strlen(text)));
    fr_from_bytes_reduce(out, digest, sizeof digest);
}

static void vector_t3(struct vector *v)
{
    vector_xor(v, "T3");
    must(toxic_from_name(&v->toxic, "g16"));
    t3_value(&v->blinding.r, "r");
    t3_value(&v->blinding.s, "s");
    v->params_sha256 = "2b25a11edeca42feee7cb712ba914244886014aa65c4233a5149163146e7aea0";
    v->proof =
        "ae86c57333460a836806a86f4bbd8613b9add744668e1c752884e31887ba7bb8ccc832953d1c786e5da94511e19ad6cc"
        "951b2d140cedade43e11e325079fbcf19a9b4a4ab7b2bd69b15e55681514b67763900903bca5864260305ba3af59f3c5"
        "191192db979fbcd16b678e1651ed526fdccef79523fabba481beb5300ac806ba7c78d9d6f0786c8d800e9ba0d967dca3"
        "b857c1e2c1e95cea228db5fd482da45bb00ebd3abe92615e809b1f991edb4bf1771fb00e7ddd911eebd740e4035b33be";
}

static void vector_end(struct vector *v)
{
    seeds_end(&v->seeds);
    shape_release(v->shape);
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

static void paths(char params[128], char vk[128], const struct vector *v)
{
    snprintf(params, 128, "%s/%s.params", folder, v->name);
    snprintf(vk, 128, "%s/%s.vk", folder, v->name);
}

static void prove_vector(uint8_t proof[PROOF_BYTES], const struct vector *v, const struct image *image,
                         struct pool *pool)
{
    struct device *device;
    struct device_srs *srs;
    struct device_shape *loaded;
    struct device_pending *pending;
    struct partial_sums sums;
    struct proof p;
    must(device_cpu_open(&device, pool));
    must(device->operations->load_srs(&srs, device, image));
    must(device->operations->load_shape(&loaded, device, v->shape));
    must(device->operations->prove_start(&pending, device, srs, loaded, &v->seeds, PRIORITY_NORMAL, NULL));
    must(device->operations->prove_finish(&sums, device, pending));
    must(proof_assemble(&p, &sums, &image->key, &v->blinding));
    proof_encode(proof, &p);
    device->operations->drop_shape(device, loaded);
    device->operations->drop_srs(device, srs);
    device->operations->close(device);
}

static void check_vector_with(struct vector *v, struct pool *pool)
{
    const struct work work = {pool, PRIORITY_NORMAL, NULL};
    char params[128], vk[128], hex[2 * PROOF_BYTES + 1];
    struct params_file file;
    struct image image;
    uint8_t bytes[PROOF_BYTES];
    paths(params, vk, v);
    must(setup_run(params, vk, v->shape, &v->toxic, NULL, &work, NULL));
    file_sha256(hex, params);
    assert_string_equal(hex, v->params_sha256);
    if (v->vk_sha256 != NULL) {
        file_sha256(hex, vk);
        assert_string_equal(hex, v->vk_sha256);
    }
    must(params_open(&file, params));
    must(image_decode(&image, &file, true, &work, NULL));
    prove_vector(bytes, v, &image, pool);
    hex_encode(hex, bytes, PROOF_BYTES);
    assert_string_equal(hex, v->proof);

    struct proof proof;
    must(proof_decode(&proof, bytes));
    must(proof_verify(&file.key, &proof, &v->public_input, 1));
    fr wrong;
    fr_add(&wrong, &v->public_input, &FR_ONE);
    struct status s = proof_verify(&file.key, &proof, &wrong, 1);
    assert_int_equal(s.code, STATUS_REJECTED);
    image_end(&image);
    params_close(&file);
}

static void check_vector(struct vector *v)
{
    struct pool *pool;
    check_vector_with(v, NULL);
    must(pool_start(&pool, 3));
    check_vector_with(v, pool);
    pool_end(pool);
    vector_end(v);
}

static void test_t1(void **state)
{
    (void)state;
    struct vector v;
    vector_t1(&v);
    check_vector(&v);
}

static void test_t2(void **state)
{
    (void)state;
    struct vector v;
    vector_t2(&v);
    check_vector(&v);
}

static void test_t3(void **state)
{
    (void)state;
    struct vector v;
    vector_t3(&v);
    check_vector(&v);
}

/* The embedded self-test parameters are those of T2, and the CPU backend passes. */
static void test_self_test(void **state)
{
    (void)state;
    struct vector v;
    uint8_t digest[32];
    char hex[65];
    vector_t2(&v);
    sha256(digest, SELF_TEST_PARAMS, sizeof SELF_TEST_PARAMS);
    hex_encode(hex, digest, 32);
    assert_string_equal(hex, v.params_sha256);
    vector_end(&v);
    struct device *device;
    must(device_cpu_open(&device, NULL));
    must(device->operations->self_test(device));
    device->operations->close(device);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-groth16-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t1),
        cmocka_unit_test(test_t2),
        cmocka_unit_test(test_t3),
        cmocka_unit_test(test_self_test),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
