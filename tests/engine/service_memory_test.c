/* The service when things run short: memory, devices, time. WinningPoSt is proved each time. */
#include "service_rig.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static enum status_code submit(struct service_rig *r, struct caller *c, char id[40])
{
    uint32_t position;
    return service_submit(r->service, id, &position, &c->submit).code;
}

static struct service_view *look(struct service_rig *r)
{
    static struct service_view v;
    service_look(r->service, &v);
    return &v;
}

static bool metric(struct service_rig *r, const char *line)
{
    char *text;
    size_t size;
    rig_must(service_metrics(r->service, &text, &size));
    bool found = strstr(text, line) != NULL;
    mem_free(text);
    return found;
}

/* Proved, and the proof stands. */
static void winning_is_proved(struct service_rig *r, const char *request_id)
{
    struct caller c;
    struct answer a;
    char id[40];
    caller_make(&c, &r->golden, PROOF_WINNING, request_id);
    assert_int_equal(submit(r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r->service, &a, id, 0), JOB_COMPLETED);
    assert_true(proof_stands(&c, a.proof, WINNING));
    UNTIL(atomic_load(&c.released) == 1);
}

/* ---- memory ---- */

static void me_02_test_short_of_memory(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    bool already;
    uint64_t ms;
    service_rig_start(&r, NULL);
    rig_must(service_load(r.service, WINDOW, &already, &ms));
    struct service_memory memory = {
        .budget = 1 << 20, .process_bytes = 100 << 20, .mapped_bytes = 5 << 20, .other_bytes = 10 << 20};
    service_memory(r.service, &memory);
    assert_false(look(&r)->counts.short_of_memory); /* nobody wants any */
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    UNTIL(look(&r)->counts.short_of_memory);
    service_memory(r.service, &memory);
    UNTIL(service_rig_logged(&r, "the machine is short of memory: 1 MiB of 4096 MiB are left for proofs"));
    assert_true(metric(&r, "\ncuzk_short_of_memory 1\n"));
    assert_true(metric(&r, "cuzk_ledger_limit_bytes{class=\"host\"} 1048576\n"));
    assert_true(metric(&r, "cuzk_process_bytes{kind=\"used\"} 104857600\n"));
    struct service_view *v = look(&r);
    assert_int_equal(v->unaccounted_bytes, (90 << 20) - (int64_t)v->counts.parameter_bytes);
    winning_is_proved(&r, "w");
    assert_int_equal(look(&r)->pending[PROOF_WINDOW], 1);
    memory.budget = UINT64_MAX;
    service_memory(r.service, &memory);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    service_memory(r.service, &memory);
    UNTIL(service_rig_logged(&r, "there is memory again"));
    service_rig_end(&r);
}

/* What the process has and the ledger does not know is not given away a second time. */
static void me_01_test_unaccounted(void **state)
{
    (void)state;
    struct service_rig r;
    const uint64_t mib = 1 << 20, plan = UINT64_C(4096) << 20;
    service_rig_start(&r, NULL);
    struct service_memory memory = {.budget = plan, .process_bytes = 1000 * mib, .other_bytes = 930 * mib};
    service_memory(r.service, &memory); /* 70 beyond it: within 5 % and 32 MiB */
    assert_int_equal(look(&r)->counts.budget, plan);
    memory.other_bytes = 500 * mib;
    service_memory(r.service, &memory);
    assert_int_equal(look(&r)->counts.budget, plan - (500 - 50 - 32) * mib);
    assert_int_equal(look(&r)->unaccounted_bytes, 500 * mib);
    memory.other_bytes = 2000 * mib; /* reserved and not touched */
    service_memory(r.service, &memory);
    assert_int_equal(look(&r)->counts.budget, plan);
    service_rig_end(&r);
}

static const struct engine_circuit FACTS[2] = {
    {.seeds_bytes = 1 << 20, .proof_bytes = 20 << 20, .pending_bytes = 1 << 14, .load_bytes = 13 << 20},
    {.seeds_bytes = 1 << 20, .proof_bytes = 30 << 20, .pending_bytes = 1 << 14, .load_bytes = 50 << 20}};

static void tight(struct service_options *o)
{
    o->facts = FACTS;
    o->engine.host_budget = 30 << 20; /* less than WindowPoSt takes */
}

/* What can never fit is refused at once, WinningPoSt is not asked. */
static void me_01_test_ledger_full(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    char id[40];
    bool already;
    uint64_t ms;
    uint32_t position;
    service_rig_start(&r, tight);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    struct status s = service_submit(r.service, id, &position, &c.submit);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.message, "one partition needs 22020096 bytes, the memory budget is 31457280");
    assert_string_equal(s.detail, "35651584 bytes with the parameters");
    assert_int_equal(service_load(r.service, WINDOW, &already, &ms).code, STATUS_MEMORY);
    winning_is_proved(&r, "w");
    service_rig_end(&r);
}

