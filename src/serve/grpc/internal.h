/* The server from inside. Everything here belongs to the server's thread, except what is marked.
 *
 *     server.c      the loop: sockets, posts from other threads, timers, starting and stopping
 *     connection.c  one peer: bytes in and out, the HTTP/2 session, keepalive
 *     input.c       a call's first half: headers, and the message with its reservation
 *     reply.c       its second half: answers, trailers, the end
 *
 * A call lives while its stream is open or a handler owns it, whichever is longer. */
#ifndef CUZK_SERVE_GRPC_INTERNAL_H
#define CUZK_SERVE_GRPC_INTERNAL_H

#include "serve/grpc/server.h"
#include "serve/grpc/timers.h"
#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdatomic.h>

#define FIRST_WINDOW      16384      /* of a stream: what a large message may send before it is granted */
#define BODY_WINDOW       (8 << 20)  /* of a granted one */
#define CONNECTION_WINDOW (64 << 20) /* topped up at once, see server.h */
#define RECEIVE_BYTES     (256 << 10)
#define SEND_BYTES        (64 << 10)
#define HEAD_ENOUGH       2048 /* bytes that tell what a large message is */
#define PREFIX_BYTES      5
#define TEXT_BYTES        1024
#define REPLIES_MAX       (4 << 20) /* bytes that a streaming call may leave unread */

/* Work handed to the server's thread by any other. Embedded in what it is about. */
struct post {
    struct post *next;
    void (*run)(struct grpc_server *server, struct post *post);
};

enum source_kind { SOURCE_WAKE, SOURCE_LISTENER, SOURCE_CONNECTION };
struct source {
    enum source_kind kind;
    int fd;
};

struct connection {
    struct source source;
    struct grpc_server *server;
    struct connection *before, *after;
    struct connection *next_dirty, *next_dead;
    nghttp2_session *session;
    struct grpc_call *calls;
    uint32_t calls_count;
    struct timer timer;
    uint8_t *pending; /* SEND_BYTES, made when the peer reads slower than we write */
    size_t pending_size, pending_sent;
    bool dirty, dead, settings_seen, want_out;
    uint64_t read_ms, output_ms; /* last progress; output only while there is something pending */
    uint64_t opened_ms;
    uint64_t headers_ms; /* since when a block of headers is incomplete; 0: none is */
    uint64_t ping_ms;    /* when an unanswered PING was sent; 0: none was */
    size_t loose;
    char peer[72];
};

/* A reservation that waits in the ledger. It outlives its call if the grant is on its way already. */
struct upload {
    struct post post;
    struct grpc_server *server;
    struct grpc_call *call; /* NULL: gone */
    uint64_t ticket;
    struct lease lease;
};

/* One message of an answer, with its prefix. */
struct reply {
    struct post post;
    struct reply *next;
    struct grpc_call *call;
    size_t size, sent;
    uint8_t data[];
};

enum request_state {
    REQUEST_HEADERS,
    REQUEST_PREFIX,  /* of the next message */
    REQUEST_LOOSE,   /* its bytes are buffered as they come; for a large one, until it is known */
    REQUEST_WAITING, /* for the ledger */
    REQUEST_BODY,    /* into the granted buffer */
    REQUEST_WHOLE,   /* a unary method's message is there; only the end may follow */
    REQUEST_OVER,    /* nothing more is wanted */
};

struct grpc_call {
    struct grpc_server *server;
    struct connection *connection; /* NULL: the stream has closed */
    struct grpc_call *before, *after;
    int32_t stream;
    const struct grpc_method *method;
    struct timer timer;
    uint64_t deadline_ms; /* 0: none */

    /* request */
    enum request_state state;
    bool is_post, has_te, has_media, bad_timeout, input_ended;
    char path[128];
    size_t header_bytes;
    uint8_t prefix[PREFIX_BYTES];
    size_t prefix_size;
    uint64_t message_size;
    uint8_t *head; /* loose bytes */
    size_t head_size, head_capacity, head_unread;
    struct grpc_message *message;
    size_t got;
    struct upload *upload;
    uint64_t body_ms; /* last progress */

    /* reply */
    struct reply *replies, *replies_last;
    size_t replies_bytes;
    bool headers_sent, ended, trailers_made;
    uint64_t reply_ms; /* last progress */
    enum grpc_code code;
    char text[TEXT_BYTES];
    uint64_t retry_ms;

