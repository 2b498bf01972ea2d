/* Hostile parameter files, keys and proofs: cut, grown, damaged in every kind of place; images bound to their
 * source; a full disk; batch verification with one bad proof; out of memory at every allocation of a small
 * proof. */
#include "vectors.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "curve/encoding.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};
static char folder[64];

#define SIZE     sizeof SELF_TEST_PARAMS
#define AT_IC    868
#define AT_H     (868 + 2 * 96)
#define H_POINTS 7
#define AT_L     (AT_H + 4 + 7 * 96)
#define AT_B_G2  (SIZE - 2 * 192 - 4)

static struct status open_and_decode(const uint8_t *data, size_t size, bool subgroup)
{
    struct params_file file;
    struct image image;
    TRY(params_parse(&file, data, size, "X"));
    struct status s = image_decode(&image, &file, subgroup, &HERE, NULL);
    if (!status_failed(&s))
        image_end(&image);
    struct status checked = params_check_points(&file, subgroup, &HERE, NULL); /* says the same */
    assert_int_equal(checked.code, s.code);
    assert_string_equal(checked.message, s.message);
    params_close(&file);
    return s;
}

/* A copy with exactly `size` bytes, so that the sanitizer sees any read beyond. */
static uint8_t *copy_of(size_t size)
{
    uint8_t *data = malloc(size == 0 ? 1 : size);
    memcpy(data, SELF_TEST_PARAMS, size < SIZE ? size : SIZE);
    return data;
}

static void test_cut_everywhere(void **state)
{
    (void)state;
    for (size_t size = 0; size < SIZE; size++) {
        uint8_t *data = copy_of(size);
        struct status s = open_and_decode(data, size, false);
        assert_int_equal(s.code, STATUS_INVALID);
        assert_true(s.message[0] != 0);
        free(data);
    }
}

static void test_grown(void **state)
{
    (void)state;
    uint8_t *data = copy_of(SIZE + 1);
    data[SIZE] = 0;
    struct status s = open_and_decode(data, SIZE + 1, false);
    assert_int_equal(s.code, STATUS_INVALID);
    assert_non_null(strstr(s.message, "1 bytes follow"));
    free(data);
}

static void test_counts(void **state)
{
    (void)state;
    static const size_t places[] = {AT_IC - 4, AT_H, AT_L, AT_B_G2};
    static const uint32_t counts[] = {0, 1, 6, 8, 0xffffffff, 0x7fffffff, 44739242};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            uint8_t *data = copy_of(SIZE);
            store_be32(data + places[i], counts[j]);
            struct status s = open_and_decode(data, SIZE, false);
            assert_int_equal(s.code, STATUS_INVALID);
            free(data);
        }
}

static void expect_point_error(size_t at, const uint8_t *bytes, size_t size, bool subgroup, const char *where)
{
    uint8_t *data = copy_of(SIZE);
    memcpy(data + at, bytes, size);
    struct status s = open_and_decode(data, SIZE, subgroup);
    assert_int_equal(s.code, STATUS_INVALID);
    assert_non_null(strstr(s.message, where));
    free(data);
}

/* A point on the curve but of another order: the first x for which y exists; its chance to be in the subgroup
 * is nil. */
static void wrong_subgroup_g1(uint8_t bytes[96])
{
    g1_affine point;
    fp four, t;
    fp_add(&four, &FP_ONE, &FP_ONE);
    fp_add(&four, &four, &four);
    point.x = FP_ONE;
    for (;;) {
        fp_sqr(&t, &point.x);
        fp_mul(&t, &t, &point.x);
        fp_add(&t, &t, &four);
        if (fp_sqrt_vartime(&point.y, &t) && !g1_in_subgroup(&point))
            break;
        fp_add(&point.x, &point.x, &FP_ONE);
    }
    g1_to_uncompressed(bytes, &point);
}

static void test_bad_points(void **state)
{
    (void)state;
    uint8_t point[192], modulus[48];
    for (int i = 0; i < 6; i++)
        store_be64(modulus + 8 * i, FP_MODULUS.l[5 - i]);
    size_t third_h = AT_H + 4 + 2 * 96, second_g2 = AT_B_G2 + 4 + 192;

    memcpy(point, SELF_TEST_PARAMS + third_h, 96);
    point[95] ^= 1; /* y changed: off the curve */
    expect_point_error(third_h, point, 96, false, "query h, point 2");
    memcpy(point, modulus, 48); /* x = p */
    expect_point_error(third_h, point, 48, false, "query h, point 2");
    memset(point, 0, sizeof point);
    point[0] = 0x40; /* infinity */
    expect_point_error(third_h, point, 96, false, "query h, point 2");
    expect_point_error(second_g2, point, 192, false, "query b_g2, point 1");
    memcpy(point, SELF_TEST_PARAMS + second_g2, 192);
    point[191] ^= 1;
    expect_point_error(second_g2, point, 192, false, "query b_g2, point 1");
    wrong_subgroup_g1(point);
    expect_point_error(third_h, point, 96, true, "query h, point 2");
    expect_point_error(AT_IC + 96, point, 96, false, "ic[1]"); /* the key is checked always */
    expect_point_error(576, point, 96, false, "delta_g1");
    memset(point, 0, sizeof point);
    point[0] = 0x40;
    expect_point_error(0, point, 96, false, "alpha_g1");
    expect_point_error(672, point, 192, false, "delta_g2");
}

