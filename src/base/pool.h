/* The worker pool: the only source of threads for library rooms, which take it as a parameter.
 *
 * pool_run() splits work into tasks that should last at most about 10 ms each, so that work of a higher
 * priority never waits longer than that for a thread. The calling thread works too, on its own batch only.
 * Tasks of one call run in any order and at the same time; the call returns when all have ended.
 * Nested calls (a task that calls pool_run) are allowed and run without deadlock. */
#ifndef CUZK_BASE_POOL_H
#define CUZK_BASE_POOL_H

#include "base/status.h"
#include <stdatomic.h>
#include <stdint.h>

enum priority { PRIORITY_CRITICAL, PRIORITY_HIGH, PRIORITY_NORMAL, PRIORITY_LOW, PRIORITY_COUNT };

struct pool;

/* Set to true by any thread to ask for an end; checked between tasks. */
struct cancel {
    atomic_bool requested;
};

/* How one piece of work runs; passed down through everything that is parallel. */
struct work {
    struct pool *pool; /* NULL: run in the calling thread */
    enum priority priority;
    const struct cancel *cancel; /* NULL: cannot be cancelled */
};

typedef void pool_task(void *context, size_t task);

/* threads = 0: the number of processors this process may use (affinity and cgroup quota). The calling
 * threads come in addition: a pool of n threads starts n - 1 workers. */
MUST_USE struct status pool_start(struct pool **out, unsigned threads);
void pool_end(struct pool *pool);               /* no call may be running; NULL allowed */
unsigned pool_threads(const struct pool *pool); /* 1 for NULL */

/* Runs task(context, i) for 0 <= i < tasks. False if the cancel flag was seen before all tasks had begun:
 * tasks already begun have ended, the rest did not run. */
MUST_USE bool pool_run(const struct work *work, pool_task *task, void *context, size_t tasks);

bool work_cancelled(const struct work *work);
/* The status for a pool_run that returned false. */
struct status work_cancelled_status(void);

#endif
