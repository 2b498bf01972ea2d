/* The HTTP server alone: what is asked wrongly is answered plainly, and peers that are slow, silent or many
 * cost only themselves. */
#include "client.h"

#include "base/mem.h"
#include "http_support.h"
#include "serve/http/server.h"
#include "serve/http/text.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LARGE (8 << 20) /* more than sockets hold */

static char answer[1 << 16];
static atomic_int asked;

static struct status small(void *context, const struct http_request *request, struct http_reply *reply)
{
    atomic_fetch_add(&asked, 1);
    reply->fixed = http_asked(request, "verbose") ? "long\n" : context;
    reply->size = strlen(reply->fixed);
    return status_ok();
}

static struct status large(void *context, const struct http_request *request, struct http_reply *reply)
{
    (void)context;
    (void)request;
    reply->body = mem_alloc(LARGE, 1);
    assert_non_null(reply->body);
    memset(reply->body, 'x', LARGE);
    reply->size = LARGE;
    return status_ok();
}

static struct status broken(void *context, const struct http_request *request, struct http_reply *reply)
{
    (void)context;
    (void)request;
    reply->body = mem_alloc(8, 1); /* freed by the server */
    return status_hint(status_error(STATUS_DEVICE, "it is broken"), "mend it");
}

static const struct http_route ROUTES[] = {{"/", small}, {"/large", large}, {"/broken", broken}};

static struct http_server *start(uint16_t *port, uint32_t max_connections)
{
    struct http_server *server;
    struct listener *listener;
    struct http_options options = {.routes = ROUTES,
                                   .routes_count = 3,
                                   .context = (char *)(uintptr_t) "short\n",
                                   .max_connections = max_connections,
                                   .idle_seconds = 600};
    ok(listen_open(&listener, "127.0.0.1:0", NULL));
    *port = listener->port;
    ok(http_start(&server, &options, listener));
    return server;
}

static void test_answers(void **state)
{
    (void)state;
    uint16_t port;
    struct http_server *server = start(&port, 0);
    assert_int_equal(http_ask(port, "GET", "/", answer, sizeof answer), 200);
    assert_string_equal(http_body(answer), "short\n");
    assert_non_null(strstr(answer, "Content-Type: text/plain; charset=utf-8\r\n"));
    assert_non_null(strstr(answer, "Cache-Control: no-store\r\n"));
    assert_int_equal(http_ask(port, "GET", "/?verbose", answer, sizeof answer), 200);
    assert_string_equal(http_body(answer), "long\n");
    assert_int_equal(http_ask(port, "GET", "/?x=1&verbose=1", answer, sizeof answer), 200);
    assert_string_equal(http_body(answer), "long\n");
    assert_int_equal(http_ask(port, "HEAD", "/", answer, sizeof answer), 200);
    assert_string_equal(http_body(answer), "");
    assert_non_null(strstr(answer, "Content-Length: 6\r\n"));
    assert_int_equal(http_ask(port, "GET", "/none", answer, sizeof answer), 404);
    assert_string_equal(http_body(answer), "there is no \"/none\" here; there are / /large /broken\n");
    assert_int_equal(http_ask(port, "GET", "/broken", answer, sizeof answer), 500);
    assert_string_equal(http_body(answer), "it is broken; mend it\n");
    assert_int_equal(http_ask(port, "DELETE", "/", answer, sizeof answer), 405);
    assert_string_equal(http_body(answer), "DELETE is not done here; there is only GET and HEAD\n");
    assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
    struct http_view v;
    http_look(server, &v);
    assert_int_equal(v.requests, 7);
    assert_int_equal(v.closed_for_others, 0);
    http_stop(server);
}

/* Several requests on one connection, some sent before the answer to the one before has come. */
static void test_kept_alive(void **state)
{
    (void)state;
    uint16_t port;
    struct http_server *server = start(&port, 0);
    static const char two[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /?verbose HTTP/1.1\r\nHost: x\r\n\r\n"
                              "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    int fd = http_connect(port);
    http_send(fd, two, sizeof two - 1);
    (void)http_receive(fd, answer, sizeof answer);
    const char *first = strstr(answer, "short\n"), *second = strstr(answer, "long\n");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second && strstr(second, "short\n") != NULL);
    close(fd);
    http_stop(server);
}

static int raw(uint16_t port, const char *text, size_t size)
{
    int fd = http_connect(port);
    http_send(fd, text, size);
    (void)shutdown(fd, SHUT_WR);
    size_t n = http_receive(fd, answer, sizeof answer);
    close(fd);
    return n > 9 && memcmp(answer, "HTTP/1.", 7) == 0 ? atoi(answer + 9) : 0;
}
#define RAW(port, text) raw(port, text, sizeof(text) - 1)

