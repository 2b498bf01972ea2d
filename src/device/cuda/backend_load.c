/* Parameters and shapes into the card's memory. Points travel through two pinned buffers, one of which is
 * filled while the other is on its way: the image may be a mapped file, which cannot be pinned. */
#include "device/cuda/backend_internal.h"
#include "device/cuda/witness.h"

#include "base/mem.h"

#include <string.h>

/* ---- copies ---- */

static struct status upload(struct device_cuda *cuda, void *to_dev, const void *from, size_t bytes)
{
    int at = 0;
    for (size_t done = 0; done < bytes; at = 1 - at) {
        size_t n = bytes - done < STAGING_BYTES ? bytes - done : STAGING_BYTES;
        TRY(gpu_wait(cuda->copies[at]));
        memcpy(cuda->staging[at], (const char *)from + done, n);
        TRY(gpu_upload((char *)to_dev + done, cuda->staging[at], n, cuda->copies[at]));
        done += n;
    }
    TRY(gpu_wait(cuda->copies[0]));
    return gpu_wait(cuda->copies[1]);
}

struct status cuda_alloc(struct device_cuda *cuda, void **out_dev, size_t bytes, const char *what)
{
    size_t available;
    *out_dev = NULL;
    TRY(cuda_available(&available, cuda));
    if (bytes <= available) {
        struct status s = gpu_alloc(out_dev, bytes, what);
        if (s.code != STATUS_MEMORY)
            return s;
    }
    cuda_drop_arenas(cuda);
    TRY(cuda_available(&available, cuda));
    if (bytes > available)
        return status_hint(status_error(STATUS_MEMORY,
                                        "out of device memory: %s needs %zu bytes, %zu are free for us", what,
                                        bytes, available),
                           "load fewer circuits on this device, or end what else uses it");
    return gpu_alloc(out_dev, bytes, what);
}

/* ---- parameters ---- */

void cuda_drop_srs(struct device_srs *srs)
{
    if (srs == NULL)
        return;
    for (int q = 0; q < QUERY_COUNT; q++)
        if (srs->pinned[q])
            gpu_unpin(srs->host[q]);
    gpu_free(srs->memory);
    mem_free(srs);
}

struct status cuda_srs_alloc(struct device_srs **out, struct device_cuda *cuda,
                             const struct params_counts *counts)
{
    struct device_srs *srs = mem_alloc_zero(1, sizeof *srs);
    if (srs == NULL)
        return mem_failed("parameters", 1, sizeof *srs);
    srs->counts = *counts;
    struct status s = cuda_alloc(cuda, &srs->memory, cuda_srs_bytes(counts), "the parameter set");
    if (status_failed(&s)) {
        cuda_drop_srs(srs);
        return s;
    }
    const char *at = srs->memory;
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        srs->query[q] = at;
        at += aligned((size_t)counts->query[q] * query_point_bytes(q));
    }
    *out = srs;
    return s;
}

/* Whether proofs of this set's circuits can run beside it in what is left for them. */
static struct status leaves_room(const struct device_cuda *cuda, const struct params_counts *counts)
{
    for (const struct device_shape *d = cuda->shapes; d != NULL; d = d->next) {
        struct params_counts own;
        struct proof_plan p;
        shape_params_counts(&own, d->shape);
        if (memcmp(&own, counts, sizeof own) == 0)
            TRY(cuda_proof_plan(&p, d->shape, true, cuda->lanes[LANE_WIDE].arena_bytes));
    }
    return status_ok();
}

