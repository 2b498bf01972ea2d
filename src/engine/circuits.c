/* Parameters as evictable leases: see engine.h. A circuit is wanted by the jobs that are not closed, or by
 * one who asked; it is charged for from the moment its loading begins until it is evicted. */
#include "engine/internal.h"

/* The lease of what waits covers the pending proof too, so that it only shrinks but for the device's work.
 * Facts that are known stay: leases that stand were made of them. */
void circuit_know(struct engine *e, uint32_t circuit, const struct engine_circuit *facts)
{
    struct engine_circuit *c = &e->circuits[circuit].facts;
    bool resident = c->resident, floor = c->floor;
    if (c->seeds_bytes != 0)
        return;
    *c = *facts;
    c->resident = resident;
    c->floor = floor;
    if (c->seeds_bytes < c->pending_bytes)
        c->seeds_bytes = c->pending_bytes;
}

struct status circuit_fits(const struct engine *e, uint32_t circuit)
{
    const struct engine_circuit *c = &e->circuits[circuit].facts;
    uint64_t need = c->seeds_bytes + c->proof_bytes, all = need + c->load_bytes;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        if (i != circuit && e->circuits[i].facts.resident)
            all += e->circuits[i].charged;
    if (all <= e->config.host_budget)
        return status_ok();
    struct status s = status_error(STATUS_MEMORY, "one partition needs %llu bytes, the memory budget is %llu",
                                   (unsigned long long)need, (unsigned long long)e->config.host_budget);
    if (all > need)
        s = status_detail(s, "%llu bytes with the parameters", (unsigned long long)all);
    return status_hint(s, "raise memory.total_budget, or use a larger machine");
}

/* ---- what can be had ---- */

/* Work that needs it is under way or holds bytes. A job all of which waits does not: it can wait on. */
static bool in_use(const struct engine *e, uint32_t circuit)
{
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        uint32_t rest = job->at[AT_REST] + job->at[AT_DONE] + job->at[AT_FAILED];
        if (job->submit.circuit == circuit &&
            (rest < job->submit.partitions || job->verifying || job->stage == STAGE_PROVED))
            return true;
    }
    return false;
}

/* The first job in order that wants it. */
static const struct job *first_wanting(const struct engine *e, uint32_t circuit)
{
    const struct job *best = NULL;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        if (job_live(job) && job->submit.circuit == circuit && (best == NULL || job_before(e, job, best)))
            best = job;
    }
    return best;
}

/* Its patience is over: counted anew when parameters are evicted, so that they are not exchanged more often
 * than that. */
static bool impatient(const struct engine *e, const struct job *job)
{
    uint64_t since = job->created_ms > e->evicted_ms ? job->created_ms : e->evicted_ms;
    return e->now_ms - since >= e->config.eviction_min_idle_ms;
}

static bool here(const struct engine *e, uint32_t circuit)
{
    return e->circuits[circuit].stage == CIRCUIT_READY || e->circuits[circuit].stage == CIRCUIT_LOADING;
}

/* Nothing runs and nothing could begin with what is loaded. */
static bool nothing_to_do(const struct engine *e)
{
    if (e->leases[0].held + e->leases[0].scratch > 0)
        return false;
    for (uint32_t i = 0; i < e->jobs_count; i++)
        if (job_live(e->jobs[i]) && !e->jobs[i]->submit.reserved && here(e, e->jobs[i]->submit.circuit))
            return false;
    return true;
}

/* Whether idle parameters go for its sake however lately they were used. */
static bool evicts_at_once(const struct engine *e, uint32_t circuit)
{
    const struct job *job = first_wanting(e, circuit);
    return e->circuits[circuit].asked || (job != NULL && (impatient(e, job) || nothing_to_do(e)));
}

static bool can_evict(const struct engine *e, uint32_t circuit, bool at_once)
{
    const struct circuit_entry *c = &e->circuits[circuit];
    return c->stage == CIRCUIT_READY && !c->facts.resident && c->charged > 0 &&
           (at_once || e->now_ms - c->used_ms >= e->config.eviction_min_idle_ms) && !in_use(e, circuit);
}

/* The longest idle one that may go, for another's sake; circuits_count if there is none. */
static uint32_t evictable(const struct engine *e, bool at_once, uint32_t other)
{
    uint32_t best = e->circuits_count;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        if (i != other && can_evict(e, i, at_once) &&
            (best == e->circuits_count || e->circuits[i].used_ms < e->circuits[best].used_ms))
            best = i;
    return best;
}

