/* Parameters as evictable leases, a budget that moves, and devices: strikes, and the spare one for
 * WinningPoSt. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Two circuits whose parameters do not both fit, one that is resident, and one with a floor. */
enum { A, B, WINNING, WINDOW, CIRCUITS };
static const struct engine_circuit CIRCUIT[CIRCUITS] = {
    {.seeds_bytes = 100, .proof_bytes = 1000, .pending_bytes = 10, .load_bytes = 5000},
    {.seeds_bytes = 100, .proof_bytes = 1000, .pending_bytes = 10, .load_bytes = 6000},
    {.seeds_bytes = 10, .proof_bytes = 100, .pending_bytes = 10, .load_bytes = 500, .resident = true},
    {.seeds_bytes = 50, .proof_bytes = 350, .pending_bytes = 10, .load_bytes = 700, .floor = true}};
#define IDLE_MS 60000

static struct engine_config memory_config(void)
{
    struct engine_config c = rig_config();
    c.host_budget = 8000;
    c.max_queue = 100;
    c.partition_workers = 1;
    c.eviction_min_idle_ms = IDLE_MS;
    return c;
}

static void start(struct rig *r, const struct engine_config *config)
{
    rig_start(r, config);
    engine_end(r->engine);
    assert_int_equal(engine_make(&r->engine, config, CIRCUIT, CIRCUITS).code, STATUS_OK);
    r->now = 1000;
}

static void budget(struct rig *r, uint64_t bytes)
{
    struct engine_event event = {.kind = EVENT_BUDGET, .bytes = bytes};
    rig_step(r, &event);
}

/* Submits, and answers everything, loads too, until nothing is left. */
static void answer_all(struct rig *r)
{
    while (r->out_count > 0) {
        rig_run(r, ACTION_LOAD);
        rig_run(r, RIG_ALL);
    }
}

static bool acted(const struct rig *r, const char *what)
{
    return strstr(r->actions, what) != NULL;
}

/* ---- eviction ---- */

/* Nobody else has anything to do: the idle go at once, for whoever comes. */
static void test_evicted_when_nothing_else_is_there(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    start(&r, &config);
    rig_submit(&r, 1, rig_job(A, 1, PRIORITY_NORMAL));
    EXPECT(&r, "load 0; open 1");
    answer_all(&r);
    assert_int_equal(rig_counts(&r).parameter_bytes, 5000);
    rig_submit(&r, 2, rig_job(B, 1, PRIORITY_NORMAL));
    EXPECT(&r, "evict 0; load 1; open 2");
    assert_int_equal(rig_counts(&r).parameter_bytes, 6000);
    answer_all(&r);
    rig_submit(&r, 3, rig_job(WINDOW, 1, PRIORITY_HIGH)); /* fits beside it */
    EXPECT(&r, "load 3; open 3");
    answer_all(&r);
    rig_tick(&r, 10);
    rig_submit(&r, 4, rig_job(B, 1, PRIORITY_NORMAL)); /* the longest idle goes: WINDOW is younger than B */
    answer_all(&r);
    rig_submit(&r, 5, rig_job(A, 1, PRIORITY_NORMAL));
    EXPECT(&r, "evict 3; evict 1; load 0; open 5");
    answer_all(&r);
    rig_end(&r);
}

/* While others' work goes on, what was used lately stays, and who waits for room is overtaken: so long as its
 * patience lasts. */
static void test_patience(void **state)
{
    (void)state;
    static const char *const ORDER[2] = {"1 1 3 4 5 2", "1 1 2 3 4 5"};
    for (int waits = 0; waits < 2; waits++) {
        struct engine_config config = memory_config();
        struct rig r;
        config.partition_workers = 2;
        start(&r, &config);
        rig_submit(&r, 1, rig_job(A, 2, PRIORITY_NORMAL));
        rig_run(&r, ACTION_LOAD);
        for (job_id id = 2; id < 6; id++)
            rig_submit(&r, id, rig_job(id == 2 ? B : A, 1, PRIORITY_NORMAL));
        rig_run(&r, ACTION_OPEN);
        assert_int_equal(rig_counts(&r).loads_waiting, 1);
        assert_int_equal(engine_next_tick(r.engine), 1000 + IDLE_MS);
        if (waits)
            rig_tick(&r, IDLE_MS);
        answer_all(&r);
        assert_int_equal(rig_counts(&r).jobs_waiting + rig_counts(&r).jobs_running, 0);
        assert_string_equal(r.order, ORDER[waits]);
        rig_end(&r);
    }
}

