/* See backend.h: opening, closing, the lock, and what happens when a card fails. Errors of the runtime that
 * stay (a fault in a kernel, an ECC error, a card that fell off the bus) end every later call of the process
 * on that card: the device is then lost, and says why. */
#include "device/cuda/backend_internal.h"

#include "base/mem.h"
#include "device/self_test.h"

#include <stdio.h>
#include <string.h>

#define OLDEST_MAJOR 8 /* the oldest architecture that releases have code for */

/* ---- turns ---- */

struct status cuda_enter(struct device_cuda *cuda, bool alone)
{
    if (alone)
        pthread_rwlock_wrlock(&cuda->loaded);
    else
        pthread_rwlock_rdlock(&cuda->loaded);
    pthread_mutex_lock(&cuda->state);
    struct status s = cuda->lost ? cuda->reason : status_ok();
    pthread_mutex_unlock(&cuda->state);
    return status_failed(&s) ? s : gpu_select(cuda->ordinal);
}

struct status cuda_leave(struct device_cuda *cuda, struct status s)
{
    pthread_mutex_lock(&cuda->state);
    if (s.code == STATUS_DEVICE && !cuda->lost && !gpu_answers()) {
        cuda->lost = true;
        cuda->reason =
            status_hint(s, "the card is lost to this process: restart it; the driver's log says more");
        s = cuda->reason;
    }
    pthread_mutex_unlock(&cuda->state);
    pthread_rwlock_unlock(&cuda->loaded);
    return s;
}

void cuda_parts_begin(struct device_cuda *cuda, struct cuda_lane *lane)
{
    lane->parts_count = 0;
    if (cuda->now_ms == NULL)
        return;
    lane->part_began = cuda->now_ms();
    cuda->last = lane;
}

void cuda_part(struct device_cuda *cuda, struct cuda_lane *lane, const char *name)
{
    if (cuda->now_ms == NULL || lane->parts_count == DEVICE_CUDA_PARTS)
        return;
    double now = cuda->now_ms();
    lane->parts[lane->parts_count++] = (struct device_cuda_part){name, now - lane->part_began};
    lane->part_began = now;
}

/* ---- operations ---- */

static struct status plan(struct device_plan *out, struct device *device, const struct shape *shape,
                          const struct params_counts *counts)
{
    return cuda_plan(out, cuda_of(device), shape, counts);
}

static struct status load_srs(struct device_srs **out, struct device *device, const struct image *image)
{
    return cuda_load_srs(out, cuda_of(device), image);
}

static void drop_srs(struct device *device, struct device_srs *srs)
{
    struct device_cuda *cuda = cuda_of(device);
    struct status s = cuda_enter(cuda, true); /* a lost card's memory is given up all the same */
    cuda_drop_srs(srs);
    (void)cuda_leave(cuda, s);
}

static struct status load_shape(struct device_shape **out, struct device *device, const struct shape *shape)
{
    struct device_cuda *cuda = cuda_of(device);
    pthread_mutex_lock(&cuda->loading);
    struct status s = cuda_enter(cuda, true);
    if (!status_failed(&s))
        s = cuda_load_shape(out, cuda, shape);
    s = cuda_leave(cuda, s);
    pthread_mutex_unlock(&cuda->loading);
    return s;
}

static void drop_shape(struct device *device, struct device_shape *shape)
{
    struct device_cuda *cuda = cuda_of(device);
    struct status s = cuda_enter(cuda, true);
    cuda_drop_shape(cuda, shape);
    (void)cuda_leave(cuda, s);
}

/* A critical proof of a circuit that fits there goes its own way. */
static struct cuda_lane *lane_of(struct device_cuda *cuda, const struct device_srs *srs,
                                 const struct device_shape *shape, enum priority priority)
{
    struct cuda_lane *urgent = &cuda->lanes[LANE_URGENT];
    struct proof_plan plan;
    if (priority != PRIORITY_CRITICAL || srs->memory == NULL || urgent->arena == NULL)
        return &cuda->lanes[LANE_WIDE];
    struct status s = cuda_proof_plan(&plan, shape->shape, true, urgent->arena_bytes);
    return status_failed(&s) ? &cuda->lanes[LANE_WIDE] : urgent;
}

