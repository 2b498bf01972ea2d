/* Opening parameters: trust first, then points. The image that is saved beside a file is used only if it is
 * bound to the file's digest and its own content digest holds (remembered like the file's). */
#include "api/internal.h"

#include "base/mem.h"
#include "groth16/setup.h"

#include <stdio.h>
#include <string.h>

#define IMAGE_SUFFIX ".image"

struct opening {
    struct cuzk *cuzk;
    const struct cuzk_circuit *circuit;
    const char *path, *state_dir;
    uint32_t flags;
    cuzk_progress *progress;
    void *context;
    struct work work;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The published digest of this circuit's file, or admitted as test parameters. */
static struct status check_trust(const struct opening *o, const uint8_t digest[PARAMS_DIGEST_BYTES])
{
    char name[PARAMETER_NAME_MAX + 16];
    parameter_name(name, o->circuit->kind, o->circuit->sector);
    strcat(name, ".params");
    const struct manifest_entry *entry = manifest_by_file(name);
    if (entry != NULL && memcmp(entry->digest, digest, sizeof entry->digest) == 0)
        return status_ok();
    if (o->flags & CUZK_ALLOW_TEST_PARAMS)
        return status_ok();
    char hex[33];
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    struct status s =
        status_error(STATUS_UNTRUSTED,
                     "parameter file \"%s\" is not trusted: its digest %s is not the published one of %s",
                     base_name(o->path), hex, o->circuit->name);
    return status_hint(s,
                       "fetch the published file again, or admit test parameters with --allow-test-params");
}

static struct status map_image(struct image *out, const struct opening *o, const char *image_path,
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

static struct status decode_image(struct image *out, const struct opening *o, const struct params_file *file,
                                  const uint8_t digest[PARAMS_DIGEST_BYTES], const char *image_path)
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

static struct status open_image(struct image *out, const struct opening *o)
{
    struct params_file file;
    struct params_counts want;
    uint8_t digest[PARAMS_DIGEST_BYTES];
    char image_path[4096];
    if (snprintf(image_path, sizeof image_path, "%s" IMAGE_SUFFIX, o->path) >= (int)sizeof image_path)
        return status_error(STATUS_INVALID, "path of the parameter file is longer than %zu bytes",
                            sizeof image_path);
    TRY(params_open(&file, o->path));
    shape_params_counts(&want, o->circuit->shape);
    struct status s = params_match(&file.counts, &want, o->path, o->circuit->name);
    if (!status_failed(&s))
        s = api_params_digest(digest, &file.map, o->path, o->state_dir, &o->work, o->progress, o->context);
    if (!status_failed(&s))
        s = check_trust(o, digest);
    if (!status_failed(&s)) {
        struct status mapped = o->flags & CUZK_CHECK_SUBGROUP ? status_error(STATUS_MISSING, "not asked for")
                                                              : map_image(out, o, image_path, digest);
        if (status_failed(&mapped))
            s = decode_image(out, o, &file, digest, image_path);
    }
    params_close(&file);
    return s;
}

enum cuzk_code cuzk_params_open(struct cuzk_params **out, struct cuzk *cuzk,
                                const struct cuzk_circuit *circuit, const char *path, const char *state_dir,
                                uint32_t flags, cuzk_progress *progress, void *context,
                                struct cuzk_error *error)
{
    *out = NULL;
    struct status s = status_ok();
    struct opening o = {cuzk,  circuit,  path,    state_dir,
                        flags, progress, context, api_work(cuzk, PRIORITY_NORMAL)};
    struct cuzk_params *params = mem_alloc_zero(1, sizeof *params);
    if (params == NULL) {
        s = mem_failed("parameters", 1, sizeof *params);
        return api_result(&s, error);
    }
    params->circuit = circuit;
    s = open_image(&params->image, &o);
    if (!status_failed(&s))
        s = cuzk->device->operations->load_srs(&params->loaded, cuzk->device, &params->image);
    if (status_failed(&s)) {
        image_end(&params->image);
        mem_free(params);
        return api_result(&s, error);
    }
    params->device = cuzk->device;
    *out = params;
    return CUZK_OK;
}

void cuzk_params_close(struct cuzk_params *params)
{
    if (params == NULL)
        return;
    params->device->operations->drop_srs(params->device, params->loaded);
    image_end(&params->image);
    mem_free(params);
}

static struct status params_path(char *path, size_t size, enum proof_kind kind,
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

enum cuzk_code cuzk_params_path(char *path, size_t size, const char *circuit, const char *directory,
                                struct cuzk_error *error)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    struct status s = api_circuit(&kind, &sector, circuit);
    if (!status_failed(&s))
        s = params_path(path, size, kind, sector, directory, "params");
    return api_result(&s, error);
}

enum cuzk_code cuzk_setup(struct cuzk *cuzk, const struct cuzk_circuit *circuit, const char *directory,
                          const char *test_seed, cuzk_progress *progress, void *context,
                          struct cuzk_error *error)
{
    char params[4096], vk[4096];
    struct toxic toxic;
    struct status s = params_path(params, sizeof params, circuit->kind, circuit->sector, directory, "params");
    if (!status_failed(&s))
        s = params_path(vk, sizeof vk, circuit->kind, circuit->sector, directory, "vk");
    if (!status_failed(&s))
        s = test_seed == NULL ? toxic_random(&toxic) : toxic_from_name(&toxic, test_seed);
    if (!status_failed(&s)) {
        struct work work = api_work(cuzk, PRIORITY_NORMAL);
        struct api_progress p;
        api_progress_start(&p, progress, context, "making parameters", setup_steps(circuit->shape));
        s = setup_run(params, vk, circuit->shape, &toxic, NULL, &work, &p.done);
        api_progress_end(&p);
    }
    toxic_wipe(&toxic);
    return api_result(&s, error);
}