/* Any single byte changed is either refused or gives other points: nothing crashes (the sanitizers watch). */
static void test_every_byte(void **state)
{
    (void)state;
    uint8_t *data = copy_of(SIZE);
    unsigned accepted = 0;
    for (size_t i = 0; i < SIZE; i++) {
        data[i] ^= 0x5a;
        struct status s = open_and_decode(data, SIZE, true);
        accepted += !status_failed(&s);
        data[i] ^= 0x5a;
    }
    assert_int_equal(accepted, 0); /* every byte belongs to a count or a point of the subgroup */
    free(data);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    struct file_writer writer;
    must(file_writer_open(&writer, path));
    must(file_writer_add(&writer, data, size));
    must(file_writer_finish(&writer));
}

static void test_image(void **state)
{
    (void)state;
    char path[128];
    uint8_t source[PARAMS_DIGEST_BYTES], other[PARAMS_DIGEST_BYTES];
    struct params_file file;
    struct image image, mapped;
    memset(source, 7, sizeof source);
    memset(other, 8, sizeof other);
    snprintf(path, sizeof path, "%s/image", folder);
    must(params_parse(&file, SELF_TEST_PARAMS, SIZE, "X"));
    must(image_decode(&image, &file, false, &HERE, NULL));
    memcpy(image.source_digest, source, sizeof source);
    must(image_save(&image, path, &HERE));
    must(image_map(&mapped, path, source, true, &HERE));
    assert_memory_equal(&mapped.counts, &image.counts, sizeof image.counts);
    assert_memory_equal(mapped.h, image.h, 7 * sizeof(g1_affine));
    assert_memory_equal(mapped.l, image.l, 2 * sizeof(g1_affine));
    assert_memory_equal(mapped.b_g2, image.b_g2, 2 * sizeof(g2_affine));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal((uint64_t)st.st_size, image_bytes(&image.counts));
    image_end(&mapped);
    struct status s = image_map(&mapped, path, other, true, &HERE);
    assert_int_equal(s.code, STATUS_INVALID);
    image_end(&image);
    params_close(&file);

    uint8_t *data;
    size_t size;
    must(file_read(&data, &size, path, 1 << 20, 0));
    static const size_t places[] = {0, 9, 13, 17, 41, 65, 130, 200, 4096 + 100, 8192, 8192 + 95};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        data[places[i]] ^= 1;
        write_file(path, data, size);
        s = image_map(&mapped, path, source, true, &HERE);
        assert_int_equal(s.code, STATUS_INVALID);
        data[places[i]] ^= 1;
    }
    for (size_t cut = 0; cut < size; cut += 777) {
        write_file(path, data, cut);
        s = image_map(&mapped, path, source, true, &HERE);
        assert_true(status_failed(&s));
    }
    mem_free(data);
}

static void test_match(void **state)
{
    (void)state;
    struct params_counts have = {2, {7, 2, 4, 2, 2}}, want = have;
    struct status s = params_match(&have, &want, "F", "C");
    assert_false(status_failed(&s));
    want.query[QUERY_A] = 5;
    s = params_match(&have, &want, "F", "C");
    assert_int_equal(s.code, STATUS_INVALID);
    assert_string_equal(
        s.message, "parameter file \"F\" is not for circuit C: array a has 4 points, the circuit wants 5");
}

/* A file size limit makes writing fail half-way: no file under the final name, no temporary one. */
static void test_disk_full(void **state)
{
    (void)state;
    char params[128], vk[128], command[256];
    struct vector v;
    vector_t2(&v);
    snprintf(params, sizeof params, "%s/full.params", folder);
    snprintf(vk, sizeof vk, "%s/full.vk", folder);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, tight;
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = 2000;
    setrlimit(RLIMIT_FSIZE, &tight);
    struct status s = setup_run(params, vk, v.shape, &v.toxic, NULL, &HERE, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(s.code, STATUS_IO);
    assert_non_null(strstr(s.message, "full.params"));
    assert_int_not_equal(access(params, F_OK), 0);
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep full.params)\"", folder);
    assert_int_equal(system(command), 0);
    seeds_end(&v.seeds);
    shape_release(v.shape);
}

/* ---- proofs ---- */

struct proving {
    struct vector v;
    struct params_file file;
    struct image image;
};

static void proving_start(struct proving *p)
{
    vector_t2(&p->v);
    must(params_parse(&p->file, SELF_TEST_PARAMS, SIZE, "X"));
    must(image_decode(&p->image, &p->file, false, &HERE, NULL));
}

