/* Peers that are dead, slow, odd or hostile: each costs its own connection or stream, and nobody else
 * anything. */
#include "service.h"

#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct service service;

/* A peer of raw bytes. */
static int raw_peer(struct grpc_server *server)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    server_adopt(server, fds[1], "a raw peer");
    turn(server);
    return fds[0];
}

static void say(struct grpc_server *server, int fd, const void *bytes, size_t size)
{
    (void)!send(fd, bytes, size, MSG_NOSIGNAL);
    turn(server);
}

/* Whether the server has closed the connection; reads what it said. */
static bool closed(struct grpc_server *server, int fd)
{
    char buffer[4096];
    turn(server);
    for (;;) {
        ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET))
            return true;
        if (n < 0)
            return false;
    }
}

static void works(struct client *c)
{
    struct client_call *call = client_unary(c, "/t/Echo", "hello", 5);
    assert_int_equal(call->code, GRPC_OK);
}

#define PREFACE     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define BYTES(text) text, sizeof(text) - 1
#define SETTINGS    "\0\0\0\4\0\0\0\0\0"

static void ap_10_keepalive(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *alive = client_open(server), *dead = client_open(server);
    (void)client_call(dead, "/t/Hold", "x", 1, NULL);
    client_pump(dead);
    for (int i = 0; i < 60; i++) { /* an hour of silence */
        fake_now += 60000;
        client_pump(alive);
        if (i > 1)
            assert_true(atomic_load(&server->connections_now) == 1);
    }
    assert_true(alive->pings >= 50);
    assert_false(alive->lost);
    works(alive);
    assert_int_equal(service.held[0].gone, 1);
    service_answer(&service.held[0], "");
    client_close(dead);
    client_close(alive);
    finish(server);
}

/* PINGs of the client's are answered, however many. */
static void ap_09_pings_are_answered(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(nghttp2_submit_ping(c->session, 0, NULL), 0);
        client_pump(c);
        fake_now += 10;
    }
    assert_false(c->lost);
    works(c);
    client_close(c);
    finish(server);
}

static void peers_that_never_begin(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    int silent = raw_peer(server), slow = raw_peer(server), half = raw_peer(server);
    for (int i = 0; i < 24; i++) {
        say(server, slow, PREFACE + i, 1);
        assert_false(closed(server, slow) || closed(server, silent));
        fake_now += 400;
    }
    say(server, half, PREFACE SETTINGS, 24 + 9);
    /* HEADERS without END_HEADERS, whose rest never comes */
    say(server, half, "\0\0\1\1\0\0\0\0\1\x83", 10);
    fake_now += 500;
    assert_true(closed(server, silent) && closed(server, slow));
    assert_false(closed(server, half));
    fake_now += 10000;
    assert_true(closed(server, half));
    client_pump(c);
    works(c);
    close(silent);
    close(slow);
    close(half);
    client_close(c);
    finish(server);
}

