/* What the worker threads do: open, synthesise, start, finish, verify. There are as many threads as the state
 * machine can have actions under way, so each action has one at once. What they compute in parallel goes to
 * the pool with the job's priority and the action's cancel flag. */
#include "engine/service_internal.h"

#include "base/mem.h"
#include "groth16/proof.h"

#include <string.h>

static struct content *content_of(struct engine_service *s, const struct record *r)
{
    return &s->circuits[r->circuit].content;
}

static void feed_back(struct engine_service *s, const struct task *task, enum engine_event_kind kind,
                      const struct status *status)
{
    struct engine_event event = {
        .kind = kind, .job = task->record->number, .partition = task->partition, .status = *status};
    service_step(s, &event);
}

static void count_stage(struct engine_service *s, const struct record *r, enum metric_stage stage,
                        uint64_t began)
{
    histogram_add(&s->metrics.stage[r->outline.kind][stage], service_clock_ms() - began);
}

/* ---- open ---- */

static void do_open(struct engine_service *s, struct task *task)
{
    struct record *r = task->record;
    struct work work = {s->pool, r->priority, &r->cancel};
    uint64_t began = service_clock_ms();
    struct request *opened = NULL;
    struct status status = keeper_check(r);
    if (!status_failed(&status))
        status = request_open(&opened, &r->request, &work);
    service_lock(s);
    r->opened = opened;
    if (!status_failed(&status) && r->outline.kind == PROOF_POREP && r->release_owner != NULL) {
        /* The C1 output was copied: its text goes now, not when the job ends. */
        record_release_owner(s, r);
    }
    count_stage(s, r, METRIC_DECODE, began);
    feed_back(s, task, EVENT_OPENED, &status);
    service_unlock(s);
}

/* ---- synthesis ---- */

static void do_synthesis(struct engine_service *s, struct task *task)
{
    struct record *r = task->record;
    struct part *p = &r->parts[task->partition];
    uint64_t began = service_clock_ms();
    struct status status = work_cancelled_status();
    if (!atomic_load(&p->cancel.requested))
        status = request_seeds(&p->seeds, r->opened, content_of(s, r)->shape, task->partition);
    service_lock(s);
    p->has_seeds = !status_failed(&status);
    p->at_ms[TIME_READY] = r->synthesis_end_ms = service_clock_ms();
    count_stage(s, r, METRIC_SYNTHESIS, began);
    feed_back(s, task, EVENT_SYNTHESISED, &status);
    service_unlock(s);
}

/* ---- device ---- */

static void tell_if_lost(struct engine_service *s, uint32_t device)
{
    struct engine_event event = {.kind = EVENT_DEVICE_LOST, .device = device};
    struct device *d = s->devices[device];
    if (d->operations->state(d, &event.status) != DEVICE_LOST)
        return;
    service_say(s, 0, "device %u (%s) is lost: %s", device, d->operations->name, event.status.message);
    service_step(s, &event);
}

static void do_start(struct engine_service *s, struct task *task)
{
    struct record *r = task->record;
    struct part *p = &r->parts[task->partition];
    struct content *c = content_of(s, r);
    struct device *device = s->devices[p->device];
    uint64_t began = service_clock_ms();
    struct device_pending *pending = NULL;
    struct status status = device->operations->prove_start(
        &pending, device, c->srs[p->device], c->shapes[p->device], &p->seeds, r->priority, &p->cancel);
    seeds_end(&p->seeds); /* first of all: the device needs them no more */
    service_lock(s);
    p->has_seeds = false;
    p->pending = status_failed(&status) ? NULL : pending;
    p->at_ms[TIME_PENDING] = r->device_end_ms = service_clock_ms();
    count_stage(s, r, METRIC_DEVICE, began);
    s->device_work[p->device].busy--;
    if (status.code == STATUS_DEVICE)
        tell_if_lost(s, p->device);
    feed_back(s, task, EVENT_STARTED, &status);
    service_unlock(s);
}

/* ---- finish ---- */

/* The proof must be what a verifier accepts: encoded, decoded again, against inputs from public values alone.
 */
static struct status check_partition(const struct verifying_key *key, const uint8_t bytes[PROOF_BYTES],
                                     const struct record *r, uint32_t k)
{
    struct proof decoded;
    uint32_t count = circuit_inputs(r->outline.kind, r->outline.sector);
    fr *inputs = mem_alloc(count, sizeof *inputs);
    if (inputs == NULL)
        return mem_failed("public inputs", count, sizeof *inputs);
    struct status s = request_inputs(inputs, r->opened, k);
    if (!status_failed(&s)) {
        s = proof_decode(&decoded, bytes);
        if (status_failed(&s))
            s.code = STATUS_REJECTED; /* not a point, or of the wrong order: such bytes are no valid proof */
        else
            s = proof_verify(key, &decoded, inputs, count);
    }
    mem_free(inputs);
    return s;
}

