/* The CUDA backend on the host stand-in of the runtime, against the CPU backend: the same partial sums, the
 * same parameter sets, and what happens when memory is short or a call fails. */
#include "base/file.h"
#include "base/mem.h"
#include "device/cuda/backend.h"
#include "device/self_test.h"
#include "gadget/circuit.h"
#include "groth16/setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* of standin/cuda_runtime.h, which is C++ */
void standin_fail_at(uint64_t n);
uint64_t standin_calls(void);
size_t standin_memory(size_t bytes);

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

static void must(struct status s)
{
    if (status_failed(&s))
        fail_msg("unexpected error: %s | %s | %s", s.message, s.detail, s.hint);
}

/* ---- a circuit with everything that the backend tells apart ---- */

/* Inputs besides ONE, one of them in B; bits and numbers in both matrices, and numbers in none. */
static void walk(struct circuit *c)
{
    fr values[3];
    struct number numbers[3];
    for (unsigned i = 0; i < 3; i++)
        fr_from_u64(&values[i], 1000003 * (i + 1));
    circuit_numbers(c, numbers, values, 3);
    circuit_inputize(c, &numbers[0]);
    circuit_inputize(c, &numbers[1]);
    struct bits bits = circuit_to_bits(c, &numbers[2]),
                some = circuit_bits(c, UINT64_C(0x123456789abcdef), 61);
    struct bits first = bits_slice(&some, 0, 1);
    circuit_pack_input(c, &some);
    struct bits low = bits_slice(&bits, 0, 254);
    struct number packed = circuit_pack(c, &low), product = circuit_mul(c, &numbers[0], &packed);
    struct number picked = circuit_mul_bit(c, &product, &first);
    struct number hash = circuit_hash2(c, &product, &picked);
    (void)circuit_hash2(c, &hash, &numbers[1]);
}

struct fixture {
    struct shape *shape;
    struct seeds seeds;
    struct toxic toxic;
    struct params_file file;
    struct image image;
    struct device *cpu;
    struct partial_sums sums; /* of the CPU backend */
};

static void make_shape(struct fixture *f)
{
    struct shape_builder *builder;
    struct circuit c;
    must(shape_builder_start(&builder));
    must(circuit_start(&c, builder, NULL, NULL));
    walk(&c);
    must(circuit_end(&c));
    must(shape_builder_finish(&f->shape, builder));
    must(seeds_start(&f->seeds, f->shape));
    must(circuit_start(&c, NULL, &f->seeds, NULL));
    walk(&c);
    must(circuit_end(&c));
    assert_true(seeds_complete(&f->seeds));
}

static void prove(struct partial_sums *out, struct device *device, struct device_srs *srs,
                  struct device_shape *shape, const struct seeds *seeds)
{
    struct device_pending *pending;
    must(device->operations->prove_start(&pending, device, srs, shape, seeds, PRIORITY_NORMAL, NULL));
    must(device->operations->prove_finish(out, device, pending));
}

static void cpu_sums(struct fixture *f)
{
    struct device_srs *srs;
    struct device_shape *shape;
    must(device_cpu_open(&f->cpu, NULL));
    must(f->cpu->operations->load_srs(&srs, f->cpu, &f->image));
    must(f->cpu->operations->load_shape(&shape, f->cpu, f->shape));
    prove(&f->sums, f->cpu, srs, shape, &f->seeds);
    f->cpu->operations->drop_shape(f->cpu, shape);
    f->cpu->operations->drop_srs(f->cpu, srs);
}

static int make(void **state)
{
    static struct fixture f;
    char folder[] = "/tmp/cuzk-backend-test-XXXXXX", path[64];
    make_shape(&f);
    must(toxic_from_name(&f.toxic, "backend"));
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/params", folder);
    must(setup_run(path, NULL, f.shape, &f.toxic, NULL, &HERE, NULL));
    must(params_open(&f.file, path));
    must(image_decode(&f.image, &f.file, false, &HERE, NULL));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    cpu_sums(&f);
    printf("%u rows, %u aux, %u of them numbers, %u inputs\n", f.shape->rows, f.shape->aux, f.shape->fields,
           f.shape->inputs);
    *state = &f;
    return 0;
}

static int unmake(void **state)
{
    struct fixture *f = *state;
    f->cpu->operations->close(f->cpu);
    image_end(&f->image);
    params_close(&f->file);
    seeds_end(&f->seeds);
    shape_release(f->shape);
    return 0;
}

/* ---- tests ---- */

