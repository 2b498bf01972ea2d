/* cuzk-bench status, metrics and preload: one call each. */
#include "cmd/bench/bench.h"

#include "base/mem.h"

#include <cuzk.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS    5000
#define PRELOAD_MS UINT64_C(7200000)

/* Connects, calls, closes; the reply's data is to be freed. */
static struct status ask(struct call_reply *reply, struct target *target, const char *method,
                         const uint8_t *message, size_t size, uint64_t timeout_ms)
{
    struct channel *channel;
    TRY(target_resolve(target));
    TRY(target_connect(&channel, target));
    struct status s = target_call(channel, method, message, size, timeout_ms, reply);
    channel_close(channel);
    return s;
}

static struct status garbled(const char *what)
{
    return status_error(STATUS_IO, "the answer is not a %s", what);
}

/* ---- status ---- */

static void item(const char *name, bool first)
{
    printf("%s", first ? "" : ", ");
    print_json_string(name);
    printf(": ");
}

static void text_item(const char *name, const char *value, bool first)
{
    item(name, first);
    print_json_string(value);
}

static void number_item(const char *name, uint64_t value, bool first)
{
    item(name, first);
    printf("%" PRIu64, value);
}

static const char *tier_name(int tier)
{
    static const char *const names[] = {"hot", "warm", "cold"};
    return tier >= 0 && tier < 3 ? names[tier] : "unknown";
}

static void show_json(const Cuzk__V1__GetStatusResponse *r)
{
    printf("{");
    number_item("uptime_seconds", r->uptime_seconds, true);
    number_item("total_proofs_completed", r->total_proofs_completed, false);
    number_item("total_proofs_failed", r->total_proofs_failed, false);
    number_item("pinned_memory_bytes", r->pinned_memory_bytes, false);
    number_item("pinned_memory_limit_bytes", r->pinned_memory_limit_bytes, false);
    item("gpus", false);
    printf("[");
    for (size_t i = 0; i < r->n_gpus; i++) {
        printf("%s{", i > 0 ? ", " : "");
        number_item("ordinal", r->gpus[i]->ordinal, true);
        text_item("name", r->gpus[i]->name, false);
        number_item("vram_total_bytes", r->gpus[i]->vram_total_bytes, false);
        number_item("vram_free_bytes", r->gpus[i]->vram_free_bytes, false);
        text_item("current_job_id", r->gpus[i]->current_job_id, false);
        text_item("current_proof_kind", r->gpus[i]->current_proof_kind, false);
        printf("}");
    }
    printf("]");
    item("loaded_srs", false);
    printf("[");
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        printf("%s{", i > 0 ? ", " : "");
        text_item("circuit_id", r->loaded_srs[i]->circuit_id, true);
        text_item("tier", tier_name((int)r->loaded_srs[i]->tier), false);
        number_item("size_bytes", r->loaded_srs[i]->size_bytes, false);
        number_item("ref_count", r->loaded_srs[i]->ref_count, false);
        printf("}");
    }
    printf("]");
    item("queues", false);
    printf("[");
    for (size_t i = 0; i < r->n_queues; i++) {
        printf("%s{", i > 0 ? ", " : "");
        text_item("proof_kind", r->queues[i]->proof_kind, true);
        number_item("pending", r->queues[i]->pending, false);
        number_item("in_progress", r->queues[i]->in_progress, false);
        printf("}");
    }
    puts("]}");
}

static double gib(uint64_t bytes)
{
    return (double)bytes / 1073741824;
}

static void show_text(const Cuzk__V1__GetStatusResponse *r)
{
    printf("up %" PRIu64 " s, %" PRIu64 " proofs completed, %" PRIu64 " failed\n", r->uptime_seconds,
           r->total_proofs_completed, r->total_proofs_failed);
    if (r->pinned_memory_limit_bytes != 0)
        printf("pinned memory %.2f of %.2f GiB\n", gib(r->pinned_memory_bytes),
               gib(r->pinned_memory_limit_bytes));
    for (size_t i = 0; i < r->n_queues; i++)
        printf("queue       %-14s %3u waiting, %3u running\n", r->queues[i]->proof_kind,
               r->queues[i]->pending, r->queues[i]->in_progress);
    for (size_t i = 0; i < r->n_gpus; i++) {
        printf("device %-4u %s", r->gpus[i]->ordinal, r->gpus[i]->name);
        if (r->gpus[i]->vram_total_bytes != 0)
            printf(", %.2f of %.2f GiB free", gib(r->gpus[i]->vram_free_bytes),
                   gib(r->gpus[i]->vram_total_bytes));
        if (r->gpus[i]->current_job_id[0] != 0)
            printf(", job %s (%s)\n", r->gpus[i]->current_job_id, r->gpus[i]->current_proof_kind);
        else
            printf(", idle\n");
    }
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        if (r->loaded_srs[i]->tier == CUZK__V1__SRSSTATUS__TIER__COLD) /* on disk, if at all */
            continue;
        printf("parameters  %-14s %.2f GiB, %s, used by %u\n", r->loaded_srs[i]->circuit_id,
               gib(r->loaded_srs[i]->size_bytes), tier_name((int)r->loaded_srs[i]->tier),
               r->loaded_srs[i]->ref_count);
    }
}

