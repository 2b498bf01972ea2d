/* Records of jobs: made from a request, found by number, by id, by request_id; and the content digest by
 * which a repeated request is recognised. */
#include "engine/service_internal.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/random.h"

#include <stdio.h>
#include <string.h>

static size_t bucket_of_text(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text != 0; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (size_t)(h >> 20) & (BUCKETS - 1);
}

static size_t bucket_of_number(job_id number)
{
    return (size_t)number & (BUCKETS - 1);
}

struct record *record_by_number(const struct engine_service *s, job_id number)
{
    struct record *r = s->by_number[bucket_of_number(number)];
    while (r != NULL && r->number != number)
        r = r->next_by_number;
    return r;
}

struct status record_find(struct record **out, const struct engine_service *s, const char *id)
{
    struct record *found = NULL;
    uint32_t all = 0, live = 0;
    *out = NULL;
    for (struct record *r = s->by_id[bucket_of_text(id)]; r != NULL; r = r->next_by_id) {
        if (strcmp(r->id, id) == 0) {
            *out = r;
            return status_ok();
        }
    }
    for (struct record *r = s->by_request[bucket_of_text(id)]; id[0] != 0 && r != NULL;
         r = r->next_by_request) {
        if (strcmp(r->request_id, id) != 0)
            continue;
        if (live == 0 || r->live)
            found = r;
        all++;
        live += r->live;
    }
    if (all == 0)
        return status_error(STATUS_MISSING, "no job is called \"%.80s\"", id);
    if (all > 1 && live != 1)
        return status_hint(
            status_error(STATUS_INVALID, "%u jobs have the request_id \"%.80s\"", live > 1 ? live : all, id),
            "give the job_id of the one that is meant");
    *out = found;
    return status_ok();
}

struct record *record_to_join(const struct engine_service *s, const char *request_id,
                              const uint8_t digest[64])
{
    if (request_id[0] == 0)
        return NULL;
    for (struct record *r = s->by_request[bucket_of_text(request_id)]; r != NULL; r = r->next_by_request)
        if ((r->live || r->state == JOB_COMPLETED || r->keep.poisoned) &&
            strcmp(r->request_id, request_id) == 0 && memcmp(r->digest, digest, sizeof r->digest) == 0)
            return r;
    return NULL;
}

/* ---- content ---- */

static struct status add_number(struct blake2b *h, uint64_t n)
{
    uint8_t bytes[8];
    store_le64(bytes, n);
    return blake2b_add(h, bytes, sizeof bytes);
}

static struct status add_bytes(struct blake2b *h, const struct bytes_view *b)
{
    TRY(add_number(h, b->size));
    return b->size == 0 ? status_ok() : blake2b_add(h, b->data, b->size);
}

static struct status add_request(struct blake2b *h, const struct proof_request *r)
{
    const uint64_t numbers[] = {(uint64_t)r->kind, r->registered_proof, r->sector_size,  r->miner,
                                r->sector_number,  r->partition_index,  r->vanilla_count};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        TRY(add_number(h, numbers[i]));
    TRY(add_bytes(h, &r->randomness));
    TRY(add_bytes(h, &r->comm_r_old));
    TRY(add_bytes(h, &r->comm_r_new));
    TRY(add_bytes(h, &r->comm_d_new));
    for (size_t i = 0; i < r->vanilla_count; i++)
        TRY(add_bytes(h, &r->vanilla[i]));
    return status_ok();
}

struct status request_digest(uint8_t out[64], const struct proof_request *request)
{
    struct blake2b h;
    TRY(blake2b_begin(&h));
    struct status s = add_request(&h, request);
    if (status_failed(&s)) {
        blake2b_abandon(&h);
        return s;
    }
    return blake2b_end(&h, out);
}

/* ---- records ---- */