static void proving_end(struct proving *p)
{
    image_end(&p->image);
    params_close(&p->file);
    seeds_end(&p->v.seeds);
    shape_release(p->v.shape);
}

static struct status prove(struct proof *out, const struct proving *p, const struct blinding *blinding)
{
    struct device *device = NULL;
    struct device_srs *srs = NULL;
    struct device_shape *loaded = NULL;
    struct device_pending *pending;
    struct partial_sums sums;
    struct status s;
    TRY_OUT(device_cpu_open(&device, NULL));
    TRY_OUT(device->operations->load_srs(&srs, device, &p->image));
    TRY_OUT(device->operations->load_shape(&loaded, device, p->v.shape));
    TRY_OUT(
        device->operations->prove_start(&pending, device, srs, loaded, &p->v.seeds, PRIORITY_NORMAL, NULL));
    TRY_OUT(device->operations->prove_finish(&sums, device, pending));
    s = proof_assemble(out, &sums, &p->image.key, blinding);
out:
    if (loaded != NULL)
        device->operations->drop_shape(device, loaded);
    if (srs != NULL)
        device->operations->drop_srs(device, srs);
    if (device != NULL)
        device->operations->close(device);
    return s;
}

static void test_batch(void **state)
{
    (void)state;
    struct proving p;
    struct proof proofs[5];
    fr inputs[5];
    proving_start(&p);
    for (int i = 0; i < 5; i++) {
        struct blinding blinding;
        must(blinding_random(&blinding));
        must(prove(&proofs[i], &p, &blinding));
        inputs[i] = FR_ONE;
    }
    for (size_t n = 1; n <= 5; n++)
        must(proof_verify_batch(&p.file.key, proofs, n, inputs, 1, &HERE));
    assert_false(g1_affine_equal(&proofs[0].a, &proofs[1].a)); /* blinding is fresh */
    struct status s = proof_verify_batch(&p.file.key, proofs, 0, inputs, 1, &HERE);
    assert_int_equal(s.code, STATUS_INVALID);
    for (int bad = 0; bad < 5; bad++) {
        struct proof kept = proofs[bad];
        g1_affine_neg(&proofs[bad].c, &proofs[bad].c);
        s = proof_verify_batch(&p.file.key, proofs, 5, inputs, 1, &HERE);
        assert_int_equal(s.code, STATUS_REJECTED);
        proofs[bad] = kept;
        fr_add(&inputs[bad], &inputs[bad], &FR_ONE);
        s = proof_verify_batch(&p.file.key, proofs, 5, inputs, 1, &HERE);
        assert_int_equal(s.code, STATUS_REJECTED);
        inputs[bad] = FR_ONE;
    }
    s = proof_verify(&p.file.key, proofs, inputs, 2);
    assert_int_equal(s.code, STATUS_INVALID);
    proving_end(&p);
}

/* Every single bit of a proof's bytes changed: refused when decoded, or not verified. */
static void test_proof_bits(void **state)
{
    (void)state;
    struct proving p;
    uint8_t bytes[PROOF_BYTES];
    proving_start(&p);
    for (size_t bit = 0; bit < 8 * PROOF_BYTES; bit += 3) {
        memcpy(bytes, SELF_TEST_PROOF, PROOF_BYTES);
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        struct proof proof;
        struct status s = proof_decode(&proof, bytes);
        if (!status_failed(&s))
            s = proof_verify(&p.file.key, &proof, &FR_ONE, 1);
        assert_true(s.code == STATUS_INVALID || s.code == STATUS_REJECTED);
    }
    proving_end(&p);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct proving p;
    struct blinding blinding;
    proving_start(&p);
    fr_from_u64(&blinding.r, 27134);
    fr_from_u64(&blinding.s, 17146);
    size_t used = mem_used();
    uint64_t n = 1;
    for (;; n++) {
        struct proof proof;
        mem_fail_after(n);
        struct status s = prove(&proof, &p, &blinding);
        mem_fail_after(0);
        if (!status_failed(&s)) {
            uint8_t bytes[PROOF_BYTES];
            proof_encode(bytes, &proof);
            assert_memory_equal(bytes, SELF_TEST_PROOF, PROOF_BYTES);
            break;
        }
        assert_int_equal(s.code, STATUS_MEMORY);
        assert_int_equal(mem_used(), used);
    }
    assert_true(n > 10); /* it did allocate */
    assert_int_equal(mem_used(), used);
    proving_end(&p);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-params-XXXXXX");
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
        cmocka_unit_test(test_cut_everywhere), cmocka_unit_test(test_grown),
        cmocka_unit_test(test_counts),         cmocka_unit_test(test_bad_points),
        cmocka_unit_test(test_every_byte),     cmocka_unit_test(test_image),
        cmocka_unit_test(test_match),          cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_batch),          cmocka_unit_test(test_proof_bits),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
