/* Who goes next, at every queue. One order for all (engine.h). Later stages are served first, so that what is
 * furthest gets out and frees memory. Reserved jobs are first in order and have a seat of their own at each
 * stage; whoever else is first and does not fit is not overtaken. */
#include "engine/internal.h"

#include <string.h>

static enum priority rank(const struct engine *e, const struct job *job)
{
    bool aged = job->submit.priority == PRIORITY_LOW && e->now_ms - job->created_ms >= AGEING_MS;
    return aged ? PRIORITY_NORMAL : job->submit.priority;
}

static uint64_t due(const struct job *job)
{
    return job->submit.deadline_ms == 0 ? job->created_ms + DUE_MS : job->submit.deadline_ms;
}

/* A total order: reserved, rank, [due in units of grouping, circuit,] due, id. */
bool job_before(const struct engine *e, const struct job *a, const struct job *b)
{
    if (a->submit.reserved != b->submit.reserved)
        return a->submit.reserved;
    enum priority rank_a = rank(e, a), rank_b = rank(e, b);
    if (rank_a != rank_b)
        return rank_a < rank_b;
    uint64_t due_a = due(a), due_b = due(b);
    if (e->config.sort_by_circuit && rank_a >= PRIORITY_NORMAL) {
        if (due_a / GROUPING_MS != due_b / GROUPING_MS)
            return due_a < due_b;
        if (a->submit.circuit != b->submit.circuit)
            return a->submit.circuit < b->submit.circuit;
    }
    return due_a != due_b ? due_a < due_b : a->id < b->id;
}

bool all_devices_lost(const struct engine *e, bool reserved)
{
    uint32_t count = reserved ? devices_count(e) : e->config.devices;
    for (uint32_t d = 0; d < count; d++)
        if (!e->devices[d].lost)
            return false;
    return true;
}

static bool has_circuit(const struct engine *e, const struct job *job)
{
    return e->circuits[job->submit.circuit].stage == CIRCUIT_READY;
}

/* The first job in order that is running with a partition at the place, and its first such partition. */
static struct job *first_at(const struct engine *e, uint32_t *partition, enum place place, bool reserved)
{
    struct job *best = NULL;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (job->at[place] > 0 && job->stage == STAGE_RUNNING && job->submit.reserved == reserved &&
            (place != AT_REST || has_circuit(e, job)) && (best == NULL || job_before(e, job, best)))
            best = job;
    }
    for (uint32_t k = 0; best != NULL && k < best->submit.partitions; k++) {
        if (best->partitions[k].place == place) {
            *partition = k;
            return best;
        }
    }
    return NULL;
}

/* ---- finishers ---- */

static struct job *first_proved(const struct engine *e, bool reserved)
{
    struct job *best = NULL;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (job->stage == STAGE_PROVED && !job->verifying && job->submit.reserved == reserved &&
            (best == NULL || job_before(e, job, best)))
            best = job;
    }
    return best;
}

static void fill_finishers(struct engine *e, bool reserved)
{
    uint32_t k;
    while (seat_free(&e->finishing, e->config.finishers, reserved)) {
        struct job *job = first_proved(e, reserved), *other = first_at(e, &k, AT_STAND, reserved);
        if (job != NULL && (other == NULL || job_before(e, job, other))) {
            job->verifying = true;
            act(e, ACTION_VERIFY, job, UINT32_MAX);
        } else if (other != NULL) {
            partition_move(other, k, AT_FINISH);
            seat_give(&e->devices[other->partitions[k].device].workers, reserved);
            act(e, ACTION_FINISH, other, k);
        } else {
            return;
        }
        seat_take(&e->finishing, reserved);
    }
}

/* ---- devices ---- */

static bool choose_device(const struct engine *e, const struct job *job, uint32_t k, uint32_t *out)
{
    const struct partition *p = &job->partitions[k];
    bool found = false;
    uint32_t best = 0, spare = e->config.devices;
    /* The spare one also where the others had their chance. */
    bool use_spare = e->config.spare_device && job->submit.reserved && !e->devices[spare].lost &&
                     (all_devices_lost(e, false) || p->attempts + 1 == ATTEMPTS_MAX);
    if (use_spare && seat_free(&e->devices[spare].workers, e->config.workers_per_device, true)) {
        *out = spare;
        return true;
    }
    for (uint32_t d = 0; d < e->config.devices; d++) {
        const struct device_entry *device = &e->devices[d];
        if (device->lost || !seat_free(&device->workers, e->config.workers_per_device, job->submit.reserved))
            continue;
        uint32_t cost = 4 * (device->workers.normal + device->workers.reserved);
        if (p->attempts > 0 && p->device == d)
            cost = p->avoid ? UINT32_MAX : 0;
        if (!found || cost < best) {
            best = cost;
            *out = d;
            found = true;
        }
    }
    return found;
}