static void same_sums(const struct partial_sums *a, const struct partial_sums *b)
{
    assert_true(g1_equal(&a->h, &b->h));
    assert_true(g1_equal(&a->l, &b->l));
    assert_true(g1_equal(&a->a, &b->a));
    assert_true(g1_equal(&a->b_g1, &b->b_g1));
    assert_true(g2_equal(&a->b_g2, &b->b_g2));
}

static void nothing_is_left(void)
{
    assert_int_equal(standin_memory((size_t)16 << 30), 0);
}

static void sums_are_those_of_the_cpu(void **state)
{
    struct fixture *f = *state;
    struct device *device;
    struct device_srs *srs;
    struct device_shape *shape;
    struct device_plan plan;
    struct partial_sums sums;
    must(device_cuda_open(&device, 0, 0));
    must(device->operations->plan(&plan, device, f->shape, &f->image.counts));
    assert_true(plan.proof_peak[MEMORY_DEVICE] > 0 && plan.proof_peak[MEMORY_HOST] > 0);
    must(device->operations->load_shape(&shape, device, f->shape));
    must(device->operations->load_srs(&srs, device, &f->image));
    for (int i = 0; i < 2; i++) { /* scratch is not clean the second time */
        prove(&sums, device, srs, shape, &f->seeds);
        same_sums(&sums, &f->sums);
    }
    struct device_cuda_facts facts;
    struct device_pending *pending;
    must(device_cuda_facts(&facts, device));
    assert_true(facts.arena_urgent > 0);
    must(device->operations->prove_start(&pending, device, srs, shape, &f->seeds, PRIORITY_CRITICAL, NULL));
    must(device->operations->prove_finish(&sums, device, pending));
    same_sums(&sums, &f->sums);
    device->operations->drop_shape(device, shape);
    device->operations->drop_srs(device, srs);
    device->operations->close(device);
    nothing_is_left();
}

static void verifies(const struct fixture *f, const struct partial_sums *sums,
                     const struct verifying_key *key)
{
    struct blinding blinding;
    struct proof proof;
    must(blinding_random(&blinding));
    must(proof_assemble(&proof, sums, key, &blinding));
    must(proof_verify(key, &proof, f->seeds.inputs + 1, f->shape->inputs - 1));
}

static void setup_is_that_of_the_cpu(void **state)
{
    struct fixture *f = *state;
    struct device *device;
    struct device_srs *srs;
    struct device_shape *shape;
    struct verifying_key key;
    struct partial_sums sums;
    const void *want[QUERY_COUNT] = {f->image.h, f->image.l, f->image.a, f->image.b_g1, f->image.b_g2};
    must(device_cuda_open(&device, 0, 0));
    must(device->operations->load_shape(&shape, device, f->shape));
    must(device_cuda_setup(&srs, &key, device, shape, &f->toxic));
    size_t size = vk_bytes(key.ic_count);
    uint8_t *mine = malloc(2 * size);
    assert_int_equal(key.ic_count, f->image.key.ic_count);
    vk_write(mine, &key);
    vk_write(mine + size, &f->image.key);
    assert_memory_equal(mine, mine + size, size);
    free(mine);
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        size_t n = f->image.counts.query[q], bytes = n * (q == QUERY_B_G2 ? 192 : 96);
        void *points = malloc(bytes);
        must(device_cuda_points(points, device, srs, q, 0, n));
        if (memcmp(points, want[q], bytes) != 0)
            fail_msg("query %s differs", query_name(q));
        free(points);
    }
    prove(&sums, device, srs, shape, &f->seeds);
    same_sums(&sums, &f->sums);
    verifies(f, &sums, &key);
    vk_end(&key);
    device->operations->drop_srs(device, srs);
    device->operations->drop_shape(device, shape);
    device->operations->close(device);
    nothing_is_left();
}

