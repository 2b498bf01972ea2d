/* cuzk inspect: what a file holds, and whether it is sound, without proving anything. */
#include "cmd/cuzk/inspect.h"

#include "base/blake2b.h"
#include "base/mem.h"
#include "base/pool.h"
#include "filecoin/registry.h"
#include "gadget/expanders.h"
#include "groth16/params.h"
#include "groth16/proof.h"
#include "r1cs/shape.h"

#include <stdio.h>
#include <string.h>

#define SMALL_FILE_MAX ((size_t)64 << 20)

static const char *published_name(const uint8_t digest[64])
{
    const struct manifest_entry *entry = manifest_by_digest(digest);
    return entry == NULL ? "no: not a published file" : entry->file;
}

int inspect_failed(const struct inspect *in, const struct status *s)
{
    struct cuzk_error error = {.code = (enum cuzk_code)s->code};
    memcpy(error.message, s->message, sizeof error.message);
    memcpy(error.detail, s->detail, sizeof error.detail);
    memcpy(error.hint, s->hint, sizeof error.hint);
    return report_error(&error, in->json);
}

/* ---- params ---- */

static struct status look_at_params(const struct inspect *in, struct params_file *file, uint8_t digest[64])
{
    struct progress_watch watch;
    atomic_ullong done;
    uint64_t points = 0;
    atomic_init(&done, 0);
    progress_watch_start(&watch, "hashing", &done, file->map.size);
    struct status s = params_digest(digest, &file->map, &in->work, &done);
    progress_watch_end(&watch);
    if (status_failed(&s))
        return s;
    for (enum query q = 0; q < QUERY_COUNT; q++)
        points += file->counts.query[q];
    atomic_store(&done, 0);
    progress_watch_start(&watch, "checking points", &done, points);
    s = params_check_points(file, in->subgroup, &in->work, &done);
    progress_watch_end(&watch);
    return s;
}

static int inspect_params(const struct inspect *in)
{
    struct params_file file;
    uint8_t digest[64];
    struct status s = params_open(&file, in->path);
    if (status_failed(&s))
        return inspect_failed(in, &s);
    s = look_at_params(in, &file, digest);
    if (status_failed(&s)) {
        params_close(&file);
        return inspect_failed(in, &s);
    }
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_bytes(&r, "bytes", file.map.size);
    result_number(&r, "ic", file.counts.ic);
    for (enum query q = 0; q < QUERY_COUNT; q++)
        result_number(&r, query_name(q), file.counts.query[q]);
    result_bytes(&r, "image_bytes", image_bytes(&file.counts));
    result_hex(&r, "digest", digest, 16);
    result_text(&r, "published", published_name(digest));
    result_text(&r, "points_checked", in->subgroup ? "encoding, curve, subgroup" : "encoding, curve");
    params_close(&file);
    return result_end(&r);
}

/* ---- keys and proofs ---- */

static int inspect_vk(const struct inspect *in)
{
    struct cuzk_error error;
    uint8_t *data, digest[64];
    size_t size;
    if (read_file(&data, &size, in->path, SMALL_FILE_MAX, &error) != CUZK_OK)
        return report_error(&error, in->json);
    struct verifying_key key;
    struct status s = vk_read(&key, data, size, NULL);
    if (!status_failed(&s))
        s = blake2b(digest, data, size);
    mem_free(data);
    if (status_failed(&s))
        return inspect_failed(in, &s);
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_number(&r, "bytes", size);
    result_number(&r, "public_inputs", key.ic_count - 1);
    result_hex(&r, "digest", digest, 16);
    result_text(&r, "published", published_name(digest));
    vk_end(&key);
    return result_end(&r);
}

static int inspect_proof(const struct inspect *in)
{
    struct cuzk_error error;
    uint8_t *data;
    size_t size;
    if (read_file(&data, &size, in->path, SMALL_FILE_MAX, &error) != CUZK_OK)
        return report_error(&error, in->json);
    struct status s = status_ok();
    if (size == 0 || size % PROOF_BYTES != 0)
        s = status_error(STATUS_INVALID, "\"%s\" is %zu bytes long: a proof is %d bytes a partition",
                         in->path, size, PROOF_BYTES);
    for (size_t k = 0; k < size / PROOF_BYTES && !status_failed(&s); k++) {
        struct proof proof;
        s = proof_decode(&proof, data + k * PROOF_BYTES);
        if (status_failed(&s))
            s = status_within(s, "partition %zu", k);
    }
    mem_free(data);
    if (status_failed(&s))
        return inspect_failed(in, &s);
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_number(&r, "partitions", size / PROOF_BYTES);
    result_text(&r, "points", "encoding, curve and subgroup are right (whether it verifies: cuzk verify)");
    return result_end(&r);
}