static struct status prove_start(struct device_pending **out, struct device *device, struct device_srs *srs,
                                 struct device_shape *shape, const struct seeds *seeds,
                                 enum priority priority, const struct cancel *cancel)
{
    struct device_cuda *cuda = cuda_of(device);
    struct device_pending *pending = mem_alloc(1, sizeof *pending);
    if (pending == NULL)
        return mem_failed("pending proof", 1, sizeof *pending);
    bool in_pieces = srs->memory == NULL; /* through staging */
    if (in_pieces)
        pthread_mutex_lock(&cuda->loading);
    struct status s = cuda_enter(cuda, false);
    if (!status_failed(&s)) {
        struct cuda_lane *lane = lane_of(cuda, srs, shape, priority);
        pthread_mutex_lock(&lane->turn);
        s = cuda_prove(&pending->sums, cuda, lane, srs, shape, seeds, cancel);
        pthread_mutex_unlock(&lane->turn);
    }
    s = cuda_leave(cuda, s);
    if (in_pieces)
        pthread_mutex_unlock(&cuda->loading);
    if (status_failed(&s))
        mem_free(pending);
    else
        *out = pending;
    return s;
}

static struct status prove_finish(struct partial_sums *out, struct device *device,
                                  struct device_pending *pending)
{
    (void)device;
    *out = pending->sums;
    mem_free(pending);
    return status_ok();
}

static void discard(struct device *device, struct device_pending *pending)
{
    (void)device;
    mem_free(pending);
}

static enum device_state state(struct device *device, struct status *reason)
{
    struct device_cuda *cuda = cuda_of(device);
    pthread_mutex_lock(&cuda->state);
    enum device_state now = cuda->lost ? DEVICE_LOST : DEVICE_READY;
    *reason = cuda->lost ? cuda->reason : status_ok();
    pthread_mutex_unlock(&cuda->state);
    return now;
}

static void end_locks(struct device_cuda *cuda)
{
    pthread_rwlock_destroy(&cuda->loaded);
    pthread_mutex_destroy(&cuda->loading);
    pthread_mutex_destroy(&cuda->state);
    for (int i = 0; i < LANES; i++)
        pthread_mutex_destroy(&cuda->lanes[i].turn);
}

static void close_device(struct device *device)
{
    struct device_cuda *cuda = cuda_of(device);
    struct status s = cuda_enter(cuda, true);
    CHECK(cuda->shapes == NULL);
    cuda_drop_arenas(cuda);
    gpu_free(cuda->twiddles);
    for (int i = 0; i < 2; i++) {
        gpu_free_pinned(cuda->staging[i]);
        gpu_stream_close(cuda->copies[i]);
    }
    for (int i = 0; i < LANES; i++)
        gpu_stream_close(cuda->lanes[i].stream);
    (void)cuda_leave(cuda, s);
    end_locks(cuda);
    mem_free(cuda);
}

static const struct device_operations OPERATIONS = {
    .name = "cuda",
    .plan = plan,
    .load_srs = load_srs,
    .drop_srs = drop_srs,
    .load_shape = load_shape,
    .drop_shape = drop_shape,
    .prove_start = prove_start,
    .prove_finish = prove_finish,
    .discard = discard,
    .load_params = cuda_load_params,
    .setup = cuda_setup_files,
    .self_test = device_self_test,
    .state = state,
    .close = close_device,
};

/* ---- opening ---- */

static struct status open_card(struct device_cuda *cuda)
{
    TRY(gpu_open(&cuda->info, cuda->ordinal));
    if (cuda->info.major < OLDEST_MAJOR)
        return status_error(STATUS_UNSUPPORTED,
                            "CUDA device %d (%s) is of compute capability %d.%d: %d.0 is the oldest possible",
                            cuda->ordinal, cuda->info.name, cuda->info.major, cuda->info.minor, OLDEST_MAJOR);
    TRY(gpu_free_bytes(&cuda->free_first));
    for (int i = 0; i < LANES; i++)
        TRY(gpu_stream_open(&cuda->lanes[i].stream, i == LANE_URGENT));
    for (int i = 0; i < 2; i++) {
        TRY(gpu_stream_open(&cuda->copies[i], false));
        TRY(gpu_alloc_pinned(&cuda->staging[i], STAGING_BYTES, "staging"));
    }
    return status_ok();
}

