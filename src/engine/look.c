/* What can be asked of the state machine, and the invariants that tests hold it to. */
#include "engine/internal.h"

#include <string.h>

void engine_counts(const struct engine *e, struct engine_counts *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        bool running = job->stage == STAGE_OPENING || job->in_flight > 0 || job->done > 0 ||
                       job->stage == STAGE_VERIFYING;
        if (!job_live(job))
            out->jobs_retained++;
        else if (running)
            out->jobs_running++;
        else
            out->jobs_waiting++;
        for (uint32_t k = 0; k < job->submit.partitions; k++) {
            const struct partition *p = &job->partitions[k];
            out->ready_waiting += p->state == PARTITION_READY && !p->queued;
            out->pending_proofs += p->state == PARTITION_DEVICE && p->started;
        }
    }
    for (uint32_t d = 0; d < e->config.devices; d++)
        out->devices_busy += e->devices[d].busy;
    out->permits_in_use = e->permits + e->permits_reserved;
    out->ready_length = e->ready;
    out->ready_capacity = ready_capacity(e);
    out->finishing = e->finishing;
    out->lease_bytes = e->lease_bytes;
    out->lease_peak = e->lease_peak;
    out->queue_bytes = e->queue_bytes;
}

bool engine_job_partitions(const struct engine *e, job_id id, enum partition_state *states, uint32_t *count)
{
    const struct job *job = find_job(e, id);
    if (job == NULL)
        return false;
    *count = job->submit.partitions;
    for (uint32_t k = 0; k < job->submit.partitions; k++)
        states[k] = job->partitions[k].state;
    return true;
}

uint32_t engine_queue_position(const struct engine *e, job_id id)
{
    const struct job *mine = find_job(e, id);
    if (mine == NULL || !job_live(mine) || mine->in_flight > 0 || mine->done > 0)
        return 0;
    uint32_t position = 1;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (job != mine && job_live(job) && job->in_flight == 0 && job->done == 0 && job_before(e, job, mine))
            position++;
    }
    return position;
}

/* ---- invariants ---- */

struct tally {
    uint32_t permits, permits_reserved, ready, finishing, live, live_reserved, opening;
    uint32_t busy[ENGINE_DEVICES_MAX];
    uint64_t lease_bytes, queue_bytes;
};

static void tally_partition(struct tally *t, const struct engine *e, const struct job *job,
                            const struct partition *p, uint32_t *in_flight)
{
    bool outstanding = p->state == PARTITION_SYNTHESIS || p->state == PARTITION_FINISH ||
                       (p->state == PARTITION_DEVICE && !p->started);
    *in_flight += outstanding;
    t->lease_bytes += p->lease;
    t->ready += p->queued;
    t->finishing += p->state == PARTITION_FINISH;
    if (p->permit && job->submit.reserved)
        t->permits_reserved++;
    else if (p->permit)
        t->permits++;
    if (p->state == PARTITION_DEVICE)
        t->busy[p->device]++;
    CHECK(!p->queued || p->state == PARTITION_READY);
    CHECK(!p->started || p->state == PARTITION_DEVICE);
    CHECK(!(p->permit && p->queued)); /* released when the queue has taken it */
    CHECK(!p->permit || p->state == PARTITION_SYNTHESIS || p->state == PARTITION_READY);
    CHECK(p->lease == 0 || outstanding || p->state == PARTITION_READY || p->started);
    CHECK(job_live(job) || outstanding || p->lease == 0);
    CHECK(p->attempts <= ATTEMPTS_MAX);
    CHECK(p->state != PARTITION_DEVICE || p->device < e->config.devices);
}

static void tally_job(struct tally *t, const struct engine *e, const struct job *job)
{
    uint32_t in_flight = 0, done = 0;
    for (uint32_t k = 0; k < job->submit.partitions; k++) {
        tally_partition(t, e, job, &job->partitions[k], &in_flight);
        done += job->partitions[k].state == PARTITION_DONE;
    }
    CHECK(in_flight == job->in_flight && done == job->done);
    CHECK(job->stage != STAGE_VERIFYING || done == job->submit.partitions);
    t->opening += job->stage == STAGE_OPENING || job->opening_stopped;
    if (!job_live(job))
        return;
    t->queue_bytes += job->submit.request_bytes;
    if (job->submit.reserved)
        t->live_reserved++;
    else
        t->live++;
}

void engine_check_invariants(const struct engine *e)
{
    struct tally t;
    memset(&t, 0, sizeof t);
    for (uint32_t i = 0; i < e->jobs_count; i++)
        tally_job(&t, e, e->jobs[i]);
    CHECK(t.permits == e->permits && t.permits_reserved == e->permits_reserved);
    CHECK(t.ready == e->ready && t.finishing == e->finishing && t.opening == e->opening);
    CHECK(t.live == e->live && t.live_reserved == e->live_reserved);
    CHECK(t.lease_bytes == e->lease_bytes && t.queue_bytes == e->queue_bytes);
    CHECK(e->permits <= e->config.partition_workers);
    CHECK(e->ready <= ready_capacity(e) + RESERVED_SEATS);
    CHECK(e->finishing <= e->config.finishers);
    for (uint32_t d = 0; d < e->config.devices; d++) {
        CHECK(t.busy[d] == e->devices[d].busy);
        CHECK(e->devices[d].busy <= e->config.workers_per_device);
    }
    CHECK(e->live <= e->config.max_queue && e->live_reserved <= RESERVED_SEATS);
}
