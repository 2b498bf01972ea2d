/* Opening .params files. Everything in the head of a file, the counts above all, is compared with the file's
 * length before it is used, so that no allocation and no read follows a lie. */
#include "groth16/params.h"

#include "base/blake2b.h"
#include "base/bytes.h"

#include <string.h>

#define DIGEST_STEP ((size_t)1 << 22) /* bytes hashed between looks at the cancel flag: about 5 ms */

const char *query_name(enum query query)
{
    static const char *const names[QUERY_COUNT] = {"h", "l", "a", "b_g1", "b_g2"};
    return names[query];
}

static size_t point_bytes(enum query query)
{
    return query == QUERY_B_G2 ? 192 : 96;
}

uint64_t params_file_bytes(const struct params_counts *counts)
{
    uint64_t bytes = vk_bytes(counts->ic);
    for (enum query q = 0; q < QUERY_COUNT; q++)
        bytes += 4 + (uint64_t)counts->query[q] * point_bytes(q);
    return bytes;
}

static struct status read_counts(struct params_file *file, const char *path)
{
    uint64_t at = vk_bytes(file->key.ic_count);
    file->counts.ic = file->key.ic_count;
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        uint64_t left = file->map.size - at;
        if (left < 4)
            return status_hint(
                status_error(STATUS_INVALID,
                             "cannot use parameter file \"%s\": it ends after %zu bytes, before query %s",
                             path, file->map.size, query_name(q)),
                "fetch it again, or check the disk");
        uint32_t count = load_be32(file->map.data + at);
        at += 4;
        if ((file->map.size - at) / point_bytes(q) < count)
            return status_hint(
                status_error(
                    STATUS_INVALID,
                    "cannot use parameter file \"%s\": it ends after %zu bytes, inside query %s of %u points",
                    path, file->map.size, query_name(q), count),
                "fetch it again, or check the disk");
        file->counts.query[q] = count;
        file->offset[q] = at;
        at += (uint64_t)count * point_bytes(q);
    }
    if (at != file->map.size)
        return status_hint(status_error(STATUS_INVALID,
                                        "cannot use parameter file \"%s\": %llu bytes follow its last query",
                                        path, (unsigned long long)(file->map.size - at)),
                           "it is not a parameter file of this format, or it has grown");
    if (file->counts.query[QUERY_B_G1] != file->counts.query[QUERY_B_G2])
        return status_error(STATUS_INVALID,
                            "cannot use parameter file \"%s\": queries b_g1 and b_g2 have %u and %u points",
                            path, file->counts.query[QUERY_B_G1], file->counts.query[QUERY_B_G2]);
    return status_ok();
}

static struct status parse(struct params_file *file, const char *path)
{
    size_t used;
    struct status s = vk_read(&file->key, file->map.data, file->map.size, &used);
    if (status_failed(&s))
        s = status_within(s, "cannot use parameter file \"%s\"", path);
    else
        s = read_counts(file, path);
    if (status_failed(&s))
        params_close(file);
    return s;
}

struct status params_open(struct params_file *out, const char *path)
{
    memset(out, 0, sizeof *out);
    TRY(file_map_open(&out->map, path));
    return parse(out, path);
}

struct status params_parse(struct params_file *out, const uint8_t *data, size_t size, const char *name)
{
    memset(out, 0, sizeof *out);
    out->map.data = data;
    out->map.size = size;
    out->borrowed = true;
    return parse(out, name);
}

void params_close(struct params_file *file)
{
    vk_end(&file->key);
    if (!file->borrowed)
        file_map_close(&file->map);
    file->map.data = NULL;
}

struct status params_match(const struct params_counts *have, const struct params_counts *want,
                           const char *path, const char *circuit)
{
    const char *array = NULL;
    uint32_t had = have->ic, wanted = want->ic;
    if (had != wanted)
        array = "ic";
    for (enum query q = 0; q < QUERY_COUNT && array == NULL; q++) {
        had = have->query[q];
        wanted = want->query[q];
        if (had != wanted)
            array = query_name(q);
    }
    if (array == NULL)
        return status_ok();
    return status_hint(
        status_error(
            STATUS_INVALID,
            "parameter file \"%s\" is not for circuit %s: array %s has %u points, the circuit wants %u", path,
            circuit, array, had, wanted),
        "`cuzk inspect params` tells what a file holds");
}

struct status params_digest(uint8_t out[PARAMS_DIGEST_BYTES], const struct file_map *map,
                            const struct work *work, atomic_ullong *done)
{
    struct blake2b h;
    TRY(blake2b_begin(&h));
    struct status s = status_ok();
    for (size_t at = 0; at < map->size && !status_failed(&s);) {
        size_t step = map->size - at < DIGEST_STEP ? map->size - at : DIGEST_STEP;
        if (work_cancelled(work)) {
            s = work_cancelled_status();
            break;
        }
        s = blake2b_add(&h, map->data + at, step);
        at += step;
        if (done != NULL)
            atomic_fetch_add_explicit(done, step, memory_order_relaxed);
    }
    if (status_failed(&s)) {
        blake2b_abandon(&h);
        return s;
    }
    return blake2b_end(&h, out);
}
