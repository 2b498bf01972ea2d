/* The proving service: see proving.h and internal.h. */
#include "serve/internal.h"

#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>

#define SMALL (64 << 10)
static const struct grpc_method methods[] = {
    {.path = "/cuzk.v1.ProvingEngine/Prove", .handle = handle_prove, .priority = prove_priority},
    {.path = "/cuzk.v1.ProvingEngine/SubmitProof", .handle = handle_submit, .priority = submit_priority},
    {.path = "/cuzk.v1.ProvingEngine/AwaitProof", .handle = handle_await, .most = SMALL},
    {.path = "/cuzk.v1.ProvingEngine/CancelProof", .handle = handle_cancel, .most = SMALL},
    {.path = "/cuzk.v1.ProvingEngine/GetStatus", .handle = handle_status, .most = SMALL},
    {.path = "/cuzk.v1.ProvingEngine/PreloadSRS", .handle = handle_preload, .most = SMALL},
    {.path = "/cuzk.v1.ProvingEngine/EvictSRS", .handle = handle_evict, .most = SMALL},
    {.path = "/cuzk.v1.ProvingEngine/GetMetrics", .handle = handle_metrics, .most = SMALL},
    {.path = "/grpc.health.v1.Health/Check", .handle = handle_check, .most = SMALL},
    {.path = "/grpc.health.v1.Health/Watch", .handle = handle_watch, .most = SMALL},
    {.path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
     .handle = handle_reflection,
     .streams = true},
    /* The same messages under the name that older tools ask for. */
    {.path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
     .handle = handle_reflection,
     .streams = true},
};

/* ---- statuses ---- */

enum grpc_code code_of(const struct proving *proving, const struct status *status, bool of_request)
{
    bool draining = atomic_load(&proving->draining);
    switch (status->code) {
    case STATUS_OK:
        return GRPC_OK;
    case STATUS_INVALID:
        return GRPC_INVALID_ARGUMENT;
    case STATUS_UNSUPPORTED:
        return of_request ? GRPC_INVALID_ARGUMENT : GRPC_UNIMPLEMENTED;
    case STATUS_MISSING: /* for a request: its parameters; else the job or circuit that was named */
        return of_request ? GRPC_FAILED_PRECONDITION : GRPC_NOT_FOUND;
    case STATUS_MEMORY:
    case STATUS_UNTRUSTED:
        return GRPC_FAILED_PRECONDITION;
    case STATUS_BUSY:
        return draining ? GRPC_UNAVAILABLE : GRPC_RESOURCE_EXHAUSTED;
    case STATUS_CANCELLED:
        return draining ? GRPC_UNAVAILABLE : GRPC_CANCELLED;
    case STATUS_IO:
    case STATUS_REJECTED:
    case STATUS_DEVICE:
        break;
    }
    return GRPC_INTERNAL;
}

void status_text(char out[STATUS_TEXT_MAX], const struct status *s)
{
    snprintf(out, STATUS_TEXT_MAX, "%s%s%s%s%s%s", s->message, s->detail[0] != 0 ? "; " : "", s->detail,
             s->hint[0] != 0 ? " (" : "", s->hint, s->hint[0] != 0 ? ")" : "");
    utf8_repair(out);
}

void proving_log(struct proving *proving, int level, const char *format, ...)
{
    if (proving->log == NULL)
        return;
    char text[STATUS_TEXT_MAX + 200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != 0; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' '; /* a peer's text makes no lines of its own */
    proving->log(proving->log_context, level, text);
}

void fail_call(struct proving *proving, struct grpc_call *call, const char *method,
               const struct status *status, bool of_request)
{
    enum grpc_code code = code_of(proving, status, of_request);
    char text[STATUS_TEXT_MAX];
    status_text(text, status);
    proving_log(proving, 2, "%s refused: %s: %s", method, grpc_code_name(code), text);
    bool again = code == GRPC_RESOURCE_EXHAUSTED || code == GRPC_UNAVAILABLE;
    grpc_end(call, code, text, again ? 5000 : 0);
}

/* ---- messages ---- */

void *unpack(struct grpc_call *call, struct grpc_message *message,
             const ProtobufCMessageDescriptor *descriptor)
{
    void *unpacked = protobuf_c_message_unpack(descriptor, NULL, message->size, message->data);
    grpc_message_end(message);
    if (unpacked == NULL)
        grpc_fail(call, GRPC_INVALID_ARGUMENT, "the request is not a %s", descriptor->name);
    return unpacked;
}

static void pack(struct grpc_call *call, const ProtobufCMessage *message,
                 void (*then)(struct grpc_call *call, const void *bytes, size_t size))
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = mem_alloc(size, 1);
    if (bytes == NULL) {
        if (then == grpc_answer) /* of a stream, one message is lost */
            grpc_fail(call, GRPC_RESOURCE_EXHAUSTED, "no memory for an answer of %zu bytes", size);
        return;
    }
    protobuf_c_message_pack(message, bytes);
    then(call, bytes, size);
    mem_free(bytes);
}

void answer(struct grpc_call *call, const ProtobufCMessage *message)
{
    pack(call, message, grpc_answer);
}

void send_message(struct grpc_call *call, const ProtobufCMessage *message)
{
    pack(call, message, grpc_send);
}

/* ---- start and stop ---- */

static struct status start(struct proving *p, const struct proving_options *options)
{
    struct grpc_options grpc = {.methods = methods,
                                .methods_count = sizeof methods / sizeof *methods,
                                .context = p,
                                .ledger = options->ledger,
                                .max_message = options->max_message,
                                .max_connections = options->max_connections,
                                .tick_ms = 250,
                                .tick = health_tick,
                                .log = options->log,
                                .log_context = options->log_context};
    struct status s = lane_start(&p->submits, 2, "submit");
    if (!status_failed(&s))
        s = lane_start(&p->loads, 2, "load");
    if (!status_failed(&s))
        return grpc_server_start(&p->server, &grpc, options->listeners, options->listeners_count);
    for (size_t i = 0; i < options->listeners_count; i++)
        listen_close(options->listeners[i]);
    return s;
}

struct status proving_start(struct proving **out, const struct proving_options *options)
{
    struct proving *p = mem_alloc_zero(1, sizeof *p);
    if (p == NULL) {
        for (size_t i = 0; i < options->listeners_count; i++)
            listen_close(options->listeners[i]);
        return mem_failed("proving service", 1, sizeof *p);
    }
    p->service = options->service;
    p->ledger = options->ledger;
    p->log = options->log;
    p->log_context = options->log_context;
    struct status s = start(p, options);
    if (status_failed(&s)) {
        proving_stop(p, 0);
        return s;
    }
    *out = p;
    return s;
}

void proving_ready(struct proving *proving, bool ready)
{
    atomic_store(&proving->ready, ready);
}

void proving_drain(struct proving *proving)
{
    atomic_store(&proving->draining, true);
}

void proving_stop(struct proving *proving, uint64_t grace_ms)
{
    if (proving == NULL)
        return;
    atomic_store(&proving->draining, true);
    /* The server first: it returns when no call is left, and only calls feed the lanes. */
    grpc_server_stop(proving->server, grace_ms);
    lane_end(proving->submits);
    lane_end(proving->loads);
    mem_free(proving);
}

bool proving_is_ready(struct proving *proving)
{
    return atomic_load(&proving->ready);
}

bool proving_is_draining(struct proving *proving)
{
    return atomic_load(&proving->draining);
}

void proving_look(struct proving *proving, struct grpc_view *out)
{
    grpc_server_look(proving->server, out);
}
