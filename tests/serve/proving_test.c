/* The proving service over a real socket, with jobs that end when the test says so: what each method answers,
 * what each refusal becomes, and that callers and jobs can leave in any order. */
#include "proving_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void proves(void **state)
{
    struct fixture *f = *state;
    struct message m = porep_request("porep-1000-7", 100, 'a');
    struct client_call *call = client_call(f->client, PROVE, m.bytes, m.size, NULL);
    client_step(f->client);
    fake_wait_jobs(f->service, 1);
    const struct fake_job copy = fake_job(f->service, 0), *job = &copy;
    assert_string_equal(job->request_id, "porep-1000-7");
    assert_int_equal(job->request.kind, PROOF_POREP);
    assert_int_equal(job->request.registered_proof, 8);
    assert_int_equal(job->request.vanilla_count, 1);
    assert_int_equal(job->request.vanilla[0].size, 100);
    assert_int_equal(job->priority, PRIORITY_NORMAL);
    assert_int_equal(job->timeout_ms, 0);
    assert_false(job->detached);
    fake_finish(f->service, 0, JOB_COMPLETED, status_ok());
    Cuzk__V1__ProveResponse *r = prove_response(f->client, call);
    assert_int_equal(r->result->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
    assert_string_equal(r->result->job_id, "job-0");
    assert_int_equal(r->result->proof.len, 192);
    assert_int_equal(r->result->proof.data[100], 'a');
    assert_string_equal(r->result->error_message, "");
    assert_int_equal(r->result->queue_wait_ms, 11);
    assert_int_equal(r->result->srs_load_ms, 12);
    assert_int_equal(r->result->synthesis_ms, 13);
    assert_int_equal(r->result->gpu_compute_ms, 14);
    assert_int_equal(r->result->total_ms, 15);
    cuzk__v1__prove_response__free_unpacked(r, NULL);
    free(m.bytes);
}

/* A large one: leased, given to the engine by another thread, released when the engine says so. */
static void proves_what_is_large(void **state)
{
    struct fixture *f = *state;
    struct message m = porep_request("large", 5 << 20, 'b');
    struct client_call *call = client_call(f->client, PROVE, m.bytes, m.size, NULL);
    while (fake_jobs(f->service) == 0)
        client_step(f->client);
    struct ledger_view v;
    ledger_look(f->ledger, LEDGER_HOST, &v);
    assert_int_equal(v.used, m.size + GRPC_PADDING);
    assert_int_equal(fake_job(f->service, 0).request.vanilla[0].size, 5 << 20);
    assert_memory_equal(fake_job(f->service, 0).request.vanilla[0].data, m.bytes + m.size - (5 << 20),
                        5 << 20);
    fake_finish(f->service, 0, JOB_COMPLETED, status_ok());
    Cuzk__V1__ProveResponse *r = prove_response(f->client, call);
    cuzk__v1__prove_response__free_unpacked(r, NULL);
    ledger_look(f->ledger, LEDGER_HOST, &v);
    assert_int_equal(v.used, 0);
    free(m.bytes);
}

static void refusals_and_their_codes(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum status_code status;
        enum grpc_code code;
    } cases[] = {
        {STATUS_INVALID, GRPC_INVALID_ARGUMENT},
        {STATUS_UNSUPPORTED, GRPC_INVALID_ARGUMENT},
        {STATUS_MISSING, GRPC_FAILED_PRECONDITION},
        {STATUS_MEMORY, GRPC_FAILED_PRECONDITION},
        {STATUS_UNTRUSTED, GRPC_FAILED_PRECONDITION},
        {STATUS_BUSY, GRPC_RESOURCE_EXHAUSTED},
        {STATUS_CANCELLED, GRPC_CANCELLED},
        {STATUS_IO, GRPC_INTERNAL},
        {STATUS_DEVICE, GRPC_INTERNAL},
        {STATUS_REJECTED, GRPC_INTERNAL},
    };
    struct message m = porep_request("refused", 10, 'a');
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        fake_refuse(f->service,
                    status_hint(status_detail(status_error(cases[i / 2].status, "the message"), "the detail"),
                                "the hint"),
                    i % 2);
        struct client_call *call = client_unary(f->client, PROVE, m.bytes, m.size);
        assert_int_equal(call->code, cases[i / 2].code);
        assert_string_equal(call->text, "the message; the detail (the hint)");
        assert_int_equal(call->retry_ms, cases[i / 2].status == STATUS_BUSY ? 5000 : -1);
    }
    assert_int_equal(fake_jobs(f->service), 0);
    free(m.bytes);
}

