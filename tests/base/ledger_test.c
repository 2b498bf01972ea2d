/* The memory ledger: limits, order, refusals, shrinking, withdrawing; threads that compete for it. */
#include "base/ledger.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ledger *make(uint64_t host)
{
    const uint64_t limits[LEDGER_CLASSES] = {host, 50, 20};
    struct ledger *l;
    struct status s = ledger_make(&l, limits);
    assert_int_equal(s.code, STATUS_OK);
    return l;
}

/* Notes the order of grants. */
struct wish {
    struct lease lease;
    char *order;
    char name;
    uint64_t ticket;
};

static void on_granted(void *context, const struct lease *lease)
{
    struct wish *w = context;
    assert_int_equal(w->lease.bytes, 0);
    w->lease = *lease;
    size_t n = strlen(w->order);
    w->order[n] = w->name;
    w->order[n + 1] = 0;
}

static void want(struct ledger *l, struct wish *w, char *order, char name, uint64_t bytes,
                 enum priority priority)
{
    *w = (struct wish){.order = order, .name = name};
    struct status s = ledger_wait(l, &w->ticket, LEDGER_HOST, bytes, priority, "test", on_granted, w);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_not_equal(w->ticket, 0);
}

static uint64_t used(struct ledger *l)
{
    struct ledger_view v;
    ledger_look(l, LEDGER_HOST, &v);
    return v.used;
}

static void test_try(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    struct lease a, b, c;
    assert_true(ledger_try(l, &a, LEDGER_HOST, 60, PRIORITY_NORMAL, "a"));
    assert_int_equal(a.bytes, 60);
    assert_false(ledger_try(l, &b, LEDGER_HOST, 41, PRIORITY_CRITICAL, "b"));
    assert_int_equal(b.bytes, 0);
    lease_end(&b); /* of none: nothing */
    assert_true(ledger_try(l, &b, LEDGER_HOST, 40, PRIORITY_LOW, "b"));
    assert_true(ledger_try(l, &c, LEDGER_DEVICE, 20, PRIORITY_LOW, "c")); /* classes are apart */
    assert_int_equal(used(l), 100);
    lease_shrink(&a, 10);
    assert_int_equal(used(l), 50);
    lease_shrink(&a, 10);
    lease_shrink(&a, 0);
    assert_int_equal(used(l), 40);
    lease_end(&a);
    lease_end(&a);
    lease_end(&b);
    lease_end(&c);
    struct ledger_view v;
    ledger_look(l, LEDGER_HOST, &v);
    assert_int_equal(v.used, 0);
    assert_int_equal(v.peak, 100);
    assert_int_equal(v.limit, 100);
    assert_int_equal(v.leases, 0);
    ledger_end(l);
}

static void test_order(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    char order[16] = "";
    struct lease all;
    struct wish w[6];
    assert_true(ledger_try(l, &all, LEDGER_HOST, 100, PRIORITY_NORMAL, "all"));
    want(l, &w[0], order, 'a', 10, PRIORITY_LOW);
    want(l, &w[1], order, 'b', 80, PRIORITY_NORMAL);
    want(l, &w[2], order, 'c', 10, PRIORITY_NORMAL);
    want(l, &w[3], order, 'd', 10, PRIORITY_HIGH);
    want(l, &w[4], order, 'e', 10, PRIORITY_CRITICAL);
    assert_string_equal(order, "");
    lease_shrink(&all, 60); /* 40 free: e, d; b is next and does not fit, c and a do not pass it */
    assert_string_equal(order, "ed");
    struct lease extra;
    assert_false(ledger_try(l, &extra, LEDGER_HOST, 1, PRIORITY_NORMAL, "x"));
    assert_true(ledger_try(l, &extra, LEDGER_HOST, 1, PRIORITY_HIGH, "x")); /* nobody so high waits */
    lease_end(&extra);
    struct ledger_view v;
    ledger_look(l, LEDGER_HOST, &v);
    assert_int_equal(v.waiting, 3);
    assert_int_equal(v.waiting_bytes, 100);
    lease_end(&all);
    assert_string_equal(order, "edb"); /* 100 used: c waits */
    lease_end(&w[1].lease);
    assert_string_equal(order, "edbca");
    want(l, &w[5], order, 'f', 60, PRIORITY_LOW); /* fits: at once */
    assert_string_equal(order, "edbcaf");
    for (int i = 0; i < 6; i++)
        lease_end(&w[i].lease);
    ledger_end(l);
}

