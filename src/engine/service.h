/* The engine as servers use it: jobs by id, blocking nowhere. All calls are thread safe and return at once;
 * results come by callback from a thread of the engine's.
 *
 * engine_service owns: the state machine with its mutex and clock; the worker pool; one thread per synthesis
 * permit that is in use, per device worker and per finisher; the cache of shapes and parameters; the jobs'
 * requests and proofs. */
#ifndef CUZK_ENGINE_SERVICE_H
#define CUZK_ENGINE_SERVICE_H

#include "device/device.h"
#include "engine/engine.h"
#include "engine/plan.h"
#include "filecoin/request.h"

enum job_state { JOB_UNKNOWN, JOB_QUEUED, JOB_RUNNING, JOB_COMPLETED, JOB_FAILED, JOB_CANCELLED };

struct job_times {
    uint64_t queue_wait_ms, load_ms, synthesis_ms, device_ms, total_ms; /* wall times of the job */
};

struct job_result {
    char id[40];
    enum job_state state;
    const uint8_t *proof; /* valid during the callback */
    size_t proof_size;
    struct status status; /* why it failed */
    struct job_times times;
};
typedef void job_callback(void *context, const struct job_result *result);

struct service_options {
    struct engine_config engine;
    const char *const *circuits; /* names that can be served; loaded on demand */
    uint32_t circuits_count;
    const char *param_cache, *state_dir;
    bool allow_test_params;
    const char *const *trusted_digests;
    uint32_t trusted_digests_count;
    uint32_t threads;
    const char *journal;           /* file of accepted jobs and results; NULL or "": they live in memory */
    uint64_t journal_retention_ms; /* of results, in place of engine.retention_ms */
    uint64_t journal_wait_ms;      /* how long a result waits for the disk; 0: 5 s */
    uint64_t journal_retry_ms;     /* how often a journal that cannot be written is tried again; 0: 10 s */
    uint64_t oom_kills;            /* of the cgroup so far; UINT64_MAX: not known */
    struct device *const *devices; /* NULL: one CPU backend over the service's pool */
    uint32_t devices_count;
    bool spare_cpu; /* with devices: the CPU proves WinningPoSt when all of them are lost */
    const struct engine_circuit *facts; /* by circuit, what is known of them beforehand; NULL: nothing */
    const struct plan *plan;            /* for those who look; NULL: none was made */
    uint64_t late_ms[PROOF_KINDS];      /* a job that took longer counts as late; 0: none does */
    /* One line of log; any thread; never blocks. level: 0 error, 1 warning, 2 info, 3 debug. */
    void (*log)(void *context, int level, const char *text);
    void *log_context;
};

struct engine_service;
MUST_USE struct status service_start(struct engine_service **out, const struct service_options *options);
/* Loads the parameters and shape of a circuit and waits; for start-up and PreloadSRS. */
MUST_USE struct status service_load(struct engine_service *service, const char *circuit, bool *already,
                                    uint64_t *ms);
MUST_USE struct status service_evict(struct engine_service *service, const char *circuit, bool *was_loaded,
                                     uint64_t *freed_bytes);

struct service_submit {
    const char *request_id;
    struct proof_request request; /* borrowed until the job ends: `owner` keeps the bytes */
    void *owner; /* given; released by release_owner when the engine needs the bytes no more */
    void (*release_owner)(void *owner);
    enum priority priority;
    uint64_t timeout_ms; /* of the call; 0: none */
    bool detached;       /* SubmitProof: runs without a caller */
};
/* Gives the job's id, or the refusal. The same request_id with the same bytes joins the live or retained job
 * (owner is then released at once). position: in the queue. */
MUST_USE struct status service_submit(struct engine_service *service, char id[40], uint32_t *position,
                                      const struct service_submit *submit);
/* Calls back once: when the job ends, or at once if it has, or with JOB_RUNNING when timeout_ms have passed
 * (0: no limit). *waiter may be given to service_unwait, after which no callback comes. STATUS_MISSING: no
 * such job. `id` may be a request_id that is unique at the moment. */
MUST_USE struct status service_await(struct engine_service *service, uint64_t *waiter, const char *id,
                                     uint64_t timeout_ms, job_callback *callback, void *context);
/* Calls back once when the job has been written to the journal, or at once if that is not waited for (no
 * journal, one that cannot be written, WinningPoSt). The waiter is like that of service_await(). */
MUST_USE struct status service_acknowledge(struct engine_service *service, uint64_t *waiter, const char *id,
                                           job_callback *callback, void *context);
