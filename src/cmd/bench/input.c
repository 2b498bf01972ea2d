/* See input.h. */
#include "cmd/bench/input.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/random.h"
#include "filecoin/vanilla_file.h"

#include <cuzk.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define INPUT_FILE_MAX ((size_t)256 << 20)
#define KEY_FILE_MAX   ((size_t)64 << 20)
#define PADDING        64 /* readable bytes after a file, for the parsers */

typedef Cuzk__V1__SubmitProofRequest submit_request;

struct named {
    const char *name;
    int value;
};
static const struct named TYPES[] = {{"porep", CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT},
                                     {"snap", CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE},
                                     {"wpost", CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION},
                                     {"winning", CUZK__V1__PROOF_KIND__WINNING_POST}};
static const struct named PRIORITIES[] = {{"low", CUZK__V1__PRIORITY__LOW},
                                          {"normal", CUZK__V1__PRIORITY__NORMAL},
                                          {"high", CUZK__V1__PRIORITY__HIGH},
                                          {"critical", CUZK__V1__PRIORITY__CRITICAL}};

static int look_up(int *value, const char *option, const char *text, const struct named *names, size_t count)
{
    char hint[64];
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].name, text) == 0) {
            *value = names[i].value;
            return EXIT_DONE;
        }
    const char *nearest = name_nearest(text, &names[0].name, count, sizeof names[0]);
    snprintf(hint, sizeof hint, "did you mean %s?", nearest != NULL ? nearest : names[0].name);
    return usage_error(hint, "%s does not know \"%s\"", option, text);
}

/* ---- PoRep: the C1 output ---- */

static int report_memory(const char *what, size_t count, size_t size, bool json)
{
    struct status s = mem_failed(what, count, size);
    return report_status(&s, json);
}

static int read_files(struct input_files *out, const char *const *paths, size_t count, bool json)
{
    out->data = mem_alloc_zero(count, sizeof *out->data);
    out->bytes = mem_alloc_zero(count, sizeof *out->bytes);
    if (out->data == NULL || out->bytes == NULL)
        return report_memory("files", count, sizeof *out->bytes, json);
    for (; out->count < count; out->count++) {
        size_t size;
        struct status s =
            file_read(&out->data[out->count], &size, paths[out->count], INPUT_FILE_MAX, PADDING);
        if (status_failed(&s))
            return report_status(&s, json);
        out->bytes[out->count] = (struct cuzk_bytes){out->data[out->count], size};
        out->total += size;
    }
    return EXIT_DONE;
}

static void release_files(struct input_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        mem_free(files->data[i]);
    mem_free(files->data);
    mem_free(files->bytes);
    memset(files, 0, sizeof *files);
}

static int facts_of_c1(struct input *in, bool json)
{
    struct cuzk_c1 *c1;
    struct cuzk_c1_facts facts;
    struct cuzk_error error;
    if (cuzk_c1_read(&c1, in->files.bytes[0].data, in->files.bytes[0].size, &error) != CUZK_OK)
        return report_error(&error, json);
    cuzk_c1_facts(&facts, c1);
    if (!in->registered_given)
        in->registered = facts.registered_proof;
    if (!in->sector_given)
        in->sector_number = facts.sector_number;
    in->sector_given = in->sector_given || facts.has_sector_number;
    cuzk_c1_end(c1);
    return in->sector_given ? EXIT_DONE
                            : usage_error("give --sector-num", "the C1 output has no sector number");
}

/* ---- packing ---- */

static ProtobufCBinaryData hash(uint8_t bytes[32], bool given)
{
    return (ProtobufCBinaryData){given ? 32 : 0, given ? bytes : NULL};
}

static int pack(struct input *in, submit_request *request, bool json)
{
    request->registered_proof = in->registered;
    request->sector_number = in->sector_number;
    request->miner_id = in->miner;
    request->partition_index = (uint32_t)in->partition;
    request->randomness = hash(in->randomness, in->randomness_given);
    request->comm_r_old = hash(in->comm_r_old, in->comm_r_old_given);
    request->comm_r_new = hash(in->comm_r_new, in->comm_r_new_given);
    request->comm_d_new = hash(in->comm_d_new, in->comm_d_new_given);
    in->body_size = cuzk__v1__submit_proof_request__get_packed_size(request);
    in->body = mem_alloc(in->body_size + 1, 1);
    if (in->body == NULL)
        return report_memory("request", in->body_size + 1, 1, json);
    in->body_size = cuzk__v1__submit_proof_request__pack(request, in->body);
    return EXIT_DONE;
}

