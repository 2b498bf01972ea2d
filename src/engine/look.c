/* What can be asked of the state machine, and the invariants that tests hold it to. */
#include "engine/internal.h"

#include <string.h>

static uint64_t lease_bytes(const struct engine *e)
{
    return e->leases[0].held + e->leases[0].scratch + e->leases[1].held + e->leases[1].scratch;
}

void engine_counts(const struct engine *e, struct engine_counts *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (!job_live(job))
            out->jobs_retained++;
        else if (job_begun(job))
            out->jobs_running++;
        else
            out->jobs_waiting++;
        out->ready_waiting += job->at[AT_DOOR];
        out->pending_proofs += job->at[AT_STAND];
    }
    out->jobs_retained += e->retained_count;
    for (uint32_t d = 0; d < devices_count(e); d++)
        out->devices_busy += e->devices[d].workers.normal + e->devices[d].workers.reserved;
    out->permits_in_use = e->permits.normal + e->permits.reserved;
    out->ready_length = e->ready.normal + e->ready.reserved;
    out->ready_capacity = ready_capacity(e);
    out->finishing = e->finishing.normal + e->finishing.reserved;
    out->lease_bytes = lease_bytes(e);
    out->lease_peak = e->lease_peak;
    out->queue_bytes = e->queue_bytes;
    out->budget = e->budget;
    out->parameter_bytes = e->parameter_bytes;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        out->loads_waiting += e->circuits[i].stage == CIRCUIT_WANTED;
    out->short_of_memory = e->budget < e->config.host_budget && (e->starved || out->loads_waiting > 0);
}

uint32_t engine_strikes(const struct engine *e, uint32_t device, bool *off)
{
    *off = e->devices[device].off;
    return e->devices[device].strikes;
}

static const enum partition_state STATE_OF[PLACES] = {
    [AT_REST] = PARTITION_PENDING,  [AT_SYNTHESIS] = PARTITION_SYNTHESIS, [AT_DOOR] = PARTITION_READY,
    [AT_QUEUE] = PARTITION_READY,   [AT_DEVICE] = PARTITION_DEVICE,       [AT_STAND] = PARTITION_DEVICE,
    [AT_FINISH] = PARTITION_FINISH, [AT_DONE] = PARTITION_DONE,           [AT_FAILED] = PARTITION_FAILED,
};

bool engine_job_partitions(const struct engine *e, job_id id, enum partition_state *states, uint32_t *count)
{
    const struct job *job = find_job(e, id);
    if (job == NULL)
        return false;
    *count = job->submit.partitions;
    for (uint32_t k = 0; k < job->submit.partitions; k++)
        states[k] = STATE_OF[job->partitions[k].place];
    return true;
}

uint32_t engine_queue_position(const struct engine *e, job_id id)
{
    const struct job *mine = find_job(e, id);
    if (mine == NULL || !job_live(mine) || job_begun(mine))
        return 0;
    uint32_t position = 1;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (job != mine && job_live(job) && !job_begun(job) && job_before(e, job, mine))
            position++;
    }
    return position;
}

/* ---- invariants ---- */

struct tally {
    struct seats live, opening, permits, ready, finishing, workers[ENGINE_DEVICES_MAX];
    struct bytes leases[2];
    uint64_t queue_bytes;
};

