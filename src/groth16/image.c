/* The resident image: all points of a parameter set, decoded. One allocation (or one mapping) holds the
 * queries in the order of use, each from a page boundary, so that a device may copy or stream them as they
 * lie.
 *
 * Layout (docs/params.md): a head of 4,096 bytes; the verifying key in its file form; then h, l, a, b_g1,
 * b_g2; every part starts at a multiple of 4,096. In a file the head carries the digest of the rest. */
#include "groth16/params.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "curve/encoding.h"

#include <limits.h>
#include <string.h>

#define PAGE          4096u
#define HEAD_VERSION  1u
#define DECODE_POINTS 8192u /* a task: about 5 ms */

static const char HEAD_MAGIC[8] = {'c', 'u', 'z', 'k', 'i', 'm', 'g', '\n'};

/* Offsets in the head. */
enum {
    HEAD_AT_MAGIC = 0,
    HEAD_AT_VERSION = 8,
    HEAD_AT_IC = 12,
    HEAD_AT_QUERIES = 16,
    HEAD_AT_SIZE = 40,
    HEAD_AT_SOURCE = 64,
    HEAD_AT_CONTENT = 128,
    HEAD_AT_SELF = 192, /* BLAKE2b-512 of the 192 bytes before */
    HEAD_END = 256
};

struct layout {
    uint64_t key, query[QUERY_COUNT], size;
};

static uint64_t page_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static uint64_t image_point_bytes(enum query q)
{
    return q == QUERY_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine);
}

static struct layout layout_of(const struct params_counts *counts)
{
    struct layout l;
    l.key = PAGE;
    uint64_t at = l.key + page_up(vk_bytes(counts->ic));
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        l.query[q] = at;
        at += page_up((uint64_t)counts->query[q] * image_point_bytes(q));
    }
    l.size = at;
    return l;
}

uint64_t image_bytes(const struct params_counts *counts)
{
    return layout_of(counts).size;
}

static void set_pointers(struct image *image, const uint8_t *base)
{
    struct layout l = layout_of(&image->counts);
    image->h = (const g1_affine *)(const void *)(base + l.query[QUERY_H]);
    image->l = (const g1_affine *)(const void *)(base + l.query[QUERY_L]);
    image->a = (const g1_affine *)(const void *)(base + l.query[QUERY_A]);
    image->b_g1 = (const g1_affine *)(const void *)(base + l.query[QUERY_B_G1]);
    image->b_g2 = (const g2_affine *)(const void *)(base + l.query[QUERY_B_G2]);
}

/* ---- decoding ---- */

struct decode {
    const struct params_file *file;
    uint8_t *base; /* NULL: points are checked and dropped */
    struct layout layout;
    size_t first_task[QUERY_COUNT + 1];
    bool subgroup;
    atomic_bool no_memory;
    atomic_ullong *done;
    /* The first bad point in file order: query << 32 | index, and why. */
    atomic_ullong bad;
};

static void note_bad(struct decode *d, enum query q, size_t index)
{
    unsigned long long mine = (unsigned long long)q << 32 | index, seen = atomic_load(&d->bad);
    while (mine < seen && !atomic_compare_exchange_weak(&d->bad, &seen, mine))
        ;
}

/* Points of one query into target. */
static void decode_range(struct decode *d, enum query q, size_t first, size_t count, uint8_t *target)
{
    const uint8_t *source = d->file->map.data + d->file->offset[q];
    enum point_error error;
    size_t good = 0;
    if (q == QUERY_B_G2) {
        g2_affine *out = (g2_affine *)(void *)target;
        good = g2_from_uncompressed_many(out, source + 192 * first, count, &error);
        for (size_t i = 0; d->subgroup && i < good; i++)
            if (!g2_in_subgroup(&out[i]))
                good = i;
    } else {
        g1_affine *out = (g1_affine *)(void *)target;
        good = g1_from_uncompressed_many(out, source + 96 * first, count, &error);
        for (size_t i = 0; d->subgroup && i < good; i++)
            if (!g1_in_subgroup(&out[i]))
                good = i;
    }
    if (good < count)
        note_bad(d, q, first + good);
    if (d->done != NULL)
        atomic_fetch_add_explicit(d->done, count, memory_order_relaxed);
}

static size_t decode_grain(const struct decode *d)
{
    return d->subgroup ? DECODE_POINTS / 64 : DECODE_POINTS;
}

static void decode_task(void *context, size_t task)
{
    struct decode *d = context;
    enum query q = 0;
    while (task >= d->first_task[q + 1])
        q++;
    size_t first = (task - d->first_task[q]) * decode_grain(d), n = d->file->counts.query[q];
    size_t count = n - first < decode_grain(d) ? n - first : decode_grain(d);
    size_t point = q == QUERY_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine);
    if (d->base != NULL) {
        decode_range(d, q, first, count, d->base + d->layout.query[q] + first * point);
        return;
    }
    uint8_t *scratch = mem_alloc(count, point);
    if (scratch == NULL)
        atomic_store(&d->no_memory, true);
    else
        decode_range(d, q, first, count, scratch);
    mem_free(scratch);
}

