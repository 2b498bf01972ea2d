/* The model device: times and sizes of a 32 GiB PoRep partition on a virtual clock, one card or two. What
 * backpressure keeps of memory, and what it costs of speed (nothing), for the settings that an operator
 * tries. */
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTITIONS 10
#define MIB        (UINT64_C(1) << 20)
#define SEEDS      (4 * MIB)
#define SCRATCH    (64 * MIB) /* pinned staging of one proof */
#define PENDING    (1 * MIB)
#define DEVICE_MS  800

static struct model_options options(uint64_t synthesis_ms, uint32_t workers, uint32_t devices)
{
    struct model_options o;
    memset(&o, 0, sizeof o);
    o.circuits_count = 2;
    o.circuits[0] =
        (struct engine_circuit){.seeds_bytes = SEEDS, .proof_bytes = SCRATCH, .pending_bytes = PENDING};
    o.circuits[1] = (struct engine_circuit){
        .seeds_bytes = PENDING, .proof_bytes = MIB, .pending_bytes = PENDING, .resident = true};
    o.times[0] = (struct model_times){1000, synthesis_ms, DEVICE_MS, 100, 20, 5000};
    o.times[1] = (struct model_times){10, 20, 150, 10, 5, 500};
    o.config = (struct engine_config){.partition_workers = workers,
                                      .synthesis_lookahead = 1,
                                      .finishers = 2,
                                      .devices = devices,
                                      .workers_per_device = 2,
                                      .max_queue = 256,
                                      .max_queue_bytes = UINT64_MAX / 2,
                                      .host_budget = UINT64_MAX / 2,
                                      .orphan_ms = 60000,
                                      .retention_ms = 1000,
                                      .permit_until_queued = true};
    return o;
}

static void run(struct model_result *out, const struct model_options *o, uint32_t jobs, uint64_t lose_ms,
                bool winning)
{
    struct model *m = model_make(o);
    struct engine_submit submit = {
        .circuit = 0, .partitions = PARTITIONS, .priority = PRIORITY_NORMAL, .request_bytes = 50 * MIB};
    for (uint32_t i = 0; i < jobs; i++)
        model_submit(m, 0, &submit);
    submit = (struct engine_submit){.circuit = 1, .partitions = 1, .reserved = true};
    for (uint64_t at = 3000; winning && at < 150000; at += 7000)
        model_submit(m, at, &submit);
    if (lose_ms != 0)
        model_lose_device(m, lose_ms, 0);
    model_run(m);
    model_result(m, out);
    model_end(m);
}

/* permits + ready queue + device workers + finishing, to the byte. */
static uint64_t plan(const struct engine_config *c)
{
    uint64_t workers = c->devices * c->workers_per_device;
    uint64_t ready =
        c->synthesis_lookahead > c->partition_workers ? c->synthesis_lookahead : c->partition_workers;
    return c->partition_workers * SEEDS + ready * SEEDS + workers * (SEEDS + SCRATCH) +
           c->finishers * PENDING;
}

static const uint32_t WORKERS[] = {4, 8, 12, 14, 16, 24, 32};
static const uint64_t SYNTHESIS_MS[] = {500, 30000};

static void test_memory_stays_at_the_plan(void **state)
{
    (void)state;
    for (int s = 0; s < 2; s++) {
        for (size_t w = 0; w < sizeof WORKERS / sizeof WORKERS[0]; w++) {
            for (uint32_t devices = 1; devices <= 2; devices++) {
                struct model_options o = options(SYNTHESIS_MS[s], WORKERS[w], devices);
                struct model_result few, many;
                run(&few, &o, 10, 0, false);
                run(&many, &o, 40, 0, false);
                assert_int_equal(many.ok, 40);
                assert_true(many.lease_peak <= plan(&o.config));
                assert_int_equal(many.lease_peak, few.lease_peak); /* whatever the backlog */
                if (s == 0 &&
                    500 * devices < DEVICE_MS * WORKERS[w]) /* the device is the narrow place: all is used */
                    assert_true(many.lease_peak >=
                                plan(&o.config) - o.config.finishers * PENDING - 2 * devices * SCRATCH);
            }
        }
    }
}

