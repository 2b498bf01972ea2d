/* The state machine, scripted: every way in which a job can end at every stage, retries, devices lost,
 * circuits that fail or go, draining, retention. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- endings at every stage ---- */

/* Brings job 5 of one partition to a stage: 0 loading, 1 opening, 2 opened, circuit still loading, 3
 * synthesis, 4 at the door, 5 queued, 6 device, 7 waits for a finisher, 8 finishing, 9 verifying. Jobs 2 to 4
 * stand in the way where that is needed. Returns how many answers of job 5 are outstanding. */
#define STAGES 10
static int bring(struct rig *r, int stage)
{
    struct engine_config config = rig_config();
    config.partition_workers = 1;
    config.max_queue = 10;
    rig_start(r, &config);
    if (stage == 0) {
        rig_submit(r, 2, rig_job(0, 1, PRIORITY_HIGH));
        rig_submit(r, 5, rig_job(0, 1, PRIORITY_NORMAL)); /* waits for the opener */
        return 0;
    }
    if (stage <= 2) {
        rig_submit(r, 5, rig_job(0, 1, PRIORITY_NORMAL));
        if (stage == 2)
            rig_run(r, ACTION_OPEN);
        return stage == 1;
    }
    if (stage == 4 || stage == 5 || stage == 7) { /* others on the device, in the queue, at the finisher */
        uint32_t others = stage == 4 ? 2 : 1;
        rig_submit(r, 2, rig_job(0, others, PRIORITY_HIGH));
        rig_run(r, ACTION_LOAD);
        rig_run(r, ACTION_OPEN);
        rig_run(r, ACTION_SYNTHESISE);
        if (stage == 7)
            rig_run(r, ACTION_START);
    }
    rig_submit(r, 5, rig_job(0, 1, PRIORITY_NORMAL));
    rig_run(r, ACTION_LOAD);
    rig_run(r, ACTION_OPEN);
    if (stage > 3)
        rig_run(r, ACTION_SYNTHESISE);
    if (stage > 6)
        rig_event(r, EVENT_STARTED, 5, 0, STATUS_OK);
    if (stage > 8)
        rig_event(r, EVENT_FINISHED, 5, 0, STATUS_OK);
    static const enum partition_state AT[STAGES] = {
        PARTITION_PENDING, PARTITION_PENDING, PARTITION_PENDING, PARTITION_SYNTHESIS, PARTITION_READY,
        PARTITION_READY,   PARTITION_DEVICE,  PARTITION_DEVICE,  PARTITION_FINISH,    PARTITION_DONE};
    assert_int_equal(rig_state(r, 5, 0), AT[stage]);
    assert_int_equal(rig_counts(r).ready_waiting, stage == 4);
    assert_int_equal(rig_counts(r).pending_proofs, stage == 7);
    return stage == 3 || stage == 6 || stage >= 8;
}

static size_t outstanding_of(const struct rig *r, job_id job)
{
    size_t n = 0;
    for (size_t i = 0; i < r->out_count; i++)
        n += r->out[i].kind != ACTION_LOAD && r->out[i].job == job;
    return n;
}

/* After its end job 5 is closed as soon as what ran has come home, and nothing of it is left anywhere; all
 * others end well. */
static void expect_all_home(struct rig *r, int outstanding)
{
    assert_int_equal(outstanding_of(r, 5), outstanding);
    if (outstanding > 0)
        assert_non_null(strstr(r->actions, "stop 5"));
    assert_int_equal(strstr(r->actions, "close 5") != NULL, outstanding == 0);
    enum partition_state states[ENGINE_PARTITIONS_MAX];
    uint32_t count;
    assert_int_equal(engine_job_partitions(r->engine, 5, states, &count), outstanding > 0);
    rig_run(r, ACTION_LOAD);
    rig_run(r, RIG_ALL);
    assert_false(engine_job_partitions(r->engine, 5, states, &count));
    struct engine_counts c = rig_counts(r);
    assert_int_equal(c.jobs_waiting + c.jobs_running, 0);
    assert_int_equal(c.lease_bytes + c.queue_bytes, 0);
    assert_int_equal(c.permits_in_use + c.ready_length + c.devices_busy + c.finishing + c.pending_proofs, 0);
}

