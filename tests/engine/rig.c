/* See rig.h. */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct engine_circuit RIG_CIRCUIT[RIG_CIRCUITS] = {
    {.seeds_bytes = 100, .proof_bytes = 1000, .pending_bytes = 10},
    {.seeds_bytes = 200, .proof_bytes = 2000, .pending_bytes = 20},
    {.seeds_bytes = 1, .proof_bytes = 1, .pending_bytes = 1}};

struct engine_config rig_config(void)
{
    return (struct engine_config){.partition_workers = 2,
                                  .synthesis_lookahead = 1,
                                  .finishers = 1,
                                  .devices = 1,
                                  .workers_per_device = 1,
                                  .max_queue = 4,
                                  .max_queue_bytes = 1 << 20,
                                  .host_budget = 1 << 20,
                                  .orphan_ms = 60000,
                                  .retention_ms = 100000,
                                  .permit_until_queued = true};
}

void rig_start(struct rig *rig, const struct engine_config *config)
{
    memset(rig, 0, sizeof *rig);
    struct status s = engine_make(&rig->engine, config, RIG_CIRCUIT, RIG_CIRCUITS);
    assert_int_equal(s.code, STATUS_OK);
}

void rig_end(struct rig *rig)
{
    engine_end(rig->engine);
}

static int write_action(char *out, size_t size, const struct engine_action *a)
{
    unsigned long long job = a->job;
    static const char *const OF_PARTITION[] = {[ACTION_SYNTHESISE] = "synth",
                                               [ACTION_FINISH] = "finish",
                                               [ACTION_RELEASE] = "release",
                                               [ACTION_STOP] = "stop"};
    static const char *const OF_JOB[] = {[ACTION_OPEN] = "open",
                                         [ACTION_VERIFY] = "verify",
                                         [ACTION_CLOSE] = "close",
                                         [ACTION_FORGET] = "forget"};
    switch (a->kind) {
    case ACTION_START:
        return snprintf(out, size, "start %llu.%u@%u", job, a->partition, a->device);
    case ACTION_STOP:
        if (a->partition == UINT32_MAX)
            return snprintf(out, size, "stop %llu", job);
        /* fall through */
    case ACTION_SYNTHESISE:
    case ACTION_FINISH:
    case ACTION_RELEASE:
        return snprintf(out, size, "%s %llu.%u", OF_PARTITION[a->kind], job, a->partition);
    case ACTION_LOAD:
        return snprintf(out, size, "load %u", a->circuit);
    case ACTION_EVICT:
        return snprintf(out, size, "evict %u", a->circuit);
    case ACTION_STRIKE:
        return snprintf(out, size, "strike @%u", a->device);
    case ACTION_DEVICE_OFF:
        return snprintf(out, size, "off @%u", a->device);
    case ACTION_END:
        return snprintf(out, size, "end %llu %s", job, status_code_name(a->status.code));
    case ACTION_DRAINED:
        return snprintf(out, size, "drained");
    default:
        return snprintf(out, size, "%s %llu", OF_JOB[a->kind], job);
    }
}

static bool answers(const struct engine_event *event, const struct engine_action *a)
{
    switch (a->kind) {
    case ACTION_OPEN:
        return event->kind == EVENT_OPENED && event->job == a->job;
    case ACTION_SYNTHESISE:
        return event->kind == EVENT_SYNTHESISED && event->job == a->job && event->partition == a->partition;
    case ACTION_START:
        return event->kind == EVENT_STARTED && event->job == a->job && event->partition == a->partition;
    case ACTION_FINISH:
        return event->kind == EVENT_FINISHED && event->job == a->job && event->partition == a->partition;
    case ACTION_VERIFY:
        return event->kind == EVENT_VERIFIED && event->job == a->job;
    case ACTION_LOAD:
        return event->kind == EVENT_CIRCUIT && event->circuit == a->circuit;
    default:
        return false;
    }
}

/* An answer must answer something that was asked. */
static void strike_out(struct rig *rig, const struct engine_event *event)
{
    bool is_answer =
        (event->kind >= EVENT_OPENED && event->kind <= EVENT_VERIFIED) || event->kind == EVENT_CIRCUIT;
    for (size_t i = 0; i < rig->out_count; i++) {
        if (answers(event, &rig->out[i])) {
            memmove(&rig->out[i], &rig->out[i + 1], (--rig->out_count - i) * sizeof rig->out[0]);
            return;
        }
    }
    assert_false(is_answer);
}

static void note(struct rig *rig, const struct engine_action *a)
{
    if (a->kind == ACTION_SYNTHESISE) {
        size_t used = strlen(rig->order);
        snprintf(rig->order + used, sizeof rig->order - used, "%s%llu", used == 0 ? "" : " ",
                 (unsigned long long)a->job);
    }
    if (a->kind == ACTION_STOP) {
        for (size_t i = 0; i < rig->out_count; i++) {
            struct engine_action *o = &rig->out[i];
            bool of_job = o->kind == ACTION_OPEN || o->kind == ACTION_VERIFY;
            if (o->job == a->job && o->kind != ACTION_LOAD &&
                (of_job ? a->partition == UINT32_MAX : o->partition == a->partition))
                o->status.code = STATUS_CANCELLED;
        }
    } else if (a->kind <= ACTION_LOAD) {
        assert_true(rig->out_count < RIG_OUT);
        rig->out[rig->out_count++] = *a;
    }
}

