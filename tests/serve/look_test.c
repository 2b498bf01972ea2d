/* What a daemon says of itself: GetStatus, GetMetrics, health, reflection, and loading and evicting beside
 * them. */
#include "proving_support.h"

#include "grpc/health/v1/health.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_view(struct engine_service *s)
{
    struct service_view *v = &s->view;
    pthread_mutex_lock(&s->lock);
    v->uptime_ms = 61999;
    v->completed[PROOF_POREP] = 5;
    v->completed[PROOF_WINNING] = 2;
    v->failed[PROOF_SNAP] = 1;
    v->pending[PROOF_SNAP] = 3;
    v->pending[PROOF_SNAP_POSEIDON] = 4;
    v->in_progress[PROOF_WINDOW] = 1;
    v->devices_count = 1;
    v->devices[0] = (struct service_device_view){
        .name = "CPU", .state = DEVICE_BUSY, .job = "job-1", .kind = PROOF_WINDOW, .busy_ms = 5};
    v->circuits_count = 3;
    v->circuits[0] =
        (struct service_circuit_view){.name = "winning-2k", .loaded = true, .bytes = 12345, .references = 2};
    v->circuits[1] = (struct service_circuit_view){.name = "porep-2k", .loading = true};
    v->circuits[2] = (struct service_circuit_view){.name = "snap-2k", .failed = true};
    pthread_mutex_unlock(&s->lock);
}

static Cuzk__V1__GetStatusResponse *get_status(struct client *c)
{
    size_t size;
    struct client_call *call = client_unary(c, STATUS, "", 0);
    assert_int_equal(call->code, GRPC_OK);
    const uint8_t *bytes = client_answer(call, 0, &size);
    Cuzk__V1__GetStatusResponse *r = cuzk__v1__get_status_response__unpack(NULL, size, bytes);
    assert_non_null(r);
    return r;
}

static void ap_12_status(void **state)
{
    struct fixture *f = *state;
    set_view(f->service);
    Cuzk__V1__GetStatusResponse *r = get_status(f->client);
    assert_int_equal(r->n_gpus, 1);
    assert_string_equal(r->gpus[0]->name, "CPU");
    assert_string_equal(r->gpus[0]->current_job_id, "job-1");
    assert_string_equal(r->gpus[0]->current_proof_kind, "window-post");
    assert_int_equal(r->n_loaded_srs, 3);
    assert_string_equal(r->loaded_srs[0]->circuit_id, "winning-2k");
    assert_int_equal(r->loaded_srs[0]->tier, CUZK__V1__SRSSTATUS__TIER__HOT);
    assert_int_equal(r->loaded_srs[0]->size_bytes, 12345);
    assert_int_equal(r->loaded_srs[0]->ref_count, 2);
    assert_int_equal(r->loaded_srs[1]->tier, CUZK__V1__SRSSTATUS__TIER__WARM);
    assert_int_equal(r->loaded_srs[2]->tier, CUZK__V1__SRSSTATUS__TIER__COLD);
    static const struct {
        const char *kind;
        uint32_t pending, in_progress;
    } queues[] = {{"porep-c2", 0, 0}, {"snap-update", 7, 0}, {"window-post", 0, 1}, {"winning-post", 0, 0}};
    assert_int_equal(r->n_queues, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(r->queues[i]->proof_kind, queues[i].kind);
        assert_int_equal(r->queues[i]->pending, queues[i].pending);
        assert_int_equal(r->queues[i]->in_progress, queues[i].in_progress);
    }
    assert_int_equal(r->total_proofs_completed, 7);
    assert_int_equal(r->total_proofs_failed, 1);
    assert_int_equal(r->uptime_seconds, 61);
    assert_int_equal(r->pinned_memory_bytes, 0);
    assert_int_equal(r->pinned_memory_limit_bytes, 1 << 20);
    cuzk__v1__get_status_response__free_unpacked(r, NULL);
    /* A request with fields of a later version is as good. */
    assert_int_equal(client_unary(f->client, STATUS, "\x08\x01", 2)->code, GRPC_OK);
}

static void ap_14_metrics(void **state)
{
    struct fixture *f = *state;
    size_t size;
    (void)client_unary(f->client, "/cuzk.v1.ProvingEngine/Nothing", "", 0);
    struct client_call *call = client_unary(f->client, METRICS, "", 0);
    const uint8_t *bytes = client_answer(call, 0, &size);
    Cuzk__V1__GetMetricsResponse *r = cuzk__v1__get_metrics_response__unpack(NULL, size, bytes);
    assert_non_null(r);
    assert_non_null(strstr(r->prometheus_text, "cuzk_uptime_seconds 5\n"));
    assert_non_null(strstr(r->prometheus_text, "\ncuzk_grpc_connections 1\n"));
    assert_non_null(strstr(r->prometheus_text, "\ncuzk_grpc_calls 1\n"));
    assert_non_null(strstr(r->prometheus_text, "\ncuzk_grpc_calls_total{code=\"UNIMPLEMENTED\"} 1\n"));
    cuzk__v1__get_metrics_response__free_unpacked(r, NULL);
    struct grpc_view v;
    proving_look(f->proving, &v);
    assert_int_equal(v.connections, 1);
    assert_int_equal(v.ended[GRPC_OK], 1);
}