static void tally_partition(struct tally *t, const struct engine *e, const struct job *job,
                            const struct partition *p)
{
    const struct engine_circuit *c = circuit_of(e, job);
    bool reserved = job->submit.reserved, rests = false;
    uint64_t held = 0, scratch = 0;
    switch (p->place) {
    case AT_SYNTHESIS:
    case AT_DOOR:
        held = c->seeds_bytes;
        break;
    case AT_QUEUE:
        held = c->seeds_bytes;
        seat_take(&t->ready, reserved);
        break;
    case AT_DEVICE:
        held = c->seeds_bytes;
        scratch = c->proof_bytes;
        seat_take(&t->workers[p->device], reserved);
        break;
    case AT_STAND:
        held = c->pending_bytes;
        seat_take(&t->workers[p->device], reserved);
        break;
    case AT_FINISH:
        held = c->pending_bytes;
        seat_take(&t->finishing, reserved);
        break;
    default:
        rests = true;
    }
    CHECK(p->held == held && p->scratch == scratch); /* the lease is what the place needs, to the byte */
    t->leases[reserved].held += held;
    t->leases[reserved].scratch += scratch;
    if (p->permit)
        seat_take(&t->permits, reserved);
    CHECK(p->permit == (p->place == AT_SYNTHESIS || (p->place == AT_DOOR && e->config.permit_until_queued)));
    bool in_flight = p->place == AT_SYNTHESIS || p->place == AT_DEVICE || p->place == AT_FINISH;
    CHECK(!p->stopping || in_flight);
    CHECK(job_live(job) || (in_flight && p->stopping) || p->place == AT_DONE || p->place == AT_FAILED);
    CHECK(job_live(job) == (p->place != AT_FAILED) || !job_live(job));
    CHECK(rests || job->stage == STAGE_RUNNING || job->stage == STAGE_ENDED);
    CHECK(p->attempts <= ATTEMPTS_MAX);
}

static void tally_job(struct tally *t, const struct engine *e, const struct job *job)
{
    uint32_t at[PLACES] = {0};
    bool reserved = job->submit.reserved, live = job_live(job);
    for (uint32_t k = 0; k < job->submit.partitions; k++) {
        tally_partition(t, e, job, &job->partitions[k]);
        at[job->partitions[k].place]++;
    }
    CHECK(memcmp(at, job->at, sizeof at) == 0);
    CHECK(job->stage != STAGE_PROVED || at[AT_DONE] == job->submit.partitions);
    CHECK(job->stage != STAGE_RUNNING || at[AT_DONE] < job->submit.partitions);
    CHECK(!live || job->opening == (job->stage == STAGE_OPENING));
    CHECK(!live || !job->verifying || job->stage == STAGE_PROVED);
    CHECK(live || job->opening || job->verifying || job_in_flight(job) > 0); /* else it is closed */
    if (job->opening)
        seat_take(&t->opening, reserved);
    if (job->verifying)
        seat_take(&t->finishing, reserved);
    if (!live)
        return;
    t->queue_bytes += job->submit.request_bytes;
    seat_take(&t->live, reserved);
}

static bool same(const struct seats *a, const struct seats *b)
{
    return a->normal == b->normal && a->reserved == b->reserved;
}

static bool within(const struct seats *s, uint32_t limit)
{
    return s->normal <= limit && s->normal + s->reserved <= limit + 1;
}

void engine_check_invariants(const struct engine *e)
{
    struct tally t;
    memset(&t, 0, sizeof t);
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        tally_job(&t, e, e->jobs[i]);
        CHECK(i == 0 || e->jobs[i - 1]->id < e->jobs[i]->id);
    }
    CHECK(same(&t.permits, &e->permits) && same(&t.ready, &e->ready) && same(&t.opening, &e->opening));
    CHECK(same(&t.finishing, &e->finishing) && same(&t.live, &e->live));
    CHECK(memcmp(t.leases, e->leases, sizeof t.leases) == 0 && t.queue_bytes == e->queue_bytes);
    CHECK(within(&e->permits, e->config.partition_workers) && within(&e->finishing, e->config.finishers));
    CHECK(within(&e->opening, OPENERS) && e->ready.normal <= ready_capacity(e));
    for (uint32_t d = 0; d < devices_count(e); d++) {
        CHECK(d < e->config.devices || e->devices[d].workers.normal == 0);
        CHECK(same(&t.workers[d], &e->devices[d].workers));
        CHECK(within(&e->devices[d].workers, e->config.workers_per_device));
    }
    CHECK(e->live.normal <= e->config.max_queue && e->live.reserved <= RESERVED_SEATS);
    CHECK(e->leases[0].held + e->leases[0].scratch <= e->config.host_budget);
    uint64_t parameters = 0;
    for (uint32_t i = 0; i < e->circuits_count; i++) {
        const struct circuit_entry *c = &e->circuits[i];
        bool here = c->stage == CIRCUIT_LOADING || c->stage == CIRCUIT_READY;
        CHECK(c->charged == (here ? c->facts.load_bytes : 0));
        parameters += c->charged;
    }
    CHECK(parameters == e->parameter_bytes);
}
