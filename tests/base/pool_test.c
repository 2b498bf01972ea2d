/* The worker pool: every task runs once, priorities are served in order, nesting and cancelling end. */
#include "base/mem.h"
#include "base/pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1000

struct counts {
    atomic_uint ran[MOST];
    const struct work *work;
    size_t inner;
    atomic_size_t total;
};

static void count_task(void *context, size_t task)
{
    struct counts *c = context;
    atomic_fetch_add(&c->ran[task], 1);
    atomic_fetch_add(&c->total, 1);
}

static struct pool *start(unsigned threads)
{
    struct pool *pool;
    struct status s = pool_start(&pool, threads);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(pool_threads(pool), threads);
    return pool;
}

static void every_task_runs_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 7, 100, MOST};
    for (unsigned threads = 0; threads <= 4; threads++) {
        struct pool *pool = threads ? start(threads) : NULL;
        struct work work = {pool, PRIORITY_NORMAL, NULL};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct counts c = {0};
            assert_true(pool_run(&work, count_task, &c, sizes[i]));
            for (size_t j = 0; j < MOST; j++)
                assert_int_equal(c.ran[j], j < sizes[i]);
        }
        pool_end(pool);
    }
    assert_int_equal(pool_threads(NULL), 1);
    struct counts c = {0};
    assert_true(pool_run(NULL, count_task, &c, 5));
    assert_int_equal(c.total, 5);
}

/* Tasks that report when they begin and then wait to be let go. */
struct gated {
    atomic_int begun[4];
    atomic_bool open[4];
    pthread_t thread[4];
};

static void gated_task(void *context, size_t task)
{
    struct gated *g = context;
    g->thread[task] = pthread_self();
    atomic_store(&g->begun[task], 1);
    while (!atomic_load(&g->open[task]))
        sched_yield();
}

struct call {
    struct work work;
    pool_task *task;
    void *context;
    size_t tasks;
    bool result;
};

static void *call_main(void *argument)
{
    struct call *c = argument;
    c->result = pool_run(&c->work, c->task, c->context, c->tasks);
    return NULL;
}

static void wait_until(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

/* One worker, which holds a task of a low batch with one more task to come; then a high batch arrives. */
static void higher_priority_is_served_first(void **state)
{
    (void)state;
    for (int high = 0; high < PRIORITY_LOW; high++) {
        struct pool *pool = start(2);
        struct gated l = {0}, h = {0};
        struct call low = {{pool, PRIORITY_LOW, NULL}, gated_task, &l, 3, false};
        struct call top = {{pool, (enum priority)high, NULL}, gated_task, &h, 2, false};
        pthread_t low_caller, top_caller;
        assert_int_equal(pthread_create(&low_caller, NULL, call_main, &low), 0);
        wait_until(&l.begun[0]);
        wait_until(&l.begun[1]);
        int by_worker = pthread_equal(l.thread[0], low_caller) ? 1 : 0;
        assert_int_equal(pthread_create(&top_caller, NULL, call_main, &top), 0);
        wait_until(&h.begun[0]);
        assert_true(pthread_equal(h.thread[0], top_caller));
        assert_false(h.begun[1]);
        atomic_store(&l.open[by_worker], true);
        while (!h.begun[1] && !l.begun[2])
            sched_yield();
        assert_true(h.begun[1]);
        assert_true(pthread_equal(h.thread[1], l.thread[by_worker]));
        assert_false(l.begun[2]);
        for (int i = 0; i < 4; i++) {
            atomic_store(&h.open[i], true);
            atomic_store(&l.open[i], true);
        }
        pthread_join(low_caller, NULL);
        pthread_join(top_caller, NULL);
        assert_true(low.result && top.result);
        pool_end(pool);
    }
}

/* A caller whose own tasks have all begun must not take tasks of a stranger, even urgent ones. */
static void caller_works_for_itself_only(void **state)
{
    (void)state;
    struct pool *pool = start(2);
    struct gated l = {0}, h = {0};
    struct call low = {{pool, PRIORITY_LOW, NULL}, gated_task, &l, 2, false};
    struct call top = {{pool, PRIORITY_CRITICAL, NULL}, gated_task, &h, 2, false};
    pthread_t low_caller, top_caller;
    assert_int_equal(pthread_create(&low_caller, NULL, call_main, &low), 0);
    wait_until(&l.begun[0]);
    wait_until(&l.begun[1]);
    int by_caller = pthread_equal(l.thread[0], low_caller) ? 0 : 1;
    assert_int_equal(pthread_create(&top_caller, NULL, call_main, &top), 0);
    wait_until(&h.begun[0]);
    atomic_store(&l.open[by_caller], true);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_false(h.begun[1]);
    atomic_store(&l.open[1 - by_caller], true);
    wait_until(&h.begun[1]);
    assert_false(pthread_equal(h.thread[1], low_caller));
    atomic_store(&h.open[0], true);
    atomic_store(&h.open[1], true);
    pthread_join(low_caller, NULL);
    pthread_join(top_caller, NULL);
    pool_end(pool);
}

static void outer_task(void *context, size_t task)
{
    struct counts *c = context;
    (void)task;
    if (!pool_run(c->work, count_task, c, c->inner))
        abort();
}

static void middle_task(void *context, size_t task)
{
    struct counts *c = context;
    (void)task;
    if (!pool_run(c->work, outer_task, c, 3))
        abort();
}

static void nested_calls_end(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct pool *pool = start(threads);
        struct work work = {pool, PRIORITY_HIGH, NULL};
        struct counts c = {.work = &work, .inner = 20};
        assert_true(pool_run(&work, middle_task, &c, 7));
        assert_int_equal(c.total, 7 * 3 * 20);
        for (size_t i = 0; i < 20; i++)
            assert_int_equal(c.ran[i], 21);
        pool_end(pool);
    }
}