/* With uploads under way, some of them waiting for memory, status is answered all the same. */
static void ap_15_status_beside_uploads(void **state)
{
    struct fixture *f = *state;
    struct client *uploader = fixture_connect(f);
    struct message m = porep_request("", 12 << 20, 'a');
    struct client_call *calls[10];
    for (int i = 0; i < 10; i++)
        calls[i] = client_call(uploader, PROVE, m.bytes, m.size, NULL);
    size_t answered = 0;
    /* 100 MiB hold eight of them. */
    while (fake_jobs(f->service) < 8) {
        for (int i = 0; i < 20; i++)
            client_step(uploader);
        cuzk__v1__get_status_response__free_unpacked(get_status(f->client), NULL);
        answered++;
    }
    assert_true(answered > 8);
    struct grpc_view v;
    do {
        client_step(uploader);
        proving_look(f->proving, &v);
    } while (v.uploads_waiting != 2);
    cuzk__v1__get_status_response__free_unpacked(get_status(uploader),
                                                 NULL); /* on the same connection, too */
    for (size_t i = 0; i < 8; i++)
        fake_finish(f->service, i, JOB_COMPLETED, status_ok());
    while (fake_jobs(f->service) < 10)
        client_step(uploader);
    fake_finish(f->service, 8, JOB_COMPLETED, status_ok());
    fake_finish(f->service, 9, JOB_COMPLETED, status_ok());
    for (int i = 0; i < 10; i++)
        cuzk__v1__prove_response__free_unpacked(prove_response(uploader, calls[i]), NULL);
    free(m.bytes);
    client_close(uploader);
}

static void loading(void **state)
{
    struct fixture *f = *state;
    static const char winning[] = "\x0a\x0awinning-2k", none[] = "\x0a\x04none",
                      busy[] = "\x0a\x04"
                               "busy";
    size_t size;
    fake_hold_loads(f->service, true);
    struct client_call *call = client_call(f->client, PRELOAD, winning, sizeof winning - 1, NULL);
    client_step(f->client);
    cuzk__v1__get_status_response__free_unpacked(get_status(f->client), NULL); /* not held up by the load */
    assert_false(call->closed);
    fake_hold_loads(f->service, false);
    client_wait(f->client, call);
    const uint8_t *bytes = client_answer(call, 0, &size);
    Cuzk__V1__PreloadSRSResponse *r = cuzk__v1__preload_srsresponse__unpack(NULL, size, bytes);
    assert_non_null(r);
    assert_true(r->already_loaded);
    assert_int_equal(r->load_time_ms, 77);
    cuzk__v1__preload_srsresponse__free_unpacked(r, NULL);
    call = client_unary(f->client, PRELOAD, none, sizeof none - 1);
    assert_int_equal(call->code, GRPC_NOT_FOUND);
    call = client_unary(f->client, EVICT, winning, sizeof winning - 1);
    bytes = client_answer(call, 0, &size);
    Cuzk__V1__EvictSRSResponse *e = cuzk__v1__evict_srsresponse__unpack(NULL, size, bytes);
    assert_non_null(e);
    assert_true(e->was_loaded);
    assert_true(e->freed_bytes == 123456789012);
    cuzk__v1__evict_srsresponse__free_unpacked(e, NULL);
    call = client_unary(f->client, EVICT, busy, sizeof busy - 1);
    assert_int_equal(call->code, GRPC_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(call->text, "in use"));
    /* A caller that leaves does not disturb the load. */
    fake_hold_loads(f->service, true);
    call = client_call(f->client, PRELOAD, winning, sizeof winning - 1, NULL);
    while (fake_loads(f->service) < 3)
        client_step(f->client);
    client_reset(f->client, call);
    client_step(f->client);
    fake_hold_loads(f->service, false);
}

/* ---- health ---- */

static struct message health_request(const char *service)
{
    Grpc__Health__V1__HealthCheckRequest r = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;
    r.service = (char *)(uintptr_t)service;
    struct message m = {malloc(200), 0};
    assert_non_null(m.bytes);
    m.size = grpc__health__v1__health_check_request__pack(&r, m.bytes);
    return m;
}

