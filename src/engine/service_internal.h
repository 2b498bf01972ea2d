/* Inside of the service: the records of jobs and circuits, and who may touch what.
 *
 * One mutex, `lock`, guards the state machine and all records. It is held for microseconds: no file, no
 * proof, no callback, no freeing of large things happens under it; what a step wants freed or said is put on
 * a list
 * (`struct later`) and done after the lock is given up.
 *
 * What an action works on belongs to the thread that carries it out until it feeds the result back: the
 * seeds, pending proof and cancel flag of a partition, the opened request of a job. The state machine never
 * gives two actions of one partition at a time, and takes nothing away while one is out. */
#ifndef CUZK_ENGINE_SERVICE_INTERNAL_H
#define CUZK_ENGINE_SERVICE_INTERNAL_H

#include "engine/journal_keep.h"
#include "engine/metrics.h"
#include "engine/service.h"
#include "groth16/params.h"

#include <pthread.h>
#include <stdatomic.h>

#define ID_BYTES      40
#define BUCKETS       4096 /* a power of two */
#define PENDING_BYTES (UINT64_C(16) << 10)

struct task {
    struct task *next;
    enum engine_action_kind kind;
    struct record *record;
    uint32_t partition;
};

struct part {
    struct task task;
    struct cancel cancel;
    struct seeds seeds;
    bool has_seeds;
    struct device_pending *pending;
    uint32_t device;
    uint64_t at_ms[PARTITION_TIMES]; /* on the engine's clock; 0: not yet */
    uint8_t proof[PROOF_BYTES];
};

struct waiter {
    struct waiter *next;
    uint64_t id, deadline_ms; /* UINT64_MAX: none */
    struct record *record;
    job_callback *callback;
    void *context;
    bool timed_out;
};

/* A job as callers see it. Freed when it is forgotten and nothing points to it any more. */
struct record {
    struct record *next_by_number, *next_by_id, *next_by_request;
    struct record *live_before, *live_after; /* the list of live ones, oldest first */
    job_id number;
    char id[ID_BYTES];
    char *request_id;   /* owned, may be empty */
    uint8_t digest[64]; /* of the request's content */
    struct proof_request request;
    struct request_outline outline;
    uint32_t circuit;
    enum priority priority;
    uint64_t deadline_ms;
    void *owner;
    void (*release_owner)(void *owner);
    struct request *opened;
    struct cancel cancel; /* of open and verify */
    struct task task;     /* open or verify */
    bool live, detached, closed, forgotten;
    struct keep keep;             /* the journal's */
    uint32_t waiters_count, pins; /* pins: callbacks under way */
    struct waiter *waiters;
    enum job_state state;
    struct status status;
    /* times on the engine's clock; 0: not yet */
    uint64_t submitted_ms, begun_ms, synthesis_end_ms, device_begin_ms, device_end_ms, ended_ms, load_ms;
    uint8_t *proof; /* partitions * PROOF_BYTES */
    struct part parts[];
};

/* What is loaded of a circuit. */
struct content {
    struct shape *shape;
    struct image image;
    struct device_srs *srs[ENGINE_DEVICES_MAX];
    struct device_shape *shapes[ENGINE_DEVICES_MAX];
};

struct circuit {
    struct engine_service *service;
    uint32_t number;
    char name[CIRCUIT_NAME_MAX];
    enum proof_kind kind;
    const struct sector_size *sector;
    enum { HERE_NOT, HERE_LOADING, HERE_READY, HERE_FAILED } state;
    struct status failure;
    struct content
        content; /* the loader's while it loads, then everybody's to read while there are references */
    uint64_t bytes, used_ms, began_ms, load_ms, said_ms;
    uint32_t references; /* jobs that are not closed */
    uint64_t evictions;
};

/* What a device does: the job that came last. */
struct device_work {
    uint32_t busy;
    uint64_t since_ms;
    char job[ID_BYTES];
    enum proof_kind kind;
};

/* What is to be done when the lock has been given up. */
struct later {
    struct later *next;
    enum later_kind {
        LATER_SEEDS,
        LATER_PENDING,
        LATER_REQUEST,
        LATER_OWNER,
        LATER_RECORD,
        LATER_CONTENT,
        LATER_LOG
    } kind;
    struct seeds seeds;
    struct device *device;
    struct device_pending *pending;
    struct request *request;
    void *owner;
    void (*release_owner)(void *owner);
    struct record *record;
    struct content content;
    int level;
    char text[400];
};

