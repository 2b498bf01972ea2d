/* One peer: its bytes, its HTTP/2 session, and the watch on whether it is alive. */
#include "serve/grpc/internal.h"

#include "base/mem.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- callbacks of the session ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct connection *c = context;
    if (frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    c->headers_ms = c->server->now_ms;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0; /* trailers of a request mean nothing here */
    struct grpc_call *call = input_begin(c, frame->hd.stream_id);
    if (call == NULL) {
        c->headers_ms = 0;
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, call);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *context)
{
    (void)flags;
    (void)context;
    struct grpc_call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (call != NULL && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        input_header(call, name, name_size, value, value_size);
    return 0;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct connection *c = context;
    struct grpc_call *call = NULL;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        c->headers_ms = 0;
        call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (call != NULL && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
            input_headers_end(call);
        break;
    case NGHTTP2_DATA:
        call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        break;
    case NGHTTP2_SETTINGS:
        c->settings_seen = true;
        break;
    default:
        break;
    }
    if (call != NULL && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        input_end(call);
    return 0;
}

static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int error, void *context)
{
    (void)session;
    (void)error;
    struct connection *c = context;
    if (frame->hd.type == NGHTTP2_HEADERS)
        c->headers_ms = 0;
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t size,
                   void *context)
{
    (void)flags;
    (void)context;
    /* What becomes of the bytes is the stream's affair: the connection's window is given back at once. */
    if (nghttp2_session_consume_connection(session, size) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    if (call != NULL)
        input_data(call, data, size);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    (void)error;
    struct connection *c = context;
    struct grpc_call *call = nghttp2_session_get_stream_user_data(session, stream);
    c->headers_ms = 0; /* of a stream that we reset in the midst of them, no end is told */
    if (call != NULL) {
        nghttp2_session_set_stream_user_data(session, stream, NULL);
        call_closed(call);
    }
    return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) {
        struct grpc_call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (call != NULL)
            call_trailers_sent(call);
    }
    return 0;
}

bool connection_callbacks(struct grpc_server *server)
{
    if (nghttp2_session_callbacks_new(&server->callbacks) != 0 ||
        nghttp2_option_new(&server->session_options) != 0)
        return false;
    nghttp2_session_callbacks *k = server->callbacks;
    nghttp2_session_callbacks_set_on_begin_headers_callback(k, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(k, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(k, on_frame_recv);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(k, on_invalid_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(k, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(k, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(k, on_frame_send);
    nghttp2_option_set_no_auto_window_update(server->session_options, 1);
    nghttp2_option_set_no_closed_streams(server->session_options, 1);
    return true;
}

/* ---- one connection ---- */

static void timer_fired(struct timer *timer, uint64_t now_ms);

static bool open_session(struct connection *c)
{
    const struct grpc_options *o = &c->server->options;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, o->max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, FIRST_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, o->max_header_bytes},
    };
    if (nghttp2_session_server_new2(&c->session, c->server->callbacks, c, c->server->session_options) != 0) {
        c->session = NULL;
        return false;
    }
    return nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
                                   sizeof settings / sizeof *settings) == 0 &&
           nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) == 0;
}

struct connection *connection_make(struct grpc_server *server, int fd, const char *peer)
{
    struct connection *c = mem_alloc_zero(1, sizeof *c);
    if (c == NULL || !server_add_timer(server)) {
        mem_free(c);
        return NULL;
    }
    c->server = server;
    c->source = (struct source){SOURCE_CONNECTION, fd};
    c->timer.fire = timer_fired;
    if (!open_session(c)) {
        nghttp2_session_del(c->session);
        server_drop_timer(server, &c->timer);
        mem_free(c);
        return NULL;
    }
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    c->opened_ms = c->read_ms = server->now_ms;
    c->after = server->connections;
    if (c->after != NULL)
        c->after->before = c;
    server->connections = c;
    atomic_fetch_add(&server->connections_now, 1);
    connection_timer(c);
    return c;
}

void connection_kill(struct connection *c)
{
    if (c->dead)
        return;
    c->dead = true;
    c->next_dead = c->server->dead;
    c->server->dead = c;
}

void connection_free(struct connection *c)
{
    struct grpc_server *server = c->server;
    while (c->calls != NULL)
        call_closed(c->calls);
    nghttp2_session_del(c->session);
    server_drop_timer(server, &c->timer);
    close(c->source.fd); /* leaves epoll by itself */
    *(c->before != NULL ? &c->before->after : &server->connections) = c->after;
    if (c->after != NULL)
        c->after->before = c->before;
    atomic_fetch_sub(&server->connections_now, 1);
    mem_free(c->pending);
    mem_free(c);
}

void connection_dirty(struct connection *c)
{
    if (c->dirty || c->dead)
        return;
    c->dirty = true;
    c->next_dirty = c->server->dirty;
    c->server->dirty = c;
}

void connection_leave(struct connection *c, bool last)
{
    int error;
    if (c->dead)
        return;
    if (last)
        error = nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                                      nghttp2_session_get_last_proc_stream_id(c->session), NGHTTP2_NO_ERROR,
                                      NULL, 0);
    else
        error = nghttp2_submit_shutdown_notice(c->session);
    if (error != 0)
        connection_kill(c);
    connection_dirty(c);
}

/* ---- bytes in ---- */

void connection_readable(struct connection *c)
{
    struct grpc_server *server = c->server;
    ssize_t n = recv(c->source.fd, server->receive_buffer, RECEIVE_BYTES, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        connection_kill(c);
        return;
    }
    c->read_ms = server->now_ms;
    c->ping_ms = 0;
    atomic_fetch_add(&server->bytes_received, (uint64_t)n);
    ssize_t used = nghttp2_session_mem_recv(c->session, server->receive_buffer, (size_t)n);
    if (used < 0) {
        if (!c->settings_seen)
            server_log(server, 3, "%s does not speak HTTP/2 with prior knowledge; connection closed",
                       c->peer);
        else
            server_log(server, 3, "%s broke HTTP/2: %s; connection closed", c->peer,
                       nghttp2_strerror((int)used));
        connection_kill(c);
        return;
    }
    connection_dirty(c);
    connection_timer(c);
}

/* ---- bytes out ---- */

static void want_output(struct connection *c, bool want)
{
    if (c->want_out == want)
        return;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (want ? EPOLLOUT : 0),
                                .data.ptr = &c->source};
    if (epoll_ctl(c->server->epoll, EPOLL_CTL_MOD, c->source.fd, &event) != 0) {
        connection_kill(c);
        return;
    }
    c->want_out = want;
    c->output_ms = c->server->now_ms;
    connection_timer(c);
}

