/* Prove, SubmitProof, AwaitProof and CancelProof: where a call meets a job.
 *
 * A call and its job have lives of their own. The call may end first (reset, deadline): then the engine is
 * told that the caller is gone, and the job goes on for as long as the engine's rule for orphans lets it. The
 * job may end while the call is being set up. So whoever comes first answers: `answered` decides, once.
 *
 * The bytes of a request belong to the engine from service_submit() on, as `struct holding`: message, lease
 * and list of views, freed when the engine releases it or has refused it. */
#include "serve/internal.h"

#include "base/mem.h"
#include <cuzk.pb-c.h>
#include "serve/submission.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A larger request is given to the engine by another thread: the engine compares its bytes with those of
 * other jobs. */
#define INLINE_BYTES (1 << 20)

#define TEXT(text_) ((char *)(uintptr_t)(text_))

/* ---- the bytes of a request ---- */

struct holding {
    struct grpc_message *message;
    struct submission submission;
    struct proof_request request;
    char request_id[REQUEST_ID_MAX + 1];
    atomic_uint references; /* the engine's, and ours until service_submit() has returned */
    atomic_bool released;   /* by the engine */
};

static void holding_drop(struct holding *h)
{
    if (atomic_fetch_sub(&h->references, 1) != 1)
        return;
    submission_end(&h->submission);
    grpc_message_end(h->message);
    mem_free(h);
}

static void release_owner(void *owner)
{
    struct holding *h = owner;
    CHECK(!atomic_exchange(&h->released, true));
    holding_drop(h);
}

/* Takes the message, also on error. */
static struct status holding_make(struct holding **out, struct grpc_message *message, bool wrapped)
{
    struct holding *h = mem_alloc_zero(1, sizeof *h);
    if (h == NULL) {
        grpc_message_end(message);
        return mem_failed("request", 1, sizeof *h);
    }
    h->message = message;
    atomic_store(&h->references, 1);
    struct status s = submission_decode(&h->submission, message->data, message->size, wrapped);
    if (!status_failed(&s))
        s = submission_request(&h->request, &h->submission);
    if (status_failed(&s)) {
        holding_drop(h);
        return s;
    }
    /* At most REQUEST_ID_MAX bytes, none of them 0: submission_request() has looked. */
    if (h->submission.request_id.size != 0)
        memcpy(h->request_id, h->submission.request_id.data, h->submission.request_id.size);
    *out = h;
    return s;
}

/* ---- priorities ---- */

static enum priority default_priority(enum proof_kind kind)
{
    return kind == PROOF_WINNING ? PRIORITY_CRITICAL : kind == PROOF_WINDOW ? PRIORITY_HIGH : PRIORITY_NORMAL;
}

/* Numbers that do not exist count as unspecified. */
static enum priority priority_of(enum proof_kind kind, int32_t number)
{
    switch (number) {
    case CUZK__V1__PRIORITY__LOW:
        return PRIORITY_LOW;
    case CUZK__V1__PRIORITY__NORMAL:
        return PRIORITY_NORMAL;
    case CUZK__V1__PRIORITY__HIGH:
        return PRIORITY_HIGH;
    case CUZK__V1__PRIORITY__CRITICAL:
        return PRIORITY_CRITICAL;
    default:
        return default_priority(kind);
    }
}

/* A WinningPoSt request is 164 KB, a third more in a sector of several paths. */
#define WINNING_BYTES (4 << 20)

/* The ledger keeps bytes for CRITICAL that are meant for WinningPoSt alone: nothing else gets them by asking.
 */
static enum priority upload_priority(const uint8_t *head, size_t head_size, uint64_t message_size,
                                     bool wrapped)
{
    int32_t number, wanted;
    enum proof_kind kind;
    submission_peek(&number, &wanted, head, head_size, wrapped);
    if (!wire_kind(&kind, number))
        return PRIORITY_NORMAL;
    enum priority priority = priority_of(kind, wanted);
    if (priority == PRIORITY_CRITICAL && (kind != PROOF_WINNING || message_size > WINNING_BYTES))
        priority = PRIORITY_HIGH;
    return priority;
}

