/* Inside of the state machine. Everything here is plain data changed by one thread at a time. */
#ifndef CUZK_ENGINE_INTERNAL_H
#define CUZK_ENGINE_INTERNAL_H

#include "engine/engine.h"

#define ATTEMPTS_MAX     3  /* of a partition whose proof did not verify, or whose device was lost */
#define RESERVED_SEATS   16 /* jobs admitted beside a full queue */
#define OPENERS          2  /* jobs decoded at once: bounds what decoding holds beside the request bytes */
#define GROUPING_MS      300000
#define DUE_MS           1800000 /* a job without a deadline counts as due this long after it came */
#define AGEING_MS        600000
#define CIRCUIT_RETRY_MS 10000
#define GOOD_PER_STRIKE  64 /* proofs that verify in a row take a strike away */

enum job_stage {
    STAGE_WAITING, /* not yet opened */
    STAGE_OPENING,
    STAGE_RUNNING, /* partitions */
    STAGE_PROVED,  /* all partitions there; waits for a finisher, or is verified as a whole */
    STAGE_ENDED,   /* answered; what ran comes home, then the job is closed */
};

/* Where a partition is. */
enum place {
    AT_REST,      /* waits for a permit, memory, its circuit */
    AT_SYNTHESIS, /* an event is outstanding */
    AT_DOOR,      /* synthesised, waits for the ready queue */
    AT_QUEUE,
    AT_DEVICE, /* an event is outstanding */
    AT_STAND,  /* prove_start has returned: waits for a finisher, still in its worker's seat */
    AT_FINISH, /* an event is outstanding */
    AT_DONE,
    AT_FAILED,
    PLACES
};

struct partition {
    enum place place;
    bool permit;   /* holds one: in synthesis, or at the door */
    bool stopping; /* ACTION_STOP was given */
    bool avoid;    /* next time rather on another device than `device` */
    uint32_t device, attempts;
    uint32_t rejected;      /* proofs that did not verify */
    uint64_t held, scratch; /* its lease: what it holds, and what a device works with beside that */
};

struct job {
    job_id id;
    struct engine_submit submit;
    enum job_stage stage;
    uint64_t created_ms, ended_ms, orphaned_ms; /* orphaned: UINT64_MAX while a caller waits */
    bool opening, verifying;                    /* an event is outstanding */
    uint32_t at[PLACES];                        /* how many partitions are where */
    struct partition partitions[];
};

/* WANTED: to be loaded as soon as there is room. */
enum circuit_stage { CIRCUIT_COLD, CIRCUIT_WANTED, CIRCUIT_LOADING, CIRCUIT_READY, CIRCUIT_FAILED };
struct circuit_entry {
    struct engine_circuit facts;
    enum circuit_stage stage;
    struct status failure;
    uint64_t failed_ms, used_ms; /* used: when the last job of it was closed, or it was loaded */
    uint64_t charged;            /* bytes of it in parameter_bytes */
    bool asked;                  /* wanted without a job */
};

/* Bounded places of work, with one more kept for reserved jobs: normal + reserved <= limit + 1. */
struct seats {
    uint32_t normal, reserved;
};

struct device_entry {
    bool lost, off;         /* off: lost by its strikes */
    uint32_t strikes, good; /* good: proofs that verified since the last strike, or since one was forgiven */
    struct seats workers;
};

struct bytes {
    uint64_t held, scratch;
};

struct retained {
    job_id id;
    uint64_t until_ms;
};

struct engine {
    struct engine_config config;
    struct circuit_entry circuits[ENGINE_CIRCUITS_MAX];
    uint32_t circuits_count;
    struct device_entry devices[ENGINE_DEVICES_MAX]; /* the spare one after the others */
    struct job **jobs;                               /* not closed, oldest first */
    uint32_t jobs_count, jobs_capacity;
    struct retained *retained; /* answered and closed: a ring, first ended about first */
    uint32_t retained_first, retained_count, retained_capacity; /* capacity: a power of two */
    struct engine_action *actions;
    size_t actions_count, actions_capacity;
    struct bytes leases[2]; /* of jobs, of reserved jobs */
    uint64_t now_ms, lease_peak, queue_bytes, budget, parameter_bytes;
    uint64_t evicted_ms; /* when parameters were last evicted for others */
    struct seats live, opening, permits, ready, finishing;
    bool draining, drained, starved; /* starved: who is first in order waits for bytes */
};

