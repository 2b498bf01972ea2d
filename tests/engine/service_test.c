/* The service over real small circuits: whole walks, joining, waiting, cancelling, orphans, faults of devices
 * and parameters, eviction, draining. Many clients at once are in service_threads_test.c. */
#include "service_rig.h"

#include "base/hex.h"
#include "base/mem.h"
#include "api/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static void test_prove(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller window, winning;
    struct answer a, b;
    char id[40], id2[40];
    service_rig_start(&r, NULL);
    caller_make(&window, &r.golden, PROOF_WINDOW, "wdpost-1");
    caller_make(&winning, &r.golden, PROOF_WINNING, "winpost-1");
    assert_int_equal(submit(&r, &window, id), STATUS_OK);
    assert_int_equal(submit(&r, &winning, id2), STATUS_OK);
    assert_int_equal(strlen(id), 36);
    assert_string_not_equal(id, id2);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &b, id2, 0), JOB_COMPLETED);
    assert_string_equal(a.result.id, id);
    assert_int_equal(a.result.proof_size, 192);
    assert_true(proof_stands(&window, a.proof, WINDOW));
    assert_true(proof_stands(&winning, b.proof, WINNING));
    assert_false(proof_stands(&window, b.proof, WINDOW));
    const struct job_times *t = &a.result.times;
    assert_true(t->total_ms >= t->device_ms && t->device_ms > 0 && t->load_ms > 0);
    assert_true(t->total_ms >= t->queue_wait_ms && t->queue_wait_ms >= t->load_ms);
    UNTIL(atomic_load(&window.released) == 1 && atomic_load(&winning.released) == 1);
    struct service_view *v = look(&r);
    assert_int_equal(v->completed[PROOF_WINDOW], 1);
    assert_int_equal(v->completed[PROOF_WINNING], 1);
    assert_int_equal(v->counts.jobs_retained, 2);
    assert_int_equal(v->jobs_count, 0);
    assert_true(v->circuits[0].loaded && v->circuits[1].loaded && v->circuits[0].bytes > 1000000);
    assert_int_equal(v->circuits[0].references, 0);
    assert_true(v->circuits[0].shape_bytes > 0 && v->circuits[0].shape_bytes < v->circuits[0].bytes);
    assert_int_equal(v->ended_count, 2);
    for (int i = 0; i < 2; i++) {
        const struct service_ended_view *e = &v->ended[i];
        assert_string_equal(e->request_id, e->kind == PROOF_WINDOW ? "wdpost-1" : "winpost-1");
        assert_int_equal(e->state, JOB_COMPLETED);
        assert_string_equal(e->reason, "");
    }
    /* The result is kept: by id, and by a request_id that is unique. */
    struct answer again;
    assert_int_equal(await_job(r.service, &again, id, 0), JOB_COMPLETED);
    assert_memory_equal(again.proof, a.proof, 192);
    assert_int_equal(await_job(r.service, &again, "wdpost-1", 0), JOB_COMPLETED);
    assert_memory_equal(again.proof, a.proof, 192);
    assert_int_equal(atomic_load(&r.device.starts), 2);
    UNTIL(service_rig_logged(&r, "proved in"));
    service_rig_end(&r);
}

/* Blinding is fresh: a request proved twice gives two proofs. */
static void test_fresh_blinding(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller one, two;
    struct answer a, b;
    char id[40], id2[40];
    service_rig_start(&r, NULL);
    caller_make(&one, &r.golden, PROOF_WINDOW, "one");
    caller_make(&two, &r.golden, PROOF_WINDOW, "two");
    assert_int_equal(submit(&r, &one, id), STATUS_OK);
    assert_int_equal(submit(&r, &two, id2), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &b, id2, 0), JOB_COMPLETED);
    assert_memory_not_equal(a.proof, b.proof, 192);
    assert_true(proof_stands(&two, b.proof, WINDOW));
    service_rig_end(&r);
}

