/* The memory plan over a device of known sizes: every sum, the largest setting that fits, and the words. */
#include "engine/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

/* A device that wants 100 MiB of host and 7 of pinned memory for each proof, and 5 pinned for what is loaded;
 * one that is broken for a circuit of few inputs. */
static bool refuses;
static struct status fake_plan(struct device_plan *out, struct device *device, const struct shape *shape,
                               const struct params_counts *counts)
{
    (void)device;
    (void)shape;
    if (refuses && counts->query[QUERY_H] < 1 << 16)
        return status_error(STATUS_MEMORY, "the card is too small");
    memset(out, 0, sizeof *out);
    out->count = 2;
    out->items[0] = (struct device_plan_item){MEMORY_PINNED, "staging", 5 * MIB, false};
    out->items[1] = (struct device_plan_item){MEMORY_HOST, "working memory", 100 * MIB, true};
    out->proof_peak[MEMORY_HOST] = 100 * MIB;
    out->proof_peak[MEMORY_PINNED] = 7 * MIB;
    return status_ok();
}

static const struct device_operations OPERATIONS = {.name = "fake", .plan = fake_plan};
static struct device fake = {&OPERATIONS};

static void options(struct plan_options *o, const char *const *circuits, const bool *preloaded,
                    uint32_t count)
{
    static struct device *devices[2] = {&fake, &fake};
    *o = (struct plan_options){.engine = {.partition_workers = 4,
                                          .synthesis_lookahead = 6,
                                          .finishers = 2,
                                          .devices = 2,
                                          .workers_per_device = 2},
                               .budget = 4096 * MIB,
                               .baseline = 10 * MIB,
                               .requests_most = 100 * MIB,
                               .threads = 8,
                               .devices = devices,
                               .devices_count = 2,
                               .circuits = circuits,
                               .preloaded = preloaded,
                               .circuits_count = count};
}

static void must(struct status s)
{
    if (status_failed(&s))
        fail_msg("%s", s.message);
}

static void test_sums(void **state)
{
    (void)state;
    static const char *const NAMES[2] = {"wpost-2k", "winning-2k"};
    static const bool PRELOADED[2] = {true, false};
    static struct plan p;
    struct plan_options o;
    options(&o, NAMES, PRELOADED, 2);
    must(plan_make(&p, &o));
    const struct plan_circuit *w = &p.circuits[0], *n = &p.circuits[1];
    uint64_t seeds = w->facts.seeds_bytes;
    assert_true(seeds > 0 && seeds < MIB);
    assert_int_equal(w->facts.proof_bytes, 107 * MIB - seeds);
    assert_true(w->facts.load_bytes > 20 * MIB && w->facts.load_bytes < 24 * MIB); /* 11.5, and 5 a device */
    assert_int_equal(p.threads, (8 + (2 + 1 + 4 + 1 + 2 + 1 + 2 * 3)) * (64 << 10));
    assert_int_equal(p.requests, 100 * MIB);
    uint64_t seat = n->facts.seeds_bytes + n->facts.proof_bytes;
    assert_int_equal(p.winning, 5 * seat); /* four workers and the seat that is kept */
    assert_int_equal(p.ready_capacity, 6);
    uint64_t one = seeds > w->facts.pending_bytes ? seeds : w->facts.pending_bytes;
    assert_int_equal(w->waiting, (4 + 6) * one);
    assert_int_equal(w->devices, 4 * 107 * MIB);
    assert_int_equal(w->finishing, 2 * w->facts.pending_bytes);
    assert_int_equal(w->peak, p.baseline + p.threads + w->facts.load_bytes + w->waiting + w->devices +
                                  w->finishing + p.winning);
    assert_int_equal(n->kept, w->facts.load_bytes); /* what is preloaded stays beside it */
    assert_int_equal(n->peak, p.baseline + p.threads + n->facts.load_bytes + w->facts.load_bytes + p.winning);
    assert_true(p.fits && w->fits && n->fits);
    assert_int_equal(p.host_budget, o.budget - p.baseline - p.threads - p.requests - p.winning);
    must(plan_verdict(&p));
}

/* The largest number of workers fits, one more does not; so it says. */
static void me_11_test_workers_most(void **state)
{
    (void)state;
    static const char *const NAMES[1] = {"wpost-2k"};
    static const bool PRELOADED[2] = {true, false};
    static struct plan p;
    for (int preloaded = 1; preloaded >= 0; preloaded--) {
        struct plan_options o;
        options(&o, NAMES, &PRELOADED[!preloaded], 1);
        o.budget = 800 * MIB;
        o.engine.partition_workers = 60000;
        must(plan_make(&p, &o));
        assert_false(p.fits); /* also where it is not preloaded: fewer workers would do */
        uint32_t most = p.circuits[0].workers_most;
        assert_true(most > 1000 && most < 60000);
        struct status s = plan_verdict(&p);
        char words[120];
        assert_int_equal(s.code, STATUS_MEMORY);
        snprintf(words, sizeof words,
                 "set synthesis.partition_workers to at most %u, or memory.overcommit = true", most);
        assert_string_equal(s.hint, words);
        assert_non_null(strstr(s.message, "wpost-2k with partition_workers=60000 needs"));
        assert_non_null(strstr(s.detail, "(60000 permits + 60000 ready) + devices 428 (4 workers)"));
        for (uint32_t more = 0; more < 2; more++) {
            o.engine.partition_workers = most + more;
            must(plan_make(&p, &o));
            assert_int_equal(p.fits, more == 0);
            assert_int_equal(p.circuits[0].workers_most, most);
        }
    }
}

static void test_not_even_one(void **state)
{
    (void)state;
    static const char *const NAMES[1] = {"wpost-2k"};
    static const bool PRELOADED[1] = {true};
    static struct plan p;
    struct plan_options o;
    options(&o, NAMES, PRELOADED, 1);
    o.budget = 300 * MIB;
    must(plan_make(&p, &o));
    assert_false(p.fits);
    assert_int_equal(p.circuits[0].workers_most, 0);
    struct status s = plan_verdict(&p);
    unsigned need = 0;
    assert_int_equal(sscanf(s.hint, "not even one worker fits: set memory.total_budget to %uMiB", &need), 1);
    o.budget = need * MIB; /* what it says is enough, and not much more than that */
    o.engine.partition_workers = 1;
    o.engine.synthesis_lookahead = 1;
    must(plan_make(&p, &o));
    assert_true(p.fits);
    o.budget = (need - need / 8) * MIB;
    must(plan_make(&p, &o));
    assert_false(p.fits);
}

static void test_device_refuses(void **state)
{
    (void)state;
    static const char *const NAMES[2] = {"wpost-2k", "winning-2k"}, *const NONE[1] = {"wpost-3k"};
    static const bool PRELOADED[2] = {true, false}, NOT[2] = {false, false};
    static struct plan p;
    struct plan_options o;
    refuses = true;
    options(&o, NAMES, NOT, 2);
    must(plan_make(&p, &o)); /* its files may lie there all the same */
    assert_true(p.fits);
    assert_false(p.circuits[0].fits);
    assert_string_equal(p.circuits[0].failure, "the card is too small");
    options(&o, NAMES, PRELOADED, 2);
    struct status s = plan_make(&p, &o);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.message, "wpost-2k: the card is too small");
    refuses = false;
    options(&o, NONE, NOT, 1);
    assert_int_equal(plan_make(&p, &o).code, STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(me_11_test_workers_most),
        cmocka_unit_test(test_not_even_one),
        cmocka_unit_test(test_device_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
