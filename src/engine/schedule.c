/* Who goes next, at every queue. One order for all: priority, deadline, age (NORMAL jobs of one circuit
 * together, within five minutes of age), partition. Later stages are served first, so that what is furthest
 * gets out and frees memory. */
#include "engine/internal.h"

#include <string.h>

static uint64_t deadline_key(const struct job *job)
{
    return job->submit.deadline_ms == 0 ? UINT64_MAX : job->submit.deadline_ms;
}

bool job_before(const struct engine *e, const struct job *a, const struct job *b)
{
    if (a->submit.priority != b->submit.priority)
        return a->submit.priority < b->submit.priority;
    if (deadline_key(a) != deadline_key(b))
        return deadline_key(a) < deadline_key(b);
    if (e->config.sort_by_circuit && a->submit.priority >= PRIORITY_NORMAL &&
        a->submit.circuit != b->submit.circuit) {
        uint64_t age_a = a->created_ms / GROUPING_MS, age_b = b->created_ms / GROUPING_MS;
        return age_a != age_b ? age_a < age_b : a->submit.circuit < b->submit.circuit;
    }
    return a->id < b->id;
}

bool all_devices_lost(const struct engine *e)
{
    for (uint32_t d = 0; d < e->config.devices; d++)
        if (!e->devices[d].lost)
            return false;
    return true;
}

typedef bool wanted(const struct engine *e, const struct job *job, const struct partition *p);

/* The first partition in order that `want` accepts. */
static struct job *pick(const struct engine *e, uint32_t *partition, wanted *want)
{
    struct job *best = NULL;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (job->stage != STAGE_RUNNING || (best != NULL && !job_before(e, job, best)))
            continue;
        for (uint32_t k = 0; k < job->submit.partitions; k++) {
            if (want(e, job, &job->partitions[k])) {
                best = job;
                *partition = k;
                break;
            }
        }
    }
    return best;
}

/* ---- finishers ---- */

static bool wants_finish(const struct engine *e, const struct job *job, const struct partition *p)
{
    (void)e;
    (void)job;
    return p->state == PARTITION_DEVICE && p->started;
}

static void fill_finishers(struct engine *e)
{
    uint32_t k;
    struct job *job;
    while (e->finishing < e->config.finishers && (job = pick(e, &k, wants_finish)) != NULL) {
        struct partition *p = &job->partitions[k];
        p->state = PARTITION_FINISH;
        p->started = false;
        e->devices[p->device].busy--;
        e->finishing++;
        job->in_flight++;
        act(e, ACTION_FINISH, job, k);
    }
}

/* ---- devices ---- */

static bool wants_device(const struct engine *e, const struct job *job, const struct partition *p)
{
    uint64_t need = circuit_of(e, job)->proof_bytes;
    return p->queued && (job->submit.reserved || e->lease_bytes + need <= e->config.host_budget);
}

/* The least busy usable device; a retry prefers another than the one that erred. */
static bool choose_device(const struct engine *e, const struct partition *p, uint32_t *out)
{
    bool found = false;
    uint32_t best = 0;
    for (uint32_t d = 0; d < e->config.devices; d++) {
        const struct device_entry *device = &e->devices[d];
        if (device->lost || device->busy >= e->config.workers_per_device)
            continue;
        uint32_t cost = 2 * device->busy + (p->attempts > 1 && p->device == d ? 1000 : 0);
        if (!found || cost < best) {
            best = cost;
            *out = d;
            found = true;
        }
    }
    return found;
}

static void fill_devices(struct engine *e)
{
    uint32_t k, device;
    struct job *job;
    while ((job = pick(e, &k, wants_device)) != NULL && choose_device(e, &job->partitions[k], &device)) {
        struct partition *p = &job->partitions[k];
        p->queued = false;
        e->ready--;
        p->state = PARTITION_DEVICE;
        p->device = device;
        e->devices[device].busy++;
        lease_set(e, p, circuit_of(e, job)->seeds_bytes + circuit_of(e, job)->proof_bytes);
        job->in_flight++;
        act(e, ACTION_START, job, k);
    }
}