struct engine_service {
    pthread_mutex_t lock;
    struct engine *engine;
    struct engine_config config;
    struct pool *pool;
    struct device *own_device;
    struct device *devices[ENGINE_DEVICES_MAX];
    struct device_work device_work[ENGINE_DEVICES_MAX];
    uint32_t devices_count, devices_all; /* all: with the spare one */
    bool short_of_memory;
    struct service_memory memory;
    struct plan plan;
    uint64_t late_ms[PROOF_KINDS];
    struct circuit *circuits;
    uint32_t circuits_count;
    char *param_cache, *state_dir;
    bool allow_test_params;
    const char **trusted;
    uint32_t trusted_count;
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    uint64_t started_ms;
    /* records */
    job_id next_number;
    struct record *by_number[BUCKETS], *by_id[BUCKETS], *by_request[BUCKETS];
    struct record *live_first, *live_last;
    uint32_t open; /* records that are not closed */
    /* work for the workers */
    pthread_t *workers;
    uint32_t workers_count;
    pthread_cond_t work;
    struct task *tasks_first, **tasks_last;
    struct later *later_first, **later_last;
    bool ending; /* no more jobs; stop: nothing is left to do for the threads */
    bool stop;
    /* loading */
    uint32_t loaders; /* threads that run */
    struct cancel loads_cancel;
    uint32_t load_callers;  /* in service_load */
    pthread_cond_t changed; /* a circuit, a job closed, a callback done */
    /* the clock thread: ticks, timeouts, callbacks */
    pthread_t clock_thread;
    bool clock_runs;
    pthread_cond_t clock_work;
    struct waiter *ready_first, **ready_last;
    uint64_t next_waiter, delivering; /* id of the waiter whose callback runs, 0: none */
    void (*on_drained)(void *context);
    void *drained_context;
    bool drained, drained_told;
    atomic_uint_least64_t round_ms; /* when the clock thread last went round */
    /* the last jobs that ended, for status pages: a ring; ended_ms_ago holds the clock's time */
    struct service_ended_view ended[SERVICE_ENDED_VIEW];
    uint64_t ended_total;
    struct metrics metrics;
    struct keeper *keeper; /* NULL: no journal */
};

uint64_t service_clock_ms(void); /* monotonic, never 0 */
/* A thread that takes no signals; an errno, or 0. */
int service_thread(pthread_t *out, void *(*run)(void *), void *argument, bool detached);

/* ---- service_step.c: the state machine and its actions ---- */
/* Under the lock. One event into the state machine; its actions are carried out or handed to threads. */
void service_step(struct engine_service *s, const struct engine_event *event);
/* Gives up the lock, then does what is to be done later. */
void service_unlock(struct engine_service *s);
void service_lock(struct engine_service *s);
/* A new job for the state machine, which may still refuse it: then the record is nobody's. */
MUST_USE struct status service_add(struct engine_service *s, struct record *r,
                                   const struct service_submit *submit);
/* The request's bytes are needed no more: released when the journal has them. */
void record_release_owner(struct engine_service *s, struct record *r);
/* Something to be done after the lock. */
void service_later(struct engine_service *s, const struct later *what);
/* A line of log for later. Under the lock. */
void service_say(struct engine_service *s, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- service_records.c ---- */
struct record *record_by_number(const struct engine_service *s, job_id number);
/* By id, or by a request_id that is unique at the moment. */
struct status record_find(struct record **out, const struct engine_service *s, const char *id);
/* A job with this request_id and content that a new request joins: live, or proved and retained. */
struct record *record_to_join(const struct engine_service *s, const char *request_id,
                              const uint8_t digest[64]);
struct status record_make(struct record **out, const struct service_submit *submit,
                          const struct request_outline *outline);
void record_add(struct engine_service *s, struct record *r);
void record_retire(struct engine_service *s, struct record *r); /* no longer live */
void record_forget(struct engine_service *s, struct record *r); /* out of the tables */
void record_free(struct record *r);
struct status request_digest(uint8_t out[64], const struct proof_request *request);
void record_result(struct job_result *out, const struct record *r);

/* ---- service_work.c: what worker threads do ---- */
void *service_worker(void *service);
/* ---- service_circuits.c ---- */
struct circuit *circuit_find(struct engine_service *s, const char *name);
/* Under the lock: a thread of its own begins to load. False if there is none: c->failure says why. */
/* Under the lock: the state machine gives it up for others. */
void circuit_evict(struct engine_service *s, struct circuit *c);
bool circuit_begin_load(struct engine_service *s, struct circuit *c);
/* Gives up what is loaded. Not under the lock. */
void content_drop(struct engine_service *s, struct content *content);
/* ---- service_clock.c ---- */
void *service_clock(void *service);
void clock_wake(struct engine_service *s);
/* Under the lock. To be called back; out of a list by its id. */
void waiter_ready(struct engine_service *s, struct waiter *w);
struct waiter *waiter_take(struct waiter **list, uint64_t id);
/* Under the lock. All who wait for a record get their callback. */
void waiters_release(struct engine_service *s, struct record *r);
/* Under the lock. One callback fewer is under way for the record. */
void record_unpin(struct engine_service *s, struct record *r);

#endif
