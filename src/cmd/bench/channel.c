/* See channel.h. */
#include "cmd/bench/channel.h"

#include "base/mem.h"
#include "cmd/bench/address.h"
#include "cmd/cuzk/output.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFIX_BYTES  5 /* of a gRPC message: compressed or not, length */
#define RESPONSE_MAX  ((size_t)256 << 20)
#define RECEIVE_BYTES 65536
#define WINDOW_BYTES  (1 << 20)

struct call {
    struct call *next;
    int32_t stream;
    call_done *done;
    void *context;
    uint8_t head[PREFIX_BYTES + CALL_HEAD_MAX];
    const uint8_t *body;
    size_t head_size, body_size, sent;
    double deadline; /* of seconds_now(); 0: none */
    uint32_t http_status;
    bool has_code, timed_out;
    struct call_result result;
    uint8_t *answer;
    size_t answer_size, answer_room;
};

struct channel {
    int fd;
    char address[300], authority[300];
    pid_t peer;
    nghttp2_session *session;
    struct call *calls;
    const uint8_t *pending; /* what nghttp2 wants sent, and the socket has not taken yet */
    size_t pending_size;
    bool lost;
    char reason[256];
};

/* ---- calls ---- */

static void say(struct call *call, uint32_t code, const char *text)
{
    call->result.code = code;
    call->has_code = true;
    snprintf(call->result.message, sizeof call->result.message, "%s", text);
}

/* Takes the call off the list, tells its owner, frees it. */
static void finish(struct channel *channel, struct call *call)
{
    struct call **at = &channel->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (call->done != NULL)
        call->done(call->context, &call->result);
    mem_free(call->answer);
    mem_free(call);
}

/* What a stream that has closed says: trailers, else the HTTP status, else nothing at all. */
static void conclude(struct call *call, uint32_t http2_error)
{
    char text[128];
    bool late = call->deadline != 0 && seconds_now() >= call->deadline;
    if (call->timed_out || (late && !call->has_code)) { /* a server may reset a call at its deadline */
        say(call, GRPC_DEADLINE_EXCEEDED, "the time of this call is over");
    } else if (!call->has_code && call->http_status != 0 && call->http_status != 200) {
        snprintf(text, sizeof text,
                 "the server answered with HTTP status %u: is it cuzk-daemon's gRPC address?",
                 call->http_status);
        say(call, GRPC_UNAVAILABLE, text);
    } else if (!call->has_code) {
        snprintf(text, sizeof text, "the stream ended without a status (HTTP/2 error %u)", http2_error);
        say(call, http2_error == NGHTTP2_REFUSED_STREAM ? GRPC_UNAVAILABLE : GRPC_INTERNAL, text);
    }
    if (call->result.code != GRPC_OK)
        return;
    const uint8_t *a = call->answer;
    size_t size = call->answer_size;
    size_t length = size < PREFIX_BYTES
                        ? SIZE_MAX
                        : (size_t)a[1] << 24 | (size_t)a[2] << 16 | (size_t)a[3] << 8 | (size_t)a[4];
    if (size < PREFIX_BYTES || a[0] != 0 || length != size - PREFIX_BYTES) {
        say(call, GRPC_INTERNAL, "the answer is not one whole uncompressed message");
        return;
    }
    call->result.data = a + PREFIX_BYTES;
    call->result.size = length;
}

static void lose(struct channel *channel, const char *reason)
{
    if (channel->lost)
        return;
    channel->lost = true;
    snprintf(channel->reason, sizeof channel->reason, "the connection to %.150s is lost: %.60s",
             channel->address, reason);
    while (channel->calls != NULL) {
        say(channel->calls, GRPC_UNAVAILABLE, channel->reason);
        finish(channel, channel->calls);
    }
}

/* ---- what nghttp2 calls ---- */

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *out, size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    struct call *call = source->ptr;
    size_t done = 0;
    (void)session, (void)stream, (void)user;
    if (call->sent < call->head_size) {
        done = call->head_size - call->sent < size ? call->head_size - call->sent : size;
        memcpy(out, call->head + call->sent, done);
        call->sent += done;
    }
    if (call->sent >= call->head_size && done < size) {
        size_t at = call->sent - call->head_size, n = call->body_size - at;
        if (n > size - done)
            n = size - done;
        if (n > 0)
            memcpy(out + done, call->body + at, n);
        call->sent += n;
        done += n;
    }
    if (call->sent == call->head_size + call->body_size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)done;
}

static int hex(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* grpc-message is percent-encoded. */
static void decode_message(char *out, size_t room, const uint8_t *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n + 1 < room; i++) {
        if (text[i] == '%' && i + 2 < size && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
            out[n++] = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
            i += 2;
        } else {
            out[n++] = (char)text[i];
        }
    }
    out[n] = 0;
}

static bool is(const uint8_t *name, size_t size, const char *want)
{
    return strlen(want) == size && memcmp(name, want, size) == 0;
}