/* ---- the ready queue ---- */

static bool wants_ready(const struct engine *e, const struct job *job, const struct partition *p)
{
    (void)e;
    (void)job;
    return p->state == PARTITION_READY && !p->queued;
}

static bool fill_ready(struct engine *e)
{
    uint32_t k;
    struct job *job;
    bool any = false;
    while ((job = pick(e, &k, wants_ready)) != NULL &&
           (e->ready < ready_capacity(e) || job->submit.reserved)) {
        struct partition *p = &job->partitions[k];
        p->queued = true;
        e->ready++;
        any = true;
        if (p->permit) { /* released here, not before */
            p->permit = false;
            if (job->submit.reserved)
                e->permits_reserved--;
            else
                e->permits--;
        }
    }
    return any;
}

/* ---- synthesis ---- */

/* Bytes kept free so that whatever waits for a device can have its working memory: one worker's worth at
 * least. */
static uint64_t device_reserve(const struct engine *e)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < e->jobs_count; i++)
        if (e->jobs[i]->stage == STAGE_RUNNING && circuit_of(e, e->jobs[i])->proof_bytes > most)
            most = circuit_of(e, e->jobs[i])->proof_bytes;
    for (uint32_t i = 0; i < e->jobs_count; i++)
        for (uint32_t k = 0; k < e->jobs[i]->submit.partitions; k++)
            if (e->jobs[i]->partitions[k].state == PARTITION_DEVICE && !e->jobs[i]->partitions[k].started)
                return 0; /* one has it */
    return most;
}

static bool wants_synthesis(const struct engine *e, const struct job *job, const struct partition *p)
{
    if (p->state != PARTITION_PENDING || e->circuits[job->submit.circuit].stage != CIRCUIT_READY)
        return false;
    if (job->submit.reserved)
        return e->permits_reserved < 1 || e->permits < permits_of(e);
    return e->permits < permits_of(e) &&
           e->lease_bytes + circuit_of(e, job)->seeds_bytes + device_reserve(e) <= e->config.host_budget;
}

static void fill_synthesis(struct engine *e)
{
    uint32_t k;
    struct job *job;
    while ((job = pick(e, &k, wants_synthesis)) != NULL) {
        struct partition *p = &job->partitions[k];
        p->state = PARTITION_SYNTHESIS;
        p->permit = true;
        if (job->submit.reserved)
            e->permits_reserved++;
        else
            e->permits++;
        lease_set(e, p, circuit_of(e, job)->seeds_bytes);
        job->in_flight++;
        act(e, ACTION_SYNTHESISE, job, k);
    }
}

/* ---- opening ---- */

static void fill_opening(struct engine *e)
{
    for (;;) {
        struct job *best = NULL;
        for (uint32_t i = 0; i < e->jobs_count; i++)
            if (e->jobs[i]->stage == STAGE_WAITING && (best == NULL || job_before(e, e->jobs[i], best)))
                best = e->jobs[i];
        if (best == NULL || (!best->submit.reserved && e->opening >= permits_of(e)))
            return;
        best->stage = STAGE_OPENING;
        e->opening++;
        act(e, ACTION_OPEN, best, UINT32_MAX);
    }
}

static bool anything_alive(const struct engine *e)
{
    for (uint32_t i = 0; i < e->jobs_count; i++)
        if (job_live(e->jobs[i]) || e->jobs[i]->in_flight > 0 || e->jobs[i]->opening_stopped)
            return true;
    return false;
}

void schedule(struct engine *e)
{
    fill_finishers(e);
    do
        fill_devices(e);
    while (fill_ready(e)); /* what a device took makes room, and what came in may go to a device */
    fill_synthesis(e);
    fill_opening(e);
    if (e->draining && !e->drained && !anything_alive(e)) {
        e->drained = true;
        act(e, ACTION_DRAINED, NULL, 0);
    }
}
