/* Many clients at once against a server in its own thread: calls answered by other threads, cancelled, timed
 * out, connections cut, loads and status beside them, and a stop in the midst. Meant for the thread
 * sanitizer; checks that every call ends and nothing is left behind. */
#include "proving_support.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS  8
#define CALLS    60
#define FINISHES 3

struct stress {
    struct fixture *f;
    atomic_bool over;
    atomic_uint ended[GRPC_CODES], lost, proved, connected;
    bool stops; /* the server is stopped while they call */
};

struct stress_client {
    struct stress *stress;
    unsigned seed;
};

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static struct client_call *some_call(struct client *c, unsigned *seed)
{
    static const size_t sizes[] = {10, 1000, 70000, 300000, 1500000};
    unsigned what = next_random(seed) % 8;
    if (what == 0)
        return client_call(c, STATUS, "", 0, NULL);
    if (what == 1)
        return client_call(c, PRELOAD, "\x0a\x08porep-2k", 10, NULL);
    struct call_options o = {.timeout = what == 2 ? "3m" : NULL};
    char id[16];
    snprintf(id, sizeof id, "id-%u", next_random(seed) % 40);
    struct message m = request((int)(1 + next_random(seed) % 4), id, 0, sizes[next_random(seed) % 5],
                               (char)('a' + next_random(seed) % 2), true);
    struct client_call *call = client_call(c, PROVE, m.bytes, m.size, &o);
    free(m.bytes);
    return call;
}

static bool all_closed(const struct client *c)
{
    for (size_t i = 0; i < c->calls_count; i++)
        if (!c->calls[i]->closed)
            return false;
    return true;
}

static void count_ends(struct stress *s, const struct client *c)
{
    for (size_t i = 0; i < c->calls_count; i++)
        if (c->calls[i]->code >= 0)
            atomic_fetch_add(&s->ended[c->calls[i]->code], 1);
        else
            atomic_fetch_add(&s->lost, 1);
}

static void wait_a_little(struct client *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    (void)poll(&p, 1, 1);
}

static void *client_main(void *context)
{
    struct stress_client *me = context;
    struct stress *s = me->stress;
    struct client *c = fixture_connect(s->f);
    atomic_fetch_add(&s->connected, 1);
    for (int i = 0; i < CALLS && !c->lost && !c->goaway; i++) {
        struct client_call *call = some_call(c, &me->seed);
        client_step(c);
        unsigned what = next_random(&me->seed) % 10;
        if (what == 0 && !call->closed)
            client_reset(c, call);
        if (what == 1 && !s->stops) { /* this one leaves, another comes */
            count_ends(s, c);
            client_close(c);
            c = fixture_connect(s->f);
        }
        client_step(c);
    }
    while (!all_closed(c) && !c->lost) {
        client_step(c);
        wait_a_little(c);
    }
    count_ends(s, c);
    client_close(c);
    return NULL;
}

/* Ends jobs as they come, each in some way. */
static void *finisher_main(void *context)
{
    struct stress *s = context;
    static const enum job_state ends[] = {JOB_COMPLETED, JOB_COMPLETED, JOB_FAILED, JOB_CANCELLED};
    struct engine_service *service = s->f->service;
    while (!atomic_load(&s->over)) {
        size_t found = FAKE_JOBS;
        pthread_mutex_lock(&service->lock);
        for (size_t i = 0; i < service->jobs_count && found == FAKE_JOBS; i++)
            if (service->jobs[i].state == JOB_RUNNING) {
                service->jobs[i].state = JOB_QUEUED; /* taken by this finisher */
                found = i;
            }
        pthread_mutex_unlock(&service->lock);
        if (found == FAKE_JOBS) {
            sched_yield();
            continue;
        }
        fake_finish(service, found, ends[found % 4], status_error(STATUS_DEVICE, "so it goes"));
    }
    return NULL;
}

static void run(struct fixture *f, bool stops)
{
    struct stress s = {.f = f, .stops = stops};
    struct stress_client clients[CLIENTS];
    pthread_t threads[CLIENTS], finishers[FINISHES];
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct stress_client){&s, 100 + i};
        assert_int_equal(pthread_create(&threads[i], NULL, client_main, &clients[i]), 0);
    }
    for (unsigned i = 0; i < FINISHES; i++)
        assert_int_equal(pthread_create(&finishers[i], NULL, finisher_main, &s), 0);
    if (stops) {
        while (atomic_load(&s.connected) < CLIENTS) /* a stopped server lets nobody in */
            sched_yield();
        fake_wait_jobs(f->service, 50);
        proving_stop(f->proving, 20);
        f->proving = NULL;
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&s.over, true);
    for (unsigned i = 0; i < FINISHES; i++)
        pthread_join(finishers[i], NULL);
    print_message("%u answered, %u deadlines, %u unavailable, %u without an end\n", s.ended[GRPC_OK],
                  s.ended[GRPC_DEADLINE_EXCEEDED], s.ended[GRPC_UNAVAILABLE], s.lost);
    assert_true(s.ended[GRPC_OK] >= (stops ? 1 : CLIENTS)); /* clients that leave do not wait for theirs */
    if (!stops)
        assert_int_equal(s.ended[GRPC_UNAVAILABLE], 0);
    assert_int_equal(s.ended[GRPC_INTERNAL], 0);
}

static void clients_of_all_kinds(void **state)
{
    run(*state, false);
}

static void stopped_meanwhile(void **state)
{
    run(*state, true);
}

/* Started and stopped, with somebody there. */
static void sh_06_starts_and_stops(void **state)
{
    for (int i = 0; i < 50; i++) {
        assert_int_equal(fixture_setup(state), 0);
        struct fixture *f = *state;
        if (i % 3 == 1)
            (void)client_call(f->client, STATUS, "", 0, NULL);
        if (i % 2 == 1)
            client_step(f->client);
        assert_int_equal(fixture_teardown(state), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROVING_TEST(clients_of_all_kinds),
        PROVING_TEST(stopped_meanwhile),
        cmocka_unit_test(sh_06_starts_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