static uint32_t to_number(const uint8_t *text, size_t size)
{
    uint32_t n = 0;
    for (size_t i = 0; i < size && i < 6 && text[i] >= '0' && text[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(text[i] - '0');
    return n;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *user)
{
    (void)flags, (void)user;
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (call == NULL)
        return 0;
    if (is(name, name_size, ":status")) {
        call->http_status = to_number(value, value_size);
    } else if (is(name, name_size, "grpc-status")) {
        call->result.code = to_number(value, value_size);
        call->has_code = true;
    } else if (is(name, name_size, "grpc-message")) {
        decode_message(call->result.message, sizeof call->result.message, value, value_size);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data, size_t size,
                   void *user)
{
    (void)flags, (void)user;
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    if (call == NULL || size == 0)
        return 0;
    if (size > call->answer_room - call->answer_size) {
        size_t room = 2 * (call->answer_size + size);
        uint8_t *grown = room > RESPONSE_MAX ? NULL : mem_grow(call->answer, call->answer_room, room, 1);
        if (grown == NULL) {
            say(call, GRPC_RESOURCE_EXHAUSTED, "the answer is too large");
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        }
        call->answer = grown;
        call->answer_room = room;
    }
    memcpy(call->answer + call->answer_size, data, size);
    call->answer_size += size;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *user)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    if (call == NULL)
        return 0;
    conclude(call, error);
    nghttp2_session_set_stream_user_data(session, stream, NULL);
    finish(user, call);
    return 0;
}

/* ---- opening and closing ---- */

static struct status start_session(struct channel *channel)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES}};
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return mem_failed("HTTP/2 connection", 1, 1);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    int e = nghttp2_session_client_new(&channel->session, callbacks, channel);
    nghttp2_session_callbacks_del(callbacks);
    if (e == 0)
        e = nghttp2_submit_settings(channel->session, NGHTTP2_FLAG_NONE, settings, 2);
    return e == 0 ? status_ok() : status_error(STATUS_MEMORY, "HTTP/2: %s", nghttp2_strerror(e));
}

