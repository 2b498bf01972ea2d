/* See journal_keep.h. */
#include "engine/journal_keep_internal.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BATCH_BYTES (UINT64_C(64) << 20) /* of vanilla bytes: results that come meanwhile wait no longer */
#define WAIT_MS     5000
#define RETRY_MS    10000
#define FORGET_MS   60000

void service_crashed(void)
{
    running_crashed();
}

int64_t wall_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the queue ---- */

static void enqueue(struct keeper *k, struct record *r)
{
    r->keep.queued = true;
    r->keep.next = NULL;
    r->pins++;
    *k->last = r;
    k->last = &r->keep.next;
    pthread_cond_signal(&k->work);
}

static bool waits(const struct record *r)
{
    return r->live || r->keep.survives;
}

/* Of a job whose bytes are gone before they were on disk, only the end can be written. */
static bool writable(const struct record *r)
{
    return !waits(r) || r->keep.spooled || r->release_owner != NULL;
}

void keeper_note(struct engine_service *s, struct record *r)
{
    struct keeper *k = s->keeper;
    if (k == NULL)
        return;
    if (r->keep.accepted_ms == 0)
        r->keep.accepted_ms = wall_clock_ms();
    r->keep.dirty = true;
    if (!k->degraded && !r->keep.queued && !r->keep.busy && writable(r))
        enqueue(k, r);
}

bool keeper_holds(const struct record *r)
{
    return !r->keep.spooled && (r->keep.queued || r->keep.busy);
}

void keeper_drop(struct engine_service *s, struct record *r)
{
    struct keeper *k = s->keeper;
    if (k == NULL || !r->keep.queued)
        return;
    struct record **at = &k->first;
    while (*at != r)
        at = &(*at)->keep.next;
    *at = r->keep.next;
    for (k->last = &k->first; *k->last != NULL;)
        k->last = &(*k->last)->keep.next;
    r->keep.queued = r->keep.dirty = false;
    r->pins--;
}

void keeper_begun(struct engine_service *s, struct record *r)
{
    if (s->keeper != NULL && r->keep.watched == 0)
        r->keep.watched = running_begin(s->keeper->running, r->id) + 1;
}

void keeper_closed(struct engine_service *s, struct record *r)
{
    if (s->keeper != NULL)
        running_end(s->keeper->running, r->keep.watched - 1);
    r->keep.watched = 0;
}

static bool in_no_hurry(const struct keeper *k, const struct record *r)
{
    return !k->degraded && r->outline.kind != PROOF_WINNING && (r->keep.queued || r->keep.busy);
}

bool keeper_ended(struct engine_service *s, struct record *r, uint64_t now)
{
    struct keeper *k = s->keeper;
    if (k == NULL)
        return false;
    r->keep.ended_ms = wall_clock_ms();
    if (s->ending && r->state == JOB_CANCELLED) {
        r->keep.survives = true;
        return false;
    }
    keeper_note(s, r);
    r->keep.storing = in_no_hurry(k, r);
    r->keep.since_ms = now;
    return r->keep.storing;
}

bool keeper_acknowledge(struct engine_service *s, struct record *r, struct waiter *w)
{
    if (s->keeper == NULL || !in_no_hurry(s->keeper, r))
        return false;
    w->next = r->keep.acknowledge;
    r->keep.acknowledge = w;
    return true;
}

struct status keeper_check(const struct record *r)
{
    uint8_t digest[64];
    if (!r->keep.replayed)
        return status_ok();
    TRY(request_digest(digest, &r->request));
    if (memcmp(digest, r->digest, sizeof digest) != 0)
        return status_hint(status_error(STATUS_IO, "the journal's bytes of job %s are damaged", r->id),
                           "submit it again, and check the disk");
    return status_ok();
}

void keeper_look(const struct engine_service *s, struct metrics_now *out)
{
    const struct keeper *k = s->keeper;
    if (k == NULL)
        return;
    out->journal.degraded = k->degraded;
    out->journal.written = k->written;
    out->journal.waiting = k->batch_count;
    for (const struct record *r = k->first; r != NULL; r = r->keep.next)
        out->journal.waiting++;
}

/* ---- those who wait ---- */

static void release_acknowledged(struct engine_service *s, struct record *r)
{
    while (r->keep.acknowledge != NULL) {
        struct waiter *w = r->keep.acknowledge;
        r->keep.acknowledge = w->next;
        waiter_ready(s, w);
    }
    clock_wake(s);
}

static void release_stored(struct engine_service *s, struct record *r)
{
    if (!r->keep.storing)
        return;
    r->keep.storing = false;
    waiters_release(s, r);
}

/* The i-th record that is queued or being written. */
struct walk {
    size_t i;
    struct record *queued;
};

static struct record *next_of(struct walk *w, const struct keeper *k)
{
    if (w->i < k->batch_count)
        return k->batch[w->i++];
    w->queued = w->i++ == k->batch_count ? k->first : w->queued->keep.next;
    return w->queued;
}