static int pack_porep(struct input *in, submit_request *request, bool json)
{
    if (in->c1_path == NULL || in->vanilla.count != 0)
        return usage_error(NULL, "a PoRep needs --c1 FILE, and no --vanilla");
    if (!in->miner_given)
        return usage_error(NULL, "a PoRep needs --miner-id N");
    int exit_code = read_files(&in->files, &in->c1_path, 1, json);
    if (exit_code == EXIT_DONE)
        exit_code = facts_of_c1(in, json);
    if (exit_code != EXIT_DONE)
        return exit_code;
    request->vanilla_proof = (ProtobufCBinaryData){in->files.bytes[0].size, in->files.data[0]};
    return pack(in, request, json);
}

/* The list for protobuf-c. */
static int pack_list(struct input *in, submit_request *request, const struct vanilla_list *list, bool json)
{
    request->n_vanilla_proofs = list->count;
    request->vanilla_proofs = mem_alloc(list->count, sizeof *request->vanilla_proofs);
    if (request->vanilla_proofs == NULL)
        return report_memory("request", list->count, sizeof *request->vanilla_proofs, json);
    for (size_t i = 0; i < list->count; i++)
        request->vanilla_proofs[i] =
            (ProtobufCBinaryData){list->items[i].size, (uint8_t *)(uintptr_t)list->items[i].data};
    int exit_code = pack(in, request, json);
    mem_free(request->vanilla_proofs);
    return exit_code;
}

static struct status decode_all(struct vanilla_list *list, uint8_t *decoded, const struct input *in)
{
    size_t used = 0;
    for (size_t i = 0; i < in->files.count; i++) {
        const struct cuzk_bytes *file = &in->files.bytes[i];
        struct status s = vanilla_append(list, decoded, &used, file->data, file->size);
        if (status_failed(&s))
            return status_within(s, "\"%.100s\"", in->vanilla.items[i]);
    }
    return status_ok();
}

static int pack_vanilla(struct input *in, submit_request *request, bool json)
{
    struct vanilla_list list = {0};
    if (in->vanilla.count == 0 || in->c1_path != NULL)
        return usage_error(NULL, "this kind of proof needs --vanilla FILE, and no --c1");
    if (!in->registered_given)
        return usage_error(NULL, "this kind of proof needs --registered-proof N");
    int exit_code = read_files(&in->files, in->vanilla.items, in->vanilla.count, json);
    if (exit_code != EXIT_DONE)
        return exit_code;
    uint8_t *decoded = mem_alloc(in->files.total, 1);
    struct status s =
        decoded == NULL ? mem_failed("vanilla proofs", in->files.total, 1) : decode_all(&list, decoded, in);
    exit_code = status_failed(&s) ? report_status(&s, json) : pack_list(in, request, &list, json);
    vanilla_list_end(&list);
    mem_free(decoded);
    return exit_code;
}

static void make_id(struct input *in)
{
    uint8_t noise[6] = {0};
    struct status s = random_bytes(noise, sizeof noise);
    (void)s; /* without them an earlier run's job may be joined: its result is as good */
    snprintf(in->id, sizeof in->id, "bench-%s-%02x%02x%02x%02x%02x%02x", in->type, noise[0], noise[1],
             noise[2], noise[3], noise[4], noise[5]);
}