/* ---- actions.c ---- */
void act(struct engine *e, enum engine_action_kind kind, const struct job *job, uint32_t partition);
void act_id(struct engine *e, enum engine_action_kind kind, job_id id);
void act_circuit(struct engine *e, enum engine_action_kind kind, uint32_t circuit);
void act_device(struct engine *e, enum engine_action_kind kind, uint32_t device, const struct status *status);
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
/* From the door or the queue back to rest, without its seeds. */
void partition_give_back(struct engine *e, struct job *job, uint32_t k);
void partition_move(struct job *job, uint32_t k, enum place place);
void lease_set(struct engine *e, struct job *job, uint32_t k, uint64_t held, uint64_t scratch);
void permit_give(struct engine *e, struct job *job, struct partition *p);
void jobs_close(struct engine *e);  /* those that have ended and have nothing outstanding */
void jobs_forget(struct engine *e); /* retention */
/* ---- circuits.c: parameters as evictable leases ---- */
void circuit_know(struct engine *e, uint32_t circuit, const struct engine_circuit *facts);
void circuit_want(struct engine *e, uint32_t circuit);
void circuit_loaded(struct engine *e, const struct engine_event *event);
void circuit_gone(struct engine *e, uint32_t circuit);
void circuits_load(struct engine *e); /* those that are wanted and find room */
/* Evicts idle parameters for a job that is first in order and misses so many bytes; false: they are not to
 * be had, and nothing is evicted. */
bool circuits_make_room(struct engine *e, const struct job *job, uint64_t missing);
/* That its parameters and one partition fit the budget, were they alone. */
struct status circuit_fits(const struct engine *e, uint32_t circuit);
/* The first job in order whose circuit has waited for room too long: nobody after it begins. NULL: none. */
const struct job *circuits_hungry(const struct engine *e);
/* When circuits_load() or circuits_hungry() may have another answer without an event; UINT64_MAX: never. */
uint64_t circuits_tick(const struct engine *e);

/* ---- schedule.c: who goes next ---- */
void schedule(struct engine *e);
bool job_before(const struct engine *e, const struct job *a, const struct job *b);
/* No device is left for jobs of this sort. */
bool all_devices_lost(const struct engine *e, bool reserved);

static inline bool job_live(const struct job *job)
{
    return job->stage != STAGE_ENDED;
}
/* Partitions with an event outstanding. */
static inline uint32_t job_in_flight(const struct job *job)
{
    return job->at[AT_SYNTHESIS] + job->at[AT_DEVICE] + job->at[AT_FINISH];
}
static inline bool job_begun(const struct job *job)
{
    return job->stage > STAGE_RUNNING || (job->at[AT_REST] < job->submit.partitions);
}
static inline const struct engine_circuit *circuit_of(const struct engine *e, const struct job *job)
{
    return &e->circuits[job->submit.circuit].facts;
}
static inline uint32_t devices_count(const struct engine *e)
{
    return e->config.devices + e->config.spare_device;
}
/* What leases of jobs that are not reserved may fill now. */
static inline uint64_t lease_room(const struct engine *e)
{
    return e->budget > e->parameter_bytes ? e->budget - e->parameter_bytes : 0;
}
static inline uint32_t ready_capacity(const struct engine *e)
{
    uint32_t a = e->config.synthesis_lookahead, b = e->config.partition_workers;
    return a > b ? a : b;
}

static inline bool seat_free(const struct seats *s, uint32_t limit, bool reserved)
{
    if (reserved && s->reserved == 0)
        return true;
    return s->normal + (s->reserved > 0 ? s->reserved - 1 : 0) < limit;
}
static inline void seat_take(struct seats *s, bool reserved)
{
    *(reserved ? &s->reserved : &s->normal) += 1;
}
static inline void seat_give(struct seats *s, bool reserved)
{
    uint32_t *n = reserved ? &s->reserved : &s->normal;
    CHECK(*n > 0);
    *n -= 1;
}

#endif
