/* See metrics.h. */
#include "engine/metrics.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint64_t BOUNDS_MS[METRIC_BUCKETS] = {10,   50,    100,   250,   500,    1000,   2500,
                                                   5000, 10000, 30000, 60000, 120000, 300000, 1200000};
static const char *const KIND[PROOF_KINDS] = {"porep_c2", "winning_post", "window_post", "snap_update",
                                              "snap_update_poseidon"};
static const char *const STAGE[METRIC_STAGES] = {"decode", "synthesis", "ready_wait", "srs_load",
                                                 "device", "finish",    "verify"};
static const char *const PRIORITY[PRIORITY_COUNT] = {"critical", "high", "normal", "low"};

void histogram_add(struct histogram *h, uint64_t ms)
{
    int i = 0;
    while (i < METRIC_BUCKETS && ms > BOUNDS_MS[i])
        i++;
    h->buckets[i]++;
    h->count++;
    h->sum_ms += ms;
}

/* ---- a text that grows ---- */

struct text {
    char *data;
    size_t used, capacity;
    bool failed;
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
    va_list list;
    for (int attempt = 0; attempt < 2 && !t->failed; attempt++) {
        va_start(list, format);
        size_t room = t->capacity - t->used;
        int n = vsnprintf(t->data + t->used, room, format, list);
        va_end(list);
        if (n >= 0 && (size_t)n < room) {
            t->used += (size_t)n;
            return;
        }
        char *grown = mem_grow(t->data, t->capacity, 2 * t->capacity + 1024, 1);
        if (grown == NULL) {
            t->failed = true;
            return;
        }
        t->data = grown;
        t->capacity = 2 * t->capacity + 1024;
    }
    t->failed = true;
}

