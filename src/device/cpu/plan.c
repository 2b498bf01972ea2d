/* What a proof on the CPU backend needs, computed before anything is allocated. Mirrors the order of prove.c.
 */
#include "curve/msm.h"
#include "device/cpu/cpu.h"

static void add(struct device_plan *plan, const char *purpose, uint64_t bytes, bool per_proof)
{
    CHECK(plan->count < DEVICE_PLAN_ITEMS);
    plan->items[plan->count++] = (struct device_plan_item){MEMORY_HOST, purpose, bytes, per_proof};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct status cpu_plan(struct device_plan *out, const struct shape *shape, const struct params_counts *counts,
                       unsigned threads)
{
    uint64_t vector = (UINT64_C(1) << shape_log2_domain(shape)) * sizeof(fr);
    uint64_t witness = witness_bytes(shape);
    uint64_t h_scratch = msm_g1_scratch_bytes(counts->query[QUERY_H], threads);
    uint64_t values = (uint64_t)shape->fields * sizeof(fr);
    uint64_t sums = larger(
        larger(bitsum_g1_scratch_bytes(shape->aux, threads), bitsum_g2_scratch_bytes(shape->aux, threads)),
        values + larger(msm_g1_scratch_bytes(shape->fields, threads),
                        msm_g2_scratch_bytes(shape->fields, threads)));
    out->count = 0;
    add(out, "parameters", image_bytes(counts), false);
    add(out, "shape", shape_bytes(shape) + 5 * (uint64_t)shape->fields * sizeof(uint32_t), false);
    add(out, "seeds", seeds_bytes(shape), true);
    add(out, "witness", witness, true);
    add(out, "evaluations", 3 * vector, true);
    add(out, "buckets of H", h_scratch, true);
    add(out, "sums over the witness", sums, true);
    for (int class = 0; class < MEMORY_CLASSES; class ++)
        out->proof_peak[class] = 0;
    out->proof_peak[MEMORY_HOST] =
        seeds_bytes(shape) + witness + larger(larger(3 * vector, vector + h_scratch), sums);
    return status_ok();
}
