/* GetStatus and GetMetrics: copies of what the engine says of itself, answered in the server's thread. */
#include "serve/internal.h"

#include "base/mem.h"
#include <cuzk.pb-c.h>
#include "serve/submission.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The kinds as clients know them: both forms of a sector update are one. */
static const enum proof_kind kinds[] = {PROOF_POREP, PROOF_SNAP, PROOF_WINDOW, PROOF_WINNING};
#define KINDS (sizeof kinds / sizeof *kinds)

#define TEXT(text_) ((char *)(uintptr_t)(text_))

struct status_parts {
    Cuzk__V1__GPUStatus gpu[ENGINE_DEVICES_MAX], *gpus[ENGINE_DEVICES_MAX];
    Cuzk__V1__SRSStatus circuit[ENGINE_CIRCUITS_MAX], *circuits[ENGINE_CIRCUITS_MAX];
    Cuzk__V1__QueueStatus queue[KINDS], *queues[KINDS];
};

static void list_devices(struct status_parts *parts, const struct service_view *v)
{
    for (uint32_t i = 0; i < v->devices_count; i++) {
        const struct service_device_view *d = &v->devices[i];
        Cuzk__V1__GPUStatus *out = parts->gpus[i] = &parts->gpu[i];
        cuzk__v1__gpustatus__init(out);
        out->ordinal = i;
        out->name = TEXT(d->name);
        if (d->job[0] != 0) {
            out->current_job_id = TEXT(d->job);
            out->current_proof_kind = TEXT(wire_kind_name(d->kind));
        }
    }
}

static void list_circuits(struct status_parts *parts, const struct service_view *v)
{
    for (uint32_t i = 0; i < v->circuits_count; i++) {
        const struct service_circuit_view *c = &v->circuits[i];
        Cuzk__V1__SRSStatus *out = parts->circuits[i] = &parts->circuit[i];
        cuzk__v1__srsstatus__init(out);
        out->circuit_id = TEXT(c->name);
        out->tier = c->loaded    ? CUZK__V1__SRSSTATUS__TIER__HOT
                    : c->loading ? CUZK__V1__SRSSTATUS__TIER__WARM
                                 : CUZK__V1__SRSSTATUS__TIER__COLD;
        out->size_bytes = c->bytes;
        out->ref_count = c->references;
    }
}

static void list_queues(struct status_parts *parts, const struct service_view *v)
{
    for (size_t i = 0; i < KINDS; i++) {
        Cuzk__V1__QueueStatus *out = parts->queues[i] = &parts->queue[i];
        enum proof_kind kind = kinds[i];
        cuzk__v1__queue_status__init(out);
        out->proof_kind = TEXT(wire_kind_name(kind));
        out->pending = v->pending[kind];
        out->in_progress = v->in_progress[kind];
        if (kind == PROOF_SNAP) {
            out->pending += v->pending[PROOF_SNAP_POSEIDON];
            out->in_progress += v->in_progress[PROOF_SNAP_POSEIDON];
        }
    }
}

void handle_status(void *context, struct grpc_call *call, struct grpc_message *message)
{
    struct proving *p = context;
    struct service_view *v = &p->view;
    struct status_parts parts;
    Cuzk__V1__GetStatusResponse response = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    grpc_message_end(message); /* it has no fields */
    service_look(p->service, v);
    list_devices(&parts, v);
    list_circuits(&parts, v);
    list_queues(&parts, v);
    response.n_gpus = v->devices_count;
    response.gpus = parts.gpus;
    response.n_loaded_srs = v->circuits_count;
    response.loaded_srs = parts.circuits;
    response.n_queues = KINDS;
    response.queues = parts.queues;
    for (int k = 0; k < PROOF_KINDS; k++) {
        response.total_proofs_completed += v->completed[k];
        response.total_proofs_failed += v->failed[k];
    }
    response.uptime_seconds = v->uptime_ms / 1000;
    if (p->ledger != NULL) {
        struct ledger_view pinned;
        ledger_look(p->ledger, LEDGER_PINNED, &pinned);
        response.pinned_memory_bytes = pinned.used;
        response.pinned_memory_limit_bytes = pinned.limit;
    }
    answer(call, &response.base);
}

/* ---- metrics ---- */

/* The server's own, after the engine's. */
static size_t server_metrics(char *out, size_t size, const struct grpc_view *v)
{
    size_t n = (size_t)snprintf(
        out, size,
        "# HELP cuzk_grpc_connections Connections that are open.\n# TYPE cuzk_grpc_connections gauge\n"
        "cuzk_grpc_connections %" PRIu64 "\n"
        "# HELP cuzk_grpc_calls Calls that run.\n# TYPE cuzk_grpc_calls gauge\ncuzk_grpc_calls %" PRIu64 "\n"
        "# HELP cuzk_grpc_uploads_waiting Messages that wait for memory.\n# TYPE cuzk_grpc_uploads_waiting "
        "gauge\n"
        "cuzk_grpc_uploads_waiting %" PRIu64 "\n"
        "# HELP cuzk_grpc_received_bytes_total Bytes received.\n# TYPE cuzk_grpc_received_bytes_total "
        "counter\n"
        "cuzk_grpc_received_bytes_total %" PRIu64 "\n"
        "# HELP cuzk_grpc_calls_total Calls that have ended, by code.\n# TYPE cuzk_grpc_calls_total "
        "counter\n",
        v->connections, v->calls, v->uploads_waiting, v->bytes_received);
    for (int i = 0; i < GRPC_CODES && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "cuzk_grpc_calls_total{code=\"%s\"} %" PRIu64 "\n",
                              grpc_code_name((enum grpc_code)i), v->ended[i]);
    return n < size ? n : size - 1;
}

struct status proving_metrics(struct proving *p, char **text, size_t *size)
{
    char *engine = NULL, own[4096];
    size_t engine_size = 0;
    struct grpc_view view;
    *text = NULL;
    *size = 0;
    TRY(service_metrics(p->service, &engine, &engine_size));
    grpc_server_look(p->server, &view);
    size_t own_size = server_metrics(own, sizeof own, &view);
    *text = mem_alloc(engine_size + own_size + 1, 1);
    if (*text != NULL) {
        memcpy(*text, engine, engine_size);
        memcpy(*text + engine_size, own, own_size);
        *size = engine_size + own_size;
        (*text)[*size] = 0;
    }
    mem_free(engine);
    return *text != NULL ? status_ok() : mem_failed("metrics", engine_size + own_size, 1);
}

void handle_metrics(void *context, struct grpc_call *call, struct grpc_message *message)
{
    struct proving *p = context;
    Cuzk__V1__GetMetricsResponse response = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    size_t size;
    grpc_message_end(message);
    struct status s = proving_metrics(p, &response.prometheus_text, &size);
    if (status_failed(&s)) {
        fail_call(p, call, "GetMetrics", &s, false);
        return;
    }
    answer(call, &response.base);
    mem_free(response.prometheus_text);
}
