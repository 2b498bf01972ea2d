/* Bytes on the card, computed before anything is allocated; the same computation lays out an arena.
 *
 * The witness stays at the arena's start for the whole proof. Behind it, in this order: a and b, evaluated;
 * c and with it h, which is left in a; the sum over h, with everything behind a as its scratch; then, from a
 * on, the sums over the witness. So the peak is that of the largest sum, and an MSM with less scratch works
 * on fewer windows at a time: about 17 GB a window of 2^27 points, each halving 8 ms. Where points come piece
 * by piece, two pieces stand before the scratch, and the peak is a, b and c. */
#include "device/cuda/backend_internal.h"
#include "device/cuda/witness.h"

#define RESERVE ((size_t)768 << 20) /* left to the driver: code, local memory of kernels */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- one proof ---- */

static struct status msm_plan(struct gpu_msm_plan *out, bool g2, size_t n, size_t limit)
{
    return g2 ? gpu_msm_g2_plan(out, n, limit) : gpu_msm_g1_plan(out, n, limit);
}

/* Scratch of an MSM: least (one window at a time), and the best within `limit`. */
static struct status msm_bytes(size_t *least, size_t *best, bool g2, size_t n, size_t limit)
{
    struct gpu_msm_plan p;
    TRY(msm_plan(&p, g2, n, SIZE_MAX));
    TRY(g2 ? gpu_msm_g2_plan_with(&p, n, p.window_bits, 1) : gpu_msm_g1_plan_with(&p, n, p.window_bits, 1));
    *least = *best = p.scratch_bytes;
    if (limit > *least) {
        TRY(msm_plan(&p, g2, n, limit));
        *best = p.scratch_bytes;
    }
    return status_ok();
}

size_t cuda_gathered_bytes(bool g2, size_t n)
{
    return aligned(n * (g2 ? sizeof(g2_affine) : sizeof(g1_affine))) + aligned(n * sizeof(fr));
}

#define PIECE_LEAST ((size_t)2 * INPUTS_MOST)
#ifndef PIECE_MOST
#define PIECE_MOST ((size_t)1 << 24)
#endif

/* Two pieces of points, and scratch of three windows of an MSM: 6.3 times the points' bytes. */
size_t cuda_piece_points(size_t n, size_t room, bool g2)
{
    size_t fits = room / 7 / (g2 ? sizeof(g2_affine) : sizeof(g1_affine)), points = PIECE_LEAST;
    while (2 * points <= fits && points < PIECE_MOST)
        points *= 2;
    return n < points ? n / 64 * 64 + 128 : points; /* 64 variables at least beside half of it */
}

/* What sums over n points need behind `start` at least, where they come in pieces. */
static struct status piecewise(size_t *out, size_t start, size_t n, bool g2)
{
    size_t points = cuda_piece_points(n, 0, g2), least, best;
    TRY(msm_bytes(&least, &best, g2, points, 0));
    size_t bits = g2 ? gpu_bitsum_g2_scratch_bytes(points) : gpu_bitsum_g1_scratch_bytes(points);
    *out = start + 2 * aligned(points * (g2 ? sizeof(g2_affine) : sizeof(g1_affine))) + larger(least, bits);
    return status_ok();
}

/* The sums over one group's queries of the witness. */
static struct status witness_sums(struct proof_plan *out, const struct shape *shape, bool g2, bool resident,
                                  size_t limit)
{
    size_t terms = (size_t)shape->inputs + shape->fields, least, best, pieces,
           scratch = out->sums + cuda_gathered_bytes(g2, terms),
           bits = g2 ? gpu_bitsum_g2_scratch_bytes(shape->aux) : gpu_bitsum_g1_scratch_bytes(shape->aux);
    TRY(msm_bytes(&least, &best, g2, terms, limit > scratch ? limit - scratch : 0));
    TRY(piecewise(&pieces, scratch, (size_t)shape->inputs + shape->aux, g2));
    out->least = larger(out->least, larger(pieces, scratch + least));
    out->best = larger(out->best, scratch + best);
    if (resident)
        out->least = larger(out->least, scratch + bits);
    return status_ok();
}

