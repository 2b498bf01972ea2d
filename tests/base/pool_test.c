/* The worker pool: every task runs once, priorities are served in order, nesting and cancelling end. */
#include "base/mem.h"
#include "base/pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
