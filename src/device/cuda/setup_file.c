/* A parameter set made on the card, as files: points come down a block at a time and are encoded by the pool
 * while nothing else is held of them. What it costs is the encoding and the disk. */
#include "device/cuda/backend_internal.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "curve/encoding.h"

#define BLOCK_POINTS  ((size_t)1 << 17) /* 50 MB of buffers */
#define ENCODE_POINTS ((size_t)4096)    /* a task */

struct files {
    struct device *device;
    const struct device_srs *srs;
    const struct work *work;
    atomic_ullong *done;
    struct file_writer writer;
    void *points;
    uint8_t *bytes;
};

struct encode {
    const struct files *files;
    size_t count;
    bool g2;
};

static void encode_task(void *context, size_t task)
{
    const struct encode *e = context;
    size_t first = task * ENCODE_POINTS,
           n = e->count - first < ENCODE_POINTS ? e->count - first : ENCODE_POINTS;
    if (e->g2)
        g2_to_uncompressed_many(e->files->bytes + 192 * first, (const g2_affine *)e->files->points + first,
                                n);
    else
        g1_to_uncompressed_many(e->files->bytes + 96 * first, (const g1_affine *)e->files->points + first, n);
}

static struct status write_query(struct files *f, enum query q)
{
    uint8_t count[4];
    size_t left = f->srs->counts.query[q], first = 0;
    struct encode e = {.files = f, .g2 = q == QUERY_B_G2};
    store_be32(count, f->srs->counts.query[q]);
    TRY(file_writer_add(&f->writer, count, sizeof count));
    for (; left > 0; left -= e.count, first += e.count) {
        e.count = left < BLOCK_POINTS ? left : BLOCK_POINTS;
        TRY(device_cuda_points(f->points, f->device, f->srs, q, first, e.count));
        if (!pool_run(f->work, encode_task, &e, (e.count + ENCODE_POINTS - 1) / ENCODE_POINTS))
            return work_cancelled_status();
        TRY(file_writer_add(&f->writer, f->bytes, e.count * (e.g2 ? 192 : 96)));
        if (f->done != NULL)
            atomic_fetch_add_explicit(f->done, e.count, memory_order_relaxed);
    }
    return status_ok();
}

static struct status write_vk(const char *path, const uint8_t *bytes, size_t size)
{
    struct file_writer writer;
    TRY(file_writer_open(&writer, path));
    struct status s = file_writer_add(&writer, bytes, size);
    if (!status_failed(&s))
        return file_writer_finish(&writer);
    file_writer_abandon(&writer);
    return s;
}

static struct status write_all(struct files *f, const uint8_t *key, size_t key_size, const char *vk_path)
{
    f->points = mem_alloc(BLOCK_POINTS, sizeof(g2_affine));
    f->bytes = mem_alloc(BLOCK_POINTS, 192);
    if (f->points == NULL || f->bytes == NULL)
        return mem_failed("setup", BLOCK_POINTS, sizeof(g2_affine) + 192);
    TRY(file_writer_add(&f->writer, key, key_size));
    if (vk_path != NULL)
        TRY(write_vk(vk_path, key, key_size));
    if (f->done != NULL)
        atomic_fetch_add_explicit(f->done, f->srs->counts.ic, memory_order_relaxed);
    for (enum query q = 0; q < QUERY_COUNT; q++)
        TRY(write_query(f, q));
    return status_ok();
}

static struct status write_files(struct files *f, const struct verifying_key *key, const char *params_path,
                                 const char *vk_path)
{
    size_t size = vk_bytes(key->ic_count);
    uint8_t *bytes = mem_alloc(size, 1);
    if (bytes == NULL)
        return mem_failed("verifying key", size, 1);
    vk_write(bytes, key);
    struct status s = file_writer_open(&f->writer, params_path);
    if (!status_failed(&s)) {
        s = write_all(f, bytes, size, vk_path);
        if (status_failed(&s))
            file_writer_abandon(&f->writer);
        else
            s = file_writer_finish(&f->writer);
    }
    mem_free(f->points);
    mem_free(f->bytes);
    mem_free(bytes);
    return s;
}

struct status cuda_setup_files(const char *params_path, const char *vk_path, struct device *device,
                               struct device_shape *shape, const struct toxic *toxic, const struct work *work,
                               atomic_ullong *done)
{
    struct device_srs *srs;
    struct verifying_key key;
    TRY(device_cuda_setup(&srs, &key, device, shape, toxic));
    struct files f = {.device = device, .srs = srs, .work = work, .done = done};
    struct status s = write_files(&f, &key, params_path, vk_path);
    vk_end(&key);
    device->operations->drop_srs(device, srs);
    return s;
}