/* Who has waited long enough is not overtaken by small parameters either, that would take of the room. */
static void test_room_is_kept(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct engine_config config = memory_config();
        struct rig r;
        config.partition_workers = 2;
        start(&r, &config);
        rig_submit(&r, 1, rig_job(A, 2, PRIORITY_NORMAL));
        rig_run(&r, ACTION_LOAD);
        rig_run(&r, ACTION_OPEN);
        rig_submit(&r, 2, rig_job(B, 1, PRIORITY_NORMAL));
        rig_run(&r, ACTION_OPEN);
        if (waits)
            rig_tick(&r, IDLE_MS);
        rig_submit(&r, 3, rig_job(WINDOW, 1, PRIORITY_NORMAL));
        EXPECT(&r, waits ? "open 3" : "load 3; open 3");
        answer_all(&r);
        assert_string_equal(r.order, waits ? "1 1 2 3" : "1 1 3 2");
        rig_end(&r);
    }
}

/* Room for one key; 20 jobs of each, interleaved. Sorted: two loads. Not sorted: one exchange for a time of
 * patience at most. None waits for ever. */
static void sc_11_test_key_thrash(void **state)
{
    (void)state;
    for (int sorted = 0; sorted < 2; sorted++) {
        struct engine_config config = memory_config();
        struct rig r;
        uint32_t loads = 0, ended = 0, minutes = 0;
        config.sort_by_circuit = sorted;
        start(&r, &config);
        for (job_id id = 1; id <= 40; id++) {
            rig_submit(&r, id, rig_job(id % 2 ? A : B, 1, PRIORITY_NORMAL));
            loads += acted(&r, "load");
        }
        for (uint64_t step = 0; rig_counts(&r).jobs_waiting + rig_counts(&r).jobs_running > 0; step++) {
            assert_true(step < 10000);
            if (r.out_count == 0) {
                rig_tick(&r, 1000);
            } else {
                struct engine_action a = r.out[0];
                r.now += 2000; /* of a proof of 8 s */
                if (a.kind == ACTION_LOAD)
                    rig_circuit(&r, EVENT_CIRCUIT, a.circuit, STATUS_OK);
                else
                    rig_run(&r, a.kind);
            }
            loads += acted(&r, "load");
            ended += acted(&r, "end");
        }
        minutes = (uint32_t)(r.now / IDLE_MS);
        assert_true(loads <= (sorted ? 3 : 2 + minutes));
        assert_true(loads >= 2 && ended > 0);
        rig_end(&r);
    }
}

/* WinningPoSt: loaded first, never evicted, not refused for others' bytes. */
static void sc_02_test_resident(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    start(&r, &config);
    struct engine_event load = {.kind = EVENT_LOAD, .circuit = WINNING};
    rig_step(&r, &load);
    EXPECT(&r, "load 2");
    rig_run(&r, ACTION_LOAD);
    for (job_id id = 1; id < 6; id++) {
        rig_submit(&r, id, rig_job(id % 2 ? A : B, 1, PRIORITY_NORMAL));
        assert_false(acted(&r, "evict 2"));
        answer_all(&r);
        rig_tick(&r, 2 * IDLE_MS);
    }
    budget(&r, 0); /* the machine has nothing left */
    rig_submit(&r, 7, rig_job(WINNING, 1, PRIORITY_CRITICAL));
    EXPECT(&r, "open 7");
    rig_event(&r, EVENT_OPENED, 7, 0, STATUS_OK);
    EXPECT(&r, "synth 7.0");
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_end(&r);
}

