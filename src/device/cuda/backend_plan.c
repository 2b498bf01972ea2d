/* Bytes on the card, computed before anything is allocated; the same computation lays out the arena.
 *
 * The witness stays at the arena's start for the whole proof. Behind it, in this order: a and b, evaluated;
 * c and with it h, which is left in a; the sum over h, with everything behind a as its scratch; then, from a
 * on, the sums over the witness. So the peak is that of the largest sum, and an MSM with less scratch works
 * on fewer windows at a time: about 17 GB a window of 2^27 points, each halving 8 ms. */
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

/* One window at a time. */
static struct status msm_least(size_t *out, bool g2, size_t n)
{
    struct gpu_msm_plan p;
    TRY(msm_plan(&p, g2, n, SIZE_MAX));
    TRY(g2 ? gpu_msm_g2_plan_with(&p, n, p.window_bits, 1) : gpu_msm_g1_plan_with(&p, n, p.window_bits, 1));
    *out = p.scratch_bytes;
    return status_ok();
}

/* Gathered points and scalars of a query's terms. */
static size_t gathered(bool g2, size_t n)
{
    return aligned(n * (g2 ? sizeof(g2_affine) : sizeof(g1_affine))) + aligned(n * sizeof(fr));
}

/* The terms of one query: least and best scratch within `limit`. */
static struct status terms_bytes(size_t *least, size_t *best, bool g2, size_t n, size_t limit)
{
    struct gpu_msm_plan p;
    size_t before = gathered(g2, n), smallest;
    TRY(msm_least(&smallest, g2, n));
    *least = before + smallest;
    *best = *least;
    if (limit > *least) {
        TRY(msm_plan(&p, g2, n, limit - before));
        *best = before + p.scratch_bytes;
    }
    return status_ok();
}

struct status cuda_proof_plan(struct proof_plan *out, const struct shape *shape, size_t limit)
{
    size_t m = (size_t)1 << shape_log2_domain(shape), vector = aligned(m * sizeof(fr));
    size_t terms = (size_t)shape->inputs + shape->fields, least, best, h_least;
    out->witness_bytes = aligned(gpu_witness_bytes(shape));
    out->values = out->witness_bytes;
    out->a = out->sums = out->values + aligned(terms * sizeof(fr));
    out->b = out->rest = out->a + vector;
    out->c = out->b + vector;
    out->least = out->c + vector;
    out->best = out->least;
    TRY(msm_least(&h_least, false, m - 1));
    out->least = larger(out->least, out->rest + h_least);
    size_t room = limit > out->rest ? limit - out->rest : 0;
    if (room >= h_least) {
        TRY(gpu_msm_g1_plan(&out->h, m - 1, room));
        out->best = larger(out->best, out->rest + out->h.scratch_bytes);
    }
    size_t bits = larger(gpu_bitsum_g1_scratch_bytes(shape->aux), gpu_bitsum_g2_scratch_bytes(shape->aux));
    out->least = larger(out->least, out->sums + bits);
    out->best = larger(out->best, out->sums + bits);
    for (int g2 = 0; g2 < 2; g2++) {
        TRY(terms_bytes(&least, &best, g2, terms, limit > out->sums ? limit - out->sums : 0));
        out->least = larger(out->least, out->sums + least);
        out->best = larger(out->best, out->sums + best);
    }
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
    *out = (struct device_plan){.count = 0};
    TRY(cuda_proof_plan(&p, shape, SIZE_MAX));
    size_t parameters = cuda_srs_bytes(counts), tables = gpu_shape_bytes(shape) + terms_on_card(shape),
           twiddles = gpu_ntt_table_bytes(shape_log2_domain(shape));
    add(out, MEMORY_DEVICE, "parameters", parameters, false);
    add(out, MEMORY_DEVICE, "shape", tables, false);
    add(out, MEMORY_DEVICE, "twiddles", twiddles, false);
    add(out, MEMORY_PINNED, "staging", 2 * STAGING_BYTES, false);
    add(out, MEMORY_HOST, "seeds", seeds_bytes(shape), true);
    add(out, MEMORY_DEVICE, "witness", p.sums, true);
    add(out, MEMORY_DEVICE, "evaluations, lists and sums", p.least - p.sums, true);
    size_t together = parameters + tables + twiddles + p.least + RESERVE;
    if (together > cuda->info.bytes)
        return status_hint(
            status_error(
                STATUS_MEMORY,
                "CUDA device %d (%s) has %llu bytes; this circuit needs %zu there: %zu of parameters, "
                "%zu of tables, %zu of scratch",
                cuda->ordinal, cuda->info.name, (unsigned long long)cuda->info.bytes, together, parameters,
                tables + twiddles, p.least),
            "use a larger card, or the CPU backend");
    return status_ok();
}

/* ---- the arena ---- */

static struct status fit_twiddles(struct device_cuda *cuda)
{
    unsigned most = 0;
    for (const struct device_shape *d = cuda->shapes; d != NULL; d = d->next)
        if (shape_log2_domain(d->shape) > most)
            most = shape_log2_domain(d->shape);
    if (cuda->shapes == NULL || (cuda->has_twiddles && cuda->twiddles_log >= most))
        return status_ok();
    gpu_free(cuda->twiddles);
    cuda->twiddles = NULL;
    cuda->has_twiddles = false;
    TRY(gpu_alloc(&cuda->twiddles, gpu_ntt_table_bytes(most), "table of twiddles"));
    TRY(gpu_ntt_table(cuda->twiddles, most, cuda->stream));
    TRY(gpu_wait(cuda->stream));
    cuda->twiddles_log = most;
    cuda->has_twiddles = true;
    return status_ok();
}

/* What the loaded shapes want of `available` bytes. */
static struct status wanted(size_t *out, const struct device_cuda *cuda, size_t available)
{
    *out = 0;
    for (const struct device_shape *d = cuda->shapes; d != NULL; d = d->next) {
        struct proof_plan p;
        TRY(cuda_proof_plan(&p, d->shape, available));
        *out = larger(*out, p.best);
    }
    return status_ok();
}

struct status cuda_fit(struct device_cuda *cuda)
{
    size_t free_bytes, want;
    struct status s = fit_twiddles(cuda);
    if (s.code == STATUS_MEMORY && cuda->arena != NULL) { /* the arena gives way */
        gpu_free(cuda->arena);
        cuda->arena = NULL;
        cuda->arena_bytes = 0;
        s = fit_twiddles(cuda);
    }
    TRY(s);
    TRY(gpu_free_bytes(&free_bytes));
    size_t available = free_bytes + cuda->arena_bytes;
    TRY(wanted(&want, cuda, available > RESERVE ? available - RESERVE : 0));
    if (want == cuda->arena_bytes)
        return status_ok();
    gpu_free(cuda->arena);
    cuda->arena = NULL;
    cuda->arena_bytes = 0;
    if (want == 0)
        return status_ok();
    TRY(gpu_alloc(&cuda->arena, want, "scratch"));
    cuda->arena_bytes = want;
    return status_ok();
}
