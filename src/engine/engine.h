/* The job engine's decisions: a pure state machine. engine_step() takes the time and one event and gives
 * actions; it starts no thread, reads no clock, opens no socket and allocates nothing large, so that a
 * simulator can drive it with seeds and a virtual clock. The service (engine/service.h) carries the actions
 * out and feeds the results back as events.
 *
 * The walk of a job: SUBMIT -> open (decode, check) -> per partition: synthesis [permit + host lease] ->
 * ready queue [permit released when it has taken the partition] -> device [lease shrinks to what the device
 * still needs] -> finish -> verify partition -> all there: verify the whole -> END. It only moves forward; a
 * failure travels as one status to the job, releases what the step held, and nothing else.
 *
 * Bounds, all visible in engine_counts: permits (partition_workers) cover synthesis and the wait for the
 * ready queue; the ready queue holds max(lookahead, partition_workers); device workers and finishers are
 * counted. At each of these one more seat is kept for reserved jobs (WinningPoSt), so they never wait for
 * others' work. Order everywhere: priority (LOW counts as NORMAL after ten minutes), then deadline, where a
 * job without one counts as due 30 minutes after it came, so that nothing is overtaken for ever; with
 * sort_by_circuit, NORMAL jobs due within the same five minutes go circuit by circuit; then age of the job,
 * then partition.
 *
 * Memory: `host_budget` bounds loaded parameters and the leases of all jobs that are not reserved. It can be
 * lowered while the machine is short of memory (EVENT_BUDGET): what runs goes on, nothing new begins. A
 * synthesis begins only if room is left for the largest proof in sight, so a partition that waits for a
 * device always gets there. Whoever is first in order and does not fit is not overtaken. Jobs below HIGH
 * leave the bytes of one partition of a loaded WindowPoSt circuit free.
 *
 * Parameters are loaded when their bytes and those of one partition are free. Where they are not, what nobody
 * has used for eviction_min_idle is evicted (at once when nothing runs that could use what is loaded), the
 * longest idle first, never a WinningPoSt circuit. A job whose
 * circuit finds no room is overtaken for eviction_min_idle at most; after that nobody after it in order
 * begins, so that others' parameters fall idle.
 *
 * Devices: a proof that does not verify is made again on the same device with fresh blinding, then elsewhere;
 * a device takes a strike when a second proof of a partition fails there, and strikes_max of them take it out
 * of service unless it is the last. A spare device (the CPU) takes reserved jobs when every other is lost. */
#ifndef CUZK_ENGINE_ENGINE_H
#define CUZK_ENGINE_ENGINE_H

#include "base/pool.h"
#include "base/status.h"

typedef uint64_t job_id; /* given by the caller in ascending order, never reused; 0 is none */

#define ENGINE_CIRCUITS_MAX   64
#define ENGINE_DEVICES_MAX    16
#define ENGINE_PARTITIONS_MAX 64

struct engine_config {
    uint32_t partition_workers; /* permits, at least 1 */
    uint32_t synthesis_lookahead;
    uint32_t finishers;
    uint32_t devices, workers_per_device;
    uint32_t max_queue;       /* jobs accepted and not ended, seats for WinningPoSt apart */
    uint64_t max_queue_bytes; /* request bytes of those */
    uint64_t host_budget;     /* parameters, and bytes in flight: seeds, working memory of proofs, pending
                                 proofs; reserved jobs apart */
    bool sort_by_circuit;
    uint64_t orphan_ms;       /* how long a job runs on whose caller is gone: 60,000 */
    uint64_t retention_ms;    /* how long a result can be fetched again */
    bool permit_until_queued; /* mechanism (c); true but in tests */
    uint64_t eviction_min_idle_ms;
    uint32_t strikes_max; /* 0: devices are never taken out of service */
    bool spare_device;    /* device number `devices` is there, for reserved jobs when all others are lost */
};

/* Known to the driver by number. All zero: not known before it is loaded (EVENT_CIRCUIT tells). */
struct engine_circuit {
    uint64_t seeds_bytes;   /* host lease of a partition's seeds */
    uint64_t proof_bytes;   /* further host bytes while a device works on a partition */
    uint64_t pending_bytes; /* host bytes of a pending proof */
    uint64_t load_bytes;    /* parameters and shape */
    bool resident;          /* WinningPoSt: loaded first, never evicted. Given at the start, like: */
    bool floor;             /* WindowPoSt: bytes of one partition are kept from jobs below HIGH */
};

enum engine_event_kind {
    EVENT_SUBMIT,       /* job, submit */
    EVENT_OPENED,       /* job, status, opened */
    EVENT_SYNTHESISED,  /* job, partition, status */
    EVENT_STARTED,      /* job, partition, device, status: prove_start returned */
    EVENT_FINISHED,     /* job, partition, status: assembled and verified; STATUS_REJECTED if not valid */
    EVENT_VERIFIED,     /* job, status: the whole proof */
    EVENT_LOAD,         /* circuit: wanted, also without a job (preload) */
    EVENT_CIRCUIT,      /* circuit, status, facts: loaded or failed */
    EVENT_CIRCUIT_GONE, /* circuit: evicted */
    EVENT_CANCEL,       /* job, status: the reason */
    EVENT_CALLER_GONE,  /* job */
    EVENT_CALLER_BACK,  /* job, submit.deadline_ms (the later one counts), submit.keep_when_orphaned */
    EVENT_DEVICE_LOST,  /* device, status */
    EVENT_BUDGET,       /* bytes: what the machine allows now; counts up to host_budget */
    EVENT_DRAIN,
    EVENT_TICK, /* time passed; nothing else */
};