/* Where a set is resident there is always room for the same in pieces too: so that another can be loaded. */
struct status cuda_proof_plan(struct proof_plan *out, const struct shape *shape, bool resident, size_t limit)
{
    size_t m = (size_t)1 << shape_log2_domain(shape), vector = aligned(m * sizeof(fr));
    size_t terms = (size_t)shape->inputs + shape->fields, least, best;
    out->witness_bytes = aligned(gpu_witness_bytes(shape));
    out->values = out->witness_bytes;
    out->a = out->sums = out->values + aligned(terms * sizeof(fr));
    out->b = out->rest = out->a + vector;
    out->c = out->b + vector;
    out->least = out->best = out->c + vector;
    TRY(piecewise(&least, out->rest, m - 1, false));
    out->least = larger(out->least, least);
    TRY(msm_bytes(&least, &best, false, m - 1, limit > out->rest ? limit - out->rest : 0));
    if (resident) {
        out->least = larger(out->least, out->rest + least);
        out->best = larger(out->best, out->rest + best);
    } else { /* more makes larger pieces; some is enough */
        size_t use = out->rest + 7 * sizeof(g1_affine) * (m < PIECE_MOST ? m : PIECE_MOST);
        out->best = larger(out->best, use < limit ? use : limit);
    }
    TRY(witness_sums(out, shape, false, resident, limit));
    TRY(witness_sums(out, shape, true, resident, limit));
    out->best = larger(out->best, out->least);
    if (limit < out->least)
        return status_hint(status_error(STATUS_MEMORY,
                                        "a proof needs %zu bytes of device scratch at least, there are %zu",
                                        out->least, limit),
                           "load fewer circuits on this device");
    return status_ok();
}

size_t cuda_srs_bytes(const struct params_counts *counts)
{
    size_t bytes = 0;
    for (enum query q = 0; q < QUERY_COUNT; q++)
        bytes += aligned((size_t)counts->query[q] * query_point_bytes(q));
    return bytes;
}

/* ---- for the caller ---- */

static void add(struct device_plan *plan, enum memory_class class, const char *purpose, uint64_t bytes,
                bool per_proof)
{
    CHECK(plan->count < DEVICE_PLAN_ITEMS);
    plan->items[plan->count++] = (struct device_plan_item){class, purpose, bytes, per_proof};
    if (per_proof)
        plan->proof_peak[class] += bytes;
}

static size_t terms_on_card(const struct shape *shape)
{
    return 6 * aligned(((size_t)shape->inputs + shape->fields) * sizeof(uint32_t)) +
           2 * aligned((shape->aux + 63) / 64 * sizeof(uint64_t));
}

struct status cuda_plan(struct device_plan *out, struct device_cuda *cuda, const struct shape *shape,
                        const struct params_counts *counts)
{
    struct proof_plan p;
    size_t parameters = cuda_srs_bytes(counts), tables = gpu_shape_bytes(shape) + terms_on_card(shape),
           twiddles = gpu_ntt_table_bytes(shape_log2_domain(shape)), card = cuda->info.bytes;
    *out = (struct device_plan){.count = 0};
    if (cuda->limit > 0 && cuda->limit < card)
        card = cuda->limit;
    TRY(cuda_proof_plan(&p, shape, true, SIZE_MAX));
    bool resident = parameters + tables + twiddles + p.least + RESERVE <= card;
    if (!resident)
        TRY(cuda_proof_plan(&p, shape, false, SIZE_MAX));
    add(out, resident ? MEMORY_DEVICE : MEMORY_PINNED, "parameters", parameters, false);
    add(out, MEMORY_DEVICE, "shape", tables, false);
    add(out, MEMORY_DEVICE, "twiddles", twiddles, false);
    add(out, MEMORY_PINNED, "staging", 2 * STAGING_BYTES, false);
    add(out, MEMORY_HOST, "seeds", seeds_bytes(shape), true);
    add(out, MEMORY_DEVICE, "witness", p.sums, true);
    add(out, MEMORY_DEVICE, "evaluations, lists and sums", p.least - p.sums, true);
    if (tables + twiddles + p.least + RESERVE > card)
        return status_hint(
            status_error(STATUS_MEMORY,
                         "CUDA device %d (%s) has %zu bytes for us; this circuit needs %zu there: %zu of "
                         "tables, %zu of scratch, a reserve of %zu, and its parameters elsewhere",
                         cuda->ordinal, cuda->info.name, card, tables + twiddles + p.least + RESERVE,
                         tables + twiddles, p.least, RESERVE),
            "use a larger card, or the CPU backend");
    return status_ok();
}

