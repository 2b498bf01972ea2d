/* The first half of a call: from its headers to a whole message in a handler's hands. See server.h for
 * how large messages get their memory. */
#include "serve/grpc/internal.h"

#include "base/mem.h"
#include <string.h>

static void timer_fired(struct timer *timer, uint64_t now_ms);

struct grpc_call *input_begin(struct connection *c, int32_t stream)
{
    struct grpc_server *server = c->server;
    struct grpc_call *call = mem_alloc_zero(1, sizeof *call);
    if (call == NULL || !server_add_timer(server)) {
        mem_free(call);
        return NULL;
    }
    call->server = server;
    call->connection = c;
    call->stream = stream;
    call->timer.fire = timer_fired;
    call->body_ms = server->now_ms;
    call->after = c->calls;
    if (call->after != NULL)
        call->after->before = call;
    c->calls = call;
    c->calls_count++;
    atomic_fetch_add(&server->calls_now, 1);
    atomic_fetch_add(&server->calls_begun, 1);
    return call;
}

/* ---- headers ---- */

static bool is(const uint8_t *text, size_t size, const char *what)
{
    return size == strlen(what) && memcmp(text, what, size) == 0;
}

void input_header(struct grpc_call *call, const uint8_t *name, size_t name_size, const uint8_t *value,
                  size_t value_size)
{
    call->header_bytes += name_size + value_size + 32;
    if (is(name, name_size, ":path")) {
        if (value_size < sizeof call->path)
            memcpy(call->path, value, value_size); /* else it names no method */
    } else if (is(name, name_size, ":method")) {
        call->is_post = is(value, value_size, "POST");
    } else if (is(name, name_size, "content-type")) {
        call->has_media = grpc_media_type(value, value_size);
    } else if (is(name, name_size, "te")) {
        call->has_te = is(value, value_size, "trailers");
    } else if (is(name, name_size, "grpc-timeout")) {
        uint64_t ms;
        call->bad_timeout = !grpc_timeout_parse(&ms, value, value_size);
        if (!call->bad_timeout)
            call->deadline_ms = call->server->now_ms + ms;
    }
}

static const struct grpc_method *find_method(const struct grpc_server *server, const char *path)
{
    for (size_t i = 0; i < server->options.methods_count; i++)
        if (strcmp(server->options.methods[i].path, path) == 0)
            return &server->options.methods[i];
    return NULL;
}

void input_headers_end(struct grpc_call *call)
{
    const struct grpc_server *server = call->server;
    if (call->state != REQUEST_HEADERS)
        return;
    call->method = find_method(server, call->path);
    if (call->header_bytes > server->options.max_header_bytes)
        call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 0, "headers of %zu bytes: at most %u are taken",
                    call->header_bytes, server->options.max_header_bytes);
    else if (!call->is_post)
        call_refuse_http(call, "405", "gRPC calls use POST");
    else if (!call->has_media)
        call_refuse_http(call, "415",
                         "this port takes content-type application/grpc or application/grpc+proto");
    else if (!call->has_te)
        call_refuse(call, GRPC_INTERNAL, 0,
                    "header \"te: trailers\" is missing: is there a proxy between that "
                    "does not know gRPC?");
    else if (call->bad_timeout)
        call_refuse(call, GRPC_INTERNAL, 0, "header grpc-timeout cannot be read");
    else if (call->method == NULL)
        call_refuse(call, GRPC_UNIMPLEMENTED, 0, "unknown method %s",
                    call->path[0] != 0 ? call->path : "with a long name");
    else if (server->phase != SERVER_RUNNING)
        call_refuse(call, GRPC_UNAVAILABLE, 1000, "the daemon is stopping");
    if (call->state == REQUEST_HEADERS)
        call->state = REQUEST_PREFIX;
    input_timer(call);
}

/* ---- bytes without a lease ---- */

static void count_loose(struct grpc_call *call, size_t add, size_t sub)
{
    call->connection->loose += add - sub;
    atomic_fetch_add(&call->server->loose_now, add);
    atomic_fetch_sub(&call->server->loose_now, sub);
}

static void free_head(struct grpc_call *call)
{
    if (call->head == NULL)
        return;
    count_loose(call, 0, call->head_capacity);
    mem_free(call->head);
    call->head = NULL;
    call->head_size = call->head_capacity = 0;
}

