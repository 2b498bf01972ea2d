/* See plan.h. */
#include "engine/plan.h"

#include "filecoin/request.h"
#include "groth16/setup.h"
#include "r1cs/shape.h"

#include <stdio.h>
#include <string.h>

#define MIB           (UINT64_C(1) << 20)
#define PENDING_BYTES (UINT64_C(16) << 10)
#define THREAD_BYTES  (UINT64_C(64) << 10) /* of stack and allocator, as they are touched */
#define REQUESTS_MIN  (64 * MIB)

/* ---- facts ---- */

struct status plan_facts(struct engine_circuit *out, const struct shape *shape,
                         const struct params_counts *counts, struct device *const *devices,
                         uint32_t devices_count)
{
    *out = (struct engine_circuit){.seeds_bytes = seeds_bytes(shape), .pending_bytes = PENDING_BYTES};
    /* A device alone may take parameters from their file, past the host's memory. */
    bool straight = devices_count == 1 && devices[0]->operations->load_params != NULL;
    uint64_t host = (straight ? 0 : image_bytes(counts)) + shape_bytes(shape), pinned = 0;
    for (uint32_t d = 0; d < devices_count; d++) {
        struct device_plan plan;
        uint64_t loaded[MEMORY_CLASSES] = {0};
        TRY(devices[d]->operations->plan(&plan, devices[d], shape, counts));
        for (size_t i = 0; i < plan.count; i++)
            if (!plan.items[i].per_proof)
                loaded[plan.items[i].class] += plan.items[i].bytes;
        uint64_t peak = plan.proof_peak[MEMORY_HOST]; /* seeds included */
        uint64_t beside = peak > out->seeds_bytes ? peak - out->seeds_bytes : 0;
        beside += plan.proof_peak[MEMORY_PINNED];
        if (beside > out->proof_bytes)
            out->proof_bytes = beside;
        if (loaded[MEMORY_HOST] > host)
            host = loaded[MEMORY_HOST];
        pinned += loaded[MEMORY_PINNED];
    }
    out->load_bytes = host + pinned;
    return status_ok();
}

static struct status circuit_facts(struct plan_circuit *c, const struct plan_options *o)
{
    const struct sector_size *sector;
    struct shape *shape;
    struct params_counts counts;
    struct device *devices[ENGINE_DEVICES_MAX + 1];
    uint32_t count = o->devices_count;
    if (!circuit_by_name(&c->kind, &sector, c->name))
        return status_error(STATUS_INVALID, "no circuit is called \"%.60s\"", c->name);
    memcpy(devices, o->devices, count * sizeof *devices);
    if (c->kind == PROOF_WINNING && o->spare != NULL)
        devices[count++] = o->spare;
    TRY(circuit_shape(&shape, c->kind, sector));
    shape_params_counts(&counts, shape);
    struct status s = plan_facts(&c->facts, shape, &counts, devices, count);
    shape_release(shape);
    return s;
}

/* ---- sums ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Requests wait in a share of their own: an eighth, as far as the queue may fill it. */
static uint64_t requests_share(uint64_t budget, uint64_t most)
{
    uint64_t share = budget / 8 > REQUESTS_MIN ? budget / 8 : REQUESTS_MIN;
    if (share > budget / 2)
        share = budget / 2;
    return share < most ? share : most;
}

/* A budget that has room for this beside the requests, however many they may be. */
static uint64_t budget_for(uint64_t bytes)
{
    uint64_t least = bytes + REQUESTS_MIN, share = bytes / 7 * 8 + MIB;
    return least > share ? least : share;
}

/* What stays loaded beside it: of what is preloaded, WinningPoSt for ever; the rest can be evicted, but is
 * not while it is in use. */
static uint64_t kept_beside(const struct plan *p, uint32_t circuit)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->circuits_count; i++)
        if (i != circuit && p->circuits[i].preloaded)
            bytes += p->circuits[i].facts.load_bytes;
    return bytes;
}

static uint64_t waiting_bytes(const struct plan_circuit *c, const struct plan_options *o, uint32_t workers)
{
    uint64_t seeds =
        c->facts.seeds_bytes > c->facts.pending_bytes ? c->facts.seeds_bytes : c->facts.pending_bytes;
    return seeds * ((uint64_t)workers + larger(o->engine.synthesis_lookahead, workers));
}

static uint64_t threads_bytes(const struct plan_options *o, uint32_t workers)
{
    struct engine_config config = o->engine;
    config.partition_workers = workers;
    return THREAD_BYTES * (o->threads + engine_parallel(&config));
}

static uint64_t peak_with(const struct plan *p, const struct plan_circuit *c, const struct plan_options *o,
                          uint32_t workers)
{
    return p->baseline + threads_bytes(o, workers) + c->facts.load_bytes + c->kept +
           waiting_bytes(c, o, workers) + c->devices + c->finishing + p->winning;
}

