/* Taking up what the journal holds when the service starts: results can be fetched again, waiting jobs are
 * submitted as they were, under their old ids. What has no sense any more is ended by name: jobs whose
 * deadline has passed or whose proof would come too late for the chain, jobs that took the process down, jobs
 * whose bytes are lost. A `Prove` has lost its caller: it is an orphan from now on, which an identical
 * request joins. */
#include "engine/journal_keep_internal.h"

#include "base/mem.h"
#include "engine/journal_spool.h"

#include <stdio.h>
#include <string.h>

/* A WinningPoSt is worth something within its epoch, a WindowPoSt within its half hour. */
#define WINNING_USEFUL_MS 30000
#define WINDOW_USEFUL_MS  1800000
/* Ends of the process while a job ran. Crashes, and what the out-of-memory killer did, are the job's. One
 * that is killed from outside is nobody's fault; so many that no operator does it are a killer that leaves no
 * trace. */
#define CRASHES_MAX 2
#define DEATHS_MAX  100

/* What a job taken up again owns: its mapped bytes, and copies of the small fields. */
struct held {
    struct spool spool;
    uint8_t fields[4][64];
};

struct replay {
    struct engine_service *s;
    struct keeper *k;
    struct status failure;
    uint32_t results, taken, dropped;
};

static void held_release(void *owner)
{
    struct held *h = owner;
    spool_close(&h->spool);
    mem_free(h);
}

/* ---- results ---- */

static struct status remember(struct keeper *k, struct record *r, uint64_t until_ms)
{
    if (k->loaded_count == k->loaded_capacity) {
        size_t more = k->loaded_capacity == 0 ? 64 : 2 * k->loaded_capacity;
        struct loaded *grown = k->loaded == NULL ? mem_alloc(more, sizeof *grown)
                                                 : mem_grow(k->loaded, k->loaded_count, more, sizeof *grown);
        if (grown == NULL)
            return mem_failed("journal", more, sizeof *grown);
        k->loaded = grown;
        k->loaded_capacity = more;
    }
    k->loaded[k->loaded_count++] = (struct loaded){r, until_ms};
    return status_ok();
}

void keeper_forget_loaded(struct engine_service *s, struct keeper *k, uint64_t now)
{
    while (k->loaded_first < k->loaded_count && k->loaded[k->loaded_first].until_ms <= now) {
        struct record *r = k->loaded[k->loaded_first++].record;
        record_forget(s, r);
        r->pins++;
        record_unpin(s, r);
    }
}

/* The times as spans from 1 on: record_result() gives them back as they were. */
static void set_times(struct record *r, const struct job_times *t)
{
    r->submitted_ms = 1;
    r->begun_ms = 1 + t->queue_wait_ms;
    r->synthesis_end_ms = r->begun_ms + t->synthesis_ms;
    r->device_begin_ms = 1;
    r->device_end_ms = 1 + t->device_ms;
    r->ended_ms = 1 + t->total_ms;
    r->load_ms = t->load_ms;
}

static struct status make_ended(struct record **out, struct replay *p, const struct journal_entry *e)
{
    struct request_outline outline = {.kind = e->request.kind, .partitions = e->partitions};
    struct service_submit submit = {.request_id = e->request_id,
                                    .request.kind = e->request.kind,
                                    .priority = e->priority,
                                    .detached = e->detached};
    enum proof_kind kind;
    const struct circuit *c = circuit_find(p->s, e->circuit);
    if (c == NULL || !circuit_by_name(&kind, &outline.sector, e->circuit))
        return status_error(STATUS_UNSUPPORTED, "circuit %.32s is not served here", e->circuit);
    snprintf(outline.circuit, sizeof outline.circuit, "%s", c->name);
    TRY(record_make(out, &submit, &outline));
    (*out)->circuit = c->number;
    memset((*out)->id, 0, sizeof(*out)->id);
    memcpy((*out)->id, e->id, strlen(e->id));
    memcpy((*out)->digest, e->digest, sizeof(*out)->digest);
    (*out)->keep.accepted_ms = e->accepted_ms;
    (*out)->keep.ended_ms = e->ended_ms;
    return status_ok();
}