static int decode_health(const struct client_call *call, size_t i)
{
    size_t size;
    const uint8_t *bytes = client_answer(call, i, &size);
    assert_non_null(bytes);
    Grpc__Health__V1__HealthCheckResponse *r =
        grpc__health__v1__health_check_response__unpack(NULL, size, bytes);
    assert_non_null(r);
    int status = (int)r->status;
    grpc__health__v1__health_check_response__free_unpacked(r, NULL);
    return status;
}

static int check(struct fixture *f, const char *service)
{
    struct message m = health_request(service);
    struct client_call *call = client_unary(f->client, CHECK_HEALTH, m.bytes, m.size);
    free(m.bytes);
    return call->code == GRPC_OK ? decode_health(call, 0) : -call->code;
}

enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

static void ap_16_health(void **state)
{
    struct fixture *f = *state;
    set_view(f->service);
    assert_int_equal(check(f, ""), NOT_SERVING);
    assert_int_equal(check(f, "winning-post"), SERVING); /* loaded first, served first */
    assert_int_equal(check(f, "porep-c2"), NOT_SERVING);
    proving_ready(f->proving, true);
    assert_int_equal(check(f, ""), SERVING);
    assert_int_equal(check(f, "cuzk.v1.ProvingEngine"), SERVING);
    assert_int_equal(check(f, "porep-c2"), SERVING);        /* it still loads, but requests wait for it */
    assert_int_equal(check(f, "snap-update"), NOT_SERVING); /* it could not be loaded */
    assert_int_equal(check(f, "window-post"), NOT_SERVING); /* there is none */
    assert_int_equal(check(f, "no-such-kind"), -GRPC_NOT_FOUND);
    pthread_mutex_lock(&f->service->lock);
    f->service->view.devices[0].state = DEVICE_LOST;
    pthread_mutex_unlock(&f->service->lock);
    assert_int_equal(check(f, ""), NOT_SERVING);
    assert_int_equal(check(f, "winning-post"), NOT_SERVING);
    set_view(f->service);
    proving_drain(f->proving);
    assert_int_equal(check(f, ""), NOT_SERVING);
    assert_int_equal(check(f, "winning-post"), NOT_SERVING);
}

static void wait_answers(struct client *c, struct client_call *call, size_t count)
{
    size_t size;
    while (client_answer(call, count - 1, &size) == NULL)
        client_step(c);
}

static void watching(void **state)
{
    struct fixture *f = *state;
    set_view(f->service);
    struct message all = health_request(""), odd = health_request("odd");
    struct client_call *call = client_call(f->client, WATCH, all.bytes, all.size, NULL);
    struct client_call *other = client_call(f->client, WATCH, odd.bytes, odd.size, NULL);
    wait_answers(f->client, call, 1);
    wait_answers(f->client, other, 1);
    assert_int_equal(decode_health(call, 0), NOT_SERVING);
    assert_int_equal(decode_health(other, 0), SERVICE_UNKNOWN);
    proving_ready(f->proving, true);
    wait_answers(f->client, call, 2);
    assert_int_equal(decode_health(call, 1), SERVING);
    client_reset(f->client, other);
    proving_drain(f->proving);
    wait_answers(f->client, call, 3);
    assert_int_equal(decode_health(call, 2), NOT_SERVING);
    assert_false(call->closed);
    free(all.bytes);
    free(odd.bytes);
}

/* ---- reflection ---- */

typedef Grpc__Reflection__V1__ServerReflectionRequest question;
typedef Grpc__Reflection__V1__ServerReflectionResponse reply;

static void ask(struct message *m, question *q)
{
    size_t size = grpc__reflection__v1__server_reflection_request__get_packed_size(q);
    m->bytes = realloc(m->bytes, m->size + 5 + size);
    assert_non_null(m->bytes);
    memcpy(m->bytes + m->size, (uint8_t[]){0, 0, 0, (uint8_t)(size >> 8), (uint8_t)size}, 5);
    (void)grpc__reflection__v1__server_reflection_request__pack(q, m->bytes + m->size + 5);
    m->size += 5 + size;
}

static reply *decode_reply(const struct client_call *call, size_t i)
{
    size_t size;
    const uint8_t *bytes = client_answer(call, i, &size);
    assert_non_null(bytes);
    reply *r = grpc__reflection__v1__server_reflection_response__unpack(NULL, size, bytes);
    assert_non_null(r);
    return r;
}

#define ASKED(case_) GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##case_

