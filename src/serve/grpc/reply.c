/* The second half of a call: handing it to its handler, the answer, the trailers, the end. */
#include "serve/grpc/internal.h"

#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- headers and trailers ---- */

#define NAME(name_) .name = (uint8_t *)(uintptr_t)(name_), .namelen = sizeof(name_) - 1
#define FIXED(name_, value_)                                                                                 \
    {                                                                                                        \
        NAME(name_), .value = (uint8_t *)(uintptr_t)(value_), .valuelen = sizeof(value_) - 1,                \
                     .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE                   \
    }
#define TRAILERS_MAX 3

static const nghttp2_nv answer_headers[] = {FIXED(":status", "200"),
                                            FIXED("content-type", "application/grpc"),
                                            FIXED("grpc-accept-encoding", "identity")};
#define ANSWER_HEADERS (sizeof answer_headers / sizeof *answer_headers)

struct trailers {
    nghttp2_nv list[ANSWER_HEADERS + TRAILERS_MAX]; /* room to put the headers before them */
    size_t count;
    char code[16], retry[24], text[3 * TEXT_BYTES];
};

static void add(struct trailers *t, const char *name, const char *value, size_t size)
{
    t->list[t->count++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                                       .namelen = strlen(name),
                                       .value = (uint8_t *)(uintptr_t)value,
                                       .valuelen = size,
                                       .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME};
}

static void add_trailers(struct trailers *t, const struct grpc_call *call)
{
    add(t, "grpc-status", t->code, (size_t)snprintf(t->code, sizeof t->code, "%d", (int)call->code));
    if (call->text[0] != 0)
        add(t, "grpc-message", t->text, grpc_message_encode(t->text, call->text, strlen(call->text)));
    if (call->retry_ms != 0)
        add(t, "grpc-retry-pushback-ms", t->retry,
            (size_t)snprintf(t->retry, sizeof t->retry, "%llu", (unsigned long long)call->retry_ms));
}

/* ---- the answer's bytes ---- */

static void drop_reply(struct grpc_call *call)
{
    struct reply *reply = call->replies;
    call->replies = reply->next;
    if (call->replies == NULL)
        call->replies_last = NULL;
    call->replies_bytes -= reply->size;
    mem_free(reply);
}

static ssize_t read_replies(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t size,
                            uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)context;
    struct grpc_call *call = source->ptr;
    size_t n = 0;
    while (call->replies != NULL && n < size) {
        struct reply *reply = call->replies;
        size_t part = reply->size - reply->sent;
        part = part < size - n ? part : size - n;
        memcpy(buffer + n, reply->data + reply->sent, part);
        n += part;
        reply->sent += part;
        if (reply->sent == reply->size)
            drop_reply(call);
    }
    if (n != 0)
        call->reply_ms = call->server->now_ms;
    if (call->replies == NULL && call->ended) {
        struct trailers t = {.count = 0};
        add_trailers(&t, call);
        call->trailers_made = true;
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        if (nghttp2_submit_trailer(session, stream, t.list, t.count) != 0)
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    } else if (n == 0) {
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

/* Sends what there is to send. */
static void send_reply(struct grpc_call *call)
{
    struct connection *c = call->connection;
    struct trailers t = {.count = 0};
    int error = 0;
    if (c == NULL || c->dead || call->trailers_made)
        return;
    if (call->headers_sent) {
        (void)nghttp2_session_resume_data(c->session, call->stream); /* an error if it was not deferred */
    } else {
        memcpy(t.list, answer_headers, sizeof answer_headers);
        t.count = ANSWER_HEADERS;
        nghttp2_data_provider provider = {.source.ptr = call, .read_callback = read_replies};
        call->trailers_made = call->ended && call->replies == NULL;
        if (call->trailers_made)
            add_trailers(&t, call);
        error = nghttp2_submit_response(c->session, call->stream, t.list, t.count,
                                        call->trailers_made ? NULL : &provider);
        call->headers_sent = true;
        call->reply_ms = call->server->now_ms;
    }
    if (error != 0)
        (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_INTERNAL_ERROR);
    connection_dirty(c);
    input_timer(call);
}

void call_trailers_sent(struct grpc_call *call)
{
    /* The client need not send the rest of its message. */
    if (!call->input_ended)
        (void)nghttp2_submit_rst_stream(call->connection->session, NGHTTP2_FLAG_NONE, call->stream,
                                        NGHTTP2_NO_ERROR);
}

/* ---- ends ---- */

static void free_call(struct grpc_call *call)
{
    server_drop_timer(call->server, &call->timer);
    if (call->done != NULL)
        call->done(call->context);
    mem_free(call);
}

static void tell_gone(struct grpc_call *call)
{
    if (!call->owned || call->gone_told || atomic_load(&call->given_back))
        return;
    call->gone_told = true;
    if (call->gone != NULL)
        call->gone(call->context);
}

static void set_end(struct grpc_call *call, enum grpc_code code, uint64_t retry_ms)
{
    call->ended = true;
    call->code = code;
    call->retry_ms = retry_ms;
    call->reply_ms = call->server->now_ms;
    atomic_fetch_add(&call->server->codes[code], 1);
}

void call_refuse(struct grpc_call *call, enum grpc_code code, uint64_t retry_ms, const char *format, ...)
{
    if (call->ended)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call->text, sizeof call->text, format, arguments);
    va_end(arguments);
    utf8_repair(call->text);
    set_end(call, code, retry_ms);
    input_drop(call);
    send_reply(call);
    tell_gone(call);
}

