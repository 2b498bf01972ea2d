/* /status: the engine at this moment, as JSON. The names of the older daemon come first in each object; what
 * is added here follows. */
#include "serve/http/internal.h"

#include "base/mem.h"
#include "serve/submission.h"
#include <stdio.h>
#include <string.h>

static const enum proof_kind KINDS[] = {PROOF_POREP, PROOF_SNAP, PROOF_WINDOW, PROOF_WINNING};
#define KINDS_COUNT (sizeof KINDS / sizeof *KINDS)

/* Both forms of a sector update are one kind to clients. */
static uint64_t of_kind(const uint64_t *counts, enum proof_kind kind)
{
    return counts[kind] + (kind == PROOF_SNAP ? counts[PROOF_SNAP_POSEIDON] : 0);
}

static uint64_t sum(const uint64_t *counts)
{
    uint64_t total = 0;
    for (int k = 0; k < PROOF_KINDS; k++)
        total += counts[k];
    return total;
}

static const char *state_name(enum job_state state)
{
    static const char *const names[] = {"unknown", "queued", "running", "completed", "failed", "cancelled"};
    return names[state];
}

/* ---- jobs ---- */

static uint64_t span(const uint32_t *at, enum partition_time from, enum partition_time to, uint64_t age)
{
    uint64_t end = at[to] != TIME_NONE ? at[to] : age;
    return end > at[from] ? end - at[from] : 0;
}

static void partition(struct text *t, const struct service_job_view *job, uint32_t k)
{
    static const char *const states[] = {"pending", "synthesizing", "synth_done", "gpu",
                                         "gpu",     "done",         "failed"};
    static const char *const stages[] = {"pending", "synthesis", "ready", "device",
                                         "finish",  "done",      "failed"};
    static const char *const times[PARTITION_TIMES] = {"synthesis", "ready", "device", "pending", "end"};
    const uint32_t *at = job->at_ms[k];
    text_open(t, NULL, '{');
    text_number(t, "index", k);
    text_value(t, "state", states[job->partition[k]]);
    if (at[TIME_SYNTHESIS] != TIME_NONE)
        text_number(t, "synth_ms", span(at, TIME_SYNTHESIS, TIME_READY, job->age_ms));
    else
        text_null(t, "synth_ms");
    if (at[TIME_DEVICE] != TIME_NONE)
        text_number(t, "gpu_ms", span(at, TIME_DEVICE, TIME_PENDING, job->age_ms));
    else
        text_null(t, "gpu_ms");
    text_value(t, "stage", stages[job->partition[k]]);
    if (at[TIME_DEVICE] != TIME_NONE)
        text_number(t, "device", job->device[k]);
    text_open(t, "at_ms", '{');
    for (int i = 0; i < PARTITION_TIMES; i++)
        if (at[i] != TIME_NONE)
            text_number(t, times[i], at[i]);
    text_close(t, '}');
    text_close(t, '}');
}

static void pipelines(struct text *t, const struct service_view *v)
{
    static const char *const priorities[PRIORITY_COUNT] = {"critical", "high", "normal", "low"};
    text_open(t, "pipelines", '[');
    for (uint32_t i = 0; i < v->jobs_count; i++) {
        const struct service_job_view *job = &v->jobs[i];
        text_open(t, NULL, '{');
        text_value(t, "job_id", job->id);
        text_value(t, "proof_kind", wire_kind_name(job->kind));
        text_seconds(t, "started_secs_ago", job->age_ms);
        text_number(t, "total_partitions", job->partitions);
        text_number(t, "partitions_done", job->partitions_done);
        text_open(t, "partitions", '[');
        for (uint32_t k = 0; k < job->partitions; k++)
            partition(t, job, k);
        text_close(t, ']');
        text_value(t, "request_id", job->request_id);
        text_value(t, "state", state_name(job->state));
        text_value(t, "priority", priorities[job->priority]);
        text_close(t, '}');
    }
    text_close(t, ']');
}

