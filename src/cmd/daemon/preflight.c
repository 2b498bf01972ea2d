/* See preflight.h. The circuits that are planned are those of srs.preload and those whose parameters lie in
 * srs.param_cache: what can be asked of this daemon. */
#include "cmd/daemon/preflight.h"

#include "api/open.h"
#include "cmd/daemon/machine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB             (UINT64_C(1) << 20)
#define WINNING_REQUEST (8 * MIB) /* two of the largest that count as WinningPoSt */

const char *machine_root(void)
{
    const char *root = getenv("CUZK_TEST_ROOT");
    return root != NULL ? root : "";
}

static bool has_parameters(const char *name, const struct config *c)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    char path[4096];
    if (!circuit_by_name(&kind, &sector, name))
        return false;
    struct status s = api_parameter_path(path, sizeof path, kind, sector, c->srs.param_cache, "params");
    return !status_failed(&s) && access(path, R_OK) == 0;
}

static void choose_preload(struct preflight *p, const struct config *c)
{
    for (uint32_t i = 0; i < c->srs.preload.count; i++)
        p->preload[p->preload_count++] = c->srs.preload.items[i];
    if (!c->srs.preload.set && has_parameters("winning-32g", c))
        p->preload[p->preload_count++] = "winning-32g";
}

static bool is_preloaded(const struct preflight *p, const char *name)
{
    for (uint32_t i = 0; i < p->preload_count; i++)
        if (strcmp(p->preload[i], name) == 0)
            return true;
    return false;
}

static void choose_engine(struct preflight *p, const struct preflight_options *o)
{
    const struct config *c = o->config;
    bool pipelined = c->pipeline.enabled, cards = o->devices->count > 0;
    p->engine = (struct engine_config){
        .partition_workers = pipelined ? o->partition_workers : 1,
        .synthesis_lookahead = pipelined ? (uint32_t)c->pipeline.synthesis_lookahead : 1,
        .finishers = pipelined ? o->finishers : 1,
        .devices = cards ? o->devices->count : 1,
        /* the CPU backend uses all threads for each proof */
        .workers_per_device = cards ? (uint32_t)c->gpus.gpu_workers_per_device : 1,
        .spare_device = cards && o->devices->count < ENGINE_DEVICES_MAX,
        .max_queue = (uint32_t)c->daemon.max_queue,
        .max_queue_bytes = c->daemon.max_queue_bytes,
        .sort_by_circuit = c->scheduler.sort_by_type,
        .permit_until_queued = true,
        .eviction_min_idle_ms = c->memory.eviction_min_idle_ms,
        .strikes_max = 3};
}

/* The plan over the CPU backend, whose own pool starts when the service does: its sizes depend on the number
 * of threads alone. */
static struct status make_plan(struct preflight *p, const struct preflight_options *o, const char **names,
                               const bool *preloaded, uint32_t count, uint64_t baseline)
{
    struct pool *pool;
    struct device *cpu;
    TRY(pool_start(&pool, o->threads));
    struct status s = device_cpu_open(&cpu, pool);
    if (!status_failed(&s)) {
        bool cards = o->devices->count > 0;
        struct plan_options options = {.engine = p->engine,
                                       .budget = o->budget,
                                       .baseline = baseline,
                                       .requests_most = o->config->daemon.max_queue_bytes,
                                       .threads = o->threads,
                                       .devices = cards ? o->devices->device : &cpu,
                                       .devices_count = cards ? o->devices->count : 1,
                                       .spare = cards ? cpu : NULL,
                                       .circuits = names,
                                       .preloaded = preloaded,
                                       .circuits_count = count};
        s = plan_make(&p->plan, &options);
        cpu->operations->close(cpu);
    }
    pool_end(pool);
    return s;
}

/* The most workers with which all fits that could; 0: there is no such number. */
static uint32_t workers_that_fit(const struct plan *plan)
{
    uint32_t most = plan->partition_workers;
    for (uint32_t i = 0; i < plan->circuits_count; i++) {
        const struct plan_circuit *c = &plan->circuits[i];
        if (!c->fits && c->preloaded && c->workers_most == 0)
            return 0;
        if (!c->fits && c->workers_most > 0 && c->workers_most < most)
            most = c->workers_most;
    }
    return most;
}

static void say_plan(const struct preflight *p, struct log *log)
{
    char line[512];
    for (uint32_t i = 0; i < p->plan.circuits_count; i++) {
        const struct plan_circuit *c = &p->plan.circuits[i];
        plan_line(line, sizeof line, &p->plan, i);
        log_line(log, LOG_INFO, "plan: %s", line);
        if (!c->fits && !c->preloaded && c->workers_most == 0)
            log_line(log, LOG_WARN, "plan: %s does not fit this machine%s%s: its proofs will be refused",
                     c->name, c->failure[0] != 0 ? ", " : "", c->failure);
    }
    log_line(log, LOG_INFO, "plan: predicted peak %llu MiB and %llu MiB of requests, of a budget of %llu MiB",
             (unsigned long long)(p->plan.peak / MIB), (unsigned long long)(p->plan.requests / MIB),
             (unsigned long long)(p->plan.budget / MIB));
}

static void keep_facts(struct preflight *p, const struct preflight_options *o)
{
    for (uint32_t i = 0; i < p->plan.circuits_count; i++)
        for (uint32_t k = 0; k < o->circuits_count; k++)
            if (strcmp(o->circuits[k], p->plan.circuits[i].name) == 0)
                p->facts[k] = p->plan.circuits[i].facts;
}

struct status preflight_make(struct preflight *p, const struct preflight_options *o, struct log *log)
{
    const char *names[ENGINE_CIRCUITS_MAX];
    bool preloaded[ENGINE_CIRCUITS_MAX];
    uint32_t count = 0;
    uint64_t used, resident;
    process_memory(&used, &resident, "self");
    memset(p, 0, sizeof *p);
    choose_preload(p, o->config);
    choose_engine(p, o);
    for (uint32_t i = 0; i < o->circuits_count; i++) {
        bool wanted = is_preloaded(p, o->circuits[i]);
        if (!wanted && !has_parameters(o->circuits[i], o->config))
            continue;
        names[count] = o->circuits[i];
        preloaded[count++] = wanted;
    }
    TRY(make_plan(p, o, names, preloaded, count, used));
    uint32_t most = workers_that_fit(&p->plan);
    if (o->automatic && !p->plan.fits && most > 0) {
        log_line(log, LOG_INFO, "plan: partition_workers lowered from %u to %u, which fit",
                 p->engine.partition_workers, most);
        p->engine.partition_workers = most;
        TRY(make_plan(p, o, names, preloaded, count, used));
    }
    say_plan(p, log);
    keep_facts(p, o);
    p->budget = p->plan.host_budget;
    p->reserve = p->plan.requests / 4 < WINNING_REQUEST ? p->plan.requests / 4 : WINNING_REQUEST;
    struct status verdict = plan_verdict(&p->plan);
    if (!status_failed(&verdict) || !o->config->memory.overcommit)
        return verdict;
    log_line(log, LOG_WARN, "%s; memory.overcommit is set: it is tried", verdict.message);
    if (p->budget < p->plan.circuits[p->plan.worst].peak)
        p->budget = p->plan.circuits[p->plan.worst].peak;
    return status_ok();
}
