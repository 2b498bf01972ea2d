/* The state machine, scripted: the walk of a job, the three mechanisms of backpressure, admission, order. How
 * jobs end is in engine_end_test.c; random schedules are in simulation.c. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_walk(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    rig_start(&r, &config);
    rig_submit(&r, 1, rig_job(0, 2, PRIORITY_NORMAL));
    EXPECT(&r, "load 0; open 1");
    rig_event(&r, EVENT_OPENED, 1, 0, STATUS_OK);
    EXPECT(&r, ""); /* the circuit is not there yet */
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_OK);
    EXPECT(&r, "synth 1.0; synth 1.1");
    assert_int_equal(rig_counts(&r).lease_bytes, 200);
    assert_int_equal(rig_counts(&r).permits_in_use, 2);
    rig_event(&r, EVENT_SYNTHESISED, 1, 1, STATUS_OK);
    EXPECT(&r, "start 1.1@0");
    assert_int_equal(rig_counts(&r).lease_bytes, 1200);
    assert_int_equal(rig_counts(&r).permits_in_use, 1);
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    EXPECT(&r, "");
    assert_int_equal(rig_state(&r, 1, 0), PARTITION_READY);
    rig_event(&r, EVENT_STARTED, 1, 1, STATUS_OK);
    EXPECT(&r, "finish 1.1; start 1.0@0");
    assert_int_equal(rig_counts(&r).lease_bytes, 10 + 1100); /* the seeds of 1.1 are gone already */
    rig_event(&r, EVENT_STARTED, 1, 0, STATUS_OK);
    EXPECT(&r, "");
    assert_int_equal(rig_counts(&r).pending_proofs, 1);
    assert_int_equal(rig_counts(&r).devices_busy, 1);
    rig_event(&r, EVENT_FINISHED, 1, 1, STATUS_OK);
    EXPECT(&r, "release 1.1; finish 1.0");
    rig_event(&r, EVENT_FINISHED, 1, 0, STATUS_OK);
    EXPECT(&r, "release 1.0; verify 1");
    assert_int_equal(rig_counts(&r).lease_bytes, 0);
    rig_event(&r, EVENT_VERIFIED, 1, 0, STATUS_OK);
    EXPECT(&r, "end 1 ok; close 1");
    assert_int_equal(rig_counts(&r).jobs_retained, 1);
    assert_int_equal(engine_next_tick(r.engine), config.retention_ms);
    rig_tick(&r, config.retention_ms - 1);
    EXPECT(&r, "");
    rig_tick(&r, 1);
    EXPECT(&r, "forget 1");
    assert_int_equal(engine_next_tick(r.engine), UINT64_MAX);
    rig_end(&r);
}

/* Mechanism (b): the ready queue holds max(lookahead, partition_workers). */
static void test_ready_capacity(void **state)
{
    (void)state;
    static const uint32_t CASES[][3] = {{1, 1, 1}, {2, 1, 2}, {1, 5, 5}, {4, 0, 4}, {3, 3, 3}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct engine_config config = rig_config();
        struct rig r;
        config.partition_workers = CASES[i][0];
        config.synthesis_lookahead = CASES[i][1];
        uint32_t capacity = CASES[i][2], k = 0;
        rig_start_open(&r, &config, 30);
        assert_int_equal(rig_counts(&r).ready_capacity, capacity);
        /* One goes to the device, which keeps it; `capacity` more go through the door. */
        for (; rig_counts(&r).permits_in_use > 0 && k < 30; k++) {
            if (rig_state(&r, 1, k) != PARTITION_SYNTHESIS)
                break;
            rig_event(&r, EVENT_SYNTHESISED, 1, k, STATUS_OK);
        }
        assert_int_equal(k, 1 + capacity + config.partition_workers);
        assert_int_equal(rig_counts(&r).ready_length, capacity);
        assert_int_equal(rig_counts(&r).ready_waiting, config.partition_workers);
        rig_end(&r);
    }
}

/* Mechanism (c): a permit is held until the ready queue has taken the partition; without it, synthesis goes
 * on as long as there is memory. */
