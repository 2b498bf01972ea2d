/* See engine.h: one step, admission, and what can be asked. */
#include "engine/internal.h"

#include "base/mem.h"

#include <string.h>

uint32_t engine_parallel(const struct engine_config *config)
{
    uint32_t openers = config->partition_workers < OPENERS ? config->partition_workers : OPENERS;
    return openers + 1 + config->partition_workers + 1 + config->finishers + 1 +
           (config->devices + config->spare_device) * (config->workers_per_device + 1);
}

struct status engine_make(struct engine **out, const struct engine_config *config,
                          const struct engine_circuit *circuits, uint32_t circuits_count)
{
    *out = NULL;
    CHECK(config->partition_workers > 0 && config->finishers > 0 && config->devices > 0 &&
          config->workers_per_device > 0);
    CHECK(config->devices + config->spare_device <= ENGINE_DEVICES_MAX &&
          circuits_count <= ENGINE_CIRCUITS_MAX);
    struct engine *e = mem_alloc_zero(1, sizeof *e);
    if (e == NULL)
        return mem_failed("engine", 1, sizeof *e);
    e->config = *config;
    e->circuits_count = circuits_count;
    e->budget = config->host_budget;
    for (uint32_t i = 0; i < circuits_count; i++) {
        e->circuits[i].facts.resident = circuits[i].resident;
        e->circuits[i].facts.floor = circuits[i].floor;
        circuit_know(e, i, &circuits[i]);
    }
    e->jobs_capacity = e->retained_capacity = 64;
    e->jobs = mem_alloc(e->jobs_capacity, sizeof(struct job *));
    e->retained = mem_alloc(e->retained_capacity, sizeof *e->retained);
    if (e->jobs == NULL || e->retained == NULL) {
        engine_end(e);
        return mem_failed("engine", 64, sizeof(struct job *) + sizeof *e->retained);
    }
    *out = e;
    return status_ok();
}

void engine_end(struct engine *e)
{
    if (e == NULL)
        return;
    for (uint32_t i = 0; i < e->jobs_count; i++)
        mem_free(e->jobs[i]);
    mem_free(e->jobs);
    mem_free(e->retained);
    mem_free(e->actions);
    mem_free(e);
}

/* ---- admission ---- */

static struct status check_fit(const struct engine *e, const struct engine_submit *submit)
{
    if (submit->reserved)
        return status_ok();
    TRY(circuit_fits(e, submit->circuit));
    if (submit->request_bytes > e->config.max_queue_bytes)
        return status_hint(status_error(STATUS_MEMORY, "the request is %llu bytes long, the queue holds %llu",
                                        (unsigned long long)submit->request_bytes,
                                        (unsigned long long)e->config.max_queue_bytes),
                           "raise daemon.max_queue_bytes");
    return status_ok();
}

struct status engine_would_admit(const struct engine *e, uint64_t now_ms, const struct engine_submit *submit)
{
    CHECK(submit->circuit < e->circuits_count && submit->partitions > 0 &&
          submit->partitions <= ENGINE_PARTITIONS_MAX);
    const struct circuit_entry *circuit = &e->circuits[submit->circuit];
    if (circuit->stage == CIRCUIT_FAILED && now_ms - circuit->failed_ms < CIRCUIT_RETRY_MS)
        return circuit->failure;
    if (all_devices_lost(e, submit->reserved))
        return status_error(STATUS_DEVICE, "every device is lost");
    TRY(check_fit(e, submit));
    if (submit->reserved) {
        if (e->live.reserved >= RESERVED_SEATS)
            return status_error(STATUS_BUSY, "%u WinningPoSt jobs are under way already", e->live.reserved);
        return e->drained ? status_error(STATUS_CANCELLED, "the daemon has stopped") : status_ok();
    }
    if (e->draining)
        return status_error(STATUS_CANCELLED, "the daemon is stopping and takes no new jobs");
    if (e->live.normal >= e->config.max_queue)
        return status_hint(status_error(STATUS_BUSY, "the queue is full: %u jobs of %u", e->live.normal,
                                        e->config.max_queue),
                           "try again later");
    if (e->queue_bytes + submit->request_bytes > e->config.max_queue_bytes)
        return status_hint(
            status_error(STATUS_BUSY, "the queue is full: %llu of %llu bytes, and the request has %llu",
                         (unsigned long long)e->queue_bytes, (unsigned long long)e->config.max_queue_bytes,
                         (unsigned long long)submit->request_bytes),
            "try again later");
    return status_ok();
}

/* ---- events ---- */

