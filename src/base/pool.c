/* The worker pool.
 *
 * A call of pool_run() is a batch on the caller's stack. Batches with tasks left are linked in one list per
 * priority; a free worker joins the first batch of the highest priority and takes tasks from it by an atomic
 * counter, so that a task costs two atomic operations and no lock. After every task it looks at the mask of
 * waiting priorities and leaves for a higher one. Within a priority the oldest batch comes first, except
 * that a nested batch goes to the front: tasks already begun wait for it.
 *
 * A caller whose tasks have all begun waits for those that other threads still run. Meanwhile it helps
 * only batches nested in its own. Waiting follows nesting alone, which has no cycle, so there is no deadlock.
 *
 * A batch dies when its call returns. That is safe because threads touch it only between joining and leaving
 * it, both under the lock, and the call waits until `joined` is zero. */
#include "base/pool.h"
#include "base/mem.h"
#include "base/processors.h"
#include "base/signals.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>

struct batch {
    pool_task *task;
    void *context;
    size_t tasks;
    const struct cancel *cancel;
    struct pool *pool;
    struct batch *parent; /* the batch whose task made this call, in the same pool */
    enum priority priority;
    atomic_size_t next;  /* tasks begun; may run past `tasks` */
    atomic_bool skipped; /* cancelled with tasks not begun */
    /* under the pool's lock: */
    bool linked;
    unsigned joined; /* threads other than the caller that hold a pointer to this batch */
    struct batch *before, *after;
    pthread_cond_t changed; /* for the caller: joined became 0, or a nested batch came */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* for idle workers */
    struct batch *first[PRIORITY_COUNT], *last[PRIORITY_COUNT];
    atomic_uint waiting; /* bit p: the list of priority p is not empty */
    unsigned idle;
    bool ending;
    unsigned workers;
    pthread_t threads[];
};

static _Thread_local struct batch *current; /* whose task this thread runs */

static void list_add(struct pool *pool, struct batch *b)
{
    enum priority p = b->priority;
    struct batch **first = &pool->first[p], **last = &pool->last[p];
    b->before = b->parent ? NULL : *last;
    b->after = b->parent ? *first : NULL;
    *(b->before ? &b->before->after : first) = b;
    *(b->after ? &b->after->before : last) = b;
    b->linked = true;
    atomic_fetch_or(&pool->waiting, 1u << p);
}

static void list_remove(struct pool *pool, struct batch *b)
{
    if (!b->linked)
        return;
    *(b->before ? &b->before->after : &pool->first[b->priority]) = b->after;
    *(b->after ? &b->after->before : &pool->last[b->priority]) = b->before;
    b->linked = false;
    if (!pool->first[b->priority])
        atomic_fetch_and(&pool->waiting, ~(1u << b->priority));
}

/* Takes the next task of a batch. False if none is left, or if the batch is cancelled, which takes away all
 * that have not begun. */
static bool take(struct batch *b, size_t *task)
{
    if (b->cancel && atomic_load_explicit(&b->cancel->requested, memory_order_relaxed)) {
        if (atomic_exchange(&b->next, b->tasks) < b->tasks)
            atomic_store(&b->skipped, true);
        return false;
    }
    *task = atomic_fetch_add(&b->next, 1);
    return *task < b->tasks;
}

/* Runs tasks until none is left (true) or, for a worker, a batch of higher priority waits (false). */
static bool run_tasks(struct batch *b, bool may_leave)
{
    struct batch *outer = current;
    unsigned higher = (1u << b->priority) - 1;
    bool exhausted = false;
    current = b;
    while (!may_leave || !(atomic_load_explicit(&b->pool->waiting, memory_order_relaxed) & higher)) {
        size_t task;
        exhausted = !take(b, &task);
        if (exhausted)
            break;
        b->task(b->context, task);
    }
    current = outer;
    return exhausted;
}

/* Joins a batch of another caller, works on it, leaves it. Lock held on entry and exit. */
static void serve(struct pool *pool, struct batch *b)
{
    b->joined++;
    pthread_mutex_unlock(&pool->lock);
    bool exhausted = run_tasks(b, true);
    pthread_mutex_lock(&pool->lock);
    if (exhausted)
        list_remove(pool, b);
    if (--b->joined == 0)
        pthread_cond_signal(&b->changed);
}

static struct batch *highest(struct pool *pool)
{
    for (int p = 0; p < PRIORITY_COUNT; p++)
        if (pool->first[p])
            return pool->first[p];
    return NULL;
}

