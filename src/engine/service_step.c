/* Where the state machine meets the world: one event in, its actions to threads and records. Everything here
 * runs under the lock, but for what service_unlock() does after giving it up. */
#include "engine/service_internal.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t service_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

/* ---- later ---- */

static void do_later(struct engine_service *s, struct later *l)
{
    switch (l->kind) {
    case LATER_SEEDS:
        seeds_end(&l->seeds);
        break;
    case LATER_PENDING:
        l->device->operations->discard(l->device, l->pending);
        break;
    case LATER_REQUEST:
        request_end(l->request);
        break;
    case LATER_OWNER:
        l->release_owner(l->owner);
        break;
    case LATER_RECORD:
        record_free(l->record);
        break;
    case LATER_CONTENT:
        content_drop(s, &l->content);
        break;
    case LATER_LOG:
        s->log(s->log_context, l->level, l->text);
        break;
    }
}

void service_later(struct engine_service *s, const struct later *what)
{
    struct later *l = mem_alloc(1, sizeof *l);
    if (l == NULL) { /* at once, then: nothing may leak; a line of log may be lost */
        struct later now = *what;
        if (now.kind != LATER_LOG)
            do_later(s, &now);
        return;
    }
    *l = *what;
    l->next = NULL;
    *s->later_last = l;
    s->later_last = &l->next;
}

void service_say(struct engine_service *s, int level, const char *format, ...)
{
    struct later l = {.kind = LATER_LOG, .level = level};
    va_list list;
    if (s->log == NULL)
        return;
    va_start(list, format);
    vsnprintf(l.text, sizeof l.text, format, list);
    va_end(list);
    service_later(s, &l);
}

void service_lock(struct engine_service *s)
{
    pthread_mutex_lock(&s->lock);
}

void service_unlock(struct engine_service *s)
{
    struct later *list = s->later_first;
    s->later_first = NULL;
    s->later_last = &s->later_first;
    pthread_mutex_unlock(&s->lock);
    while (list != NULL) {
        struct later *l = list;
        list = l->next;
        do_later(s, l);
        mem_free(l);
    }
}

/* ---- actions ---- */

static void hand_to_worker(struct engine_service *s, struct task *task, enum engine_action_kind kind)
{
    task->kind = kind;
    task->next = NULL;
    *s->tasks_last = task;
    s->tasks_last = &task->next;
    pthread_cond_signal(&s->work);
}

static void begin_synthesis(struct engine_service *s, struct record *r, uint32_t k, uint64_t now)
{
    struct part *p = &r->parts[k];
    atomic_store(&p->cancel.requested, false);
    memset(p->at_ms, 0, sizeof p->at_ms);
    p->at_ms[TIME_SYNTHESIS] = now;
    if (r->begun_ms == 0) {
        r->begun_ms = now;
        r->state = JOB_RUNNING;
    }
    hand_to_worker(s, &p->task, ACTION_SYNTHESISE);
}

static void begin_device(struct engine_service *s, struct record *r, uint32_t k, uint32_t device,
                         uint64_t now)
{
    struct part *p = &r->parts[k];
    struct device_work *d = &s->device_work[device];
    p->device = device;
    if (d->busy++ == 0)
        d->since_ms = now;
    memcpy(d->job, r->id, sizeof d->job);
    d->kind = r->outline.kind;
    if (r->device_begin_ms == 0)
        r->device_begin_ms = now;
    histogram_add(&s->metrics.stage[r->outline.kind][METRIC_READY_WAIT], now - p->at_ms[TIME_READY]);
    p->at_ms[TIME_DEVICE] = now;
    hand_to_worker(s, &p->task, ACTION_START);
}

static void release(struct engine_service *s, struct record *r, uint32_t k)
{
    struct part *p = &r->parts[k];
    if (p->has_seeds)
        service_later(s, &(struct later){.kind = LATER_SEEDS, .seeds = p->seeds});
    if (p->pending != NULL)
        service_later(s, &(struct later){
                             .kind = LATER_PENDING, .device = s->devices[p->device], .pending = p->pending});
    p->has_seeds = false;
    p->pending = NULL;
}

static const char *kind_text(enum proof_kind kind)
{
    static const char *const TEXT[PROOF_KINDS] = {"porep-c2", "winning-post", "window-post", "snap-update",
                                                  "snap-update"};
    return TEXT[kind];
}

static void say_end(struct engine_service *s, const struct record *r)
{
    struct job_result result;
    record_result(&result, r);
    const struct job_times *t = &result.times;
    if (r->state == JOB_COMPLETED)
        service_say(
            s, 2, "job %s (%.60s) %s: proved in %.3f s (queue %.3f, load %.3f, synthesis %.3f, device %.3f)",
            r->id, r->request_id, kind_text(r->outline.kind), (double)t->total_ms / 1000,
            (double)t->queue_wait_ms / 1000, (double)t->load_ms / 1000, (double)t->synthesis_ms / 1000,
            (double)t->device_ms / 1000);
    else
        service_say(s, r->state == JOB_FAILED ? 0 : 1, "job %s (%.60s) %s: %s after %.3f s: %s%s%s", r->id,
                    r->request_id, kind_text(r->outline.kind),
                    r->state == JOB_FAILED ? "failed" : "cancelled", (double)t->total_ms / 1000,
                    r->status.message, r->status.hint[0] != 0 ? "; " : "", r->status.hint);
}

/* Whoever gave up himself was not kept waiting. */
static void note_late(struct engine_service *s, const struct record *r)
{
    enum proof_kind kind = r->outline.kind;
    uint64_t took = r->ended_ms - r->submitted_ms;
    if (s->late_ms[kind] == 0 || took <= s->late_ms[kind] || r->state == JOB_CANCELLED)
        return;
    s->metrics.late[kind]++;
    service_say(s, 1, "job %s (%.60s) %s is late: %.3f s, more than %.3f s", r->id, r->request_id,
                kind_text(kind), (double)took / 1000, (double)s->late_ms[kind] / 1000);
}