    /* the handler's side */
    bool owned, gone_told;
    atomic_bool given_back; /* grpc_end() has been called, perhaps not yet seen here */
    void (*gone)(void *context);
    void (*done)(void *context);
    void *context;
    /* written by the owner before it gives the call back */
    struct post end;
    enum grpc_code end_code;
    char end_text[TEXT_BYTES];
    uint64_t end_retry_ms;
    struct reply *end_reply; /* sent along with the end */
};

enum server_phase { SERVER_RUNNING, SERVER_LEAVING, SERVER_CUTTING, SERVER_ENDED };

struct grpc_server {
    struct grpc_options options;
    int epoll, reserve;
    struct source wake;
    struct listener **listeners;
    size_t listeners_count;
    struct source *doors; /* listening sockets */
    size_t doors_count;
    struct timers timers;
    size_t timers_needed;
    struct connection *connections, *dirty, *dead;
    uint64_t now_ms;
    uint64_t (*clock)(void); /* tests set their own */
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *session_options;
    uint8_t *receive_buffer, *send_buffer;
    struct timer tick, doors_timer;
    bool doors_shut; /* no descriptor was free; doors_timer opens them again */
    uint64_t complained_ms;
    size_t owned_calls, uploads; /* given to handlers; waiting in the ledger or on their way back */
    enum server_phase phase;
    struct timer phase_timer;
    uint64_t grace_end_ms;
    bool goaway_sent;
    pthread_t thread;

    /* any thread */
    pthread_mutex_t lock;
    struct post *posts, **posts_last;
    bool stop_asked; /* under the lock */
    uint64_t grace_ms;
    atomic_uint_fast64_t connections_now, calls_now, uploads_now, loose_now;
    atomic_uint_fast64_t accepted, evicted, calls_begun, bytes_received;
    atomic_uint_fast64_t codes[GRPC_CODES];
};

/* ---- server.c ---- */
MUST_USE struct status server_make(struct grpc_server **out, const struct grpc_options *options,
                                   struct listener *const *listeners, size_t listeners_count);
/* One turn of the loop, waiting for at most wait_ms. False when the server has ended. */
bool server_turn(struct grpc_server *server, int wait_ms);
void server_ask_stop(struct grpc_server *server, uint64_t grace_ms); /* any thread */
void server_free(struct grpc_server *server);                        /* after its end */
void server_post(struct grpc_server *server, struct post *post);     /* any thread */
void server_log(struct grpc_server *server, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Room in the timers for one thing more, or one less. */
MUST_USE bool server_add_timer(struct grpc_server *server);
void server_drop_timer(struct grpc_server *server, struct timer *timer);
/* A connected socket becomes a connection; closes it when that fails. For tests too. */
void server_adopt(struct grpc_server *server, int fd, const char *peer);

/* ---- connection.c ---- */
MUST_USE bool connection_callbacks(struct grpc_server *server);
struct connection *connection_make(struct grpc_server *server, int fd, const char *peer);
void connection_readable(struct connection *c);
void connection_flush(struct connection *c);
void connection_dirty(struct connection *c); /* has something to send; flushed at the end of the turn */
void connection_kill(struct connection *c);  /* freed at the end of the turn */
void connection_free(struct connection *c);
void connection_timer(struct connection *c);            /* sets its timer by what it waits for */
void connection_leave(struct connection *c, bool last); /* GOAWAY: the notice, or the last word */

/* ---- input.c   ---- */
struct grpc_call *input_begin(struct connection *c, int32_t stream); /* NULL: no memory */
void input_header(struct grpc_call *call, const uint8_t *name, size_t name_size, const uint8_t *value,
                  size_t value_size);
void input_headers_end(struct grpc_call *call);
void input_data(struct grpc_call *call, const uint8_t *data, size_t size);
void input_end(struct grpc_call *call); /* END_STREAM */
/* Frees what has been received and is not a handler's, withdraws from the ledger. */
void input_drop(struct grpc_call *call);
void input_timer(struct grpc_call *call); /* sets the call's timer by what it waits for */

/* ---- reply.c ---- */
/* Ends the call from the server's side: trailers with the code; the handler is told gone(). */
void call_refuse(struct grpc_call *call, enum grpc_code code, uint64_t retry_ms, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void call_refuse_http(struct grpc_call *call, const char *http_status, const char *text);
/* The stream is closed: no more input, no more output. */
void call_closed(struct grpc_call *call);
/* The handler owns the call from now on. */
void call_hand_over(struct grpc_call *call, struct grpc_message *message);
/* HEADERS with END_STREAM have been sent. */
void call_trailers_sent(struct grpc_call *call);

#endif
