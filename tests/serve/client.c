/* See client.h. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

uint64_t fake_now = 1000;

uint64_t fake_clock(void)
{
    return fake_now;
}

static struct client_call *find(struct client *c, int32_t stream)
{
    for (size_t i = 0; i < c->calls_count; i++)
        if (c->calls[i]->stream == stream)
            return c->calls[i];
    return NULL;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *context)
{
    (void)session, (void)flags;
    struct client_call *call = find(context, frame->hd.stream_id);
    const char *n = (const char *)name, *v = (const char *)value;
    if (call == NULL)
        return 0;
    if (name_size == 7 && memcmp(n, ":status", 7) == 0)
        call->status = atoi(v);
    if (name_size == 11 && memcmp(n, "grpc-status", 11) == 0)
        call->code = atoi(v);
    if (name_size == 12 && memcmp(n, "grpc-message", 12) == 0) {
        assert_true(value_size < sizeof call->text);
        memcpy(call->text, v, value_size);
    }
    if (name_size == 22 && memcmp(n, "grpc-retry-pushback-ms", 22) == 0)
        call->retry_ms = atol(v);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t size,
                   void *context)
{
    (void)session, (void)flags;
    struct client_call *call = find(context, stream);
    if (call == NULL)
        return 0;
    call->answer = realloc(call->answer, call->answer_size + size);
    assert_non_null(call->answer);
    memcpy(call->answer + call->answer_size, data, size);
    call->answer_size += size;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    (void)session;
    struct client_call *call = find(context, stream);
    if (call != NULL) {
        call->closed = true;
        call->error = error;
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)session;
    struct client *c = context;
    c->goaway |= frame->hd.type == NGHTTP2_GOAWAY;
    c->pings += frame->hd.type == NGHTTP2_PING && !(frame->hd.flags & NGHTTP2_FLAG_ACK);
    return 0;
}

struct client *client_new(struct grpc_server *server, int fd)
{
    struct client *c = calloc(1, sizeof *c);
    nghttp2_session_callbacks *k;
    nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 16 << 20};
    assert_non_null(c);
    c->fd = fd;
    c->server = server;
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    assert_int_equal(nghttp2_session_callbacks_new(&k), 0);
    nghttp2_session_callbacks_set_on_header_callback(k, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(k, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(k, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(k, on_frame);
    assert_int_equal(nghttp2_session_client_new(&c->session, k, c), 0);
    nghttp2_session_callbacks_del(k);
    assert_int_equal(nghttp2_submit_settings(c->session, 0, &window, 1), 0);
    assert_int_equal(nghttp2_session_set_local_window_size(c->session, 0, 0, 64 << 20), 0);
    return c;
}

struct client *client_open(struct grpc_server *server)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    server_adopt(server, fds[1], "a test");
    struct client *c = client_new(server, fds[0]);
    client_pump(c);
    return c;
}

void client_close(struct client *c)
{
    nghttp2_session_del(c->session);
    close(c->fd);
    for (size_t i = 0; i < c->calls_count; i++) {
        free(c->calls[i]->body);
        free(c->calls[i]->answer);
        free(c->calls[i]);
    }
    if (c->server != NULL)
        turn(c->server);
    free(c);
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t size,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)session, (void)stream, (void)context;
    struct client_call *call = source->ptr;
    size_t left = call->let - call->body_sent, n = left < size ? left : size;
    if (call->chunk != 0 && n > call->chunk)
        n = call->chunk;
    if (n != 0)
        memcpy(buffer, call->body + call->body_sent, n);
    call->body_sent += n;
    if (call->body_sent == call->body_size && !call->open)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (n == 0)
        return NGHTTP2_ERR_DEFERRED;
    return (ssize_t)n;
}

static void add(nghttp2_nv *list, size_t *count, const char *name, const char *value)
{
    if (value[0] != 0)
        list[(*count)++] = (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static void set_body(struct client_call *call, const void *message, size_t size, const struct call_options *o)
{
    size_t prefix = o->raw ? 0 : 5;
    call->body_size = prefix + size;
    call->body = malloc(call->body_size + 1);
    assert_non_null(call->body);
    for (size_t i = 0; i < prefix; i++)
        call->body[i] = (uint8_t)((uint64_t)size >> (8 * (4 - i)));
    if (size != 0)
        memcpy(call->body + prefix, message, size);
    call->let = o->let != 0 ? o->let : call->body_size;
    call->chunk = o->chunk;
    call->open = o->open;
}

struct client_call *client_call(struct client *c, const char *path, const void *message, size_t size,
                                const struct call_options *options)
{
    static const struct call_options none;
    const struct call_options *o = options != NULL ? options : &none;
    struct client_call *call = calloc(1, sizeof *call);
    nghttp2_nv list[16];
    size_t count = 0;
    assert_non_null(call);
    assert_true(c->calls_count < CALLS_MAX);
    c->calls[c->calls_count++] = call;
    call->code = -1;
    call->retry_ms = -1;
    set_body(call, message, size, o);
    add(list, &count, ":method", o->method != NULL ? o->method : "POST");
    add(list, &count, ":scheme", "http");
    add(list, &count, ":path", path);
    add(list, &count, ":authority", "localhost");
    add(list, &count, "te", o->te != NULL ? o->te : "trailers");
    add(list, &count, "content-type", o->media != NULL ? o->media : "application/grpc");
    add(list, &count, "grpc-timeout", o->timeout != NULL ? o->timeout : "");
    add(list, &count, "x-extra", o->extra != NULL ? o->extra : "");
    nghttp2_data_provider provider = {.source.ptr = call, .read_callback = read_body};
    call->stream = nghttp2_submit_request(c->session, NULL, list, count, &provider, NULL);
    assert_true(call->stream > 0);
    return call;
}

void client_let(struct client *c, struct client_call *call, size_t more)
{
    size_t left = call->body_size - call->let;
    call->let += more < left ? more : left;
    (void)nghttp2_session_resume_data(c->session, call->stream);
}

void client_end(struct client *c, struct client_call *call)
{
    call->open = false;
    (void)nghttp2_session_resume_data(c->session, call->stream);
}

void client_reset(struct client *c, struct client_call *call)
{
    assert_int_equal(nghttp2_submit_rst_stream(c->session, 0, call->stream, NGHTTP2_CANCEL), 0);
}

/* True if anything moved. */
static bool push(struct client *c)
{
    bool moved = false;
    while (!c->lost && !c->deaf) {
        while (c->pending_sent < c->pending_size) {
            ssize_t n =
                send(c->fd, c->pending + c->pending_sent, c->pending_size - c->pending_sent, MSG_NOSIGNAL);
            if (n < 0 && errno == EAGAIN)
                return moved;
            c->deaf = n < 0;
            if (n < 0)
                return true;
            c->pending_sent += (size_t)n;
            moved = true;
        }
        const uint8_t *data;
        ssize_t n = nghttp2_session_mem_send(c->session, &data);
        assert_true(n >= 0 && (size_t)n <= sizeof c->pending);
        if (n == 0)
            return moved;
        memcpy(c->pending, data, (size_t)n);
        c->pending_size = (size_t)n;
        c->pending_sent = 0;
    }
    return moved;
}

