/* HTTP for looking at a daemon: GET and HEAD of a fixed table of paths. Parsing and connections are
 * libmicrohttpd's; this adds one thread per listening socket, plain answers for whatever is asked wrongly,
 * and a bound on connections that slow or silent peers cannot use up: when all are taken, the one that has
 * gone longest without a request is closed for the newcomer. Knows nothing of proofs.
 *
 * Memory: at most 16 KiB and one body per connection. */
#ifndef CUZK_SERVE_HTTP_SERVER_H
#define CUZK_SERVE_HTTP_SERVER_H

#include "serve/grpc/listen.h"

struct http_request {
    const char *path;
    void *connection; /* for http_asked() */
};
/* Whether the query names it: "?verbose", "?verbose=1". */
bool http_asked(const struct http_request *request, const char *name);

struct http_reply {
    unsigned code;    /* 200 unless changed */
    const char *type; /* static text; "text/plain; charset=utf-8" unless changed */
    char *body;       /* given: mem_alloc. NULL: see `fixed` */
    const void *fixed;
    size_t size;
    bool anyone; /* pages of other origins may read it */
    bool page;   /* a page of our own: its inline style and script run, and it reads from here */
};
/* Any thread of the server's; blocks for microseconds. An error becomes a 500 with its text. */
typedef struct status http_handler(void *context, const struct http_request *request,
                                   struct http_reply *reply);

struct http_route {
    const char *path;
    http_handler *handle;
};

struct http_options {
    const struct http_route *routes;
    size_t routes_count;
    void *context;
    uint32_t max_connections; /* for each socket; 0: 128 */
    uint32_t idle_seconds;    /* 0: 15 */
    void (*log)(void *context, int level, const char *text);
    void *log_context;
};

struct http_server;
/* From the return on requests are answered. The listener is taken, also on error. */
MUST_USE struct status http_start(struct http_server **out, const struct http_options *options,
                                  struct listener *listener);
/* No handler runs or comes any more. NULL allowed. */
void http_stop(struct http_server *server);

struct http_view {
    uint64_t connections, requests, closed_for_others;
};
void http_look(struct http_server *server, struct http_view *out);

#endif