/* Over the limit, the peer with most loose bytes loses its largest beginning. */
static void shed_loose(struct grpc_server *server)
{
    while (atomic_load(&server->loose_now) > server->options.max_loose) {
        struct connection *most = NULL;
        for (struct connection *c = server->connections; c != NULL; c = c->after)
            if (most == NULL || c->loose > most->loose)
                most = c;
        struct grpc_call *largest = most != NULL ? most->calls : NULL;
        for (struct grpc_call *call = largest; call != NULL; call = call->after)
            if (call->head_capacity > largest->head_capacity)
                largest = call;
        if (largest == NULL || largest->head_capacity == 0)
            return;
        call_refuse(largest, GRPC_RESOURCE_EXHAUSTED, 1000,
                    "too many messages are under way at once; try again in a second");
    }
}

static bool add_loose(struct grpc_call *call, const uint8_t *data, size_t size)
{
    size_t needed = call->head_size + size + GRPC_PADDING;
    if (needed > call->head_capacity) {
        size_t whole = call->message_size + GRPC_PADDING, capacity = 2 * call->head_capacity;
        if (capacity < needed)
            capacity = needed;
        if (capacity > whole)
            capacity = whole;
        uint8_t *head = mem_grow(call->head, call->head_capacity, capacity, 1);
        if (head == NULL) {
            call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 1000, "no memory for a message of %llu bytes",
                        (unsigned long long)call->message_size);
            return false;
        }
        count_loose(call, capacity, call->head_capacity);
        call->head = head;
        call->head_capacity = capacity;
    }
    memcpy(call->head + call->head_size, data, size);
    call->head_size += size;
    shed_loose(call->server);
    return call->state != REQUEST_OVER;
}

static void consume(struct grpc_call *call, size_t size)
{
    /* Fails only for want of memory: then the window stays shut, and the stall is noticed. */
    (void)nghttp2_session_consume_stream(call->connection->session, call->stream, size);
}

/* ---- large messages ---- */

static void begin_body(struct grpc_call *call, struct lease lease)
{
    struct grpc_message *message = mem_alloc_zero(1, sizeof *message);
    uint8_t *data = message != NULL ? mem_alloc(call->message_size + GRPC_PADDING, 1) : NULL;
    if (data == NULL) {
        mem_free(message);
        if (lease.bytes != 0)
            lease_end(&lease);
        call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 5000, "no memory for a message of %llu bytes",
                    (unsigned long long)call->message_size);
        return;
    }
    message->data = data;
    message->size = call->message_size;
    message->lease = lease;
    memset(data + message->size, 0, GRPC_PADDING);
    memcpy(data, call->head, call->head_size);
    call->got = call->head_size;
    call->message = message;
    call->state = REQUEST_BODY;
    call->body_ms = call->server->now_ms;
    free_head(call);

    uint64_t window = call->message_size + FIRST_WINDOW;
    (void)nghttp2_session_set_local_window_size(call->connection->session, NGHTTP2_FLAG_NONE, call->stream,
                                                (int32_t)(window < BODY_WINDOW ? window : BODY_WINDOW));
    consume(call, call->head_unread);
    call->head_unread = 0;
    connection_dirty(call->connection);
    input_timer(call);
}

static void upload_granted(struct grpc_server *server, struct post *post)
{
    struct upload *upload = (struct upload *)post; /* its first member */
    struct grpc_call *call = upload->call;
    server->uploads--;
    if (call == NULL) {
        lease_end(&upload->lease);
    } else {
        call->upload = NULL;
        atomic_fetch_sub(&server->uploads_now, 1);
        begin_body(call, upload->lease);
    }
    mem_free(upload);
}

/* In whatever thread freed the bytes. */
static void granted(void *context, const struct lease *lease)
{
    struct upload *upload = context;
    upload->lease = *lease;
    server_post(upload->server, &upload->post);
}

static void reserve(struct grpc_call *call)
{
    struct grpc_server *server = call->server;
    enum priority priority = PRIORITY_NORMAL;
    if (call->method->priority != NULL)
        priority = call->method->priority(call->head, call->head_size, call->message_size);
    call->state = REQUEST_WAITING;
    if (server->options.ledger == NULL) {
        begin_body(call, (struct lease){0});
        return;
    }
    struct upload *upload = mem_alloc_zero(1, sizeof *upload);
    if (upload == NULL) {
        call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 1000, "no memory");
        return;
    }
    *upload = (struct upload){.post.run = upload_granted, .server = server, .call = call};
    call->upload = upload;
    server->uploads++;
    atomic_fetch_add(&server->uploads_now, 1);
    struct status s = ledger_wait(server->options.ledger, &upload->ticket, LEDGER_HOST,
                                  call->message_size + GRPC_PADDING, priority, "requests", granted, upload);
    if (status_failed(&s)) {
        call->upload = NULL;
        server->uploads--;
        atomic_fetch_sub(&server->uploads_now, 1);
        mem_free(upload);
        call_refuse(call, GRPC_FAILED_PRECONDITION, 0, "%s%s%s%s%s", s.message, s.detail[0] != 0 ? "; " : "",
                    s.detail, s.hint[0] != 0 ? "; " : "", s.hint);
    }
}

