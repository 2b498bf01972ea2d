/* engine/service.h as tests need it: jobs that end when the test says so, refusals of its choosing, and a
 * record of what it was asked. service_unwait() keeps its word: no callback runs when it has returned. */
#ifndef CUZK_TESTS_SERVE_FAKE_SERVICE_H
#define CUZK_TESTS_SERVE_FAKE_SERVICE_H

#include "engine/service.h"
#include <pthread.h>

#define FAKE_JOBS    4096
#define FAKE_WAITERS 8192

struct fake_job {
    char id[40], request_id[1100];
    struct proof_request request;
    uint8_t first_byte; /* of the first vanilla proof */
    void *owner;
    void (*release)(void *owner);
    enum priority priority;
    uint64_t timeout_ms;
    bool detached;
    enum job_state state;
    struct status status;
    uint8_t proof[1920];
    size_t proof_size;
    unsigned waiters, unwaited;
};

struct fake_waiter {
    uint64_t number; /* 0: free */
    size_t job;
    job_callback *callback;
    void *context;
    bool running;
    pthread_t thread;
};

struct engine_service {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fake_job jobs[FAKE_JOBS];
    size_t jobs_count;
    struct fake_waiter waiters[FAKE_WAITERS];
    uint64_t numbers;
    struct status refusal; /* of the next submits, if not OK */
    bool keep_refused;     /* refused owners are left to the caller, else released at once */
    bool complete_at_once;
    bool loads_held; /* service_load waits until this is false */
    unsigned loads, evicts;
    struct service_view view;
    uint64_t silence_ms;
};

struct engine_service *fake_service(void);
void fake_end(struct engine_service *s); /* all owners must have been released */
/* Waits until there are so many jobs, or until the job's callers are so many. */
void fake_wait_jobs(struct engine_service *s, size_t count);
void fake_wait_unwaited(struct engine_service *s, size_t job, unsigned count);
/* Ends a job, from the calling thread. */
void fake_finish(struct engine_service *s, size_t job, enum job_state state, struct status status);
/* As when timeout_ms of all its waiters had passed. */
void fake_timeout(struct engine_service *s, size_t job);
void fake_hold_loads(struct engine_service *s, bool hold);
size_t fake_jobs(struct engine_service *s);
struct fake_job fake_job(struct engine_service *s, size_t job); /* a copy */
unsigned fake_waiters(struct engine_service *s, size_t job);
unsigned fake_loads(struct engine_service *s);
void fake_refuse(struct engine_service *s, struct status refusal, bool keep);

#endif