/* Decodes the bad point once more, to say what is wrong with it. */
static struct status bad_point(const struct decode *d)
{
    unsigned long long bad = atomic_load(&d->bad);
    enum query q = (enum query)(bad >> 32);
    size_t index = (size_t)(bad & UINT32_MAX);
    const uint8_t *bytes = d->file->map.data + d->file->offset[q] + index * (q == QUERY_B_G2 ? 192 : 96);
    g1_affine p1;
    g2_affine p2;
    enum point_error error = q == QUERY_B_G2 ? g2_from_uncompressed(&p2, bytes, d->subgroup)
                                             : g1_from_uncompressed(&p1, bytes, d->subgroup);
    return status_hint(status_error(STATUS_INVALID, "parameter file is damaged: query %s, point %zu: %s",
                                    query_name(q), index,
                                    error == POINT_OK ? "point at infinity" : point_error_text(error)),
                       "fetch the file again, or check the disk");
}

/* The image's own copy of the key: the ic array is owned by each. */
static struct status copy_key(struct verifying_key *out, const struct verifying_key *key)
{
    *out = *key;
    out->ic = mem_alloc(key->ic_count, sizeof *out->ic);
    if (out->ic == NULL) {
        out->ic_count = 0;
        return mem_failed("verifying key", key->ic_count, sizeof *out->ic);
    }
    memcpy(out->ic, key->ic, key->ic_count * sizeof *out->ic);
    return status_ok();
}

static struct status decode_all(struct decode *d, const struct work *work)
{
    size_t tasks = 0;
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        d->first_task[q] = tasks;
        tasks += (d->file->counts.query[q] + decode_grain(d) - 1) / decode_grain(d);
    }
    d->first_task[QUERY_COUNT] = tasks;
    if (!pool_run(work, decode_task, d, tasks))
        return work_cancelled_status();
    if (atomic_load(&d->bad) != ULLONG_MAX)
        return bad_point(d);
    return atomic_load(&d->no_memory) ? mem_failed("points", decode_grain(d), sizeof(g2_affine))
                                      : status_ok();
}

struct status params_check_points(const struct params_file *file, bool subgroup, const struct work *work,
                                  atomic_ullong *done)
{
    struct decode d = {.file = file, .subgroup = subgroup, .done = done};
    atomic_init(&d.bad, ULLONG_MAX);
    return decode_all(&d, work);
}

struct status image_decode(struct image *out, const struct params_file *file, bool subgroup,
                           const struct work *work, atomic_ullong *done)
{
    memset(out, 0, sizeof *out);
    out->counts = file->counts;
    struct decode d = {.file = file, .layout = layout_of(&file->counts), .subgroup = subgroup, .done = done};
    atomic_init(&d.bad, ULLONG_MAX);
    d.base = mem_alloc(d.layout.size, 1);
    if (d.base == NULL)
        return mem_failed("parameters", d.layout.size, 1);
    out->memory = d.base;
    memset(d.base, 0, PAGE);
    set_pointers(out, d.base);
    struct status s = decode_all(&d, work);
    if (!status_failed(&s))
        s = copy_key(&out->key, &d.file->key);
    if (status_failed(&s))
        image_end(out);
    return s;
}

/* ---- saving ---- */

static void write_head(uint8_t head[PAGE], const struct image *image, const uint8_t content[64])
{
    memset(head, 0, PAGE);
    memcpy(head + HEAD_AT_MAGIC, HEAD_MAGIC, sizeof HEAD_MAGIC);
    store_le32(head + HEAD_AT_VERSION, HEAD_VERSION);
    store_le32(head + HEAD_AT_IC, image->counts.ic);
    for (enum query q = 0; q < QUERY_COUNT; q++)
        store_le32(head + HEAD_AT_QUERIES + 4 * q, image->counts.query[q]);
    store_le64(head + HEAD_AT_SIZE, image_bytes(&image->counts));
    memcpy(head + HEAD_AT_SOURCE, image->source_digest, PARAMS_DIGEST_BYTES);
    memcpy(head + HEAD_AT_CONTENT, content, 64);
}

/* Something that the image's parts are handed to in order, padding included. */
typedef struct status part_sink(void *context, const void *data, size_t size);

static struct status emit(part_sink *sink, void *context, const struct work *work, const void *data,
                          uint64_t size)
{
    const uint8_t *bytes = data;
    for (uint64_t at = 0; at < size;) {
        size_t step = size - at < ((uint64_t)1 << 22) ? (size_t)(size - at) : (size_t)1 << 22;
        if (work_cancelled(work))
            return work_cancelled_status();
        TRY(sink(context, bytes + at, step));
        at += step;
    }
    static const uint8_t zeros[PAGE];
    return sink(context, zeros, (size_t)(page_up(size) - size));
}

