/* The life of a job, event by event. A partition's lease follows what it holds: seeds while it waits for a
 * device, working memory beside them while one works on it, the pending sums until it is finished, nothing
 * after. */
#include "engine/internal.h"

#include "base/mem.h"

#include <string.h>

struct job *find_job(const struct engine *e, job_id id)
{
    for (uint32_t i = e->jobs_count; i-- > 0;)
        if (e->jobs[i]->id == id)
            return e->jobs[i];
    return NULL;
}

void partition_move(struct job *job, uint32_t k, enum place place)
{
    struct partition *p = &job->partitions[k];
    job->at[p->place]--;
    job->at[place]++;
    p->place = place;
}

void lease_set(struct engine *e, struct job *job, uint32_t k, uint64_t held, uint64_t scratch)
{
    struct partition *p = &job->partitions[k];
    struct bytes *sum = &e->leases[job->submit.reserved];
    sum->held = sum->held - p->held + held;
    sum->scratch = sum->scratch - p->scratch + scratch;
    p->held = held;
    p->scratch = scratch;
    uint64_t all = e->leases[0].held + e->leases[0].scratch + e->leases[1].held + e->leases[1].scratch;
    if (all > e->lease_peak)
        e->lease_peak = all;
}

void permit_give(struct engine *e, struct job *job, struct partition *p)
{
    if (p->permit)
        seat_give(&e->permits, job->submit.reserved);
    p->permit = false;
}

static bool outstanding(const struct partition *p)
{
    return p->place == AT_SYNTHESIS || p->place == AT_DEVICE || p->place == AT_FINISH;
}

/* Out of wherever it is, with all that it holds; the driver lets go of it too. */
static void partition_leave(struct engine *e, struct job *job, uint32_t k, enum place to)
{
    struct partition *p = &job->partitions[k];
    bool reserved = job->submit.reserved, holds = p->place != AT_REST;
    permit_give(e, job, p);
    if (p->place == AT_QUEUE)
        seat_give(&e->ready, reserved);
    else if (p->place == AT_DEVICE || p->place == AT_STAND)
        seat_give(&e->devices[p->device].workers, reserved);
    else if (p->place == AT_FINISH)
        seat_give(&e->finishing, reserved);
    lease_set(e, job, k, 0, 0);
    e->circuits[job->submit.circuit].used_ms = e->now_ms;
    p->stopping = false;
    partition_move(job, k, to);
    if (holds)
        act(e, ACTION_RELEASE, job, k);
}

void partition_give_back(struct engine *e, struct job *job, uint32_t k)
{
    CHECK(job->partitions[k].place == AT_DOOR || job->partitions[k].place == AT_QUEUE);
    partition_leave(e, job, k, AT_REST);
}

/* ---- beginning and end ---- */

static struct job *job_make(struct engine *e, const struct engine_submit *submit)
{
    if (e->jobs_count == e->jobs_capacity) {
        struct job **grown = mem_grow(e->jobs, e->jobs_capacity, 2 * e->jobs_capacity, sizeof(struct job *));
        if (grown == NULL)
            return NULL;
        e->jobs = grown;
        e->jobs_capacity *= 2;
    }
    return mem_alloc_zero(1, sizeof(struct job) + submit->partitions * sizeof(struct partition));
}

void job_submit(struct engine *e, job_id id, const struct engine_submit *submit)
{
    struct job *job = NULL;
    struct status refusal = engine_would_admit(e, e->now_ms, submit);
    if (!status_failed(&refusal)) {
        job = job_make(e, submit);
        if (job == NULL)
            refusal = mem_failed("job", submit->partitions, sizeof job->partitions[0]);
    }
    if (job == NULL) {
        struct job refused = {.id = id, .submit = *submit};
        act_end(e, &refused, &refusal);
        return;
    }
    job->id = id;
    job->submit = *submit;
    if (submit->reserved)
        job->submit.priority = PRIORITY_CRITICAL;
    job->created_ms = e->now_ms;
    job->orphaned_ms = UINT64_MAX;
    job->at[AT_REST] = submit->partitions;
    e->jobs[e->jobs_count++] = job;
    e->queue_bytes += submit->request_bytes;
    seat_take(&e->live, submit->reserved);
    circuit_want(e, submit->circuit);
}

void job_end(struct engine *e, struct job *job, const struct status *status)
{
    if (!job_live(job))
        return;
    act_end(e, job, status);
    if (job->opening || job->verifying)
        act(e, ACTION_STOP, job, UINT32_MAX);
    for (uint32_t k = 0; k < job->submit.partitions; k++) {
        struct partition *p = &job->partitions[k];
        if (outstanding(p)) {
            if (!p->stopping)
                act(e, ACTION_STOP, job, k);
            p->stopping = true;
        } else if (p->place < AT_DONE) {
            partition_leave(e, job, k, AT_FAILED);
        }
    }
    job->stage = STAGE_ENDED;
    job->ended_ms = e->now_ms;
    e->queue_bytes -= job->submit.request_bytes;
    seat_give(&e->live, job->submit.reserved);
}

void job_opened(struct engine *e, struct job *job, const struct status *status)
{
    CHECK(job->opening);
    job->opening = false;
    seat_give(&e->opening, job->submit.reserved);
    if (!job_live(job))
        return;
    if (status_failed(status))
        job_end(e, job, status);
    else
        job->stage = STAGE_RUNNING;
}

