/* The clock thread: ticks for the state machine, timeouts of those who wait, and all callbacks, one after the
 * other and never under the lock. */
#include "engine/service_internal.h"

#include "base/mem.h"

#include <string.h>
#include <time.h>

#define ROUND_MS 1000

void clock_wake(struct engine_service *s)
{
    pthread_cond_signal(&s->clock_work);
}

void record_unpin(struct engine_service *s, struct record *r)
{
    CHECK(r->pins > 0);
    if (--r->pins == 0 && r->forgotten)
        service_later(s, &(struct later){.kind = LATER_RECORD, .record = r});
}

void waiter_ready(struct engine_service *s, struct waiter *w)
{
    w->record->pins++;
    w->next = NULL;
    *s->ready_last = w;
    s->ready_last = &w->next;
}

void waiters_release(struct engine_service *s, struct record *r)
{
    while (r->waiters != NULL) {
        struct waiter *w = r->waiters;
        r->waiters = w->next;
        waiter_ready(s, w);
    }
    r->waiters_count = 0;
    clock_wake(s);
}

/* One who waited for a live job has gone. The last one leaves an orphan. */
static void left(struct engine_service *s, struct record *r)
{
    CHECK(r->waiters_count > 0);
    if (--r->waiters_count == 0 && r->live && !r->detached) {
        struct engine_event event = {.kind = EVENT_CALLER_GONE, .job = r->number};
        service_step(s, &event);
    }
}

/* ---- from outside ---- */

struct status service_await(struct engine_service *s, uint64_t *waiter, const char *id, uint64_t timeout_ms,
                            job_callback *callback, void *context)
{
    struct record *r;
    struct waiter *w = mem_alloc_zero(1, sizeof *w);
    *waiter = 0;
    if (w == NULL)
        return mem_failed("wait", 1, sizeof *w);
    service_lock(s);
    struct status found = record_find(&r, s, id);
    if (status_failed(&found)) {
        service_unlock(s);
        mem_free(w);
        return found;
    }
    *w = (struct waiter){.id = ++s->next_waiter,
                         .deadline_ms = timeout_ms == 0 ? UINT64_MAX : service_clock_ms() + timeout_ms,
                         .record = r,
                         .callback = callback,
                         .context = context};
    *waiter = w->id;
    if (!r->live && !r->keep.storing) {
        waiter_ready(s, w);
        clock_wake(s);
    } else {
        w->next = r->waiters;
        r->waiters = w;
        if (r->live && r->waiters_count++ == 0) {
            struct engine_event event = {
                .kind = EVENT_CALLER_BACK, .job = r->number, .submit = {.deadline_ms = r->deadline_ms}};
            service_step(s, &event);
        }
        clock_wake(s);
    }
    service_unlock(s);
    return status_ok();
}

struct status service_acknowledge(struct engine_service *s, uint64_t *waiter, const char *id,
                                  job_callback *callback, void *context)
{
    struct record *r;
    struct waiter *w = mem_alloc_zero(1, sizeof *w);
    *waiter = 0;
    if (w == NULL)
        return mem_failed("wait", 1, sizeof *w);
    service_lock(s);
    struct status found = record_find(&r, s, id);
    if (status_failed(&found)) {
        service_unlock(s);
        mem_free(w);
        return found;
    }
    *w = (struct waiter){.id = ++s->next_waiter,
                         .deadline_ms = UINT64_MAX,
                         .record = r,
                         .callback = callback,
                         .context = context};
    *waiter = w->id;
    if (!keeper_acknowledge(s, r, w)) {
        waiter_ready(s, w);
        clock_wake(s);
    }
    service_unlock(s);
    return status_ok();
}

struct waiter *waiter_take(struct waiter **list, uint64_t id)
{
    for (struct waiter **at = list; *at != NULL; at = &(*at)->next) {
        if ((*at)->id == id) {
            struct waiter *w = *at;
            *at = w->next;
            return w;
        }
    }
    return NULL;
}

static struct waiter *take_ready(struct engine_service *s, uint64_t id)
{
    struct waiter *w = waiter_take(&s->ready_first, id);
    if (w == NULL)
        return NULL;
    s->ready_last = &s->ready_first;
    while (*s->ready_last != NULL)
        s->ready_last = &(*s->ready_last)->next;
    record_unpin(s, w->record);
    return w;
}