/* ---- the arenas ---- */

struct status cuda_available(size_t *out, const struct device_cuda *cuda)
{
    TRY(gpu_free_bytes(out));
    if (cuda->limit == 0)
        return status_ok();
    size_t used = cuda->free_first > *out ? cuda->free_first - *out : 0,
           left = cuda->limit > used ? (size_t)cuda->limit - used : 0;
    if (left < *out)
        *out = left;
    return status_ok();
}

static void drop_arena(struct cuda_lane *lane)
{
    gpu_free(lane->arena);
    lane->arena = NULL;
    lane->arena_bytes = 0;
}

void cuda_drop_arenas(struct device_cuda *cuda)
{
    for (int i = 0; i < LANES; i++)
        drop_arena(&cuda->lanes[i]);
}

static struct status fit_twiddles(struct device_cuda *cuda)
{
    unsigned most = 0;
    struct CUstream_st *stream = cuda->lanes[LANE_WIDE].stream;
    for (const struct device_shape *d = cuda->shapes; d != NULL; d = d->next)
        if (shape_log2_domain(d->shape) > most)
            most = shape_log2_domain(d->shape);
    if (cuda->shapes == NULL || (cuda->has_twiddles && cuda->twiddles_log >= most))
        return status_ok();
    gpu_free(cuda->twiddles);
    cuda->twiddles = NULL;
    cuda->has_twiddles = false;
    TRY(cuda_alloc(cuda, &cuda->twiddles, gpu_ntt_table_bytes(most), "table of twiddles"));
    TRY(gpu_ntt_table(cuda->twiddles, most, stream));
    TRY(gpu_wait(stream));
    cuda->twiddles_log = most;
    cuda->has_twiddles = true;
    return status_ok();
}

/* What the loaded shapes want of `available` bytes: for resident parameters where that fits at all. Those
 * that can do with URGENT_MOST get an arena of their own. */
static struct status wanted(size_t out[LANES], const struct device_cuda *cuda, size_t available)
{
    struct proof_plan p;
    out[LANE_WIDE] = out[LANE_URGENT] = 0;
    for (const struct device_shape *d = cuda->shapes; d != NULL; d = d->next) {
        size_t most = available / 4 < URGENT_MOST ? available / 4 : URGENT_MOST;
        struct status s = cuda_proof_plan(&p, d->shape, true, most);
        if (!status_failed(&s))
            out[LANE_URGENT] = larger(out[LANE_URGENT], p.best);
    }
    available -= out[LANE_URGENT];
    for (const struct device_shape *d = cuda->shapes; d != NULL; d = d->next) {
        struct status s = cuda_proof_plan(&p, d->shape, true, available);
        if (s.code == STATUS_MEMORY)
            s = cuda_proof_plan(&p, d->shape, false, available);
        TRY(s);
        out[LANE_WIDE] = larger(out[LANE_WIDE], p.best);
    }
    return status_ok();
}

struct status cuda_fit(struct device_cuda *cuda)
{
    static const char *const names[LANES] = {"scratch", "scratch of urgent proofs"};
    size_t available, want[LANES];
    TRY(fit_twiddles(cuda));
    TRY(cuda_available(&available, cuda));
    for (int i = 0; i < LANES; i++)
        available += cuda->lanes[i].arena_bytes;
    TRY(wanted(want, cuda, available > RESERVE ? available - RESERVE : 0));
    for (int i = 0; i < LANES; i++)
        if (cuda->lanes[i].arena_bytes != want[i])
            drop_arena(&cuda->lanes[i]);
    for (int i = 0; i < LANES; i++) {
        struct cuda_lane *lane = &cuda->lanes[i];
        if (want[i] == 0 || lane->arena != NULL)
            continue;
        TRY(gpu_alloc(&lane->arena, want[i], names[i]));
        lane->arena_bytes = want[i];
    }
    return status_ok();
}
