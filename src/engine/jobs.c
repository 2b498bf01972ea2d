/* The life of a job, event by event. A partition's lease follows what it holds: seeds while it waits for a
 * device, seeds and working memory while one works on it, the pending sums until it is finished, nothing
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

uint32_t permits_of(const struct engine *e)
{
    return e->config.partition_workers;
}

uint32_t ready_capacity(const struct engine *e)
{
    uint32_t a = e->config.synthesis_lookahead, b = e->config.partition_workers;
    return a > b ? a : b;
}

void lease_set(struct engine *e, struct partition *p, uint64_t bytes)
{
    e->lease_bytes = e->lease_bytes - p->lease + bytes;
    p->lease = bytes;
    if (e->lease_bytes > e->lease_peak)
        e->lease_peak = e->lease_bytes;
}

static void permit_release(struct engine *e, struct job *job, struct partition *p)
{
    if (!p->permit)
        return;
    p->permit = false;
    if (job->submit.reserved)
        e->permits_reserved--;
    else
        e->permits--;
}

static void worker_release(struct engine *e, struct partition *p)
{
    CHECK(e->devices[p->device].busy > 0);
    e->devices[p->device].busy--;
    p->started = false;
}

/* Everything of a partition that has no event outstanding goes back at once. */
static void partition_drop(struct engine *e, struct job *job, uint32_t k)
{
    struct partition *p = &job->partitions[k];
    bool holds = p->lease > 0;
    permit_release(e, job, p);
    if (p->queued) {
        p->queued = false;
        e->ready--;
    }
    if (p->state == PARTITION_DEVICE && p->started)
        worker_release(e, p);
    lease_set(e, p, 0);
    p->state = PARTITION_FAILED;
    if (holds)
        act(e, ACTION_RELEASE, job, k);
}

static bool outstanding(const struct partition *p)
{
    return p->state == PARTITION_SYNTHESIS || (p->state == PARTITION_DEVICE && !p->started) ||
           p->state == PARTITION_FINISH;
}