static void ap_10_malformed(void **state)
{
    (void)state;
    uint16_t port;
    struct http_server *server = start(&port, 0);
    static char huge[100000] = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
    memset(huge + strlen(huge), 'a', sizeof huge - strlen(huge));
    atomic_store(&asked, 0);
    assert_int_equal(RAW(port, "GET / HTTP/1.1\r\n\r\n"), 400); /* no Host */
    assert_int_equal(RAW(port, "GET / HTTP/9.1\r\nHost: x\r\n\r\n"), 505);
    assert_int_equal(RAW(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505); /* gRPC on the wrong port */
    int code = raw(port, huge, sizeof huge);
    assert_true(code == 431 || code == 413);
    assert_int_equal(RAW(port, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"), 400);
    /* What is no HTTP at all is answered by closing, at once or when its time is over. */
    static const char *const noise[] = {"garbage\r\n\r\n", "\x16\x03\x01\x02\x01\xfc\x03\x03", "\r\n", ""};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        int fd = http_connect(port);
        http_send(fd, noise[i], strlen(noise[i]));
        close(fd);
    }
    assert_int_equal(atomic_load(&asked), 0);
    /* A body is not read, and not waited for. */
    assert_int_equal(RAW(port, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"), 200);
    assert_int_equal(RAW(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc"), 405);
    assert_int_equal(RAW(port, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n"),
                     405);
    assert_int_equal(http_ask(port, "GET", "/", answer, sizeof answer), 200);
    http_stop(server);
}

/* Every connection is taken by peers that ask for much and read nothing, or that say nothing: a newcomer is
 * answered, at the cost of the one that has been silent longest. */
static void ap_10_slow_and_silent_peers(void **state)
{
    (void)state;
    uint16_t port;
    struct http_server *server = start(&port, 8);
    struct http_view v;
    static const char get[] = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", half[] = "GET / HTTP/1.1\r\nHos";
    int peers[24];
    for (int i = 0; i < 24; i++) {
        peers[i] = http_connect(port);
        if (i % 3 == 0)
            http_send(peers[i], get, sizeof get - 1);
        else if (i % 3 == 1)
            http_send(peers[i], half, sizeof half - 1);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(http_ask(port, "GET", "/", answer, sizeof answer), 200);
    http_look(server, &v);
    assert_true(v.connections <= 8 + 1); /* the last newcomer may not be gone */
    assert_true(v.closed_for_others >= 16);
    /* The first silent one was closed. */
    assert_int_equal(http_receive(peers[2], answer, sizeof answer), 0);
    for (int i = 0; i < 24; i++)
        close(peers[i]);
    do
        http_look(server, &v);
    while (v.connections > 0);
    http_stop(server);
}

/* Stopping does not wait for them either. */
static void test_stop_with_peers(void **state)
{
    (void)state;
    uint16_t port;
    struct http_server *server = start(&port, 8);
    static const char get[] = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
    int slow = http_connect(port), silent = http_connect(port);
    http_send(slow, get, sizeof get - 1);
    assert_int_equal(http_ask(port, "GET", "/", answer, sizeof answer), 200);
    http_stop(server);
    (void)http_receive(silent, answer, sizeof answer); /* its end */
    close(slow);
    close(silent);
}

static void test_unix_socket(void **state)
{
    (void)state;
    struct http_server *server;
    struct listener *listener;
    struct http_options options = {
        .routes = ROUTES, .routes_count = 3, .context = (char *)(uintptr_t) "short\n"};
    char address[64];
    snprintf(address, sizeof address, "unix:///tmp/cuzk-http-%ld.sock", (long)getpid());
    ok(listen_open(&listener, address, NULL));
    ok(http_start(&server, &options, listener));
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", address + 7);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    static const char get[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    http_send(fd, get, sizeof get - 1);
    (void)http_receive(fd, answer, sizeof answer);
    assert_string_equal(http_body(answer), "short\n");
    close(fd);
    http_stop(server);
    assert_int_equal(access(address + 7, F_OK), -1);
}

/* ---- texts ---- */

static void test_json(void **state)
{
    (void)state;
    struct text t;
    text_begin(&t, 8); /* it grows */
    text_open(&t, NULL, '{');
    text_value(&t, "a", "quote \" backslash \\ line\n bell \x07 \xc3\xa9 \xff");
    text_open(&t, "b", '[');
    text_number(&t, NULL, UINT64_MAX);
    text_seconds(&t, NULL, 61005);
    text_null(&t, NULL);
    text_open(&t, NULL, '{');
    text_close(&t, '}');
    text_bool(&t, NULL, false);
    text_close(&t, ']');
    text_bool(&t, "c", true);
    text_close(&t, '}');
    assert_false(t.failed);
    assert_string_equal(t.data, "{\"a\":\"quote \\\" backslash \\\\ line\\u000a bell \\u0007 \xc3\xa9 ?\","
                                "\"b\":[18446744073709551615,61.005,null,{},false],\"c\":true}");
    assert_int_equal(strlen(t.data), t.used);
    mem_free(t.data);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 6; n++) {
        struct text t;
        mem_fail_after(n);
        text_begin(&t, 8);
        for (int i = 0; i < 200; i++)
            text_value(&t, "name", "a value");
        mem_fail_after(0);
        assert_true(t.failed);
        mem_free(t.data);
    }
    struct http_server *server;
    struct listener *listener;
    struct http_options options = {.routes = ROUTES, .routes_count = 3};
    ok(listen_open(&listener, "127.0.0.1:0", NULL));
    mem_fail_after(1);
    struct status s = http_start(&server, &options, listener); /* the listener is closed */
    mem_fail_after(0);
    assert_int_equal(s.code, STATUS_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_kept_alive),
        cmocka_unit_test(ap_10_malformed),
        cmocka_unit_test(ap_10_slow_and_silent_peers),
        cmocka_unit_test(test_stop_with_peers),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