static void test_cancel(void **state)
{
    (void)state;
    for (int stage = 0; stage < STAGES; stage++) {
        struct rig r;
        int outstanding = bring(&r, stage);
        rig_event(&r, EVENT_CANCEL, 5, 0, STATUS_CANCELLED);
        assert_memory_equal(r.actions, "end 5 cancelled", 15);
        expect_all_home(&r, outstanding);
        rig_event(&r, EVENT_CANCEL, 5, 0, STATUS_CANCELLED); /* again, too late */
        EXPECT(&r, "");
        rig_end(&r);
    }
}

static void test_deadline(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    rig_start(&r, &config);
    struct engine_submit submit = rig_job(0, 1, PRIORITY_NORMAL);
    submit.deadline_ms = 1000;
    rig_submit(&r, 5, submit);
    struct engine_event back = {.kind = EVENT_CALLER_BACK, .job = 5, .submit = {.deadline_ms = 500}};
    rig_step(&r, &back); /* of two callers the later counts */
    assert_int_equal(engine_next_tick(r.engine), 1000);
    back.submit.deadline_ms = 2000;
    rig_step(&r, &back);
    assert_int_equal(engine_next_tick(r.engine), 2000);
    rig_tick(&r, 1999);
    EXPECT(&r, "");
    rig_tick(&r, 1);
    EXPECT(&r, "end 5 cancelled; stop 5");
    assert_string_equal(r.last_status.message, "the deadline passed after 2000 ms");
    rig_run(&r, ACTION_OPEN);
    EXPECT(&r, "close 5");
    rig_end(&r);
}

/* A deadline that passed while the job came: answered and closed in the step of its submission. */
static void test_deadline_passed_on_arrival(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    rig_start(&r, &config);
    rig_tick(&r, 1000);
    struct engine_submit submit = rig_job(0, 1, PRIORITY_NORMAL);
    submit.deadline_ms = 1000;
    rig_submit(&r, 1, submit);
    EXPECT(&r, "end 1 cancelled; close 1");
    rig_end(&r);
}

static void test_orphan(void **state)
{
    (void)state;
    for (int stage = 0; stage < STAGES; stage++) {
        struct rig r;
        int outstanding = bring(&r, stage);
        rig_event(&r, EVENT_CALLER_GONE, 5, 0, STATUS_OK);
        EXPECT(&r, "");
        rig_tick(&r, 59999);
        EXPECT(&r, "");
        rig_event(&r, EVENT_CALLER_BACK, 5, 0, STATUS_OK); /* in time */
        rig_tick(&r, 60000);
        EXPECT(&r, "");
        rig_event(&r, EVENT_CALLER_GONE, 5, 0, STATUS_OK);
        assert_int_equal(engine_next_tick(r.engine), r.now + 60000);
        rig_tick(&r, 30000);
        rig_event(&r, EVENT_CALLER_GONE, 5, 0, STATUS_OK); /* said twice: the first counts */
        rig_tick(&r, 30000);
        assert_memory_equal(r.actions, "end 5 cancelled", 15);
        assert_string_equal(r.last_status.message, "nobody has waited for the proof for 60000 ms");
        expect_all_home(&r, outstanding);
        rig_end(&r);

        bring(&r, stage); /* submitted to run on, at once or by joining */
        struct engine_event back = {
            .kind = EVENT_CALLER_BACK, .job = 5, .submit = {.keep_when_orphaned = true}};
        rig_step(&r, &back);
        rig_event(&r, EVENT_CALLER_GONE, 5, 0, STATUS_OK);
        rig_tick(&r, 10000000);
        assert_null(strstr(r.actions, "end 5"));
        rig_end(&r);
    }
}