/* Bytes the socket took, 0 if it takes none now, -1 if it is broken. */
static ssize_t push(struct connection *c, const uint8_t *data, size_t size)
{
    size_t sent = 0;
    while (sent < size) {
        ssize_t n = send(c->source.fd, data + sent, size - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return -1;
        if (n < 0)
            break;
        sent += (size_t)n;
    }
    return (ssize_t)sent;
}

/* The rest of what the socket did not take last time. False: it still does not take all. */
static bool push_pending(struct connection *c)
{
    if (c->pending_sent == c->pending_size)
        return true;
    ssize_t n = push(c, c->pending + c->pending_sent, c->pending_size - c->pending_sent);
    if (n < 0) {
        connection_kill(c);
        return false;
    }
    if (n > 0)
        c->output_ms = c->server->now_ms;
    c->pending_sent += (size_t)n;
    return c->pending_sent == c->pending_size;
}

/* Fills the server's buffer from the session; -1 if the session is broken. */
static ssize_t gather(struct connection *c)
{
    size_t size = 0;
    /* A frame is at most 16 KiB and its header. */
    while (size + 16384 + 9 <= SEND_BYTES) {
        const uint8_t *data;
        ssize_t n = nghttp2_session_mem_send(c->session, &data);
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        if ((size_t)n > SEND_BYTES - size)
            return -1;
        memcpy(c->server->send_buffer + size, data, (size_t)n);
        size += (size_t)n;
    }
    return (ssize_t)size;
}

static bool keep_pending(struct connection *c, const uint8_t *data, size_t size)
{
    if (c->pending == NULL)
        c->pending = mem_alloc(SEND_BYTES, 1);
    if (c->pending == NULL)
        return false;
    memcpy(c->pending, data, size);
    c->pending_size = size;
    c->pending_sent = 0;
    return true;
}

void connection_flush(struct connection *c)
{
    while (!c->dead) {
        if (!push_pending(c)) {
            want_output(c, true);
            return;
        }
        ssize_t size = gather(c);
        if (size == 0)
            break;
        ssize_t sent = size < 0 ? -1 : push(c, c->server->send_buffer, (size_t)size);
        if (sent < 0 ||
            (sent < size && !keep_pending(c, c->server->send_buffer + sent, (size_t)(size - sent)))) {
            connection_kill(c);
            return;
        }
    }
    if (c->dead)
        return;
    mem_free(c->pending);
    c->pending = NULL;
    c->pending_size = c->pending_sent = 0;
    want_output(c, false);
    if (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session))
        connection_kill(c);
}

