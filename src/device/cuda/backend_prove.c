/* A proof on the card, in the order of backend_plan.c: seeds up, expanded and evaluated there; h; the sum
 * over h; the sums over the witness: bits by bitmap, the rest as an MSM over gathered points. The sums come
 * back as they end, a few points each. */
#include "device/cuda/backend_internal.h"
#include "device/cuda/msm_indexed.h"
#include "device/cuda/witness.h"

#include "base/mem.h"

struct proof_run {
    struct device_cuda *cuda;
    const struct device_srs *srs;
    const struct device_shape *shape;
    const struct cancel *cancel;
    struct proof_plan plan;
    char *arena;
    struct gpu_witness witness;
};

static struct status go_on(const struct proof_run *r)
{
    struct work work = {NULL, PRIORITY_NORMAL, r->cancel};
    return work_cancelled(&work) ? work_cancelled_status() : status_ok();
}

static struct status sum_h(struct partial_sums *out, struct proof_run *r)
{
    struct device_cuda *cuda = r->cuda;
    unsigned log_size = shape_log2_domain(r->shape->shape);
    void *a = r->arena + r->plan.a, *b = r->arena + r->plan.b, *c = r->arena + r->plan.c;
    TRY(gpu_witness_evaluate(a, b, &r->witness, r->shape->tables, log_size, cuda->stream));
    if (cuda->now_ms != NULL)
        TRY(gpu_wait(cuda->stream));
    cuda_part(cuda, "evaluation");
    TRY(gpu_h(a, b, c, cuda->twiddles, log_size, cuda->stream));
    TRY(gpu_wait(cuda->stream));
    cuda_part(cuda, "h");
    TRY(go_on(r));
    TRY(gpu_msm_g1(&out->h, r->srs->query[QUERY_H], a, ((size_t)1 << log_size) - 1, &r->plan.h,
                   r->arena + r->plan.rest, cuda->stream));
    cuda_part(cuda, "sum over h");
    return go_on(r);
}

/* The terms with scalars, gathered. */
static struct status sum_terms(void *out, struct proof_run *r, enum query q, const struct query_terms *terms)
{
    bool g2 = q == QUERY_B_G2;
    size_t n = terms->count, point_bytes = query_point_bytes(q);
    char *points = r->arena + r->plan.sums, *scalars = points + aligned(n * point_bytes),
         *scratch = scalars + aligned(n * sizeof(fr));
    size_t room = r->cuda->arena_bytes - (size_t)(scratch - r->arena);
    struct gpu_msm_plan plan;
    TRY(gpu_gather(points, r->srs->query[q], terms->index_dev, n, point_bytes, r->cuda->stream));
    TRY(gpu_gather(scalars, r->arena + r->plan.values, terms->slot_dev, n, sizeof(fr), r->cuda->stream));
    TRY(g2 ? gpu_msm_g2_plan(&plan, n, room) : gpu_msm_g1_plan(&plan, n, room));
    return g2 ? gpu_msm_g2(out, points, scalars, n, &plan, scratch, r->cuda->stream)
              : gpu_msm_g1(out, points, scalars, n, &plan, scratch, r->cuda->stream);
}

/* Bits of the aux variables, and the terms. first: points of inputs, which come before those of aux. */
static struct status sum_g1(g1_xyzz *out, struct proof_run *r, enum query q, const uint64_t *present_dev,
                            uint32_t first, const struct query_terms *terms)
{
    size_t aux = r->shape->shape->aux, room = r->cuda->arena_bytes - r->plan.sums;
    g1_xyzz sum;
    TRY(gpu_bitsum_g1(out, r->srs->query[q] + first * sizeof(g1_affine), r->witness.bits_dev, present_dev,
                      aux, r->arena + r->plan.sums, room, r->cuda->stream));
    cuda_part(r->cuda, q == QUERY_L ? "bits of l" : q == QUERY_A ? "bits of a" : "bits of b in G1");
    TRY(sum_terms(&sum, r, q, terms));
    cuda_part(r->cuda, q == QUERY_L ? "fields of l" : q == QUERY_A ? "fields of a" : "fields of b in G1");
    g1_add(out, out, &sum);
    return go_on(r);
}