/* For the handler of a fatal signal, and safe there: the process dies of what it does itself. */
void service_crashed(void);
/* The caller is gone: counts as such for the job (orphan rule) unless it was submitted detached. */
void service_unwait(struct engine_service *service, uint64_t waiter);
MUST_USE struct status service_cancel(struct engine_service *service, const char *id, bool *was_running);
/* Loads that are under way fail as cancelled, and so does every one after them: the process is about to end.
 */
void service_stop_loads(struct engine_service *service);
/* Stops admission (WinningPoSt last); calls back when drained. */
void service_drain(struct engine_service *service, void (*drained)(void *context), void *context);
void service_end(struct engine_service *service); /* cancels what runs, waits for it */

/* What the machine allows and what the process really uses; to be told again and again. */
struct service_memory {
    uint64_t budget;        /* of parameters and partitions, at this moment: up to engine.host_budget */
    uint64_t process_bytes; /* anonymous + shared + pinned */
    uint64_t mapped_bytes;  /* resident pages of files */
    uint64_t other_bytes;   /* known and not the engine's: baseline, requests */
};
/* Lowers or raises the budget. What runs goes on; while bytes are missing nothing new begins, and a line of
 * log says so. */
void service_memory(struct engine_service *service, const struct service_memory *memory);

/* ---- looking at it: copies, within a millisecond under any load ---- */
/* The steps of a partition that have a time. */
enum partition_time {
    TIME_SYNTHESIS, /* begun */
    TIME_READY,     /* synthesised */
    TIME_DEVICE,    /* begun */
    TIME_PENDING,   /* the device is done with it */
    TIME_END,       /* done, or failed */
    PARTITION_TIMES
};
#define TIME_NONE UINT32_MAX /* not yet */
struct service_job_view {
    char id[40], request_id[96];
    enum proof_kind kind;
    enum job_state state;
    enum priority priority;
    uint64_t age_ms;
    uint32_t partitions, partitions_done;
    enum partition_state partition[ENGINE_PARTITIONS_MAX];
    uint32_t at_ms[ENGINE_PARTITIONS_MAX][PARTITION_TIMES]; /* since the job came */
    uint8_t device[ENGINE_PARTITIONS_MAX];                  /* where TIME_DEVICE is not TIME_NONE */
};
/* A job that has ended. */
struct service_ended_view {
    char id[40], request_id[96];
    enum proof_kind kind;
    enum job_state state;
    uint64_t ended_ms_ago, total_ms;
    char reason[240]; /* empty when it was completed */
};
struct service_circuit_view {
    char name[CIRCUIT_NAME_MAX];
    bool loaded, loading, failed;
    uint64_t bytes, shape_bytes, idle_ms; /* bytes: parameters and shape */
    uint32_t references;
};
struct service_device_view {
    char name[64];
    enum device_state state;
    uint32_t strikes; /* proofs of one partition that failed twice here; too many: it counts as lost */
    char job[40];
    enum proof_kind kind;
    uint64_t busy_ms;
};
#define SERVICE_JOBS_VIEW  64
#define SERVICE_ENDED_VIEW 16
struct service_view {
    struct engine_counts counts;
    uint64_t uptime_ms;
    uint32_t partition_workers, workers_per_device;
    bool spare_cpu;               /* WinningPoSt is proved also when all devices are lost */
    struct plan plan;             /* as it was made; no circuits: none was */
    struct service_memory memory; /* as told last */
    int64_t unaccounted_bytes;    /* what the process uses less what the ledger knows; below 0: reserved and
                                     not touched */
    uint64_t late[PROOF_KINDS];
    uint64_t completed[PROOF_KINDS], failed[PROOF_KINDS];
    uint32_t pending[PROOF_KINDS], in_progress[PROOF_KINDS];
    uint32_t jobs_count, circuits_count, devices_count; /* jobs: the first SERVICE_JOBS_VIEW in order */
    struct service_job_view jobs[SERVICE_JOBS_VIEW];
    uint32_t ended_count; /* the last ones, newest first */
    struct service_ended_view ended[SERVICE_ENDED_VIEW];
    struct service_circuit_view circuits[ENGINE_CIRCUITS_MAX];
    struct service_device_view devices[ENGINE_DEVICES_MAX];
};
void service_look(struct engine_service *service, struct service_view *out);
/* Milliseconds since the engine's loop last went round, without any lock; it does so every second, so that
 * more than a few of them mean that it is stuck. */
uint64_t service_silence_ms(struct engine_service *service);
/* Prometheus text of everything; gives it (mem_free). */
MUST_USE struct status service_metrics(struct engine_service *service, char **text, size_t *size);

#endif