static void test_withdraw(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    char order[16] = "";
    struct lease all;
    struct wish w[3];
    assert_true(ledger_try(l, &all, LEDGER_HOST, 90, PRIORITY_NORMAL, "all"));
    want(l, &w[0], order, 'a', 50, PRIORITY_NORMAL);
    want(l, &w[1], order, 'b', 5, PRIORITY_NORMAL);
    want(l, &w[2], order, 'c', 6, PRIORITY_NORMAL);
    assert_true(ledger_withdraw(l, w[2].ticket)); /* the last: the list's end must be right */
    assert_true(ledger_withdraw(l, w[0].ticket)); /* b stood behind it and fits */
    assert_string_equal(order, "b");
    assert_false(ledger_withdraw(l, w[0].ticket));
    assert_false(ledger_withdraw(l, w[1].ticket));
    assert_false(ledger_withdraw(l, 12345));
    want(l, &w[2], order, 'c', 6, PRIORITY_NORMAL);
    lease_end(&all);
    assert_string_equal(order, "bc");
    lease_end(&w[1].lease);
    lease_end(&w[2].lease);
    ledger_end(l);
}

static void test_never_fits(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    char order[16] = "";
    struct wish w = {.order = order, .name = 'a'};
    struct status s =
        ledger_wait(l, &w.ticket, LEDGER_HOST, 101, PRIORITY_CRITICAL, "request", on_granted, &w);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.message, "request needs 101 bytes of host memory; the limit is 100");
    assert_int_equal(w.ticket, 0);
    ledger_set_reserve(l, LEDGER_HOST, 30);
    s = ledger_wait(l, &w.ticket, LEDGER_HOST, 71, PRIORITY_HIGH, "request", on_granted, &w);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.detail, "30 of 100 bytes are kept for WinningPoSt");
    s = ledger_wait(l, &w.ticket, LEDGER_DEVICE, 21, PRIORITY_HIGH, "parameters", on_granted, &w);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.message, "parameters needs 21 bytes of device memory; the limit is 20");
    assert_string_equal(order, "");
    ledger_end(l);
}

static void test_reserve(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    char order[16] = "";
    struct lease a, b;
    struct wish w[2];
    ledger_set_reserve(l, LEDGER_HOST, 30);
    assert_false(ledger_try(l, &a, LEDGER_HOST, 71, PRIORITY_HIGH, "a"));
    assert_true(ledger_try(l, &a, LEDGER_HOST, 70, PRIORITY_HIGH, "a"));
    want(l, &w[0], order, 'n', 1, PRIORITY_NORMAL);
    assert_string_equal(order, "");
    assert_true(ledger_try(l, &b, LEDGER_HOST, 30, PRIORITY_CRITICAL, "b"));
    want(l, &w[1], order, 'c', 1, PRIORITY_CRITICAL);
    lease_shrink(&a, 69); /* CRITICAL takes it, although used is beyond what others may fill */
    assert_string_equal(order, "c");
    lease_end(&b);
    assert_string_equal(order, "c"); /* 70 used: the rest is kept */
    lease_end(&w[1].lease);
    assert_string_equal(order, "cn");
    lease_end(&w[0].lease);
    lease_end(&a);
    ledger_end(l);
}

static void test_limit_changes(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    char order[16] = "";
    struct lease a, b;
    struct wish w;
    assert_true(ledger_try(l, &a, LEDGER_HOST, 80, PRIORITY_NORMAL, "a"));
    want(l, &w, order, 'w', 30, PRIORITY_NORMAL);
    ledger_set_limit(l, LEDGER_HOST, 50); /* below what is used: nothing more is given */
    assert_false(ledger_try(l, &b, LEDGER_HOST, 1, PRIORITY_CRITICAL, "b"));
    ledger_set_limit(l, LEDGER_HOST, 109);
    assert_string_equal(order, "");
    ledger_set_limit(l, LEDGER_HOST, 110);
    assert_string_equal(order, "w");
    lease_end(&a);
    lease_end(&w.lease);
    ledger_end(l);
}