/* An ended job that the state machine does not know. written: it stands so in the journal. */
static void add_ended(struct replay *p, const struct journal_entry *e, bool is_written)
{
    struct record *r;
    uint64_t retention = p->k->retention_ms, now = service_clock_ms();
    int64_t age = wall_clock_ms() - e->ended_ms;
    uint64_t gone = age > 0 ? (uint64_t)age : 0;
    bool proved = e->state == JOURNAL_COMPLETED;
    if (gone >= retention || (proved && e->proof_size != (size_t)e->partitions * PROOF_BYTES))
        return;
    struct status status = make_ended(&r, p, e);
    if (status_failed(&status))
        return;
    r->state = proved ? JOB_COMPLETED : e->state == JOURNAL_FAILED ? JOB_FAILED : JOB_CANCELLED;
    r->status = e->status;
    r->closed = true;
    r->keep.poisoned = e->state == JOURNAL_FAILED && e->crashes >= CRASHES_MAX;
    r->keep.spooled = !is_written;
    if (proved)
        memcpy(r->proof, e->proof, e->proof_size);
    set_times(r, &e->times);
    service_lock(p->s);
    status = remember(p->k, r, now + retention - gone);
    if (!status_failed(&status)) {
        r->number = ++p->s->next_number;
        record_add(p->s, r);
        record_retire(p->s, r);
        if (!is_written)
            keeper_note(p->s, r);
        p->results += is_written;
    }
    service_unlock(p->s);
    if (status_failed(&status)) {
        record_free(r);
        p->failure = status;
    }
}

/* ---- jobs that wait ---- */

/* Why a job is not taken up again. OK: it is. */
static struct status no_sense(const struct journal_entry *e, int64_t now)
{
    int64_t age = now - e->accepted_ms, seconds = age / 1000;
    if (e->crashes >= CRASHES_MAX || e->deaths >= DEATHS_MAX)
        return status_hint(
            status_error(STATUS_DEVICE,
                         "the daemon ended %u times while it proved job %s (%.60s); it is not tried again",
                         e->crashes + e->deaths, e->id, e->request_id),
            "the log tells how it ended; the same request is refused until journal.retention is over");
    if (e->deadline_ms != 0 && e->deadline_ms <= now)
        return status_error(STATUS_CANCELLED, "its deadline passed while the daemon was down");
    if ((e->request.kind == PROOF_WINNING && age > WINNING_USEFUL_MS) ||
        (e->request.kind == PROOF_WINDOW && age > WINDOW_USEFUL_MS))
        return status_error(STATUS_CANCELLED, "dropped: it came %lld s ago, and its window is over",
                            (long long)seconds);
    return status_ok();
}

static struct status hold(struct held **out, struct proof_request *request, const struct journal_entry *e,
                          const char *journal)
{
    char path[4096];
    struct held *h = mem_alloc_zero(1, sizeof *h);
    *out = NULL;
    if (h == NULL)
        return mem_failed("journal", 1, sizeof *h);
    snprintf(path, sizeof path, "%.4000s.spool/%s", journal, e->id);
    struct status s = spool_open(&h->spool, path, e->request.vanilla_count);
    *request = e->request;
    struct bytes_view *const views[4] = {&request->randomness, &request->comm_r_old, &request->comm_r_new,
                                         &request->comm_d_new};
    for (int i = 0; i < 4 && !status_failed(&s); i++) {
        if (views[i]->size > sizeof h->fields[i])
            s = status_error(STATUS_IO, "the journal's row of job %s is damaged", e->id);
        else if (views[i]->size > 0)
            views[i]->data = memcpy(h->fields[i], views[i]->data, views[i]->size);
    }
    if (status_failed(&s)) {
        spool_close(&h->spool);
        mem_free(h);
        return s;
    }
    request->vanilla = h->spool.vanilla;
    *out = h;
    return s;
}