/* The largest number of workers that fits: what fits grows with it, so halving finds it. */
static uint32_t workers_most(const struct plan *p, const struct plan_circuit *c, const struct plan_options *o)
{
    uint32_t low = 0, high = UINT16_MAX;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (peak_with(p, c, o, middle) + p->requests <= p->budget)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void sum_circuit(struct plan *p, uint32_t i, const struct plan_options *o)
{
    struct plan_circuit *c = &p->circuits[i];
    uint64_t one = c->facts.seeds_bytes + c->facts.proof_bytes;
    /* Its partitions are in `winning`: beside others they are in nobody's budget. */
    bool winning = c->kind == PROOF_WINNING;
    c->kept = kept_beside(p, i);
    c->waiting = winning ? 0 : waiting_bytes(c, o, o->engine.partition_workers);
    c->devices = winning ? 0 : one * p->device_workers;
    c->finishing = winning ? 0 : c->facts.pending_bytes * o->engine.finishers;
    c->peak = p->baseline + p->threads + c->facts.load_bytes + c->kept + c->waiting + c->devices +
              c->finishing + p->winning;
    c->fits = c->failure[0] == 0 && c->peak + p->requests <= p->budget;
    c->workers_most = winning ? (c->fits ? UINT16_MAX : 0) : workers_most(p, c, o);
    if (c->failure[0] != 0)
        c->workers_most = 0;
}

static void judge(struct plan *p)
{
    p->fits = true;
    for (uint32_t i = 0; i < p->circuits_count; i++) {
        const struct plan_circuit *c = &p->circuits[i], *worst = &p->circuits[p->worst];
        bool bad = !c->fits && (c->preloaded || c->workers_most > 0);
        if (c->fits && c->peak > p->peak)
            p->peak = c->peak;
        if (p->fits && (bad || c->peak > worst->peak))
            p->worst = i;
        p->fits &= !bad;
    }
}

struct status plan_make(struct plan *out, const struct plan_options *o)
{
    memset(out, 0, sizeof *out);
    CHECK(o->circuits_count <= ENGINE_CIRCUITS_MAX && o->devices_count <= ENGINE_DEVICES_MAX);
    out->budget = o->budget;
    out->baseline = o->baseline;
    out->partition_workers = o->engine.partition_workers;
    out->ready_capacity = larger(o->engine.synthesis_lookahead, o->engine.partition_workers);
    out->device_workers = o->engine.devices * o->engine.workers_per_device;
    out->finishers = o->engine.finishers;
    out->threads = threads_bytes(o, o->engine.partition_workers);
    out->requests = requests_share(o->budget, o->requests_most);
    for (uint32_t i = 0; i < o->circuits_count; i++) {
        struct plan_circuit *c = &out->circuits[i];
        snprintf(c->name, sizeof c->name, "%s", o->circuits[i]);
        c->preloaded = o->preloaded[i];
        struct status s = circuit_facts(c, o);
        if (status_failed(&s) && (c->preloaded || s.code == STATUS_INVALID))
            return status_within(s, "%s", c->name);
        snprintf(c->failure, sizeof c->failure, "%.150s", s.message);
        uint64_t one = c->facts.seeds_bytes + c->facts.proof_bytes;
        one *= out->device_workers + 1; /* its own seat, and the others' */
        if (c->kind == PROOF_WINNING && one > out->winning)
            out->winning = one;
    }
    out->circuits_count = o->circuits_count;
    for (uint32_t i = 0; i < out->circuits_count; i++)
        sum_circuit(out, i, o);
    judge(out);
    uint64_t fixed = out->baseline + out->threads + out->requests + out->winning;
    out->host_budget = out->budget > fixed ? out->budget - fixed : 0;
    return status_ok();
}

/* ---- words ---- */

static unsigned long long mib(uint64_t bytes)
{
    return (bytes + MIB - 1) / MIB;
}

struct status plan_verdict(const struct plan *p)
{
    const struct plan_circuit *c = &p->circuits[p->worst];
    if (p->fits)
        return status_ok();
    struct status s =
        status_error(STATUS_MEMORY,
                     "the memory plan does not fit: %s with partition_workers=%u needs %llu MiB and requests "
                     "%llu MiB, the budget is %llu MiB",
                     c->name, p->partition_workers, mib(c->peak), mib(p->requests), mib(p->budget));
    char line[400];
    plan_line(line, sizeof line, p, p->worst);
    s = status_detail(s, "%s", line);
    if (c->workers_most > 0)
        return status_hint(s, "set synthesis.partition_workers to at most %u, or memory.overcommit = true",
                           c->workers_most);
    return status_hint(s,
                       "not even one worker fits: set memory.total_budget to %lluMiB, leave %s out of "
                       "srs.preload, or set memory.overcommit",
                       mib(budget_for(c->peak - c->waiting + 2 * c->facts.seeds_bytes)), c->name);
}

void plan_line(char *out, size_t size, const struct plan *p, uint32_t circuit)
{
    const struct plan_circuit *c = &p->circuits[circuit];
    snprintf(
        out, size,
        "%s: predicted peak %llu MiB = baseline %llu + parameters %llu + others kept %llu + waiting %llu "
        "(%u permits + %u ready) + devices %llu (%u workers) + finishing %llu + WinningPoSt %llu",
        c->name, mib(c->peak), mib(p->baseline + p->threads), mib(c->facts.load_bytes), mib(c->kept),
        mib(c->waiting), p->partition_workers, p->ready_capacity, mib(c->devices), p->device_workers,
        mib(c->finishing), mib(p->winning));
}
