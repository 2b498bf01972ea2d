/* See open.h. */
#include "api/open.h"

#include "api/internal.h"
#include "base/hex.h"
#include "groth16/setup.h"

#include <stdio.h>
#include <string.h>

#define IMAGE_SUFFIX ".image"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The published digest of this circuit's file, or admitted as test parameters. */
static struct status check_trust(const struct open_options *o, const uint8_t digest[PARAMS_DIGEST_BYTES])
{
    char name[PARAMETER_NAME_MAX + 16];
    parameter_name(name, o->kind, o->sector);
    strcat(name, ".params");
    const struct manifest_entry *entry = manifest_by_file(name);
    if (entry != NULL && memcmp(entry->digest, digest, sizeof entry->digest) == 0)
        return status_ok();
    if (o->flags & CUZK_ALLOW_TEST_PARAMS)
        return status_ok();
    char hex[33];
    hex_encode(hex, digest, 16);
    for (uint32_t i = 0; i < o->trusted_count; i++)
        if (strcmp(o->trusted[i], hex) == 0)
            return status_ok();
    struct status s =
        status_error(STATUS_UNTRUSTED,
                     "parameter file \"%s\" is not trusted: its digest %s is not the published one of %s",
                     base_name(o->path), hex, o->circuit);
    return status_hint(s, "fetch the published file again, or admit test parameters with %s", o->admit_hint);
}

static struct status map_image(struct image *out, const struct open_options *o, const char *image_path,
                               const uint8_t digest[PARAMS_DIGEST_BYTES])
{
    struct file_map map;
    uint8_t remembered[PARAMS_DIGEST_BYTES];
    TRY(file_map_open(&map, image_path));
    bool known = api_digest_recall(remembered, &map, image_path, o->state_dir) &&
                 memcmp(remembered, digest, PARAMS_DIGEST_BYTES) == 0;
    struct status s = image_map(out, image_path, digest, !known, &o->work);
    if (!status_failed(&s) && !known)
        api_digest_remember(&map, image_path, o->state_dir, digest);
    file_map_close(&map);
    return s;
}

static struct status decode_image(struct image *out, const struct open_options *o,
                                  const struct params_file *file, const uint8_t digest[PARAMS_DIGEST_BYTES],
                                  const char *image_path)
{
    uint64_t points = 0;
    for (enum query q = 0; q < QUERY_COUNT; q++)
        points += file->counts.query[q];
    struct api_progress p;
    api_progress_start(&p, o->progress, o->context, "decoding parameters", points);
    struct status s = image_decode(out, file, (o->flags & CUZK_CHECK_SUBGROUP) != 0, &o->work, &p.done);
    api_progress_end(&p);
    if (status_failed(&s))
        return status_within(s, "\"%s\"", base_name(o->path));
    memcpy(out->source_digest, digest, PARAMS_DIGEST_BYTES);
    if (o->flags & CUZK_SAVE_IMAGE)
        s = image_save(out, image_path, &o->work);
    if (status_failed(&s))
        image_end(out);
    return s;
}

/* Straight to the device; STATUS_MEMORY or STATUS_UNSUPPORTED: another way must do. Takes the file's key. */
static struct status load_on_device(struct image *out, const struct open_options *o, struct params_file *file,
                                    const uint8_t digest[PARAMS_DIGEST_BYTES])
{
    uint64_t points = 0;
    if (o->device == NULL || o->device->operations->load_params == NULL ||
        (o->flags & (CUZK_SAVE_IMAGE | CUZK_CHECK_SUBGROUP)) != 0)
        return status_error(STATUS_UNSUPPORTED, "not on a device");
    for (enum query q = 0; q < QUERY_COUNT; q++)
        points += file->counts.query[q];
    struct api_progress p;
    api_progress_start(&p, o->progress, o->context, "loading parameters", points);
    struct status s = o->device->operations->load_params(o->loaded, o->device, file, &o->work, &p.done);
    api_progress_end(&p);
    if (status_failed(&s))
        return s.code == STATUS_INVALID ? status_within(s, "\"%s\"", base_name(o->path)) : s;
    *out = (struct image){.counts = file->counts, .key = file->key};
    file->key.ic = NULL;
    file->key.ic_count = 0;
    memcpy(out->source_digest, digest, PARAMS_DIGEST_BYTES);
    return s;
}

/* In the host's memory, mapped or decoded; unless the device takes the points. */
static struct status open_points(struct image *out, const struct open_options *o, struct params_file *file,
                                 const uint8_t digest[PARAMS_DIGEST_BYTES], const char *image_path)
{
    struct status s = o->flags & CUZK_CHECK_SUBGROUP ? status_error(STATUS_MISSING, "not asked for")
                                                     : map_image(out, o, image_path, digest);
    if (!status_failed(&s))
        return s;
    s = load_on_device(out, o, file, digest);
    if (s.code != STATUS_MEMORY && s.code != STATUS_UNSUPPORTED)
        return s;
    return decode_image(out, o, file, digest, image_path);
}

struct status api_open_image(struct image *out, const struct open_options *o)
{
    struct params_file file;
    struct params_counts want;
    uint8_t digest[PARAMS_DIGEST_BYTES];
    char image_path[4096];
    if (snprintf(image_path, sizeof image_path, "%s" IMAGE_SUFFIX, o->path) >= (int)sizeof image_path)
        return status_error(STATUS_INVALID, "path of the parameter file is longer than %zu bytes",
                            sizeof image_path);
    TRY(params_open(&file, o->path));
    shape_params_counts(&want, o->shape);
    struct status s = params_match(&file.counts, &want, o->path, o->circuit);
    if (!status_failed(&s))
        s = api_params_digest(digest, &file.map, o->path, o->state_dir, &o->work, o->progress, o->context);
    if (!status_failed(&s))
        s = check_trust(o, digest);
    if (!status_failed(&s))
        s = open_points(out, o, &file, digest, image_path);
    params_close(&file);
    return s;
}

struct status api_parameter_path(char *path, size_t size, enum proof_kind kind,
                                 const struct sector_size *sector, const char *directory,
                                 const char *extension)
{
    char name[PARAMETER_NAME_MAX];
    parameter_name(name, kind, sector);
    int n = snprintf(path, size, "%s/%s.%s", directory, name, extension);
    if (n < 0 || (size_t)n >= size)
        return status_error(STATUS_INVALID, "path of the parameter file does not fit %zu bytes", size);
    return status_ok();
}