enum priority prove_priority(const uint8_t *head, size_t head_size, uint64_t message_size)
{
    return upload_priority(head, head_size, message_size, true);
}

enum priority submit_priority(const uint8_t *head, size_t head_size, uint64_t message_size)
{
    return upload_priority(head, head_size, message_size, false);
}

/* ---- calls that meet jobs ---- */

static uint64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum job_method { PROVE, SUBMIT, AWAIT };
static const char *const method_names[] = {"Prove", "SubmitProof", "AwaitProof"};

struct job_call {
    struct lane_task task;
    struct proving *proving;
    struct grpc_call *call;
    enum job_method method;
    struct holding *holding; /* until the engine has it */
    enum priority priority;
    uint64_t timeout_ms, due_ms; /* due_ms: when a Prove call's deadline passes, 0 without one */
    uint32_t position;           /* in the queue, when it was submitted */
    char id[REQUEST_ID_MAX + 1];
    atomic_uint references; /* the call's, and that of whoever sets the call up */
    atomic_bool answered;
    pthread_mutex_t lock;
    bool gone, waiting; /* waiting: the waiter is the engine's, and gone may withdraw it */
    uint64_t waiter;
};

static void job_call_drop(void *context)
{
    struct job_call *j = context;
    if (atomic_fetch_sub(&j->references, 1) != 1)
        return;
    pthread_mutex_destroy(&j->lock);
    mem_free(j);
}

/* True for the one who may answer. */
static bool first_to_answer(struct job_call *j)
{
    return !atomic_exchange(&j->answered, true);
}

static void fail(struct job_call *j, const struct status *s)
{
    if (first_to_answer(j))
        fail_call(j->proving, j->call, method_names[j->method], s, j->method != AWAIT);
}

static void abandon(struct job_call *j)
{
    if (first_to_answer(j))
        grpc_end(j->call, GRPC_CANCELLED, NULL, 0); /* nobody hears it */
}

/* The caller has left. If the call is still being set up, whoever does that finds `gone`. */
static void caller_gone(void *context)
{
    struct job_call *j = context;
    pthread_mutex_lock(&j->lock);
    j->gone = true;
    bool waiting = j->waiting;
    j->waiting = false;
    pthread_mutex_unlock(&j->lock);
    if (waiting && !atomic_load(&j->answered)) {
        service_unwait(j->proving->service, j->waiter);
        abandon(j);
    }
}

static struct job_call *job_call_make(struct proving *p, struct grpc_call *call, enum job_method method)
{
    struct job_call *j = mem_alloc_zero(1, sizeof *j);
    if (j == NULL) {
        grpc_end(call, GRPC_RESOURCE_EXHAUSTED, "no memory", 1000);
        return NULL;
    }
    j->proving = p;
    j->call = call;
    j->method = method;
    atomic_store(&j->references, 2);
    pthread_mutex_init(&j->lock, NULL);
    grpc_call_watch(call, caller_gone, job_call_drop, j);
    return j;
}

/* ---- results ---- */

static Cuzk__V1__AwaitProofResponse__Status wire_state(enum job_state state)
{
    switch (state) {
    case JOB_COMPLETED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    case JOB_FAILED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
    case JOB_CANCELLED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED;
    case JOB_QUEUED:
    case JOB_RUNNING:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
    case JOB_UNKNOWN:
        break;
    }
    return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__UNKNOWN;
}