struct waiter *keeper_take_waiter(struct engine_service *s, uint64_t id)
{
    struct waiter *w = NULL;
    struct walk walk = {0, NULL};
    struct record *r;
    if (s->keeper == NULL)
        return NULL;
    while (w == NULL && (r = next_of(&walk, s->keeper)) != NULL) {
        w = waiter_take(&r->keep.acknowledge, id);
        if (w == NULL && r->keep.storing)
            w = waiter_take(&r->waiters, id);
    }
    return w;
}

uint64_t keeper_expire(struct engine_service *s, uint64_t now)
{
    struct keeper *k = s->keeper;
    uint64_t next = UINT64_MAX;
    struct walk walk = {0, NULL};
    struct record *r;
    if (k == NULL)
        return next;
    while ((r = next_of(&walk, k)) != NULL) {
        if (!r->keep.storing)
            continue;
        uint64_t until = r->keep.since_ms + k->wait_ms;
        for (const struct waiter *w = r->waiters; w != NULL; w = w->next)
            until = w->deadline_ms < until ? w->deadline_ms : until;
        if (until <= now) {
            if (now >= r->keep.since_ms + k->wait_ms && !k->slow) {
                k->slow = true;
                service_say(s, 1, "journal \"%.150s\" is slow: results no longer wait for it",
                            journal_path(k->journal));
            }
            release_stored(s, r);
        } else if (until < next) {
            next = until;
        }
    }
    return next;
}

/* ---- writing ---- */

static uint64_t bytes_to_spool(const struct record *r)
{
    uint64_t bytes = 0;
    if (!waits(r) || r->keep.spooled)
        return 0;
    for (size_t i = 0; i < r->request.vanilla_count; i++)
        bytes += r->request.vanilla[i].size;
    return bytes;
}

static void describe(struct journal_entry *e, const struct engine_service *s, const struct record *r)
{
    struct job_result result;
    int64_t wall = wall_clock_ms();
    uint64_t now = service_clock_ms();
    record_result(&result, r);
    memset(e, 0, sizeof *e);
    e->id = r->id;
    e->request_id = r->request_id;
    e->circuit = s->circuits[r->circuit].name;
    e->digest = r->digest;
    e->request = r->request;
    e->request.kind = r->outline.kind;
    e->partitions = r->outline.partitions;
    e->priority = r->priority;
    e->detached = r->detached;
    e->accepted_ms = r->keep.accepted_ms;
    if (r->deadline_ms != 0)
        e->deadline_ms = wall + (int64_t)r->deadline_ms - (int64_t)now;
    e->spooled = r->keep.spooled;
    e->status = status_ok();
    if (waits(r))
        return;
    e->state = r->state == JOB_COMPLETED ? JOURNAL_COMPLETED
               : r->state == JOB_FAILED  ? JOURNAL_FAILED
                                         : JOURNAL_CANCELLED;
    e->ended_ms = r->keep.ended_ms;
    e->proof = result.proof;
    e->proof_size = result.proof_size;
    e->status = r->status;
    e->times = result.times;
}

/* Takes from the queue: first what has ended, then by priority, as much as one batch may hold. */
static void take_batch(struct engine_service *s, struct keeper *k)
{
    uint64_t bytes = 0;
    k->batch_count = 0;
    for (int pass = 0; pass <= PRIORITY_COUNT; pass++) {
        for (struct record **at = &k->first; *at != NULL && k->batch_count < BATCH_MAX;) {
            struct record *r = *at;
            uint64_t more = bytes_to_spool(r);
            bool now = pass == 0 ? !waits(r) : (int)r->priority == pass - 1;
            if (!now || (bytes + more > BATCH_BYTES && k->batch_count > 0)) {
                at = &r->keep.next;
                continue;
            }
            *at = r->keep.next;
            bytes += more;
            r->keep.queued = false;
            r->keep.busy = true;
            r->keep.dirty = false;
            describe(&k->entries[k->batch_count], s, r);
            k->batch[k->batch_count++] = r;
        }
    }
    for (k->last = &k->first; *k->last != NULL;)
        k->last = &(*k->last)->keep.next;
}

static void written(struct engine_service *s, struct keeper *k, struct record *r,
                    const struct journal_entry *e, bool good)
{
    r->keep.busy = false;
    k->written += good;
    if (good) {
        r->keep.spooled = e->state == JOURNAL_WAITING;
    } else {
        r->keep.dirty = true;
    }
    bool again = good && r->keep.dirty && writable(r);
    if (again)
        enqueue(k, r);
    else
        release_acknowledged(s, r);
    if (!again)
        release_stored(s, r);
    if (r->keep.release_due && !keeper_holds(r)) {
        r->keep.release_due = false;
        record_release_owner(s, r);
    }
    record_unpin(s, r);
}

static void degrade(struct engine_service *s, struct keeper *k, const struct status *why)
{
    k->degraded = true;
    service_say(s, 0, "journal: %s; until it can be written, jobs and results live in memory only",
                why->message);
    while (k->first != NULL) {
        struct record *r = k->first;
        k->first = r->keep.next;
        r->keep.queued = false;
        r->keep.busy = true;
        written(s, k, r, NULL, false);
    }
    k->last = &k->first;
}