static void bad_requests(void **state)
{
    struct fixture *f = *state;
    struct client_call *call = client_unary(f->client, PROVE, "", 0);
    assert_int_equal(call->code, GRPC_INVALID_ARGUMENT);
    assert_non_null(strstr(call->text, "submit"));
    call = client_unary(f->client, SUBMIT, "", 0);
    assert_int_equal(call->code, GRPC_INVALID_ARGUMENT);
    assert_non_null(strstr(call->text, "proof_kind 0"));
    call = client_unary(f->client, SUBMIT, "\x0a\x05gone", 6);
    assert_int_equal(call->code, GRPC_INVALID_ARGUMENT);
    assert_non_null(strstr(call->text, "byte 0 of 6"));
    static const char *const small[] = {AWAIT, CANCEL, PRELOAD, EVICT, CHECK_HEALTH};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        call = client_unary(f->client, small[i], "\x0a\x05gone", 6);
        assert_int_equal(call->code, GRPC_INVALID_ARGUMENT);
    }
    assert_int_equal(fake_jobs(f->service), 0);
}

/* A proof that fails: the caller's fault is a gRPC error, anything else a result. */
static void failures_later(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum status_code status;
        int code;
    } cases[] = {{STATUS_INVALID, GRPC_INVALID_ARGUMENT},
                 {STATUS_UNSUPPORTED, GRPC_INVALID_ARGUMENT},
                 {STATUS_DEVICE, GRPC_OK},
                 {STATUS_REJECTED, GRPC_OK},
                 {STATUS_MEMORY, GRPC_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[16];
        snprintf(id, sizeof id, "fails-%zu", i);
        struct message m = porep_request(id, 10, 'a');
        struct client_call *call = client_call(f->client, PROVE, m.bytes, m.size, NULL);
        client_step(f->client);
        fake_wait_jobs(f->service, i + 1);
        fake_finish(f->service, i, JOB_FAILED,
                    status_hint(status_error(cases[i].status, "partition 3 \xff"), "look there"));
        client_wait(f->client, call);
        assert_int_equal(call->code, cases[i].code);
        if (cases[i].code == GRPC_OK) {
            Cuzk__V1__ProveResponse *r = prove_response(f->client, call);
            assert_int_equal(r->result->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED);
            assert_string_equal(r->result->error_message, "partition 3 ? (look there)");
            assert_int_equal(r->result->proof.len, 0);
            cuzk__v1__prove_response__free_unpacked(r, NULL);
        } else {
            assert_string_equal(call->text, "partition 3 ? (look there)");
        }
        free(m.bytes);
    }
}