static int finish_output(void)
{
    struct result r = {.json = false};
    return result_end(&r);
}

static int run_status(int argc, char **argv)
{
    static struct target target;
    struct call_reply reply;
    const struct arg args[] = {TARGET_ARGS(target)};
    int exit_code;
    if (!args_parse(&COMMAND_STATUS, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    struct status s = ask(&reply, &target, "/cuzk.v1.ProvingEngine/GetStatus", NULL, 0, LOOK_MS);
    if (status_failed(&s))
        return report_status(&s, target.json);
    Cuzk__V1__GetStatusResponse *r = cuzk__v1__get_status_response__unpack(NULL, reply.size, reply.data);
    mem_free(reply.data);
    if (r == NULL) {
        s = garbled("GetStatusResponse");
        return report_status(&s, target.json);
    }
    if (target.json)
        show_json(r);
    else
        show_text(r);
    cuzk__v1__get_status_response__free_unpacked(r, NULL);
    return finish_output();
}

/* ---- metrics ---- */

static int run_metrics(int argc, char **argv)
{
    static struct target target;
    struct call_reply reply;
    const struct arg args[] = {TARGET_ARGS(target)};
    int exit_code;
    if (!args_parse(&COMMAND_METRICS, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    struct status s = ask(&reply, &target, "/cuzk.v1.ProvingEngine/GetMetrics", NULL, 0, LOOK_MS);
    if (status_failed(&s))
        return report_status(&s, target.json);
    Cuzk__V1__GetMetricsResponse *r = cuzk__v1__get_metrics_response__unpack(NULL, reply.size, reply.data);
    mem_free(reply.data);
    if (r == NULL) {
        s = garbled("GetMetricsResponse");
        return report_status(&s, target.json);
    }
    if (target.json) {
        struct result result = {.json = true};
        result_text(&result, "prometheus_text", r->prometheus_text);
        exit_code = result_end(&result);
    } else {
        fputs(r->prometheus_text, stdout);
        exit_code = finish_output();
    }
    cuzk__v1__get_metrics_response__free_unpacked(r, NULL);
    return exit_code;
}

/* ---- preload ---- */

static int preload(struct target *target, const char *circuit)
{
    uint8_t message[256];
    struct call_reply reply;
    Cuzk__V1__PreloadSRSRequest request = CUZK__V1__PRELOAD_SRSREQUEST__INIT;
    request.circuit_id = (char *)(uintptr_t)circuit;
    if (strlen(circuit) > 200)
        return usage_error(NULL, "--circuit-id is too long");
    size_t size = cuzk__v1__preload_srsrequest__pack(&request, message);
    struct status s = ask(&reply, target, "/cuzk.v1.ProvingEngine/PreloadSRS", message, size, PRELOAD_MS);
    if (status_failed(&s))
        return report_status(&s, target->json);
    Cuzk__V1__PreloadSRSResponse *r = cuzk__v1__preload_srsresponse__unpack(NULL, reply.size, reply.data);
    mem_free(reply.data);
    if (r == NULL) {
        s = garbled("PreloadSRSResponse");
        return report_status(&s, target->json);
    }
    struct result result = {.json = target->json};
    result_text(&result, "circuit", circuit);
    result_bool(&result, "already_loaded", r->already_loaded);
    result_seconds(&result, "seconds", 1e-3 * (double)r->load_time_ms);
    cuzk__v1__preload_srsresponse__free_unpacked(r, NULL);
    return result_end(&result);
}

static int run_preload(int argc, char **argv)
{
    static struct target target;
    static const char *circuit;
    const struct arg args[] = {
        {"--circuit-id", ARG_TEXT, &circuit, NULL, "CIRCUIT", "as in porep-32g (-i)", false},
        {"-i", ARG_ALIAS, "--circuit-id", NULL, NULL, NULL, false},
        TARGET_ARGS(target),
    };
    int exit_code;
    if (!args_parse(&COMMAND_PRELOAD, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    if (circuit == NULL)
        return usage_error(NULL, "preload needs --circuit-id");
    return preload(&target, circuit);
}

const struct command COMMAND_STATUS = {"status", "what the daemon does now", "", run_status};
const struct command COMMAND_METRICS = {"metrics", "its metrics as Prometheus text", "", run_metrics};
const struct command COMMAND_PRELOAD = {"preload", "load the parameters of a circuit", "-i CIRCUIT",
                                        run_preload};