static void device_lost(struct engine *e, const struct engine_event *event)
{
    CHECK(event->device < devices_count(e));
    e->devices[event->device].lost = true;
    /* What ran there comes home with STATUS_DEVICE and is tried elsewhere, unless there is no elsewhere. */
    struct status s = status_within(event->status, "every device is lost");
    s.code = STATUS_DEVICE;
    for (uint32_t i = 0; i < e->jobs_count; i++)
        if (all_devices_lost(e, e->jobs[i]->submit.reserved))
            job_end(e, e->jobs[i], &s);
}

static void time_passes(struct engine *e)
{
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (!job_live(job))
            continue;
        if (job->submit.deadline_ms != 0 && e->now_ms >= job->submit.deadline_ms) {
            struct status s = status_error(STATUS_CANCELLED, "the deadline passed after %llu ms",
                                           (unsigned long long)(e->now_ms - job->created_ms));
            job_end(e, job, &s);
        } else if (job->orphaned_ms != UINT64_MAX && e->now_ms - job->orphaned_ms >= e->config.orphan_ms) {
            struct status s = status_error(STATUS_CANCELLED, "nobody has waited for the proof for %llu ms",
                                           (unsigned long long)(e->now_ms - job->orphaned_ms));
            job_end(e, job, &s);
        }
    }
}

static void job_event(struct engine *e, struct job *job, const struct engine_event *event)
{
    bool of_partition =
        event->kind == EVENT_SYNTHESISED || event->kind == EVENT_STARTED || event->kind == EVENT_FINISHED;
    CHECK(!of_partition || event->partition < job->submit.partitions);
    switch (event->kind) {
    case EVENT_OPENED:
        job_opened(e, job, &event->status);
        break;
    case EVENT_SYNTHESISED:
        partition_synthesised(e, job, event->partition, &event->status);
        break;
    case EVENT_STARTED:
        partition_started(e, job, event->partition, &event->status);
        break;
    case EVENT_FINISHED:
        partition_finished(e, job, event->partition, &event->status);
        break;
    case EVENT_VERIFIED:
        job_verified(e, job, &event->status);
        break;
    case EVENT_CANCEL:
        job_end(e, job, &event->status);
        break;
    case EVENT_CALLER_GONE:
        if (!job->submit.keep_when_orphaned && job->orphaned_ms == UINT64_MAX)
            job->orphaned_ms = e->now_ms;
        break;
    case EVENT_CALLER_BACK:
        job->orphaned_ms = UINT64_MAX;
        job->submit.keep_when_orphaned |= event->submit.keep_when_orphaned;
        if (event->submit.deadline_ms == 0)
            job->submit.deadline_ms = 0;
        else if (job->submit.deadline_ms != 0 && event->submit.deadline_ms > job->submit.deadline_ms)
            job->submit.deadline_ms = event->submit.deadline_ms;
        break;
    default:
        CHECK(false && "an event of jobs");
    }
}

void engine_step(struct engine *e, uint64_t now_ms, const struct engine_event *event,
                 const struct engine_action **actions, size_t *actions_count)
{
    CHECK(now_ms >= e->now_ms);
    e->now_ms = now_ms;
    e->actions_count = 0;
    struct job *job;
    switch (event->kind) {
    case EVENT_SUBMIT:
        job_submit(e, event->job, &event->submit);
        break;
    case EVENT_LOAD:
    case EVENT_CIRCUIT:
    case EVENT_CIRCUIT_GONE:
        CHECK(event->circuit < e->circuits_count);
        if (event->kind == EVENT_LOAD) {
            e->circuits[event->circuit].asked = true;
            circuit_want(e, event->circuit);
        } else if (event->kind == EVENT_CIRCUIT) {
            circuit_loaded(e, event);
        } else {
            circuit_gone(e, event->circuit);
        }
        break;
    case EVENT_DEVICE_LOST:
        device_lost(e, event);
        break;
    case EVENT_BUDGET:
        e->budget = event->bytes < e->config.host_budget ? event->bytes : e->config.host_budget;
        break;
    case EVENT_DRAIN:
        e->draining = true;
        break;
    case EVENT_TICK:
        break;
    default:
        job = find_job(e, event->job);
        if (job != NULL)
            job_event(e, job, event);
    }
    time_passes(e);
    jobs_close(e);
    jobs_forget(e);
    circuits_load(e);
    schedule(e);
    *actions = e->actions;
    *actions_count = e->actions_count;
}

static void sooner(uint64_t *tick, uint64_t at)
{
    if (at < *tick)
        *tick = at;
}

uint64_t engine_next_tick(const struct engine *e)
{
    uint64_t tick = circuits_tick(e);
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (!job_live(job))
            continue;
        if (job->submit.deadline_ms != 0)
            sooner(&tick, job->submit.deadline_ms);
        if (job->orphaned_ms != UINT64_MAX)
            sooner(&tick, job->orphaned_ms + e->config.orphan_ms);
    }
    if (e->retained_count > 0)
        sooner(&tick, e->retained[e->retained_first].until_ms);
    return tick;
}