static void ap_11_reflection(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int asked;
        const char *text, *file; /* file NULL: an error */
    } cases[] = {
        {ASKED(FILE_BY_FILENAME), "cuzk.proto", "cuzk.proto"},
        {ASKED(FILE_BY_FILENAME), "grpc/health/v1/health.proto", "grpc/health/v1/health.proto"},
        {ASKED(FILE_BY_FILENAME), "other.proto", NULL},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.ProvingEngine", "cuzk.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.ProvingEngine.Prove", "cuzk.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.SubmitProofRequest", "cuzk.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.SubmitProofRequest.vanilla_proof", "cuzk.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.AwaitProofResponse.Status", "cuzk.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.Priority", "cuzk.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "grpc.health.v1.Health", "grpc/health/v1/health.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "grpc.reflection.v1.ServerReflection",
         "grpc/reflection/v1/reflection.proto"},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.ProvingEngin", NULL},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1.ProvingEngine.Prov", NULL},
        {ASKED(FILE_CONTAINING_SYMBOL), "cuzk.v1", NULL},
        {ASKED(FILE_CONTAINING_SYMBOL), "", NULL},
        {ASKED(ALL_EXTENSION_NUMBERS_OF_TYPE), "cuzk.v1.ProveRequest", NULL},
        {ASKED(_NOT_SET), "", NULL},
    };
    size_t count = sizeof cases / sizeof *cases;
    struct message m = {NULL, 0};
    for (size_t i = 0; i < count; i++) {
        question q = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
        q.message_request_case = cases[i].asked;
        q.file_by_filename = (char *)(uintptr_t)cases[i].text;
        ask(&m, &q);
    }
    struct client_call *call =
        client_call(f->client, REFLECTION, m.bytes, m.size, &(struct call_options){.raw = true});
    client_wait(f->client, call);
    assert_int_equal(call->code, GRPC_OK);
    for (size_t i = 0; i < count; i++) {
        reply *r = decode_reply(call, i);
        assert_int_equal(r->original_request->message_request_case, cases[i].asked);
        if (cases[i].file == NULL) {
            assert_int_equal(
                r->message_response_case,
                GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE);
        } else {
            char name[64]; /* a FileDescriptorProto begins with its name */
            int n = snprintf(name, sizeof name, "\n%c%s", (int)strlen(cases[i].file), cases[i].file);
            assert_int_equal(
                r->message_response_case,
                GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE);
            assert_int_equal(r->file_descriptor_response->n_file_descriptor_proto, 1);
            assert_memory_equal(r->file_descriptor_response->file_descriptor_proto[0].data, name, (size_t)n);
        }
        grpc__reflection__v1__server_reflection_response__free_unpacked(r, NULL);
    }
    size_t size;
    assert_null(client_answer(call, count, &size));
    free(m.bytes);
}

static void services(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {REFLECTION,
                                        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};
    for (int i = 0; i < 2; i++) {
        struct message m = {NULL, 0};
        question q = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
        q.message_request_case = ASKED(LIST_SERVICES);
        q.list_services = (char *)(uintptr_t) "*";
        ask(&m, &q);
        struct client_call *call =
            client_call(f->client, paths[i], m.bytes, m.size, &(struct call_options){.raw = true});
        client_wait(f->client, call);
        reply *r = decode_reply(call, 0);
        assert_int_equal(r->list_services_response->n_service, 3);
        assert_string_equal(r->list_services_response->service[0]->name, "cuzk.v1.ProvingEngine");
        assert_string_equal(r->list_services_response->service[1]->name, "grpc.health.v1.Health");
        assert_string_equal(r->list_services_response->service[2]->name,
                            "grpc.reflection.v1.ServerReflection");
        grpc__reflection__v1__server_reflection_response__free_unpacked(r, NULL);
        free(m.bytes);
    }
}

/* A tool that asks and leaves without a word. */
static void leaving_reflection(void **state)
{
    struct fixture *f = *state;
    struct message m = {NULL, 0};
    question q = GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__INIT;
    q.message_request_case = ASKED(LIST_SERVICES);
    q.list_services = (char *)(uintptr_t) "";
    ask(&m, &q);
    struct client_call *call = client_call(f->client, REFLECTION, m.bytes, m.size,
                                           &(struct call_options){.raw = true, .open = true});
    wait_answers(f->client, call, 1);
    client_reset(f->client, call);
    client_step(f->client);
    cuzk__v1__get_status_response__free_unpacked(get_status(f->client), NULL);
    struct client_call *garbage = client_unary(f->client, REFLECTION, "\xff", 1);
    assert_int_equal(garbage->code, GRPC_INVALID_ARGUMENT);
    free(m.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROVING_TEST(ap_12_status),
        PROVING_TEST(ap_14_metrics),
        PROVING_TEST(ap_15_status_beside_uploads),
        PROVING_TEST(loading),
        PROVING_TEST(ap_16_health),
        PROVING_TEST(watching),
        PROVING_TEST(ap_11_reflection),
        PROVING_TEST(services),
        PROVING_TEST(leaving_reflection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
