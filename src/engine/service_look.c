/* Looking at the service: copies under the lock, microseconds each; texts are written after it. */
#include "engine/service_internal.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static void view_job(struct engine_service *s, struct service_job_view *v, const struct record *r,
                     uint64_t now)
{
    memset(v, 0, sizeof *v);
    memcpy(v->id, r->id, sizeof v->id);
    snprintf(v->request_id, sizeof v->request_id, "%s", r->request_id);
    v->kind = r->outline.kind;
    v->state = r->state;
    v->priority = r->priority;
    v->age_ms = now - r->submitted_ms;
    if (!engine_job_partitions(s->engine, r->number, v->partition, &v->partitions))
        return;
    for (uint32_t k = 0; k < v->partitions; k++) {
        const struct part *p = &r->parts[k];
        v->partitions_done += v->partition[k] == PARTITION_DONE;
        v->device[k] = (uint8_t)p->device;
        for (int t = 0; t < PARTITION_TIMES; t++)
            v->at_ms[k][t] = p->at_ms[t] == 0 ? TIME_NONE : (uint32_t)(p->at_ms[t] - r->submitted_ms);
    }
}

static void view_circuit(struct service_circuit_view *v, const struct circuit *c, uint64_t now)
{
    memset(v, 0, sizeof *v);
    memcpy(v->name, c->name, sizeof v->name);
    v->loaded = c->state == HERE_READY;
    v->loading = c->state == HERE_LOADING;
    v->failed = c->state == HERE_FAILED;
    v->bytes = c->bytes;
    v->shape_bytes = v->loaded && c->content.shape != NULL ? shape_bytes(c->content.shape) : 0;
    v->references = c->references;
    v->idle_ms = c->references == 0 && c->used_ms != 0 ? now - c->used_ms : 0;
}

static void view_device(struct engine_service *s, struct service_device_view *v, uint32_t d, uint64_t now)
{
    struct device *device = s->devices[d];
    const struct device_work *work = &s->device_work[d];
    struct status reason;
    memset(v, 0, sizeof *v);
    snprintf(v->name, sizeof v->name, "%s", device->operations->name);
    bool off;
    v->strikes = engine_strikes(s->engine, d, &off);
    v->state = device->operations->state(device, &reason);
    if (off)
        v->state = DEVICE_LOST;
    if (v->state == DEVICE_READY && work->busy > 0)
        v->state = DEVICE_BUSY;
    if (work->busy > 0) {
        memcpy(v->job, work->job, sizeof v->job);
        v->kind = work->kind;
        v->busy_ms = now - work->since_ms;
    }
}

static void view_ended(struct service_view *v, const struct engine_service *s, uint64_t now)
{
    while (v->ended_count < SERVICE_ENDED_VIEW && v->ended_count < s->ended_total) {
        struct service_ended_view *e = &v->ended[v->ended_count++];
        *e = s->ended[(s->ended_total - v->ended_count) % SERVICE_ENDED_VIEW];
        e->ended_ms_ago = now - e->ended_ms_ago;
    }
}

uint64_t service_silence_ms(struct engine_service *s)
{
    uint64_t now = service_clock_ms(), round = atomic_load_explicit(&s->round_ms, memory_order_relaxed);
    return now > round ? now - round : 0;
}

static int64_t unaccounted(const struct engine_service *s, const struct engine_counts *c)
{
    const struct service_memory *m = &s->memory;
    return m->process_bytes == 0
               ? 0
               : (int64_t)m->process_bytes - (int64_t)(m->other_bytes + c->parameter_bytes + c->lease_bytes);
}

/* What the process uses beyond what the ledger knows, and beyond what the ledger may be off, is nobody's to
 * give: the budget is less by that. */
static uint64_t honest_budget(const struct engine_service *s, const struct engine_counts *c)
{
    uint64_t budget = s->memory.budget < s->config.host_budget ? s->memory.budget : s->config.host_budget;
    int64_t over = unaccounted(s, c) - (int64_t)(s->memory.process_bytes / 20) - (INT64_C(32) << 20);
    if (over <= 0)
        return budget;
    uint64_t left = s->config.host_budget > (uint64_t)over ? s->config.host_budget - (uint64_t)over : 0;
    return left < budget ? left : budget;
}