static bool pull(struct client *c)
{
    uint8_t buffer[65536];
    bool moved = false;
    while (!c->lost) {
        ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);
        if (n < 0 && errno == EAGAIN)
            break;
        moved = true;
        c->lost = n <= 0 || nghttp2_session_mem_recv(c->session, buffer, (size_t)n) < 0;
    }
    return moved;
}

void client_step(struct client *c)
{
    (void)push(c);
    (void)pull(c);
}

void turn(struct grpc_server *server)
{
    for (int i = 0; i < 4 && server->phase != SERVER_ENDED; i++)
        (void)server_turn(server, 0);
}

void client_pump(struct client *c)
{
    for (bool moved = true; moved;) {
        moved = push(c);
        turn(c->server);
        moved |= pull(c);
    }
}

void client_wait(struct client *c, struct client_call *call)
{
    while (!call->closed && !c->lost) {
        client_step(c);
        if (call->closed)
            break;
        short out = !c->deaf && (c->pending_sent < c->pending_size || nghttp2_session_want_write(c->session))
                        ? POLLOUT
                        : 0;
        struct pollfd p = {.fd = c->fd, .events = (short)(POLLIN | out)};
        assert_true(poll(&p, 1, 20000) > 0);
    }
    client_step(c);
}

struct client_call *client_unary(struct client *c, const char *path, const void *message, size_t size)
{
    struct client_call *call = client_call(c, path, message, size, NULL);
    if (c->server != NULL)
        client_pump(c);
    else
        client_wait(c, call);
    return call;
}

const uint8_t *client_answer(const struct client_call *call, size_t i, size_t *size)
{
    const uint8_t *at = call->answer, *end = at + call->answer_size;
    for (;; i--) {
        if (end - at < 5)
            return NULL;
        assert_int_equal(at[0], 0);
        *size = (size_t)at[1] << 24 | (size_t)at[2] << 16 | (size_t)at[3] << 8 | at[4];
        assert_true((size_t)(end - at - 5) >= *size);
        if (i == 0)
            return at + 5;
        at += 5 + *size;
    }
}

void finish(struct grpc_server *server)
{
    server_ask_stop(server, 0);
    for (int i = 0; server_turn(server, 0); i++) {
        assert_true(i < 1000);
        fake_now += 100;
    }
    server_free(server);
}
