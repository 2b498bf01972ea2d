/* A parameter set from its file straight into the card: bytes through the pinned buffers, decoded and checked
 * there. Nothing of it stays on the host but the key. */
#include "device/cuda/backend_internal.h"
#include "device/cuda/decode.h"

#include "base/mem.h"
#include "curve/encoding.h"

#include <string.h>

#define COPY_BYTES ((size_t)1 << 20) /* a task: the file may not be in memory yet */

struct copy {
    char *to;
    const uint8_t *from;
    size_t bytes;
};

static void copy_task(void *context, size_t task)
{
    const struct copy *c = context;
    size_t at = task * COPY_BYTES, n = c->bytes - at < COPY_BYTES ? c->bytes - at : COPY_BYTES;
    memcpy(c->to + at, c->from + at, n);
}

struct loading {
    struct device_cuda *cuda;
    struct device_srs *srs;
    const struct params_file *file;
    const struct work *work;
    uint64_t *bad_dev;
    atomic_ullong *done;
};

static struct status damaged(const struct loading *l, enum query q, uint64_t index)
{
    const uint8_t *bytes = l->file->map.data + l->file->offset[q] + index * query_point_bytes(q);
    g1_affine p1;
    g2_affine p2;
    enum point_error error =
        q == QUERY_B_G2 ? g2_from_uncompressed(&p2, bytes, false) : g1_from_uncompressed(&p1, bytes, false);
    return status_hint(status_error(STATUS_INVALID, "parameter file is damaged: query %s, point %llu: %s",
                                    query_name(q), (unsigned long long)index,
                                    error == POINT_OK ? "point at infinity" : point_error_text(error)),
                       "fetch the file again, or check the disk");
}

static struct status load_query(struct loading *l, enum query q)
{
    struct device_cuda *cuda = l->cuda;
    size_t each = query_point_bytes(q), piece = STAGING_BYTES / each, count = l->file->counts.query[q];
    char *to = (char *)l->srs->memory + (l->srs->query[q] - (const char *)l->srs->memory);
    uint64_t bad = UINT64_MAX;
    int at = 0;
    TRY(gpu_fill(l->bad_dev, 0xff, sizeof bad, cuda->copies[0]));
    TRY(gpu_wait(cuda->copies[0]));
    for (size_t first = 0, n; first < count; first += n, at = 1 - at) {
        n = count - first < piece ? count - first : piece;
        struct copy copy = {cuda->staging[at], l->file->map.data + l->file->offset[q] + first * each,
                            n * each};
        TRY(gpu_wait(cuda->copies[at]));
        if (!pool_run(l->work, copy_task, &copy, (copy.bytes + COPY_BYTES - 1) / COPY_BYTES))
            return work_cancelled_status();
        TRY(gpu_upload(to + first * each, cuda->staging[at], copy.bytes, cuda->copies[at]));
        TRY(gpu_decode_points(to + first * each, n, q == QUERY_B_G2, first, l->bad_dev, cuda->copies[at]));
        if (l->done != NULL)
            atomic_fetch_add_explicit(l->done, n, memory_order_relaxed);
    }
    for (int i = 0; i < 2; i++)
        TRY(gpu_wait(cuda->copies[i]));
    TRY(gpu_download(&bad, l->bad_dev, sizeof bad, cuda->copies[0]));
    return bad == UINT64_MAX ? status_ok() : damaged(l, q, bad);
}

static struct status load_all(struct loading *l)
{
    struct status s = status_ok();
    for (enum query q = 0; q < QUERY_COUNT && !status_failed(&s); q++)
        s = load_query(l, q);
    for (int i = 0; i < 2 && status_failed(&s) && s.code != STATUS_DEVICE; i++) {
        struct status wait = gpu_wait(l->cuda->copies[i]); /* staging is free again */
        if (status_failed(&wait))
            return wait;
    }
    return s;
}

struct status cuda_load_params(struct device_srs **out, struct device *device, const struct params_file *file,
                               const struct work *work, atomic_ullong *done)
{
    struct device_cuda *cuda = cuda_of(device);
    struct loading l = {.cuda = cuda, .file = file, .work = work, .done = done};
    pthread_mutex_lock(&cuda->loading);
    struct status s = cuda_enter(cuda, true);
    if (!status_failed(&s))
        s = cuda_place_srs(&l.srs, cuda, &file->counts, true);
    if (!status_failed(&s))
        s = cuda_alloc(cuda, (void **)&l.bad_dev, sizeof *l.bad_dev, "a flag");
    s = cuda_leave(cuda, s);
    if (!status_failed(&s)) {
        s = cuda_enter(cuda, false);
        if (!status_failed(&s))
            s = load_all(&l);
        s = cuda_leave(cuda, s);
    }
    gpu_free(l.bad_dev);
    if (status_failed(&s))
        cuda_drop_srs(l.srs);
    else
        *out = l.srs;
    pthread_mutex_unlock(&cuda->loading);
    return s;
}