/* What was asked for by hand: idle parameters go at once for it; with numbers when nothing helps. */
static void test_load_by_hand(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    start(&r, &config);
    rig_submit(&r, 1, rig_job(A, 1, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    rig_run(&r, ACTION_OPEN);
    struct status s = engine_would_load(r.engine, B);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.message, "6000 bytes of parameters find no room: the memory budget is 8000 bytes");
    assert_string_equal(s.detail, "parameters in use or kept: 5000 bytes, partitions: 100 bytes");
    answer_all(&r);
    assert_int_equal(engine_would_load(r.engine, B).code, STATUS_OK);
    struct engine_event load = {.kind = EVENT_LOAD, .circuit = B};
    rig_step(&r, &load);
    EXPECT(&r, "evict 0; load 1");
    rig_end(&r);
}

/* Parameters and a partition beyond the whole budget: refused at once, with both numbers. */
static void me_01_test_never_fits_with_parameters(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    config.host_budget = 6000;
    start(&r, &config);
    rig_submit(&r, 1, rig_job(A, 1, PRIORITY_NORMAL));
    EXPECT(&r, "end 1 memory");
    assert_string_equal(r.last_status.message, "one partition needs 1100 bytes, the memory budget is 6000");
    assert_string_equal(r.last_status.detail, "6100 bytes with the parameters");
    rig_end(&r);
}

/* ---- the budget ---- */

static void me_02_test_budget_moves(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    config.partition_workers = 4;
    start(&r, &config);
    rig_submit(&r, 1, rig_job(A, 8, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    rig_run(&r, ACTION_OPEN);
    assert_int_equal(rig_counts(&r).permits_in_use, 4);
    assert_false(rig_counts(&r).short_of_memory);
    budget(&r, 5500); /* what is in synthesis goes on; no proof fits any more */
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    EXPECT(&r, "");
    assert_true(rig_counts(&r).short_of_memory);
    assert_int_equal(rig_counts(&r).budget, 5500);
    rig_run(&r, ACTION_SYNTHESISE);
    EXPECT(&r, "");
    budget(&r, 4000); /* less than the parameters alone */
    EXPECT(&r, "");
    budget(&r, UINT64_MAX); /* never more than was planned */
    assert_int_equal(rig_counts(&r).budget, 8000);
    assert_true(acted(&r, "start 1.0@0"));
    assert_false(rig_counts(&r).short_of_memory);
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_end(&r);
}

/* A WinningPoSt's parameters take the bytes that were kept for the first proof while nothing runs: what waits
 * behind it gives its seeds back, and is proved later. */
static void me_11_test_kept_bytes_are_taken(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    config.partition_workers = 4;
    config.host_budget = 5000 + 500 + 3 * 100 + 1000;
    start(&r, &config);
    rig_submit(&r, 1, rig_job(A, 4, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    rig_run(&r, ACTION_OPEN);
    assert_int_equal(rig_counts(&r).lease_bytes, 400);
    struct engine_event load = {.kind = EVENT_LOAD, .circuit = WINNING};
    rig_step(&r, &load);
    EXPECT(&r, "load 2");
    rig_event(&r, EVENT_SYNTHESISED, 1, 1, STATUS_OK);
    EXPECT(&r, "");
    rig_event(&r, EVENT_SYNTHESISED, 1, 3, STATUS_OK);
    EXPECT(&r, "release 1.3; start 1.1@0");
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_end(&r);
}

/* Jobs below HIGH leave the bytes of one WindowPoSt partition, but for the one that could run alone. */
static void sc_01_test_floor(void **state)
{
    (void)state;
    struct engine_config config = memory_config();
    struct rig r;
    config.partition_workers = 8;
    config.host_budget = 5000 + 700 + 1000 + 5 * 100 + 400;
    start(&r, &config);
    struct engine_event load = {.kind = EVENT_LOAD, .circuit = WINDOW};
    rig_step(&r, &load);
    rig_run(&r, ACTION_LOAD);
    rig_submit(&r, 1, rig_job(A, 8, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    rig_run(&r, ACTION_OPEN);
    assert_int_equal(rig_counts(&r).lease_bytes, 500); /* five of eight: 400 stay free beside the proof */
    rig_submit(&r, 2, rig_job(WINDOW, 1, PRIORITY_HIGH));
    rig_event(&r, EVENT_OPENED, 2, 0, STATUS_OK);
    EXPECT(&r, "synth 2.0");
    answer_all(&r);
    rig_end(&r);
}

/* ---- devices ---- */

static void prove_badly(struct rig *r, job_id job, int times)
{
    for (int i = 0; i < times; i++) {
        rig_run(r, ACTION_OPEN);
        rig_event(r, EVENT_SYNTHESISED, job, 0, STATUS_OK);
        rig_event(r, EVENT_STARTED, job, 0, STATUS_OK);
        rig_event(r, EVENT_FINISHED, job, 0, STATUS_REJECTED);
    }
}

static void test_strikes(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    bool off;
    config.devices = 2;
    config.max_queue = 100;
    config.strikes_max = 2;
    rig_start(&r, &config);
    /* One bad proof may be chance: the next try is good, and no strike is taken. */
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    prove_badly(&r, 1, 1);
    answer_all(&r);
    assert_int_equal(engine_strikes(r.engine, 0, &off), 0);
    /* Twice on the device, then good elsewhere: a strike, and the job is proved. */
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_NORMAL));
    prove_badly(&r, 2, 2);
    EXPECT(&r, "strike @0; release 2.0; synth 2.0");
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    assert_int_equal(engine_strikes(r.engine, 0, &off), 1);
    assert_false(off);
    rig_submit(&r, 3, rig_job(0, 1, PRIORITY_NORMAL));
    prove_badly(&r, 3, 2);
    EXPECT(&r, "strike @0; off @0; release 3.0; synth 3.0");
    assert_int_equal(engine_strikes(r.engine, 0, &off), 2);
    assert_true(off);
    rig_event(&r, EVENT_SYNTHESISED, 3, 0, STATUS_OK);
    EXPECT(&r, "start 3.0@1");
    rig_run(&r, RIG_ALL);
    /* The last device stays, whatever it does. */
    for (job_id id = 4; id < 8; id++) {
        rig_submit(&r, id, rig_job(0, 1, PRIORITY_NORMAL));
        prove_badly(&r, id, 3);
        assert_true(acted(&r, "rejected"));
        assert_false(acted(&r, "off"));
    }
    rig_submit(&r, 9, rig_job(0, 1, PRIORITY_NORMAL));
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_end(&r);
}

static void test_strikes_are_forgiven(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    bool off;
    config.strikes_max = 2;
    rig_start(&r, &config);
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    prove_badly(&r, 1, 2);
    answer_all(&r);
    assert_int_equal(engine_strikes(r.engine, 0, &off), 1);
    for (job_id id = 2; id < 2 + 62; id++) { /* and the third try of job 1 */
        rig_submit(&r, id, rig_job(0, 1, PRIORITY_NORMAL));
        answer_all(&r);
    }
    assert_int_equal(engine_strikes(r.engine, 0, &off), 1);
    rig_submit(&r, 99, rig_job(0, 1, PRIORITY_NORMAL));
    answer_all(&r);
    assert_int_equal(engine_strikes(r.engine, 0, &off), 0);
    rig_end(&r);
}

/* WinningPoSt when every device is lost: the spare one; nobody else gets it. */
static void test_spare_device(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.devices = 2;
    config.spare_device = true;
    rig_start(&r, &config);
    rig_submit(&r, 1, rig_job(0, 2, PRIORITY_NORMAL));
    rig_run(&r, ACTION_LOAD);
    rig_submit(&r, 2, rig_job(0, 1, PRIORITY_CRITICAL));
    rig_run(&r, ACTION_OPEN);
    rig_event(&r, EVENT_SYNTHESISED, 2, 0, STATUS_OK);
    assert_true(acted(&r, "start 2.0@0"));
    rig_device_lost(&r, 0);
    EXPECT(&r, "");
    rig_event(&r, EVENT_STARTED, 2, 0, STATUS_DEVICE);
    assert_true(acted(&r, "release 2.0"));
    rig_event(&r, EVENT_SYNTHESISED, 2, 0, STATUS_OK);
    assert_true(acted(&r, "start 2.0@1"));
    rig_device_lost(&r, 1);
    assert_true(acted(&r, "end 1 device"));
    assert_false(acted(&r, "end 2"));
    rig_event(&r, EVENT_STARTED, 2, 0, STATUS_DEVICE);
    rig_event(&r, EVENT_SYNTHESISED, 2, 0, STATUS_OK);
    assert_true(acted(&r, "start 2.0@2"));
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_submit(&r, 3, rig_job(0, 1, PRIORITY_NORMAL));
    EXPECT(&r, "end 3 device");
    rig_submit(&r, 4, rig_job(0, 1, PRIORITY_CRITICAL));
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_device_lost(&r, 2); /* and that too */
    rig_submit(&r, 5, rig_job(0, 1, PRIORITY_CRITICAL));
    EXPECT(&r, "end 5 device");
    rig_end(&r);
}

/* That devices are lost under it counts for no try: one after the other, until it comes to the spare one. */
static void test_devices_lost_one_after_another(void **state)
{
    (void)state;
    struct engine_config config = rig_config();
    struct rig r;
    config.devices = 4;
    config.spare_device = true;
    rig_start(&r, &config);
    rig_submit(&r, 1, rig_job(0, 1, PRIORITY_CRITICAL));
    rig_run(&r, ACTION_LOAD);
    rig_run(&r, ACTION_OPEN);
    for (uint32_t d = 0; d < 4; d++) {
        char text[32];
        rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
        snprintf(text, sizeof text, "start 1.0@%u", d);
        EXPECT(&r, text);
        rig_device_lost(&r, d);
        rig_event(&r, EVENT_STARTED, 1, 0, STATUS_DEVICE);
        EXPECT(&r, "release 1.0; synth 1.0");
    }
    rig_event(&r, EVENT_SYNTHESISED, 1, 0, STATUS_OK);
    EXPECT(&r, "start 1.0@4");
    answer_all(&r);
    assert_int_equal(r.last_status.code, STATUS_OK);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evicted_when_nothing_else_is_there),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_room_is_kept),
        cmocka_unit_test(sc_11_test_key_thrash),
        cmocka_unit_test(sc_02_test_resident),
        cmocka_unit_test(test_load_by_hand),
        cmocka_unit_test(me_01_test_never_fits_with_parameters),
        cmocka_unit_test(me_02_test_budget_moves),
        cmocka_unit_test(me_11_test_kept_bytes_are_taken),
        cmocka_unit_test(sc_01_test_floor),
        cmocka_unit_test(test_strikes),
        cmocka_unit_test(test_strikes_are_forgiven),
        cmocka_unit_test(test_spare_device),
        cmocka_unit_test(test_devices_lost_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