static void recent(struct text *t, const struct service_view *v)
{
    text_open(t, "recent", '[');
    for (uint32_t i = 0; i < v->ended_count; i++) {
        const struct service_ended_view *e = &v->ended[i];
        text_open(t, NULL, '{');
        text_value(t, "job_id", e->id);
        text_value(t, "request_id", e->request_id);
        text_value(t, "proof_kind", wire_kind_name(e->kind));
        text_value(t, "state", state_name(e->state));
        text_seconds(t, "ended_secs_ago", e->ended_ms_ago);
        text_seconds(t, "total_secs", e->total_ms);
        text_value(t, "error", e->reason);
        text_close(t, '}');
    }
    text_close(t, ']');
}

/* ---- devices ---- */

/* A worker of a device is a partition that is on it, or idle. */
static void workers_of(struct text *t, const struct service_view *v, uint32_t device, uint32_t *worker)
{
    uint32_t busy = 0;
    for (uint32_t i = 0; i < v->jobs_count; i++) {
        const struct service_job_view *job = &v->jobs[i];
        for (uint32_t k = 0; k < job->partitions; k++) {
            if (job->partition[k] != PARTITION_DEVICE || job->device[k] != device)
                continue;
            text_open(t, NULL, '{');
            text_number(t, "worker_id", (*worker)++);
            text_number(t, "gpu_ordinal", device);
            text_value(t, "state", "proving");
            text_value(t, "current_job", job->id);
            text_number(t, "current_partition", k);
            text_seconds(t, "busy_secs", span(job->at_ms[k], TIME_DEVICE, TIME_END, job->age_ms));
            text_close(t, '}');
            busy++;
        }
    }
    for (; busy < v->workers_per_device; busy++) {
        text_open(t, NULL, '{');
        text_number(t, "worker_id", (*worker)++);
        text_number(t, "gpu_ordinal", device);
        text_value(t, "state", "idle");
        text_null(t, "current_job");
        text_null(t, "current_partition");
        text_number(t, "busy_secs", 0);
        text_close(t, '}');
    }
}

static void devices(struct text *t, const struct service_view *v)
{
    static const char *const states[] = {
        [DEVICE_READY] = "ready", [DEVICE_BUSY] = "busy", [DEVICE_LOST] = "lost"};
    uint32_t worker = 0;
    text_open(t, "gpu_workers", '[');
    for (uint32_t d = 0; d < v->devices_count; d++)
        workers_of(t, v, d, &worker);
    text_close(t, ']');
    text_open(t, "devices", '[');
    for (uint32_t d = 0; d < v->devices_count; d++) {
        text_open(t, NULL, '{');
        text_number(t, "ordinal", d);
        text_value(t, "name", v->devices[d].name);
        text_value(t, "state", states[v->devices[d].state]);
        text_value(t, "current_job", v->devices[d].job);
        text_seconds(t, "busy_secs", v->devices[d].busy_ms);
        text_number(t, "strikes", v->devices[d].strikes);
        text_close(t, '}');
    }
    text_close(t, ']');
}

/* ---- memory ---- */

static uint64_t circuits_bytes(const struct service_view *v)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < v->circuits_count; i++)
        bytes += v->circuits[i].bytes;
    return bytes;
}

static void memory(struct text *t, const struct site *site, const struct service_view *v)
{
    struct site_memory m;
    struct ledger_view requests = {.used = 0};
    memset(&m, 0, sizeof m);
    site->options.memory(site->options.context, &m);
    if (site->options.ledger != NULL)
        ledger_look(site->options.ledger, LEDGER_HOST, &requests);
    uint64_t parameters = circuits_bytes(v);
    uint64_t used = v->counts.lease_bytes + requests.used + parameters;
    text_open(t, "memory", '{');
    text_number(t, "total_bytes", m.budget_bytes);
    text_number(t, "used_bytes", used);
    text_number(t, "available_bytes", m.budget_bytes > used ? m.budget_bytes - used : 0);
    text_number(t, "partitions_bytes", v->counts.lease_bytes);
    text_number(t, "partitions_peak_bytes", v->counts.lease_peak);
    text_number(t, "requests_bytes", requests.used);
    text_number(t, "parameters_bytes", parameters);
    text_number(t, "process_bytes", m.process_bytes);
    text_number(t, "resident_bytes", m.resident_bytes);
    text_number(t, "limit_now_bytes", v->counts.budget);
    text_bool(t, "short", v->counts.short_of_memory);
    text_number(t, "machine_bytes", m.machine_bytes);
    text_number(t, "machine_available_bytes", m.machine_available_bytes);
    text_close(t, '}');
}

