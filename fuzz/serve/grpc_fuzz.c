/* The server's framing as a hostile peer sees it: bytes after the preface, cut into several reads, with time
 * that passes and a ledger that is nearly full. A second, well-behaved connection is not needed for the
 * check: after every input nothing may be left, neither memory nor lease nor connection.
 *
 * Input: a byte that says how far time goes between the reads, then pieces, each with a byte for its length.
 */
#include "base/mem.h"
#include "serve/grpc/internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t now = 1000;
static uint64_t fuzz_clock(void)
{
    return now;
}

#define HELD_MAX 64
static struct grpc_call *held[HELD_MAX];
static size_t held_count;

static bool take_back(const struct grpc_call *call)
{
    for (size_t i = 0; i < held_count; i++)
        if (held[i] == call) {
            held[i] = held[--held_count];
            return true;
        }
    return false;
}

static void gone(void *context)
{
    if (take_back(context))
        grpc_end(context, GRPC_CANCELLED, NULL, 0);
}

static void echo(void *context, struct grpc_call *call, struct grpc_message *m)
{
    (void)context;
    grpc_answer(call, m->data, m->size + (m->size != 0 ? GRPC_PADDING : 0));
    grpc_message_end(m);
}

static void hold(void *context, struct grpc_call *call, struct grpc_message *m)
{
    (void)context;
    grpc_message_end(m);
    if (held_count == HELD_MAX) {
        grpc_fail(call, GRPC_RESOURCE_EXHAUSTED, "%zu held", held_count);
        return;
    }
    held[held_count++] = call;
    grpc_call_watch(call, gone, NULL, call);
}

static void stream(void *context, struct grpc_call *call, struct grpc_message *m)
{
    (void)context;
    if (m == NULL) { /* a stream may end without any message: then it was never held */
        (void)take_back(call);
        grpc_end(call, GRPC_OK, NULL, 0);
        return;
    }
    bool first = true;
    for (size_t i = 0; i < held_count; i++)
        first = first && held[i] != call;
    if (first && held_count < HELD_MAX) {
        held[held_count++] = call;
        grpc_call_watch(call, gone, NULL, call);
    } else if (first) {
        grpc_end(call, GRPC_RESOURCE_EXHAUSTED, NULL, 1);
        grpc_message_end(m);
        return;
    }
    grpc_send(call, m->data, m->size);
    grpc_message_end(m);
}

static enum priority priority(const uint8_t *head, size_t head_size, uint64_t message_size)
{
    return head_size <= message_size && head[head_size - 1] & 1 ? PRIORITY_HIGH : PRIORITY_LOW;
}

static const struct grpc_method methods[] = {
    {.path = "/e", .handle = echo, .priority = priority},
    {.path = "/h", .handle = hold, .priority = priority},
    {.path = "/s", .handle = stream, .streams = true},
};

static void turn(struct grpc_server *server)
{
    for (int i = 0; i < 4; i++)
        (void)server_turn(server, 0);
}

static void drink(int fd)
{
    uint8_t buffer[65536];
    while (recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) > 0)
        ;
}

static void speak(struct grpc_server *server, int fd, const uint8_t *data, size_t size)
{
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    uint64_t step = size != 0 ? (uint64_t)data[0] * 100 : 0;
    (void)!send(fd, preface, sizeof preface, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (size_t at = 1; at < size;) {
        size_t n = (size_t)data[at++] + 1;
        n = n < size - at ? n : size - at;
        (void)!send(fd, data + at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        at += n;
        turn(server);
        now += step;
        drink(fd);
    }
    turn(server);
    while (held_count > 1) {
        struct grpc_call *call = held[0];
        held[0] = held[--held_count];
        grpc_answer(call, "held", 4);
    }
    turn(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t limits[LEDGER_CLASSES] = {200000, 0, 0};
    struct ledger *ledger;
    struct grpc_server *server;
    int fds[2];
    struct grpc_options o = {.methods = methods,
                             .methods_count = sizeof methods / sizeof *methods,
                             .max_message = 1 << 20,
                             .small_message = 16384,
                             .max_loose = 100000,
                             .max_streams = 20};
    struct status s = ledger_make(&ledger, limits);
    CHECK(!status_failed(&s));
    o.ledger = ledger;
    s = server_make(&server, &o, NULL, 0);
    CHECK(!status_failed(&s));
    server->clock = fuzz_clock;
    server->now_ms = now;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    server_adopt(server, fds[1], "fuzz");
    speak(server, fds[0], data, size);
    close(fds[0]);
    turn(server);
    CHECK(atomic_load(&server->connections_now) == 0 && atomic_load(&server->calls_now) == 0);
    CHECK(atomic_load(&server->loose_now) == 0 && atomic_load(&server->uploads_now) == 0);
    server_ask_stop(server, 0);
    while (server_turn(server, 0))
        now += 100;
    CHECK(held_count == 0);
    server_free(server);
    ledger_end(ledger);
    CHECK(mem_used() == 0);
    return 0;
}
