/* The engine's counters and histograms, and their Prometheus text. Plain numbers, changed under the service's
 * lock; a copy of them is written out without it. */
#ifndef CUZK_ENGINE_METRICS_H
#define CUZK_ENGINE_METRICS_H

#include "engine/service.h"
#include "filecoin/registry.h"

enum metric_stage {
    METRIC_DECODE,
    METRIC_SYNTHESIS,
    METRIC_READY_WAIT,
    METRIC_LOAD,
    METRIC_DEVICE,
    METRIC_FINISH,
    METRIC_VERIFY,
    METRIC_STAGES
};

#define METRIC_BUCKETS 14
struct histogram {
    uint64_t buckets[METRIC_BUCKETS + 1]; /* the last: beyond */
    uint64_t count, sum_ms;
};

struct metrics {
    uint64_t completed[PROOF_KINDS], failed[PROOF_KINDS], cancelled[PROOF_KINDS];
    struct histogram duration[PROOF_KINDS];
    struct histogram stage[PROOF_KINDS][METRIC_STAGES];
    uint64_t verify_failures[PROOF_KINDS][ENGINE_DEVICES_MAX];
    uint64_t rejected[STATUS_BUSY + 1]; /* refused at the door, by code */
    uint64_t late[PROOF_KINDS];
    uint64_t joined;
};

void histogram_add(struct histogram *h, uint64_t ms);

/* What the text also tells, besides the counters. */
struct metrics_now {
    struct engine_counts counts;
    uint64_t uptime_ms, host_budget, circuits_bytes;
    const struct plan *plan; /* made at the start and never changed */
    struct service_memory memory;
    int64_t unaccounted_bytes;
    struct {
        bool degraded;
        uint64_t waiting, written;
    } journal;
    uint32_t device_workers, devices_count;
    uint32_t pending[PROOF_KINDS], in_progress[PROOF_KINDS], by_priority[PRIORITY_COUNT];
    struct {
        char name[CIRCUIT_NAME_MAX];
        uint64_t evictions;
    } circuits[ENGINE_CIRCUITS_MAX];
    uint32_t circuits_count;
    const char *device_names[ENGINE_DEVICES_MAX];
    const char *device_states[ENGINE_DEVICES_MAX];
    uint32_t device_strikes[ENGINE_DEVICES_MAX];
};
/* Gives *text (mem_free). */
MUST_USE struct status metrics_write(char **text, size_t *size, const struct metrics *metrics,
                                     const struct metrics_now *now);

#endif
