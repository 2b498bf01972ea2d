/* Calls from their headers to their trailers: every size and cut of a message, every refusal, deadlines,
 * cancels, streams, draining. One thread, a clock moved by hand. */
#include "service.h"

#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct service service;

static uint8_t *pattern(size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
    return bytes;
}

static void is_echo(const struct client_call *call, const uint8_t *bytes, size_t size)
{
    size_t got;
    const uint8_t *answer = client_answer(call, 0, &got);
    assert_true(call->closed);
    assert_int_equal(call->error, NGHTTP2_NO_ERROR);
    assert_int_equal(call->status, 200);
    assert_int_equal(call->code, GRPC_OK);
    assert_non_null(answer);
    assert_int_equal(got, size);
    assert_int_equal(call->answer_size, size + 5);
    if (size != 0)
        assert_memory_equal(answer, bytes, size);
}

static void refused(const struct client_call *call, enum grpc_code code, const char *part)
{
    assert_true(call->closed);
    assert_int_equal(call->status, 200);
    if (call->code != (int)code || strstr(call->text, part) == NULL)
        fail_msg("expected %d \"%s\", got %d \"%s\"", (int)code, part, call->code, call->text);
    assert_int_equal(call->answer_size, 0);
}

static void messages_of_every_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     2,     4,       5,       100,     2047,
                                   2048,  16379, 16380, 16384,   65531,   65535,   65536,
                                   65537, 81920, 81921, 1 << 20, 5000000, 20 << 20};
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    uint8_t *bytes = pattern(20 << 20);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        is_echo(client_unary(c, "/t/Echo", bytes, sizes[i]), bytes, sizes[i]);
    assert_int_equal(atomic_load(&server->loose_now), 0);
    assert_int_equal(service.echoed, sizeof sizes / sizeof *sizes);
    free(bytes);
    client_close(c);
    finish(server);
}

/* A large message as the very first bytes of a connection: the client has not seen our settings. */
static void a_large_message_before_the_settings(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    uint8_t *bytes = pattern(300000);
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    struct client *c = client_new(server, fds[0]);
    struct client_call *call = client_call(c, "/t/Echo", bytes, 300000, NULL);
    client_step(c); /* into the socket, as much as the default window allows */
    assert_true(call->body_sent > 60000);
    server_adopt(server, fds[1], "a test");
    client_pump(c);
    is_echo(call, bytes, 300000);
    free(bytes);
    client_close(c);
    finish(server);
}

static void messages_in_pieces(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    uint8_t *bytes = pattern(70000);
    for (size_t cut = 1; cut <= 12; cut++) {
        struct call_options o = {.let = cut};
        struct client_call *call = client_call(c, "/t/Echo", bytes, 7, &o);
        client_pump(c);
        assert_int_equal(call->body_sent, cut);
        assert_int_equal(call->closed, cut == 12);
        client_let(c, call, 100);
        client_pump(c);
        is_echo(call, bytes, 7);
    }
    for (size_t chunk = 1; chunk < 3000; chunk = chunk * 3 + 1) {
        struct call_options o = {.chunk = chunk};
        size_t size = chunk < 10 ? 3000 : 70000;
        struct client_call *call = client_call(c, "/t/Echo", bytes, size, &o);
        client_pump(c);
        is_echo(call, bytes, size);
    }
    free(bytes);
    client_close(c);
    finish(server);
}