struct status device_cuda_count(int *out)
{
    return gpu_count(out);
}

/* Who loads goes before the proofs that come after it. */
static bool make_locks(struct device_cuda *cuda)
{
    pthread_rwlockattr_t attributes;
    bool good = pthread_rwlockattr_init(&attributes) == 0;
    good = good &&
           pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) == 0 &&
           pthread_rwlock_init(&cuda->loaded, &attributes) == 0;
    good =
        good && pthread_mutex_init(&cuda->loading, NULL) == 0 && pthread_mutex_init(&cuda->state, NULL) == 0;
    for (int i = 0; i < LANES; i++)
        good = good && pthread_mutex_init(&cuda->lanes[i].turn, NULL) == 0;
    return good;
}

struct status device_cuda_open(struct device **out, int ordinal, uint64_t limit)
{
    struct device_cuda *cuda = mem_alloc_zero(1, sizeof *cuda);
    if (cuda == NULL)
        return mem_failed("CUDA backend", 1, sizeof *cuda);
    cuda->device.operations = &OPERATIONS;
    cuda->ordinal = ordinal;
    cuda->limit = limit;
    if (!make_locks(cuda)) {
        mem_free(cuda);
        return status_error(STATUS_MEMORY, "no lock is left for CUDA device %d", ordinal);
    }
    struct status s = open_card(cuda);
    if (status_failed(&s))
        close_device(&cuda->device);
    else
        *out = &cuda->device;
    return s;
}

struct status device_cuda_facts(struct device_cuda_facts *out, struct device *device)
{
    struct device_cuda *cuda = cuda_of(device);
    struct status s = cuda_enter(cuda, true);
    memset(out, 0, sizeof *out);
    if (!status_failed(&s)) {
        size_t free_bytes = 0;
        s = cuda_available(&free_bytes, cuda);
        memcpy(out->name, cuda->info.name, sizeof out->name);
        memcpy(out->bus, cuda->info.bus, sizeof out->bus);
        memcpy(out->uuid, cuda->info.uuid, sizeof out->uuid);
        out->memory = cuda->limit > 0 && cuda->limit < cuda->info.bytes ? cuda->limit : cuda->info.bytes;
        out->free = free_bytes;
        out->arena = cuda->lanes[LANE_WIDE].arena_bytes;
        out->arena_urgent = cuda->lanes[LANE_URGENT].arena_bytes;
        for (const struct device_shape *d = cuda->shapes; d != NULL && !status_failed(&s); d = d->next) {
            struct proof_plan p;
            s = cuda_proof_plan(&p, d->shape, true, SIZE_MAX);
            if (!status_failed(&s) && p.least > out->arena_least)
                out->arena_least = p.least;
        }
    }
    return cuda_leave(cuda, s);
}

void device_cuda_clock(struct device *device, double (*now_ms)(void))
{
    cuda_of(device)->now_ms = now_ms;
}

size_t device_cuda_parts(struct device_cuda_part out[DEVICE_CUDA_PARTS], const struct device *device)
{
    const struct device_cuda *cuda = (const struct device_cuda *)device;
    if (cuda->last == NULL)
        return 0;
    memcpy(out, cuda->last->parts, sizeof cuda->last->parts);
    return cuda->last->parts_count;
}

struct status device_cuda_setup(struct device_srs **out, struct verifying_key *key, struct device *device,
                                struct device_shape *shape, const struct toxic *toxic)
{
    struct device_cuda *cuda = cuda_of(device);
    struct status s = cuda_enter(cuda, true);
    if (!status_failed(&s))
        s = cuda_setup(out, key, cuda, shape, toxic);
    return cuda_leave(cuda, s);
}

struct status device_cuda_points(void *out, struct device *device, const struct device_srs *srs,
                                 enum query query, size_t first, size_t count)
{
    struct device_cuda *cuda = cuda_of(device);
    size_t bytes = query_point_bytes(query);
    CHECK(srs->memory != NULL && first <= srs->counts.query[query] &&
          count <= srs->counts.query[query] - first);
    struct status s = cuda_enter(cuda, true);
    if (!status_failed(&s))
        s = gpu_download(out, srs->query[query] + first * bytes, count * bytes,
                         cuda->lanes[LANE_WIDE].stream);
    return cuda_leave(cuda, s);
}
