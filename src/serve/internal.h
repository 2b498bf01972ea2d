/* The proving service from inside.
 *
 *     proving.c     the table of methods, start and stop, how a status becomes a gRPC code
 *     prove.c       Prove, SubmitProof, AwaitProof, CancelProof: calls that meet jobs
 *     manage.c      PreloadSRS, EvictSRS
 *     look.c        GetStatus, GetMetrics
 *     health.c      grpc.health.v1
 *     reflection.c  grpc.reflection.v1
 *
 * Handlers run in the server's thread; what is marked "any thread" may run elsewhere. */
#ifndef CUZK_SERVE_INTERNAL_H
#define CUZK_SERVE_INTERNAL_H

#include "serve/lane.h"
#include "serve/proving.h"
#include <protobuf-c/protobuf-c.h>
#include <stdatomic.h>

struct watcher; /* health.c */

struct proving {
    struct engine_service *service;
    struct ledger *ledger;
    struct grpc_server *server;
    struct lane *submits; /* large requests into the engine */
    struct lane *loads;   /* PreloadSRS and EvictSRS */
    atomic_bool ready, draining;
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    /* the server's thread: */
    struct service_view view;
    struct watcher *watchers;
};

void proving_log(struct proving *proving, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What a status means to a caller of `method` (any thread). */
enum grpc_code code_of(const struct proving *proving, const struct status *status, bool of_request);
/* "message; detail (hint)" */
#define STATUS_TEXT_MAX 700
void status_text(char out[STATUS_TEXT_MAX], const struct status *status);
/* Ends the call with a status that is not OK, and logs it (any thread). */
void fail_call(struct proving *proving, struct grpc_call *call, const char *method,
               const struct status *status, bool of_request);

/* Unpacks a small request and ends the message; NULL: the call has been failed. The caller frees it with
 * protobuf_c_message_free_unpacked. */
void *unpack(struct grpc_call *call, struct grpc_message *message,
             const ProtobufCMessageDescriptor *descriptor);
/* Packs and answers, or packs and sends (any thread). */
void answer(struct grpc_call *call, const ProtobufCMessage *message);
void send_message(struct grpc_call *call, const ProtobufCMessage *message);

grpc_handler handle_prove, handle_submit, handle_await, handle_cancel;
enum priority prove_priority(const uint8_t *head, size_t head_size, uint64_t message_size);
enum priority submit_priority(const uint8_t *head, size_t head_size, uint64_t message_size);
grpc_handler handle_preload, handle_evict;
grpc_handler handle_status, handle_metrics;
grpc_handler handle_check, handle_watch;
void health_tick(void *context);
grpc_handler handle_reflection;

#endif
