/* PreloadSRS and EvictSRS. Loading 47 GB takes a while, so both run in threads of their own; a caller that
 * leaves does not stop what it began. */
#include "serve/internal.h"

#include "base/mem.h"
#include <cuzk.pb-c.h>
#include <stdio.h>
#include <string.h>

#define WAITING_MAX 64

struct load {
    struct lane_task task;
    struct proving *proving;
    struct grpc_call *call;
    bool evict;
    char circuit[64];
};

static void evict(struct load *load)
{
    Cuzk__V1__EvictSRSResponse response = CUZK__V1__EVICT_SRSRESPONSE__INIT;
    bool was_loaded = false;
    struct status s =
        service_evict(load->proving->service, load->circuit, &was_loaded, &response.freed_bytes);
    response.was_loaded = was_loaded;
    if (status_failed(&s))
        fail_call(load->proving, load->call, "EvictSRS", &s, false);
    else
        answer(load->call, &response.base);
}

static void preload(struct load *load)
{
    Cuzk__V1__PreloadSRSResponse response = CUZK__V1__PRELOAD_SRSRESPONSE__INIT;
    bool already = false;
    struct status s = service_load(load->proving->service, load->circuit, &already, &response.load_time_ms);
    response.already_loaded = already;
    if (status_failed(&s))
        fail_call(load->proving, load->call, "PreloadSRS", &s, false);
    else
        answer(load->call, &response.base);
}

static void run(struct lane_task *task)
{
    struct load *load = (struct load *)task; /* its first member */
    if (load->evict)
        evict(load);
    else
        preload(load);
    mem_free(load);
}

static void begin(struct proving *p, struct grpc_call *call, const char *circuit, bool evicts)
{
    struct load *load = lane_length(p->loads) < WAITING_MAX ? mem_alloc_zero(1, sizeof *load) : NULL;
    if (load == NULL) {
        grpc_end(call, GRPC_RESOURCE_EXHAUSTED, "too many parameter files are waiting to be loaded", 5000);
        return;
    }
    *load = (struct load){.task.run = run, .proving = p, .call = call, .evict = evicts};
    snprintf(load->circuit, sizeof load->circuit, "%s", circuit);
    utf8_repair(load->circuit);
    lane_add(p->loads, &load->task, PRIORITY_NORMAL);
}

void handle_preload(void *context, struct grpc_call *call, struct grpc_message *message)
{
    Cuzk__V1__PreloadSRSRequest *request = unpack(call, message, &cuzk__v1__preload_srsrequest__descriptor);
    if (request == NULL)
        return;
    begin(context, call, request->circuit_id, false);
    protobuf_c_message_free_unpacked(&request->base, NULL);
}

void handle_evict(void *context, struct grpc_call *call, struct grpc_message *message)
{
    Cuzk__V1__EvictSRSRequest *request = unpack(call, message, &cuzk__v1__evict_srsrequest__descriptor);
    if (request == NULL)
        return;
    begin(context, call, request->circuit_id, true);
    protobuf_c_message_free_unpacked(&request->base, NULL);
}
