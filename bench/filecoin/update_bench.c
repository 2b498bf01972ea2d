/* SnapDeals and PoSts of 32 GiB sectors, one thread, processor time: from vanilla bytes to witness. Floors:
 * checks and expansions beside the Poseidon hashes in them; seeds beside reading every field element of them
 * from bytes.
 *
 *     update_bench [snap|winning|window] */
#include "base/mem.h"
#include "filecoin/fabricate_post.h"
#include "filecoin/fabricate_snap.h"
#include "filecoin/request.h"
#include "gadget/poseidon.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void stop(struct status s)
{
    if (!status_failed(&s))
        return;
    fprintf(stderr, "update_bench: %s\n", s.message);
    exit(1);
}

/* Best of `runs`. */
#define BEST_MS(out, runs, statement)                                                                        \
    do {                                                                                                     \
        out = 1e30;                                                                                          \
        for (int run_ = 0; run_ < (runs); run_++) {                                                          \
            double begin_ = cpu_ms();                                                                        \
            statement;                                                                                       \
            double taken_ = cpu_ms() - begin_;                                                               \
            out = taken_ < out ? taken_ : out;                                                               \
        }                                                                                                    \
    } while (0)

static double poseidon_ms(uint32_t arity)
{
    fr inputs[8], out;
    double ms;
    for (uint32_t i = 0; i < arity; i++)
        fr_from_u64(&inputs[i], i + 1);
    BEST_MS(ms, 20, for (int i = 0; i < 50; i++) poseidon_hash(&out, poseidon_of(arity), inputs));
    return ms / 50;
}

static volatile uint64_t kept;

static double read_ms(uint32_t fields)
{
    static uint8_t bytes[4096][32];
    double ms;
    BEST_MS(
        ms, 5, for (uint32_t i = 0; i < fields; i++) {
            fr x;
            if (fr_from_bytes(&x, bytes[i % 4096]))
                kept = x.l[0];
        });
    return ms;
}

/* opened: Poseidon hashes that request_open makes; expanded: those of one partition's circuit. */
static void bench(const struct proof_request *r, double opened_ms, double expanded_ms, int runs)
{
    struct request *request = NULL;
    struct shape *shape = NULL;
    struct seeds seeds;
    struct witness w;
    double ms, floor;
    BEST_MS(ms, runs, (request_end(request), stop(request_open(&request, r, &HERE))));
    const struct request_outline *facts = request_facts(request);
    printf("%s: open and check, all partitions: %.1f ms, %.2f of its Poseidon hashes (%.1f ms)\n",
           facts->circuit, ms, ms / opened_ms, opened_ms);
    BEST_MS(ms, runs, (shape_release(shape), stop(circuit_shape(&shape, facts->kind, facts->sector))));
    printf("  shape %.1f ms, %.1f MB, %u rows\n", ms, (double)shape_bytes(shape) / 1e6, shape->rows);
    stop(request_seeds(&seeds, request, shape, 0));
    BEST_MS(ms, runs + 2, (seeds_end(&seeds), stop(request_seeds(&seeds, request, shape, 0))));
    floor = read_ms(shape->seed_fields);
    printf("  seeds of a partition %.3f ms, %.2f MB; %.1f of reading its %u elements (%.3f ms)\n", ms,
           (double)seeds_bytes(shape) / 1e6, ms / floor, shape->seed_fields, floor);
    BEST_MS(
        ms, runs,
        (stop(witness_start(&w, shape)), stop(witness_expand(&w, shape, &seeds, &HERE)), witness_end(&w)));
    printf("  expansion %.1f ms, %.1f MB, %.2f of its Poseidon hashes (%.1f ms)\n", ms,
           (double)witness_bytes(shape) / 1e6, ms / expanded_ms, expanded_ms);
    seeds_end(&seeds);
    shape_release(shape);
    request_end(request);
}

static void bench_snap(void)
{
    struct fabricated_snap f;
    struct bytes_view vanilla[SNAP_PARTITIONS_MAX];
    stop(fabricate_snap(&f, registered_update(3)->size, NULL, &HERE));
    for (uint32_t k = 0; k < f.partitions; k++)
        vanilla[k] = (struct bytes_view){f.vanilla + k * f.partition_bytes, f.partition_bytes};
    const struct proof_request r = {.kind = PROOF_SNAP,
                                    .registered_proof = 3,
                                    .comm_r_old = {f.comm_r_old, 32},
                                    .comm_r_new = {f.comm_r_new, 32},
                                    .comm_d_new = {f.comm_d_new, 32},
                                    .vanilla = vanilla,
                                    .vanilla_count = f.partitions};
    double partition = 86 * (20 * poseidon_ms(8) + poseidon_ms(2)) + 13 * poseidon_ms(2);
    bench(&r, 16 * partition, partition, 3);
    fabricated_snap_end(&f);
}

static void bench_post(uint64_t number, size_t count, double opened_ms, double expanded_ms, int runs)
{
    struct fabricated_post f;
    uint64_t *ids = mem_alloc(count, sizeof *ids);
    struct bytes_view *vanilla = mem_alloc(count, sizeof *vanilla);
    if (ids == NULL || vanilla == NULL)
        exit(1);
    for (size_t i = 0; i < count; i++)
        ids[i] = i;
    const struct fabricate_post_request wanted = {registered_post(number), 0, ids, count, "bench"};
    stop(fabricate_post(&f, &wanted, &HERE));
    for (size_t i = 0; i < count; i++)
        vanilla[i] = (struct bytes_view){f.vanilla + i * f.sector_bytes, f.sector_bytes};
    const struct proof_request r = {.kind = registered_post(number)->kind,
                                    .registered_proof = number,
                                    .randomness = {f.randomness, 32},
                                    .vanilla = vanilla,
                                    .vanilla_count = count};
    bench(&r, opened_ms, expanded_ms, runs);
    fabricated_post_end(&f);
    mem_free(vanilla);
    mem_free(ids);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    double p8 = poseidon_ms(8), p2 = poseidon_ms(2);
    if (*what == 0 || strcmp(what, "snap") == 0)
        bench_snap();
    if (*what == 0 || strcmp(what, "winning") == 0)
        bench_post(3, 1, 660 * p8 + p2, 660 * p8 + 66 * p2, 3);
    if (*what == 0 || strcmp(what, "window") == 0) /* a long list is opened without its paths */
        bench_post(13, 2349, 2349 * p2, 2349 * (100 * p8 + p2), 1);
    return 0;
}