void job_submit(struct engine *e, job_id id, const struct engine_submit *submit)
{
    struct job *job = NULL;
    struct status refusal = engine_would_admit(e, e->now_ms, submit);
    if (!status_failed(&refusal)) {
        job = mem_alloc_zero(1, sizeof *job + submit->partitions * sizeof job->partitions[0]);
        if (e->jobs_count == e->jobs_capacity && job != NULL) {
            struct job **grown =
                mem_grow(e->jobs, e->jobs_capacity, 2 * e->jobs_capacity, sizeof(struct job *));
            if (grown != NULL) {
                e->jobs = grown;
                e->jobs_capacity *= 2;
            } else {
                mem_free(job);
                job = NULL;
            }
        }
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
    job->created_ms = e->now_ms;
    job->orphaned_ms = UINT64_MAX;
    e->jobs[e->jobs_count++] = job;
    e->queue_bytes += submit->request_bytes;
    if (submit->reserved)
        e->live_reserved++;
    else
        e->live++;
    struct circuit_entry *circuit = &e->circuits[submit->circuit];
    if (circuit->stage == CIRCUIT_COLD || circuit->stage == CIRCUIT_FAILED) {
        circuit->stage = CIRCUIT_LOADING;
        act_circuit(e, ACTION_LOAD, submit->circuit);
    }
}

void job_end(struct engine *e, struct job *job, const struct status *status)
{
    if (!job_live(job))
        return;
    act_end(e, job, status);
    if (job->stage == STAGE_OPENING) {
        job->opening_stopped = true;
        act(e, ACTION_STOP, job, UINT32_MAX);
    }
    for (uint32_t k = 0; k < job->submit.partitions; k++) {
        struct partition *p = &job->partitions[k];
        if (outstanding(p)) {
            if (!p->stopping)
                act(e, ACTION_STOP, job, k);
            p->stopping = true;
        } else if (p->state != PARTITION_DONE) {
            partition_drop(e, job, k);
        }
    }
    job->stage = STAGE_ENDED;
    job->ended_ms = e->now_ms;
    e->queue_bytes -= job->submit.request_bytes;
    if (job->submit.reserved)
        e->live_reserved--;
    else
        e->live--;
}

void job_opened(struct engine *e, struct job *job, const struct status *status)
{
    e->opening--;
    if (job->stage == STAGE_ENDED) {
        job->opening_stopped = false;
        return;
    }
    CHECK(job->stage == STAGE_OPENING);
    if (status_failed(status))
        job_end(e, job, status);
    else
        job->stage = STAGE_RUNNING;
}

/* The event of a partition whose job has ended, or that failed: it holds nothing any more. */
static void partition_home(struct engine *e, struct job *job, uint32_t k)
{
    struct partition *p = &job->partitions[k];
    permit_release(e, job, p);
    lease_set(e, p, 0);
    p->stopping = false;
    p->state = PARTITION_FAILED;
    act(e, ACTION_RELEASE, job, k);
}

/* Once more from the seeds, if there is a try left; else the job ends with the reason. */
static void partition_again(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    struct partition *p = &job->partitions[k];
    partition_home(e, job, k);
    if (++p->attempts < ATTEMPTS_MAX && !all_devices_lost(e)) {
        p->state = PARTITION_PENDING;
        return;
    }
    struct status s = status_within(*status, "partition %u, after %u attempts", k, p->attempts);
    job_end(e, job, &s);
}

void partition_synthesised(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    struct partition *p = &job->partitions[k];
    CHECK(p->state == PARTITION_SYNTHESIS);
    job->in_flight--;
    if (!job_live(job)) {
        partition_home(e, job, k);
    } else if (status_failed(status)) {
        partition_home(e, job, k);
        struct status s = status_within(*status, "partition %u", k);
        job_end(e, job, &s);
    } else {
        p->state = PARTITION_READY; /* the permit is held until the ready queue takes it */
        if (!e->config.permit_until_queued)
            permit_release(e, job, p);
    }
}

void partition_started(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    struct partition *p = &job->partitions[k];
    CHECK(p->state == PARTITION_DEVICE && !p->started);
    job->in_flight--;
    if (!job_live(job)) {
        worker_release(e, p);
        partition_home(e, job, k);
    } else if (status->code == STATUS_DEVICE) {
        worker_release(e, p);
        partition_again(e, job, k, status);
    } else if (status_failed(status)) {
        worker_release(e, p);
        partition_home(e, job, k);
        struct status s = status_within(*status, "partition %u", k);
        job_end(e, job, &s);
    } else {
        p->started = true; /* the worker is free again when a finisher takes the pending proof */
        lease_set(e, p, circuit_of(e, job)->pending_bytes);
    }
}

void partition_finished(struct engine *e, struct job *job, uint32_t k, const struct status *status)
{
    struct partition *p = &job->partitions[k];
    CHECK(p->state == PARTITION_FINISH);
    job->in_flight--;
    e->finishing--;
    if (!job_live(job)) {
        partition_home(e, job, k);
    } else if (status->code == STATUS_REJECTED || status->code == STATUS_DEVICE) {
        partition_again(e, job, k, status);
    } else if (status_failed(status)) {
        partition_home(e, job, k);
        struct status s = status_within(*status, "partition %u", k);
        job_end(e, job, &s);
    } else {
        lease_set(e, p, 0);
        p->state = PARTITION_DONE;
        act(e, ACTION_RELEASE, job, k);
        if (++job->done == job->submit.partitions) {
            job->stage = STAGE_VERIFYING;
            act(e, ACTION_VERIFY, job, UINT32_MAX);
        }
    }
}

void job_verified(struct engine *e, struct job *job, const struct status *status)
{
    if (job->stage == STAGE_VERIFYING)
        job_end(e, job, status);
}

static bool forgettable(const struct engine *e, const struct job *job)
{
    return job->stage == STAGE_ENDED && job->in_flight == 0 && !job->opening_stopped &&
           e->now_ms - job->ended_ms >= e->config.retention_ms;
}

void jobs_forget(struct engine *e)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (forgettable(e, job)) {
            act(e, ACTION_FORGET, job, UINT32_MAX);
            mem_free(job);
        } else {
            e->jobs[kept++] = job;
        }
    }
    e->jobs_count = kept;
}