static void refusals_by_headers(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    static const struct {
        const char *path;
        struct call_options options;
        enum grpc_code code;
        const char *part;
    } cases[] = {
        {"/t/Nothing", {0}, GRPC_UNIMPLEMENTED, "unknown method /t/Nothing"},
        {"/", {0}, GRPC_UNIMPLEMENTED, "unknown method"},
        {"/t/Echo/", {0}, GRPC_UNIMPLEMENTED, "unknown method"},
        {"/t/Echo", {.te = ""}, GRPC_INTERNAL, "te: trailers"},
        {"/t/Echo", {.timeout = "1x"}, GRPC_INTERNAL, "grpc-timeout"},
        {"/t/Echo", {.timeout = "123456789S"}, GRPC_INTERNAL, "grpc-timeout"},
        {"/t/Echo", {.timeout = "0n"}, GRPC_DEADLINE_EXCEEDED, "deadline"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call_options o = cases[i].options;
        o.open = true;
        struct client_call *call = client_call(c, cases[i].path, "x", 1, &o);
        client_pump(c);
        refused(call, cases[i].code, cases[i].part);
    }
    char *path = malloc(5000);
    assert_non_null(path);
    memset(path, 'a', 5000);
    path[0] = '/';
    path[4999] = 0;
    struct client_call *call = client_call(c, path, "x", 1, NULL);
    client_pump(c);
    refused(call, GRPC_UNIMPLEMENTED, "unknown method with a long name");
    free(path);
    static const struct {
        struct call_options options;
        int status;
    } http[] = {
        {{.method = "GET"}, 405},
        {{.method = "PUT"}, 405},
        {{.media = ""}, 415},
        {{.media = "application/json"}, 415},
        {{.media = "application/grpcx"}, 415},
        {{.media = "application/grpc+json"}, 415},
        {{.media = "application/grpc-web"}, 415},
        {{.media = "application/grpc+proto"}, 200},
        {{.media = "application/grpc;charset=utf-8"}, 200},
    };
    for (size_t i = 0; i < sizeof http / sizeof *http; i++) {
        call = client_call(c, "/t/Echo", "x", 1, &http[i].options);
        client_pump(c);
        assert_true(call->closed);
        assert_int_equal(call->status, http[i].status);
    }
    is_echo(client_unary(c, "/t/Echo", "after", 5), (const uint8_t *)"after", 5);
    client_close(c);
    finish(server);
}

static void headers_too_large(void **state)
{
    (void)state;
    struct grpc_options o = {.max_header_bytes = 4000};
    struct grpc_server *server = service_server(&service, &o);
    struct client *c = client_open(server);
    char *large = calloc(1, 20001);
    assert_non_null(large);
    memset(large, 'x', 5000);
    struct call_options with = {.extra = large};
    struct client_call *call = client_call(c, "/t/Echo", "x", 1, &with);
    client_pump(c);
    refused(call, GRPC_RESOURCE_EXHAUSTED, "at most 4000");
    is_echo(client_unary(c, "/t/Echo", "after", 5), (const uint8_t *)"after", 5);
    free(large);
    client_close(c);
    finish(server);
}

static void refusals_by_framing(void **state)
{
    (void)state;
    struct grpc_options limit = {.max_message = 100000};
    struct grpc_server *server = service_server(&service, &limit);
    struct client *c = client_open(server);
    static const struct {
        const char *path, *body;
        size_t size;
        enum grpc_code code;
        const char *part;
    } cases[] = {
        {"/t/Echo", "", 0, GRPC_INVALID_ARGUMENT, "no message"},
        {"/t/Echo", "\0\0", 2, GRPC_INVALID_ARGUMENT, "inside a message's prefix"},
        {"/t/Echo", "\0\0\0\0\3ab", 7, GRPC_INVALID_ARGUMENT, "ends after 2 of 3 bytes"},
        {"/t/Echo", "\0\0\1\0\1ab", 7, GRPC_INVALID_ARGUMENT, "ends after 2 of 65537 bytes"},
        {"/t/Echo", "\1\0\0\0\1a", 6, GRPC_UNIMPLEMENTED, "identity"},
        {"/t/Echo", "\2\0\0\0\1a", 6, GRPC_INTERNAL, "begins with 2"},
        {"/t/Echo", "\0\0\1\206\241", 5, GRPC_RESOURCE_EXHAUSTED, "message of 100001 bytes: at most 100000"},
        {"/t/Echo", "\0\377\377\377\377", 5, GRPC_RESOURCE_EXHAUSTED, "4294967295 bytes"},
        {"/t/Echo", "\0\0\0\0\1ab", 7, GRPC_INTERNAL, "one message"},
        {"/t/Echo", "\0\0\0\0\0\0\0\0\0\0", 10, GRPC_INTERNAL, "one message"},
        {"/t/Flood", "\0\0\0\3\351", 5, GRPC_RESOURCE_EXHAUSTED, "at most 1000"},
        {"/t/Stream", "\0\0\1\0\1", 5, GRPC_RESOURCE_EXHAUSTED, "at most 65536"},
        {"/t/Stream", "\0\0\0\0\3ab", 7, GRPC_INVALID_ARGUMENT, "ends after 2 of 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call_options o = {.raw = true};
        struct client_call *call = client_call(c, cases[i].path, cases[i].body, cases[i].size, &o);
        client_pump(c);
        refused(call, cases[i].code, cases[i].part);
    }
    assert_int_equal(service.echoed, 0);
    is_echo(client_unary(c, "/t/Echo", "after", 5), (const uint8_t *)"after", 5);
    assert_int_equal(atomic_load(&server->loose_now), 0);
    client_close(c);
    finish(server);
}

static void in_02_the_limit_itself(void **state)
{
    (void)state;
    static const uint64_t limits[] = {70000, 100000, 3 << 20};
    uint8_t *bytes = pattern((3 << 20) + 1);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct grpc_options o = {.max_message = limits[i]};
        struct grpc_server *server = service_server(&service, &o);
        struct client *c = client_open(server);
        is_echo(client_unary(c, "/t/Echo", bytes, limits[i] - 1), bytes, limits[i] - 1);
        is_echo(client_unary(c, "/t/Echo", bytes, limits[i]), bytes, limits[i]);
        refused(client_unary(c, "/t/Echo", bytes, limits[i] + 1), GRPC_RESOURCE_EXHAUSTED, "at most");
        client_close(c);
        finish(server);
    }
    free(bytes);
}

/* Refused at its prefix, a large message need not be sent whole: the stream is reset without an error. */
static void refused_early(void **state)
{
    (void)state;
    struct grpc_options limit = {.max_message = 100000};
    struct grpc_server *server = service_server(&service, &limit);
    struct client *c = client_open(server);
    uint8_t *bytes = pattern(10 << 20);
    struct client_call *call = client_call(c, "/t/Echo", bytes, 10 << 20, NULL);
    client_pump(c);
    refused(call, GRPC_RESOURCE_EXHAUSTED, "at most 100000");
    assert_int_equal(call->error, NGHTTP2_NO_ERROR);
    assert_true(call->body_sent <= 65536);
    free(bytes);
    client_close(c);
    finish(server);
}

static void failures_carry_text_and_hint(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    struct client_call *call = client_unary(c, "/t/Fail", "", 0);
    refused(call, GRPC_RESOURCE_EXHAUSTED, "100 %25 f%C3%BCll%0A?");
    assert_int_equal(call->retry_ms, 1234);
    client_close(c);
    finish(server);
}

static void answers_of_every_size(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    static const uint32_t sizes[] = {0, 1, 16374, 16375, 16384, 65530, 65536, 300000, 5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct client_call *call = client_unary(c, "/t/Flood", &sizes[i], 4);
        size_t size;
        const uint8_t *answer = client_answer(call, 0, &size);
        assert_int_equal(call->code, GRPC_OK);
        assert_non_null(answer);
        assert_int_equal(size, sizes[i]);
        for (size_t j = 0; j < size; j++)
            if (answer[j] != (uint8_t)(j * 7 >> 3))
                fail_msg("byte %zu", j);
    }
    client_close(c);
    finish(server);
}

static void deadline_passes_while_held(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    struct call_options o = {.timeout = "1500m"};
    struct client_call *call = client_call(c, "/t/Hold", "x", 1, &o);
    client_pump(c);
    struct held *h = &service.held[0];
    assert_int_equal(service.held_count, 1);
    assert_int_equal(h->timeout_ms, 1500);
    fake_now += 1499;
    client_pump(c);
    assert_false(call->closed);
    assert_int_equal(h->gone, 0);
    fake_now += 1;
    client_pump(c);
    refused(call, GRPC_DEADLINE_EXCEEDED, "deadline");
    assert_int_equal(h->gone, 1);
    assert_int_equal(h->done, 0);
    service_answer(h, "too late");
    client_pump(c);
    assert_int_equal(h->done, 1);
    assert_int_equal(h->gone, 1);
    client_close(c);
    finish(server);
}

static void answered_in_time(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    struct call_options o = {.timeout = "30M"};
    struct client_call *call = client_call(c, "/t/Hold", "x", 1, &o);
    client_pump(c);
    assert_int_equal(service.held[0].timeout_ms, 30 * 60000);
    service_answer(&service.held[0], "in time");
    client_pump(c);
    is_echo(call, (const uint8_t *)"in time", 7);
    assert_int_equal(service.held[0].gone, 0);
    assert_int_equal(service.held[0].done, 1);
    client_close(c);
    finish(server);
}

static void reset_and_lost_connections_are_told(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    for (int i = 0; i < 3; i++)
        (void)client_call(c, "/t/Hold", "x", 1, NULL);
    client_pump(c);
    assert_int_equal(service.held_count, 3);
    client_reset(c, c->calls[1]);
    client_pump(c);
    assert_int_equal(service.held[0].gone, 0);
    assert_int_equal(service.held[1].gone, 1);
    service_answer(&service.held[1], "nobody hears this");
    client_pump(c);
    assert_int_equal(service.held[1].done, 1);
    client_close(c);
    assert_int_equal(service.held[0].gone, 1);
    assert_int_equal(service.held[2].gone, 1);
    assert_int_equal(service.held[1].gone, 1);
    assert_int_equal(service.held[0].done, 0);
    service_answer(&service.held[0], "");
    service_answer(&service.held[2], "");
    turn(server);
    assert_int_equal(service.held[0].done, 1);
    assert_int_equal(service.held[2].done, 1);
    finish(server);
}

static void streams_of_messages(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    struct call_options o = {.raw = true, .open = true, .let = 8};
    const char *body = "\0\0\0\0\3one\0\0\0\0\0\0\0\0\0\5three";
    struct client_call *call = client_call(c, "/t/Stream", body, 23, &o);
    size_t size;
    client_pump(c);
    assert_memory_equal(client_answer(call, 0, &size), "one", 3);
    fake_now += 3600000; /* a stream may be silent */
    client_pump(c);
    client_let(c, call, 100);
    client_pump(c);
    assert_int_equal(call->closed, false);
    assert_non_null(client_answer(call, 1, &size));
    assert_int_equal(size, 0);
    assert_memory_equal(client_answer(call, 2, &size), "three", 5);
    assert_null(client_answer(call, 3, &size));
    client_end(c, call);
    client_pump(c);
    assert_true(call->closed);
    assert_int_equal(call->code, GRPC_OK);

    /* The server ends first; what the client still says is ignored. */
    const char *more = "\0\0\0\0\4last\0\0\0\0\4more";
    struct call_options raw = {.raw = true, .open = true};
    call = client_call(c, "/t/Stream", more, 18, &raw);
    client_pump(c);
    assert_true(call->closed);
    assert_int_equal(call->code, GRPC_ABORTED);
    assert_memory_equal(client_answer(call, 0, &size), "last", 4);
    assert_null(client_answer(call, 1, &size));
    client_close(c);
    finish(server);
}

/* Many calls at once on one connection, answered in the order of the test's liking. */
static void calls_beside_each_other(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    for (int i = 0; i < 200; i++)
        (void)client_call(c, "/t/Hold", &i, sizeof i, NULL);
    client_pump(c);
    assert_int_equal(service.held_count, 200);
    assert_int_equal(atomic_load(&server->calls_now), 200);
    for (int i = 199; i >= 0; i--) {
        char text[16];
        int number;
        memcpy(&number, service.held[i].message->data, sizeof number);
        snprintf(text, sizeof text, "%d", number);
        service_answer(&service.held[i], text);
    }
    client_pump(c);
    for (int i = 0; i < 200; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        is_echo(c->calls[i], (const uint8_t *)text, strlen(text));
    }
    assert_int_equal(atomic_load(&server->calls_now), 0);
    client_close(c);
    finish(server);
}

static void draining(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server), *idle = client_open(server);
    struct client_call *first = client_call(c, "/t/Hold", "x", 1, NULL);
    struct client_call *second = client_call(c, "/t/Hold", "x", 1, NULL);
    client_pump(c);
    server_ask_stop(server, 5000);
    turn(server);
    /* What was on its way when the notice went out is answered, not dropped. */
    struct client_call *late = client_call(c, "/t/Echo", "x", 1, NULL);
    client_pump(c);
    assert_true(c->goaway);
    refused(late, GRPC_UNAVAILABLE, "stopping");
    service_answer(&service.held[0], "done");
    client_pump(c);
    is_echo(first, (const uint8_t *)"done", 4);
    fake_now += 200;
    client_pump(c);
    client_pump(idle);
    assert_true(idle->lost); /* nothing to wait for there */
    assert_false(second->closed);
    fake_now += 5000;
    client_pump(c);
    refused(second, GRPC_UNAVAILABLE, "stopping");
    assert_int_equal(service.held[1].gone, 1);
    assert_true(server_turn(server, 0)); /* the handler still has its call */
    service_answer(&service.held[1], "");
    for (int i = 0; i < 20 && server_turn(server, 0); i++)
        fake_now += 100;
    assert_int_equal(service.held[1].done, 1);
    assert_int_equal(server->phase, SERVER_ENDED);
    assert_int_equal(atomic_load(&server->codes[GRPC_UNAVAILABLE]), 2);
    c->server = idle->server = NULL;
    client_close(c);
    client_close(idle);
    server_free(server);
}