/* One partition of the largest WindowPoSt circuit that is loaded. */
static uint64_t floor_bytes(const struct engine *e)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < e->circuits_count; i++) {
        const struct circuit_entry *c = &e->circuits[i];
        if (c->stage == CIRCUIT_READY && c->facts.floor && c->facts.seeds_bytes + c->facts.proof_bytes > most)
            most = c->facts.seeds_bytes + c->facts.proof_bytes;
    }
    return most;
}

/* What leases may fill for this job's sake. */
static uint64_t limit_of(const struct engine *e, const struct job *job)
{
    uint64_t room = lease_room(e), floor = rank(e, job) <= PRIORITY_HIGH ? 0 : floor_bytes(e);
    return room > floor ? room - floor : 0;
}

/* Whether it is for want of bytes that somebody waits. */
static bool note_starved(struct engine *e, bool fits)
{
    e->starved |= !fits;
    return fits;
}

/* Whether anything that runs, of jobs that are not reserved, will free bytes. */
static bool bytes_will_come(const struct engine *e)
{
    if (e->leases[0].scratch > 0)
        return true;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (!job->submit.reserved && job->at[AT_DEVICE] + job->at[AT_STAND] + job->at[AT_FINISH] > 0)
            return true;
    }
    return false;
}

/* The seeds of the last partition in order that waits for a device, but for this one's: they can be made
 * again. */
static bool give_back_last(struct engine *e, const struct job *first, uint32_t first_k)
{
    struct job *last = NULL;
    uint32_t last_k = 0;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (job->submit.reserved || job->stage != STAGE_RUNNING || (last != NULL && job_before(e, job, last)))
            continue;
        for (uint32_t k = 0; k < job->submit.partitions; k++) {
            enum place place = job->partitions[k].place;
            if ((place == AT_DOOR || place == AT_QUEUE) && !(job == first && k == first_k)) {
                last = job;
                last_k = k;
            }
        }
    }
    if (last != NULL)
        partition_give_back(e, last, last_k);
    return last != NULL;
}

/* Whether a partition of this job fits the budget of now when nothing else holds any of it but WinningPoSt's
 * parameters. */
static bool fits_alone(const struct engine *e, const struct job *job)
{
    uint64_t all = circuit_of(e, job)->seeds_bytes + circuit_of(e, job)->proof_bytes;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        if (i == job->submit.circuit || e->circuits[i].facts.resident)
            all += e->circuits[i].charged;
    return all <= e->budget;
}

/* The first proof may take what is there, floor or not: a job that could run alone does. Bytes that were kept
 * for it may have gone meanwhile, to the parameters of a WinningPoSt or to other programs: then it takes them
 * from what waits behind it, and from idle parameters. */
static bool proof_fits(struct engine *e, const struct job *job, uint32_t k)
{
    uint64_t proof = circuit_of(e, job)->proof_bytes;
    const struct bytes *lease = &e->leases[0];
    if (job->submit.reserved || lease->held + lease->scratch + proof <= limit_of(e, job))
        return true;
    if (!bytes_will_come(e) && fits_alone(e, job)) {
        bool more = true;
        while (lease->held + proof > lease_room(e) && more)
            more = give_back_last(e, job, k);
        if (lease->held + proof <= lease_room(e) ||
            (e->budget > e->parameter_bytes &&
             circuits_make_room(e, job, lease->held + proof - lease_room(e))))
            return true;
    }
    return note_starved(e, lease->scratch == 0 && lease->held + proof <= lease_room(e));
}