static void test_without_the_permit_memory_grows(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof WORKERS / sizeof WORKERS[0]; w++) {
        struct model_options o = options(500, WORKERS[w], 1);
        struct model_result few, many;
        o.config.permit_until_queued = false;
        run(&few, &o, 20, 0, false);
        run(&many, &o, 40, 0, false);
        assert_true(many.lease_peak > plan(&o.config));
        uint64_t more =
            many.lease_peak - few.lease_peak; /* most of the 200 more partitions wait synthesised */
        assert_true(more > 20 * PARTITIONS * SEEDS / 2);
    }
}

/* What the mechanisms keep of memory: what finishes has let go of all but its sums, the ready queue holds
 * what it is given room for, to the byte; the permit is tried above. */
static void test_each_mechanism_shows(void **state)
{
    (void)state;
    struct model_options o = options(500, 8, 1);
    struct model_result with, wide;
    o.config.finishers = 8;
    o.times[0].finish_ms = 5000; /* six or seven finish at any time, and hold next to nothing */
    run(&with, &o, 20, 0, false);
    assert_true(with.lease_peak <= plan(&o.config));
    assert_true(with.lease_peak + 6 * (SEEDS + SCRATCH) > plan(&o.config) + 5 * (SEEDS + SCRATCH));
    o = options(500, 8, 1);
    run(&with, &o, 20, 0, false);
    o.config.synthesis_lookahead = 50;
    run(&wide, &o, 20, 0, false);
    assert_int_equal(wide.lease_peak - with.lease_peak, (50 - 8) * SEEDS);
    assert_int_equal(wide.ok, 20);
}

/* The narrow place, device or synthesis, works at 97 % at least from the first start to the last end. */
static void test_device_stays_busy(void **state)
{
    (void)state;
    for (int s = 0; s < 2; s++) {
        for (size_t w = 0; w < sizeof WORKERS / sizeof WORKERS[0]; w++) {
            for (uint32_t devices = 1; devices <= 2; devices++) {
                struct model_options o = options(SYNTHESIS_MS[s], WORKERS[w], devices);
                struct model_result r;
                run(&r, &o, 20, 0, false);
                double by_device = 200.0 * DEVICE_MS / devices;
                double by_synthesis = 200.0 * (double)SYNTHESIS_MS[s] / WORKERS[w];
                double floor_ms = by_device > by_synthesis ? by_device : by_synthesis;
                double took = (double)(r.end_ms - 1000 /* retention */ - 6000 /* load, open */);
                assert_true(took < floor_ms / 0.97 + (double)SYNTHESIS_MS[s] + 2 * DEVICE_MS + 200);
                uint64_t busy = r.device_busy_ms[0] + r.device_busy_ms[1];
                if (by_device > by_synthesis * 1.05)
                    assert_true((double)busy >=
                                0.97 * devices * (double)(r.last_start_end_ms - r.first_start_ms));
            }
        }
    }
}

static void test_one_of_two_lost(void **state)
{
    (void)state;
    for (int s = 0; s < 2; s++) {
        struct model_options o = options(SYNTHESIS_MS[s], 16, 2);
        struct model_result r, whole;
        run(&whole, &o, 20, 0, false);
        run(&r, &o, 20, whole.end_ms / 2, true);
        assert_int_equal(r.ok, 20 + 21);
        assert_true(r.lease_peak <= plan(&o.config) + 2 * (PENDING + MIB));
        assert_true(r.end_ms > whole.end_ms || s == 1);
    }
}

/* WinningPoSt while all seats are taken: the model aborts if one ever waits. */
static void test_winning_never_waits(void **state)
{
    (void)state;
    for (size_t w = 0; w < sizeof WORKERS / sizeof WORKERS[0]; w++) {
        struct model_options o = options(30000, WORKERS[w], 1);
        struct model_result r;
        o.config.host_budget = 2 * (SEEDS + SCRATCH);
        run(&r, &o, 20, 0, true);
        assert_int_equal(r.ok, 20 + 21);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_stays_at_the_plan),
        cmocka_unit_test(test_without_the_permit_memory_grows),
        cmocka_unit_test(test_each_mechanism_shows),
        cmocka_unit_test(test_device_stays_busy),
        cmocka_unit_test(test_one_of_two_lost),
        cmocka_unit_test(test_winning_never_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