static void test_permit_until_queued(void **state)
{
    (void)state;
    for (int held = 0; held < 2; held++) {
        struct engine_config config = rig_config();
        struct rig r;
        config.permit_until_queued = held;
        rig_start_open(&r, &config, 20);
        for (uint32_t k = 0; k < 20 && rig_state(&r, 1, k) == PARTITION_SYNTHESIS; k++)
            rig_event(&r, EVENT_SYNTHESISED, 1, k, STATUS_OK);
        struct engine_counts c = rig_counts(&r);
        if (held) { /* device 1, queue 2, permits 2 */
            assert_int_equal(c.lease_bytes, 1000 + 5 * 100);
            assert_int_equal(c.permits_in_use, 2);
            rig_event(&r, EVENT_STARTED, 1, 0, STATUS_OK);
            EXPECT(&r, "finish 1.0; start 1.1@0; synth 1.5");
        } else {
            assert_int_equal(c.lease_bytes, 1000 + 20 * 100);
            assert_int_equal(c.ready_waiting, 17);
        }
        rig_end(&r);
    }
}

/* Memory: synthesis waits when the budget is used; what waits for a device always gets there. */
static void test_budget(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.partition_workers = 8;
    config.host_budget = 1000 + 350; /* one proof and three seeds */
    rig_start_open(&r, &config, 8);
    EXPECT(&r, "synth 1.0; synth 1.1; synth 1.2");
    rig_event(&r, EVENT_SYNTHESISED, 1, 2, STATUS_OK);
    EXPECT(&r, "start 1.2@0");
    rig_event(&r, EVENT_STARTED, 1, 2, STATUS_OK);
    EXPECT(&r, "finish 1.2; synth 1.3"); /* 10 pending + 200 + 100 + 1000 <= 1350 */
    rig_end(&r);

    /* Larger proofs come in sight: new small seeds wait until the larger fits. */
    config.host_budget = 2000 + 400;
    rig_start_open(&r, &config, 20);
    assert_int_equal(rig_counts(&r).permits_in_use, 8);
    rig_submit(&r, 2, rig_job(1, 1, PRIORITY_HIGH));
    EXPECT(&r, "load 1; open 2");
    rig_circuit(&r, EVENT_CIRCUIT, 1, STATUS_OK);
    rig_event(&r, EVENT_OPENED, 2, 0, STATUS_OK);
    EXPECT(&r, "");
    for (uint32_t k = 0; k < 8; k++) { /* none of these begins another synthesis of job 1 */
        rig_event(&r, EVENT_SYNTHESISED, 1, k, STATUS_OK);
        assert_null(strstr(r.actions, "synth 1."));
    }
    uint32_t k = 0;
    while (strstr(r.actions, "synth 2.0") == NULL) {
        assert_true(k < 8);
        rig_event(&r, EVENT_STARTED, 1, k, STATUS_OK);
        if (strstr(r.actions, "synth 2.0") == NULL)
            rig_event(&r, EVENT_FINISHED, 1, k, STATUS_OK);
        k++;
    }
    rig_end(&r);
}

static void test_never_fits(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.host_budget = 1099;
    config.max_queue_bytes = 50;
    rig_start(&r, &config);
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_NORMAL));
    EXPECT(&r, "end 1 memory");
    assert_string_equal(r.last_status.message, "one partition needs 1100 bytes, the memory budget is 1099");
    struct engine_submit big = rig_job(2, 1, PRIORITY_NORMAL);
    big.request_bytes = 51;
    rig_submit(&r, 2, big);
    EXPECT(&r, "end 2 memory");
    rig_submit(&r, 3, rig_job(0, 1, PRIORITY_CRITICAL)); /* its bytes are kept apart */
    EXPECT(&r, "load 0; open 3");
    rig_end(&r);
}

static void test_queue_full(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.max_queue_bytes = 100;
    rig_start(&r, &config);
    struct engine_submit big = rig_job(0, 1, PRIORITY_NORMAL);
    big.request_bytes = 95;
    rig_submit(&r, 1, big);
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_NORMAL));
    EXPECT(&r, "end 2 busy");
    assert_string_equal(r.last_status.message, "the queue is full: 95 of 100 bytes, and the request has 10");
    assert_string_equal(r.last_status.hint, "try again later");
    rig_event(&r, EVENT_CANCEL, 1, 0, STATUS_CANCELLED);
    for (job_id id = 3; id < 7; id++)
        rig_submit(&r, id, rig_job(0, 1, PRIORITY_NORMAL));
    rig_submit(&r, 7, rig_job(0, 1, PRIORITY_HIGH));
    EXPECT(&r, "end 7 busy");
    assert_string_equal(r.last_status.message, "the queue is full: 4 jobs of 4");
    for (job_id id = 8; id < 24; id++) { /* WinningPoSt has seats of its own */
        rig_submit(&r, id, rig_job(0, 1, PRIORITY_CRITICAL));
        assert_null(strstr(r.actions, "end"));
    }
    rig_submit(&r, 24, rig_job(0, 1, PRIORITY_CRITICAL));
    EXPECT(&r, "end 24 busy");
    rig_end(&r);
}