static void plan(struct text *t, const struct plan *p)
{
    if (p->circuits_count == 0)
        return;
    text_open(t, "plan", '{');
    text_number(t, "budget_bytes", p->budget);
    text_number(t, "baseline_bytes", p->baseline);
    text_number(t, "threads_bytes", p->threads);
    text_number(t, "requests_bytes", p->requests);
    text_number(t, "winning_bytes", p->winning);
    text_number(t, "peak_bytes", p->peak);
    text_bool(t, "fits", p->fits);
    text_number(t, "partition_workers", p->partition_workers);
    text_number(t, "ready_capacity", p->ready_capacity);
    text_number(t, "device_workers", p->device_workers);
    text_number(t, "finishers", p->finishers);
    text_open(t, "circuits", '[');
    for (uint32_t i = 0; i < p->circuits_count; i++) {
        const struct plan_circuit *c = &p->circuits[i];
        text_open(t, NULL, '{');
        text_value(t, "circuit_id", c->name);
        text_number(t, "parameters_bytes", c->facts.load_bytes);
        text_number(t, "kept_bytes", c->kept);
        text_number(t, "waiting_bytes", c->waiting);
        text_number(t, "devices_bytes", c->devices);
        text_number(t, "finishing_bytes", c->finishing);
        text_number(t, "peak_bytes", c->peak);
        text_bool(t, "fits", c->fits);
        text_number(t, "partition_workers_most", c->workers_most);
        text_close(t, '}');
    }
    text_close(t, ']');
    text_close(t, '}');
}

static void allocation(struct text *t, const struct service_circuit_view *c, uint64_t bytes)
{
    text_open(t, NULL, '{');
    text_value(t, "circuit_id", c->name);
    text_number(t, "bytes", bytes);
    text_seconds(t, "last_used_secs_ago", c->idle_ms);
    text_bool(t, "evictable", c->references == 0 && strncmp(c->name, "winning-", 8) != 0);
    text_number(t, "references", c->references);
    text_close(t, '}');
}

static void allocations(struct text *t, const struct service_view *v)
{
    text_open(t, "allocations", '{');
    text_open(t, "srs", '[');
    for (uint32_t i = 0; i < v->circuits_count; i++)
        if (v->circuits[i].loaded)
            allocation(t, &v->circuits[i], v->circuits[i].bytes - v->circuits[i].shape_bytes);
    text_close(t, ']');
    text_open(t, "pce", '[');
    for (uint32_t i = 0; i < v->circuits_count; i++)
        if (v->circuits[i].loaded)
            allocation(t, &v->circuits[i], v->circuits[i].shape_bytes);
    text_close(t, ']');
    text_open(t, "loading", '[');
    for (uint32_t i = 0; i < v->circuits_count; i++)
        if (v->circuits[i].loading)
            text_value(t, NULL, v->circuits[i].name);
    text_close(t, ']');
    text_open(t, "failed", '[');
    for (uint32_t i = 0; i < v->circuits_count; i++)
        if (v->circuits[i].failed)
            text_value(t, NULL, v->circuits[i].name);
    text_close(t, ']');
    text_close(t, '}');
}

/* ---- counts ---- */

static void by_kind(struct text *t, const char *name, const uint64_t *counts)
{
    text_open(t, name, '{');
    for (size_t i = 0; i < KINDS_COUNT; i++)
        text_number(t, wire_kind_name(KINDS[i]), of_kind(counts, KINDS[i]));
    text_close(t, '}');
}

