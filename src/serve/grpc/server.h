/* A gRPC server over HTTP/2 with prior knowledge, written for few large requests beside many small ones.
 *
 * One thread runs everything: an epoll loop moves bytes, nghttp2 turns them into streams, and this room
 * turns streams into calls. Handlers run in that thread and must not block; they may answer from any thread.
 *
 * Memory is reserved before it is used. A message of at most `small_message` bytes is buffered as it comes.
 * Of a larger one only the first few KiB (the initial window of its stream) are let in; then its bytes are
 * asked of the ledger, and only when they are granted does the window open, and the body goes straight into
 * a buffer of its size. A stream that waits or stalls holds up no other: the connection's window is
 * topped up as bytes arrive, whatever becomes of the stream they belong to. */
#ifndef CUZK_SERVE_GRPC_SERVER_H
#define CUZK_SERVE_GRPC_SERVER_H

#include "base/ledger.h"
#include "serve/grpc/listen.h"
#include "serve/grpc/wire.h"

struct grpc_server;
struct grpc_call;

/* ---- messages ---- */

#define GRPC_PADDING 64 /* zero bytes that follow every message's data */

struct grpc_message {
    uint8_t *data;
    size_t size;
    struct lease lease; /* bytes 0: the message was small */
};
void grpc_message_end(struct grpc_message *message); /* any thread; NULL allowed */

/* ---- methods ---- */

/* Runs in the server's thread. The handler owns the call until it gives it back with grpc_end(), grpc_fail()
 * or grpc_answer(), once, from any thread, even when the caller has gone. `message` is given: the handler
 * ends it. A method that streams is called for each message, and with NULL when the client has sent its last;
 * it owns the call from the first of these on. */
typedef void grpc_handler(void *context, struct grpc_call *call, struct grpc_message *message);

struct grpc_method {
    const char *path; /* "/package.Service/Method" */
    grpc_handler *handle;
    bool streams;  /* the client may send any number of messages, small ones */
    uint64_t most; /* bytes of a message; 0: as the server's limit */
    /* The turn in the ledger of a large message, from its first bytes (NULL: normal). */
    enum priority (*priority)(const uint8_t *head, size_t head_size, uint64_t message_size);
};

/* ---- calls ---- */

/* To be told, in the server's thread: `gone` at most once, when nobody waits for the answer any more
 * (reset, connection lost, deadline passed); `done` exactly once, when the call is over and has
 * been given back: nothing touches `context` after that. Only from within the handler. */
void grpc_call_watch(struct grpc_call *call, void (*gone)(void *context), void (*done)(void *context),
                     void *context);
/* Until the caller's deadline when the call began, at least 1; 0: none. */
uint64_t grpc_call_timeout_ms(const struct grpc_call *call);
/* "unix pid 123" or "127.0.0.1:4567". Only from within the handler. */
const char *grpc_call_peer(const struct grpc_call *call);

/* One more message of the answer; copied. Any thread that owns the call. */
void grpc_send(struct grpc_call *call, const void *message, size_t size);
/* The end of the answer; gives the call back. text: copied, may be NULL. retry_ms: 0, or when to
 * try again (trailer grpc-retry-pushback-ms). */
void grpc_end(struct grpc_call *call, enum grpc_code code, const char *text, uint64_t retry_ms);
void grpc_fail(struct grpc_call *call, enum grpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The whole answer of a unary call. */
void grpc_answer(struct grpc_call *call, const void *message, size_t size);

/* ---- the server ---- */

struct grpc_options {
    const struct grpc_method *methods; /* borrowed until the end */
    size_t methods_count;
    void *context;         /* for the handlers */
    struct ledger *ledger; /* NULL: large messages are not reserved */
    /* 0 stands for the value in brackets. */
    uint64_t max_message;       /* [256 MiB] */
    uint64_t small_message;     /* [64 KiB] */
    uint64_t max_loose;         /* bytes of messages without a lease, all connections [48 MiB] */
    uint32_t max_connections;   /* [4096] beyond it the longest idle one makes room */
    uint32_t max_streams;       /* of a connection [256] */
    uint32_t max_header_bytes;  /* [16 KiB] */
    uint32_t headers_ms;        /* for a preface, and for one block of headers [10 s] */
    uint32_t stall_ms;          /* a body or an answer without progress [60 s] */
    uint32_t keepalive_ms;      /* silence before a PING [60 s] */
    uint32_t keepalive_wait_ms; /* for its answer [20 s] */
    uint32_t tick_ms;           /* how often tick() is called in the server's thread; 0: never */
    void (*tick)(void *context);
    /* One line; never blocks. level: 0 error, 1 warning, 2 info, 3 debug. */
    void (*log)(void *context, int level, const char *text);
    void *log_context;
};

/* Starts the thread. Takes the listeners, also on error. */
MUST_USE struct status grpc_server_start(struct grpc_server **out, const struct grpc_options *options,
                                         struct listener *const *listeners, size_t listeners_count);
/* No new connections; GOAWAY; calls that run have `grace_ms` to end, then they are told UNAVAILABLE and
 * gone(). Returns when every call has been given back and the thread has ended. NULL allowed. */
void grpc_server_stop(struct grpc_server *server, uint64_t grace_ms);

struct grpc_view {
    uint64_t connections, calls, uploads_waiting, loose_bytes; /* now */
    uint64_t accepted, evicted, calls_begun, bytes_received;   /* since the start */
    uint64_t ended[GRPC_CODES];                                /* calls by code */
};
void grpc_server_look(struct grpc_server *server, struct grpc_view *out); /* any thread */

#endif