/* ---- order ---- */

struct order_job {
    uint32_t circuit;
    enum priority priority;
    uint64_t deadline_ms, at_ms;
};

/* Submits jobs (ids from 2) while job 1 holds the only permit; they must get it in the order `want`. */
static void expect_order(const struct order_job *jobs, uint32_t count, bool sort, uint64_t later_ms,
                         const char *want)
{
    struct engine_config config = rig_config();
    struct rig r;
    config.partition_workers = 1;
    config.max_queue = 64;
    config.sort_by_circuit = sort;
    rig_start_open(&r, &config, 1);
    for (uint32_t c = 1; c < RIG_CIRCUITS; c++)
        rig_circuit(&r, EVENT_LOAD, c, STATUS_OK);
    rig_run(&r, ACTION_LOAD);
    for (uint32_t i = 0; i < count; i++) {
        struct engine_submit submit = rig_job(jobs[i].circuit, 1, jobs[i].priority);
        submit.reserved = false;
        submit.deadline_ms = jobs[i].deadline_ms;
        if (jobs[i].at_ms > r.now)
            rig_tick(&r, jobs[i].at_ms - r.now);
        rig_submit(&r, i + 2, submit);
        rig_run(&r, ACTION_OPEN);
    }
    rig_tick(&r, later_ms);
    uint32_t position = 1;
    for (const char *at = want; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        assert_int_equal(engine_queue_position(r.engine, strtoull(at, NULL, 10)), position++);
    }
    r.order[0] = 0;
    rig_run(&r, RIG_ALL);
    if (strcmp(r.order, want) != 0)
        fail_msg("order %s, not %s", r.order, want);
    rig_end(&r);
}
#define ORDER(sort, later_ms, want, ...)                                                                     \
    expect_order((const struct order_job[]){__VA_ARGS__},                                                    \
                 sizeof((const struct order_job[]){__VA_ARGS__}) / sizeof(struct order_job), sort, later_ms, \
                 want)

static const enum priority N = PRIORITY_NORMAL, H = PRIORITY_HIGH, L = PRIORITY_LOW, C = PRIORITY_CRITICAL;

static void test_order(void **state)
{
    (void)state;
    /* Age, then priority, then deadline within it. */
    ORDER(false, 0, "2 3 4", {0, N, 0, 0}, {1, N, 0, 0}, {0, N, 0, 0});
    ORDER(false, 0, "5 4 2 3", {0, N, 0, 0}, {0, L, 0, 0}, {1, H, 0, 0}, {2, C, 0, 0});
    ORDER(false, 0, "4 3 2", {0, N, 90000, 0}, {0, N, 80000, 0}, {0, N, 70000, 0});
    ORDER(false, 0, "3 2", {0, N, 10000, 0}, {0, H, 0, 0});
    /* Without a deadline: due after 30 minutes, so later jobs with far deadlines do not pass it for ever. */
    ORDER(false, 0, "2 3", {0, N, 0, 0}, {0, N, 1800001, 0});
    ORDER(false, 0, "3 2", {0, N, 0, 0}, {0, N, 1799999, 0});
    /* LOW counts as NORMAL after ten minutes, and never as more. */
    ORDER(false, 599999, "3 2", {0, L, 0, 0}, {0, N, 0, 0});
    ORDER(false, 600000, "2 3", {0, L, 0, 0}, {0, N, 0, 0});
    ORDER(false, 900000, "3 2", {0, N, 0, 0}, {0, H, 0, 0});
}

static void test_grouping(void **state)
{
    (void)state;
    /* NORMAL jobs due in the same five minutes go by circuit; others not; HIGH never. */
    ORDER(true, 0, "2 4 3 5", {0, N, 0, 0}, {1, N, 0, 0}, {0, N, 0, 0}, {1, N, 0, 0});
    ORDER(false, 0, "2 3 4 5", {0, N, 0, 0}, {1, N, 0, 0}, {0, N, 0, 0}, {1, N, 0, 0});
    ORDER(true, 0, "2 3 4 5", {0, H, 0, 0}, {1, H, 0, 0}, {0, H, 0, 0}, {1, H, 0, 0});
    ORDER(true, 0, "2 3 4", {0, N, 0, 0}, {1, N, 0, 0}, {0, N, 0, 300000});
}