static void priorities(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int kind, priority;
        enum priority expected;
    } cases[] = {
        {1, 0, PRIORITY_NORMAL},  {2, 0, PRIORITY_NORMAL}, {3, 0, PRIORITY_HIGH}, {4, 0, PRIORITY_CRITICAL},
        {1, 1, PRIORITY_LOW},     {4, 2, PRIORITY_NORMAL}, {3, 3, PRIORITY_HIGH}, {1, 4, PRIORITY_CRITICAL},
        {1, 99, PRIORITY_NORMAL}, {3, -1, PRIORITY_HIGH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message m = request(cases[i].kind, "", cases[i].priority, 10, 'a', false);
        struct client_call *call = client_unary(f->client, SUBMIT, m.bytes, m.size);
        assert_int_equal(call->code, GRPC_OK);
        assert_int_equal(fake_job(f->service, i).priority, cases[i].expected);
        assert_true(fake_job(f->service, i).detached);
        fake_finish(f->service, i, JOB_COMPLETED, status_ok());
        free(m.bytes);
    }
    /* In the ledger: what is kept for WinningPoSt is not had by asking. */
    struct message porep = request(1, "x", 4, 100000, 'a', true),
                   winning = request(4, "x", 0, 100000, 'a', true),
                   huge = request(4, "x", 0, 5 << 20, 'a', true),
                   window = request(3, "x", 0, 100000, 'a', false);
    assert_int_equal(prove_priority(porep.bytes, 2048, porep.size), PRIORITY_HIGH);
    assert_int_equal(prove_priority(winning.bytes, 2048, winning.size), PRIORITY_CRITICAL);
    assert_int_equal(prove_priority(huge.bytes, 2048, huge.size), PRIORITY_HIGH);
    assert_int_equal(submit_priority(window.bytes, 2048, window.size), PRIORITY_HIGH);
    assert_int_equal(submit_priority((const uint8_t *)"\xff\xff", 2, 100000), PRIORITY_NORMAL);
    free(porep.bytes);
    free(winning.bytes);
    free(huge.bytes);
    free(window.bytes);
}

/* The caller leaves, the job stays, an identical retry joins it. */
static void ap_02_03_06_callers_come_and_go(void **state)
{
    struct fixture *f = *state;
    struct message m = porep_request("retry", 3 << 20, 'r'), other = porep_request("retry", 3 << 20, 's');
    struct client_call *first = client_call(f->client, PROVE, m.bytes, m.size, NULL);
    while (fake_jobs(f->service) == 0)
        client_step(f->client);
    while (!fake_waiters(f->service, 0))
        client_step(f->client);
    client_reset(f->client, first);
    client_step(f->client);
    fake_wait_unwaited(f->service, 0, 1);

    struct call_options o = {.timeout = "50m"};
    struct client_call *second = client_call(f->client, PROVE, m.bytes, m.size, &o);
    client_wait(f->client, second);
    assert_int_equal(second->code, GRPC_DEADLINE_EXCEEDED);

    struct client_call *third = client_call(f->client, PROVE, m.bytes, m.size, NULL);
    struct client_call *stranger = client_call(f->client, PROVE, other.bytes, other.size, NULL);
    while (fake_jobs(f->service) < 2)
        client_step(f->client);
    fake_finish(f->service, 0, JOB_COMPLETED, status_ok());
    Cuzk__V1__ProveResponse *r = prove_response(f->client, third);
    assert_string_equal(r->result->job_id, "job-0");
    assert_int_equal(r->result->proof.data[0], 'r');
    cuzk__v1__prove_response__free_unpacked(r, NULL);
    fake_finish(f->service, 1, JOB_COMPLETED, status_ok());
    r = prove_response(f->client, stranger);
    assert_string_equal(r->result->job_id, "job-1");
    assert_int_equal(r->result->proof.data[0], 's');
    cuzk__v1__prove_response__free_unpacked(r, NULL);
    assert_int_equal(fake_jobs(f->service), 2);
    free(m.bytes);
    free(other.bytes);
}

/* The engine may cancel a job for its caller's deadline before the server has looked at the clock. */
static void ap_07_the_engine_sees_the_deadline_first(void **state)
{
    struct fixture *f = *state;
    struct message m = porep_request("late", 10, 'l');
    struct call_options o = {.timeout = "30m"};
    struct client_call *call = client_call(f->client, PROVE, m.bytes, m.size, &o);
    while (fake_jobs(f->service) == 0)
        client_step(f->client);
    while (!fake_waiters(f->service, 0))
        client_step(f->client);
    nanosleep(&(struct timespec){0, 40000000}, NULL);
    fake_finish(f->service, 0, JOB_CANCELLED, status_error(STATUS_CANCELLED, "the deadline passed"));
    client_wait(f->client, call);
    assert_int_equal(call->code, GRPC_DEADLINE_EXCEEDED);
    free(m.bytes);
}