static void test_join(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller first, same, other, after, unnamed[2];
    struct answer a, b;
    char id[40], id2[40], id3[40], id4[40];
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    caller_make(&first, &r.golden, PROOF_WINDOW, "same-name");
    caller_make(&same, &r.golden, PROOF_WINDOW, "same-name");
    caller_make(&other, &r.golden, PROOF_WINDOW, "same-name");
    other.submit.request.vanilla_count = 1; /* other bytes */
    assert_int_equal(submit(&r, &first, id), STATUS_OK);
    assert_int_equal(submit(&r, &same, id2), STATUS_OK);
    assert_string_equal(id, id2);
    assert_int_equal(atomic_load(&same.released), 1); /* at once */
    assert_int_equal(submit(&r, &other, id3), STATUS_OK);
    assert_string_not_equal(id, id3);
    uint64_t waiter;
    answer_start(&a);
    struct status s = service_await(r.service, &waiter, "same-name", 0, answer_callback, &a);
    assert_int_equal(s.code, STATUS_INVALID);
    assert_string_equal(s.message, "2 jobs have the request_id \"same-name\"");
    answer_end(&a);
    atomic_store(&r.device.hold, false);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &b, id3, 0), JOB_COMPLETED);
    assert_memory_not_equal(a.proof, b.proof, 192);
    caller_make(&after, &r.golden, PROOF_WINDOW, "same-name");
    assert_int_equal(submit(&r, &after, id4), STATUS_OK); /* proved and retained: the same proof */
    assert_string_equal(id4, id);
    struct answer c;
    assert_int_equal(await_job(r.service, &c, id4, 0), JOB_COMPLETED);
    assert_memory_equal(c.proof, a.proof, 192);
    for (int i = 0; i < 2; i++) { /* without a name nothing is joined */
        caller_make(&unnamed[i], &r.golden, PROOF_WINDOW, "");
        assert_int_equal(submit(&r, &unnamed[i], i == 0 ? id2 : id3), STATUS_OK);
    }
    assert_string_not_equal(id2, id3);
    await_job(r.service, &c, id2, 0);
    await_job(r.service, &c, id3, 0);
    UNTIL(atomic_load(&first.released) == 1 && atomic_load(&other.released) == 1 &&
          atomic_load(&after.released) == 1);
    service_rig_end(&r);
}

/* A job that failed or was cancelled is not joined: the repeated request is a new try. */
static void test_failed_is_not_joined(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller first, again;
    struct answer a;
    char id[40], id2[40];
    bool running;
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    caller_make(&first, &r.golden, PROOF_WINDOW, "name");
    caller_make(&again, &r.golden, PROOF_WINDOW, "name");
    assert_int_equal(submit(&r, &first, id), STATUS_OK);
    UNTIL(atomic_load(&r.device.holding) == 1);
    assert_int_equal(service_cancel(r.service, "name", &running).code, STATUS_OK);
    assert_true(running);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_CANCELLED);
    assert_string_equal(a.result.status.message, "cancelled on request");
    assert_int_equal(service_cancel(r.service, id, &running).code, STATUS_OK);
    assert_false(running);
    atomic_store(&r.device.hold, false);
    assert_int_equal(submit(&r, &again, id2), STATUS_OK);
    assert_string_not_equal(id, id2);
    assert_int_equal(await_job(r.service, &a, id2, 0), JOB_COMPLETED);
    service_rig_end(&r);
}

static void test_bad_input(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    uint32_t position;
    bool was;
    uint64_t number;
    service_rig_start(&r, NULL);
    caller_make(&c, &r.golden, PROOF_WINDOW, "bad");
    c.submit.request.registered_proof = 3; /* a Winning number */
    struct status s = service_submit(r.service, id, &position, &c.submit);
    assert_int_equal(s.code, STATUS_INVALID);
    assert_string_equal(id, "");
    assert_int_equal(atomic_load(&c.released), 0); /* refused: it stays the caller's */
    c.submit.request.registered_proof = 11;        /* 8 MiB: a circuit that exists, but not here */
    s = service_submit(r.service, id, &position, &c.submit);
    assert_int_equal(s.code, STATUS_UNSUPPORTED);
    assert_string_equal(s.message, "circuit wpost-8m is not served here");

    c.submit.request.registered_proof = 10;
    memset(c.randomness, 9, 32); /* other challenges */
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_int_equal(a.result.status.code, STATUS_INVALID);
    assert_non_null(strstr(a.result.status.message, "sector 1, challenge 0"));
    assert_int_equal(a.result.proof_size, 0);
    UNTIL(atomic_load(&c.released) == 1);
    assert_int_equal(look(&r)->failed[PROOF_WINDOW], 1);

    answer_start(&a);
    assert_int_equal(service_await(r.service, &number, "nobody", 0, answer_callback, &a).code,
                     STATUS_MISSING);
    answer_end(&a);
    assert_int_equal(service_cancel(r.service, "nobody", &was).code, STATUS_MISSING);
    assert_int_equal(service_cancel(r.service, "", &was).code, STATUS_MISSING);
    service_rig_end(&r);
}