/* A higher job passes at every queue: permits, ready queue, device, finisher. */
static void test_priority_at_every_queue(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    rig_start_open(&r, &config, 6);
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_HIGH));
    EXPECT(&r, "open 2");
    rig_event(&r, EVENT_OPENED, 2, 0, STATUS_OK);
    EXPECT(&r, ""); /* both permits are taken */
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    EXPECT(&r, "start 1.0@0; synth 2.0"); /* not 1.2 */
    rig_event(&r, EVENT_SYNTHESISED, 1, 1, STATUS_OK);
    EXPECT(&r, "synth 1.2");
    rig_event(&r, EVENT_SYNTHESISED, 1, 2, STATUS_OK);
    EXPECT(&r, "synth 1.3");
    rig_event(&r, EVENT_SYNTHESISED, 1, 3, STATUS_OK);
    EXPECT(&r, ""); /* the queue is full: 1.1 and 1.2 */
    rig_event(&r, EVENT_SYNTHESISED, 2, 0, STATUS_OK);
    EXPECT(&r, "");
    rig_event(&r, EVENT_STARTED, 1, 0, STATUS_OK);
    EXPECT(&r, "finish 1.0; start 1.1@0; synth 1.4"); /* 2.0 comes into the queue, before 1.3 */
    rig_event(&r, EVENT_STARTED, 1, 1, STATUS_OK);
    EXPECT(&r, ""); /* waits for the finisher */
    rig_event(&r, EVENT_FINISHED, 1, 0, STATUS_OK);
    EXPECT(&r, "release 1.0; finish 1.1; start 2.0@0; synth 1.5"); /* 2.0 before 1.2 */
    rig_event(&r, EVENT_STARTED, 2, 0, STATUS_OK);
    rig_event(&r, EVENT_FINISHED, 1, 1, STATUS_OK);
    EXPECT(&r, "release 1.1; finish 2.0; start 1.2@0");
    rig_event(&r, EVENT_STARTED, 1, 2, STATUS_OK);
    rig_event(&r, EVENT_FINISHED, 2, 0, STATUS_OK);
    EXPECT(&r, "release 2.0; verify 2"); /* before finish 1.2 */
    rig_end(&r);
}

/* WinningPoSt has a seat of its own at each stage, whatever else goes on. */
static void test_reserved(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.host_budget = 1000 + 500; /* used up by job 1 */
    rig_start_open(&r, &config, 9);
    for (uint32_t k = 0; k < 5; k++)
        rig_event(&r, EVENT_SYNTHESISED, 1, k, STATUS_OK);
    rig_event(&r, EVENT_STARTED, 1, 0, STATUS_OK); /* finishing: the finisher is taken */
    rig_event(&r, EVENT_STARTED, 1, 1, STATUS_OK); /* waits for it: the device is taken too */
    EXPECT(&r, "synth 1.5");
    assert_int_equal(rig_counts(&r).permits_in_use, 2);
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_NORMAL));
    rig_submit(&r, 3, rig_job(0, 1, PRIORITY_NORMAL));
    EXPECT(&r, "open 3"); /* both openers are taken */
    rig_submit(&r, 4, rig_job(0, 2, PRIORITY_CRITICAL));
    EXPECT(&r, "open 4");
    rig_event(&r, EVENT_OPENED, 4, 0, STATUS_OK);
    EXPECT(&r, "synth 4.0"); /* one seat is kept; a second has to wait as others */
    rig_event(&r, EVENT_SYNTHESISED, 4, 0, STATUS_OK);
    EXPECT(&r, "start 4.0@0; synth 4.1");
    rig_event(&r, EVENT_STARTED, 4, 0, STATUS_OK);
    EXPECT(&r, "finish 4.0");
    rig_event(&r, EVENT_SYNTHESISED, 4, 1, STATUS_OK);
    EXPECT(&r, "start 4.1@0");
    rig_event(&r, EVENT_STARTED, 4, 1, STATUS_OK);
    rig_event(&r, EVENT_FINISHED, 4, 0, STATUS_OK);
    EXPECT(&r, "release 4.0; finish 4.1");
    rig_event(&r, EVENT_FINISHED, 4, 1, STATUS_OK);
    EXPECT(&r, "release 4.1; verify 4");
    rig_event(&r, EVENT_VERIFIED, 4, 0, STATUS_OK);
    EXPECT(&r, "end 4 ok; close 4");
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_ready_capacity),
        cmocka_unit_test(test_permit_until_queued),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_never_fits),
        cmocka_unit_test(test_queue_full),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_grouping),
        cmocka_unit_test(test_priority_at_every_queue),
        cmocka_unit_test(test_reserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