/* The machine is short: others wait, WinningPoSt does not, and what could never fit is refused as before. */
static void me_02_test_shortage(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    struct wish a, b, c;
    struct lease lease;
    char order[8] = "";
    uint64_t ticket;
    ledger_set_shortage(l, LEDGER_HOST, 30);
    want(l, &a, order, 'a', 30, PRIORITY_NORMAL);
    want(l, &b, order, 'b', 40, PRIORITY_NORMAL);
    assert_string_equal(order, "a");
    want(l, &c, order, 'c', 60, PRIORITY_CRITICAL);
    assert_string_equal(order, "ac");
    assert_false(ledger_try(l, &lease, LEDGER_HOST, 1, PRIORITY_NORMAL, "test"));
    struct status s = ledger_wait(l, &ticket, LEDGER_HOST, 101, PRIORITY_NORMAL, "test", on_granted, &c);
    assert_int_equal(s.code, STATUS_MEMORY);
    lease_end(&c.lease);
    lease_end(&a.lease);
    assert_string_equal(order, "ac");
    ledger_set_shortage(l, LEDGER_HOST, UINT64_MAX);
    assert_string_equal(order, "acb");
    lease_end(&b.lease);
    ledger_end(l);
}

static void test_purposes(void **state)
{
    (void)state;
    struct ledger *l = make(1000);
    static char names[80][16];
    struct lease a, b, c, many[80];
    char copy[] = "seeds";
    const char *purposes[100];
    uint64_t bytes[100], sum = 0;
    assert_true(ledger_try(l, &a, LEDGER_HOST, 5, PRIORITY_NORMAL, "seeds"));
    assert_true(ledger_try(l, &b, LEDGER_HOST, 7, PRIORITY_NORMAL, "request"));
    assert_true(ledger_try(l, &c, LEDGER_HOST, 2, PRIORITY_NORMAL, copy)); /* by text, not by address */
    assert_int_equal(ledger_purposes(l, LEDGER_HOST, purposes, bytes, 100), 2);
    assert_string_equal(purposes[0], "seeds");
    assert_int_equal(bytes[0], 7);
    assert_int_equal(bytes[1], 7);
    assert_int_equal(ledger_purposes(l, LEDGER_PINNED, purposes, bytes, 100), 0);
    for (int i = 0; i < 80; i++) { /* more than there is room for: counted together */
        snprintf(names[i], sizeof names[i], "p%d", i);
        assert_true(ledger_try(l, &many[i], LEDGER_HOST, 1, PRIORITY_NORMAL, names[i]));
    }
    size_t n = ledger_purposes(l, LEDGER_HOST, purposes, bytes, 100);
    assert_int_equal(n, 64);
    for (size_t i = 0; i < n; i++)
        sum += bytes[i];
    assert_int_equal(sum, 94);
    assert_string_equal(purposes[63], "others");
    assert_int_equal(ledger_purposes(l, LEDGER_HOST, purposes, bytes, 1), 64); /* writes one */
    for (int i = 0; i < 80; i++)
        lease_end(&many[i]);
    lease_end(&a);
    lease_end(&b);
    lease_end(&c);
    ledger_purposes(l, LEDGER_HOST, purposes, bytes, 100);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(bytes[i], 0);
    ledger_end(l);
}

/* A grant may use the ledger. */
struct chain {
    struct ledger *ledger;
    int left;
};
static void chain_granted(void *context, const struct lease *lease)
{
    struct chain *c = context;
    struct lease mine = *lease;
    lease_end(&mine);
    if (c->left-- > 0) {
        uint64_t ticket;
        struct status s =
            ledger_wait(c->ledger, &ticket, LEDGER_HOST, 100, PRIORITY_NORMAL, "chain", chain_granted, c);
        assert_int_equal(s.code, STATUS_OK);
    }
}
static void test_reentrant(void **state)
{
    (void)state;
    struct chain c = {make(100), 50};
    uint64_t ticket;
    struct status s =
        ledger_wait(c.ledger, &ticket, LEDGER_HOST, 100, PRIORITY_NORMAL, "chain", chain_granted, &c);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(c.left, -1);
    ledger_end(c.ledger);
}

