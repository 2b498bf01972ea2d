/* A proof on the card, in the order of backend_plan.c: seeds up, expanded and evaluated there; h; the sum
 * over h; the sums over the witness: bits by bitmap, the rest as an MSM over gathered points. The sums come
 * back as they end, a few points each.
 *
 * Every query is summed in pieces: one, where it lies, if the set is resident; else of a size that lets two
 * stand beside the scratch, of which one is copied while the other is summed. */
#include "device/cuda/backend_internal.h"
#include "device/cuda/msm_indexed.h"
#include "device/cuda/witness.h"

#include "base/mem.h"

#include <string.h>

struct proof_run {
    struct device_cuda *cuda;
    struct cuda_lane *lane;
    struct CUstream_st *stream;
    const struct device_srs *srs;
    const struct device_shape *shape;
    const struct cancel *cancel;
    struct proof_plan plan;
    char *arena, *end;
    struct gpu_witness witness;
    char *buffers[2]; /* of pieces */
    char *scratch;    /* behind them; or behind what stands before, if the set is resident */
};

static struct status go_on(const struct proof_run *r)
{
    struct work work = {NULL, PRIORITY_NORMAL, r->cancel};
    return work_cancelled(&work) ? work_cancelled_status() : status_ok();
}

static size_t room(const struct proof_run *r)
{
    return (size_t)(r->end - r->scratch);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- pieces ---- */

/* Copies points [first, first + count) into a buffer: queued, if they are pinned. The caller has loading. */
static struct status bring(struct proof_run *r, int buffer, enum query q, size_t first, size_t count)
{
    size_t bytes = count * query_point_bytes(q);
    const char *from = r->srs->host[q] + first * query_point_bytes(q);
    struct CUstream_st *copies = r->cuda->copies[buffer];
    if (r->srs->pinned[q])
        return gpu_upload(r->buffers[buffer], from, bytes, copies);
    for (size_t done = 0; done < bytes;) {
        size_t n = smaller(bytes - done, STAGING_BYTES);
        TRY(gpu_wait(copies)); /* the buffer's staging is free */
        memcpy(r->cuda->staging[buffer], from + done, n);
        TRY(gpu_upload(r->buffers[buffer] + done, r->cuda->staging[buffer], n, copies));
        done += n;
    }
    return status_ok();
}

/* A query as pieces: piece i has points [points[i], points[i + 1]). */
struct pieces {
    enum query query;
    size_t count;
    const size_t *points;
};
/* Sums over piece i, whose points are at `at`. */
typedef struct status sum_piece(struct proof_run *r, void *context, size_t i, const char *at);

static struct status each_piece(struct proof_run *r, const struct pieces *p, sum_piece *sum, void *context)
{
    const size_t *at = p->points;
    if (r->srs->memory != NULL)
        return sum(r, context, 0, r->srs->query[p->query]);
    TRY(bring(r, 0, p->query, at[0], at[1] - at[0]));
    for (size_t i = 0; i < p->count; i++) {
        int now = (int)(i % 2);
        TRY(gpu_wait(r->cuda->copies[now]));
        if (i + 1 < p->count)
            TRY(bring(r, 1 - now, p->query, at[i + 1], at[i + 2] - at[i + 1]));
        TRY(sum(r, context, i, r->buffers[now]));
        TRY(go_on(r));
    }
    return status_ok();
}

/* Buffers and scratch behind `from`; gives the points of a piece. */
static size_t lay_out(struct proof_run *r, char *from, size_t n, bool g2)
{
    size_t points = 0, bytes = 0;
    if (r->srs->memory == NULL) {
        points = cuda_piece_points(n, (size_t)(r->end - from), g2);
        bytes = aligned(points * (g2 ? sizeof(g2_affine) : sizeof(g1_affine)));
    }
    r->buffers[0] = from;
    r->buffers[1] = from + bytes;
    r->scratch = from + 2 * bytes;
    return points;
}

/* ---- the H query ---- */

struct h_sum {
    g1_xyzz *out;
    const size_t *points;
    const char *scalars;
};

static struct status sum_h_piece(struct proof_run *r, void *context, size_t i, const char *at)
{
    const struct h_sum *h = context;
    size_t n = h->points[i + 1] - h->points[i];
    struct gpu_msm_plan plan;
    g1_xyzz sum;
    TRY(gpu_msm_g1_plan(&plan, n, room(r)));
    TRY(gpu_msm_g1(&sum, at, h->scalars + h->points[i] * sizeof(fr), n, &plan, r->scratch, r->stream));
    g1_add(h->out, h->out, &sum);
    return status_ok();
}

static struct status sum_h(struct partial_sums *out, struct proof_run *r, const char *scalars)
{
    size_t n = r->srs->counts.query[QUERY_H], step = lay_out(r, r->arena + r->plan.rest, n, false);
    size_t count = step == 0 || n == 0 ? 1 : (n + step - 1) / step;
    size_t *points = mem_alloc(count + 1, sizeof *points);
    if (points == NULL)
        return mem_failed("pieces", count + 1, sizeof *points);
    for (size_t i = 0; i <= count; i++)
        points[i] = i == count ? n : i * step;
    struct h_sum h = {&out->h, points, scalars};
    struct pieces pieces = {QUERY_H, count, points};
    g1_infinity(&out->h);
    struct status s = each_piece(r, &pieces, sum_h_piece, &h);
    mem_free(points);
    return s;
}

static struct status find_h(struct partial_sums *out, struct proof_run *r)
{
    unsigned log_size = shape_log2_domain(r->shape->shape);
    void *a = r->arena + r->plan.a, *b = r->arena + r->plan.b, *c = r->arena + r->plan.c;
    TRY(gpu_witness_evaluate(a, b, &r->witness, r->shape->tables, log_size, r->stream));
    if (r->cuda->now_ms != NULL)
        TRY(gpu_wait(r->stream));
    cuda_part(r->cuda, r->lane, "evaluation");
    TRY(gpu_h(a, b, c, r->cuda->twiddles, log_size, r->stream));
    TRY(gpu_wait(r->stream));
    cuda_part(r->cuda, r->lane, "h");
    TRY(go_on(r));
    TRY(sum_h(out, r, a));
    cuda_part(r->cuda, r->lane, "sum over h");
    return go_on(r);
}

/* ---- the queries over the witness ---- */

/* Points are of variables in order, those of inputs before them: piece i has the points of the aux variables
 * [variables[i], variables[i + 1]), and the first one also those of inputs. */
struct witness_sum {
    enum query query;
    const struct query_terms *terms;
    const uint64_t *present_dev;
    uint32_t inputs; /* points of inputs */
    const size_t *points, *variables;
    char *gathered;
    g1_xyzz g1;
    g2_xyzz g2;
};

static size_t first_not_below(const struct query_terms *t, size_t point)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->index[middle] < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct status gather_terms(struct proof_run *r, const struct witness_sum *w, size_t i, const char *at)
{
    const struct query_terms *t = w->terms;
    size_t bytes = query_point_bytes(w->query), begin = 0, end = t->count;
    uint32_t low = 0;
    if (r->srs->memory == NULL) { /* those whose points the piece has */
        low = (uint32_t)w->points[i];
        begin = first_not_below(t, w->points[i]);
        end = first_not_below(t, w->points[i + 1]);
    }
    /* as if the whole query lay at its place: the terms' places count from its beginning */
    const void *base = (const void *)((uintptr_t)at - low * bytes);
    return gpu_gather(w->gathered + begin * bytes, base, t->index_dev + begin, end - begin, bytes, r->stream);
}

static struct status sum_witness_piece(struct proof_run *r, void *context, size_t i, const char *at)
{
    struct witness_sum *w = context;
    size_t first = w->variables[i], n = w->variables[i + 1] - first;
    const uint64_t *bits = r->witness.bits_dev + first / 64,
                   *present = w->present_dev == NULL ? NULL : w->present_dev + first / 64;
    const char *points = at + (i == 0 ? w->inputs * query_point_bytes(w->query) : 0);
    TRY(gather_terms(r, w, i, at));
    if (w->query == QUERY_B_G2) {
        g2_xyzz sum;
        TRY(gpu_bitsum_g2(&sum, points, bits, present, n, r->scratch, room(r), r->stream));
        g2_add(&w->g2, &w->g2, &sum);
    } else {
        g1_xyzz sum;
        TRY(gpu_bitsum_g1(&sum, points, bits, present, n, r->scratch, room(r), r->stream));
        g1_add(&w->g1, &w->g1, &sum);
    }
    return status_ok();
}

/* The terms with scalars: their points have been gathered. */
static struct status sum_terms(struct proof_run *r, struct witness_sum *w)
{
    bool g2 = w->query == QUERY_B_G2;
    size_t n = w->terms->count;
    char *scalars = w->gathered + aligned(n * query_point_bytes(w->query));
    struct gpu_msm_plan plan;
    r->scratch = w->gathered + cuda_gathered_bytes(g2, n); /* the pieces are done with */
    TRY(gpu_gather(scalars, r->arena + r->plan.values, w->terms->slot_dev, n, sizeof(fr), r->stream));
    TRY(g2 ? gpu_msm_g2_plan(&plan, n, room(r)) : gpu_msm_g1_plan(&plan, n, room(r)));
    if (g2) {
        g2_xyzz sum;
        TRY(gpu_msm_g2(&sum, w->gathered, scalars, n, &plan, r->scratch, r->stream));
        g2_add(&w->g2, &w->g2, &sum);
    } else {
        g1_xyzz sum;
        TRY(gpu_msm_g1(&sum, w->gathered, scalars, n, &plan, r->scratch, r->stream));
        g1_add(&w->g1, &w->g1, &sum);
    }
    return status_ok();
}

/* Where pieces of at most `step` points end, in variables and in points. */
static void cut(size_t *variables, size_t *points, size_t count, size_t step, const struct shape *shape,
                const uint64_t *present, uint32_t inputs)
{
    size_t rank = inputs;
    variables[0] = points[0] = 0;
    for (size_t i = 1; i <= count; i++) {
        variables[i] = i == count ? shape->aux : i * step;
        for (size_t v = variables[i - 1]; v < variables[i]; v += 64) {
            size_t left = variables[i] - v;
            uint64_t mask = left < 64 ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0);
            rank +=
                present == NULL ? smaller(left, 64) : (size_t)__builtin_popcountll(present[v / 64] & mask);
        }
        points[i] = rank;
    }
}