static void keep_ended(struct engine_service *s, const struct record *r)
{
    struct service_ended_view *v = &s->ended[s->ended_total++ % SERVICE_ENDED_VIEW];
    memset(v, 0, sizeof *v);
    memcpy(v->id, r->id, sizeof v->id);
    snprintf(v->request_id, sizeof v->request_id, "%s", r->request_id);
    v->kind = r->outline.kind;
    v->state = r->state;
    v->ended_ms_ago = r->ended_ms;
    v->total_ms = r->ended_ms - r->submitted_ms;
    if (r->state != JOB_COMPLETED)
        memcpy(v->reason, r->status.message, sizeof v->reason);
}

static void end_job(struct engine_service *s, struct record *r, const struct status *status, uint64_t now)
{
    struct metrics *m = &s->metrics;
    enum proof_kind kind = r->outline.kind;
    r->status = *status;
    r->ended_ms = now;
    if (!status_failed(status)) {
        r->state = JOB_COMPLETED;
        for (uint32_t k = 0; k < r->outline.partitions; k++)
            memcpy(r->proof + (size_t)k * PROOF_BYTES, r->parts[k].proof, PROOF_BYTES);
        m->completed[kind]++;
        histogram_add(&m->duration[kind], now - r->submitted_ms);
    } else if (status->code == STATUS_CANCELLED) {
        r->state = JOB_CANCELLED;
        m->cancelled[kind]++;
    } else {
        r->state = JOB_FAILED;
        m->failed[kind]++;
    }
    say_end(s, r);
    note_late(s, r);
    keep_ended(s, r);
    record_retire(s, r);
    if (!keeper_ended(s, r, now))
        waiters_release(s, r);
}

void record_release_owner(struct engine_service *s, struct record *r)
{
    r->keep.release_due = keeper_holds(r);
    if (r->keep.release_due)
        return;
    if (r->release_owner != NULL)
        service_later(
            s, &(struct later){.kind = LATER_OWNER, .owner = r->owner, .release_owner = r->release_owner});
    r->owner = NULL;
    r->release_owner = NULL;
    if (r->closed)
        memset(&r->request, 0, sizeof r->request);
}

/* Nothing of it runs any more: the request goes, the circuit may go. */
static void close_job(struct engine_service *s, struct record *r, uint64_t now)
{
    struct circuit *c = &s->circuits[r->circuit];
    if (r->opened != NULL)
        service_later(s, &(struct later){.kind = LATER_REQUEST, .request = r->opened});
    r->opened = NULL;
    r->closed = true;
    keeper_closed(s, r);
    record_release_owner(s, r);
    c->references--;
    c->used_ms = now;
    s->open--;
    pthread_cond_broadcast(&s->changed);
}

static void stop(struct record *r, uint32_t k)
{
    atomic_store(k == UINT32_MAX ? &r->cancel.requested : &r->parts[k].cancel.requested, true);
}

static void carry_out(struct engine_service *s, const struct engine_action *a, uint64_t now,
                      struct circuit **stillborn)
{
    struct record *r = a->job != 0 ? record_by_number(s, a->job) : NULL;
    CHECK(a->job == 0 || r != NULL);
    switch (a->kind) {
    case ACTION_OPEN:
        keeper_begun(s, r);
        hand_to_worker(s, &r->task, ACTION_OPEN);
        break;
    case ACTION_VERIFY:
        hand_to_worker(s, &r->task, ACTION_VERIFY);
        break;
    case ACTION_SYNTHESISE:
        begin_synthesis(s, r, a->partition, now);
        break;
    case ACTION_START:
        begin_device(s, r, a->partition, a->device, now);
        break;
    case ACTION_FINISH:
        hand_to_worker(s, &r->parts[a->partition].task, ACTION_FINISH);
        break;
    case ACTION_LOAD:
        if (!circuit_begin_load(s, &s->circuits[a->circuit]))
            *stillborn = &s->circuits[a->circuit];
        break;
    case ACTION_RELEASE:
        release(s, r, a->partition);
        break;
    case ACTION_STOP:
        stop(r, a->partition);
        break;
    case ACTION_END:
        end_job(s, r, &a->status, now);
        break;
    case ACTION_CLOSE:
        close_job(s, r, now);
        break;
    case ACTION_FORGET:
        record_forget(s, r);
        r->pins++;
        record_unpin(s, r);
        break;
    case ACTION_EVICT:
        circuit_evict(s, &s->circuits[a->circuit]);
        break;
    case ACTION_STRIKE:
    case ACTION_DEVICE_OFF:
        service_say(s, a->kind == ACTION_STRIKE ? 1 : 0, "device %u (%s) %s%s", a->device,
                    s->devices[a->device]->operations->name,
                    a->kind == ACTION_STRIKE ? "takes a strike: " : "", a->status.message);
        break;
    case ACTION_DRAINED:
        s->drained = true;
        break;
    }
}

void service_step(struct engine_service *s, const struct engine_event *event)
{
    const struct engine_action *actions;
    size_t count;
    uint64_t now = service_clock_ms();
    engine_step(s->engine, now, event, &actions, &count);
    struct circuit *stillborn = NULL; /* a step loads one circuit at most */
    for (size_t i = 0; i < count; i++)
        carry_out(s, &actions[i], now, &stillborn);
    if (stillborn != NULL) {
        struct engine_event failed = {
            .kind = EVENT_CIRCUIT, .circuit = stillborn->number, .status = stillborn->failure};
        service_step(s, &failed);
    }
    clock_wake(s);
}