static void counters(struct text *t, const struct service_view *v)
{
    text_open(t, "counters", '{');
    text_number(t, "total_completed", sum(v->completed));
    text_number(t, "total_failed", sum(v->failed));
    by_kind(t, "completed_by_kind", v->completed);
    by_kind(t, "failed_by_kind", v->failed);
    text_number(t, "queue_depth", v->counts.jobs_waiting);
    text_number(t, "running", v->counts.jobs_running);
    by_kind(t, "late_by_kind", v->late);
    text_close(t, '}');
    text_open(t, "queues", '[');
    for (size_t i = 0; i < KINDS_COUNT; i++) {
        uint64_t both[2][PROOF_KINDS];
        for (int k = 0; k < PROOF_KINDS; k++) {
            both[0][k] = v->pending[k];
            both[1][k] = v->in_progress[k];
        }
        text_open(t, NULL, '{');
        text_value(t, "proof_kind", wire_kind_name(KINDS[i]));
        text_number(t, "pending", of_kind(both[0], KINDS[i]));
        text_number(t, "in_progress", of_kind(both[1], KINDS[i]));
        text_close(t, '}');
    }
    text_close(t, ']');
}

static void stages(struct text *t, const struct service_view *v)
{
    const struct engine_counts *c = &v->counts;
    uint32_t active = c->permits_in_use > c->ready_waiting ? c->permits_in_use - c->ready_waiting : 0;
    text_open(t, "synthesis", '{');
    text_number(t, "max_concurrent", v->partition_workers);
    text_number(t, "active", active);
    text_number(t, "permits_in_use", c->permits_in_use);
    text_number(t, "waiting_for_queue", c->ready_waiting);
    text_close(t, '}');
    text_open(t, "ready_queue", '{');
    text_number(t, "length", c->ready_length);
    text_number(t, "capacity", c->ready_capacity);
    text_close(t, '}');
    text_open(t, "buffers", '{');
    text_number(t, "synth_in_flight", active);
    text_number(t, "provers_in_flight", c->ready_waiting + c->ready_length + c->devices_busy);
    text_number(t, "aux_in_flight", c->ready_waiting + c->ready_length + c->devices_busy);
    text_number(t, "shells_in_flight", c->pending_proofs + c->finishing);
    text_number(t, "pending_handles", c->pending_proofs);
    text_close(t, '}');
}

static void daemon_itself(struct text *t, const struct site *site, const struct service_view *v)
{
    struct site_phase phases[SITE_PHASES];
    size_t count = site->options.phases(site->options.context, phases);
    text_number(t, "uptime_secs", v->uptime_ms / 1000);
    text_value(t, "version", site->options.version);
    text_bool(t, "ready", proving_serves(site->options.proving, v, ""));
    text_bool(t, "draining", proving_is_draining(site->options.proving));
    text_open(t, "phases", '[');
    for (size_t i = 0; i < count; i++) {
        text_open(t, NULL, '{');
        text_value(t, "name", phases[i].name);
        text_seconds(t, "secs", phases[i].ms);
        text_bool(t, "running", phases[i].running);
        text_close(t, '}');
    }
    text_close(t, ']');
}

struct status site_status(void *context, const struct http_request *request, struct http_reply *reply)
{
    const struct site *site = context;
    struct text t;
    struct service_view *v = mem_alloc(1, sizeof *v);
    (void)request;
    if (v == NULL)
        return mem_failed("view", 1, sizeof *v);
    service_look(site->options.service, v);
    text_begin(&t, 16384);
    text_open(&t, NULL, '{');
    daemon_itself(&t, site, v);
    memory(&t, site, v);
    plan(&t, &v->plan);
    stages(&t, v);
    pipelines(&t, v);
    devices(&t, v);
    allocations(&t, v);
    counters(&t, v);
    recent(&t, v);
    text_close(&t, '}');
    mem_free(v);
    reply->type = "application/json";
    reply->anyone = true;
    return text_reply(reply, &t);
}