struct status channel_open(struct channel **out, const char *address, uint64_t timeout_ms)
{
    struct address a;
    *out = NULL;
    TRY(address_parse(&a, address));
    struct channel *channel = mem_alloc_zero(1, sizeof *channel);
    if (channel == NULL)
        return mem_failed("connection", 1, sizeof *channel);
    channel->fd = -1;
    snprintf(channel->address, sizeof channel->address, "%s", address);
    snprintf(channel->authority, sizeof channel->authority, "%s%s%s", a.local ? "localhost" : a.host,
             a.local ? "" : ":", a.port);
    struct status s;
    TRY_OUT(address_connect(&channel->fd, &a, timeout_ms));
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (a.local && getsockopt(channel->fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0)
        channel->peer = credentials.pid;
    TRY_OUT(start_session(channel));
    *out = channel;
    return status_ok();
out:
    channel_close(channel);
    return s;
}

void channel_close(struct channel *channel)
{
    if (channel == NULL)
        return;
    while (channel->calls != NULL) {
        channel->calls->done = NULL;
        finish(channel, channel->calls);
    }
    if (channel->session != NULL)
        nghttp2_session_del(channel->session);
    if (channel->fd >= 0)
        close(channel->fd);
    mem_free(channel);
}

pid_t channel_peer(const struct channel *channel)
{
    return channel->peer;
}

/* ---- starting a call ---- */

static nghttp2_nv header(const char *name, const char *value)
{
    nghttp2_nv h = {(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name), strlen(value),
                    NGHTTP2_NV_FLAG_NONE};
    return h;
}

/* At most eight digits are allowed. */
static void format_timeout(char out[16], uint64_t ms)
{
    if (ms <= 99999999)
        snprintf(out, 16, "%um", (unsigned)ms);
    else
        snprintf(out, 16, "%uS", (unsigned)(ms / 1000 < 99999999 ? ms / 1000 : 99999999));
}

static int submit(struct channel *channel, struct call *call, const struct call_request *request)
{
    char timeout[16];
    nghttp2_nv headers[9];
    size_t n = 0;
    headers[n++] = header(":method", "POST");
    headers[n++] = header(":scheme", "http");
    headers[n++] = header(":path", request->path);
    headers[n++] = header(":authority", channel->authority);
    headers[n++] = header("te", "trailers");
    headers[n++] = header("content-type", "application/grpc");
    headers[n++] = header("user-agent", "cuzk-bench");
    if (request->timeout_ms != 0) {
        format_timeout(timeout, request->timeout_ms);
        headers[n++] = header("grpc-timeout", timeout);
    }
    nghttp2_data_provider provider = {.source.ptr = call, .read_callback = read_body};
    return nghttp2_submit_request(channel->session, NULL, headers, n, &provider, call);
}

struct status channel_start(struct channel *channel, const struct call_request *request, call_done *done,
                            void *context)
{
    size_t length = request->head_size + request->body_size;
    CHECK(request->head_size <= CALL_HEAD_MAX);
    if (channel->lost)
        return status_error(STATUS_IO, "%s", channel->reason);
    if (length > UINT32_MAX)
        return status_error(STATUS_INVALID, "a request of %zu bytes is too large", length);
    struct call *call = mem_alloc_zero(1, sizeof *call);
    if (call == NULL)
        return mem_failed("call", 1, sizeof *call);
    for (int i = 0; i < 4; i++)
        call->head[1 + i] = (uint8_t)(length >> (24 - 8 * i));
    if (request->head_size > 0)
        memcpy(call->head + PREFIX_BYTES, request->head, request->head_size);
    call->head_size = PREFIX_BYTES + request->head_size;
    call->body = request->body;
    call->body_size = request->body_size;
    call->done = done;
    call->context = context;
    if (request->timeout_ms != 0)
        call->deadline = seconds_now() + 1e-3 * (double)request->timeout_ms;
    call->stream = submit(channel, call, request);
    if (call->stream < 0) {
        int e = call->stream;
        mem_free(call);
        return status_error(STATUS_IO, "HTTP/2: %s", nghttp2_strerror(e));
    }
    call->next = channel->calls;
    channel->calls = call;
    return status_ok();
}

/* ---- the event loop ---- */

/* Sends until the socket is full or nothing is left. */
static void send_some(struct channel *channel)
{
    while (!channel->lost) {
        if (channel->pending_size == 0) {
            ssize_t n = nghttp2_session_mem_send(channel->session, &channel->pending);
            if (n <= 0) {
                if (n < 0)
                    lose(channel, nghttp2_strerror((int)n));
                return;
            }
            channel->pending_size = (size_t)n;
        }
        ssize_t n = send(channel->fd, channel->pending, channel->pending_size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0) {
            lose(channel, strerror(errno));
            return;
        }
        channel->pending += n;
        channel->pending_size -= (size_t)n;
    }
}

static void receive_some(struct channel *channel)
{
    uint8_t buffer[RECEIVE_BYTES];
    while (!channel->lost) {
        ssize_t n = recv(channel->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            lose(channel, n < 0 ? strerror(errno) : "the server closed it");
            return;
        }
        ssize_t used = nghttp2_session_mem_recv(channel->session, buffer, (size_t)n);
        if (used < 0)
            lose(channel, nghttp2_strerror((int)used));
    }
}

/* The server tells deadlines too; this one is for a server that does not answer. */
static double expire(struct channel *channel)
{
    double now = seconds_now(), next = now + 3600;
    for (struct call *call = channel->calls; call != NULL; call = call->next) {
        if (call->deadline == 0 || call->timed_out)
            continue;
        if (call->deadline + 1 > now) {
            next = call->deadline + 1 < next ? call->deadline + 1 : next;
            continue;
        }
        call->timed_out = true;
        (void)nghttp2_submit_rst_stream(channel->session, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL);
    }
    return next - now;
}

bool channel_poll(struct channel *channel, uint64_t timeout_ms)
{
    double wait = expire(channel);
    send_some(channel);
    if (channel->lost)
        return false;
    if (wait > 1e-3 * (double)timeout_ms)
        wait = 1e-3 * (double)timeout_ms;
    struct pollfd p = {.fd = channel->fd, .events = POLLIN};
    if (channel->pending_size > 0)
        p.events |= POLLOUT;
    (void)poll(&p, 1, (int)(1e3 * wait));
    receive_some(channel);
    send_some(channel);
    if (!channel->lost && nghttp2_session_want_read(channel->session) == 0 &&
        nghttp2_session_want_write(channel->session) == 0)
        lose(channel, "the server said goodbye");
    return !channel->lost;
}

/* ---- one call ---- */

struct one_call {
    struct call_reply *reply;
    bool ended, no_memory;
};

static void one_done(void *context, const struct call_result *result)
{
    struct one_call *one = context;
    one->ended = true;
    one->reply->code = result->code;
    memcpy(one->reply->message, result->message, sizeof one->reply->message);
    if (result->code != GRPC_OK)
        return;
    one->reply->data = mem_alloc(result->size + 1, 1);
    one->no_memory = one->reply->data == NULL;
    if (one->no_memory)
        return;
    memcpy(one->reply->data, result->data, result->size);
    one->reply->size = result->size;
}

struct status channel_call(struct channel *channel, const char *path, const uint8_t *message, size_t size,
                           uint64_t timeout_ms, struct call_reply *reply)
{
    struct one_call one = {.reply = reply};
    struct call_request request = {
        .path = path, .body = message, .body_size = size, .timeout_ms = timeout_ms};
    memset(reply, 0, sizeof *reply);
    TRY(channel_start(channel, &request, one_done, &one));
    while (!one.ended)
        (void)channel_poll(channel, 1000);
    return one.no_memory ? mem_failed("answer", 1, 1) : status_ok();
}