void call_refuse_http(struct grpc_call *call, const char *http_status, const char *text)
{
    nghttp2_nv list[] = {
        {NAME(":status"), .value = (uint8_t *)(uintptr_t)http_status, .valuelen = strlen(http_status)},
        FIXED("content-type", "text/plain"),
    };
    nghttp2_data_provider provider = {.source.ptr = call, .read_callback = read_replies};
    struct connection *c = call->connection;
    snprintf(call->text, sizeof call->text, "%s", text);
    set_end(call, GRPC_UNKNOWN, 0);
    input_drop(call);
    call->headers_sent = true;
    int error =
        nghttp2_submit_response(c->session, call->stream, list, sizeof list / sizeof *list, &provider);
    if (error != 0)
        (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_INTERNAL_ERROR);
    connection_dirty(c);
}

void call_closed(struct grpc_call *call)
{
    struct connection *c = call->connection;
    if (!call->ended)
        set_end(call, GRPC_CANCELLED, 0);
    input_drop(call);
    while (call->replies != NULL)
        drop_reply(call);
    *(call->before != NULL ? &call->before->after : &c->calls) = call->after;
    if (call->after != NULL)
        call->after->before = call->before;
    call->connection = NULL;
    timer_clear(&call->server->timers, &call->timer);
    c->calls_count--;
    atomic_fetch_sub(&call->server->calls_now, 1);
    if (call->owned)
        tell_gone(call);
    else
        free_call(call);
}

/* ---- the handler's side ---- */

void call_hand_over(struct grpc_call *call, struct grpc_message *message)
{
    if (call->ended || atomic_load(&call->given_back)) {
        grpc_message_end(message);
        return;
    }
    if (!call->owned) {
        call->owned = true;
        call->server->owned_calls++;
    }
    call->method->handle(call->server->options.context, call, message);
}

void grpc_call_watch(struct grpc_call *call, void (*gone)(void *context), void (*done)(void *context),
                     void *context)
{
    call->gone = gone;
    call->done = done;
    call->context = context;
}

uint64_t grpc_call_timeout_ms(const struct grpc_call *call)
{
    if (call->deadline_ms == 0)
        return 0;
    return call->deadline_ms > call->server->now_ms ? call->deadline_ms - call->server->now_ms : 1;
}

const char *grpc_call_peer(const struct grpc_call *call)
{
    return call->connection != NULL ? call->connection->peer : "a peer that has left";
}

static void add_reply(struct grpc_call *call, struct reply *reply)
{
    if (call->connection == NULL || call->ended) {
        mem_free(reply);
        return;
    }
    *(call->replies_last != NULL ? &call->replies_last->next : &call->replies) = reply;
    call->replies_last = reply;
    call->replies_bytes += reply->size;
    if (call->replies_bytes == reply->size)
        call->reply_ms = call->server->now_ms; /* the reader's time begins */
}

static void reply_posted(struct grpc_server *server, struct post *post)
{
    (void)server;
    struct reply *reply = (struct reply *)post; /* its first member */
    struct grpc_call *call = reply->call;
    add_reply(call, reply);
    if (call->replies_bytes > REPLIES_MAX && call->method->streams) {
        while (call->replies != NULL && call->replies->sent == 0)
            drop_reply(call);
        call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 0, "answers are not read as fast as questions come");
        return;
    }
    send_reply(call);
}

static void end_posted(struct grpc_server *server, struct post *post)
{
    struct grpc_call *call = (void *)((char *)post - offsetof(struct grpc_call, end));
    call->owned = false;
    server->owned_calls--;
    if (call->end_reply != NULL)
        add_reply(call, call->end_reply);
    if (call->connection == NULL) {
        free_call(call);
        return;
    }
    if (call->ended)
        return;
    memcpy(call->text, call->end_text, sizeof call->text);
    set_end(call, call->end_code, call->end_retry_ms);
    input_drop(call);
    send_reply(call);
}

static struct reply *make_reply(struct grpc_call *call, const void *message, size_t size)
{
    struct reply *reply = mem_alloc(1, sizeof *reply + PREFIX_BYTES + size);
    if (reply == NULL)
        return NULL;
    *reply = (struct reply){.post.run = reply_posted, .call = call, .size = PREFIX_BYTES + size};
    const uint8_t prefix[PREFIX_BYTES] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
                                          (uint8_t)(size >> 8), (uint8_t)size};
    memcpy(reply->data, prefix, PREFIX_BYTES);
    if (size != 0)
        memcpy(reply->data + PREFIX_BYTES, message, size);
    return reply;
}

void grpc_send(struct grpc_call *call, const void *message, size_t size)
{
    CHECK(size <= UINT32_MAX);
    struct reply *reply = make_reply(call, message, size);
    if (reply != NULL)
        server_post(call->server, &reply->post);
    /* else the message is lost; the end, which needs no memory, is not */
}

void grpc_end(struct grpc_call *call, enum grpc_code code, const char *text, uint64_t retry_ms)
{
    call->end_code = code;
    call->end_retry_ms = retry_ms;
    snprintf(call->end_text, sizeof call->end_text, "%s", text != NULL ? text : "");
    utf8_repair(call->end_text);
    call->end.run = end_posted;
    CHECK(!atomic_exchange(&call->given_back, true));
    server_post(call->server, &call->end);
}

void grpc_fail(struct grpc_call *call, enum grpc_code code, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    grpc_end(call, code, text, 0);
}

void grpc_answer(struct grpc_call *call, const void *message, size_t size)
{
    CHECK(size <= UINT32_MAX);
    call->end_reply = make_reply(call, message, size);
    if (call->end_reply == NULL)
        grpc_end(call, GRPC_RESOURCE_EXHAUSTED, "no memory for the answer", 1000);
    else
        grpc_end(call, GRPC_OK, NULL, 0);
}