static void fill_devices(struct engine *e, bool reserved)
{
    uint32_t k, device;
    struct job *job;
    while ((job = first_at(e, &k, AT_QUEUE, reserved)) != NULL && proof_fits(e, job, k) &&
           choose_device(e, job, k, &device)) {
        partition_move(job, k, AT_DEVICE);
        seat_give(&e->ready, reserved);
        job->partitions[k].device = device;
        seat_take(&e->devices[device].workers, reserved);
        lease_set(e, job, k, circuit_of(e, job)->seeds_bytes, circuit_of(e, job)->proof_bytes);
        act(e, ACTION_START, job, k);
    }
}

/* ---- the ready queue ---- */

static bool fill_ready(struct engine *e, bool reserved)
{
    uint32_t k;
    struct job *job;
    bool any = false;
    while ((reserved || e->ready.normal < ready_capacity(e)) &&
           (job = first_at(e, &k, AT_DOOR, reserved)) != NULL) {
        partition_move(job, k, AT_QUEUE);
        seat_take(&e->ready, reserved);
        permit_give(e, job, &job->partitions[k]); /* here, not before */
        any = true;
    }
    return any;
}

/* ---- synthesis ---- */

/* Bytes that must stay free for the working memory of a proof: those in use, or the largest that a job in
 * sight will want. All that waits holds at most the rest, so when the devices are empty anything fits. */
static uint64_t scratch_kept(const struct engine *e)
{
    uint64_t most = e->leases[0].scratch;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (job_live(job) && !job->submit.reserved && circuit_of(e, job)->proof_bytes > most)
            most = circuit_of(e, job)->proof_bytes;
    }
    return most;
}

static bool seeds_fit(struct engine *e, const struct job *job)
{
    if (job->submit.reserved)
        return true;
    const struct engine_circuit *c = circuit_of(e, job);
    bool alone = e->leases[0].held + e->leases[0].scratch == 0;
    uint64_t room = lease_room(e), limit = limit_of(e, job);
    uint64_t all = e->leases[0].held + c->seeds_bytes + scratch_kept(e);
    uint64_t least = c->seeds_bytes + c->proof_bytes;
    if (all <= limit || (alone && least <= room))
        return true;
    uint64_t missing = alone && least - room < all - limit ? least - room : all - limit;
    return note_starved(e, e->budget > e->parameter_bytes && circuits_make_room(e, job, missing));
}

static void fill_synthesis(struct engine *e, bool reserved)
{
    uint32_t k;
    struct job *job;
    const struct job *hungry = reserved ? NULL : circuits_hungry(e);
    while (seat_free(&e->permits, e->config.partition_workers, reserved) &&
           (job = first_at(e, &k, AT_REST, reserved)) != NULL &&
           (hungry == NULL || job_before(e, job, hungry)) && seeds_fit(e, job)) {
        partition_move(job, k, AT_SYNTHESIS);
        job->partitions[k].permit = true;
        seat_take(&e->permits, reserved);
        lease_set(e, job, k, circuit_of(e, job)->seeds_bytes, 0);
        act(e, ACTION_SYNTHESISE, job, k);
    }
}

/* ---- opening ---- */

static void fill_opening(struct engine *e, bool reserved)
{
    uint32_t limit = e->config.partition_workers < OPENERS ? e->config.partition_workers : OPENERS;
    while (seat_free(&e->opening, limit, reserved)) {
        struct job *best = NULL;
        for (uint32_t i = 0; i < e->jobs_count; i++)
            if (e->jobs[i]->stage == STAGE_WAITING && e->jobs[i]->submit.reserved == reserved &&
                (best == NULL || job_before(e, e->jobs[i], best)))
                best = e->jobs[i];
        if (best == NULL)
            return;
        best->stage = STAGE_OPENING;
        best->opening = true;
        seat_take(&e->opening, reserved);
        act(e, ACTION_OPEN, best, UINT32_MAX);
    }
}

void schedule(struct engine *e)
{
    e->starved = false;
    for (int normal = 0; normal < 2; normal++) {
        bool reserved = !normal;
        fill_finishers(e, reserved);
        do
            fill_devices(e, reserved);
        while (fill_ready(e, reserved)); /* what a device took makes room, and what came in may go on */
        fill_synthesis(e, reserved);
        fill_opening(e, reserved);
    }
    if (e->draining && !e->drained && e->jobs_count == 0) {
        e->drained = true;
        act_id(e, ACTION_DRAINED, 0);
    }
}