static struct status make_waiting(struct record **out, struct replay *p, const struct service_submit *submit,
                                  const struct journal_entry *e)
{
    struct request_outline outline;
    *out = NULL;
    TRY(request_outline(&outline, &submit->request));
    const struct circuit *c = circuit_find(p->s, outline.circuit);
    if (c == NULL || outline.partitions > ENGINE_PARTITIONS_MAX)
        return status_error(STATUS_UNSUPPORTED, "circuit %s is not served here", outline.circuit);
    TRY(record_make(out, submit, &outline));
    struct record *r = *out;
    r->circuit = c->number;
    memset(r->id, 0, sizeof r->id);
    memcpy(r->id, e->id, strlen(e->id));
    memcpy(r->digest, e->digest, sizeof r->digest);
    if (e->deadline_ms != 0)
        r->deadline_ms = service_clock_ms() + (uint64_t)(e->deadline_ms - wall_clock_ms());
    r->keep.accepted_ms = e->accepted_ms;
    r->keep.spooled = r->keep.replayed = true;
    return status_ok();
}

static struct status take_up(struct replay *p, const struct journal_entry *e)
{
    struct held *h;
    struct record *r;
    struct service_submit submit = {.request_id = e->request_id,
                                    .release_owner = held_release,
                                    .priority = e->priority,
                                    .detached = e->detached};
    TRY(no_sense(e, wall_clock_ms()));
    TRY(hold(&h, &submit.request, e, journal_path(p->k->journal)));
    submit.owner = h;
    struct status status = make_waiting(&r, p, &submit, e);
    if (!status_failed(&status)) {
        uint64_t now = service_clock_ms();
        int64_t age = wall_clock_ms() - e->accepted_ms;
        service_lock(p->s);
        status = service_add(p->s, r, &submit);
        if (!status_failed(&status)) {
            r->submitted_ms = age > 0 && (uint64_t)age < now ? now - (uint64_t)age : now;
            struct engine_event gone = {.kind = EVENT_CALLER_GONE, .job = r->number};
            if (!r->detached && r->live)
                service_step(p->s, &gone);
        }
        service_unlock(p->s);
    }
    if (status_failed(&status)) {
        record_free(r);
        held_release(h);
    }
    return status;
}

static void each(void *context, const struct journal_entry *e)
{
    struct replay *p = context;
    if (status_failed(&p->failure))
        return;
    if (e->state != JOURNAL_WAITING) {
        add_ended(p, e, true);
        return;
    }
    struct status status = take_up(p, e);
    if (!status_failed(&status)) {
        p->taken++;
        return;
    }
    struct journal_entry ended = *e;
    int64_t age = wall_clock_ms() - e->accepted_ms;
    ended.state = status.code == STATUS_CANCELLED ? JOURNAL_CANCELLED : JOURNAL_FAILED;
    ended.status = status;
    ended.ended_ms = wall_clock_ms();
    ended.times = (struct job_times){.total_ms = age > 0 ? (uint64_t)age : 0};
    add_ended(p, &ended, false);
    p->dropped++;
    service_lock(p->s);
    service_say(p->s, 1, "job %s (%.60s) from the journal: %s", e->id, e->request_id, status.message);
    service_unlock(p->s);
}

struct status keeper_replay(struct engine_service *s, struct keeper *k)
{
    struct replay p = {.s = s, .k = k, .failure = status_ok()};
    TRY(journal_read(k->journal, each, &p));
    TRY(p.failure);
    service_lock(s);
    service_say(s, 2, "journal \"%.150s\": %u jobs taken up again, %u results kept, %u jobs ended by name",
                journal_path(k->journal), p.taken, p.results, p.dropped);
    service_unlock(s);
    return status_ok();
}