/* Allocation number n fails, and every one after it: for all n of a scenario with everything in it. */
static void without_memory(void **state)
{
    (void)state;
    uint8_t *bytes = pattern(200000);
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        struct grpc_server *server = service_server(&service, NULL);
        struct client *c = client_open(server);
        mem_fail_after(n);
        (void)client_call(c, "/t/Echo", bytes, 100, NULL);
        (void)client_call(c, "/t/Echo", bytes, 200000, NULL);
        (void)client_call(c, "/t/Stream", bytes, 10, NULL);
        (void)client_call(c, "/t/Hold", bytes, 10, NULL);
        client_pump(c);
        struct client *other = client_open(server);
        failed = mem_allocations() >= n;
        mem_fail_after(0);
        for (size_t i = 0; i < service.held_count; i++)
            service_answer(&service.held[i], "held");
        client_pump(c);
        for (size_t i = 0; i < c->calls_count; i++)
            assert_true(c->calls[i]->closed || c->lost);
        if (!c->lost)
            is_echo(client_unary(c, "/t/Echo", bytes, 70000), bytes, 70000);
        client_close(other);
        client_close(c);
        finish(server);
        assert_true(n < 100);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_every_size),
        cmocka_unit_test(a_large_message_before_the_settings),
        cmocka_unit_test(messages_in_pieces),
        cmocka_unit_test(refusals_by_headers),
        cmocka_unit_test(headers_too_large),
        cmocka_unit_test(refusals_by_framing),
        cmocka_unit_test(in_02_the_limit_itself),
        cmocka_unit_test(refused_early),
        cmocka_unit_test(failures_carry_text_and_hint),
        cmocka_unit_test(answers_of_every_size),
        cmocka_unit_test(deadline_passes_while_held),
        cmocka_unit_test(answered_in_time),
        cmocka_unit_test(reset_and_lost_connections_are_told),
        cmocka_unit_test(streams_of_messages),
        cmocka_unit_test(calls_beside_each_other),
        cmocka_unit_test(draining),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
