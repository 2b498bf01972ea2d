/* grpc.health.v1. The daemon as a whole is serving when it is ready, not draining and has a device; a kind of
 * proof is when one of its circuits can be used: before the whole is ready only if it is loaded. Watchers are
 * told at the server's next tick. */
#include "serve/internal.h"

#include "base/mem.h"
#include <grpc/health/v1/health.pb-c.h>
#include "serve/submission.h"
#include <stdio.h>
#include <string.h>

#define SERVING         GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING     GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define SERVICE_UNKNOWN GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN
typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus serving_status;

struct watcher {
    struct watcher *before, *after;
    struct proving *proving;
    struct grpc_call *call;
    char service[64];
    serving_status last;
};

static bool device_works(const struct service_view *v)
{
    bool works = v->devices_count == 0;
    for (uint32_t i = 0; i < v->devices_count; i++)
        works = works || v->devices[i].state != DEVICE_LOST;
    return works;
}

static bool circuit_usable(const struct service_view *v, const char *kind, bool ready)
{
    for (uint32_t i = 0; i < v->circuits_count; i++) {
        const struct service_circuit_view *c = &v->circuits[i];
        enum proof_kind circuit_kind;
        const struct sector_size *sector;
        if (circuit_by_name(&circuit_kind, &sector, c->name) &&
            strcmp(wire_kind_name(circuit_kind), kind) == 0 && (c->loaded || (ready && !c->failed)))
            return true;
    }
    return false;
}

static serving_status state_by(struct proving *p, const struct service_view *v, const char *service)
{
    static const char *const kinds[] = {"porep-c2", "snap-update", "window-post", "winning-post"};
    bool ready = atomic_load(&p->ready);
    bool spare = v->spare_cpu && strcmp(service, "winning-post") == 0;
    bool alive = !atomic_load(&p->draining) && (spare || device_works(v));
    if (service[0] == 0 || strcmp(service, "cuzk.v1.ProvingEngine") == 0)
        return alive && ready ? SERVING : NOT_SERVING;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(service, kinds[i]) == 0)
            return alive && circuit_usable(v, service, ready) ? SERVING : NOT_SERVING;
    return SERVICE_UNKNOWN;
}

/* By the view that was taken last. */
static serving_status state_of(struct proving *p, const char *service)
{
    return state_by(p, &p->view, service);
}

bool proving_serves(struct proving *proving, const struct service_view *view, const char *kind)
{
    return state_by(proving, view, kind) == SERVING;
}

void handle_check(void *context, struct grpc_call *call, struct grpc_message *message)
{
    struct proving *p = context;
    Grpc__Health__V1__HealthCheckRequest *request =
        unpack(call, message, &grpc__health__v1__health_check_request__descriptor);
    if (request == NULL)
        return;
    Grpc__Health__V1__HealthCheckResponse response = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    service_look(p->service, &p->view);
    response.status = state_of(p, request->service);
    if (response.status == SERVICE_UNKNOWN)
        grpc_fail(call, GRPC_NOT_FOUND,
                  "unknown service \"%.60s\"; known are \"\", cuzk.v1.ProvingEngine, porep-c2, snap-update, "
                  "window-post, winning-post",
                  request->service);
    else
        answer(call, &response.base);
    protobuf_c_message_free_unpacked(&request->base, NULL);
}

static void tell(struct watcher *w)
{
    Grpc__Health__V1__HealthCheckResponse response = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    response.status = w->last;
    send_message(w->call, &response.base);
}

static void watcher_gone(void *context)
{
    struct watcher *w = context;
    *(w->before != NULL ? &w->before->after : &w->proving->watchers) = w->after;
    if (w->after != NULL)
        w->after->before = w->before;
    grpc_end(w->call, GRPC_CANCELLED, NULL, 0);
}

static void watcher_done(void *context)
{
    mem_free(context);
}

void handle_watch(void *context, struct grpc_call *call, struct grpc_message *message)
{
    struct proving *p = context;
    Grpc__Health__V1__HealthCheckRequest *request =
        unpack(call, message, &grpc__health__v1__health_check_request__descriptor);
    if (request == NULL)
        return;
    struct watcher *w = mem_alloc_zero(1, sizeof *w);
    if (w == NULL) {
        grpc_fail(call, GRPC_RESOURCE_EXHAUSTED, "no memory");
    } else {
        *w = (struct watcher){.after = p->watchers, .proving = p, .call = call};
        snprintf(w->service, sizeof w->service, "%s", request->service);
        if (w->after != NULL)
            w->after->before = w;
        p->watchers = w;
        service_look(p->service, &p->view);
        w->last = state_of(p, w->service);
        grpc_call_watch(call, watcher_gone, watcher_done, w);
        tell(w);
    }
    protobuf_c_message_free_unpacked(&request->base, NULL);
}

void health_tick(void *context)
{
    struct proving *p = context;
    if (p->watchers == NULL)
        return;
    service_look(p->service, &p->view);
    for (struct watcher *w = p->watchers; w != NULL; w = w->after) {
        serving_status now = state_of(p, w->service);
        if (now == w->last)
            continue;
        w->last = now;
        tell(w);
    }
}