static void ap_10_other_protocols(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {BYTES("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
        {BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")}, /* TLS */
        {BYTES("SSH-2.0-OpenSSH_9.2\r\n and so on")},
        {BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\rX")},
        {BYTES(PREFACE "\0\0\0\0\0\0\0\0\1")},                              /* DATA before SETTINGS */
        {BYTES(PREFACE SETTINGS "\0\0\0\0\0\0\0\0\0")},                     /* DATA on stream 0 */
        {BYTES(PREFACE SETTINGS "\0\0\0\1\5\0\0\0\2")},                     /* HEADERS on an even stream */
        {BYTES(PREFACE SETTINGS "\377\377\377\0\0\0\0\0\1")},               /* a frame of 16 MiB */
        {BYTES(PREFACE SETTINGS "\0\0\5\1\5\0\0\0\1\xff\xff\xff\xff\xff")}, /* no HPACK */
        {BYTES(PREFACE SETTINGS "\0\0\4\x08\0\0\0\0\0\0\0\0\0")},           /* WINDOW_UPDATE of 0 */
        {BYTES(PREFACE SETTINGS "\0\0\1\6\0\0\0\0\0x")},                    /* PING of one byte */
    };
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = raw_peer(server);
        say(server, fd, cases[i].bytes, cases[i].size);
        if (!closed(server, fd))
            fail_msg("case %zu is still connected", i);
        close(fd);
        works(c);
    }
    assert_int_equal(atomic_load(&server->connections_now), 1);
    client_close(c);
    finish(server);
}

static uint64_t random_state;
static uint32_t random32(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

/* Frames of random kind, flags, stream and content. */
static void random_frames(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    random_state = 42;
    print_message("seed %llu\n", (unsigned long long)random_state);
    for (int peer = 0; peer < 500; peer++) {
        int fd = raw_peer(server);
        say(server, fd, PREFACE SETTINGS, 33);
        for (int i = 0; i < 50 && !closed(server, fd); i++) {
            uint8_t frame[9 + 64];
            uint32_t size = random32() % 64;
            for (size_t k = 0; k < sizeof frame; k++)
                frame[k] = (uint8_t)random32();
            memcpy(frame, (uint8_t[]){0, 0, (uint8_t)size, (uint8_t)(random32() % 11)}, 4);
            memset(frame + 5, 0, 3);
            frame[8] = (uint8_t)(random32() % 8);
            if (frame[3] == 1 && size >= 4) /* headers that can be read: all of the static table */
                for (uint32_t k = 0; k < size; k++)
                    frame[9 + k] = (uint8_t)(0x80 | (1 + random32() % 61));
            say(server, fd, frame, 9 + size);
        }
        close(fd);
        turn(server);
    }
    works(c);
    assert_int_equal(atomic_load(&server->connections_now), 1);
    assert_int_equal(atomic_load(&server->loose_now), 0);
    client_close(c);
    finish(server);
}

/* Streams opened and reset as fast as a peer can: it is cut off, others are served. */
static void rapid_resets(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server), *hostile = client_open(server);
    int resets = 0;
    for (; resets < 1100 && !hostile->lost; resets++) {
        struct client_call *call =
            client_call(hostile, "/t/Echo", "x", 1, &(struct call_options){.open = true});
        client_step(hostile);
        client_reset(hostile, call);
        client_step(hostile);
        turn(server);
        works(c);
        if (c->calls_count > 1000)
            break;
    }
    client_pump(hostile);
    assert_int_equal(service.held_count, 0);
    assert_true(atomic_load(&server->calls_now) == 0);
    works(c);
    client_close(hostile);
    client_close(c);
    finish(server);
}

/* An answer that is not read holds a buffer for a while, not for ever. */
static void answers_not_read(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server), *slow = client_open(server), *shut = client_open(server);
    uint32_t size = 5 << 20;
    (void)client_call(slow, "/t/Flood", &size, 4, NULL);
    client_step(slow);
    turn(server); /* the socket is full now */
    /* Another does read its socket but opens no window. */
    nghttp2_settings_entry none = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
    assert_int_equal(nghttp2_submit_settings(shut->session, 0, &none, 1), 0);
    client_pump(shut);
    struct client_call *call = client_call(shut, "/t/Flood", &size, 4, NULL);
    client_pump(shut);
    assert_int_equal(atomic_load(&server->connections_now), 3);
    fake_now += 59000;
    client_pump(shut);
    client_pump(c);
    assert_int_equal(atomic_load(&server->connections_now), 3);
    assert_false(call->closed);
    fake_now += 1500;
    client_pump(shut);
    client_pump(c);
    assert_int_equal(atomic_load(&server->connections_now), 2); /* the slow one is gone */
    assert_true(call->closed);
    assert_int_equal(call->error, NGHTTP2_CANCEL);
    assert_false(shut->lost);
    works(c);
    client_close(slow);
    client_close(shut);
    client_close(c);
    finish(server);
}

/* Questions without end whose answers are not read. */
static void endless_questions(void **state)
{
    (void)state;
    struct grpc_server *server = service_server(&service, NULL);
    struct client *c = client_open(server);
    nghttp2_settings_entry none = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
    assert_int_equal(nghttp2_submit_settings(c->session, 0, &none, 1), 0);
    client_pump(c);
    size_t size = 20 << 20, each = 5 + 60000;
    uint8_t *bytes = calloc(1, size);
    assert_non_null(bytes);
    for (size_t i = 0; i + each <= size; i += each)
        memcpy(bytes + i, (uint8_t[]){0, 0, 0, 60000 >> 8, 60000 & 255}, 5);
    size_t before = mem_used();
    struct client_call *call = client_call(c, "/t/Stream", bytes, size, &(struct call_options){.raw = true});
    client_pump(c);
    assert_true(mem_used() - before < 6 << 20);
    assert_true(call->body_sent < 10 << 20);
    free(bytes);
    client_close(c);
    assert_int_equal(atomic_load(&server->codes[GRPC_RESOURCE_EXHAUSTED]), 1);
    finish(server);
}

static void ap_10_a_thousand_connections(void **state)
{
    (void)state;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int count = limit.rlim_cur > 2200 ? 1000 : (int)limit.rlim_cur / 2 - 50;
    struct grpc_server *server = service_server(&service, NULL);
    struct client **c = calloc((size_t)count, sizeof *c);
    assert_non_null(c);
    for (int i = 0; i < count; i++) {
        c[i] = client_open(server);
        works(c[i]);
    }
    assert_int_equal(atomic_load(&server->connections_now), count);
    for (int i = 0; i < count; i += 100)
        works(c[i]);
    for (int i = 0; i < count; i++)
        client_close(c[i]);
    assert_int_equal(atomic_load(&server->connections_now), 0);
    free(c);
    finish(server);
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* At the limit the longest idle connection makes room; one with a call does not. */
static void the_idle_make_room(void **state)
{
    (void)state;
    struct grpc_options o = {.max_connections = 3};
    struct grpc_server *server = service_server(&service, &o);
    struct client *busy = client_open(server);
    (void)client_call(busy, "/t/Hold", "x", 1, NULL);
    client_pump(busy);
    fake_now += 1000;
    struct client *oldest = client_open(server);
    fake_now += 1000;
    struct client *older = client_open(server);
    fake_now += 1000;
    struct client *fresh = client_open(server);
    works(fresh);
    client_pump(oldest);
    client_pump(older);
    client_pump(busy);
    assert_true(oldest->lost && oldest->goaway);
    assert_false(older->lost || busy->lost);
    assert_int_equal(atomic_load(&server->evicted), 1);
    works(older);
    /* Nobody idle: the newcomer is turned away. */
    (void)client_call(older, "/t/Hold", "x", 1, NULL);
    (void)client_call(fresh, "/t/Hold", "x", 1, NULL);
    client_pump(older);
    client_pump(fresh);
    struct client *late = client_open(server);
    assert_true(late->lost);
    for (size_t i = 0; i < 3; i++)
        service_answer(&service.held[i], "");
    client_pump(busy);
    client_pump(older);
    client_pump(fresh);
    struct client *all[] = {busy, oldest, older, fresh, late};
    for (size_t i = 0; i < 5; i++)
        client_close(all[i]);
    finish(server);
}

/* With no descriptor left, those who are connected are served, idle ones give way, and new ones get in
 * as soon as there is one again. */
static void ap_10_no_descriptors_left(void **state)
{
    (void)state;
    struct grpc_options o = {
        .methods = test_methods, .methods_count = test_methods_count, .context = &service};
    struct listener *listener;
    struct grpc_server *server;
    char address[64];
    snprintf(address, sizeof address, "unix:/tmp/cuzk-peers-%ld.sock", (long)getpid());
    memset(&service, 0, sizeof service);
    ok(listen_open(&listener, address, NULL));
    char path[80];
    snprintf(path, sizeof path, "%s", address + 5);
    ok(server_make(&server, &o, &listener, 1));
    server->clock = fake_clock;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    struct client *c[8];
    for (int i = 0; i < 8; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
        c[i] = client_new(server, fd);
        if (i >= 4)
            continue; /* these wait at the door */
        client_pump(c[i]);
        works(c[i]);
        fake_now += 1000;
        if (i != 1) {
            (void)client_call(c[i], "/t/Hold", "x", 1, NULL);
            client_pump(c[i]);
        }
    }
    struct rlimit limit, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = (rlim_t)server->reserve + 1; /* no number below is free */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    turn(server);
    assert_true(server->doors_shut);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    client_pump(c[1]);
    assert_true(c[1]->lost); /* it was idle */
    service_answer(&service.held[0], "still here");
    client_pump(c[0]);
    assert_int_equal(c[0]->calls[1]->code, GRPC_OK);
    int lost = 0;
    for (int i = 0; i < 5; i++) { /* the doors open again after a moment */
        fake_now += 200;
        turn(server);
    }
    for (int i = 4; i < 8; i++) {
        client_pump(c[i]);
        lost += c[i]->lost;
        if (!c[i]->lost)
            works(c[i]);
    }
    assert_int_equal(lost, 1); /* the one that was taken by the reserved descriptor */
    service_answer(&service.held[1], "");
    service_answer(&service.held[2], "");
    turn(server);
    for (int i = 0; i < 8; i++)
        client_close(c[i]);
    assert_int_equal(access(path, F_OK), 0);
    finish(server);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ap_10_keepalive),
        cmocka_unit_test(ap_09_pings_are_answered),
        cmocka_unit_test(peers_that_never_begin),
        cmocka_unit_test(ap_10_other_protocols),
        cmocka_unit_test(random_frames),
        cmocka_unit_test(rapid_resets),
        cmocka_unit_test(answers_not_read),
        cmocka_unit_test(endless_questions),
        cmocka_unit_test(ap_10_a_thousand_connections),
        cmocka_unit_test(the_idle_make_room),
        cmocka_unit_test(ap_10_no_descriptors_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