static Cuzk__V1__AwaitProofResponse *awaited(struct fixture *f, struct client_call *call)
{
    size_t size;
    client_wait(f->client, call);
    assert_int_equal(call->code, GRPC_OK);
    const uint8_t *bytes = client_answer(call, 0, &size);
    Cuzk__V1__AwaitProofResponse *r = cuzk__v1__await_proof_response__unpack(NULL, size, bytes);
    assert_non_null(r);
    return r;
}

static void ap_01_07_submit_await_cancel(void **state)
{
    struct fixture *f = *state;
    struct message m = request(4, "winpost-1", 0, 100, 'w', false);
    struct client_call *call = client_unary(f->client, SUBMIT, m.bytes, m.size);
    size_t size;
    assert_int_equal(call->code, GRPC_OK);
    const uint8_t *bytes = client_answer(call, 0, &size);
    Cuzk__V1__SubmitProofResponse *submitted = cuzk__v1__submit_proof_response__unpack(NULL, size, bytes);
    assert_non_null(submitted);
    assert_string_equal(submitted->job_id, "job-0");
    assert_int_equal(submitted->queue_position, 3);
    cuzk__v1__submit_proof_response__free_unpacked(submitted, NULL);

    static const char by_id[] = "\x0a\x05job-0\x10\xf4\x03", by_request[] = "\x0a\x09winpost-1",
                      unknown[] = "\x0a\x04nope",
                      huge[] = "\x0a\x05job-0\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    call = client_call(f->client, AWAIT, by_id, sizeof by_id - 1, NULL);
    client_step(f->client);
    while (fake_waiters(f->service, 0) < 1)
        client_step(f->client);
    assert_int_equal(fake_job(f->service, 0).timeout_ms, 500);
    fake_timeout(f->service, 0);
    Cuzk__V1__AwaitProofResponse *r = awaited(f, call);
    assert_int_equal(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);

    call = client_unary(f->client, AWAIT, unknown, sizeof unknown - 1);
    assert_int_equal(call->code, GRPC_NOT_FOUND);
    call = client_unary(f->client, CANCEL, unknown, sizeof unknown - 1);
    assert_int_equal(call->code, GRPC_NOT_FOUND);

    struct client_call *waits = client_call(f->client, AWAIT, by_request, sizeof by_request - 1, NULL);
    struct client_call *long_one = client_call(f->client, AWAIT, huge, sizeof huge - 1, NULL);
    while (fake_waiters(f->service, 0) < 3)
        client_step(f->client);
    assert_true(fake_job(f->service, 0).timeout_ms == GRPC_TIMEOUT_MAX_MS);
    call = client_unary(f->client, CANCEL, by_id, 7);
    assert_int_equal(call->code, GRPC_OK);
    assert_memory_equal(client_answer(call, 0, &size), "\x08\x01", 2); /* was_running */
    r = awaited(f, waits);
    assert_int_equal(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED);
    assert_string_equal(r->error_message, "cancelled by CancelProof");
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    r = awaited(f, long_one);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    call = client_unary(f->client, CANCEL, by_id, 7);
    assert_non_null(client_answer(call, 0, &size));
    assert_int_equal(size, 0);                                     /* it ran no more */
    r = awaited(f, client_call(f->client, AWAIT, by_id, 7, NULL)); /* a result that is kept comes at once */
    assert_int_equal(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    free(m.bytes);
}

static void sh_03_draining(void **state)
{
    struct fixture *f = *state;
    struct message m = porep_request("runs", 10, 'a'), n = porep_request("new", 10, 'b'),
                   w = request(4, "winning", 0, 10, 'w', true);
    struct client_call *runs = client_call(f->client, PROVE, m.bytes, m.size, NULL);
    struct client_call *dies = client_call(f->client, PROVE, n.bytes, n.size, NULL);
    client_step(f->client);
    fake_wait_jobs(f->service, 2);
    proving_drain(f->proving);
    struct message late = porep_request("late", 10, 'c');
    struct client_call *refused = client_unary(f->client, PROVE, late.bytes, late.size);
    assert_int_equal(refused->code, GRPC_UNAVAILABLE);
    assert_int_equal(refused->retry_ms, 5000);
    assert_non_null(strstr(refused->text, "stopping"));
    struct client_call *winning = client_call(f->client, PROVE, w.bytes, w.size, NULL);
    client_step(f->client);
    fake_wait_jobs(f->service, 3);
    for (size_t i = 0; i < 3; i += 2)
        fake_finish(f->service, i, JOB_COMPLETED, status_ok());
    fake_finish(f->service, 1, JOB_CANCELLED, status_error(STATUS_CANCELLED, "the daemon is stopping"));
    client_wait(f->client, runs);
    client_wait(f->client, dies);
    client_wait(f->client, winning);
    assert_int_equal(runs->code, GRPC_OK);
    assert_int_equal(winning->code, GRPC_OK);
    assert_int_equal(dies->code, GRPC_UNAVAILABLE);
    free(m.bytes);
    free(n.bytes);
    free(w.bytes);
    free(late.bytes);
}

/* Stopped with calls in every state: each gets an answer, and nothing of the engine's is kept. */
static void stopped_in_the_midst(void **state)
{
    struct fixture *f = *state;
    struct message m = porep_request("", 2 << 20, 'a'), w = porep_request("", 30 << 20, 'a');
    struct client_call *calls[6];
    for (int i = 0; i < 4; i++)
        calls[i] = client_call(f->client, PROVE, m.bytes, m.size, NULL);
    while (fake_jobs(f->service) < 4)
        client_step(f->client);
    calls[4] = client_call(f->client, PROVE, w.bytes, w.size,
                           &(struct call_options){.let = 1 << 20}); /* half sent */
    client_step(f->client);
    calls[5] = client_call(f->client, WATCH, "", 0, NULL);
    size_t size;
    while (client_answer(calls[5], 0, &size) == NULL)
        client_step(f->client);
    fixture_stop(f);
    for (int i = 0; i < 6; i++) {
        client_wait(f->client, calls[i]);
        assert_int_equal(calls[i]->code, GRPC_UNAVAILABLE);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(fake_job(f->service, i).unwaited, 1);
        fake_finish(f->service, i, JOB_COMPLETED, status_ok());
    }
    free(m.bytes);
    free(w.bytes);
}

static void at_once(void **state)
{
    struct fixture *f = *state;
    pthread_mutex_lock(&f->service->lock);
    f->service->complete_at_once = true;
    pthread_mutex_unlock(&f->service->lock);
    for (int i = 0; i < 50; i++) {
        struct message m = porep_request("", i % 2 ? 10 : 1200000, 'a');
        struct client_call *call = client_call(f->client, PROVE, m.bytes, m.size, NULL);
        Cuzk__V1__ProveResponse *r = prove_response(f->client, call);
        assert_int_equal(r->result->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
        cuzk__v1__prove_response__free_unpacked(r, NULL);
        free(m.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROVING_TEST(proves),
        PROVING_TEST(proves_what_is_large),
        PROVING_TEST(refusals_and_their_codes),
        PROVING_TEST(bad_requests),
        PROVING_TEST(failures_later),
        PROVING_TEST(priorities),
        PROVING_TEST(ap_02_03_06_callers_come_and_go),
        PROVING_TEST(ap_07_the_engine_sees_the_deadline_first),
        PROVING_TEST(ap_01_07_submit_await_cancel),
        PROVING_TEST(sh_03_draining),
        PROVING_TEST(stopped_in_the_midst),
        PROVING_TEST(at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