static struct status emit_parts(part_sink *sink, void *context, const struct image *image,
                                const struct work *work)
{
    size_t key_bytes = vk_bytes(image->counts.ic);
    uint8_t *key = mem_alloc(key_bytes, 1);
    if (key == NULL)
        return mem_failed("verifying key", key_bytes, 1);
    vk_write(key, &image->key);
    struct status s = emit(sink, context, work, key, key_bytes);
    mem_free(key);
    const void *query[QUERY_COUNT] = {image->h, image->l, image->a, image->b_g1, image->b_g2};
    for (enum query q = 0; q < QUERY_COUNT && !status_failed(&s); q++)
        s = emit(sink, context, work, query[q], image->counts.query[q] * image_point_bytes(q));
    return s;
}

static struct status hash_sink(void *context, const void *data, size_t size)
{
    return blake2b_add(context, data, size);
}

static struct status write_sink(void *context, const void *data, size_t size)
{
    return file_writer_add(context, data, size);
}

static struct status content_digest(uint8_t out[64], const struct image *image, const struct work *work)
{
    struct blake2b h;
    TRY(blake2b_begin(&h));
    struct status s = emit_parts(hash_sink, &h, image, work);
    if (status_failed(&s)) {
        blake2b_abandon(&h);
        return s;
    }
    return blake2b_end(&h, out);
}

struct status image_save(const struct image *image, const char *path, const struct work *work)
{
    uint8_t content[64], head[PAGE];
    TRY(content_digest(content, image, work));
    write_head(head, image, content);
    TRY(blake2b(head + HEAD_AT_SELF, head, HEAD_AT_SELF));
    struct file_writer writer;
    TRY(file_writer_open(&writer, path));
    struct status s = file_writer_add(&writer, head, PAGE);
    if (!status_failed(&s))
        s = emit_parts(write_sink, &writer, image, work);
    if (!status_failed(&s))
        return file_writer_finish(&writer);
    file_writer_abandon(&writer);
    return s;
}

/* ---- mapping a saved image ---- */

static struct status head_status(const char *path, const char *why)
{
    return status_hint(status_error(STATUS_INVALID, "cannot use parameter image \"%s\": %s", path, why),
                       "remove it; it is made again from the parameter file");
}

static struct status read_head(struct image *out, const char *path, const uint8_t *source)
{
    const uint8_t *head = out->map.data;
    uint8_t self[64];
    if (out->map.size < PAGE || memcmp(head, HEAD_MAGIC, sizeof HEAD_MAGIC) != 0)
        return head_status(path, "it is not one");
    TRY(blake2b(self, head, HEAD_AT_SELF));
    if (memcmp(self, head + HEAD_AT_SELF, 64) != 0)
        return head_status(path, "its head is damaged");
    if (load_le32(head + HEAD_AT_VERSION) != HEAD_VERSION)
        return head_status(path, "its version is not known");
    out->counts.ic = load_le32(head + HEAD_AT_IC);
    for (enum query q = 0; q < QUERY_COUNT; q++)
        out->counts.query[q] = load_le32(head + HEAD_AT_QUERIES + 4 * q);
    memcpy(out->source_digest, head + HEAD_AT_SOURCE, PARAMS_DIGEST_BYTES);
    if (out->map.size != image_bytes(&out->counts) || load_le64(head + HEAD_AT_SIZE) != out->map.size)
        return head_status(path, "its length does not fit its counts");
    if (source != NULL && memcmp(source, out->source_digest, PARAMS_DIGEST_BYTES) != 0)
        return head_status(path, "it was made from another parameter file");
    return status_ok();
}

static struct status map_checked(struct image *out, const char *path, const uint8_t *source,
                                 bool check_content, const struct work *work)
{
    TRY(read_head(out, path, source));
    size_t used;
    struct status s = vk_read(&out->key, out->map.data + PAGE, vk_bytes(out->counts.ic), &used);
    if (status_failed(&s))
        return status_within(s, "cannot use parameter image \"%s\"", path);
    if (out->key.ic_count != out->counts.ic)
        return head_status(path, "its key has another count of inputs");
    set_pointers(out, out->map.data);
    if (!check_content)
        return status_ok();
    uint8_t content[64];
    TRY(content_digest(content, out, work));
    if (memcmp(content, out->map.data + HEAD_AT_CONTENT, 64) != 0)
        return head_status(path, "its content is damaged");
    return status_ok();
}

struct status image_map(struct image *out, const char *path, const uint8_t source[PARAMS_DIGEST_BYTES],
                        bool check_content, const struct work *work)
{
    memset(out, 0, sizeof *out);
    TRY(file_map_open(&out->map, path));
    struct status s = map_checked(out, path, source, check_content, work);
    if (status_failed(&s))
        image_end(out);
    return s;
}

void image_end(struct image *image)
{
    vk_end(&image->key);
    mem_free(image->memory);
    if (image->map.data != NULL)
        file_map_close(&image->map);
    memset(image, 0, sizeof *image);
}