static void test_winning_stays(void **state)
{
    (void)state;
    struct service_rig r;
    bool was;
    uint64_t freed;
    service_rig_start(&r, NULL);
    winning_is_proved(&r, "w");
    UNTIL(look(&r)->circuits[1].references == 0);
    struct status s = service_evict(r.service, WINNING, &was, &freed);
    assert_int_equal(s.code, STATUS_BUSY);
    assert_string_equal(s.message, "winning-2k is kept for WinningPoSt and never evicted");
    assert_true(look(&r)->circuits[1].loaded);
    service_rig_end(&r);
}

static const struct engine_circuit CRAMPED[2] = {
    {.seeds_bytes = 1 << 20, .proof_bytes = 20 << 20, .pending_bytes = 1 << 14, .load_bytes = 13 << 20},
    {.seeds_bytes = 1 << 20, .proof_bytes = 30 << 20, .pending_bytes = 1 << 14, .load_bytes = 0}};

static void cramped(struct service_options *o)
{
    o->facts = CRAMPED;
    o->engine.host_budget = 40 << 20;
    o->engine.eviction_min_idle_ms = 1;
}

/* The state machine evicts when the machine wants its memory back, and loads again. */
static void test_evicted_and_loaded_again(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    bool already;
    uint64_t ms;
    service_rig_start(&r, cramped);
    rig_must(service_load(r.service, WINDOW, &already, &ms));
    assert_int_equal(look(&r)->counts.parameter_bytes, 13 << 20);
    size_t before = mem_used();
    struct engine_counts none = look(&r)->counts;
    assert_int_equal(none.lease_bytes, 0);
    uint64_t freed;
    rig_must(service_evict(r.service, WINDOW, &already, &freed));
    assert_true(already && mem_used() < before);
    assert_int_equal(look(&r)->counts.parameter_bytes, 0);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(look(&r)->counts.parameter_bytes, 13 << 20);
    service_rig_end(&r);
}

/* ---- devices ---- */

static void with_spare(struct service_options *o)
{
    o->spare_cpu = true;
    o->engine.strikes_max = 3;
}

static void test_every_device_lost(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40], winning[40];
    uint32_t position;
    struct caller w;
    service_rig_start(&r, with_spare);
    atomic_store(&r.device.hold, true);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    caller_make(&w, &r.golden, PROOF_WINNING, "under way");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(submit(&r, &w, winning), STATUS_OK);
    UNTIL(atomic_load(&r.device.holding) == 2);
    atomic_store(&r.device.lost, true);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_string_equal(a.result.status.message, "every device is lost: it fell off the bus");
    assert_int_equal(await_job(r.service, &a, winning, 0), JOB_COMPLETED); /* on the CPU */
    assert_true(proof_stands(&w, a.proof, WINNING));
    winning_is_proved(&r, "later");
    assert_int_equal(service_submit(r.service, id, &position, &c.submit).code, STATUS_DEVICE);
    assert_int_equal(look(&r)->devices_count, 1); /* the spare one is nobody's to count on */
    assert_true(look(&r)->spare_cpu);
    service_drain(r.service, NULL, NULL);
    service_rig_end(&r);
}

static void test_strikes_are_seen(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    service_rig_start(&r, with_spare);
    atomic_store(&r.device.bad_left, 3);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_int_equal(look(&r)->devices[0].strikes, 2);
    assert_int_equal(look(&r)->devices[0].state, DEVICE_READY); /* the last one stays */
    UNTIL(service_rig_logged(&r, "device 0 (test) takes a strike: the proof did not verify"));
    assert_true(metric(&r, "cuzk_device_strikes{device=\"0\"} 2\n"));
    atomic_store(&r.device.bad_left, 2); /* WinningPoSt: twice bad here, then elsewhere */
    winning_is_proved(&r, "w");
    assert_int_equal(look(&r)->devices[0].strikes, 3);
    service_rig_end(&r);
}

/* ---- time ---- */

static void soon_late(struct service_options *o)
{
    o->late_ms[PROOF_WINDOW] = 20;
}

static void test_late(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    service_rig_start(&r, soon_late);
    atomic_store(&r.device.hold, true);
    caller_make(&c, &r.golden, PROOF_WINDOW, "slow");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    UNTIL(look(&r)->jobs[0].age_ms > 30);
    atomic_store(&r.device.hold, false);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    winning_is_proved(&r, "w"); /* no limit is set for these */
    assert_int_equal(look(&r)->late[PROOF_WINDOW], 1);
    assert_int_equal(look(&r)->late[PROOF_WINNING], 0);
    assert_true(metric(&r, "cuzk_late_total{proof_kind=\"window_post\"} 1\n"));
    UNTIL(service_rig_logged(&r, "(slow) window-post is late: "));
    service_rig_end(&r);
}

int main(void)
{
    rig_params();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(me_02_test_short_of_memory),    cmocka_unit_test(me_01_test_unaccounted),
        cmocka_unit_test(me_01_test_ledger_full),        cmocka_unit_test(test_winning_stays),
        cmocka_unit_test(test_evicted_and_loaded_again), cmocka_unit_test(test_every_device_lost),
        cmocka_unit_test(test_strikes_are_seen),         cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