static struct status sum_query(struct proof_run *r, struct witness_sum *w, const uint64_t *present,
                               const char *bits_part, const char *fields_part)
{
    bool g2 = w->query == QUERY_B_G2;
    const struct shape *shape = r->shape->shape;
    w->gathered = r->arena + r->plan.sums;
    size_t count = 1, step = lay_out(r, w->gathered + cuda_gathered_bytes(g2, w->terms->count),
                                     (size_t)w->inputs + shape->aux, g2);
    if (step > 0) { /* room for the points of inputs in the first piece */
        step = (step - smaller(step / 2, w->inputs)) / 64 * 64;
        count = shape->aux == 0 ? 1 : (shape->aux + step - 1) / step;
    }
    size_t *cuts = mem_alloc(2 * (count + 1), sizeof *cuts);
    if (cuts == NULL)
        return mem_failed("pieces", 2 * (count + 1), sizeof *cuts);
    if (step > 0) {
        cut(cuts, cuts + count + 1, count, step, shape, present, w->inputs);
    } else { /* no ranks to count */
        cuts[0] = cuts[2] = 0;
        cuts[1] = shape->aux;
        cuts[3] = r->srs->counts.query[w->query];
    }
    w->variables = cuts;
    w->points = cuts + count + 1;
    CHECK(w->points[count] == r->srs->counts.query[w->query]);
    struct pieces pieces = {w->query, count, w->points};
    g1_infinity(&w->g1);
    g2_infinity(&w->g2);
    struct status s = each_piece(r, &pieces, sum_witness_piece, w);
    mem_free(cuts);
    TRY(s);
    cuda_part(r->cuda, r->lane, bits_part);
    TRY(sum_terms(r, w));
    cuda_part(r->cuda, r->lane, fields_part);
    return go_on(r);
}

