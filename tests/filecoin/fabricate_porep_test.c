/* Fabricated PoRep: every size passes the strict check; the published instances at 32 and 64 GiB have the
 * specification's roots and, written as JSON, its bytes. */
#include "digest_support.h"
#include "filecoin/check.h"
#include "filecoin/fabricate_porep.h"
#include "filecoin/porep.h"
#include "filecoin/public.h"

#include <time.h>

static struct pool *pool;
static struct work work;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct status make(struct c1 *out, uint32_t number, const char *circuit, const char *name)
{
    struct fabricate_porep_request q = {.seal = &REGISTERED_SEAL[number],
                                        .sector = circuit == NULL ? NULL : sector_by_circuit(circuit),
                                        .miner = 1000,
                                        .sector_number = 1,
                                        .name = name};
    return fabricate_porep(out, &q, &work);
}

static void check(const struct c1 *c1)
{
    struct porep_public public;
    ok(porep_check_sector(c1, 1000, 1));
    ok(porep_public_from_c1(&public, c1));
    ok(c1_check(c1, &public, &work));
    for (uint32_t k = 0; k < c1->partitions; k++)
        ok(porep_check_inputs(&public, c1, k));
}

static void every_small_size(void **state)
{
    (void)state;
    for (int i = 0; i < SECTOR_SIZES; i++) {
        for (uint32_t number = 0; number <= 5 && SECTOR_SIZE[i].layers == 2; number += 5) {
            struct c1 c1;
            ok(make(&c1, number, SECTOR_SIZE[i].circuit, NULL));
            check(&c1);
            c1_end(&c1);
        }
    }
}

/* The name changes everything, and gives the same every time. */
static void names(void **state)
{
    (void)state;
    struct c1 a, b, c;
    ok(make(&a, 5, NULL, NULL));
    ok(make(&b, 5, NULL, "x"));
    ok(make(&c, 5, NULL, "x"));
    check(&b);
    assert_memory_not_equal(a.comm_d, b.comm_d, 32);
    assert_memory_not_equal(a.comm_r, b.comm_r, 32);
    assert_memory_not_equal(a.seed, b.seed, 32);
    assert_memory_not_equal(a.ticket, b.ticket, 32);
    assert_memory_equal(b.comm_r, c.comm_r, 32);
    c1_end(&a);
    c1_end(&b);
    c1_end(&c);
}

/* One system of constraints over a fabricated 2 KiB sector: satisfied, and its inputs are the verifier's. */
static void satisfied(void **state)
{
    (void)state;
    struct c1 c1;
    struct shape *shape;
    struct seeds seeds;
    struct witness witness;
    struct porep_public public;
    uint32_t bad;
    fr inputs[POREP_INPUTS_MAX];
    ok(make(&c1, 5, NULL, "satisfied"));
    ok(porep_shape(&shape, c1.sector));
    ok(porep_seeds(&seeds, shape, &c1, 0));
    ok(porep_public_from_c1(&public, &c1));
    porep_inputs(inputs, &public, 0);
    assert_memory_equal(seeds.inputs, inputs, shape->inputs * sizeof(fr));
    ok(witness_start(&witness, shape));
    ok(witness_expand(&witness, shape, &seeds, &work));
    ok(witness_first_unsatisfied(&bad, shape, &witness));
    assert_int_equal(bad, UINT32_MAX);
    witness_end(&witness);
    seeds_end(&seeds);
    shape_release(shape);
    c1_end(&c1);
}

static void refusals(void **state)
{
    (void)state;
    struct c1 c1;
    fails(make(&c1, 13, NULL, NULL), STATUS_UNSUPPORTED, "cannot be fabricated");
    fails(make(&c1, 18, NULL, NULL), STATUS_UNSUPPORTED, "cannot be fabricated");
    assert_null(c1.arena);
    struct cancel cancel = {true};
    struct work stopped = {pool, PRIORITY_NORMAL, &cancel}, kept = work;
    work = stopped;
    fails(make(&c1, 5, NULL, NULL), STATUS_CANCELLED, "");
    work = (struct work){NULL, PRIORITY_NORMAL, NULL};
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        size_t before = mem_used();
        mem_fail_after(n);
        struct status s = make(&c1, 5, NULL, NULL);
        mem_fail_after(0);
        done = !status_failed(&s);
        if (!done)
            assert_int_equal(s.code, STATUS_MEMORY);
        c1_end(&c1);
        assert_int_equal(mem_used(), before);
        assert_true(n < 30);
    }
    work = kept;
}