static void answer_result(struct job_call *j, const struct job_result *r)
{
    Cuzk__V1__AwaitProofResponse result = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    char error[STATUS_TEXT_MAX];
    status_text(error, &r->status);
    result.job_id = TEXT(r->id);
    result.status = wire_state(r->state);
    if (r->state == JOB_COMPLETED)
        result.proof = (ProtobufCBinaryData){r->proof_size, (uint8_t *)(uintptr_t)r->proof};
    else
        result.error_message = error;
    result.queue_wait_ms = r->times.queue_wait_ms;
    result.srs_load_ms = r->times.load_ms;
    result.synthesis_ms = r->times.synthesis_ms;
    result.gpu_compute_ms = r->times.device_ms;
    result.total_ms = r->times.total_ms;
    if (j->method == PROVE) {
        Cuzk__V1__ProveResponse response = CUZK__V1__PROVE_RESPONSE__INIT;
        response.result = &result;
        answer(j->call, &response.base);
    } else {
        answer(j->call, &result.base);
    }
}

/* From a thread of the engine's, or from within service_await(). */
static void job_ended(void *context, const struct job_result *r)
{
    struct job_call *j = context;
    bool bad_input =
        r->state == JOB_FAILED && (r->status.code == STATUS_INVALID || r->status.code == STATUS_UNSUPPORTED);
    bool drained = r->state == JOB_CANCELLED && atomic_load(&j->proving->draining);
    /* The engine ends a job whose caller's time is over; it may see that before the server sees it of the
     * call. */
    bool late = r->state == JOB_CANCELLED && j->due_ms != 0 && clock_ms() >= j->due_ms;
    if (!first_to_answer(j))
        return;
    if (j->method == PROVE && late && !drained) {
        grpc_fail(j->call, GRPC_DEADLINE_EXCEEDED, "%s", r->status.message);
    } else if (j->method == PROVE && (bad_input || drained)) {
        struct status s = r->status;
        s.code = drained ? STATUS_CANCELLED : s.code;
        fail_call(j->proving, j->call, method_names[j->method], &s, true);
    } else {
        answer_result(j, r);
    }
}

/* From a thread of the engine's: the job is where it outlives this process, if anywhere. */
static void job_stored(void *context, const struct job_result *r)
{
    struct job_call *j = context;
    Cuzk__V1__SubmitProofResponse response = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
    response.job_id = TEXT(r->id);
    response.queue_position = j->position;
    if (first_to_answer(j))
        answer(j->call, &response.base);
}

/* Waits for the job j->id, or for its being stored, in whatever thread sets the call up. */
static void await(struct job_call *j)
{
    struct engine_service *service = j->proving->service;
    uint64_t timeout_ms = j->method == AWAIT ? j->timeout_ms : 0;
    struct status s = j->method == SUBMIT
                          ? service_acknowledge(service, &j->waiter, j->id, job_stored, j)
                          : service_await(service, &j->waiter, j->id, timeout_ms, job_ended, j);
    if (status_failed(&s)) {
        fail(j, &s);
        return;
    }
    pthread_mutex_lock(&j->lock);
    bool gone = j->gone;
    j->waiting = !gone;
    pthread_mutex_unlock(&j->lock);
    if (gone) {
        service_unwait(service,
                       j->waiter); /* also when the job has ended meanwhile: then it is no waiter's */
        abandon(j);
    }
}

/* ---- submitting ---- */

static struct status refuse_draining(const struct job_call *j)
{
    if (!atomic_load(&j->proving->draining) || j->holding->request.kind == PROOF_WINNING)
        return status_ok();
    return status_hint(status_error(STATUS_CANCELLED, "the daemon is stopping and takes no new proofs"),
                       "try again when it has been started");
}