int input_open(struct input *in, bool json)
{
    submit_request request = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    int kind = 0, priority = 0, exit_code;
    if (in->type == NULL)
        in->type = "porep";
    exit_code = look_up(&kind, "--type", in->type, TYPES, sizeof TYPES / sizeof TYPES[0]);
    if (exit_code == EXIT_DONE && in->priority != NULL)
        exit_code = look_up(&priority, "--priority", in->priority, PRIORITIES,
                            sizeof PRIORITIES / sizeof PRIORITIES[0]);
    if (exit_code != EXIT_DONE)
        return exit_code;
    if (in->request_id != NULL && strlen(in->request_id) > CALL_HEAD_MAX / 2)
        return usage_error(NULL, "--request-id is longer than %d bytes", CALL_HEAD_MAX / 2);
    if (in->partition > UINT32_MAX || in->registered > UINT32_MAX)
        return usage_error(NULL, "--partition or --registered-proof is beyond 2^32");
    if (in->timeout_s == 0)
        in->timeout_s = INPUT_TIMEOUT_DEFAULT_S;
    make_id(in);
    in->kind = kind;
    request.proof_kind = (Cuzk__V1__ProofKind)kind;
    request.priority = (Cuzk__V1__Priority)priority;
    bool porep = kind == CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    exit_code = porep ? pack_porep(in, &request, json) : pack_vanilla(in, &request, json);
    if (in->vk_path == NULL) /* the files are of use for verifying only */
        release_files(&in->files);
    if (exit_code != EXIT_DONE || in->vk_path == NULL)
        return exit_code;
    struct status s = file_read(&in->vk, &in->vk_size, in->vk_path, KEY_FILE_MAX, 0);
    return status_failed(&s) ? report_status(&s, json) : EXIT_DONE;
}

void input_end(struct input *in)
{
    mem_free(in->body);
    mem_free(in->vk);
    release_files(&in->files);
    in->body = in->vk = NULL;
    cuzk_request_end(in->checked);
    in->checked = NULL;
}

/* ---- per proof ---- */

static size_t put_varint(uint8_t *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

size_t input_head(uint8_t head[CALL_HEAD_MAX], const struct input *in, uint64_t number)
{
    char id[CALL_HEAD_MAX];
    uint8_t field[CALL_HEAD_MAX];
    if (in->request_id != NULL && number == 0)
        snprintf(id, sizeof id, "%s", in->request_id);
    else
        snprintf(id, sizeof id, "%s-%" PRIu64, in->request_id != NULL ? in->request_id : in->id, number);
    size_t length = strlen(id), n = 0, m = 0;
    field[n++] = 1 << 3 | 2; /* SubmitProofRequest.request_id */
    n += put_varint(field + n, length);
    CHECK(n + length + 12 <= CALL_HEAD_MAX);
    head[m++] = 1 << 3 | 2; /* ProveRequest.submit */
    m += put_varint(head + m, n + length + in->body_size);
    memcpy(head + m, field, n);
    memcpy(head + m + n, id, length);
    return m + n + length;
}

/* ---- verifying ---- */

static enum cuzk_kind library_kind(int kind)
{
    switch (kind) {
    case CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE:
        return CUZK_SNAP;
    case CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION:
        return CUZK_WINDOW;
    case CUZK__V1__PROOF_KIND__WINNING_POST:
        return CUZK_WINNING;
    default:
        return CUZK_POREP;
    }
}

enum cuzk_code input_check(struct input *in, struct cuzk *cuzk, struct cuzk_error *error)
{
    struct cuzk_statement asked = {.kind = library_kind(in->kind),
                                   .registered_proof = (uint32_t)in->registered,
                                   .miner_id = in->miner,
                                   .sector_number = in->sector_number,
                                   .partition_index = (uint32_t)in->partition};
    if (in->vk == NULL)
        return CUZK_OK;
    memcpy(asked.randomness, in->randomness, 32);
    memcpy(asked.comm_r_old, in->comm_r_old, 32);
    memcpy(asked.comm_r_new, in->comm_r_new, 32);
    memcpy(asked.comm_d_new, in->comm_d_new, 32);
    return cuzk_request_open(&in->checked, cuzk, &asked, in->files.bytes, in->files.count, error);
}

enum cuzk_code input_verify(const struct input *in, struct cuzk *cuzk, const uint8_t *proof, size_t size,
                            struct cuzk_error *error)
{
    struct cuzk_request_facts facts;
    CHECK(in->vk != NULL && in->checked != NULL);
    cuzk_request_facts(&facts, in->checked);
    return cuzk_verify(cuzk, in->vk, in->vk_size, facts.statement, proof, size, error);
}