/* Inputs and fields as plain integers. */
static struct status take_values(struct proof_run *r)
{
    const struct shape *shape = r->shape->shape;
    char *values = r->arena + r->plan.values;
    TRY(gpu_copy(values, r->witness.inputs_dev, shape->inputs * sizeof(fr), r->stream));
    TRY(gpu_copy(values + shape->inputs * sizeof(fr), r->witness.fields_dev, shape->fields * sizeof(fr),
                 r->stream));
    return gpu_fr_to_int(values, (size_t)shape->inputs + shape->fields, r->stream);
}

static struct status sum_witness(struct partial_sums *out, struct proof_run *r)
{
    const struct device_shape *d = r->shape;
    const struct density *density = &d->shape->density;
    uint32_t b_inputs = density->b_input_count;
    struct witness_sum
        l = {.query = QUERY_L, .terms = &d->l},
        a = {.query = QUERY_A, .terms = &d->a, .present_dev = d->a_aux_dev, .inputs = d->shape->inputs},
        b1 = {.query = QUERY_B_G1, .terms = &d->b, .present_dev = d->b_aux_dev, .inputs = b_inputs}, b2 = b1;
    b2.query = QUERY_B_G2;
    TRY(take_values(r));
    TRY(sum_query(r, &l, NULL, "bits of l", "fields of l"));
    TRY(sum_query(r, &a, density->a_aux, "bits of a", "fields of a"));
    TRY(sum_query(r, &b1, density->b_aux, "bits of b in G1", "fields of b in G1"));
    TRY(sum_query(r, &b2, density->b_aux, "bits of b in G2", "fields of b in G2"));
    out->l = l.g1;
    out->a = a.g1;
    out->b_g1 = b1.g1;
    out->b_g2 = b2.g2;
    return status_ok();
}

