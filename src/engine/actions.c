/* The list of actions that a step gives. It grows to what one step can need at most and is reused. */
#include "engine/internal.h"

#include "base/mem.h"

static struct engine_action *next(struct engine *e)
{
    if (e->actions_count == e->actions_capacity) {
        size_t more = e->actions_capacity == 0 ? 64 : 2 * e->actions_capacity;
        struct engine_action *grown = mem_grow(e->actions, e->actions_capacity, more, sizeof *grown);
        CHECK(grown != NULL); /* some kilobytes: without them the engine cannot keep its word */
        e->actions = grown;
        e->actions_capacity = more;
    }
    struct engine_action *a = &e->actions[e->actions_count++];
    a->job = 0;
    a->partition = a->device = a->circuit = 0;
    a->status = status_ok();
    return a;
}

void act(struct engine *e, enum engine_action_kind kind, const struct job *job, uint32_t partition)
{
    struct engine_action *a = next(e);
    a->kind = kind;
    a->job = job->id;
    a->partition = partition;
    a->circuit = job->submit.circuit;
    if (partition < job->submit.partitions)
        a->device = job->partitions[partition].device;
}

void act_id(struct engine *e, enum engine_action_kind kind, job_id id)
{
    struct engine_action *a = next(e);
    a->kind = kind;
    a->job = id;
}

void act_circuit(struct engine *e, enum engine_action_kind kind, uint32_t circuit)
{
    struct engine_action *a = next(e);
    a->kind = kind;
    a->circuit = circuit;
}

void act_device(struct engine *e, enum engine_action_kind kind, uint32_t device, const struct status *status)
{
    struct engine_action *a = next(e);
    a->kind = kind;
    a->device = device;
    a->status = *status;
}

void act_end(struct engine *e, const struct job *job, const struct status *status)
{
    struct engine_action *a = next(e);
    a->kind = ACTION_END;
    a->job = job->id;
    a->circuit = job->submit.circuit;
    a->status = *status;
}