static uint64_t evictable_bytes(const struct engine *e, bool at_once, uint32_t other)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        if (i != other && can_evict(e, i, at_once))
            bytes += e->circuits[i].charged;
    return bytes;
}

/* Bytes of a partition of this circuit, or of the largest that is wanted of what is loaded. Loading must
 * leave room for it, or what was loaded would be evicted again for its sake. */
static uint64_t partition_beside(const struct engine *e, uint32_t circuit, bool evicting, bool at_once)
{
    uint64_t most = e->circuits[circuit].facts.seeds_bytes + e->circuits[circuit].facts.proof_bytes;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        const struct job *job = e->jobs[i];
        uint32_t k = job->submit.circuit;
        const struct engine_circuit *c = &e->circuits[k].facts;
        if (!job->submit.reserved && job_live(job) && here(e, k) && !(evicting && can_evict(e, k, at_once)) &&
            c->seeds_bytes + c->proof_bytes > most)
            most = c->seeds_bytes + c->proof_bytes;
    }
    return most > e->leases[0].scratch ? most : e->leases[0].scratch;
}

/* Whether it can be loaded; evicting: when all has gone that may. */
static bool has_room(const struct engine *e, uint32_t circuit, bool evicting, bool at_once)
{
    const struct engine_circuit *c = &e->circuits[circuit].facts;
    const struct job *job = first_wanting(e, circuit);
    if (c->resident || (job != NULL && job->submit.reserved) || c->load_bytes == 0)
        return true; /* the last: nothing, or not known before it is loaded */
    uint64_t gone = evicting ? evictable_bytes(e, at_once, circuit) : 0;
    return e->parameter_bytes - gone + c->load_bytes + e->leases[0].held +
               partition_beside(e, circuit, evicting, at_once) <=
           e->budget;
}

struct status engine_would_load(const struct engine *e, uint32_t circuit)
{
    const struct circuit_entry *c = &e->circuits[circuit];
    if (here(e, circuit) || has_room(e, circuit, true, true))
        return status_ok();
    struct status s =
        status_error(STATUS_MEMORY, "%llu bytes of parameters find no room: the memory budget is %llu bytes",
                     (unsigned long long)c->facts.load_bytes, (unsigned long long)e->budget);
    s = status_detail(s, "parameters in use or kept: %llu bytes, partitions: %llu bytes",
                      (unsigned long long)(e->parameter_bytes - evictable_bytes(e, true, circuit)),
                      (unsigned long long)(e->leases[0].held + e->leases[0].scratch));
    return status_hint(s, "raise memory.total_budget, or try again when fewer proofs run");
}

/* ---- changes ---- */

static void charge(struct engine *e, struct circuit_entry *c, uint64_t bytes)
{
    e->parameter_bytes = e->parameter_bytes - c->charged + bytes;
    c->charged = bytes;
}

void circuit_want(struct engine *e, uint32_t circuit)
{
    struct circuit_entry *c = &e->circuits[circuit];
    if (c->stage == CIRCUIT_COLD || c->stage == CIRCUIT_FAILED)
        c->stage = CIRCUIT_WANTED;
}

static void evict(struct engine *e, uint32_t circuit)
{
    struct circuit_entry *c = &e->circuits[circuit];
    c->stage = first_wanting(e, circuit) != NULL ? CIRCUIT_WANTED : CIRCUIT_COLD;
    charge(e, c, 0);
    e->evicted_ms = e->now_ms;
    act_circuit(e, ACTION_EVICT, circuit);
}

static bool load_if_room(struct engine *e, uint32_t circuit)
{
    struct circuit_entry *c = &e->circuits[circuit];
    bool at_once = evicts_at_once(e, circuit);
    if (!has_room(e, circuit, true, at_once))
        return false;
    while (!has_room(e, circuit, false, false))
        evict(e, evictable(e, at_once, circuit));
    c->stage = CIRCUIT_LOADING;
    c->asked = false;
    charge(e, c, c->facts.load_bytes);
    act_circuit(e, ACTION_LOAD, circuit);
    return true;
}

