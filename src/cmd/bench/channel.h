/* A gRPC client for unary calls: one HTTP/2 connection with prior knowledge over TCP or a UNIX socket, many
 * calls at once, no threads. Calls start with channel_start and end by callback from channel_poll, which is
 * the whole event loop. Small on purpose: identity encoding only, no reconnecting, no TLS, since the daemon
 * speaks neither. A connection that is lost ends every open call with GRPC_UNAVAILABLE and the reason. */
#ifndef CUZK_CMD_BENCH_CHANNEL_H
#define CUZK_CMD_BENCH_CHANNEL_H

#include "base/status.h"
#include "serve/grpc/wire.h"

#include <stdint.h>
#include <sys/types.h>

struct call_result {
    uint32_t code; /* enum grpc_code, or a number that we do not know */
    char message[512];
    const uint8_t *data; /* the response message, valid during the callback; only if code is GRPC_OK */
    size_t size;
};
typedef void call_done(void *context, const struct call_result *result);

/* A request message in two parts, sent one after the other without being copied together: `head` is small and
 * copied at once, `body` is borrowed until the call has ended. */
struct call_request {
    const char *path; /* "/cuzk.v1.ProvingEngine/Prove"; a literal */
    const uint8_t *head, *body;
    size_t head_size, body_size;
    uint64_t timeout_ms; /* 0: none */
};
#define CALL_HEAD_MAX 512

struct channel;
/* address: unix:PATH, unix:///PATH, HOST:PORT, dns:///HOST:PORT or http://HOST:PORT. STATUS_MISSING if nobody
 * listens there, STATUS_INVALID if it is no address. */
MUST_USE struct status channel_open(struct channel **out, const char *address, uint64_t timeout_ms);
void channel_close(struct channel *channel); /* open calls get no callback; NULL allowed */
/* The daemon at the other end, if it is on this machine behind a UNIX socket; else 0. */
pid_t channel_peer(const struct channel *channel);
MUST_USE struct status channel_start(struct channel *channel, const struct call_request *request,
                                     call_done *done, void *context);
/* Sends and receives what can be, waiting for at most timeout_ms; calls back for what has ended. False when
 * the connection is lost (all its calls have been told). */
bool channel_poll(struct channel *channel, uint64_t timeout_ms);

/* One call from start to end. `response` is filled; its data is a copy to be freed (mem_free). */
struct call_reply {
    uint32_t code;
    char message[512];
    uint8_t *data;
    size_t size;
};
MUST_USE struct status channel_call(struct channel *channel, const char *path, const uint8_t *message,
                                    size_t size, uint64_t timeout_ms, struct call_reply *reply);

#endif