/* ---- threads ---- */

#define THREADS 8
#define ROUNDS  2000
struct racer {
    pthread_t thread;
    struct ledger *ledger;
    atomic_ullong *in_use, *most;
    unsigned seed;
    pthread_mutex_t lock;
    pthread_cond_t granted;
    bool has;
    struct lease lease;
};

static void racer_granted(void *context, const struct lease *lease)
{
    struct racer *r = context;
    pthread_mutex_lock(&r->lock);
    r->lease = *lease;
    r->has = true;
    pthread_cond_signal(&r->granted);
    pthread_mutex_unlock(&r->lock);
}

static void racer_use(struct racer *r)
{
    unsigned long long now = atomic_fetch_add(r->in_use, r->lease.bytes) + r->lease.bytes;
    unsigned long long most = atomic_load(r->most);
    while (now > most && !atomic_compare_exchange_weak(r->most, &most, now))
        ;
    if (rand_r(&r->seed) % 4 == 0)
        sched_yield();
    uint64_t keep = (uint64_t)rand_r(&r->seed) % (r->lease.bytes + 1);
    atomic_fetch_sub(r->in_use, r->lease.bytes - keep);
    lease_shrink(&r->lease, keep);
    atomic_fetch_sub(r->in_use, keep);
    lease_end(&r->lease);
}

static void *racer_main(void *context)
{
    struct racer *r = context;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t bytes = 1 + (uint64_t)rand_r(&r->seed) % 60, ticket;
        enum priority priority = (enum priority)(rand_r(&r->seed) % PRIORITY_COUNT);
        if (rand_r(&r->seed) % 3 == 0) {
            if (ledger_try(r->ledger, &r->lease, LEDGER_HOST, bytes, priority, "try"))
                racer_use(r);
            continue;
        }
        r->has = false;
        struct status s =
            ledger_wait(r->ledger, &ticket, LEDGER_HOST, bytes, priority, "wait", racer_granted, r);
        CHECK(!status_failed(&s));
        if (rand_r(&r->seed) % 4 == 0 && ledger_withdraw(r->ledger, ticket))
            continue; /* no callback comes */
        pthread_mutex_lock(&r->lock);
        while (!r->has)
            pthread_cond_wait(&r->granted, &r->lock);
        pthread_mutex_unlock(&r->lock);
        racer_use(r);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct ledger *l = make(100);
    atomic_ullong in_use = 0, most = 0;
    struct racer racers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){.ledger = l, .in_use = &in_use, .most = &most, .seed = i + 1};
        pthread_mutex_init(&racers[i].lock, NULL);
        pthread_cond_init(&racers[i].granted, NULL);
        assert_int_equal(pthread_create(&racers[i].thread, NULL, racer_main, &racers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(racers[i].thread, NULL);
        pthread_mutex_destroy(&racers[i].lock);
        pthread_cond_destroy(&racers[i].granted);
    }
    assert_true(atomic_load(&most) <= 100);
    assert_int_equal(atomic_load(&in_use), 0);
    ledger_end(l);
}

static void test_allocation_fails(void **state)
{
    (void)state;
    const uint64_t limits[LEDGER_CLASSES] = {100, 50, 20};
    struct ledger *l;
    mem_fail_after(1);
    struct status s = ledger_make(&l, limits);
    mem_fail_after(0);
    assert_int_equal(s.code, STATUS_MEMORY);
    l = make(100);
    char order[4] = "";
    struct wish w = {.order = order};
    mem_fail_after(1);
    s = ledger_wait(l, &w.ticket, LEDGER_HOST, 1, PRIORITY_NORMAL, "x", on_granted, &w);
    mem_fail_after(0);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_int_equal(used(l), 0);
    ledger_end(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_withdraw),
        cmocka_unit_test(test_never_fits),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_limit_changes),
        cmocka_unit_test(me_02_test_shortage),
        cmocka_unit_test(test_purposes),
        cmocka_unit_test(test_reentrant),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