/* The one that is wanted first: resident ones, then in the order of jobs, then those that were asked for. */
static uint32_t next_wanted(const struct engine *e, uint64_t done)
{
    uint32_t best = e->circuits_count;
    const struct job *best_job = NULL;
    for (uint32_t i = 0; i < e->circuits_count; i++) {
        const struct circuit_entry *c = &e->circuits[i];
        if (c->stage != CIRCUIT_WANTED || (done >> i & 1))
            continue;
        const struct job *job = first_wanting(e, i);
        bool before = best == e->circuits_count;
        if (!before && c->facts.resident != e->circuits[best].facts.resident)
            before = c->facts.resident;
        else if (!before && job != NULL)
            before = best_job == NULL || job_before(e, job, best_job);
        if (before) {
            best = i;
            best_job = job;
        }
    }
    return best;
}

void circuits_load(struct engine *e)
{
    uint64_t done = 0;
    uint32_t i;
    while ((i = next_wanted(e, done)) < e->circuits_count) {
        struct circuit_entry *c = &e->circuits[i];
        const struct job *job = first_wanting(e, i);
        done |= UINT64_C(1) << i;
        if (!c->asked && job == NULL)
            c->stage = CIRCUIT_COLD; /* those who wanted it have ended */
        else if (!load_if_room(e, i) && job != NULL && impatient(e, job))
            return; /* nobody takes what it waits for */
    }
}

bool circuits_make_room(struct engine *e, const struct job *job, uint64_t missing)
{
    uint32_t circuit = job->submit.circuit;
    bool at_once = impatient(e, job) || e->leases[0].held + e->leases[0].scratch == 0;
    if (evictable_bytes(e, at_once, circuit) < missing)
        return false;
    for (uint64_t before = e->parameter_bytes; before - e->parameter_bytes < missing;)
        evict(e, evictable(e, at_once, circuit));
    return true;
}

static void end_jobs_of(struct engine *e, uint32_t circuit, const struct status *status, bool also_reserved)
{
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        struct job *job = e->jobs[i];
        if (job->submit.circuit == circuit && (also_reserved || !job->submit.reserved))
            job_end(e, job, status);
    }
}

void circuit_loaded(struct engine *e, const struct engine_event *event)
{
    struct circuit_entry *c = &e->circuits[event->circuit];
    if (status_failed(&event->status)) {
        c->stage = CIRCUIT_FAILED;
        c->failure = event->status;
        c->failed_ms = e->now_ms;
        charge(e, c, 0);
        end_jobs_of(e, event->circuit, &event->status, true);
        return;
    }
    c->stage = CIRCUIT_READY;
    c->used_ms = e->now_ms;
    circuit_know(e, event->circuit, &event->facts);
    charge(e, c, c->facts.load_bytes);
    struct status fits = circuit_fits(e, event->circuit);
    if (status_failed(&fits))
        end_jobs_of(e, event->circuit, &fits, false);
}

void circuit_gone(struct engine *e, uint32_t circuit)
{
    struct circuit_entry *c = &e->circuits[circuit];
    if (c->stage != CIRCUIT_READY)
        return;
    c->stage = CIRCUIT_COLD;
    charge(e, c, 0);
    if (first_wanting(e, circuit) != NULL)
        circuit_want(e, circuit);
}

/* ---- who waits for room ---- */

const struct job *circuits_hungry(const struct engine *e)
{
    const struct job *best = NULL;
    for (uint32_t i = 0; i < e->circuits_count; i++) {
        const struct job *job = e->circuits[i].stage == CIRCUIT_WANTED ? first_wanting(e, i) : NULL;
        if (job != NULL && !job->submit.reserved && impatient(e, job) &&
            (best == NULL || job_before(e, job, best)))
            best = job;
    }
    return best;
}

uint64_t circuits_tick(const struct engine *e)
{
    uint64_t tick = UINT64_MAX, wait = e->config.eviction_min_idle_ms;
    bool wanted = e->starved;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        wanted |= e->circuits[i].stage == CIRCUIT_WANTED;
    if (!wanted)
        return tick;
    for (uint32_t i = 0; i < e->circuits_count; i++)
        if (e->circuits[i].stage == CIRCUIT_READY && e->circuits[i].used_ms + wait > e->now_ms &&
            e->circuits[i].used_ms + wait < tick)
            tick = e->circuits[i].used_ms + wait;
    for (uint32_t i = 0; i < e->jobs_count; i++) {
        uint64_t since = e->jobs[i]->created_ms > e->evicted_ms ? e->jobs[i]->created_ms : e->evicted_ms;
        if (job_live(e->jobs[i]) && since + wait > e->now_ms && since + wait < tick)
            tick = since + wait;
    }
    return tick;
}