/* ---- the proof ---- */

static struct status run(struct partial_sums *out, struct proof_run *r, const struct seeds *seeds)
{
    TRY(go_on(r));
    TRY(gpu_witness_expand(&r->witness, r->shape->tables, seeds, r->arena, r->plan.witness_bytes, r->stream));
    if (r->cuda->now_ms != NULL)
        TRY(gpu_wait(r->stream));
    cuda_part(r->cuda, r->lane, "seeds and expansion");
    TRY(find_h(out, r));
    return sum_witness(out, r);
}

struct status cuda_prove(struct partial_sums *out, struct device_cuda *cuda, struct cuda_lane *lane,
                         const struct device_srs *srs, const struct device_shape *shape,
                         const struct seeds *seeds, const struct cancel *cancel)
{
    struct proof_run r = {.cuda = cuda,
                          .lane = lane,
                          .stream = lane->stream,
                          .srs = srs,
                          .shape = shape,
                          .cancel = cancel,
                          .arena = lane->arena,
                          .end = (char *)lane->arena + lane->arena_bytes};
    struct params_counts want;
    shape_params_counts(&want, shape->shape);
    TRY(params_match(&srs->counts, &want, "in use", "of this shape"));
    if (!seeds_complete(seeds))
        return status_error(STATUS_INVALID,
                            "the witness is not complete: its circuit wrote fewer seeds than the shape has");
    bool resident = srs->memory != NULL;
    TRY(cuda_proof_plan(&r.plan, shape->shape, resident, lane->arena_bytes));
    cuda_parts_begin(cuda, lane);
    struct status s = run(out, &r, seeds);
    if (status_failed(&s) && s.code != STATUS_DEVICE) { /* nothing of this proof runs on */
        struct status wait = gpu_wait(lane->stream);
        for (int i = 0; i < 2 && !resident && !status_failed(&wait); i++)
            wait = gpu_wait(cuda->copies[i]);
        if (status_failed(&wait))
            s = wait;
    }
    return s;
}
