/* The proving service on the wire: the eight methods of proto/cuzk.proto over engine/service.h, with
 * grpc.health.v1 and server reflection beside them, on a server of serve/grpc/.
 *
 * What may take long (loading parameters, comparing a large request with others) runs in threads of this
 * module's own, never in the server's, so that GetStatus and small requests answer at once. */
#ifndef CUZK_SERVE_PROVING_H
#define CUZK_SERVE_PROVING_H

#include "engine/service.h"
#include "serve/grpc/server.h"

struct proving;

struct proving_options {
    struct engine_service *service;    /* borrowed; must outlive proving_stop() */
    struct ledger *ledger;             /* where the bytes of requests are reserved; NULL: nowhere */
    struct listener *const *listeners; /* taken, also on error */
    size_t listeners_count;
    uint64_t max_message;                                    /* 0: 256 MiB */
    uint32_t max_connections;                                /* 0: 4096 */
    void (*log)(void *context, int level, const char *text); /* as service_options.log */
    void *log_context;
};

/* From the return on, calls are answered: requests wait in the engine for circuits that still load. Health
 * says NOT_SERVING until proving_ready(). */
MUST_USE struct status proving_start(struct proving **out, const struct proving_options *options);
void proving_ready(struct proving *proving, bool ready);
/* SIGTERM: new requests are answered UNAVAILABLE with a retry hint, those for WinningPoSt excepted while
 * the engine admits them; health turns NOT_SERVING. Beside service_drain(), which the caller calls. */
void proving_drain(struct proving *proving);
/* Ends the connections: those with calls have `grace_ms`. Then no call of the engine's runs or comes. NULL
 * allowed. */
void proving_stop(struct proving *proving, uint64_t grace_ms);

/* ---- from any thread ---- */
void proving_look(struct proving *proving, struct grpc_view *out); /* the server's counters */
bool proving_is_ready(struct proving *proving);
bool proving_is_draining(struct proving *proving);
/* What health says, by a view of the engine: "" for the whole, or a kind such as "porep-c2". */
bool proving_serves(struct proving *proving, const struct service_view *view, const char *kind);
/* What GetMetrics answers: the engine's text and the server's. Gives *text (mem_free). */
MUST_USE struct status proving_metrics(struct proving *proving, char **text, size_t *size);

#endif