/* As a random UUID is written. */
static struct status make_id(char id[ID_BYTES])
{
    uint8_t b[16];
    char hex[33];
    TRY(random_bytes(b, sizeof b));
    b[6] = (uint8_t)(0x40 | (b[6] & 0x0f));
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    hex_encode(hex, b, sizeof b);
    snprintf(id, ID_BYTES, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
    return status_ok();
}

struct status record_make(struct record **out, const struct service_submit *submit,
                          const struct request_outline *outline)
{
    size_t bytes = sizeof(struct record) + outline->partitions * sizeof(struct part);
    size_t length = strlen(submit->request_id) + 1;
    *out = NULL;
    struct record *r = mem_alloc_zero(1, bytes);
    if (r == NULL)
        return mem_failed("job", 1, bytes);
    r->outline = *outline;
    r->request_id = mem_alloc(length, 1);
    r->proof = mem_alloc_zero(outline->partitions, PROOF_BYTES);
    struct status s = status_ok();
    if (r->request_id == NULL || r->proof == NULL)
        s = mem_failed("job", outline->partitions, PROOF_BYTES);
    else
        s = make_id(r->id);
    if (status_failed(&s)) {
        record_free(r);
        return s;
    }
    memcpy(r->request_id, submit->request_id, length);
    r->request = submit->request;
    r->priority = submit->request.kind == PROOF_WINNING ? PRIORITY_CRITICAL : submit->priority;
    r->detached = submit->detached;
    r->state = JOB_QUEUED;
    r->status = status_ok();
    r->task.record = r;
    for (uint32_t k = 0; k < outline->partitions; k++) {
        r->parts[k].task.record = r;
        r->parts[k].task.partition = k;
    }
    *out = r;
    return status_ok();
}

void record_free(struct record *r)
{
    if (r == NULL)
        return;
    mem_free(r->request_id);
    mem_free(r->proof);
    mem_free(r);
}

void record_add(struct engine_service *s, struct record *r)
{
    struct record **by_number = &s->by_number[bucket_of_number(r->number)];
    struct record **by_id = &s->by_id[bucket_of_text(r->id)];
    struct record **by_request = &s->by_request[bucket_of_text(r->request_id)];
    r->next_by_number = *by_number;
    *by_number = r;
    r->next_by_id = *by_id;
    *by_id = r;
    r->next_by_request = *by_request;
    *by_request = r;
    r->live = true;
    r->live_before = s->live_last;
    *(s->live_last != NULL ? &s->live_last->live_after : &s->live_first) = r;
    s->live_last = r;
}

void record_retire(struct engine_service *s, struct record *r)
{
    CHECK(r->live);
    r->live = false;
    *(r->live_before != NULL ? &r->live_before->live_after : &s->live_first) = r->live_after;
    *(r->live_after != NULL ? &r->live_after->live_before : &s->live_last) = r->live_before;
    r->live_before = r->live_after = NULL;
}

void record_forget(struct engine_service *s, struct record *r)
{
    struct record **at = &s->by_number[bucket_of_number(r->number)];
    while (*at != r)
        at = &(*at)->next_by_number;
    *at = r->next_by_number;
    for (at = &s->by_id[bucket_of_text(r->id)]; *at != r;)
        at = &(*at)->next_by_id;
    *at = r->next_by_id;
    for (at = &s->by_request[bucket_of_text(r->request_id)]; *at != r;)
        at = &(*at)->next_by_request;
    *at = r->next_by_request;
    r->forgotten = true;
}

/* ---- results ---- */

static uint64_t span(uint64_t from, uint64_t to)
{
    return from != 0 && to > from ? to - from : 0;
}

void record_result(struct job_result *out, const struct record *r)
{
    memset(out, 0, sizeof *out);
    memcpy(out->id, r->id, sizeof out->id);
    out->state = r->state;
    out->status = r->status;
    if (r->state == JOB_COMPLETED) {
        out->proof = r->proof;
        out->proof_size = (size_t)r->outline.partitions * PROOF_BYTES;
    }
    uint64_t now = r->ended_ms != 0 ? r->ended_ms : service_clock_ms();
    out->times.queue_wait_ms = span(r->submitted_ms, r->begun_ms != 0 ? r->begun_ms : now);
    out->times.load_ms = r->load_ms;
    out->times.synthesis_ms = span(r->begun_ms, r->synthesis_end_ms);
    out->times.device_ms = span(r->device_begin_ms, r->device_end_ms);
    out->times.total_ms = span(r->submitted_ms, now);
}
