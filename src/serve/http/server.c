/* See server.h. Everything of one socket (`struct door`) belongs to its thread; counters are atomic. */
#include "serve/http/server.h"

#include "base/mem.h"
#include "base/signals.h"
#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION_BYTES 16384
#define BEYOND           16 /* connections that are being closed while others come */

struct peer {
    struct peer *before, *after; /* those who asked longest ago come first */
    int socket;
    bool listed;
};

struct door {
    struct http_server *server;
    struct MHD_Daemon *daemon;
    struct peer *first, *last;
    uint32_t count;
};

struct http_server {
    struct http_options options;
    struct listener *listener;
    struct door doors[LISTENER_SOCKETS];
    atomic_uint_least64_t connections, requests, closed_for_others;
};

/* ---- peers ---- */

static void unlist(struct door *door, struct peer *peer)
{
    if (!peer->listed)
        return;
    *(peer->before != NULL ? &peer->before->after : &door->first) = peer->after;
    *(peer->after != NULL ? &peer->after->before : &door->last) = peer->before;
    peer->before = peer->after = NULL;
    peer->listed = false;
    door->count--;
}

static void list_last(struct door *door, struct peer *peer)
{
    peer->before = door->last;
    peer->after = NULL;
    *(door->last != NULL ? &door->last->after : &door->first) = peer;
    door->last = peer;
    peer->listed = true;
    door->count++;
}

static void came(struct door *door, struct MHD_Connection *connection, void **socket_context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct peer *peer = mem_alloc_zero(1, sizeof *peer);
    atomic_fetch_add(&door->server->connections, 1);
    *socket_context = peer;
    if (peer == NULL || info == NULL)
        return; /* it is not listed, and only its time limit ends it */
    peer->socket = info->connect_fd;
    if (door->count >= door->server->options.max_connections) {
        struct peer *oldest = door->first;
        unlist(door, oldest);
        shutdown(oldest->socket, SHUT_RDWR); /* libmicrohttpd sees its end and closes it */
        atomic_fetch_add(&door->server->closed_for_others, 1);
    }
    list_last(door, peer);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct door *door = context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        came(door, connection, socket_context);
        return;
    }
    struct peer *peer = *socket_context;
    atomic_fetch_sub(&door->server->connections, 1);
    if (peer != NULL)
        unlist(door, peer);
    mem_free(peer);
    *socket_context = NULL;
}

static void asked(struct door *door, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct peer *peer = info != NULL ? info->socket_context : NULL;
    atomic_fetch_add(&door->server->requests, 1);
    if (peer == NULL || !peer->listed)
        return;
    unlist(door, peer);
    list_last(door, peer);
}

/* ---- answers ---- */

static void free_body(void *body)
{
    mem_free(body);
}