struct engine_submit {
    uint32_t circuit, partitions;
    enum priority priority;
    bool reserved;           /* WinningPoSt: own seat, admitted also when full or draining */
    bool keep_when_orphaned; /* SubmitProof: runs on without a caller */
    uint64_t request_bytes;
    uint64_t deadline_ms; /* absolute on the engine's clock; 0: none */
};

struct engine_event {
    enum engine_event_kind kind;
    job_id job;
    uint32_t partition, device, circuit;
    struct status status;
    struct engine_submit submit;
    struct engine_circuit facts;
    uint64_t bytes;
};

enum engine_action_kind {
    ACTION_OPEN,       /* job: decode and check */
    ACTION_SYNTHESISE, /* job, partition */
    ACTION_START,      /* job, partition, device: seeds -> prove_start */
    ACTION_FINISH,     /* job, partition: prove_finish, assemble, verify */
    ACTION_VERIFY,     /* job: all partitions together */
    ACTION_LOAD,       /* circuit */
    ACTION_RELEASE,    /* job, partition: free whatever the driver holds of it (seeds, pending proof) */
    ACTION_STOP,   /* job, partition (UINT32_MAX: open or verify): cancel what runs; its event still comes */
    ACTION_END,    /* job, status: answer the callers; OK means the proof stands */
    ACTION_CLOSE,  /* job: it has ended and nothing of it runs any more: free its request */
    ACTION_FORGET, /* job: retention is over */
    ACTION_EVICT,  /* circuit: no job wants it; free it */
    ACTION_STRIKE, /* device, status: the reason */
    ACTION_DEVICE_OFF, /* device, status: it gets no more work */
    ACTION_DRAINED,    /* nothing runs and nothing waits */
};

struct engine_action {
    enum engine_action_kind kind;
    job_id job;
    uint32_t partition, device, circuit;
    struct status status;
};

/* How many of OPEN, SYNTHESISE, START, FINISH and VERIFY can be under way at once. */
uint32_t engine_parallel(const struct engine_config *config);

struct engine;
/* circuits: what is known of them; known facts are not changed by EVENT_CIRCUIT. */
MUST_USE struct status engine_make(struct engine **out, const struct engine_config *config,
                                   const struct engine_circuit *circuits, uint32_t circuits_count);
void engine_end(struct engine *engine);

/* Whether a submit would be taken now: STATUS_OK, or the refusal with its numbers (queue full, never fits,
 * draining, circuit failed). EVENT_SUBMIT of a job that would be refused gives ACTION_END with that status at
 * once. */
struct status engine_would_admit(const struct engine *engine, uint64_t now_ms,
                                 const struct engine_submit *submit);

/* Whether parameters would be loaded at once, idle ones evicted where they must; else why not. */
struct status engine_would_load(const struct engine *engine, uint32_t circuit);

/* One event. The actions are valid until the next call; carry them out in order. */
void engine_step(struct engine *engine, uint64_t now_ms, const struct engine_event *event,
                 const struct engine_action **actions, size_t *actions_count);
/* When to send EVENT_TICK at the latest (deadlines, orphans, retention); UINT64_MAX: no need. */
uint64_t engine_next_tick(const struct engine *engine);

enum partition_state {
    PARTITION_PENDING,
    PARTITION_SYNTHESIS,
    PARTITION_READY,
    PARTITION_DEVICE,
    PARTITION_FINISH,
    PARTITION_DONE,
    PARTITION_FAILED
};
struct engine_counts {
    uint32_t jobs_waiting, jobs_running, jobs_retained;
    uint32_t permits_in_use, ready_length, ready_capacity,
        ready_waiting; /* synthesised, waiting for the queue */
    uint32_t devices_busy, pending_proofs, finishing;
    uint64_t lease_bytes, lease_peak, queue_bytes;
    uint64_t budget, parameter_bytes; /* budget: at this moment */
    uint32_t loads_waiting;           /* circuits that wait for room */
    bool short_of_memory; /* somebody waits for bytes, and the budget is lower than it was meant to be */
};
void engine_counts(const struct engine *engine, struct engine_counts *out);
/* How often proofs of a device failed for good; whether it is out of service. */
uint32_t engine_strikes(const struct engine *engine, uint32_t device, bool *off);
/* For status pages: state of a job's partitions; false if the job is not known or closed. */
bool engine_job_partitions(const struct engine *engine, job_id job, enum partition_state *states,
                           uint32_t *count);
/* Position in the queue, 0 when running. */
uint32_t engine_queue_position(const struct engine *engine, job_id job);

/* Aborts if an invariant does not hold: leases against states, permits, queue bounds. For tests and the
 * simulator. */
void engine_check_invariants(const struct engine *engine);

#endif