static const struct published {
    uint32_t number;
    const char *comm_d, *replica_id, *comm_c, *comm_r_last, *comm_r;
    uint64_t first[4], last[2];
    size_t size, wrapped_size;
    const char *sha256, *wrapped_sha256, *inputs, *aux;
} PUBLISHED[2] = {
    {8,
     "ca4d73dbe0e908bd8eee53deae1b707052298d99a01e4bb96587334ab06e4515",
     "0bd726ddf49b1e5d62533020878f9a2b4b14fb053ad80ec4f5e74b07d3a2ab2c",
     "3618b692cc3ce8599d4b789917a87825fcb8dac97f6b7f987d6163e528734b44",
     "6ced3d143c7abc2273acac5a838adb2443787922d89d0952d8217f91bf391b65",
     "def7ffd2dbd584a3d7a32cca547b155228e433c40285cbe6528c32ffb1911469",
     {964300847, 813445124, 588545243, 53495901},
     {185778687, 837299712},
     38641717,
     51522347,
     "8fe6a0e1749b4ef2ed46deb4089d82ce2e5104765d9b138db00be71b3a815247",
     "9df782384965ad74d2079f822b0800cf1fe676cedbe371bbeb3d2ac47c664d57",
     "2a6aabb36e9f35f54a13f22fe9101549b7b356c42d70a296e8524cc128c348de",
     "5e8cdfc74cb3e408c301fd158ebe00b267bec22a5ac2ffb6b1ea6d6efbd474f1"},
    {9,
     "3fdc1211a8440b477403d3b336c78ccc2ff2983f34417a203f6507afe9adef20",
     "5adc333bfabd42948bf8fa20be30f78c8b12fd04ab3dfd07c54b3302e7508909",
     "6c10da28b5f4c99866ec670aa8d47634aac16985147e7f7b124a39c667481754",
     "05bb198b0cfb1bf7b604b19e0fb23d34000b00db078d6e1df699557e87c94f38",
     "18fcd13132e99f3bfff045c260a5b4324bd0f11fa5d3c6a8f00a52a6e5015903",
     {215967746, 1121735890, 380962242, 2063703081},
     {454591387, 1897433212},
     39129586,
     52172839,
     "23192fc9ffad618b25ef3c9a5505c75402c35e37909223a5334ccb77d6221ac6",
     "765f920887086a5e6ef4f4bed2229f12a9d0b3b8101d7144c9828c6c1097fc9b",
     "6ba95cdc74bf082fe16bc44d85ff71051984ce017e860a3572420f67b7c96b3a",
     "007af9db65ea26bfa28a748a42c51fd8d2c71ce15a9854627fa83485384986cf"},
};

static void same_text(const struct c1 *c1, bool wrapped, size_t want_size, const char *want_sha256)
{
    uint8_t *text, digest[32];
    size_t size;
    double started = now();
    ok(c1_write(&text, &size, c1, wrapped));
    print_message("written in %.2f s\n", now() - started);
    assert_int_equal(size, want_size);
    sha256(digest, text, size);
    same_hex(digest, 32, want_sha256);
    mem_free(text);
}

static void published(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct published *x = &PUBLISHED[i];
        struct c1 c1;
        double started = now();
        ok(make(&c1, x->number, NULL, NULL));
        print_message("%s fabricated in %.2f s\n", c1.sector->name, now() - started);
        const struct vanilla_proof *p = c1_proof(&c1, 0, 0);
        same_hex(c1.comm_d, 32, x->comm_d);
        same_hex(c1.replica_id, 32, x->replica_id);
        same_hex(p->c_x.inclusion.root, 32, x->comm_c);
        same_hex(p->comm_r_last.root, 32, x->comm_r_last);
        same_hex(c1.comm_r, 32, x->comm_r);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(c1_proof(&c1, 0, k)->c_x.index, x->first[k]);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(c1_proof(&c1, 9, 16 + k)->c_x.index, x->last[k]);
        same_text(&c1, false, x->size, x->sha256);
        same_text(&c1, true, x->wrapped_size, x->wrapped_sha256);
        started = now();
        check(&c1);
        print_message("checked in %.2f s\n", now() - started);
        c1_end(&c1);
    }
}

/* The witness of a whole production partition; its rows are in porep_sizes_test. */
static void witness_of(const struct published *x)
{
    struct c1 c1;
    struct shape *shape;
    struct seeds seeds;
    struct witness witness;
    ok(make(&c1, x->number, NULL, NULL));
    ok(porep_shape(&shape, c1.sector));
    double started = now();
    ok(porep_seeds(&seeds, shape, &c1, 0));
    print_message("seeds in %.2f s\n", now() - started);
    values_digest(seeds.inputs, shape->inputs, x->inputs);
    started = now();
    ok(witness_start(&witness, shape));
    ok(witness_expand(&witness, shape, &seeds, &work));
    print_message("expanded in %.2f s\n", now() - started);
    struct section end = {0, shape->aux, 0, NULL, x->aux};
    check_aux(shape, &witness, &end, 1);
    witness_end(&witness);
    seeds_end(&seeds);
    shape_release(shape);
    c1_end(&c1);
}

static void published_witnesses(void **state)
{
    (void)state;
    witness_of(&PUBLISHED[0]);
    witness_of(&PUBLISHED[1]);
}

static int start(void **state)
{
    (void)state;
    ok(pool_start(&pool, 0));
    work = (struct work){pool, PRIORITY_NORMAL, NULL};
    return 0;
}

static int end(void **state)
{
    (void)state;
    pool_end(pool);
    return mem_used() == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_small_size), cmocka_unit_test(names),
                                       cmocka_unit_test(refusals)};
    const struct CMUnitTest slow[] = {cmocka_unit_test(satisfied), cmocka_unit_test(published)};
    const struct CMUnitTest full[] = {cmocka_unit_test(published_witnesses)};
    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        return cmocka_run_group_tests(full, start, end);
    if (argc > 1 && strcmp(argv[1], "--slow") == 0)
        return cmocka_run_group_tests(slow, start, end);
    return cmocka_run_group_tests(tests, start, end);
}
