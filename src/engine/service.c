/* The service's beginning and end, and what callers ask of it: see service.h. */
#include "engine/service_internal.h"

#include "base/mem.h"
#include "base/signals.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/* ---- beginning ---- */

int service_thread(pthread_t *out, void *(*run)(void *), void *argument, bool detached)
{
    pthread_attr_t attributes;
    sigset_t all, old;
    signals_not_for_threads(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    CHECK(pthread_attr_init(&attributes) == 0);
    pthread_attr_setdetachstate(&attributes, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    int error = pthread_create(out, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

static char *copy_text(const char *text)
{
    if (text == NULL)
        return NULL;
    size_t length = strlen(text) + 1;
    char *copy = mem_alloc(length, 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

static struct status copy_options(struct engine_service *s, const struct service_options *o)
{
    s->config = o->engine;
    if (o->journal != NULL && o->journal[0] != 0)
        s->config.retention_ms = o->journal_retention_ms;
    s->allow_test_params = o->allow_test_params;
    memcpy(s->late_ms, o->late_ms, sizeof s->late_ms);
    s->memory.budget = o->engine.host_budget;
    if (o->plan != NULL)
        s->plan = *o->plan;
    s->log = o->log;
    s->log_context = o->log_context;
    s->param_cache = copy_text(o->param_cache);
    s->state_dir = copy_text(o->state_dir);
    s->trusted = mem_alloc_zero(o->trusted_digests_count + 1, sizeof *s->trusted);
    if ((o->param_cache != NULL && s->param_cache == NULL) ||
        (o->state_dir != NULL && s->state_dir == NULL) || s->trusted == NULL)
        return mem_failed("options", o->trusted_digests_count, sizeof *s->trusted);
    for (uint32_t i = 0; i < o->trusted_digests_count; i++) {
        s->trusted[i] = copy_text(o->trusted_digests[i]);
        if (s->trusted[i] == NULL)
            return mem_failed("options", 1, 64);
        s->trusted_count = i + 1;
    }
    return status_ok();
}

static struct status make_circuits(struct engine_service *s, const struct service_options *o)
{
    CHECK(o->circuits_count <= ENGINE_CIRCUITS_MAX);
    s->circuits = mem_alloc_zero(o->circuits_count + 1, sizeof *s->circuits);
    if (s->circuits == NULL)
        return mem_failed("circuits", o->circuits_count, sizeof *s->circuits);
    for (uint32_t i = 0; i < o->circuits_count; i++) {
        struct circuit *c = &s->circuits[i];
        if (!circuit_by_name(&c->kind, &c->sector, o->circuits[i]))
            return status_error(STATUS_INVALID, "no circuit is called \"%.60s\"", o->circuits[i]);
        circuit_name(c->name, c->kind, c->sector);
        c->service = s;
        c->number = i;
        s->circuits_count = i + 1;
    }
    return status_ok();
}

static struct status open_devices(struct engine_service *s, const struct service_options *o)
{
    TRY(pool_start(&s->pool, o->threads));
    if (o->devices == NULL) {
        TRY(device_cpu_open(&s->own_device, s->pool));
        s->devices[0] = s->own_device;
        s->devices_count = 1;
    } else {
        CHECK(o->devices_count > 0 && o->devices_count <= ENGINE_DEVICES_MAX);
        memcpy(s->devices, o->devices, o->devices_count * sizeof s->devices[0]);
        s->devices_count = o->devices_count;
    }
    s->config.devices = s->devices_all = s->devices_count;
    s->config.spare_device = o->spare_cpu && o->devices != NULL && s->devices_count < ENGINE_DEVICES_MAX;
    if (s->config.spare_device) {
        TRY(device_cpu_open(&s->own_device, s->pool));
        s->devices[s->devices_all++] = s->own_device;
    }
    for (uint32_t d = 0; d < s->devices_all; d++) {
        struct status self = s->devices[d]->operations->self_test(s->devices[d]);
        if (status_failed(&self))
            return status_within(self, "self test of device %u (%s)", d, s->devices[d]->operations->name);
    }
    return status_ok();
}

static struct status start_threads(struct engine_service *s)
{
    uint32_t count = engine_parallel(&s->config);
    s->workers = mem_alloc_zero(count, sizeof *s->workers);
    if (s->workers == NULL)
        return mem_failed("workers", count, sizeof *s->workers);
    int error = service_thread(&s->clock_thread, service_clock, s, false);
    s->clock_runs = error == 0;
    while (error == 0 && s->workers_count < count) {
        error = service_thread(&s->workers[s->workers_count], service_worker, s, false);
        s->workers_count += error == 0;
    }
    if (error != 0)
        return status_hint(status_error(STATUS_MEMORY, "cannot start thread %u of %u: %s",
                                        s->workers_count + 2, count + 1, strerror(error)),
                           "raise the limit of processes (ulimit -u, pids.max), or use fewer workers");
    return status_ok();
}

static void init_sync(struct engine_service *s)
{
    pthread_condattr_t monotonic;
    CHECK(pthread_mutex_init(&s->lock, NULL) == 0);
    CHECK(pthread_condattr_init(&monotonic) == 0);
    CHECK(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&s->clock_work, &monotonic) == 0);
    CHECK(pthread_cond_init(&s->work, NULL) == 0);
    CHECK(pthread_cond_init(&s->changed, NULL) == 0);
    pthread_condattr_destroy(&monotonic);
    s->tasks_last = &s->tasks_first;
    s->later_last = &s->later_first;
    s->ready_last = &s->ready_first;
}

struct status service_start(struct engine_service **out, const struct service_options *options)
{
    struct engine_circuit facts[ENGINE_CIRCUITS_MAX] = {0};
    struct engine_service *s = mem_alloc_zero(1, sizeof *s);
    struct status status = status_ok();
    *out = NULL;
    if (s == NULL)
        return mem_failed("engine", 1, sizeof *s);
    init_sync(s);
    s->started_ms = service_clock_ms();
    atomic_store(&s->round_ms, s->started_ms);
    status = copy_options(s, options);
    if (!status_failed(&status))
        status = make_circuits(s, options);
    if (!status_failed(&status))
        status = open_devices(s, options);
    for (uint32_t i = 0; i < s->circuits_count; i++) {
        if (options->facts != NULL)
            facts[i] = options->facts[i];
        facts[i].resident = s->circuits[i].kind == PROOF_WINNING;
        facts[i].floor = s->circuits[i].kind == PROOF_WINDOW;
    }
    if (!status_failed(&status))
        status = engine_make(&s->engine, &s->config, facts, s->circuits_count);
    if (!status_failed(&status))
        status = start_threads(s);
    if (!status_failed(&status))
        status = keeper_start(s, options);
    if (status_failed(&status)) {
        service_end(s);
        return status;
    }
    *out = s;
    return status;
}

/* ---- end ---- */

static void cancel_all(struct engine_service *s)
{
    struct engine_event event = {.kind = EVENT_CANCEL,
                                 .status = status_error(STATUS_CANCELLED, "the daemon stops")};
    while (s->live_first != NULL) {
        event.job = s->live_first->number;
        service_step(s, &event);
    }
}

static bool idle(const struct engine_service *s)
{
    return s->open == 0 && s->loaders == 0 && s->load_callers == 0 && s->ready_first == NULL &&
           s->delivering == 0;
}

void service_stop_loads(struct engine_service *s)
{
    atomic_store(&s->loads_cancel.requested, true);
}

static void stop_threads(struct engine_service *s)
{
    service_lock(s);
    s->ending = true;
    atomic_store(&s->loads_cancel.requested, true);
    pthread_cond_broadcast(&s->changed);
    if (s->workers_count > 0) {
        cancel_all(s);
        clock_wake(s);
        while (!idle(s))
            pthread_cond_wait(&s->changed, &s->lock);
        service_unlock(s);
        keeper_stop(s);
        service_lock(s);
        while (!idle(s)) /* callbacks for what it wrote last */
            pthread_cond_wait(&s->changed, &s->lock);
    }
    s->stop = true;
    pthread_cond_broadcast(&s->work);
    pthread_cond_broadcast(&s->clock_work);
    service_unlock(s);
    if (s->clock_runs)
        pthread_join(s->clock_thread, NULL);
    for (uint32_t i = 0; i < s->workers_count; i++)
        pthread_join(s->workers[i], NULL);
    service_lock(s); /* what the last steps left to be done */
    service_unlock(s);
}

void service_end(struct engine_service *s)
{
    if (s == NULL)
        return;
    stop_threads(s);
    for (size_t b = 0; b < BUCKETS; b++) {
        while (s->by_number[b] != NULL) {
            struct record *r = s->by_number[b];
            record_forget(s, r);
            record_free(r);
        }
    }
    for (uint32_t i = 0; i < s->circuits_count; i++)
        content_drop(s, &s->circuits[i].content);
    engine_end(s->engine);
    if (s->own_device != NULL)
        s->own_device->operations->close(s->own_device);
    pool_end(s->pool);
    mem_free(s->workers);
    mem_free(s->circuits);
    mem_free(s->param_cache);
    mem_free(s->state_dir);
    for (uint32_t i = 0; i < s->trusted_count; i++)
        mem_free((char *)(uintptr_t)s->trusted[i]);
    mem_free(s->trusted);
    pthread_cond_destroy(&s->clock_work);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

/* ---- submitting ---- */

static uint64_t request_bytes(const struct proof_request *r)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->vanilla_count; i++)
        bytes += r->vanilla[i].size;
    return bytes;
}

static struct engine_submit engine_view(const struct record *r)
{
    return (struct engine_submit){.circuit = r->circuit,
                                  .partitions = r->outline.partitions,
                                  .priority = r->priority,
                                  .reserved = r->outline.kind == PROOF_WINNING,
                                  .keep_when_orphaned = r->detached,
                                  .request_bytes = request_bytes(&r->request),
                                  .deadline_ms = r->deadline_ms};
}

static void join(struct engine_service *s, struct record *r, const struct record *repeated)
{
    s->metrics.joined++;
    service_say(s, 2, "job %s (%.60s): the same request again joins it", r->id, r->request_id);
    if (!r->live)
        return;
    struct engine_event event = {
        .kind = EVENT_CALLER_BACK,
        .job = r->number,
        .submit = {.deadline_ms = repeated->deadline_ms, .keep_when_orphaned = repeated->detached}};
    if ((repeated->detached && !r->detached) || repeated->deadline_ms != r->deadline_ms)
        keeper_note(s, r);
    r->detached |= repeated->detached;
    if (repeated->deadline_ms == 0 || (r->deadline_ms != 0 && repeated->deadline_ms > r->deadline_ms))
        r->deadline_ms = repeated->deadline_ms;
    service_step(s, &event);
}

struct status service_add(struct engine_service *s, struct record *r, const struct service_submit *submit)
{
    struct engine_submit view = engine_view(r);
    uint64_t now = service_clock_ms();
    TRY(s->ending ? work_cancelled_status() : engine_would_admit(s->engine, now, &view));
    r->number = ++s->next_number;
    r->submitted_ms = now;
    r->owner = submit->owner;
    r->release_owner = submit->release_owner;
    record_add(s, r);
    s->circuits[r->circuit].references++;
    s->open++;
    struct engine_event event = {.kind = EVENT_SUBMIT, .job = r->number, .submit = view};
    service_say(s, 2, "job %s (%.60s): %s, %u partitions, %llu bytes", r->id, r->request_id,
                r->outline.circuit, r->outline.partitions, (unsigned long long)view.request_bytes);
    service_step(s, &event);
    if (r->live || r->closed) { /* closed already: its deadline passed while it came */
        if (!r->keep.replayed)
            keeper_note(s, r);
        return status_ok();
    }
    keeper_drop(s, r);
    struct status refusal = r->status; /* it was answered and is not known: it never was */
    s->circuits[r->circuit].references--;
    s->open--;
    record_forget(s, r);
    return refusal;
}

static struct status refused(struct engine_service *s, const struct status *status, struct record *r)
{
    service_lock(s);
    s->metrics.rejected[status->code]++;
    service_unlock(s);
    record_free(r);
    return *status;
}

static struct status prepare(struct record **out, struct engine_service *s,
                             const struct service_submit *submit)
{
    struct request_outline outline;
    *out = NULL;
    TRY(request_outline(&outline, &submit->request));
    const struct circuit *c = circuit_find(s, outline.circuit);
    if (c == NULL)
        return status_error(STATUS_UNSUPPORTED, "circuit %s is not served here", outline.circuit);
    if (outline.partitions > ENGINE_PARTITIONS_MAX)
        return status_error(STATUS_UNSUPPORTED, "%u partitions are more than %d", outline.partitions,
                            ENGINE_PARTITIONS_MAX);
    TRY(record_make(out, submit, &outline));
    (*out)->circuit = c->number;
    if (submit->timeout_ms != 0)
        (*out)->deadline_ms = service_clock_ms() + submit->timeout_ms;
    struct status status = request_digest((*out)->digest, &submit->request);
    if (status_failed(&status)) {
        record_free(*out);
        *out = NULL;
    }
    return status;
}

struct status service_submit(struct engine_service *s, char id[40], uint32_t *position,
                             const struct service_submit *submit)
{
    struct record *r;
    id[0] = 0;
    *position = 0;
    struct status status = prepare(&r, s, submit);
    if (status_failed(&status))
        return refused(s, &status, NULL);
    service_lock(s);
    struct record *same = record_to_join(s, submit->request_id, r->digest);
    if (same != NULL) {
        join(s, same, r);
        memcpy(id, same->id, ID_BYTES);
        *position = engine_queue_position(s->engine, same->number);
    } else {
        status = service_add(s, r, submit);
        if (!status_failed(&status)) {
            memcpy(id, r->id, ID_BYTES);
            *position = engine_queue_position(s->engine, r->number);
        }
    }
    service_unlock(s);
    if (status_failed(&status))
        return refused(s, &status, r);
    if (same != NULL) {
        record_free(r);
        if (submit->release_owner != NULL)
            submit->release_owner(submit->owner);
    }
    return status;
}

struct status service_cancel(struct engine_service *s, const char *id, bool *was_running)
{
    struct record *r;
    *was_running = false;
    service_lock(s);
    struct status status = record_find(&r, s, id);
    if (!status_failed(&status) && r->live) {
        struct engine_event event = {.kind = EVENT_CANCEL,
                                     .job = r->number,
                                     .status = status_error(STATUS_CANCELLED, "cancelled on request")};
        *was_running = true;
        service_step(s, &event);
    }
    service_unlock(s);
    return status;
}