/* ---- is it alive ---- */

/* When to look next, and what is overdue: NULL, or why the connection ends. */
static const char *overdue(const struct connection *c, uint64_t now, uint64_t *next)
{
    const struct grpc_options *o = &c->server->options;
    const struct {
        bool watched;
        uint64_t since, most;
        const char *what;
    } watches[] = {
        {!c->settings_seen, c->opened_ms, o->headers_ms, "no HTTP/2 preface in time"},
        {c->headers_ms != 0, c->headers_ms, o->headers_ms, "headers not complete in time"},
        {c->want_out, c->output_ms, o->stall_ms, "does not read its answers"},
        {c->ping_ms != 0, c->ping_ms, o->keepalive_wait_ms, "no answer to a PING"},
    };
    *next = c->read_ms + o->keepalive_ms;
    if (c->ping_ms != 0)
        *next = UINT64_MAX;
    for (size_t i = 0; i < sizeof watches / sizeof *watches; i++) {
        if (!watches[i].watched)
            continue;
        uint64_t due = watches[i].since + watches[i].most;
        if (due <= now)
            return watches[i].what;
        *next = due < *next ? due : *next;
    }
    return NULL;
}

void connection_timer(struct connection *c)
{
    uint64_t next;
    if (overdue(c, c->server->now_ms, &next) != NULL)
        next = c->server->now_ms;
    /* Moved only if it must fire earlier; a timer that fires too early sets itself again. */
    if (c->timer.place == 0 || next < c->timer.at_ms)
        timer_set(&c->server->timers, &c->timer, next);
}

static void timer_fired(struct timer *timer, uint64_t now_ms)
{
    struct connection *c = (void *)((char *)timer - offsetof(struct connection, timer));
    uint64_t next;
    if (c->dead)
        return;
    const char *why = overdue(c, now_ms, &next);
    if (why != NULL) {
        server_log(c->server, 2, "%s: %s; connection closed", c->peer, why);
        connection_kill(c);
        return;
    }
    if (c->ping_ms == 0 && now_ms >= c->read_ms + c->server->options.keepalive_ms) {
        if (nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL) != 0) {
            connection_kill(c);
            return;
        }
        c->ping_ms = now_ms;
        connection_dirty(c);
        next = now_ms + c->server->options.keepalive_wait_ms;
    }
    timer_set(&c->server->timers, timer, next > now_ms ? next : now_ms + 1);
}