static struct status finish(struct engine_service *s, struct record *r, uint32_t k)
{
    struct part *p = &r->parts[k];
    struct device *device = s->devices[p->device];
    const struct verifying_key *key = &content_of(s, r)->image.key;
    struct work work = {s->pool, r->priority, &p->cancel};
    struct partial_sums sums;
    struct blinding blinding;
    struct proof proof;
    struct device_pending *pending = p->pending;
    p->pending = NULL;
    TRY(device->operations->prove_finish(&sums, device, pending));
    if (work_cancelled(&work))
        return work_cancelled_status();
    TRY(blinding_random(&blinding));
    struct status status = proof_assemble(&proof, &sums, key, &blinding);
    blinding_wipe(&blinding);
    TRY(status);
    proof_encode(p->proof, &proof);
    status = check_partition(key, p->proof, r, k);
    if (status.code != STATUS_REJECTED)
        return status;
    mem_wipe(p->proof, PROOF_BYTES);
    /* A fault of the input that opening left to the circuit needs no second try. */
    TRY(request_diagnose(r->opened, &work));
    return status_hint(status_error(STATUS_REJECTED, "the proof did not verify; it is withheld"),
                       "the parameters may be of another setup, or this machine miscomputes");
}

static void do_finish(struct engine_service *s, struct task *task)
{
    struct record *r = task->record;
    struct part *p = &r->parts[task->partition];
    uint64_t began = service_clock_ms();
    struct status status = finish(s, r, task->partition);
    service_lock(s);
    p->at_ms[TIME_END] = service_clock_ms();
    count_stage(s, r, METRIC_FINISH, began);
    if (status.code == STATUS_REJECTED) {
        s->metrics.verify_failures[r->outline.kind][p->device]++;
        service_say(s, 1, "job %s partition %u: the proof of device %u did not verify", r->id,
                    task->partition, p->device);
    }
    if (status.code == STATUS_DEVICE)
        tell_if_lost(s, p->device);
    feed_back(s, task, EVENT_FINISHED, &status);
    service_unlock(s);
}

/* ---- the whole ---- */

/* What is answered, as it stands, once more: the joined proof. */
static struct status verify_all(struct engine_service *s, struct record *r)
{
    uint32_t n = r->outline.partitions, count = circuit_inputs(r->outline.kind, r->outline.sector);
    struct work work = {s->pool, r->priority, &r->cancel};
    fr *inputs = mem_alloc((size_t)n * count, sizeof *inputs);
    struct proof *proofs = mem_alloc(n, sizeof *proofs);
    struct status status = status_ok();
    if (inputs == NULL || proofs == NULL)
        status = mem_failed("verification", (size_t)n * count, sizeof *inputs);
    for (uint32_t k = 0; k < n && !status_failed(&status); k++) {
        status = request_inputs(inputs + (size_t)k * count, r->opened, k);
        if (!status_failed(&status))
            status = proof_decode(&proofs[k], r->parts[k].proof);
    }
    if (!status_failed(&status))
        status = proof_verify_batch(&content_of(s, r)->image.key, proofs, n, inputs, count, &work);
    mem_free(inputs);
    mem_free(proofs);
    return status;
}

static void do_verify(struct engine_service *s, struct task *task)
{
    struct record *r = task->record;
    uint64_t began = service_clock_ms();
    struct status status = verify_all(s, r);
    service_lock(s);
    count_stage(s, r, METRIC_VERIFY, began);
    feed_back(s, task, EVENT_VERIFIED, &status);
    service_unlock(s);
}

void *service_worker(void *argument)
{
    struct engine_service *s = argument;
    service_lock(s);
    while (!s->stop) {
        struct task *task = s->tasks_first;
        if (task == NULL) {
            pthread_cond_wait(&s->work, &s->lock);
            continue;
        }
        s->tasks_first = task->next;
        if (s->tasks_first == NULL)
            s->tasks_last = &s->tasks_first;
        service_unlock(s);
        switch (task->kind) {
        case ACTION_OPEN:
            do_open(s, task);
            break;
        case ACTION_SYNTHESISE:
            do_synthesis(s, task);
            break;
        case ACTION_START:
            do_start(s, task);
            break;
        case ACTION_FINISH:
            do_finish(s, task);
            break;
        default:
            CHECK(task->kind == ACTION_VERIFY);
            do_verify(s, task);
        }
        service_lock(s);
    }
    service_unlock(s);
    return NULL;
}