void service_unwait(struct engine_service *s, uint64_t waiter)
{
    struct waiter *w = NULL;
    if (waiter == 0)
        return;
    service_lock(s);
    for (struct record *r = s->live_first; r != NULL && w == NULL; r = r->live_after) {
        w = waiter_take(&r->waiters, waiter);
        if (w != NULL) {
            left(s, r);
            break;
        }
    }
    if (w == NULL)
        w = keeper_take_waiter(s, waiter);
    if (w == NULL)
        w = take_ready(s, waiter);
    while (s->delivering == waiter && !pthread_equal(pthread_self(), s->clock_thread))
        pthread_cond_wait(&s->changed, &s->lock);
    service_unlock(s);
    mem_free(w);
}

void service_drain(struct engine_service *s, void (*drained)(void *context), void *context)
{
    struct engine_event event = {.kind = EVENT_DRAIN};
    service_lock(s);
    s->on_drained = drained;
    s->drained_context = context;
    service_say(s, 2, "draining: no new jobs are taken");
    service_step(s, &event);
    service_unlock(s);
}

/* ---- the thread ---- */

/* Those whose time is over, and when the next one's is. */
static uint64_t expire(struct engine_service *s, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    struct record *after;
    for (struct record *r = s->live_first; r != NULL; r = after) {
        after = r->live_after; /* leaving makes an orphan at most, it ends nothing */
        for (struct waiter **at = &r->waiters; *at != NULL;) {
            struct waiter *w = *at;
            if (w->deadline_ms > now) {
                next = w->deadline_ms < next ? w->deadline_ms : next;
                at = &w->next;
                continue;
            }
            *at = w->next;
            w->timed_out = true;
            waiter_ready(s, w);
            left(s, r);
        }
    }
    return next;
}

static void deliver(struct engine_service *s)
{
    struct waiter *w = s->ready_first;
    struct job_result result;
    s->ready_first = w->next;
    if (s->ready_first == NULL)
        s->ready_last = &s->ready_first;
    record_result(&result, w->record);
    s->delivering = w->id;
    service_unlock(s);
    w->callback(w->context, &result);
    service_lock(s);
    s->delivering = 0;
    record_unpin(s, w->record);
    mem_free(w);
    pthread_cond_broadcast(&s->changed);
}

static void tell_drained(struct engine_service *s)
{
    void (*drained)(void *) = s->on_drained;
    void *context = s->drained_context;
    s->drained_told = true;
    service_say(s, 2, "drained: nothing runs and nothing waits");
    service_unlock(s);
    drained(context);
    service_lock(s);
}

static void wait_until(struct engine_service *s, uint64_t now, uint64_t at_ms)
{
    if (at_ms > now + ROUND_MS)
        at_ms = now + ROUND_MS; /* service_silence_ms() */
    at_ms -= 1;                 /* service_clock_ms() adds it */
    struct timespec t = {(time_t)(at_ms / 1000), (long)(at_ms % 1000) * 1000000};
    pthread_cond_timedwait(&s->clock_work, &s->lock, &t);
}

void *service_clock(void *argument)
{
    struct engine_service *s = argument;
    service_lock(s);
    while (!s->stop) {
        uint64_t now = service_clock_ms(), tick = engine_next_tick(s->engine);
        atomic_store_explicit(&s->round_ms, now, memory_order_relaxed);
        if (tick <= now) {
            struct engine_event event = {.kind = EVENT_TICK};
            service_step(s, &event);
            continue;
        }
        uint64_t next = expire(s, now), stored = keeper_expire(s, now);
        next = stored < next ? stored : next;
        if (s->ready_first != NULL) {
            deliver(s);
        } else if (s->drained && !s->drained_told && s->on_drained != NULL) {
            tell_drained(s);
        } else if (s->later_first != NULL) {
            service_unlock(s);
            service_lock(s);
        } else {
            uint64_t at = engine_next_tick(s->engine); /* leaving may have made an orphan */
            wait_until(s, now, at < next ? at : next);
        }
    }
    service_unlock(s);
    return NULL;
}