void job_verified(struct engine *e, struct job *job, const struct status *status)
{
    CHECK(job->verifying);
    job->verifying = false;
    e->circuits[job->submit.circuit].used_ms = e->now_ms;
    seat_give(&e->finishing, job->submit.reserved);
    job_end(e, job, status);
}

/* ---- partitions ---- */

/* An event of a partition came. True if the job goes on with it: it lives and the event is no failure. */
static bool partition_goes_on(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    if (job_live(job) && !status_failed(status))
        return true;
    partition_leave(e, job, k, AT_FAILED);
    if (job_live(job)) {
        struct status s = status_within(*status, "partition %u", k);
        job_end(e, job, &s);
    }
    return false;
}

/* A second proof of one partition failed here: once may be chance. */
static void device_strike(struct engine *e, uint32_t d, const struct status *status)
{
    struct device_entry *device = &e->devices[d];
    device->strikes++;
    device->good = 0;
    act_device(e, ACTION_STRIKE, d, status);
    if (e->config.strikes_max == 0 || device->strikes < e->config.strikes_max || device->lost ||
        d >= e->config.devices)
        return;
    device->lost = true;
    if (all_devices_lost(e, false)) { /* nothing leaves unverified: better a bad device than none */
        device->lost = false;
        return;
    }
    device->off = true;
    struct status s = status_error(STATUS_DEVICE, "it is out of service: %u times its proofs did not verify",
                                   device->strikes);
    act_device(e, ACTION_DEVICE_OFF, d, &s);
}

static void device_good(struct engine *e, uint32_t d)
{
    struct device_entry *device = &e->devices[d];
    if (device->strikes == 0 || ++device->good < GOOD_PER_STRIKE)
        return;
    device->strikes--;
    device->good = 0;
}

/* Once more from the seeds, if there is a try left; else the job ends with the reason. A proof that did not
 * verify is made again on the same device first, then elsewhere; a device that failed is avoided. That a
 * device was lost under it counts for no attempt: there are only so many devices. */
static void partition_again(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    struct partition *p = &job->partitions[k];
    bool lost = status->code == STATUS_DEVICE && e->devices[p->device].lost;
    if (status->code == STATUS_REJECTED && ++p->rejected > 1)
        device_strike(e, p->device, status);
    p->attempts += !lost;
    p->avoid = status->code == STATUS_DEVICE || p->attempts > 1;
    if (p->attempts < ATTEMPTS_MAX && !all_devices_lost(e, job->submit.reserved)) {
        partition_leave(e, job, k, AT_REST);
        return;
    }
    partition_leave(e, job, k, AT_FAILED);
    struct status s = status_within(*status, "partition %u, after %u attempts", k, p->attempts);
    job_end(e, job, &s);
}

void partition_synthesised(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    struct partition *p = &job->partitions[k];
    CHECK(p->place == AT_SYNTHESIS);
    if (!partition_goes_on(e, job, k, status))
        return;
    partition_move(job, k, AT_DOOR); /* the permit is held until the ready queue takes it */
    if (!e->config.permit_until_queued)
        permit_give(e, job, p);
}

void partition_started(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    CHECK(job->partitions[k].place == AT_DEVICE);
    if (job_live(job) && status->code == STATUS_DEVICE) {
        partition_again(e, job, k, status);
    } else if (partition_goes_on(e, job, k, status)) {
        partition_move(job, k, AT_STAND); /* in its worker's seat until a finisher takes it */
        lease_set(e, job, k, circuit_of(e, job)->pending_bytes, 0);
    }
}

void partition_finished(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    CHECK(job->partitions[k].place == AT_FINISH);
    if (job_live(job) && (status->code == STATUS_REJECTED || status->code == STATUS_DEVICE)) {
        partition_again(e, job, k, status);
    } else if (partition_goes_on(e, job, k, status)) {
        device_good(e, job->partitions[k].device);
        partition_leave(e, job, k, AT_DONE);
        if (job->at[AT_DONE] == job->submit.partitions)
            job->stage = STAGE_PROVED;
    }
}

/* ---- after the end ---- */

static void retain(struct engine *e, const struct job *job)
{
    if (e->retained_count == e->retained_capacity) {
        uint32_t old = e->retained_capacity;
        struct retained *grown = mem_alloc(2 * old, sizeof *grown);
        CHECK(grown != NULL);
        for (uint32_t i = 0; i < old; i++)
            grown[i] = e->retained[(e->retained_first + i) & (old - 1)];
        mem_free(e->retained);
        e->retained = grown;
        e->retained_first = 0;
        e->retained_capacity = 2 * old;
    }
    uint32_t last = (e->retained_first + e->retained_count++) & (e->retained_capacity - 1);
    e->retained[last] = (struct retained){job->id, job->ended_ms + e->config.retention_ms};
}

void jobs_close(struct engine *e)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (job_live(job) || job->opening || job->verifying || job_in_flight(job) > 0) {
            e->jobs[kept++] = job;
            continue;
        }
        act(e, ACTION_CLOSE, job, UINT32_MAX);
        retain(e, job);
        mem_free(job);
    }
    e->jobs_count = kept;
}

void jobs_forget(struct engine *e)
{
    while (e->retained_count > 0 && e->now_ms >= e->retained[e->retained_first].until_ms) {
        act_id(e, ACTION_FORGET, e->retained[e->retained_first].id);
        e->retained_first = (e->retained_first + 1) & (e->retained_capacity - 1);
        e->retained_count--;
    }
}