/* The whole file, to the byte, and the key beside it. */
static void setup_files_are_those_of_the_cpu(void **state)
{
    struct fixture *f = *state;
    struct device *device;
    struct device_shape *shape;
    struct file_map maps[2];
    atomic_ullong done;
    char folder[] = "/tmp/cuzk-backend-test-XXXXXX", path[2][64];
    assert_non_null(mkdtemp(folder));
    snprintf(path[0], sizeof path[0], "%s/params", folder);
    snprintf(path[1], sizeof path[1], "%s/vk", folder);
    atomic_init(&done, 0);
    must(device_cuda_open(&device, 0, 0));
    must(device->operations->load_shape(&shape, device, f->shape));
    must(device->operations->setup(path[0], path[1], device, shape, &f->toxic, &HERE, &done));
    assert_true(atomic_load(&done) == setup_steps(f->shape));
    device->operations->drop_shape(device, shape);
    device->operations->close(device);
    for (int i = 0; i < 2; i++) {
        must(file_map_open(&maps[i], path[i]));
        assert_int_equal(unlink(path[i]), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(maps[0].size, f->file.map.size);
    assert_memory_equal(maps[0].data, f->file.map.data, maps[0].size);
    assert_int_equal(maps[1].size, vk_bytes(f->shape->inputs));
    assert_memory_equal(maps[1].data, maps[0].data, maps[1].size);
    file_map_close(&maps[0]);
    file_map_close(&maps[1]);
    nothing_is_left();
}

/* From the file, decoded on the card: the same points; and a file with a damaged point, told as the CPU tells
 * it. */
static void files_are_decoded_on_the_card(void **state)
{
    struct fixture *f = *state;
    struct device *device;
    struct device_srs *srs;
    struct device_shape *shape;
    struct partial_sums sums;
    const void *want[QUERY_COUNT] = {f->image.h, f->image.l, f->image.a, f->image.b_g1, f->image.b_g2};
    must(device_cuda_open(&device, 0, 0));
    must(device->operations->load_shape(&shape, device, f->shape));
    must(device->operations->load_params(&srs, device, &f->file, &HERE, NULL));
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        size_t n = f->image.counts.query[q], bytes = n * (q == QUERY_B_G2 ? 192 : 96);
        void *points = malloc(bytes);
        must(device_cuda_points(points, device, srs, q, 0, n));
        if (memcmp(points, want[q], bytes) != 0)
            fail_msg("query %s differs", query_name(q));
        free(points);
    }
    prove(&sums, device, srs, shape, &f->seeds);
    same_sums(&sums, &f->sums);
    device->operations->drop_srs(device, srs);
    uint8_t *copy = malloc(f->file.map.size);
    struct params_file damaged = f->file;
    damaged.map.data = copy;
    for (int i = 0; i < 8; i++) { /* flags, a number too large, off the curve, infinity; in either group */
        enum query q = i % 2 == 0 ? QUERY_A : QUERY_B_G2;
        size_t each = q == QUERY_B_G2 ? 192 : 96;
        memcpy(copy, f->file.map.data, f->file.map.size);
        uint8_t *point = copy + f->file.offset[q] + each * 7;
        if (i / 2 == 3) {
            memset(point, 0, each);
            point[0] = 0x40;
        } else if (i / 2 == 1) {
            memset(point + each / 2, 0xff, 48);
        } else {
            point[i / 2 == 0 ? 0 : each - 1] ^= i / 2 == 0 ? 0x20 : 1;
        }
        struct image image;
        struct status s = device->operations->load_params(&srs, device, &damaged, &HERE, NULL),
                      cpu = image_decode(&image, &damaged, false, &HERE, NULL);
        assert_int_equal(s.code, STATUS_INVALID);
        assert_string_equal(s.message, cpu.message);
    }
    free(copy);
    device->operations->drop_shape(device, shape);
    device->operations->close(device);
    nothing_is_left();
}

static void self_test_holds(void **state)
{
    (void)state;
    struct device *device;
    struct status reason;
    must(device_cuda_open(&device, 0, 0));
    must(device->operations->self_test(device));
    assert_int_equal(device->operations->state(device, &reason), DEVICE_READY);
    device->operations->close(device);
    nothing_is_left();
}

#define RESERVE ((uint64_t)768 << 20)

static void too_little_memory_is_told_with_numbers(void **state)
{
    struct fixture *f = *state;
    struct device *device;
    struct device_shape *shape;
    struct device_plan plan;
    (void)standin_memory((size_t)RESERVE + (512 << 10));
    must(device_cuda_open(&device, 0, 0));
    struct status s = device->operations->plan(&plan, device, f->shape, &f->image.counts);
    assert_int_equal(s.code, STATUS_MEMORY);
    s = device->operations->load_shape(&shape, device, f->shape);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_non_null(strstr(s.message, "bytes"));
    device->operations->close(device);
    nothing_is_left();
}

/* Scratch gives way to parameters, down to its least; a set that does not fit then stays on the host, and
 * proofs with it give the same sums, as do those with the sets that were there before. limited: by the
 * daemon's share of the card rather than by the card. */
static void sets_that_do_not_fit_are_summed_in_pieces(void **state)
{
    struct fixture *f = *state;
    uint64_t set = image_bytes(&f->image.counts);
    for (int limited = 0; limited < 2; limited++) {
        struct device *device;
        struct device_srs *srs[40];
        struct device_shape *shape;
        struct partial_sums sums;
        struct device_cuda_facts facts;
        size_t resident = 0, in_pieces = 0, n = 0;
        uint64_t most = RESERVE + (8 << 20);
        (void)standin_memory(limited ? (size_t)16 << 30 : (size_t)most);
        must(device_cuda_open(&device, 0, limited ? most : 0));
        must(device->operations->load_shape(&shape, device, f->shape));
        must(device_cuda_facts(&facts, device));
        assert_true(facts.memory == most && facts.free < most);
        while (in_pieces < 2 && n < 40) {
            uint64_t before = facts.free + facts.arena + facts.arena_urgent;
            must(device->operations->load_srs(&srs[n], device, &f->image));
            must(device_cuda_facts(&facts, device));
            assert_true(facts.arena >= facts.arena_least || in_pieces > 0);
            if (facts.free + facts.arena + facts.arena_urgent < before - set / 2)
                resident++;
            else
                in_pieces++;
            n++;
            if (in_pieces > 0 || n == 1) {
                prove(&sums, device, srs[n - 1], shape, &f->seeds);
                same_sums(&sums, &f->sums);
            }
        }
        assert_int_equal(in_pieces, 2);
        assert_true(resident > 0);
        prove(&sums, device, srs[0], shape, &f->seeds);
        same_sums(&sums, &f->sums);
        while (n-- > 0)
            device->operations->drop_srs(device, srs[n]);
        device->operations->drop_shape(device, shape);
        device->operations->close(device);
        nothing_is_left();
    }
}

static void a_cancelled_proof_ends(void **state)
{
    struct fixture *f = *state;
    struct device *device;
    struct device_srs *srs;
    struct device_shape *shape;
    struct device_pending *pending;
    struct cancel cancel;
    atomic_init(&cancel.requested, true);
    must(device_cuda_open(&device, 0, 0));
    must(device->operations->load_shape(&shape, device, f->shape));
    must(device->operations->load_srs(&srs, device, &f->image));
    struct status s =
        device->operations->prove_start(&pending, device, srs, shape, &f->seeds, PRIORITY_NORMAL, &cancel);
    assert_int_equal(s.code, STATUS_CANCELLED);
    device->operations->drop_srs(device, srs);
    device->operations->drop_shape(device, shape);
    device->operations->close(device);
    nothing_is_left();
}

/* Runtime call n and all after it fail, for every n of a self test: each time an error comes back, never a
 * wrong answer, and whatever was taken is given back; a device that was open is lost, and says why. */
static void every_failing_call_is_told(void **state)
{
    (void)state;
    uint64_t n = 1, calls = 0;
    struct status s, reason;
    do {
        struct device *device;
        standin_fail_at(n);
        s = device_cuda_open(&device, 0, 0);
        if (status_failed(&s)) {
            calls = standin_calls();
            standin_fail_at(0);
        } else {
            s = device->operations->self_test(device);
            calls = standin_calls();
            bool memory = s.code == STATUS_MEMORY;
            if (status_failed(&s) && !memory)
                assert_int_equal(device->operations->state(device, &reason), DEVICE_LOST);
            standin_fail_at(0);
            if (status_failed(&s) && !memory) {
                struct status again = device->operations->self_test(device);
                assert_int_equal(again.code, STATUS_DEVICE);
            }
            device->operations->close(device);
        }
        assert_true(status_failed(&s) == (calls >= n));
        assert_true(!status_failed(&s) || s.code == STATUS_DEVICE || s.code == STATUS_MEMORY ||
                    s.code == STATUS_MISSING);
        nothing_is_left();
        n += n < 60 ? 1 : 17;
    } while (status_failed(&s));
    assert_true(n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_cpu),
        cmocka_unit_test(setup_is_that_of_the_cpu),
        cmocka_unit_test(setup_files_are_those_of_the_cpu),
        cmocka_unit_test(files_are_decoded_on_the_card),
        cmocka_unit_test(self_test_holds),
        cmocka_unit_test(too_little_memory_is_told_with_numbers),
        cmocka_unit_test(sets_that_do_not_fit_are_summed_in_pieces),
        cmocka_unit_test(a_cancelled_proof_ends),
        cmocka_unit_test(every_failing_call_is_told),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