/* ---- messages ---- */

static bool is_large(const struct grpc_call *call)
{
    return call->message_size > call->server->options.small_message;
}

/* All bytes of a message have come. */
static void complete(struct grpc_call *call)
{
    if (call->message == NULL) {
        struct grpc_message *message = mem_alloc_zero(1, sizeof *message);
        if (message != NULL && call->head == NULL)
            message->data = mem_alloc_zero(GRPC_PADDING, 1); /* an empty one */
        else if (message != NULL)
            message->data = call->head;
        if (message == NULL || message->data == NULL) {
            mem_free(message);
            call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 1000, "no memory");
            return;
        }
        message->size = call->head_size;
        memset(message->data + message->size, 0, GRPC_PADDING);
        if (call->head != NULL)
            count_loose(call, 0, call->head_capacity);
        call->head = NULL;
        call->head_size = call->head_capacity = 0;
        call->message = message;
    }
    call->prefix_size = 0;
    call->got = 0;
    if (!call->method->streams) {
        call->state = REQUEST_WHOLE;
        return;
    }
    struct grpc_message *message = call->message;
    call->message = NULL;
    call->state = REQUEST_PREFIX;
    call_hand_over(call, message);
}

static void begin_message(struct grpc_call *call)
{
    const struct grpc_options *o = &call->server->options;
    const uint8_t *p = call->prefix;
    uint64_t most = call->method->most != 0 ? call->method->most : o->max_message;
    if (call->method->streams && most > o->small_message)
        most = o->small_message;
    call->message_size = (uint64_t)p[1] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 8 | p[4];
    call->state = REQUEST_LOOSE;
    if (p[0] == 1)
        call_refuse(call, GRPC_UNIMPLEMENTED, 0,
                    "compressed messages are not taken: send grpc-encoding identity");
    else if (p[0] != 0)
        call_refuse(call, GRPC_INTERNAL, 0, "message prefix begins with %u, not with 0: not gRPC framing",
                    p[0]);
    else if (call->message_size > most)
        call_refuse(call, GRPC_RESOURCE_EXHAUSTED, 0, "message of %llu bytes: at most %llu are taken",
                    (unsigned long long)call->message_size, (unsigned long long)most);
    else if (call->message_size == 0)
        complete(call);
}

static size_t take_prefix(struct grpc_call *call, const uint8_t *data, size_t size)
{
    size_t n = PREFIX_BYTES - call->prefix_size;
    n = n < size ? n : size;
    memcpy(call->prefix + call->prefix_size, data, n);
    call->prefix_size += n;
    consume(call, n);
    if (call->prefix_size == PREFIX_BYTES)
        begin_message(call);
    return n;
}

static size_t take_loose(struct grpc_call *call, const uint8_t *data, size_t size)
{
    size_t left = (size_t)(call->message_size - call->head_size), n = size < left ? size : left;
    if (!add_loose(call, data, n))
        return n;
    if (is_large(call)) {
        call->head_unread += n; /* its window stays shut until the bytes are granted */
        if (call->state == REQUEST_LOOSE && call->head_size >= HEAD_ENOUGH)
            reserve(call);
        return n;
    }
    consume(call, n);
    if (call->head_size == call->message_size)
        complete(call);
    return n;
}

static size_t take_body(struct grpc_call *call, const uint8_t *data, size_t size)
{
    size_t left = call->message->size - call->got, n = size < left ? size : left;
    memcpy(call->message->data + call->got, data, n);
    call->got += n;
    consume(call, n);
    if (call->got == call->message->size)
        complete(call);
    return n;
}

void input_data(struct grpc_call *call, const uint8_t *data, size_t size)
{
    call->body_ms = call->server->now_ms;
    while (size != 0) {
        size_t n = 0;
        switch (call->state) {
        case REQUEST_PREFIX:
            n = take_prefix(call, data, size);
            break;
        case REQUEST_LOOSE:
        case REQUEST_WAITING:
            n = take_loose(call, data, size);
            break;
        case REQUEST_BODY:
            n = take_body(call, data, size);
            break;
        case REQUEST_WHOLE:
            call_refuse(call, GRPC_INTERNAL, 0, "a unary call has one message; bytes follow it");
            return;
        case REQUEST_HEADERS: /* nghttp2 lets no data in before them */
        case REQUEST_OVER:
            return;
        }
        data += n;
        size -= n;
    }
    input_timer(call);
}