/* Gives the request to the engine and sees to the answer; drops the reference of the setting up. */
static void submit(struct job_call *j)
{
    struct holding *h = j->holding;
    struct service_submit submission = {.request_id = h->request_id,
                                        .request = h->request,
                                        .owner = h,
                                        .release_owner = release_owner,
                                        .priority = j->priority,
                                        .timeout_ms = j->timeout_ms,
                                        .detached = j->method == SUBMIT};
    char id[40] = "";
    struct status s = refuse_draining(j);
    if (!status_failed(&s)) {
        atomic_fetch_add(&h->references, 1);
        s = service_submit(j->proving->service, id, &j->position, &submission);
        /* A refused request is ours again unless the engine has released it already. */
        if (status_failed(&s) && !atomic_exchange(&h->released, true))
            holding_drop(h);
    }
    j->holding = NULL;
    holding_drop(h);
    snprintf(j->id, sizeof j->id, "%s", id);
    if (status_failed(&s))
        fail(j, &s);
    else
        await(j);
    job_call_drop(j);
}

static void run_submit(struct lane_task *task)
{
    submit((struct job_call *)task); /* its first member */
}

static void begin_submit(struct proving *p, struct grpc_call *call, struct grpc_message *message,
                         enum job_method method)
{
    struct holding *h = NULL;
    struct status s = holding_make(&h, message, method == PROVE);
    if (status_failed(&s)) {
        fail_call(p, call, method_names[method], &s, true);
        return;
    }
    struct job_call *j = job_call_make(p, call, method);
    if (j == NULL) {
        holding_drop(h);
        return;
    }
    int32_t priority = h->submission.priority;
    if (priority < CUZK__V1__PRIORITY__PRIORITY_UNSPECIFIED || priority > CUZK__V1__PRIORITY__CRITICAL)
        proving_log(p, 1, "%s %s: priority %" PRId32 " does not exist; the kind's own is used",
                    method_names[method], h->request_id, priority);
    j->holding = h;
    j->priority = priority_of(h->request.kind, priority);
    /* What is submitted for itself lives longer than the call that does it. */
    j->timeout_ms = method == PROVE ? grpc_call_timeout_ms(call) : 0;
    j->due_ms = j->timeout_ms != 0 ? clock_ms() + j->timeout_ms : 0;
    if (h->message->size <= INLINE_BYTES) {
        submit(j);
    } else {
        j->task.run = run_submit;
        lane_add(p->submits, &j->task, j->priority);
    }
}

void handle_prove(void *context, struct grpc_call *call, struct grpc_message *message)
{
    begin_submit(context, call, message, PROVE);
}

void handle_submit(void *context, struct grpc_call *call, struct grpc_message *message)
{
    begin_submit(context, call, message, SUBMIT);
}

/* ---- by id ---- */

void handle_await(void *context, struct grpc_call *call, struct grpc_message *message)
{
    Cuzk__V1__AwaitProofRequest *request = unpack(call, message, &cuzk__v1__await_proof_request__descriptor);
    if (request == NULL)
        return;
    struct job_call *j = NULL;
    if (strlen(request->job_id) > REQUEST_ID_MAX)
        grpc_fail(call, GRPC_NOT_FOUND, "no job has an id of %zu bytes", strlen(request->job_id));
    else
        j = job_call_make(context, call, AWAIT);
    if (j != NULL) {
        snprintf(j->id, sizeof j->id, "%s", request->job_id);
        j->timeout_ms = request->timeout_ms < GRPC_TIMEOUT_MAX_MS ? request->timeout_ms : GRPC_TIMEOUT_MAX_MS;
        await(j);
        job_call_drop(j);
    }
    protobuf_c_message_free_unpacked(&request->base, NULL);
}

void handle_cancel(void *context, struct grpc_call *call, struct grpc_message *message)
{
    struct proving *p = context;
    Cuzk__V1__CancelProofRequest *request =
        unpack(call, message, &cuzk__v1__cancel_proof_request__descriptor);
    if (request == NULL)
        return;
    bool was_running = false;
    struct status s = service_cancel(p->service, request->job_id, &was_running);
    if (status_failed(&s)) {
        fail_call(p, call, "CancelProof", &s, false);
    } else {
        Cuzk__V1__CancelProofResponse response = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
        response.was_running = was_running;
        answer(call, &response.base);
    }
    protobuf_c_message_free_unpacked(&request->base, NULL);
}