static bool nested_in(const struct batch *b, const struct batch *ancestor)
{
    for (b = b->parent; b; b = b->parent)
        if (b == ancestor)
            return true;
    return false;
}

static struct batch *find_nested(struct pool *pool, const struct batch *ancestor)
{
    for (int p = 0; p < PRIORITY_COUNT; p++)
        for (struct batch *b = pool->first[p]; b; b = b->after)
            if (nested_in(b, ancestor))
                return b;
    return NULL;
}

static void *worker_main(void *argument)
{
    struct pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        struct batch *b = highest(pool);
        if (b) {
            serve(pool, b);
            continue;
        }
        pool->idle++;
        pthread_cond_wait(&pool->work, &pool->lock);
        pool->idle--;
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Makes a batch visible: to idle workers, and to callers up the chain that wait and may help. */
static void publish(struct pool *pool, struct batch *b)
{
    pthread_mutex_lock(&pool->lock);
    list_add(pool, b);
    if (b->tasks - 1 >= pool->idle)
        pthread_cond_broadcast(&pool->work);
    else
        for (size_t i = 1; i < b->tasks; i++)
            pthread_cond_signal(&pool->work);
    for (struct batch *up = b->parent; up; up = up->parent)
        pthread_cond_signal(&up->changed);
    pthread_mutex_unlock(&pool->lock);
}

static void wait_for_others(struct pool *pool, struct batch *b)
{
    pthread_mutex_lock(&pool->lock);
    list_remove(pool, b);
    while (b->joined > 0) {
        struct batch *nested = find_nested(pool, b);
        if (nested)
            serve(pool, nested);
        else
            pthread_cond_wait(&b->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

bool work_cancelled(const struct work *work)
{
    return work && work->cancel && atomic_load_explicit(&work->cancel->requested, memory_order_relaxed);
}

struct status work_cancelled_status(void)
{
    return status_error(STATUS_CANCELLED, "cancelled");
}

static bool run_alone(const struct work *work, pool_task *task, void *context, size_t tasks)
{
    for (size_t i = 0; i < tasks; i++) {
        if (work_cancelled(work))
            return false;
        task(context, i);
    }
    return true;
}

bool pool_run(const struct work *work, pool_task *task, void *context, size_t tasks)
{
    struct pool *pool = work ? work->pool : NULL;
    if (!pool || pool->workers == 0 || tasks <= 1)
        return run_alone(work, task, context, tasks);
    CHECK(work->priority < PRIORITY_COUNT && tasks < SIZE_MAX / 2);
    struct batch b = {.task = task,
                      .context = context,
                      .tasks = tasks,
                      .cancel = work->cancel,
                      .pool = pool,
                      .parent = current && current->pool == pool ? current : NULL,
                      .priority = work->priority};
    CHECK(pthread_cond_init(&b.changed, NULL) == 0);
    publish(pool, &b);
    run_tasks(&b, false);
    wait_for_others(pool, &b);
    pthread_cond_destroy(&b.changed);
    return !atomic_load(&b.skipped);
}

static struct status start_workers(struct pool *pool, unsigned count)
{
    sigset_t all, old;
    int error = 0;
    /* Signals are for the program's own threads. */
    signals_not_for_threads(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool->workers < count && error == 0) {
        error = pthread_create(&pool->threads[pool->workers], NULL, worker_main, pool);
        pool->workers += error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error == 0)
        return status_ok();
    return status_hint(status_error(STATUS_MEMORY, "cannot start worker thread %u of %u: %s",
                                    pool->workers + 1, count, strerror(error)),
                       "raise the limit of processes (ulimit -u, pids.max) or use fewer threads");
}

struct status pool_start(struct pool **out, unsigned threads)
{
    *out = NULL;
    if (threads == 0)
        threads = processors_usable("");
    size_t bytes = sizeof(struct pool) + (threads - 1) * sizeof(pthread_t);
    struct pool *pool = mem_alloc_zero(1, bytes);
    if (!pool)
        return mem_failed("worker pool", 1, bytes);
    CHECK(pthread_mutex_init(&pool->lock, NULL) == 0);
    CHECK(pthread_cond_init(&pool->work, NULL) == 0);
    struct status s = start_workers(pool, threads - 1);
    if (status_failed(&s))
        pool_end(pool);
    else
        *out = pool;
    return s;
}

void pool_end(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    CHECK(!highest(pool));
    pool->ending = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->workers; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
    return pool ? pool->workers + 1 : 1;
}