/* The step that runs fails: the job ends with that status and says where; nothing else is touched. */
static void test_step_fails(void **state)
{
    (void)state;
    for (int stage = 0; stage < STAGES; stage++) {
        struct rig r;
        if (bring(&r, stage) == 0) {
            rig_end(&r);
            continue;
        }
        enum engine_event_kind kind = stage == 1   ? EVENT_OPENED
                                      : stage == 3 ? EVENT_SYNTHESISED
                                      : stage == 6 ? EVENT_STARTED
                                      : stage == 8 ? EVENT_FINISHED
                                                   : EVENT_VERIFIED;
        rig_event(&r, kind, 5, 0, STATUS_MEMORY);
        assert_non_null(strstr(r.actions, "end 5 memory"));
        bool whole = stage == 1 || stage == 9;
        assert_string_equal(r.last_status.message, whole ? "it went wrong" : "partition 0: it went wrong");
        expect_all_home(&r, 0);
        rig_end(&r);
    }
}

/* A late success of what was stopped is taken for what it is: nothing. */
static void test_success_after_cancel(void **state)
{
    (void)state;
    for (int stage = 0; stage < STAGES; stage++) {
        struct rig r;
        if (bring(&r, stage) > 0) {
            rig_event(&r, EVENT_CANCEL, 5, 0, STATUS_CANCELLED);
            for (size_t i = 0; i < r.out_count; i++)
                r.out[i].status.code = STATUS_OK;
            rig_run(&r, RIG_ALL);
            assert_non_null(strstr(r.actions, "close 5"));
            assert_null(strstr(r.actions, "end 5"));
            assert_int_equal(rig_counts(&r).lease_bytes, 0);
        }
        rig_end(&r);
    }
}

/* ---- retries ---- */

static void test_rejected_proof(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.devices = 2;
    rig_start_open(&r, &config, 1);
    static const uint32_t DEVICE[3] = {0, 0, 1}; /* the same device once more, then another */
    for (int attempt = 0; attempt < 3; attempt++) {
        char text[64];
        rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
        snprintf(text, sizeof text, "start 1.0@%u", DEVICE[attempt]);
        EXPECT(&r, text);
        rig_event(&r, EVENT_STARTED, 1, 0, STATUS_OK);
        rig_event(&r, EVENT_FINISHED, 1, 0, STATUS_REJECTED);
        static const char *const AFTER[3] = {"release 1.0; synth 1.0", "strike @0; release 1.0; synth 1.0",
                                             "strike @1; release 1.0; end 1 rejected; close 1"};
        EXPECT(&r, AFTER[attempt]);
    }
    assert_string_equal(r.last_status.message, "partition 0, after 3 attempts: it went wrong");
    rig_end(&r);
}

static void test_device_error(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.devices = 2;
    rig_start_open(&r, &config, 1);
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    EXPECT(&r, "start 1.0@0");
    rig_event(&r, EVENT_STARTED, 1, 0, STATUS_DEVICE);
    EXPECT(&r, "release 1.0; synth 1.0");
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    EXPECT(&r, "start 1.0@1"); /* elsewhere at once */
    rig_event(&r, EVENT_STARTED, 1, 0, STATUS_OK);
    rig_event(&r, EVENT_FINISHED, 1, 0, STATUS_OK);
    rig_event(&r, EVENT_VERIFIED, 1, 0, STATUS_OK);
    EXPECT(&r, "end 1 ok; close 1");
    rig_end(&r);
}

static void test_device_lost(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.devices = 2;
    rig_start_open(&r, &config, 4);
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    rig_event(&r, EVENT_SYNTHESISED, 1, 1, STATUS_OK);
    EXPECT(&r, "start 1.1@1; synth 1.3");
    rig_device_lost(&r, 0);
    EXPECT(&r, "");
    rig_event(&r, EVENT_STARTED, 1, 0, STATUS_DEVICE);
    assert_null(strstr(r.actions, "end"));
    while (r.out_count > 0) {
        assert_int_equal(strstr(r.actions, "@0") != NULL, 0);
        rig_run(&r, r.out[0].kind);
    }
    assert_non_null(strstr(r.actions, "end 1 ok"));

    rig_submit(&r, 2, rig_job(0, 3, PRIORITY_NORMAL));
    rig_run(&r, ACTION_OPEN);
    rig_device_lost(&r, 1);
    assert_memory_equal(r.actions, "end 2 device", 12);
    assert_string_equal(r.last_status.message, "every device is lost: it fell off");
    rig_run(&r, RIG_ALL);
    assert_int_equal(rig_counts(&r).lease_bytes, 0);
    rig_submit(&r, 3, rig_job(0, 3, PRIORITY_NORMAL));
    EXPECT(&r, "end 3 device");
    rig_end(&r);
}