/* ---- parameters ---- */

static char other_cache[80];

static void other_params(struct service_options *o)
{
    o->param_cache = other_cache;
}

static void link_params(const char *circuit, const char *as)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    char from[4096], to[4096];
    assert_true(circuit_by_name(&kind, &sector, circuit));
    rig_must(api_parameter_path(from, sizeof from, kind, sector, CUZK_TEST_PARAMS_DIR, "params"));
    assert_true(circuit_by_name(&kind, &sector, as));
    rig_must(api_parameter_path(to, sizeof to, kind, sector, other_cache, "params"));
    assert_int_equal(symlink(from, to), 0);
}

static void test_params_missing_and_foreign(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller window, winning, later;
    struct answer a;
    char id[40], command[160];
    bool already;
    uint64_t ms;
    uint32_t position;
    snprintf(other_cache, sizeof other_cache, "/tmp/cuzk-params-XXXXXX");
    assert_non_null(mkdtemp(other_cache));
    link_params(WINDOW, WINNING); /* the wrong file under the right name */
    service_rig_start(&r, other_params);
    caller_make(&window, &r.golden, PROOF_WINDOW, "w");
    assert_int_equal(submit(&r, &window, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_int_equal(a.result.status.code, STATUS_MISSING);
    assert_non_null(strstr(a.result.status.message, other_cache));
    assert_string_not_equal(a.result.status.hint, "");
    assert_true(look(&r)->circuits[0].failed);
    struct status s = service_submit(r.service, id, &position, &window.submit); /* at once, with the reason */
    assert_int_equal(s.code, STATUS_MISSING);
    caller_make(&winning, &r.golden, PROOF_WINNING, "x");
    assert_int_equal(submit(&r, &winning, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_int_equal(a.result.status.code, STATUS_INVALID);
    UNTIL(service_rig_logged(&r, "winning-2k cannot be loaded"));

    link_params(WINDOW, WINDOW); /* it is there now */
    assert_int_equal(service_load(r.service, WINDOW, &already, &ms).code, STATUS_OK);
    assert_false(already);
    caller_make(&later, &r.golden, PROOF_WINDOW, "later");
    assert_int_equal(submit(&r, &later, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(a.result.times.load_ms, 0);
    assert_int_equal(service_load(r.service, "wpost-1k", &already, &ms).code, STATUS_MISSING);
    service_rig_end(&r);
    snprintf(command, sizeof command, "rm -r %s", other_cache);
    assert_int_equal(system(command), 0);
}

static char window_digest[33];
static const char *window_digests[1] = {window_digest};

static void untrusting(struct service_options *o)
{
    o->allow_test_params = false;
}

static void trusting_one(struct service_options *o)
{
    o->allow_test_params = false;
    o->trusted_digests = window_digests;
    o->trusted_digests_count = 1;
}

static void test_trust(void **state)
{
    (void)state;
    struct service_rig r;
    bool already;
    uint64_t ms;
    service_rig_start(&r, untrusting);
    struct status s = service_load(r.service, WINDOW, &already, &ms);
    assert_int_equal(s.code, STATUS_UNTRUSTED);
    assert_non_null(strstr(s.hint, "srs.allow_test_params"));
    const char *at = strstr(s.message, "its digest ");
    assert_non_null(at);
    snprintf(window_digest, sizeof window_digest, "%.32s", at + strlen("its digest "));
    service_rig_end(&r);
    service_rig_start(&r, trusting_one);
    s = service_load(r.service, WINDOW, &already, &ms);
    assert_int_equal(s.code, STATUS_OK);
    s = service_load(r.service, WINNING, &already, &ms);
    assert_int_equal(s.code, STATUS_UNTRUSTED);
    service_rig_end(&r);
}

static void test_evict(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c, d;
    struct answer a;
    char id[40];
    bool was, already;
    uint64_t freed, ms;
    service_rig_start(&r, NULL);
    assert_int_equal(service_evict(r.service, WINDOW, &was, &freed).code, STATUS_OK);
    assert_false(was);
    assert_int_equal(service_evict(r.service, "nothing", &was, &freed).code, STATUS_MISSING);
    assert_int_equal(service_load(r.service, WINDOW, &already, &ms).code, STATUS_OK);
    assert_int_equal(service_load(r.service, WINDOW, &already, &ms).code, STATUS_OK);
    assert_true(already && ms == 0);
    atomic_store(&r.device.hold, true);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    UNTIL(atomic_load(&r.device.holding) == 1);
    assert_int_equal(look(&r)->circuits[0].references, 1);
    assert_int_equal(service_evict(r.service, WINDOW, &was, &freed).code, STATUS_BUSY);
    atomic_store(&r.device.hold, false);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    UNTIL(look(&r)->circuits[0].references == 0);
    size_t before = mem_used();
    assert_int_equal(service_evict(r.service, WINDOW, &was, &freed).code, STATUS_OK);
    assert_true(was && freed > 10000000 && mem_used() + freed < before + 4000000);
    assert_int_equal(atomic_load(&r.device.srs), 0);
    assert_false(look(&r)->circuits[0].loaded);
    caller_make(&d, &r.golden, PROOF_WINDOW, "d"); /* comes back when it is wanted */
    assert_int_equal(submit(&r, &d, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    service_rig_end(&r);
}

/* ---- waiting and going ---- */

static void short_lives(struct service_options *o)
{
    o->engine.orphan_ms = 100;
    o->engine.retention_ms = 50;
}

static void test_timeouts(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c, d;
    struct answer a;
    char id[40];
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    c.submit.detached = true;
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    UNTIL(atomic_load(&r.device.holding) == 1);
    assert_int_equal(await_job(r.service, &a, id, 30), JOB_RUNNING); /* the wait ends, the job does not */
    assert_int_equal(a.count, 1);
    caller_make(&d, &r.golden, PROOF_WINDOW, "d");
    d.submit.timeout_ms = 50;
    assert_int_equal(submit(&r, &d, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_CANCELLED);
    assert_non_null(strstr(a.result.status.message, "the deadline passed"));
    atomic_store(&r.device.hold, false);
    assert_int_equal(await_job(r.service, &a, "c", 0), JOB_COMPLETED);
    service_rig_end(&r);
}

static void test_orphans(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller gone, kept, back;
    struct answer a, b;
    char id[40], id2[40];
    uint64_t waiter;
    service_rig_start(&r, short_lives);
    atomic_store(&r.device.hold, true);
    caller_make(&gone, &r.golden, PROOF_WINDOW, "gone");
    caller_make(&kept, &r.golden, PROOF_WINDOW, "kept");
    kept.submit.detached = true;
    assert_int_equal(submit(&r, &gone, id), STATUS_OK);
    assert_int_equal(submit(&r, &kept, id2), STATUS_OK);
    answer_start(&a);
    rig_must(service_await(r.service, &waiter, id, 0, answer_callback, &a));
    service_unwait(r.service, waiter);
    service_unwait(r.service, waiter);
    answer_start(&b);
    rig_must(service_await(r.service, &waiter, id2, 0, answer_callback, &b));
    service_unwait(r.service, waiter);
    UNTIL(look(&r)->counts.jobs_waiting + look(&r)->counts.jobs_running == 1); /* the orphan is cancelled */
    assert_int_equal(a.count + b.count, 0); /* after unwait no callback comes */
    UNTIL(atomic_load(&gone.released) == 1);
    assert_int_equal(service_await(r.service, &waiter, id, 0, answer_callback, &a).code == STATUS_OK ? 0 : 0,
                     0);
    atomic_store(&r.device.hold, false);
    UNTIL(look(&r)->completed[PROOF_WINDOW] == 1); /* the detached one goes on */

    atomic_store(&r.device.hold, true);
    caller_make(&gone, &r.golden, PROOF_WINDOW, "comes-back");
    caller_make(&back, &r.golden, PROOF_WINDOW, "comes-back");
    assert_int_equal(submit(&r, &gone, id), STATUS_OK);
    rig_must(service_await(r.service, &waiter, id, 0, answer_callback, &b));
    service_unwait(r.service, waiter);
    assert_int_equal(submit(&r, &back, id2), STATUS_OK); /* joins in time */
    assert_string_equal(id, id2);
    rig_must(service_await(r.service, &waiter, id2, 0, answer_callback, &b));
    nanosleep(&(struct timespec){0, 200000000}, NULL); /* twice the orphan's time */
    atomic_store(&r.device.hold, false);
    assert_int_equal(answer_wait(&b), JOB_COMPLETED);
    UNTIL(look(&r)->counts.jobs_retained == 0); /* forgotten after retention */
    struct status s = service_await(r.service, &waiter, id, 0, answer_callback, &a);
    assert_int_equal(s.code, STATUS_MISSING);
    answer_end(&a);
    answer_end(&b);
    service_rig_end(&r);
}

/* Each stage frees what it holds soon after a cancel: bytes, permits, the device. */
static void test_cancel_frees(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c[4];
    struct answer a;
    char id[4][40];
    bool running;
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        caller_make(&c[i], &r.golden, PROOF_WINDOW, name);
        assert_int_equal(submit(&r, &c[i], id[i]), STATUS_OK);
        assert_int_equal(service_cancel(r.service, i == 1 ? id[1] : "nobody", &running).code,
                         i == 1 ? STATUS_OK : STATUS_MISSING); /* whatever it did just then */
    }
    UNTIL(atomic_load(&r.device.holding) == 1);
    for (int i = 0; i < 4; i++)
        rig_must(service_cancel(r.service, id[i], &running));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(await_job(r.service, &a, id[i], 0), JOB_CANCELLED);
        UNTIL(atomic_load(&c[i].released) == 1);
    }
    struct service_view *v = look(&r);
    assert_int_equal(v->counts.lease_bytes + v->counts.queue_bytes, 0);
    assert_int_equal(v->counts.permits_in_use + v->counts.devices_busy + v->counts.ready_length, 0);
    service_rig_end(&r);
}

/* ---- devices ---- */

static void test_device_errors(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    service_rig_start(&r, NULL);
    atomic_store(&r.device.errors_left, 2);
    caller_make(&c, &r.golden, PROOF_WINDOW, "two-errors");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(atomic_load(&r.device.starts), 3);
    atomic_store(&r.device.errors_left, 3);
    caller_make(&c, &r.golden, PROOF_WINDOW, "three-errors");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_string_equal(a.result.status.message, "partition 0, after 3 attempts: the device erred");
    service_rig_end(&r);
}

static void test_bad_proofs_are_withheld(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40], *text;
    size_t size;
    service_rig_start(&r, NULL);
    atomic_store(&r.device.bad_left, 1);
    caller_make(&c, &r.golden, PROOF_WINNING, "once");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_true(proof_stands(&c, a.proof, WINNING));
    atomic_store(&r.device.bad_left, 3);
    caller_make(&c, &r.golden, PROOF_WINNING, "always");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_int_equal(a.result.status.code, STATUS_REJECTED);
    assert_string_equal(a.result.status.message,
                        "partition 0, after 3 attempts: the proof did not verify; it is withheld");
    assert_int_equal(a.result.proof_size, 0);
    rig_must(service_metrics(r.service, &text, &size));
    assert_non_null(strstr(text, "cuzk_verify_failures_total{proof_kind=\"winning_post\",device=\"0\"} 4\n"));
    mem_free(text);
    service_rig_end(&r);
}

static void test_device_lost(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c, d;
    struct answer a;
    char id[40];
    uint32_t position;
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    UNTIL(atomic_load(&r.device.holding) == 1);
    assert_int_equal(look(&r)->devices[0].state, DEVICE_BUSY);
    assert_string_equal(look(&r)->devices[0].job, id);
    atomic_store(&r.device.lost, true);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_FAILED);
    assert_string_equal(a.result.status.message, "every device is lost: it fell off the bus");
    assert_int_equal(look(&r)->devices[0].state, DEVICE_LOST);
    assert_string_equal(look(&r)->ended[0].reason, "every device is lost: it fell off the bus");
    caller_make(&d, &r.golden, PROOF_WINNING, "d");
    assert_int_equal(service_submit(r.service, id, &position, &d.submit).code, STATUS_DEVICE);
    service_rig_end(&r);
}

/* ---- the door ---- */

static void narrow(struct service_options *o)
{
    o->engine.max_queue = 2;
}

static void test_queue_full_and_positions(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c[3], winning;
    struct answer a;
    char id[3][40], id2[40];
    uint32_t position;
    char *text;
    size_t size;
    service_rig_start(&r, narrow);
    for (int i = 0; i < 3; i++)
        caller_make(&c[i], &r.golden, PROOF_WINDOW, i == 0 ? "a" : i == 1 ? "b" : "c");
    atomic_store(&r.device.hold, true);
    rig_must(service_submit(r.service, id[0], &position, &c[0].submit));
    UNTIL(atomic_load(&r.device.holding) == 1);
    rig_must(service_submit(r.service, id[1], &position, &c[1].submit));
    struct status s = service_submit(r.service, id[2], &position, &c[2].submit);
    assert_int_equal(s.code, STATUS_BUSY);
    assert_string_equal(s.hint, "try again later");
    caller_make(&winning, &r.golden, PROOF_WINNING,
                "w"); /* never refused for others, and never behind them */
    rig_must(service_submit(r.service, id2, &position, &winning.submit));
    UNTIL(atomic_load(&r.device.holding) == 2); /* beside the one that holds the device's only worker */
    struct service_view *v = look(&r);
    assert_int_equal(v->in_progress[PROOF_WINNING], 1);
    assert_int_equal(v->in_progress[PROOF_WINDOW] + v->pending[PROOF_WINDOW], 2);
    assert_int_equal(v->jobs_count, 3);
    assert_string_equal(v->jobs[0].request_id, "a");
    assert_int_equal(v->jobs[0].partitions, 1);
    assert_int_equal(v->jobs[0].partition[0], PARTITION_DEVICE);
    const uint32_t *at = v->jobs[0].at_ms[0];
    assert_true(at[TIME_SYNTHESIS] <= at[TIME_READY] && at[TIME_READY] <= at[TIME_DEVICE]);
    assert_true(at[TIME_DEVICE] != TIME_NONE && at[TIME_PENDING] == TIME_NONE && at[TIME_END] == TIME_NONE);
    assert_int_equal(v->jobs[0].device[0], 0);
    rig_must(service_metrics(r.service, &text, &size));
    assert_int_equal(strlen(text), size);
    assert_non_null(strstr(text, "cuzk_rejected_total{reason=\"busy\"} 1\n"));
    assert_non_null(strstr(text, "cuzk_queue_jobs{priority=\"critical\"} 1\n"));
    assert_non_null(strstr(text, "cuzk_queue_jobs{priority=\"high\"} 2\n"));
    mem_free(text);
    atomic_store(&r.device.hold, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(await_job(r.service, &a, id[i], 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &a, id2, 0), JOB_COMPLETED);
    service_rig_end(&r);
}

/* The loop is held up, here by a callback that does not return: it falls silent, and no lock is needed to see
 * that. */
static void hold_up(void *context, const struct job_result *result)
{
    (void)result;
    UNTIL(atomic_load((atomic_int *)context) == 1);
    atomic_store((atomic_int *)context, 2);
}

static void ap_16_test_silence(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    char id[40];
    uint64_t waiter;
    atomic_int go = 0;
    service_rig_start(&r, NULL);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    rig_must(service_await(r.service, &waiter, id, 0, hold_up, &go));
    UNTIL(service_silence_ms(r.service) > 3000);
    atomic_store(&go, 1);
    UNTIL(service_silence_ms(r.service) < 3000);
    UNTIL(atomic_load(&go) == 2);
    service_rig_end(&r);
}

static void on_drained(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static void test_drain(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c, d, winning;
    struct answer a;
    char id[40], id2[40];
    atomic_int drained = 0;
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    caller_make(&c, &r.golden, PROOF_WINDOW, "c");
    caller_make(&d, &r.golden, PROOF_WINDOW, "d");
    caller_make(&winning, &r.golden, PROOF_WINNING, "w");
    assert_int_equal(submit(&r, &c, id), STATUS_OK);
    service_drain(r.service, on_drained, &drained);
    assert_int_equal(submit(&r, &d, id2), STATUS_CANCELLED);
    assert_int_equal(submit(&r, &winning, id2), STATUS_OK);
    assert_int_equal(atomic_load(&drained), 0);
    atomic_store(&r.device.hold, false);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &a, id2, 0), JOB_COMPLETED);
    UNTIL(atomic_load(&drained) == 1);
    assert_int_equal(submit(&r, &winning, id2), STATUS_OK); /* the same again: it has a proof */
    caller_make(&winning, &r.golden, PROOF_WINNING, "x");
    assert_int_equal(submit(&r, &winning, id2), STATUS_CANCELLED);
    service_rig_end(&r);
}

/* Ending with work of all sorts under way: callers are answered, owners released, nothing left. */
static void test_end_with_work(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c[6];
    struct answer a[6];
    uint64_t waiter;
    char id[40];
    service_rig_start(&r, NULL);
    atomic_store(&r.device.hold, true);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        caller_make(&c[i], &r.golden, i % 3 == 2 ? PROOF_WINNING : PROOF_WINDOW, name);
        assert_int_equal(submit(&r, &c[i], id), STATUS_OK);
        answer_start(&a[i]);
        rig_must(service_await(r.service, &waiter, id, 0, answer_callback, &a[i]));
    }
    service_rig_end(&r);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(a[i].count, 1);
        assert_int_equal(a[i].result.state, JOB_CANCELLED);
        assert_int_equal(atomic_load(&c[i].released), 1);
        answer_end(&a[i]);
    }
}

static void test_start_failures(void **state)
{
    (void)state;
    struct engine_service *service;
    static const char *const unknown[] = {"wpost-1k"};
    struct service_options o = {.engine = {.partition_workers = 1, .finishers = 1, .workers_per_device = 1},
                                .circuits = unknown,
                                .circuits_count = 1,
                                .threads = 1};
    size_t before = mem_used();
    struct status s = service_start(&service, &o);
    assert_int_equal(s.code, STATUS_INVALID);
    assert_null(service);
    assert_int_equal(mem_used(), before);
    static const char *const good[] = {WINDOW};
    o.circuits = good;
    for (uint64_t n = 1; n < 12; n++) { /* every allocation may fail */
        mem_fail_after(n);
        s = service_start(&service, &o);
        mem_fail_after(0);
        if (!status_failed(&s))
            service_end(service);
        assert_int_equal(mem_used(), before);
    }
}

static int make_params(void **state)
{
    (void)state;
    rig_params();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prove),
        cmocka_unit_test(test_fresh_blinding),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_failed_is_not_joined),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_params_missing_and_foreign),
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_evict),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_orphans),
        cmocka_unit_test(test_cancel_frees),
        cmocka_unit_test(test_device_errors),
        cmocka_unit_test(test_bad_proofs_are_withheld),
        cmocka_unit_test(test_device_lost),
        cmocka_unit_test(ap_16_test_silence),
        cmocka_unit_test(test_queue_full_and_positions),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_end_with_work),
        cmocka_unit_test(test_start_failures),
    };
    return cmocka_run_group_tests(tests, make_params, NULL);
}
