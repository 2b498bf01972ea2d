/* Inside of the state machine. Everything here is plain data changed by one thread at a time. */
#ifndef CUZK_ENGINE_INTERNAL_H
#define CUZK_ENGINE_INTERNAL_H

#include "engine/engine.h"

#define ATTEMPTS_MAX     3  /* of a partition whose proof did not verify, or whose device was lost */
#define RESERVED_SEATS   16 /* jobs admitted beside a full queue */
#define GROUPING_MS      300000
#define CIRCUIT_RETRY_MS 10000

enum job_stage {
    STAGE_WAITING, /* not yet opened */
    STAGE_OPENING,
    STAGE_RUNNING, /* partitions */
    STAGE_VERIFYING,
    STAGE_ENDED, /* answered; partitions may still come home; retained */
};

struct partition {
    enum partition_state state;
    bool permit;   /* holds one: in synthesis, or synthesised and not yet taken by the ready queue */
    bool queued;   /* in the ready queue */
    bool started;  /* prove_start has returned: waits for a finisher, still in its worker's slot */
    bool stopping; /* ACTION_STOP was given */
    uint32_t device, attempts;
    uint64_t lease;
};

struct job {
    job_id id;
    struct engine_submit submit;
    enum job_stage stage;
    uint64_t created_ms, ended_ms, orphaned_ms; /* orphaned: UINT64_MAX while a caller waits */
    bool opening_stopped;
    uint32_t done, in_flight; /* partitions proved; partitions with an event outstanding */
    struct partition partitions[];
};

enum circuit_stage { CIRCUIT_COLD, CIRCUIT_LOADING, CIRCUIT_READY, CIRCUIT_FAILED };
struct circuit_entry {
    struct engine_circuit facts;
    enum circuit_stage stage;
    struct status failure;
    uint64_t failed_ms;
};

struct device_entry {
    bool lost;
    uint32_t busy; /* workers in use */
};

struct engine {
    struct engine_config config;
    struct circuit_entry circuits[ENGINE_CIRCUITS_MAX];
    uint32_t circuits_count;
    struct device_entry devices[ENGINE_DEVICES_MAX];
    struct job **jobs; /* live and retained, oldest first */
    uint32_t jobs_count, jobs_capacity;
    struct engine_action *actions;
    size_t actions_count, actions_capacity;
    uint64_t now_ms, lease_bytes, lease_peak, queue_bytes;
    uint32_t live, live_reserved, opening, permits, permits_reserved, ready, finishing;
    bool draining, drained;
};

/* ---- actions.c ---- */
void act(struct engine *e, enum engine_action_kind kind, const struct job *job, uint32_t partition);
void act_circuit(struct engine *e, enum engine_action_kind kind, uint32_t circuit);
void act_end(struct engine *e, const struct job *job, const struct status *status);

/* ---- jobs.c: the life of a job ---- */
struct job *find_job(const struct engine *e, job_id id);
void job_submit(struct engine *e, job_id id, const struct engine_submit *submit);
/* Answers the callers and lets go of everything; what runs is stopped. */
void job_end(struct engine *e, struct job *job, const struct status *status);
void job_opened(struct engine *e, struct job *job, const struct status *status);
void job_verified(struct engine *e, struct job *job, const struct status *status);
void partition_synthesised(struct engine *e, struct job *job, uint32_t k, const struct status *status);
void partition_started(struct engine *e, struct job *job, uint32_t k, const struct status *status);
void partition_finished(struct engine *e, struct job *job, uint32_t k, const struct status *status);
void lease_set(struct engine *e, struct partition *p, uint64_t bytes);
void jobs_forget(struct engine *e); /* retention */
uint32_t permits_of(const struct engine *e);
uint32_t ready_capacity(const struct engine *e);

/* ---- schedule.c: who goes next ---- */
void schedule(struct engine *e);
bool job_before(const struct engine *e, const struct job *a, const struct job *b);
bool all_devices_lost(const struct engine *e);

static inline bool job_live(const struct job *job)
{
    return job->stage != STAGE_ENDED;
}
static inline const struct engine_circuit *circuit_of(const struct engine *e, const struct job *job)
{
    return &e->circuits[job->submit.circuit].facts;
}

#endif