/* Memory for the set with scratch made right beside it, or no memory: then points stay in the image. */
struct status cuda_place_srs(struct device_srs **out, struct device_cuda *cuda,
                             const struct params_counts *counts, bool resident)
{
    struct device_srs *srs = NULL;
    struct status s = cuda_srs_alloc(&srs, cuda, counts);
    if (!status_failed(&s))
        s = cuda_fit(cuda);
    if (!status_failed(&s))
        s = leaves_room(cuda, counts);
    if (s.code == STATUS_MEMORY) {
        cuda_drop_srs(srs);
        if (resident || counts->ic > INPUTS_MOST) {
            struct status fit = cuda_fit(cuda); /* what is loaded goes on */
            return status_failed(&fit) && fit.code != STATUS_MEMORY ? fit : s;
        }
        srs = mem_alloc_zero(1, sizeof *srs);
        if (srs == NULL)
            return mem_failed("parameters", 1, sizeof *srs);
        srs->counts = *counts;
        s = cuda_fit(cuda);
    }
    if (status_failed(&s))
        cuda_drop_srs(srs);
    else
        *out = srs;
    return s;
}

static struct status fill(struct device_srs *srs, struct device_cuda *cuda, const struct image *image)
{
    const void *from[QUERY_COUNT] = {image->h, image->l, image->a, image->b_g1, image->b_g2};
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        size_t bytes = (size_t)image->counts.query[q] * query_point_bytes(q);
        if (srs->memory != NULL) {
            TRY(upload(cuda, (char *)srs->memory + (srs->query[q] - (const char *)srs->memory), from[q],
                       bytes));
        } else {
            srs->host[q] = from[q];
            srs->pinned[q] = gpu_pin(from[q], bytes);
        }
    }
    return status_ok();
}

/* Device memory moves while nothing proves; the points travel beside proofs. */
struct status cuda_load_srs(struct device_srs **out, struct device_cuda *cuda, const struct image *image)
{
    struct device_srs *srs = NULL;
    pthread_mutex_lock(&cuda->loading);
    struct status s = cuda_enter(cuda, true);
    if (!status_failed(&s))
        s = cuda_place_srs(&srs, cuda, &image->counts, false);
    s = cuda_leave(cuda, s);
    if (!status_failed(&s)) {
        s = cuda_enter(cuda, false);
        if (!status_failed(&s))
            s = fill(srs, cuda, image);
        s = cuda_leave(cuda, s);
    }
    if (status_failed(&s))
        cuda_drop_srs(srs);
    else
        *out = srs;
    pthread_mutex_unlock(&cuda->loading);
    return s;
}

/* ---- shapes ---- */

/* Ranks among the dense variables of the field variables that are dense; dense NULL: all are. Field
 * variables ascend, so one sweep does. Points of inputs come first: all of them, or those in `inputs`. */
struct terms_builder {
    uint32_t *index, *slot;
    uint32_t count;
};

static void add_term(struct terms_builder *t, uint32_t index, uint32_t slot)
{
    t->index[t->count] = index;
    t->slot[t->count++] = slot;
}

static void add_fields(struct terms_builder *t, const uint32_t *fields, const struct shape *shape,
                       const uint64_t *dense, uint32_t first)
{
    uint32_t word = 0, rank = 0;
    for (uint32_t i = 0; i < shape->fields; i++) {
        if (dense == NULL) {
            add_term(t, fields[i], shape->inputs + i);
            continue;
        }
        for (; word < fields[i] / 64; word++)
            rank += (uint32_t)__builtin_popcountll(dense[word]);
        uint64_t bit = UINT64_C(1) << (fields[i] % 64);
        if (dense[word] & bit)
            add_term(t, first + rank + (uint32_t)__builtin_popcountll(dense[word] & (bit - 1)),
                     shape->inputs + i);
    }
}

static struct status upload_terms(struct device_cuda *cuda, struct query_terms *out,
                                  const struct terms_builder *t)
{
    size_t bytes = t->count * sizeof(uint32_t);
    out->count = t->count;
    TRY(cuda_alloc(cuda, (void **)&out->index_dev, bytes, "places of field variables"));
    TRY(cuda_alloc(cuda, (void **)&out->slot_dev, bytes, "places of field variables"));
    out->index = mem_alloc(t->count, sizeof(uint32_t));
    if (out->index == NULL)
        return mem_failed("places of field variables", t->count, sizeof(uint32_t));
    memcpy(out->index, t->index, bytes);
    TRY(upload(cuda, out->index_dev, t->index, bytes));
    return upload(cuda, out->slot_dev, t->slot, bytes);
}

