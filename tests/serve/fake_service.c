/* See fake_service.h. */
#include "fake_service.h"

#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct engine_service *fake_service(void)
{
    struct engine_service *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    return s;
}

void fake_end(struct engine_service *s)
{
    for (size_t i = 0; i < s->jobs_count; i++)
        CHECK(s->jobs[i].owner == NULL);
    for (size_t i = 0; i < FAKE_WAITERS; i++)
        CHECK(s->waiters[i].number == 0);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void fake_wait_jobs(struct engine_service *s, size_t count)
{
    pthread_mutex_lock(&s->lock);
    while (s->jobs_count < count)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void fake_wait_unwaited(struct engine_service *s, size_t job, unsigned count)
{
    pthread_mutex_lock(&s->lock);
    while (s->jobs[job].unwaited < count)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

size_t fake_jobs(struct engine_service *s)
{
    pthread_mutex_lock(&s->lock);
    size_t count = s->jobs_count;
    pthread_mutex_unlock(&s->lock);
    return count;
}

struct fake_job fake_job(struct engine_service *s, size_t job)
{
    pthread_mutex_lock(&s->lock);
    struct fake_job copy = s->jobs[job];
    pthread_mutex_unlock(&s->lock);
    return copy;
}

unsigned fake_waiters(struct engine_service *s, size_t job)
{
    return fake_job(s, job).waiters;
}

unsigned fake_loads(struct engine_service *s)
{
    pthread_mutex_lock(&s->lock);
    unsigned loads = s->loads;
    pthread_mutex_unlock(&s->lock);
    return loads;
}

void fake_refuse(struct engine_service *s, struct status refusal, bool keep)
{
    pthread_mutex_lock(&s->lock);
    s->refusal = refusal;
    s->keep_refused = keep;
    pthread_mutex_unlock(&s->lock);
}

void fake_hold_loads(struct engine_service *s, bool hold)
{
    pthread_mutex_lock(&s->lock);
    s->loads_held = hold;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* The lock is held, but not while the callback runs. */
static void call_back(struct engine_service *s, struct fake_waiter *w, enum job_state state)
{
    struct fake_job *job = &s->jobs[w->job];
    struct job_result result = {.state = state,
                                .proof = job->proof,
                                .proof_size = job->proof_size,
                                .status = job->status,
                                .times = {11, 12, 13, 14, 15}};
    memcpy(result.id, job->id, sizeof result.id);
    w->running = true;
    w->thread = pthread_self();
    pthread_mutex_unlock(&s->lock);
    w->callback(w->context, &result);
    pthread_mutex_lock(&s->lock);
    w->running = false;
    w->number = 0;
    pthread_cond_broadcast(&s->changed);
}

static void call_all(struct engine_service *s, size_t job, enum job_state state)
{
    for (size_t i = 0; i < FAKE_WAITERS; i++)
        if (s->waiters[i].number != 0 && !s->waiters[i].running && s->waiters[i].job == job)
            call_back(s, &s->waiters[i], state);
}

static void release(struct engine_service *s, struct fake_job *job)
{
    void *owner = job->owner;
    job->owner = NULL;
    if (owner == NULL)
        return;
    pthread_mutex_unlock(&s->lock);
    job->release(owner);
    pthread_mutex_lock(&s->lock);
}

void fake_finish(struct engine_service *s, size_t job, enum job_state state, struct status status)
{
    pthread_mutex_lock(&s->lock);
    struct fake_job *j = &s->jobs[job];
    j->state = state;
    j->status = status;
    j->proof_size = state == JOB_COMPLETED ? 192 : 0;
    memset(j->proof, j->first_byte, j->proof_size);
    release(s, j);
    call_all(s, job, state);
    pthread_mutex_unlock(&s->lock);
}

void fake_timeout(struct engine_service *s, size_t job)
{
    pthread_mutex_lock(&s->lock);
    call_all(s, job, JOB_RUNNING);
    pthread_mutex_unlock(&s->lock);
}

static bool find(struct engine_service *s, size_t *out, const char *id)
{
    for (size_t i = s->jobs_count; i-- > 0;)
        if (strcmp(s->jobs[i].id, id) == 0 || strcmp(s->jobs[i].request_id, id) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static struct fake_job *add_job(struct engine_service *s, const struct service_submit *submit)
{
    CHECK(s->jobs_count < FAKE_JOBS);
    struct fake_job *job = &s->jobs[s->jobs_count];
    *job = (struct fake_job){.request = submit->request,
                             .first_byte = submit->request.vanilla[0].data[0],
                             .owner = submit->owner,
                             .release = submit->release_owner,
                             .priority = submit->priority,
                             .timeout_ms = submit->timeout_ms,
                             .detached = submit->detached,
                             .state = JOB_RUNNING};
    snprintf(job->id, sizeof job->id, "job-%zu", s->jobs_count);
    snprintf(job->request_id, sizeof job->request_id, "%s", submit->request_id);
    s->jobs_count++;
    return job;
}

struct status service_submit(struct engine_service *s, char id[40], uint32_t *position,
                             const struct service_submit *submit)
{
    pthread_mutex_lock(&s->lock);
    struct status status = s->refusal;
    bool release_it = status_failed(&status) && !s->keep_refused;
    size_t joined;
    if (!status_failed(&status)) {
        if (submit->request_id[0] != 0 && find(s, &joined, submit->request_id) &&
            s->jobs[joined].first_byte == submit->request.vanilla[0].data[0]) {
            release_it = true;
            memcpy(id, s->jobs[joined].id, 40);
        } else {
            struct fake_job *job = add_job(s, submit);
            memcpy(id, job->id, 40);
            if (s->complete_at_once) {
                job->state = JOB_COMPLETED;
                job->proof_size = 192;
                release(s, job);
            }
        }
        *position = 3;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    if (release_it)
        submit->release_owner(submit->owner);
    return status;
}

struct status service_await(struct engine_service *s, uint64_t *waiter, const char *id, uint64_t timeout_ms,
                            job_callback *callback, void *context)
{
    struct status status = status_ok();
    size_t job;
    pthread_mutex_lock(&s->lock);
    if (!find(s, &job, id)) {
        status = status_error(STATUS_MISSING, "there is no job \"%.100s\"", id);
    } else {
        struct fake_waiter *w = s->waiters;
        while (w->number != 0)
            CHECK(++w < s->waiters + FAKE_WAITERS);
        *w = (struct fake_waiter){
            .number = ++s->numbers, .job = job, .callback = callback, .context = context};
        *waiter = w->number;
        s->jobs[job].waiters++;
        s->jobs[job].timeout_ms = timeout_ms != 0 ? timeout_ms : s->jobs[job].timeout_ms;
        if (s->jobs[job].state != JOB_RUNNING)
            call_back(s, w, s->jobs[job].state);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Nothing is stored here, so nothing is waited for. */
struct status service_acknowledge(struct engine_service *s, uint64_t *waiter, const char *id,
                                  job_callback *callback, void *context)
{
    struct status status = status_ok();
    size_t job;
    pthread_mutex_lock(&s->lock);
    if (!find(s, &job, id)) {
        status = status_error(STATUS_MISSING, "there is no job \"%.100s\"", id);
    } else {
        struct fake_waiter *w = s->waiters;
        while (w->number != 0)
            CHECK(++w < s->waiters + FAKE_WAITERS);
        *w = (struct fake_waiter){
            .number = ++s->numbers, .job = job, .callback = callback, .context = context};
        *waiter = w->number;
        call_back(s, w, s->jobs[job].state);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

void service_unwait(struct engine_service *s, uint64_t waiter)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < FAKE_WAITERS; i++) {
        struct fake_waiter *w = &s->waiters[i];
        while (w->number == waiter && w->running && !pthread_equal(w->thread, pthread_self()))
            pthread_cond_wait(&s->changed, &s->lock);
        if (w->number == waiter) {
            w->number = 0;
            s->jobs[w->job].unwaited++;
            pthread_cond_broadcast(&s->changed);
        }
    }
    pthread_mutex_unlock(&s->lock);
}

struct status service_cancel(struct engine_service *s, const char *id, bool *was_running)
{
    size_t job;
    pthread_mutex_lock(&s->lock);
    bool found = find(s, &job, id);
    *was_running = found && s->jobs[job].state == JOB_RUNNING;
    pthread_mutex_unlock(&s->lock);
    if (!found)
        return status_error(STATUS_MISSING, "there is no job \"%.100s\"", id);
    if (*was_running)
        fake_finish(s, job, JOB_CANCELLED, status_error(STATUS_CANCELLED, "cancelled by CancelProof"));
    return status_ok();
}

struct status service_load(struct engine_service *s, const char *circuit, bool *already, uint64_t *ms)
{
    pthread_mutex_lock(&s->lock);
    s->loads++;
    pthread_cond_broadcast(&s->changed);
    while (s->loads_held)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    *already = strcmp(circuit, "winning-2k") == 0;
    *ms = 77;
    return strcmp(circuit, "none") == 0 ? status_error(STATUS_MISSING, "no file for circuit none")
                                        : status_ok();
}

struct status service_evict(struct engine_service *s, const char *circuit, bool *was_loaded,
                            uint64_t *freed_bytes)
{
    pthread_mutex_lock(&s->lock);
    s->evicts++;
    pthread_mutex_unlock(&s->lock);
    *was_loaded = true;
    *freed_bytes = 123456789012;
    return strcmp(circuit, "busy") == 0 ? status_error(STATUS_BUSY, "circuit busy is in use") : status_ok();
}

void service_look(struct engine_service *s, struct service_view *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->view;
    pthread_mutex_unlock(&s->lock);
}

uint64_t service_silence_ms(struct engine_service *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t silence = s->silence_ms;
    pthread_mutex_unlock(&s->lock);
    return silence;
}

struct status service_metrics(struct engine_service *s, char **text, size_t *size)
{
    (void)s;
    static const char metrics[] = "cuzk_uptime_seconds 5\n";
    *text = mem_alloc(sizeof metrics, 1);
    CHECK(*text != NULL);
    memcpy(*text, metrics, sizeof metrics);
    *size = sizeof metrics - 1;
    return status_ok();
}
