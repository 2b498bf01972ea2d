/* See model.h. */
#include "model_internal.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct model *current;

static void on_abort(int signal_number)
{
    (void)signal_number;
    if (current != NULL) {
        char text[160];
        int n =
            snprintf(text, sizeof text, "failed at seed %" PRIu64 ", step %" PRIu64 ", time %" PRIu64 " ms\n",
                     current->o.seed, current->result.steps, current->now);
        if (write(2, text, (size_t)n) < 0)
            _exit(1);
    }
    signal(SIGABRT, SIG_DFL);
}

void model_broken(const struct model *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "broken promise at %" PRIu64 " ms: ", m->now);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    abort();
}
static uint64_t random_next(struct model *m)
{
    uint64_t z = (m->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(struct model *m, uint64_t n)
{
    return random_next(m) % n;
}

static bool chance(struct model *m, uint32_t per_thousand)
{
    return m->o.faults && below(m, 1000) < per_thousand;
}

static uint64_t vary(struct model *m, uint64_t ms)
{
    return m->o.random ? below(m, 2 * ms + 1) : ms;
}

static struct mjob *job_of(const struct model *m, job_id id)
{
    PROMISE(m, id < m->next_id && m->jobs[id] != NULL, "action for job %" PRIu64 ", which is not known", id);
    return m->jobs[id];
}

/* ---- carrying actions out ---- */

static void hold(struct model *m, struct mjob *job, struct mpart *p, uint64_t bytes)
{
    m->held[job->submit.reserved] += bytes - p->held;
    p->held = bytes;
}

static enum status_code pick_code(struct model *m, enum engine_event_kind kind)
{
    static const enum status_code GENERAL[] = {STATUS_INVALID, STATUS_MEMORY, STATUS_IO, STATUS_CANCELLED};
    switch (kind) {
    case EVENT_OPENED:
        return chance(m, 50) ? STATUS_INVALID : STATUS_OK;
    case EVENT_STARTED:
        return chance(m, 40) ? STATUS_DEVICE : chance(m, 5) ? GENERAL[below(m, 4)] : STATUS_OK;
    case EVENT_FINISHED:
        return chance(m, 40) ? STATUS_REJECTED : chance(m, 10) ? STATUS_DEVICE : STATUS_OK;
    case EVENT_CIRCUIT:
        return chance(m, 100) ? STATUS_MISSING : STATUS_OK;
    case EVENT_VERIFIED:
        return chance(m, 10) ? STATUS_REJECTED : STATUS_OK;
    default:
        return chance(m, 10) ? GENERAL[below(m, 4)] : STATUS_OK;
    }
}

static struct status coded(enum status_code code)
{
    struct status s = status_ok();
    s.code = code;
    return s;
}

static void answer_part(struct model *m, struct mjob *job, uint32_t k, enum engine_event_kind kind,
                        uint64_t at)
{
    struct mpart *p = &job->parts[k];
    struct engine_event event = {.kind = kind,
                                 .job = job->id,
                                 .partition = k,
                                 .device = p->device,
                                 .status = coded(pick_code(m, kind))};
    p->token = ++m->token;
    p->answer_ms = at;
    p->stopped = false;
    model_push(m, at, p->token, &event);
}

static void answer_job(struct model *m, struct mjob *job, enum engine_event_kind kind, uint64_t at)
{
    struct engine_event event = {.kind = kind, .job = job->id, .status = coded(pick_code(m, kind))};
    job->token = ++m->token;
    job->answer_ms = at;
    model_push(m, at, job->token, &event);
}

/* Nothing begins for which there is no room now. */
static void check_budget(const struct model *m, const struct mjob *job)
{
    PROMISE(m, job->submit.reserved || m->held[0] + m->parameters <= m->budget,
            "job %" PRIu64 " begins something: %" PRIu64 " bytes held, %" PRIu64
            " of parameters, budget %" PRIu64,
            job->id, m->held[0], m->parameters, m->budget);
}

static void do_start(struct model *m, struct mjob *job, const struct engine_action *a)
{
    struct mpart *p = &job->parts[a->partition];
    if (p->spot == S_DOOR)
        model_fill_queue(m);
    PROMISE(m, p->spot == S_QUEUE, "start of job %" PRIu64 ".%u, which is at %d", job->id, a->partition,
            (int)p->spot);
    PROMISE(m, a->device < m->o.config.devices + m->o.config.spare_device && !m->lost[a->device],
            "start on device %u, lost", a->device);
    PROMISE(m, a->device < m->o.config.devices || job->submit.reserved, "the spare device for job %" PRIu64,
            job->id);
    model_check_first(m, job, a->partition, S_QUEUE);
    const struct engine_circuit *c = &m->o.circuits[job->submit.circuit];
    p->spot = S_DEVICE;
    p->device = a->device;
    PROMISE(m, ++p->starts <= 3 + m->o.config.devices, "job %" PRIu64 ".%u is tried %u times", job->id,
            a->partition, p->starts);
    hold(m, job, p, p->held + c->proof_bytes);
    check_budget(m, job);
    uint64_t ms = vary(m, m->o.times[job->submit.circuit].device_ms);
    uint64_t begin = m->now;
    if (!job->submit.reserved) {
        if (m->device_free[a->device] > begin)
            begin = m->device_free[a->device];
        m->device_free[a->device] = begin + ms;
        m->result.device_busy_ms[a->device] += ms;
        if (m->result.last_start_end_ms == 0)
            m->result.first_start_ms = begin;
        if (begin + ms > m->result.last_start_end_ms)
            m->result.last_start_end_ms = begin + ms;
    }
    answer_part(m, job, a->partition, EVENT_STARTED, begin + ms);
}

static void do_stop(struct model *m, struct mjob *job, const struct engine_action *a)
{
    PROMISE(m, job->ended, "stop of job %" PRIu64 ", which has not ended", job->id);
    uint64_t soon = m->now + (m->o.random ? below(m, 1000) : 0);
    enum status_code code = m->o.random && below(m, 5) == 0 ? STATUS_OK : STATUS_CANCELLED;
    struct engine_event event = {.job = job->id, .partition = a->partition, .status = coded(code)};
    if (a->partition == UINT32_MAX) {
        PROMISE(m, job->token != 0 && !job->stopped, "stop of job %" PRIu64 ": nothing runs", job->id);
        event.kind = job->opening ? EVENT_OPENED : EVENT_VERIFIED;
        job->stopped = true;
        job->token = ++m->token;
        model_push(m, soon < job->answer_ms ? soon : job->answer_ms, job->token, &event);
        return;
    }
    struct mpart *p = &job->parts[a->partition];
    PROMISE(m, p->token != 0 && !p->stopped, "stop of job %" PRIu64 ".%u: nothing runs", job->id,
            a->partition);
    event.kind = p->spot == S_SYNTHESIS ? EVENT_SYNTHESISED
                 : p->spot == S_DEVICE  ? EVENT_STARTED
                                        : EVENT_FINISHED;
    p->stopped = true;
    p->token = ++m->token;
    model_push(m, soon < p->answer_ms ? soon : p->answer_ms, p->token, &event);
}

static void do_release(struct model *m, struct mjob *job, uint32_t k)
{
    struct mpart *p = &job->parts[k];
    PROMISE(m, p->token == 0, "release of job %" PRIu64 ".%u while it works", job->id, k);
    PROMISE(m, p->spot != S_GONE && p->spot != S_REST, "release of job %" PRIu64 ".%u, which holds nothing",
            job->id, k);
    if (p->spot != S_DONE)
        p->spot = job->ended ? S_GONE : S_REST; /* again, or the job's end follows */
    hold(m, job, p, 0);
}

static void do_end(struct model *m, struct mjob *job, const struct engine_action *a)
{
    PROMISE(m, !job->ended, "job %" PRIu64 " ended twice", job->id);
    job->ended = true;
    job->ended_ms = m->now;
    if (!status_failed(&a->status)) {
        m->result.ok++;
        for (uint32_t k = 0; k < job->submit.partitions; k++)
            PROMISE(m, job->parts[k].spot == S_DONE, "job %" PRIu64 " ended well without %u", job->id, k);
    } else if (a->status.code == STATUS_CANCELLED) {
        m->result.cancelled++;
    } else {
        m->result.failed++;
    }
}

static void do_close(struct model *m, struct mjob *job)
{
    PROMISE(m, job->ended && !job->closed, "close of job %" PRIu64, job->id);
    PROMISE(m, job->token == 0, "close of job %" PRIu64 " while it works", job->id);
    for (uint32_t k = 0; k < job->submit.partitions; k++)
        PROMISE(m, job->parts[k].token == 0 && job->parts[k].held == 0, "close of job %" PRIu64 " with %u",
                job->id, k);
    job->closed = true;
    for (size_t i = 0; i < m->live_count; i++) {
        if (m->live[i] == job->id) {
            m->live[i] = m->live[--m->live_count];
            return;
        }
    }
}

static void do_of_job(struct model *m, const struct engine_action *a)
{
    struct mjob *job = job_of(m, a->job);
    const struct model_times *t = &m->o.times[job->submit.circuit];
    switch (a->kind) {
    case ACTION_OPEN:
        PROMISE(m, !job->opening && !job->opened && !job->ended, "open of job %" PRIu64, job->id);
        model_check_job_first(m, job, true);
        job->opening = true;
        answer_job(m, job, EVENT_OPENED, m->now + vary(m, t->open_ms));
        break;
    case ACTION_VERIFY:
        PROMISE(m, job->opened && !job->verifying && !job->ended, "verify of job %" PRIu64, job->id);
        for (uint32_t k = 0; k < job->submit.partitions; k++)
            PROMISE(m, job->parts[k].spot == S_DONE, "verify of job %" PRIu64 " without %u", job->id, k);
        model_check_job_first(m, job, false);
        job->verifying = true;
        answer_job(m, job, EVENT_VERIFIED, m->now + vary(m, t->verify_ms));
        break;
    case ACTION_STOP:
        do_stop(m, job, a);
        break;
    case ACTION_END:
        do_end(m, job, a);
        break;
    case ACTION_CLOSE:
        do_close(m, job);
        break;
    default:
        PROMISE(m, a->kind == ACTION_FORGET && job->closed, "forget of job %" PRIu64, job->id);
        PROMISE(m, m->now >= job->ended_ms + m->o.config.retention_ms, "job %" PRIu64 " forgotten too early",
                job->id);
        m->jobs[job->id] = NULL;
        free(job);
    }
}

static void do_of_partition(struct model *m, const struct engine_action *a)
{
    struct mjob *job = job_of(m, a->job);
    const struct model_times *t = &m->o.times[job->submit.circuit];
    struct mpart *p = &job->parts[a->partition];
    PROMISE(m, a->partition < job->submit.partitions, "partition %u of %u", a->partition,
            job->submit.partitions);
    if (a->kind == ACTION_RELEASE) {
        do_release(m, job, a->partition);
        return;
    }
    PROMISE(m, !job->ended && job->opened, "work for job %" PRIu64 ", which is not open", job->id);
    if (a->kind == ACTION_SYNTHESISE) {
        PROMISE(m, p->spot == S_REST && m->ready[job->submit.circuit], "synthesis of job %" PRIu64 ".%u",
                job->id, a->partition);
        model_check_first(m, job, a->partition, S_REST);
        p->spot = S_SYNTHESIS;
        hold(m, job, p, m->o.circuits[job->submit.circuit].seeds_bytes);
        check_budget(m, job);
        answer_part(m, job, a->partition, EVENT_SYNTHESISED, m->now + vary(m, t->synthesis_ms));
    } else if (a->kind == ACTION_START) {
        do_start(m, job, a);
    } else {
        PROMISE(m, p->spot == S_STAND, "finish of job %" PRIu64 ".%u", job->id, a->partition);
        model_check_first(m, job, a->partition, S_STAND);
        p->spot = S_FINISH;
        answer_part(m, job, a->partition, EVENT_FINISHED, m->now + vary(m, t->finish_ms));
    }
}

/* Room for its parameters; nothing of a job is under way with those that go. */
static void do_load(struct model *m, uint32_t circuit)
{
    struct engine_event event = {.kind = EVENT_CIRCUIT, .circuit = circuit};
    const struct engine_circuit *c = &m->o.circuits[circuit];
    m->parameters += c->load_bytes;
    PROMISE(m, c->resident || m->held[0] + m->parameters <= m->budget, "circuit %u is loaded without room",
            circuit);
    event.status = coded(pick_code(m, EVENT_CIRCUIT));
    m->loads_out++;
    uint64_t ms = vary(m, m->o.times[circuit].load_ms);
    model_push(m, m->now + (chance(m, 20) ? 100 * ms : ms), 0, &event); /* a slow disk, at times */
}

static void do_evict(struct model *m, uint32_t circuit)
{
    PROMISE(m, m->ready[circuit] && !m->o.circuits[circuit].resident, "circuit %u is evicted", circuit);
    for (size_t i = 0; i < m->live_count; i++) {
        const struct mjob *job = m->jobs[m->live[i]];
        for (uint32_t k = 0; k < job->submit.partitions && job->submit.circuit == circuit; k++)
            PROMISE(m, job->parts[k].spot == S_REST || job->parts[k].spot >= S_DONE,
                    "circuit %u is evicted under job %" PRIu64, circuit, job->id);
    }
    m->ready[circuit] = false;
    m->parameters -= m->o.circuits[circuit].load_bytes;
    m->result.evictions++;
}

static void do_device(struct model *m, const struct engine_action *a)
{
    if (a->kind == ACTION_STRIKE) {
        m->strikes[a->device]++;
        m->result.strikes++;
        return;
    }
    PROMISE(m,
            !m->lost[a->device] && m->strikes[a->device] >= m->o.config.strikes_max &&
                m->o.config.strikes_max > 0,
            "device %u is taken out of service", a->device);
    m->lost[a->device] = true;
    m->result.devices_off++;
}

static void carry_out(struct model *m, const struct engine_action *a)
{
    uint64_t mix[5] = {a->kind, a->job, a->partition, a->device, m->now};
    for (int i = 0; i < 5; i++)
        m->result.finished_hash = (m->result.finished_hash ^ mix[i]) * UINT64_C(0x100000001b3);
    if (m->o.trace)
        fprintf(stderr, "%10" PRIu64 "  action %d job %" PRIu64 ".%u device %u %s\n", m->now, (int)a->kind,
                a->job, a->partition, a->device,
                a->kind == ACTION_END ? status_code_name(a->status.code) : "");
    switch (a->kind) {
    case ACTION_SYNTHESISE:
    case ACTION_START:
    case ACTION_FINISH:
    case ACTION_RELEASE:
        do_of_partition(m, a);
        break;
    case ACTION_LOAD:
        do_load(m, a->circuit);
        break;
    case ACTION_EVICT:
        do_evict(m, a->circuit);
        break;
    case ACTION_STRIKE:
    case ACTION_DEVICE_OFF:
        do_device(m, a);
        break;
    case ACTION_DRAINED:
        PROMISE(m, !m->drained && m->live_count == 0 && m->draining, "drained with %zu jobs", m->live_count);
        m->drained = true;
        break;
    default:
        do_of_job(m, a);
    }
}

/* ---- what comes ---- */

/* False for an answer that a STOP has overtaken. */
static bool take_answer(struct model *m, const struct item *item)
{
    const struct engine_event *e = &item->event;
    if (item->token == 0)
        return true;
    struct mjob *job = e->job < m->next_id ? m->jobs[e->job] : NULL;
    if (job == NULL)
        return false;
    bool good = !status_failed(&e->status) && !job->ended;
    if (e->kind == EVENT_OPENED || e->kind == EVENT_VERIFIED) {
        if (job->token != item->token)
            return false;
        job->token = 0;
        job->opened |= e->kind == EVENT_OPENED && good;
        job->opening = false;
        return true;
    }
    struct mpart *p = &job->parts[e->partition];
    if (p->token != item->token)
        return false;
    p->token = 0;
    const struct engine_circuit *c = &m->o.circuits[job->submit.circuit];
    if (e->kind == EVENT_SYNTHESISED && good)
        p->spot = S_DOOR;
    else if (e->kind == EVENT_STARTED && good) {
        p->spot = S_STAND;
        hold(m, job, p, c->pending_bytes); /* the seeds are freed here, without being told */
    } else if (e->kind == EVENT_FINISHED && good)
        p->spot = S_DONE;
    if (!good && !job->ended && (e->status.code == STATUS_REJECTED || e->status.code == STATUS_DEVICE))
        m->result.retries++;
    return true;
}

static void note_event(struct model *m, const struct engine_event *e)
{
    struct mjob *job = e->job != 0 && e->job < m->next_id ? m->jobs[e->job] : NULL;
    switch (e->kind) {
    case EVENT_CIRCUIT:
        m->loads_out--;
        m->ready[e->circuit] = !status_failed(&e->status);
        if (!m->ready[e->circuit])
            m->parameters -= m->o.circuits[e->circuit].load_bytes;
        break;
    case EVENT_CIRCUIT_GONE:
        m->ready[e->circuit] = false;
        m->parameters -= m->o.circuits[e->circuit].load_bytes;
        break;
    case EVENT_BUDGET:
        m->budget = e->bytes;
        break;
    case EVENT_DEVICE_LOST:
        m->lost[e->device] = true;
        break;
    case EVENT_DRAIN:
        m->draining = true;
        break;
    case EVENT_CALLER_GONE:
        if (job != NULL && job->orphan_since == UINT64_MAX && !job->submit.keep_when_orphaned)
            job->orphan_since = m->now;
        break;
    case EVENT_CALLER_BACK:
        if (job != NULL) {
            job->orphan_since = UINT64_MAX;
            job->submit.deadline_ms = 0;
        }
        break;
    default:
        break;
    }
}

static void check_job(const struct model *m, const struct mjob *job, uint32_t reserved)
{
    if (job->ended) {
        PROMISE(m, job->token == 0 || job->stopped, "job %" PRIu64 " has ended and is not stopped", job->id);
        for (uint32_t k = 0; k < job->submit.partitions; k++)
            PROMISE(m, job->parts[k].token == 0 || job->parts[k].stopped, "job %" PRIu64 ".%u is not stopped",
                    job->id, k);
        return;
    }
    PROMISE(m, job->submit.deadline_ms == 0 || job->submit.deadline_ms > m->now,
            "job %" PRIu64 " outlives its deadline", job->id);
    PROMISE(m, job->orphan_since == UINT64_MAX || job->orphan_since + m->o.config.orphan_ms > m->now,
            "job %" PRIu64 " outlives its callers", job->id);
    if (!job->submit.reserved || reserved > 1 || job->submit.partitions > 1)
        return;
    bool works = job->token != 0 || job->parts[0].token != 0;
    PROMISE(m, works || (job->opened && !m->ready[job->submit.circuit]), "WinningPoSt job %" PRIu64 " waits",
            job->id);
}

static void check_step(struct model *m)
{
    struct engine_counts counts;
    engine_check_invariants(m->engine);
    engine_counts(m->engine, &counts);
    PROMISE(m, counts.lease_bytes == m->held[0] + m->held[1],
            "leases of %" PRIu64 " bytes, held are %" PRIu64, counts.lease_bytes, m->held[0] + m->held[1]);
    PROMISE(m, m->held[0] <= m->o.config.host_budget, "%" PRIu64 " bytes held", m->held[0]);
    m->result.lease_peak = counts.lease_peak;
    model_fill_queue(m);
    uint32_t reserved = 0;
    for (size_t i = 0; i < m->live_count; i++)
        reserved += m->jobs[m->live[i]]->submit.reserved;
    for (size_t i = 0; i < m->live_count; i++)
        check_job(m, m->jobs[m->live[i]], reserved);
}

static void step(struct model *m, const struct engine_event *event)
{
    const struct engine_action *actions;
    size_t count;
    m->result.steps++;
    PROMISE(m, m->o.break_at != m->result.steps, "as it was asked for");
    m->stepped_ms = m->now;
    if (m->o.trace)
        fprintf(stderr, "%10" PRIu64 "  event %d job %" PRIu64 ".%u %s\n", m->now, (int)event->kind,
                event->job, event->partition, status_code_name(event->status.code));
    note_event(m, event);
    engine_step(m->engine, m->now, event, &actions, &count);
    for (size_t i = 0; i < count; i++)
        carry_out(m, &actions[i]);
    check_step(m);
}

static void submit_now(struct model *m, const struct engine_submit *submit)
{
    struct engine_event event = {.kind = EVENT_SUBMIT, .job = m->next_id++, .submit = *submit};
    if (m->next_id > m->jobs_capacity) {
        m->jobs_capacity = m->jobs_capacity == 0 ? 1024 : 2 * m->jobs_capacity;
        m->jobs = realloc(m->jobs, m->jobs_capacity * sizeof(struct mjob *));
        CHECK(m->jobs != NULL);
        m->jobs[0] = NULL;
    }
    struct mjob *job = calloc(1, sizeof *job);
    CHECK(job != NULL);
    job->id = event.job;
    job->submit = *submit;
    job->created_ms = m->now;
    job->orphan_since = UINT64_MAX;
    m->jobs[job->id] = job;
    m->result.jobs++;
    struct status admitted = engine_would_admit(m->engine, m->now, submit);
    if (!status_failed(&admitted)) {
        if (m->live_count == m->live_capacity) {
            m->live_capacity = m->live_capacity == 0 ? 64 : 2 * m->live_capacity;
            m->live = realloc(m->live, m->live_capacity * sizeof *m->live);
            CHECK(m->live != NULL);
        }
        m->live[m->live_count++] = job->id;
    }
    step(m, &event);
    if (status_failed(&admitted)) {
        PROMISE(m, job->ended, "refused job %" PRIu64 " was not answered", job->id);
        m->result.refused++;
        m->jobs[job->id] = NULL;
        free(job);
    }
}

/* The process died and comes back: nothing is loaded, nothing held, and what was accepted and not answered is
 * submitted again, unless its time is over. */
static void restart(struct model *m)
{
    struct engine_submit *again = calloc(m->next_id, sizeof *again);
    size_t count = 0;
    CHECK(again != NULL);
    for (job_id id = 1; id < m->next_id; id++) {
        struct mjob *job = m->jobs[id];
        if (job != NULL && !job->ended && (job->submit.deadline_ms == 0 || job->submit.deadline_ms > m->now))
            again[count++] = job->submit;
        m->jobs[id] = NULL;
        free(job);
    }
    engine_end(m->engine);
    struct status s = engine_make(&m->engine, &m->o.config, m->o.circuits, m->o.circuits_count);
    CHECK(!status_failed(&s));
    m->epoch++;
    m->result.restarts++;
    m->live_count = 0;
    m->held[0] = m->held[1] = m->parameters = m->loads_out = m->stepped_ms = 0;
    m->budget = m->o.config.host_budget;
    m->draining = m->drained = false;
    memset(m->ready, 0, sizeof m->ready);
    memset(m->lost, 0, sizeof m->lost);
    memset(m->strikes, 0, sizeof m->strikes);
    memset(m->device_free, 0, sizeof m->device_free);
    for (size_t i = 0; i < count; i++)
        submit_now(m, &again[i]);
    free(again);
}

#define RESTART UINT64_MAX /* as a token: no answer has it */

/* A job of any kind, and perhaps a cancel, or a caller that goes and perhaps comes back. */
static void random_arrival(struct model *m)
{
    struct engine_submit s = {.circuit = (uint32_t)below(m, m->o.circuits_count)};
    s.reserved = s.circuit == 2;
    s.partitions = s.reserved ? 1 : 1 + (uint32_t)below(m, 10);
    s.priority = s.reserved ? PRIORITY_CRITICAL : (enum priority)below(m, PRIORITY_COUNT);
    s.keep_when_orphaned = below(m, 4) == 0;
    s.request_bytes = below(m, 100);
    if (below(m, 5) == 0)
        s.deadline_ms = m->now + 1 + below(m, 600000);
    job_id id = m->next_id;
    submit_now(m, &s);
    struct engine_event event = {.kind = EVENT_CANCEL, .job = id, .status = coded(STATUS_CANCELLED)};
    uint64_t when = m->now + below(m, 30000);
    if (chance(m, 100))
        model_push(m, when, 0, &event);
    event = (struct engine_event){.kind = EVENT_CALLER_GONE, .job = id};
    if (chance(m, 100)) {
        model_push(m, when, 0, &event);
        event.kind = EVENT_CALLER_BACK;
        if (chance(m, 500))
            model_push(m, when + below(m, 2 * m->o.config.orphan_ms), 0, &event);
    }
    event =
        (struct engine_event){.kind = EVENT_CIRCUIT_GONE, .circuit = (uint32_t)below(m, m->o.circuits_count)};
    if (chance(m, 20))
        model_push(m, when, 0, &event);
    event.kind = EVENT_LOAD;
    if (chance(m, 20))
        model_push(m, when, 0, &event);
    if (chance(m, 10) && m->lowered_until <= m->now) { /* other programs take memory for a while */
        event = (struct engine_event){.kind = EVENT_BUDGET, .bytes = below(m, m->o.config.host_budget)};
        model_push(m, m->now, 0, &event);
        event.bytes = m->o.config.host_budget;
        m->lowered_until = m->now + 1 + below(m, 60000);
        model_push(m, m->lowered_until, 0, &event);
    }
    event.kind = EVENT_TICK;
    if (chance(m, 3))
        model_push(m, when, RESTART, &event);
    if (--m->arrivals_left > 0)
        model_push(m, m->now + (below(m, 20) == 0 ? below(m, 60000) : below(m, 1500)), 0, NULL);
}

void model_run(struct model *m)
{
    current = m;
    void (*before)(int) = signal(SIGABRT, on_abort);
    while (m->heap_count > 0 || engine_next_tick(m->engine) != UINT64_MAX) {
        uint64_t tick = engine_next_tick(m->engine);
        if (m->heap_count == 0 || tick < m->heap[0].at) {
            struct engine_event event = {.kind = EVENT_TICK};
            PROMISE(m, tick > m->stepped_ms && tick >= m->now, "tick at %" PRIu64 ", which is past", tick);
            m->now = tick;
            step(m, &event);
            continue;
        }
        struct item item = model_pop(m);
        m->now = item.at;
        if (item.token == RESTART)
            restart(m);
        else if (item.event.kind == EVENT_CIRCUIT && item.epoch != m->epoch)
            continue; /* of a process that is no more */
        else if (item.arrival && item.token == 0)
            random_arrival(m);
        else if (item.event.kind == EVENT_SUBMIT)
            submit_now(m, &item.event.submit);
        else if (item.event.kind == EVENT_CIRCUIT_GONE && !m->ready[item.event.circuit])
            continue;
        else if (take_answer(m, &item))
            step(m, &item.event);
    }
    struct engine_counts c;
    engine_counts(m->engine, &c);
    PROMISE(m, m->live_count == 0, "job %" PRIu64 " waits for ever", m->live_count > 0 ? m->live[0] : 0);
    PROMISE(
        m,
        c.lease_bytes + c.queue_bytes + c.permits_in_use + c.ready_length + c.devices_busy + c.finishing == 0,
        "something is held");
    PROMISE(m, m->loads_out == 0 && c.jobs_retained == 0, "loads or retained jobs are left");
    PROMISE(m, !m->draining || m->drained, "never drained");
    for (job_id id = 1; id < m->next_id; id++)
        PROMISE(m, m->jobs[id] == NULL, "job %" PRIu64 " was not forgotten", id);
    m->result.end_ms = m->now;
    signal(SIGABRT, before);
    current = NULL;
}

/* ---- beginning and end ---- */

struct model *model_make(const struct model_options *options)
{
    struct model *m = calloc(1, sizeof *m);
    CHECK(m != NULL);
    m->o = *options;
    m->random = options->seed;
    m->budget = options->config.host_budget;
    m->next_id = 1;
    struct status s = engine_make(&m->engine, &options->config, options->circuits, options->circuits_count);
    CHECK(!status_failed(&s));
    m->arrivals_left = options->random ? options->jobs : 0;
    if (m->arrivals_left > 0)
        model_push(m, 0, 0, NULL);
    if (options->faults) {
        uint64_t span = (uint64_t)options->jobs * 2000;
        for (uint32_t d = 0; d < options->config.devices; d++)
            if (below(m, 4) == 0)
                model_lose_device(m, below(m, 2 * span + 1), d);
        struct engine_event drain = {.kind = EVENT_DRAIN};
        if (below(m, 2) == 0)
            model_push(m, span / 2 + below(m, span + 1), 0, &drain);
    }
    return m;
}

void model_end(struct model *m)
{
    engine_end(m->engine);
    free(m->heap);
    free(m->jobs);
    free(m->live);
    free(m);
}

void model_submit(struct model *m, uint64_t at_ms, const struct engine_submit *submit)
{
    struct engine_event event = {.kind = EVENT_SUBMIT, .submit = *submit};
    model_push(m, at_ms, 0, &event);
}

void model_lose_device(struct model *m, uint64_t at_ms, uint32_t device)
{
    struct engine_event event = {.kind = EVENT_DEVICE_LOST, .device = device, .status = coded(STATUS_DEVICE)};
    model_push(m, at_ms, 0, &event);
}

void model_result(const struct model *m, struct model_result *out)
{
    *out = m->result;
}