static void write_batch(struct engine_service *s, struct keeper *k)
{
    take_batch(s, k);
    service_unlock(s);
    struct status status = journal_write(k->journal, k->entries, k->batch_count);
    service_lock(s);
    size_t count = k->batch_count;
    k->batch_count = 0;
    k->try_at_ms = service_clock_ms() + k->retry_ms;
    for (size_t i = 0; i < count; i++)
        written(s, k, k->batch[i], &k->entries[i], !status_failed(&status));
    if (status_failed(&status))
        degrade(s, k, &status);
    else
        k->slow = false;
}

static void try_again(struct engine_service *s, struct keeper *k)
{
    service_unlock(s);
    struct status status = journal_probe(k->journal);
    service_lock(s);
    k->try_at_ms = service_clock_ms() + k->retry_ms;
    if (status_failed(&status))
        return;
    k->degraded = false;
    service_say(s, 2, "journal \"%.150s\" can be written again", journal_path(k->journal));
    for (size_t b = 0; b < BUCKETS; b++)
        for (struct record *r = s->by_number[b]; r != NULL; r = r->next_by_number)
            if (r->keep.dirty)
                keeper_note(s, r);
}

static void forget(struct engine_service *s, struct keeper *k, uint64_t now)
{
    int64_t before = wall_clock_ms() - (int64_t)k->retention_ms;
    k->forget_at_ms = now + FORGET_MS;
    keeper_forget_loaded(s, k, now);
    service_unlock(s);
    struct status status = journal_forget(k->journal, before);
    service_lock(s);
    if (status_failed(&status) && !k->degraded)
        degrade(s, k, &status);
}

static void *keeper_main(void *argument)
{
    struct keeper *k = argument;
    struct engine_service *s = k->service;
    service_lock(s);
    while (!k->stop || (k->first != NULL && !k->degraded)) {
        uint64_t now = service_clock_ms(), next = k->forget_at_ms;
        if (k->degraded && now >= k->try_at_ms) {
            try_again(s, k);
        } else if (k->first != NULL && !k->degraded) {
            write_batch(s, k);
        } else if (now >= k->forget_at_ms) {
            forget(s, k, now);
        } else if (s->later_first != NULL) {
            service_unlock(s);
            service_lock(s);
        } else {
            if (k->degraded && k->try_at_ms < next)
                next = k->try_at_ms;
            next -= 1; /* service_clock_ms() adds it */
            struct timespec t = {(time_t)(next / 1000), (long)(next % 1000) * 1000000};
            pthread_cond_timedwait(&k->work, &s->lock, &t);
        }
    }
    service_unlock(s);
    return NULL;
}

/* ---- beginning and end ---- */

static void count_death(void *context, const char *id, bool crash)
{
    struct keeper *k = context;
    struct status s = journal_count_death(k->journal, id, crash);
    (void)s.code; /* a disk that cannot be written is said when the first job is */
}

static struct status open_all(struct keeper *k, const struct service_options *options)
{
    char path[4096];
    TRY(journal_open(&k->journal, options->journal));
    snprintf(path, sizeof path, "%.4000s.running", options->journal);
    return running_open(&k->running, path, options->oom_kills, count_death, k);
}

struct status keeper_start(struct engine_service *s, const struct service_options *options)
{
    pthread_condattr_t monotonic;
    if (options->journal == NULL || options->journal[0] == 0)
        return status_ok();
    struct keeper *k = mem_alloc_zero(1, sizeof *k);
    if (k == NULL)
        return mem_failed("journal", 1, sizeof *k);
    k->service = s;
    k->last = &k->first;
    k->retention_ms = options->journal_retention_ms;
    k->wait_ms = options->journal_wait_ms != 0 ? options->journal_wait_ms : WAIT_MS;
    k->retry_ms = options->journal_retry_ms != 0 ? options->journal_retry_ms : RETRY_MS;
    CHECK(pthread_condattr_init(&monotonic) == 0);
    CHECK(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&k->work, &monotonic) == 0);
    pthread_condattr_destroy(&monotonic);
    service_lock(s);
    s->keeper = k;
    service_unlock(s);
    TRY(open_all(k, options));
    TRY(keeper_replay(s, k));
    int error = service_thread(&k->thread, keeper_main, k, false);
    if (error != 0)
        return status_error(STATUS_MEMORY, "cannot start the journal's thread: %s", strerror(error));
    k->runs = true;
    return status_ok();
}

void keeper_stop(struct engine_service *s)
{
    struct keeper *k = s->keeper;
    if (k == NULL)
        return;
    service_lock(s);
    k->stop = true;
    pthread_cond_signal(&k->work);
    service_unlock(s);
    if (k->runs)
        pthread_join(k->thread, NULL);
    service_lock(s);
    s->keeper = NULL;
    service_unlock(s);
    running_close(k->running);
    journal_close(k->journal);
    pthread_cond_destroy(&k->work);
    mem_free(k->loaded);
    mem_free(k);
}
