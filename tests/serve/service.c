/* See service.h. */
#include "service.h"

#include <stdlib.h>
#include <string.h>

static void check_padding(const struct grpc_message *m)
{
    for (size_t i = 0; i < GRPC_PADDING; i++)
        assert_int_equal(m->data[m->size + i], 0);
}

static void echo(void *context, struct grpc_call *call, struct grpc_message *m)
{
    struct service *s = context;
    check_padding(m);
    s->echoed++;
    grpc_answer(call, m->data, m->size);
    grpc_message_end(m);
}

static void gone(void *context)
{
    ((struct held *)context)->gone++;
}

static void done(void *context)
{
    ((struct held *)context)->done++;
}

static void hold(void *context, struct grpc_call *call, struct grpc_message *m)
{
    struct service *s = context;
    assert_true(s->held_count < HELD_MAX);
    struct held *h = &s->held[s->held_count++];
    check_padding(m);
    *h = (struct held){.call = call, .message = m, .timeout_ms = grpc_call_timeout_ms(call)};
    assert_non_null(grpc_call_peer(call));
    grpc_call_watch(call, gone, done, h);
}

void service_answer(struct held *h, const char *text)
{
    grpc_message_end(h->message);
    grpc_answer(h->call, text, strlen(text));
}

static void stream_gone(void *context)
{
    grpc_end(context, GRPC_CANCELLED, NULL, 0);
}

static void stream(void *context, struct grpc_call *call, struct grpc_message *m)
{
    (void)context;
    grpc_call_watch(call, stream_gone, NULL, call);
    if (m == NULL) {
        grpc_end(call, GRPC_OK, NULL, 0);
        return;
    }
    grpc_send(call, m->data, m->size);
    bool last = m->size == 4 && memcmp(m->data, "last", 4) == 0;
    grpc_message_end(m);
    if (last)
        grpc_end(call, GRPC_ABORTED, "that was the last", 0);
}

static void flood(void *context, struct grpc_call *call, struct grpc_message *m)
{
    (void)context;
    uint32_t size = 0;
    assert_true(m->size >= 4);
    memcpy(&size, m->data, 4);
    grpc_message_end(m);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 >> 3);
    grpc_answer(call, bytes, size);
    free(bytes);
}

static void fail_it(void *context, struct grpc_call *call, struct grpc_message *m)
{
    (void)context;
    grpc_message_end(m);
    grpc_end(call, GRPC_RESOURCE_EXHAUSTED, "100 % f\xc3\xbcll\n\xff", 1234);
}

enum priority service_priority(const uint8_t *head, size_t head_size, uint64_t message_size)
{
    assert_true(head_size >= HEAD_ENOUGH && head_size <= message_size);
    return head[0] == 'c'   ? PRIORITY_CRITICAL
           : head[0] == 'h' ? PRIORITY_HIGH
           : head[0] == 'l' ? PRIORITY_LOW
                            : PRIORITY_NORMAL;
}

const struct grpc_method test_methods[] = {
    {.path = "/t/Echo", .handle = echo},
    {.path = "/t/Hold", .handle = hold, .priority = service_priority},
    {.path = "/t/Stream", .handle = stream, .streams = true},
    {.path = "/t/Flood", .handle = flood, .most = 1000},
    {.path = "/t/Fail", .handle = fail_it},
};
const size_t test_methods_count = sizeof test_methods / sizeof *test_methods;

struct grpc_server *service_server(struct service *service, const struct grpc_options *options)
{
    struct grpc_options o = {0};
    struct grpc_server *server;
    if (options != NULL)
        o = *options;
    o.methods = test_methods;
    o.methods_count = test_methods_count;
    o.context = service;
    memset(service, 0, sizeof *service);
    ok(server_make(&server, &o, NULL, 0));
    server->clock = fake_clock;
    server->now_ms = fake_now;
    return server;
}