void service_memory(struct engine_service *s, const struct service_memory *memory)
{
    struct engine_event event = {.kind = EVENT_BUDGET};
    struct engine_counts counts;
    service_lock(s);
    s->memory = *memory;
    engine_counts(s->engine, &counts);
    event.bytes = honest_budget(s, &counts);
    service_step(s, &event);
    engine_counts(s->engine, &counts);
    if (counts.short_of_memory && !s->short_of_memory)
        service_say(s, 1,
                    "the machine is short of memory: %llu MiB of %llu MiB are left for proofs, of which "
                    "%llu MiB are in use; new partitions wait",
                    (unsigned long long)(event.bytes >> 20),
                    (unsigned long long)(s->config.host_budget >> 20),
                    (unsigned long long)((counts.parameter_bytes + counts.lease_bytes) >> 20));
    else if (!counts.short_of_memory && s->short_of_memory)
        service_say(s, 2, "there is memory again: %llu MiB for proofs",
                    (unsigned long long)(event.bytes >> 20));
    s->short_of_memory = counts.short_of_memory;
    service_unlock(s);
}

void service_look(struct engine_service *s, struct service_view *out)
{
    memset(out, 0, sizeof *out);
    service_lock(s);
    uint64_t now = service_clock_ms();
    engine_counts(s->engine, &out->counts);
    out->uptime_ms = now - s->started_ms;
    out->partition_workers = s->config.partition_workers;
    out->workers_per_device = s->config.workers_per_device;
    memcpy(out->completed, s->metrics.completed, sizeof out->completed);
    memcpy(out->failed, s->metrics.failed, sizeof out->failed);
    memcpy(out->late, s->metrics.late, sizeof out->late);
    out->spare_cpu = s->config.spare_device;
    out->plan = s->plan;
    out->memory = s->memory;
    out->unaccounted_bytes = unaccounted(s, &out->counts);
    for (const struct record *r = s->live_first; r != NULL; r = r->live_after) {
        *(r->state == JOB_RUNNING ? &out->in_progress[r->outline.kind] : &out->pending[r->outline.kind]) += 1;
        if (out->jobs_count < SERVICE_JOBS_VIEW)
            view_job(s, &out->jobs[out->jobs_count++], r, now);
    }
    view_ended(out, s, now);
    out->circuits_count = s->circuits_count;
    for (uint32_t i = 0; i < s->circuits_count; i++)
        view_circuit(&out->circuits[i], &s->circuits[i], now);
    out->devices_count = s->devices_count;
    for (uint32_t d = 0; d < s->devices_count; d++)
        view_device(s, &out->devices[d], d, now);
    service_unlock(s);
}

static void fill_now(struct engine_service *s, struct metrics_now *n)
{
    static const char *const STATE[] = {
        [DEVICE_READY] = "ready", [DEVICE_BUSY] = "busy", [DEVICE_LOST] = "lost"};
    memset(n, 0, sizeof *n);
    engine_counts(s->engine, &n->counts);
    n->uptime_ms = service_clock_ms() - s->started_ms;
    n->host_budget = s->config.host_budget;
    n->plan = &s->plan;
    n->memory = s->memory;
    n->unaccounted_bytes = unaccounted(s, &n->counts);
    keeper_look(s, n);
    n->device_workers = s->config.devices * s->config.workers_per_device;
    for (const struct record *r = s->live_first; r != NULL; r = r->live_after) {
        *(r->state == JOB_RUNNING ? &n->in_progress[r->outline.kind] : &n->pending[r->outline.kind]) += 1;
        n->by_priority[r->priority]++;
    }
    n->circuits_count = s->circuits_count;
    for (uint32_t i = 0; i < s->circuits_count; i++) {
        memcpy(n->circuits[i].name, s->circuits[i].name, sizeof n->circuits[i].name);
        n->circuits[i].evictions = s->circuits[i].evictions;
        n->circuits_bytes += s->circuits[i].bytes;
    }
    n->devices_count = s->devices_count;
    for (uint32_t d = 0; d < s->devices_count; d++) {
        struct service_device_view v;
        view_device(s, &v, d, s->started_ms);
        n->device_names[d] = s->devices[d]->operations->name;
        n->device_states[d] = STATE[v.state];
        n->device_strikes[d] = v.strikes;
    }
}

struct status service_metrics(struct engine_service *s, char **text, size_t *size)
{
    struct {
        struct metrics metrics;
        struct metrics_now now;
    } *copy = mem_alloc(1, sizeof *copy);
    *text = NULL;
    *size = 0;
    if (copy == NULL)
        return mem_failed("metrics", 1, sizeof *copy);
    service_lock(s);
    copy->metrics = s->metrics;
    fill_now(s, &copy->now);
    service_unlock(s);
    struct status status = metrics_write(text, size, &copy->metrics, &copy->now);
    mem_free(copy);
    return status;
}