static void head(struct text *t, const char *name, const char *type, const char *help)
{
    put(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void value(struct text *t, const char *name, const char *type, const char *help, uint64_t v)
{
    head(t, name, type, help);
    put(t, "%s %" PRIu64 "\n", name, v);
}

static void by_kind(struct text *t, const char *name, const char *help, const uint64_t *values)
{
    head(t, name, "counter", help);
    for (int k = 0; k < PROOF_KINDS; k++)
        put(t, "%s{proof_kind=\"%s\"} %" PRIu64 "\n", name, KIND[k], values[k]);
}

static void put_histogram(struct text *t, const char *name, const char *labels, const struct histogram *h)
{
    uint64_t sum = 0;
    for (int i = 0; i < METRIC_BUCKETS; i++) {
        sum += h->buckets[i];
        put(t, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels, (double)BOUNDS_MS[i] / 1000, sum);
    }
    put(t, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, h->count);
    put(t, "%s_sum{%s} %.3f\n%s_count{%s} %" PRIu64 "\n", name, labels, (double)h->sum_ms / 1000, name,
        labels, h->count);
}

static void put_histograms(struct text *t, const struct metrics *m)
{
    char labels[96];
    head(t, "cuzk_proof_duration_seconds", "histogram", "From submission to the verified proof.");
    for (int k = 0; k < PROOF_KINDS; k++) {
        snprintf(labels, sizeof labels, "proof_kind=\"%s\"", KIND[k]);
        put_histogram(t, "cuzk_proof_duration_seconds", labels, &m->duration[k]);
    }
    head(t, "cuzk_stage_seconds", "histogram", "Time in one stage, of a partition or a job.");
    for (int k = 0; k < PROOF_KINDS; k++) {
        for (int s = 0; s < METRIC_STAGES; s++) {
            if (m->stage[k][s].count == 0)
                continue;
            snprintf(labels, sizeof labels, "proof_kind=\"%s\",stage=\"%s\"", KIND[k], STAGE[s]);
            put_histogram(t, "cuzk_stage_seconds", labels, &m->stage[k][s]);
        }
    }
}

static void put_plan(struct text *t, const struct plan *p)
{
    if (p->circuits_count == 0)
        return;
    head(t, "cuzk_plan_peak_bytes", "gauge", "Predicted peak of the process while it proves this circuit.");
    for (uint32_t i = 0; i < p->circuits_count; i++)
        put(t, "cuzk_plan_peak_bytes{circuit=\"%s\"} %" PRIu64 "\n", p->circuits[i].name,
            p->circuits[i].peak);
    value(t, "cuzk_plan_budget_bytes", "gauge", "What the plan was made for.", p->budget);
}

static void put_process(struct text *t, const struct metrics_now *n)
{
    if (n->memory.process_bytes == 0)
        return; /* nobody has told */
    head(t, "cuzk_process_bytes", "gauge",
         "What the process uses: anonymous, shared and pinned; mapped files.");
    put(t, "cuzk_process_bytes{kind=\"used\"} %" PRIu64 "\n", n->memory.process_bytes);
    put(t, "cuzk_process_bytes{kind=\"mapped\"} %" PRIu64 "\n", n->memory.mapped_bytes);
    head(t, "cuzk_ledger_difference_bytes", "gauge",
         "What the process uses less what the ledger knows; below 0: reserved and not touched.");
    put(t, "cuzk_ledger_difference_bytes %" PRId64 "\n", n->unaccounted_bytes);
}

static void put_engine(struct text *t, const struct metrics_now *n)
{
    const struct engine_counts *c = &n->counts;
    value(t, "cuzk_queue_depth", "gauge", "Jobs that wait.", c->jobs_waiting);
    value(t, "cuzk_running_jobs", "gauge", "Jobs with work begun.", c->jobs_running);
    value(t, "cuzk_gpu_workers", "gauge", "Device workers.", n->device_workers);
    value(t, "cuzk_permits_in_use", "gauge", "Partitions in synthesis or waiting for the ready queue.",
          c->permits_in_use);
    value(t, "cuzk_ready_queue_length", "gauge", "Partitions in the ready queue.", c->ready_length);
    value(t, "cuzk_ready_queue_capacity", "gauge", "Partitions that the ready queue holds.",
          c->ready_capacity);
    value(t, "cuzk_pending_proofs", "gauge", "Partitions proved and not yet finished.",
          (uint64_t)c->pending_proofs + c->finishing);
    value(t, "cuzk_queue_bytes", "gauge", "Request bytes of jobs that have not ended.", c->queue_bytes);
    head(t, "cuzk_ledger_bytes", "gauge", "Bytes reserved, by class and purpose.");
    put(t, "cuzk_ledger_bytes{class=\"host\",purpose=\"partitions\"} %" PRIu64 "\n", c->lease_bytes);
    put(t, "cuzk_ledger_bytes{class=\"host\",purpose=\"parameters\"} %" PRIu64 "\n", n->circuits_bytes);
    head(t, "cuzk_ledger_limit_bytes", "gauge", "What parameters and partitions may hold at this moment.");
    put(t, "cuzk_ledger_limit_bytes{class=\"host\"} %" PRIu64 "\n", c->budget);
    value(t, "cuzk_ledger_plan_bytes", "gauge", "The same as it was planned at the start.", n->host_budget);
    value(t, "cuzk_short_of_memory", "gauge", "1 while proofs wait because the machine is short of memory.",
          c->short_of_memory);
    value(t, "cuzk_loads_waiting", "gauge", "Circuits whose parameters wait for room.", c->loads_waiting);
    put_plan(t, n->plan);
    put_process(t, n);
    head(t, "cuzk_queue_jobs", "gauge", "Jobs that have not ended, by priority.");
    for (int p = 0; p < PRIORITY_COUNT; p++)
        put(t, "cuzk_queue_jobs{priority=\"%s\"} %u\n", PRIORITY[p], n->by_priority[p]);
}

static void put_journal(struct text *t, const struct metrics_now *n)
{
    value(t, "cuzk_journal_degraded", "gauge", "1 while the journal cannot be written.", n->journal.degraded);
    value(t, "cuzk_journal_waiting", "gauge", "Jobs and results that are to be written.", n->journal.waiting);
    value(t, "cuzk_journal_written_total", "counter", "Jobs and results written.", n->journal.written);
}

static void put_devices(struct text *t, const struct metrics *m, const struct metrics_now *n)
{
    head(t, "cuzk_device_state", "gauge", "1 for the state that a device is in.");
    for (uint32_t d = 0; d < n->devices_count; d++)
        put(t, "cuzk_device_state{device=\"%u\",name=\"%s\",state=\"%s\"} 1\n", d, n->device_names[d],
            n->device_states[d]);
    head(t, "cuzk_device_strikes", "gauge", "Proofs of one partition that failed twice on a device.");
    for (uint32_t d = 0; d < n->devices_count; d++)
        put(t, "cuzk_device_strikes{device=\"%u\"} %u\n", d, n->device_strikes[d]);
    head(t, "cuzk_verify_failures_total", "counter", "Proofs that did not verify and were withheld.");
    for (int k = 0; k < PROOF_KINDS; k++)
        for (uint32_t d = 0; d < n->devices_count; d++)
            put(t, "cuzk_verify_failures_total{proof_kind=\"%s\",device=\"%u\"} %" PRIu64 "\n", KIND[k], d,
                m->verify_failures[k][d]);
}

struct status metrics_write(char **text, size_t *size, const struct metrics *m, const struct metrics_now *n)
{
    uint64_t completed = 0, failed = 0;
    struct text t = {.capacity = 16384};
    *text = NULL;
    *size = 0;
    t.data = mem_alloc(t.capacity, 1);
    if (t.data == NULL)
        return mem_failed("metrics", t.capacity, 1);
    for (int k = 0; k < PROOF_KINDS; k++) {
        completed += m->completed[k];
        failed += m->failed[k];
    }
    value(&t, "cuzk_uptime_seconds", "gauge", "Time since the engine started.", n->uptime_ms / 1000);
    value(&t, "cuzk_proofs_completed_total", "counter", "Proofs made and verified.", completed);
    value(&t, "cuzk_proofs_failed_total", "counter", "Jobs that failed.", failed);
    by_kind(&t, "cuzk_proofs_completed", "Proofs made and verified, by kind.", m->completed);
    by_kind(&t, "cuzk_proofs_failed", "Jobs that failed, by kind.", m->failed);
    by_kind(&t, "cuzk_proofs_cancelled", "Jobs cancelled, by kind.", m->cancelled);
    by_kind(&t, "cuzk_late_total", "Proofs that took longer than they may, by kind.", m->late);
    value(&t, "cuzk_joined_total", "counter", "Requests that joined a job.", m->joined);
    head(&t, "cuzk_rejected_total", "counter", "Requests refused before they were queued.");
    for (int c = 1; c <= STATUS_BUSY; c++)
        put(&t, "cuzk_rejected_total{reason=\"%s\"} %" PRIu64 "\n", status_code_name((enum status_code)c),
            m->rejected[c]);
    put_engine(&t, n);
    put_journal(&t, n);
    put_devices(&t, m, n);
    head(&t, "cuzk_evictions_total", "counter", "Parameters evicted.");
    for (uint32_t i = 0; i < n->circuits_count; i++)
        put(&t, "cuzk_evictions_total{circuit=\"%s\"} %" PRIu64 "\n", n->circuits[i].name,
            n->circuits[i].evictions);
    put_histograms(&t, m);
    if (t.failed) {
        mem_free(t.data);
        return mem_failed("metrics", t.capacity, 2);
    }
    *text = t.data;
    *size = t.used;
    return status_ok();
}