static void header(struct MHD_Response *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value); /* short of memory: the answer goes without it */
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct http_reply *reply)
{
    struct MHD_Response *response =
        reply->body != NULL
            ? MHD_create_response_from_buffer_with_free_callback(reply->size, reply->body, free_body)
            : MHD_create_response_from_buffer(reply->size, (void *)(uintptr_t)reply->fixed,
                                              MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        mem_free(reply->body);
        return MHD_NO; /* the connection is closed */
    }
    header(response, "Content-Type", reply->type);
    header(response, "Cache-Control", "no-store");
    header(response, "X-Content-Type-Options", "nosniff");
    if (reply->anyone)
        header(response, "Access-Control-Allow-Origin", "*");
    if (reply->page)
        header(
            response, "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (reply->code == MHD_HTTP_METHOD_NOT_ALLOWED)
        header(response, "Allow", "GET, HEAD");
    enum MHD_Result queued = MHD_queue_response(connection, reply->code, response);
    MHD_destroy_response(response);
    return queued;
}

static void plain(struct http_reply *reply, unsigned code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void plain(struct http_reply *reply, unsigned code, const char *format, ...)
{
    static const char none[] = "out of memory\n";
    enum { ROOM = 1024 };
    *reply = (struct http_reply){.code = code, .type = "text/plain; charset=utf-8"};
    reply->body = mem_alloc(ROOM, 1);
    if (reply->body == NULL) {
        reply->fixed = none;
        reply->size = sizeof none - 1;
        return;
    }
    va_list list;
    va_start(list, format);
    int n = vsnprintf(reply->body, ROOM, format, list);
    va_end(list);
    reply->size = n < ROOM ? (size_t)n : ROOM - 1;
}

static void not_found(struct http_reply *reply, const struct http_options *o, const char *path)
{
    char known[512];
    size_t n = 0;
    known[0] = 0;
    for (size_t i = 0; i < o->routes_count && n < sizeof known; i++)
        n += (size_t)snprintf(known + n, sizeof known - n, " %s", o->routes[i].path);
    plain(reply, MHD_HTTP_NOT_FOUND, "there is no \"%.100s\" here; there are%s\n", path, known);
}

static void failed(struct http_reply *reply, const struct status *s)
{
    unsigned code = s->code == STATUS_MEMORY ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_INTERNAL_SERVER_ERROR;
    mem_free(reply->body);
    plain(reply, code, "%s%s%s\n", s->message, s->hint[0] != 0 ? "; " : "", s->hint);
}

static void find_and_handle(struct http_reply *reply, const struct http_options *o,
                            const struct http_request *request)
{
    for (size_t i = 0; i < o->routes_count; i++) {
        if (strcmp(o->routes[i].path, request->path) != 0)
            continue;
        struct status s = o->routes[i].handle(o->context, request, reply);
        if (status_failed(&s))
            failed(reply, &s);
        return;
    }
    not_found(reply, o, request->path);
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length != NULL && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) !=
               NULL;
}

/* Called when the header has come, and again at the request's end. An answer to the first call closes the
 * connection after it, without reading on: right for those who send what nobody wants. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request_context)
{
    struct door *door = context;
    (void)version;
    (void)upload;
    (void)upload_size;
    struct http_reply reply = {.code = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    struct http_request request = {url, connection};
    bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    if (*request_context == NULL && get && !has_body(connection)) {
        *request_context = door;
        return MHD_YES;
    }
    asked(door, connection);
    if (get)
        find_and_handle(&reply, &door->server->options, &request);
    else
        plain(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "%.20s is not done here; there is only GET and HEAD\n",
              method);
    return send_reply(connection, &reply);
}

bool http_asked(const struct http_request *request, const char *name)
{
    const char *value;
    size_t size;
    return MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
                                         &value, &size) == MHD_YES;
}

/* ---- start and stop ---- */

static void on_log(void *context, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
static void on_log(void *context, const char *format, va_list list)
{
    struct http_server *server = context;
    char text[256] = "http: ";
    if (server->options.log == NULL)
        return;
    vsnprintf(text + 6, sizeof text - 6, format, list);
    text[strcspn(text, "\r\n")] = 0;
    server->options.log(server->options.log_context, 3, text);
}

static struct status open_door(struct http_server *server, struct door *door, int listening)
{
    const struct http_options *o = &server->options;
    door->server = server;
    int socket = dup(listening); /* libmicrohttpd closes the one it has */
    if (socket < 0)
        return status_error(STATUS_IO, "cannot duplicate a socket: %s", strerror(errno));
    door->daemon = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, door,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, server, MHD_OPTION_LISTEN_SOCKET, socket,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(o->max_connections + BEYOND),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)o->idle_seconds, MHD_OPTION_NOTIFY_CONNECTION, on_connection, door,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (door->daemon != NULL)
        return status_ok();
    close(socket);
    return status_hint(
        status_error(STATUS_IO, "cannot start the HTTP server on %.100s", server->listener->address),
        "the log at level debug says why");
}

struct status http_start(struct http_server **out, const struct http_options *options,
                         struct listener *listener)
{
    struct http_server *server = mem_alloc_zero(1, sizeof *server);
    *out = NULL;
    if (server == NULL) {
        listen_close(listener);
        return mem_failed("HTTP server", 1, sizeof *server);
    }
    server->options = *options;
    server->listener = listener;
    if (server->options.max_connections == 0)
        server->options.max_connections = 128;
    if (server->options.idle_seconds == 0)
        server->options.idle_seconds = 15;
    struct status s = status_ok();
    sigset_t all, before;
    signals_not_for_threads(&all); /* its threads take no signals */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i < listener->sockets_count && !status_failed(&s); i++)
        s = open_door(server, &server->doors[i], listener->sockets[i]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status_failed(&s)) {
        http_stop(server);
        return s;
    }
    *out = server;
    return s;
}

void http_stop(struct http_server *server)
{
    if (server == NULL)
        return;
    for (size_t i = 0; i < LISTENER_SOCKETS; i++)
        if (server->doors[i].daemon != NULL)
            MHD_stop_daemon(server->doors[i].daemon);
    listen_close(server->listener);
    mem_free(server);
}

void http_look(struct http_server *server, struct http_view *out)
{
    out->connections = atomic_load(&server->connections);
    out->requests = atomic_load(&server->requests);
    out->closed_for_others = atomic_load(&server->closed_for_others);
}