static struct status sum_g2(g2_xyzz *out, struct proof_run *r)
{
    const struct shape *shape = r->shape->shape;
    size_t room = r->cuda->arena_bytes - r->plan.sums;
    g2_xyzz sum;
    TRY(gpu_bitsum_g2(out, r->srs->query[QUERY_B_G2] + shape->density.b_input_count * sizeof(g2_affine),
                      r->witness.bits_dev, r->shape->b_aux_dev, shape->aux, r->arena + r->plan.sums, room,
                      r->cuda->stream));
    cuda_part(r->cuda, "bits of b in G2");
    TRY(sum_terms(&sum, r, QUERY_B_G2, &r->shape->b));
    cuda_part(r->cuda, "fields of b in G2");
    g2_add(out, out, &sum);
    return go_on(r);
}

/* Inputs and fields as plain integers. */
static struct status take_values(struct proof_run *r)
{
    const struct shape *shape = r->shape->shape;
    char *values = r->arena + r->plan.values;
    TRY(gpu_copy(values, r->witness.inputs_dev, shape->inputs * sizeof(fr), r->cuda->stream));
    TRY(gpu_copy(values + shape->inputs * sizeof(fr), r->witness.fields_dev, shape->fields * sizeof(fr),
                 r->cuda->stream));
    return gpu_fr_to_int(values, (size_t)shape->inputs + shape->fields, r->cuda->stream);
}

static struct status sum_witness(struct partial_sums *out, struct proof_run *r)
{
    const struct shape *shape = r->shape->shape;
    TRY(take_values(r));
    TRY(sum_g1(&out->l, r, QUERY_L, NULL, 0, &r->shape->l));
    TRY(sum_g1(&out->a, r, QUERY_A, r->shape->a_aux_dev, shape->inputs, &r->shape->a));
    TRY(sum_g1(&out->b_g1, r, QUERY_B_G1, r->shape->b_aux_dev, shape->density.b_input_count, &r->shape->b));
    return sum_g2(&out->b_g2, r);
}

struct status cuda_prove(struct partial_sums *out, struct device_cuda *cuda, const struct device_srs *srs,
                         const struct device_shape *shape, const struct seeds *seeds,
                         const struct cancel *cancel)
{
    struct proof_run r = {.cuda = cuda, .srs = srs, .shape = shape, .cancel = cancel};
    struct params_counts want;
    shape_params_counts(&want, shape->shape);
    TRY(params_match(&srs->counts, &want, "in use", "of this shape"));
    if (!seeds_complete(seeds))
        return status_error(STATUS_INVALID,
                            "the witness is not complete: its circuit wrote fewer seeds than the shape has");
    if (cuda->arena == NULL) /* it gave way to something that then did not fit either */
        TRY(cuda_fit(cuda));
    TRY(cuda_proof_plan(&r.plan, shape->shape, cuda->arena_bytes));
    r.arena = cuda->arena;
    cuda->parts_count = 0;
    cuda->part_began = cuda->now_ms != NULL ? cuda->now_ms() : 0;
    TRY(go_on(&r));
    TRY(gpu_witness_expand(&r.witness, shape->tables, seeds, r.arena, r.plan.witness_bytes, cuda->stream));
    if (cuda->now_ms != NULL)
        TRY(gpu_wait(cuda->stream));
    cuda_part(cuda, "seeds and expansion");
    struct status s = sum_h(out, &r);
    if (!status_failed(&s))
        s = sum_witness(out, &r);
    if (status_failed(&s) && s.code != STATUS_DEVICE) {
        struct status wait = gpu_wait(cuda->stream); /* nothing of this proof runs on */
        if (status_failed(&wait))
            return wait;
    }
    return s;
}