static void test_all_devices_lost_at_every_stage(void **state)
{
    (void)state;
    for (int stage = 0; stage < STAGES; stage++) {
        struct rig r;
        int outstanding = bring(&r, stage);
        rig_device_lost(&r, 0);
        assert_non_null(strstr(r.actions, "end 5 device"));
        assert_int_equal(outstanding_of(&r, 5), outstanding);
        rig_run(&r, ACTION_LOAD);
        rig_run(&r, RIG_ALL);
        struct engine_counts c = rig_counts(&r);
        assert_int_equal(c.lease_bytes + c.queue_bytes + c.jobs_running + c.jobs_waiting, 0);
        rig_end(&r);
    }
}

/* ---- circuits ---- */

static void test_load_fails(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    rig_start(&r, &config);
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_NORMAL));
    rig_submit(&r, 2, rig_job(1, 1, PRIORITY_NORMAL));
    EXPECT(&r, "load 1; open 2");
    rig_event(&r, EVENT_OPENED, 1, 0, STATUS_OK);
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_UNTRUSTED);
    EXPECT(&r, "end 1 untrusted; close 1");
    rig_submit(&r, 3, rig_job(0, 1, PRIORITY_NORMAL)); /* fails at once with the reason */
    EXPECT(&r, "end 3 untrusted");
    rig_tick(&r, 10000); /* later it is tried again */
    rig_submit(&r, 4, rig_job(0, 1, PRIORITY_NORMAL));
    EXPECT(&r, "load 0; open 4");
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_OK);
    rig_circuit(&r, EVENT_CIRCUIT, 1, STATUS_OK);
    rig_run(&r, RIG_ALL);
    assert_int_equal(rig_counts(&r).jobs_running + rig_counts(&r).jobs_waiting, 0);
    rig_end(&r);
}

static void test_preload_and_evict(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    rig_start(&r, &config);
    rig_circuit(&r, EVENT_LOAD, 0, STATUS_OK);
    EXPECT(&r, "load 0");
    rig_circuit(&r, EVENT_LOAD, 0, STATUS_OK);
    EXPECT(&r, "");
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_MISSING);
    rig_circuit(&r, EVENT_LOAD, 0, STATUS_OK); /* asked for by name: tried at once */
    EXPECT(&r, "load 0");
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_OK);
    rig_circuit(&r, EVENT_LOAD, 0, STATUS_OK);
    EXPECT(&r, "");
    rig_circuit(&r, EVENT_CIRCUIT_GONE, 0, STATUS_OK);
    EXPECT(&r, "");
    rig_submit(&r, 1, rig_job(0, 3, PRIORITY_NORMAL));
    EXPECT(&r, "load 0; open 1");
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_OK);
    rig_run(&r, ACTION_OPEN);
    rig_circuit(&r, EVENT_CIRCUIT_GONE, 0, STATUS_OK); /* a job wants it: it comes back */
    EXPECT(&r, "load 0");
    rig_run(&r, RIG_ALL);
    assert_int_equal(rig_counts(&r).jobs_running, 1); /* 1.2 waits for it */
    rig_circuit(&r, EVENT_CIRCUIT, 0, STATUS_OK);
    EXPECT(&r, "synth 1.2");
    rig_end(&r);
}