struct meeting {
    const struct work *work;
    pthread_t caller;
    atomic_int outside, inside;
};

static void meet_task(void *context, size_t task)
{
    struct meeting *m = context;
    (void)task;
    atomic_fetch_add(&m->inside, 1);
    while (m->inside < 2)
        sched_yield();
}

static void meet_outer_task(void *context, size_t task)
{
    struct meeting *m = context;
    (void)task;
    atomic_fetch_add(&m->outside, 1);
    while (m->outside < 2)
        sched_yield();
    if (!pthread_equal(pthread_self(), m->caller) && !pool_run(m->work, meet_task, m, 2))
        abort();
}

/* The nested tasks meet each other, which needs the outer caller's help; without it this never ends. */
static void waiting_caller_helps_nested_calls(void **state)
{
    (void)state;
    struct pool *pool = start(2);
    for (int i = 0; i < 50; i++) {
        struct work work = {pool, PRIORITY_NORMAL, NULL};
        struct meeting m = {.work = &work, .caller = pthread_self()};
        assert_true(pool_run(&work, meet_outer_task, &m, 2));
        assert_int_equal(m.inside, 2);
    }
    pool_end(pool);
}

struct cancelling {
    struct cancel cancel;
    size_t at;
    atomic_size_t ran;
};

static void cancel_task(void *context, size_t task)
{
    struct cancelling *c = context;
    atomic_fetch_add(&c->ran, 1);
    if (task == c->at)
        atomic_store(&c->cancel.requested, true);
}

static void cancel_ends_a_call(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads <= 3; threads++) {
        struct pool *pool = threads ? start(threads) : NULL;
        for (size_t at = 0; at < 10; at++) {
            struct cancelling c = {.at = at};
            struct work work = {pool, PRIORITY_NORMAL, &c.cancel};
            assert_false(work_cancelled(&work));
            assert_false(pool_run(&work, cancel_task, &c, 100000));
            assert_in_range(c.ran, at + 1, 99999);
            if (threads < 2)
                assert_int_equal(c.ran, at + 1);
            assert_true(work_cancelled(&work));
            /* Nothing of a call under a raised flag runs. */
            c.ran = 0;
            assert_false(pool_run(&work, cancel_task, &c, 1));
            assert_false(pool_run(&work, cancel_task, &c, 10));
            assert_int_equal(c.ran, 0);
            assert_true(pool_run(&work, cancel_task, &c, 0));
        }
        /* A flag raised when all tasks have begun changes nothing. */
        struct cancelling c = {.at = 9};
        struct work work = {NULL, PRIORITY_NORMAL, &c.cancel};
        assert_true(pool_run(&work, cancel_task, &c, 10));
        assert_int_equal(c.ran, 10);
        pool_end(pool);
    }
    assert_false(work_cancelled(NULL));
    assert_int_equal(work_cancelled_status().code, STATUS_CANCELLED);
}

static void many_callers_at_once(void **state)
{
    (void)state;
    struct pool *pool = start(3);
    struct counts c[PRIORITY_COUNT] = {0};
    struct call calls[PRIORITY_COUNT];
    pthread_t threads[PRIORITY_COUNT];
    for (int round = 0; round < 20; round++) {
        for (size_t p = 0; p < PRIORITY_COUNT; p++) {
            calls[p] = (struct call){{pool, (enum priority)p, NULL}, middle_task, &c[p], 5, false};
            c[p].work = &calls[p].work;
            c[p].inner = 30;
            assert_int_equal(pthread_create(&threads[p], NULL, call_main, &calls[p]), 0);
        }
        for (size_t p = 0; p < PRIORITY_COUNT; p++) {
            pthread_join(threads[p], NULL);
            assert_true(calls[p].result);
            assert_int_equal(c[p].total, 5 * 3 * 30 * (round + 1));
        }
    }
    pool_end(pool);
}

static void start_without_memory_fails(void **state)
{
    (void)state;
    struct pool *pool;
    mem_fail_after(1);
    struct status s = pool_start(&pool, 2);
    mem_fail_after(0);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_null(pool);
    pool_end(NULL);
    s = pool_start(&pool, 0);
    assert_int_equal(s.code, STATUS_OK);
    assert_true(pool_threads(pool) >= 1);
    pool_end(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(higher_priority_is_served_first),
        cmocka_unit_test(caller_works_for_itself_only),
        cmocka_unit_test(nested_calls_end),
        cmocka_unit_test(waiting_caller_helps_nested_calls),
        cmocka_unit_test(cancel_ends_a_call),
        cmocka_unit_test(many_callers_at_once),
        cmocka_unit_test(start_without_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