static struct status load_terms(struct device_shape *d, struct device_cuda *cuda, const uint32_t *fields,
                                struct terms_builder *t)
{
    const struct shape *shape = d->shape;
    const struct density *density = &shape->density;
    add_fields(t, fields, shape, NULL, 0);
    TRY(upload_terms(cuda, &d->l, t));
    t->count = 0;
    for (uint32_t i = 0; i < shape->inputs; i++)
        add_term(t, i, i);
    add_fields(t, fields, shape, density->a_aux, shape->inputs);
    TRY(upload_terms(cuda, &d->a, t));
    t->count = 0;
    for (uint32_t i = 0; i < shape->inputs; i++)
        if (density->b_input[i / 64] >> (i % 64) & 1)
            add_term(t, t->count, i);
    CHECK(t->count == density->b_input_count);
    add_fields(t, fields, shape, density->b_aux, density->b_input_count);
    return upload_terms(cuda, &d->b, t);
}

static struct status load_places(struct device_shape *d, struct device_cuda *cuda)
{
    const struct shape *shape = d->shape;
    size_t most = (size_t)shape->inputs + shape->fields, words = ((size_t)shape->aux + 63) / 64;
    uint32_t *fields = mem_alloc(shape->fields, sizeof *fields);
    struct terms_builder t = {mem_alloc(most, sizeof *t.index), mem_alloc(most, sizeof *t.slot), 0};
    struct status s = status_ok();
    if (fields == NULL || t.index == NULL || t.slot == NULL) {
        s = mem_failed("places of field variables", most, 3 * sizeof *fields);
        goto out;
    }
    shape_field_variables(fields, shape);
    TRY_OUT(load_terms(d, cuda, fields, &t));
    TRY_OUT(cuda_alloc(cuda, (void **)&d->a_aux_dev, words * sizeof(uint64_t), "densities"));
    TRY_OUT(cuda_alloc(cuda, (void **)&d->b_aux_dev, words * sizeof(uint64_t), "densities"));
    TRY_OUT(upload(cuda, d->a_aux_dev, shape->density.a_aux, words * sizeof(uint64_t)));
    s = upload(cuda, d->b_aux_dev, shape->density.b_aux, words * sizeof(uint64_t));
out:
    mem_free(fields);
    mem_free(t.index);
    mem_free(t.slot);
    return s;
}

static void terms_end(struct query_terms *t)
{
    gpu_free(t->index_dev);
    gpu_free(t->slot_dev);
    mem_free(t->index);
}

void cuda_drop_shape(struct device_cuda *cuda, struct device_shape *shape)
{
    if (shape == NULL)
        return;
    for (struct device_shape **at = &cuda->shapes; *at != NULL; at = &(*at)->next) {
        if (*at == shape) {
            *at = shape->next;
            break;
        }
    }
    gpu_shape_end(shape->tables);
    terms_end(&shape->l);
    terms_end(&shape->a);
    terms_end(&shape->b);
    gpu_free(shape->a_aux_dev);
    gpu_free(shape->b_aux_dev);
    mem_free(shape);
}

struct status cuda_load_shape(struct device_shape **out, struct device_cuda *cuda, const struct shape *shape)
{
    struct device_shape *d = mem_alloc_zero(1, sizeof *d);
    if (d == NULL)
        return mem_failed("shape", 1, sizeof *d);
    d->shape = shape;
    struct status s = gpu_shape_load(&d->tables, shape, cuda->lanes[LANE_WIDE].stream);
    if (s.code == STATUS_MEMORY) { /* scratch gives way */
        cuda_drop_arenas(cuda);
        s = gpu_shape_load(&d->tables, shape, cuda->lanes[LANE_WIDE].stream);
    }
    if (!status_failed(&s))
        s = load_places(d, cuda);
    if (!status_failed(&s)) {
        d->next = cuda->shapes;
        cuda->shapes = d;
        s = cuda_fit(cuda);
    }
    if (status_failed(&s))
        cuda_drop_shape(cuda, d);
    else
        *out = d;
    return s;
}
