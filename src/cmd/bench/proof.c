/* See proof.h. */
#include "cmd/bench/proof.h"

#include "base/mem.h"

#include <cuzk.pb-c.h>
#include <stdio.h>
#include <string.h>

typedef Cuzk__V1__AwaitProofResponse await_response;

static const char *status_name(int status)
{
    static const char *const names[] = {"UNKNOWN", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"};
    return status >= 0 && status < (int)(sizeof names / sizeof names[0]) ? names[status] : "a strange status";
}

static void take(struct proof *proof, const await_response *r)
{
    snprintf(proof->job_id, sizeof proof->job_id, "%s", r->job_id);
    proof->queue_wait_ms = r->queue_wait_ms;
    proof->srs_load_ms = r->srs_load_ms;
    proof->synthesis_ms = r->synthesis_ms;
    proof->gpu_compute_ms = r->gpu_compute_ms;
    proof->total_ms = r->total_ms;
    proof->completed = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED && r->proof.len > 0;
    proof->size = r->proof.len;
    if (!proof->completed)
        snprintf(proof->error, sizeof proof->error, "job %.63s: %s: %.380s", proof->job_id,
                 status_name((int)r->status),
                 r->error_message[0] != 0 ? r->error_message : "no reason given");
    if (!proof->completed || !proof->keep)
        return;
    proof->bytes = mem_alloc(r->proof.len, 1);
    if (proof->bytes != NULL)
        memcpy(proof->bytes, r->proof.data, r->proof.len);
}

static void done(void *context, const struct call_result *result)
{
    struct proof *proof = context;
    proof->ended = seconds_now();
    proof->over = true;
    --*proof->running;
    if (result->code != GRPC_OK) {
        snprintf(proof->error, sizeof proof->error, "%s: %.480s",
                 grpc_code_name((enum grpc_code)result->code), result->message);
        return;
    }
    Cuzk__V1__ProveResponse *response = cuzk__v1__prove_response__unpack(NULL, result->size, result->data);
    if (response == NULL || response->result == NULL)
        snprintf(proof->error, sizeof proof->error, "the answer is not a ProveResponse");
    else
        take(proof, response->result);
    if (response != NULL)
        cuzk__v1__prove_response__free_unpacked(response, NULL);
}

struct status proof_start(struct proof *proof, struct channel *channel, const struct input *input,
                          uint64_t number)
{
    uint8_t head[CALL_HEAD_MAX];
    struct call_request request = {.path = "/cuzk.v1.ProvingEngine/Prove",
                                   .head = head,
                                   .head_size = input_head(head, input, number),
                                   .body = input->body,
                                   .body_size = input->body_size,
                                   .timeout_ms = 1000 * input->timeout_s};
    proof->started = seconds_now();
    TRY(channel_start(channel, &request, done, proof));
    ++*proof->running;
    return status_ok();
}