/* ---- C1 outputs and shapes ---- */

static int inspect_c1(const struct inspect *in)
{
    struct cuzk_c1 *c1;
    struct cuzk_c1_facts f;
    struct cuzk_error error;
    if (read_c1(&c1, in->path, &error) != CUZK_OK)
        return report_error(&error, in->json);
    cuzk_c1_facts(&f, c1);
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_number(&r, "registered_proof", f.registered_proof);
    result_text(&r, "registered_name", f.registered_name);
    result_text(&r, "circuit", f.circuit);
    result_bytes(&r, "sector_bytes", f.sector_bytes);
    result_number(&r, "partitions", f.partitions);
    result_number(&r, "challenges", f.challenges_per_partition);
    result_bool(&r, "wrapped", f.has_sector_number);
    if (f.has_sector_number)
        result_number(&r, "sector_number", f.sector_number);
    result_hex(&r, "comm_r", f.comm_r, 32);
    result_hex(&r, "comm_d", f.comm_d, 32);
    result_hex(&r, "replica_id", f.replica_id, 32);
    result_hex(&r, "seed", f.seed, 32);
    result_hex(&r, "ticket", f.ticket, 32);
    cuzk_c1_end(c1);
    return result_end(&r);
}

static int inspect_shape(const struct inspect *in)
{
    struct shape *shape;
    size_t count;
    const struct expander *const *expanders = gadget_expanders(&count);
    struct status s = shape_load(&shape, in->path, expanders, count);
    if (status_failed(&s))
        return inspect_failed(in, &s);
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_hex(&r, "digest", shape->digest, 32);
    result_number(&r, "inputs", shape->inputs);
    result_number(&r, "aux", shape->aux);
    result_number(&r, "rows", shape->rows);
    result_number(&r, "fields", shape->fields);
    result_number(&r, "templates", shape->templates_count);
    result_number(&r, "instances", shape->instances_count);
    result_number(&r, "waves", shape->waves);
    result_number(&r, "coefficients", shape->dictionary.count);
    result_bytes(&r, "memory_bytes", shape_bytes(shape));
    shape_release(shape);
    return result_end(&r);
}

static int run(int argc, char **argv)
{
    static const struct {
        const char *what;
        int (*run)(const struct inspect *);
    } kinds[] = {{"params", inspect_params},   {"vk", inspect_vk},       {"c1", inspect_c1},
                 {"vanilla", inspect_vanilla}, {"proof", inspect_proof}, {"shape", inspect_shape}};
    struct inspect in = {0};
    const char *positional[2] = {NULL, NULL};
    const struct arg args[] = {
        {"--subgroup", ARG_FLAG, &in.subgroup, NULL, NULL,
         "params: check the order of every point, too (long)", false},
        {"--json", ARG_FLAG, &in.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_INSPECT, args, sizeof args / sizeof args[0], argc, argv, positional, 2,
                    &exit_code))
        return exit_code;
    if (positional[0] == NULL || positional[1] == NULL)
        return usage_error("cuzk inspect params|vk|c1|vanilla|proof|shape FILE",
                           "cuzk inspect wants a kind of file and its path");
    in.what = positional[0];
    in.path = positional[1];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(in.what, kinds[i].what) != 0)
            continue;
        struct status s = pool_start(&in.pool, 0);
        if (status_failed(&s))
            return inspect_failed(&in, &s);
        in.work = (struct work){in.pool, PRIORITY_NORMAL, NULL};
        exit_code = kinds[i].run(&in);
        pool_end(in.pool);
        return exit_code;
    }
    return usage_error("kinds are params, vk, c1, vanilla, proof, shape", "cuzk inspect does not know \"%s\"",
                       in.what);
}

const struct command COMMAND_INSPECT = {"inspect",
                                        "what a file holds: params, vk, c1, vanilla proofs, proof or shape",
                                        "params|vk|c1|vanilla|proof|shape FILE [--subgroup] [--json]", run};
