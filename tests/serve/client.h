/* A gRPC client for tests, over nghttp2: many calls at once on one connection, everything stepped by hand.
 * With a server made by server_make() both run in one thread, so tests are exact; with a server of its own
 * thread, client_wait() polls. */
#ifndef CUZK_TESTS_SERVE_CLIENT_H
#define CUZK_TESTS_SERVE_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/grpc/internal.h"

#define CALLS_MAX 1200

struct call_options {
    const char *method, *media, *te, *timeout; /* NULL: as they should be, timeout: none; "": left out */
    const char *extra;                         /* value of a header x-extra */
    bool raw;                                  /* the body is sent as it is, without a prefix */
    bool open;                                 /* the client does not end its side */
    size_t let;                                /* bytes of the body that may go at first; 0: all */
    size_t chunk;                              /* bytes of a DATA frame; 0: as many as fit */
};

struct client_call {
    int32_t stream;
    uint8_t *body;
    size_t body_size, body_sent, let, chunk;
    bool open;
    int status;      /* HTTP; 0: none yet */
    int code;        /* gRPC; -1: none yet */
    char text[3000]; /* grpc-message as sent */
    long retry_ms;   /* -1: none */
    bool closed;
    uint32_t error; /* of RST_STREAM */
    uint8_t *answer;
    size_t answer_size;
};

struct client {
    int fd;
    struct grpc_server *server; /* stepped along, NULL if it has a thread */
    nghttp2_session *session;
    struct client_call *calls[CALLS_MAX];
    size_t calls_count;
    bool lost, deaf, goaway; /* deaf: the server takes no more, but may have said something */
    size_t pings;
    uint8_t pending[65536 + 16384];
    size_t pending_size, pending_sent;
};

struct client *client_new(struct grpc_server *server, int fd);
struct client *client_open(struct grpc_server *server); /* over a socket pair */
void client_close(struct client *c);
struct client_call *client_call(struct client *c, const char *path, const void *message, size_t size,
                                const struct call_options *options);
/* Lets more of the body go (and its end, if everything has gone and !open). */
void client_let(struct client *c, struct client_call *call, size_t more);
void client_end(struct client *c, struct client_call *call);
void client_reset(struct client *c, struct client_call *call);
void client_pump(struct client *c); /* until nothing moves any more */
void client_step(struct client *c); /* once, without the server */
void client_wait(struct client *c,
                 struct client_call *call); /* a server with a thread: until the call is closed */
/* Calls and waits; the call is closed after it. */
struct client_call *client_unary(struct client *c, const char *path, const void *message, size_t size);
/* The i-th message of the answer; NULL if there is none. */
const uint8_t *client_answer(const struct client_call *call, size_t i, size_t *size);

/* A clock that tests move. */
extern uint64_t fake_now;
uint64_t fake_clock(void);
void turn(struct grpc_server *server); /* until it has nothing to do */
/* Asks the server to stop and turns it to its end. */
void finish(struct grpc_server *server);

static inline void ok(struct status s)
{
    if (status_failed(&s))
        fail_msg("%s: %s / %s / %s", status_code_name(s.code), s.message, s.detail, s.hint);
}

#endif