void input_end(struct grpc_call *call)
{
    struct grpc_message *message = call->message;
    call->input_ended = true;
    switch (call->state) {
    case REQUEST_WHOLE:
        call->message = NULL;
        call->state = REQUEST_OVER;
        call_hand_over(call, message);
        break;
    case REQUEST_PREFIX:
        if (call->prefix_size == 0 && call->method->streams) {
            call->state = REQUEST_OVER;
            call_hand_over(call, NULL);
        } else if (call->prefix_size == 0) {
            call_refuse(call, GRPC_INVALID_ARGUMENT, 0, "the call has no message");
        } else {
            call_refuse(call, GRPC_INVALID_ARGUMENT, 0, "the call ends inside a message's prefix");
        }
        break;
    case REQUEST_LOOSE:
    case REQUEST_WAITING:
    case REQUEST_BODY:
        call_refuse(call, GRPC_INVALID_ARGUMENT, 0, "the message ends after %llu of %llu bytes",
                    (unsigned long long)(call->state == REQUEST_BODY ? call->got : call->head_size),
                    (unsigned long long)call->message_size);
        break;
    case REQUEST_HEADERS:
    case REQUEST_OVER:
        break;
    }
    input_timer(call);
}

void input_drop(struct grpc_call *call)
{
    struct upload *upload = call->upload;
    call->state = REQUEST_OVER;
    if (call->connection != NULL)
        free_head(call);
    grpc_message_end(call->message);
    call->message = NULL;
    if (upload == NULL)
        return;
    call->upload = NULL;
    atomic_fetch_sub(&call->server->uploads_now, 1);
    upload->call = NULL;
    if (ledger_withdraw(call->server->options.ledger, upload->ticket)) {
        call->server->uploads--;
        mem_free(upload);
    } /* else the grant is on its way, and ends there */
}

void grpc_message_end(struct grpc_message *message)
{
    if (message == NULL)
        return;
    mem_free(message->data);
    if (message->lease.bytes != 0)
        lease_end(&message->lease);
    mem_free(message);
}

/* ---- what takes too long ---- */

static bool waits_for_client(const struct grpc_call *call)
{
    switch (call->state) {
    case REQUEST_PREFIX:
        return !call->method->streams || call->prefix_size != 0;
    case REQUEST_LOOSE:
    case REQUEST_BODY:
    case REQUEST_WHOLE:
        return true;
    default:
        return false;
    }
}

static bool waits_for_reader(const struct grpc_call *call)
{
    return call->ended || call->replies != NULL;
}

static uint64_t next_look(const struct grpc_call *call)
{
    uint64_t next = UINT64_MAX, stall_ms = call->server->options.stall_ms;
    if (call->deadline_ms != 0 && !call->ended)
        next = call->deadline_ms;
    if (waits_for_client(call) && call->body_ms + stall_ms < next)
        next = call->body_ms + stall_ms;
    if (waits_for_reader(call) && call->reply_ms + stall_ms < next)
        next = call->reply_ms + stall_ms;
    return next;
}

void input_timer(struct grpc_call *call)
{
    uint64_t next = next_look(call);
    if (call->connection != NULL && next != UINT64_MAX &&
        (call->timer.place == 0 || next < call->timer.at_ms))
        timer_set(&call->server->timers, &call->timer, next);
}

static void timer_fired(struct timer *timer, uint64_t now_ms)
{
    struct grpc_call *call = (void *)((char *)timer - offsetof(struct grpc_call, timer));
    uint64_t stall_ms = call->server->options.stall_ms;
    if (call->connection == NULL)
        return;
    if (waits_for_reader(call) && call->reply_ms + stall_ms <= now_ms) {
        (void)nghttp2_submit_rst_stream(call->connection->session, NGHTTP2_FLAG_NONE, call->stream,
                                        NGHTTP2_CANCEL);
        call->reply_ms = now_ms;
        connection_dirty(call->connection);
    } else if (call->deadline_ms != 0 && !call->ended && call->deadline_ms <= now_ms) {
        call_refuse(call, GRPC_DEADLINE_EXCEEDED, 0, "the call's deadline has passed");
    } else if (waits_for_client(call) && call->body_ms + stall_ms <= now_ms) {
        call_refuse(call, GRPC_CANCELLED, 0, "the message made no progress for %llu ms",
                    (unsigned long long)stall_ms);
    }
    uint64_t next = next_look(call);
    if (next != UINT64_MAX)
        timer_set(&call->server->timers, timer, next > now_ms ? next : now_ms + 1);
}