/* Facts that only loading tells. */
static void test_facts_on_loading(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    const struct engine_circuit unknown = {0};
    struct rig r;
    config.host_budget = 5000;
    rig_start(&r, &config);
    engine_end(r.engine);
    assert_int_equal(engine_make(&r.engine, &config, &unknown, 1).code, STATUS_OK);
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_NORMAL));
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_CRITICAL));
    rig_run(&r, ACTION_OPEN);
    struct engine_event event = {.kind = EVENT_CIRCUIT,
                                 .status = status_ok(),
                                 .facts = {.seeds_bytes = 10, .proof_bytes = 4991, .pending_bytes = 20}};
    rig_step(&r, &event);
    assert_non_null(strstr(r.actions, "end 1 memory"));
    assert_string_equal(r.last_status.message, "one partition needs 5011 bytes, the memory budget is 5000");
    assert_non_null(strstr(r.actions, "synth 2.0"));  /* what is kept for it is not in the budget */
    assert_int_equal(rig_counts(&r).lease_bytes, 20); /* covers the pending proof that comes of it */
    rig_end(&r);
}

/* ---- draining ---- */

static void test_drain(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    struct engine_event drain = {.kind = EVENT_DRAIN};
    rig_start(&r, &config);
    rig_step(&r, &drain);
    EXPECT(&r, "drained");
    rig_step(&r, &drain);
    EXPECT(&r, "");
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_CRITICAL));
    EXPECT(&r, "end 1 cancelled");
    rig_end(&r);

    rig_start_open(&r, &config, 1);
    rig_step(&r, &drain);
    EXPECT(&r, "");
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_HIGH));
    EXPECT(&r, "end 2 cancelled");
    assert_string_equal(r.last_status.message, "the daemon is stopping and takes no new jobs");
    rig_submit(&r, 3, rig_job(0, 1, PRIORITY_CRITICAL)); /* to the last second */
    EXPECT(&r, "open 3");
    rig_run(&r, RIG_ALL);
    assert_non_null(strstr(r.actions, "drained"));
    rig_end(&r);

    rig_start_open(&r, &config, 1); /* cancelled, but it still runs: not drained yet */
    rig_step(&r, &drain);
    rig_event(&r, EVENT_CANCEL, 1, 0, STATUS_CANCELLED);
    EXPECT(&r, "end 1 cancelled; stop 1.0");
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_CANCELLED);
    EXPECT(&r, "release 1.0; close 1; drained");
    rig_end(&r);
}

/* Events of jobs that are not known do nothing; retained ids go in order. */
static void test_strangers_and_retention(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.max_queue = 300;
    rig_start(&r, &config);
    static const enum engine_event_kind KINDS[] = {EVENT_CANCEL, EVENT_CALLER_GONE, EVENT_CALLER_BACK};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        rig_event(&r, KINDS[i], 77, 0, STATUS_CANCELLED);
        EXPECT(&r, "");
    }
    for (job_id id = 1; id <= 200; id++) { /* the ring grows and wraps */
        rig_submit(&r, id, rig_job(0, 1, PRIORITY_NORMAL));
        rig_event(&r, EVENT_CANCEL, id, 0, STATUS_CANCELLED);
        rig_run(&r, ACTION_OPEN);
        rig_tick(&r, 1000);
        char text[32] = "";
        if (id >= 100) /* 100 s */
            snprintf(text, sizeof text, "forget %u", (unsigned)id - 99);
        EXPECT(&r, text);
    }
    assert_int_equal(rig_counts(&r).jobs_retained, 99);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_deadline_passed_on_arrival),
        cmocka_unit_test(test_orphan),
        cmocka_unit_test(test_step_fails),
        cmocka_unit_test(test_success_after_cancel),
        cmocka_unit_test(test_rejected_proof),
        cmocka_unit_test(test_device_error),
        cmocka_unit_test(test_device_lost),
        cmocka_unit_test(test_all_devices_lost_at_every_stage),
        cmocka_unit_test(test_load_fails),
        cmocka_unit_test(test_preload_and_evict),
        cmocka_unit_test(test_facts_on_loading),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_strangers_and_retention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
