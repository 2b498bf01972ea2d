/* Eight threads of clients: 200 jobs of two kinds with cancels, deadlines, short waits and bad input, while
 * others look. Nothing may be left: memory, threads, files, leases. */
#include "service_rig.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct client {
    pthread_t thread;
    struct service_rig *rig;
    unsigned seed;
    int jobs, completed, cancelled, failed;
};

static void *client_main(void *context)
{
    struct client *me = context;
    struct service_rig *r = me->rig;
    for (int i = 0; i < me->jobs; i++) {
        struct caller c;
        struct answer a;
        char id[40], name[40];
        bool running;
        uint32_t position;
        uint64_t waiter;
        unsigned what = (unsigned)rand_r(&me->seed) % 8;
        snprintf(name, sizeof name, "client-%u-%d", me->seed, i);
        caller_make(&c, &r->golden, what % 2 == 0 ? PROOF_WINDOW : PROOF_WINNING, name);
        if (what == 6)
            memset(c.randomness, 1, 32); /* bad input */
        if (what == 7)
            c.submit.timeout_ms = 1 + (unsigned)rand_r(&me->seed) % 40;
        struct status s = service_submit(r->service, id, &position, &c.submit);
        CHECK(!status_failed(&s));
        answer_start(&a);
        s = service_await(r->service, &waiter, id, what == 5 ? 5 : 0, answer_callback, &a);
        CHECK(!status_failed(&s));
        if (what == 0 || what == 1) {
            nanosleep(&(struct timespec){0, (long)(rand_r(&me->seed) % 30) * 1000000}, NULL);
            s = service_cancel(r->service, id, &running);
            CHECK(!status_failed(&s));
        }
        enum job_state state = answer_wait(&a);
        if (state == JOB_RUNNING || state == JOB_QUEUED) { /* waited five milliseconds: once more */
            answer_end(&a);
            state = await_job(r->service, &a, id, 0);
        } else {
            answer_end(&a);
        }
        CHECK(a.count == 1);
        me->completed += state == JOB_COMPLETED;
        me->cancelled += state == JOB_CANCELLED;
        me->failed += state == JOB_FAILED;
        UNTIL(atomic_load(&c.released) == 1);
    }
    return NULL;
}

static void forgetful(struct service_options *o)
{
    o->engine.retention_ms = 500;
    o->engine.max_queue = 64;
    o->engine.partition_workers = 3;
    o->engine.finishers = 2;
    o->engine.workers_per_device = 2;
}

static void test_many_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 8, JOBS = 25 };
    struct service_rig r;
    struct client clients[CLIENTS];
    bool already;
    uint64_t ms;
    int completed = 0, cancelled = 0, failed = 0;
    service_rig_start(&r, forgetful);
    rig_must(service_load(r.service, WINDOW, &already, &ms));
    rig_must(service_load(r.service, WINNING, &already, &ms));
    size_t loaded = mem_used();
    int threads = threads_now(), files = files_now();
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.rig = &r, .seed = 77 + i, .jobs = JOBS};
        assert_int_equal(pthread_create(&clients[i].thread, NULL, client_main, &clients[i]), 0);
    }
    static struct service_view view, *v = &view;
    service_look(r.service, v);
    for (int i = 0; i < 200 && v->completed[PROOF_WINDOW] + v->completed[PROOF_WINNING] < 50; i++) {
        char *text;
        size_t size;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        service_look(r.service, v);
        rig_must(service_metrics(r.service, &text, &size));
        mem_free(text);
        assert_true(v->counts.permits_in_use <= 4);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        completed += clients[i].completed;
        cancelled += clients[i].cancelled;
        failed += clients[i].failed;
    }
    assert_int_equal(completed + cancelled + failed, CLIENTS * JOBS);
    assert_true(completed >= CLIENTS * JOBS / 4 && failed > 0);
    do
        service_look(r.service, v);
    while (v->counts.jobs_retained > 0);
    assert_int_equal(v->counts.lease_bytes + v->counts.queue_bytes, 0);
    assert_int_equal(v->counts.permits_in_use + v->counts.devices_busy + v->counts.finishing, 0);
    assert_true(threads_now() <= threads); /* a loader was perhaps still on its way out */
    assert_int_equal(files_now(), files);
    /* What the test device remembers and the state machine's list of actions may have grown: nothing else. */
    assert_true(mem_used() < loaded + (1 << 20));
    service_rig_end(&r);
}

static int make_params(void **state)
{
    (void)state;
    rig_params();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_clients)};
    return cmocka_run_group_tests(tests, make_params, NULL);
}