void rig_run(struct rig *rig, enum engine_action_kind kind)
{
    static const enum engine_event_kind ANSWER[] = {
        [ACTION_OPEN] = EVENT_OPENED,     [ACTION_SYNTHESISE] = EVENT_SYNTHESISED,
        [ACTION_START] = EVENT_STARTED,   [ACTION_FINISH] = EVENT_FINISHED,
        [ACTION_VERIFY] = EVENT_VERIFIED, [ACTION_LOAD] = EVENT_CIRCUIT};
    for (size_t i = 0; i < rig->out_count;) {
        struct engine_action a = rig->out[i];
        if (kind == RIG_ALL ? a.kind == ACTION_LOAD : a.kind != kind) {
            i++;
            continue;
        }
        if (a.kind == ACTION_LOAD)
            rig_circuit(rig, ANSWER[a.kind], a.circuit, a.status.code);
        else
            rig_event(rig, ANSWER[a.kind], a.job, a.partition, a.status.code);
        i = 0;
    }
}

void rig_step(struct rig *rig, const struct engine_event *event)
{
    const struct engine_action *actions;
    size_t count, used = 0;
    strike_out(rig, event);
    engine_step(rig->engine, rig->now, event, &actions, &count);
    engine_check_invariants(rig->engine);
    rig->actions[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            used += (size_t)snprintf(rig->actions + used, sizeof rig->actions - used, "; ");
        used += (size_t)write_action(rig->actions + used, sizeof rig->actions - used, &actions[i]);
        assert_true(used < sizeof rig->actions);
        note(rig, &actions[i]);
        if (actions[i].kind == ACTION_END)
            rig->last_status = actions[i].status;
    }
}

struct engine_submit rig_job(uint32_t circuit, uint32_t partitions, enum priority priority)
{
    return (struct engine_submit){.circuit = circuit,
                                  .partitions = partitions,
                                  .priority = priority,
                                  .reserved = priority == PRIORITY_CRITICAL,
                                  .request_bytes = 10};
}

void rig_submit(struct rig *rig, job_id job, struct engine_submit submit)
{
    struct engine_event event = {.kind = EVENT_SUBMIT, .job = job, .submit = submit};
    rig_step(rig, &event);
}

static struct status coded(enum status_code code)
{
    return code == STATUS_OK ? status_ok() : status_error(code, "it went wrong");
}

void rig_event(struct rig *rig, enum engine_event_kind kind, job_id job, uint32_t partition,
               enum status_code code)
{
    struct engine_event event = {.kind = kind, .job = job, .partition = partition, .status = coded(code)};
    rig_step(rig, &event);
}

void rig_circuit(struct rig *rig, enum engine_event_kind kind, uint32_t circuit, enum status_code code)
{
    struct engine_event event = {.kind = kind, .circuit = circuit, .status = coded(code)};
    rig_step(rig, &event);
}

void rig_device_lost(struct rig *rig, uint32_t device)
{
    struct engine_event event = {
        .kind = EVENT_DEVICE_LOST, .device = device, .status = status_error(STATUS_DEVICE, "it fell off")};
    rig_step(rig, &event);
}

void rig_tick(struct rig *rig, uint64_t ms)
{
    struct engine_event event = {.kind = EVENT_TICK};
    rig->now += ms;
    rig_step(rig, &event);
}

void rig_expect(const struct rig *rig, const char *text, const char *file, int line)
{
    if (strcmp(rig->actions, text) != 0) {
        fprintf(stderr, "%s:%d: expected \"%s\", got \"%s\"\n", file, line, text, rig->actions);
        fail();
    }
}

struct engine_counts rig_counts(const struct rig *rig)
{
    struct engine_counts counts;
    engine_counts(rig->engine, &counts);
    return counts;
}

enum partition_state rig_state(const struct rig *rig, job_id job, uint32_t partition)
{
    enum partition_state states[ENGINE_PARTITIONS_MAX];
    uint32_t count;
    assert_true(engine_job_partitions(rig->engine, job, states, &count));
    assert_true(partition < count);
    return states[partition];
}

void rig_start_open(struct rig *r, const struct engine_config *config, uint32_t partitions)
{
    rig_start(r, config);
    rig_submit(r, 1, rig_job(0, partitions, PRIORITY_NORMAL));
    EXPECT(r, "load 0; open 1");
    rig_circuit(r, EVENT_CIRCUIT, 0, STATUS_OK);
    rig_event(r, EVENT_OPENED, 1, 0, STATUS_OK);
}
