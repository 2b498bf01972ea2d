/* See daemon.h. */
#include "cmd/daemon/daemon.h"

#include "base/mem.h"
#include "base/processors.h"
#include "cmd/daemon/crash.h"
#include "cmd/daemon/outside.h"
#include "cuzk/cuzk.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIB         (UINT64_C(1) << 20)
#define REQUEST_MAX (UINT64_C(256) << 20)

/* Every circuit that has registered numbers. */
static const char *const CIRCUITS[] = {
    "winning-2k", "winning-8m", "winning-512m", "winning-32g", "winning-64g", "wpost-2k",   "wpost-8m",
    "wpost-512m", "wpost-32g",  "wpost-64g",    "porep-2k",    "porep-8m",    "porep-512m", "porep-32g",
    "porep-64g",  "snap-2k",    "snap-8m",      "snap-512m",   "snap-32g",    "snap-64g",
};
#define CIRCUITS_COUNT (sizeof CIRCUITS / sizeof CIRCUITS[0])

/* SIGUSR1 is from this process itself: a thread tells the main one that something is over. */
static void our_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGUSR1);
}

static int wait_signal(uint64_t timeout_ms)
{
    sigset_t set;
    our_signals(&set);
    if (timeout_ms == UINT64_MAX)
        return sigwaitinfo(&set, NULL);
    struct timespec t = {(time_t)(timeout_ms / 1000), (long)(timeout_ms % 1000) * 1000000};
    return sigtimedwait(&set, NULL, &t);
}

static bool is_end(int signal_number)
{
    return signal_number == SIGTERM || signal_number == SIGINT;
}

static const char *signal_text(int signal_number)
{
    return signal_number == SIGTERM ? "SIGTERM" : "SIGINT";
}

void daemon_block_signals(void)
{
    sigset_t set;
    our_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void daemon_phase(struct daemon *d, const char *phase, const char *ending)
{
    if (phase != d->record.phase)
        outside_phase(d, phase);
    if (phase != d->record.phase)
        snprintf(d->record.phase, sizeof d->record.phase, "%s", phase);
    if (ending != NULL)
        snprintf(d->record.ending, sizeof d->record.ending, "%s", ending);
    d->record.phase_time = time(NULL);
    if (!d->locked)
        return;
    struct status s = run_record_write(&d->record, d->config.daemon.state_dir);
    if (status_failed(&s))
        log_line(d->log, LOG_WARN, "run record not written: %s", s.message);
}

static void explain_last_run(struct daemon *d)
{
    struct run_record last;
    char text[384];
    struct status s = run_record_read(&last, d->config.daemon.state_dir);
    if (s.code == STATUS_MISSING)
        return;
    if (status_failed(&s)) {
        log_line(d->log, LOG_WARN, "%s", s.message);
        return;
    }
    run_record_explain(text, sizeof text, &last);
    bool ended = last.ending[0] != 0 && strncmp(last.ending, "crashed", 7) != 0;
    log_line(d->log, ended ? LOG_INFO : LOG_WARN, "the last run (pid %lld) %s", (long long)last.pid, text);
}

struct status daemon_lock(struct daemon *d)
{
    TRY(run_record_lock(&d->lock, d->config.daemon.state_dir));
    d->locked = true;
    explain_last_run(d);
    char path[512];
    run_record_path(path, d->config.daemon.state_dir);
    crash_record(path);
    run_record_self(&d->record, cuzk_version());
    snprintf(d->record.config, sizeof d->record.config, "%s", d->config.file);
    snprintf(d->record.log, sizeof d->record.log, "%s", d->config.logging.file);
    snprintf(d->record.listen, sizeof d->record.listen, "%s", d->config.daemon.listen);
    daemon_phase(d, "starting", NULL);
    return status_ok();
}

/* ---- the plan ---- */

/* Cards by gpus.*; where it comes to the CPU, the service opens that over its own pool. */
static struct status open_devices(struct daemon *d)
{
    const struct config *c = &d->config;
    struct devices_request wanted = {.backend = c->gpus.backend,
                                     .cards = (const char *const *)c->gpus.devices.items,
                                     .cards_count = c->gpus.devices.count,
                                     .require_all = c->gpus.require_all,
                                     .memory_limit = c->gpus.memory_limit};
    if (strcmp(c->gpus.backend, "cpu") == 0)
        return status_ok();
    TRY(devices_open(&d->devices, &wanted, NULL));
    if (!d->devices.cuda)
        devices_close(&d->devices);
    else
        log_line(d->log, LOG_INFO, "gpus: %u CUDA devices", d->devices.count);
    return status_ok();
}

struct status daemon_plan(struct daemon *d)
{
    struct machine_memory memory;
    uint64_t used, resident;
    machine_memory(&memory, machine_root());
    process_memory(&used, &resident, "self");
    d->threads = (uint32_t)d->config.synthesis.threads;
    if (d->threads == 0)
        d->threads = processors_usable("");
    d->partition_workers = (uint32_t)d->config.synthesis.partition_workers;
    if (d->partition_workers == 0)
        d->partition_workers = d->threads;
    d->finishers = d->config.gpus.gpu_threads == 0 ? 2 : (uint32_t)d->config.gpus.gpu_threads;
    uint64_t machine = machine_budget(&memory, d->config.memory.safety_margin);
    machine = machine > UINT64_MAX - used ? machine : machine + used;
    d->budget = d->config.memory.total_budget == BYTES_AUTO ? machine : d->config.memory.total_budget;
    log_line(d->log, LOG_INFO,
             "memory plan: machine %llu MiB, available %llu MiB, budget %llu MiB%s; partition_workers=%u "
             "finishers=%u threads=%u",
             (unsigned long long)(memory.total / MIB), (unsigned long long)(memory.available / MIB),
             (unsigned long long)(d->budget / MIB),
             d->config.memory.total_budget == BYTES_AUTO ? machine_source(&memory) : "", d->partition_workers,
             d->finishers, d->threads);
    uint32_t lookahead = (uint32_t)d->config.pipeline.synthesis_lookahead;
    log_line(d->log, LOG_INFO, "pipeline: enabled=%s synthesis_lookahead=%u effective_lookahead=%u",
             d->config.pipeline.enabled ? "true" : "false", lookahead,
             lookahead > d->partition_workers ? lookahead : d->partition_workers);
    if (d->budget > machine && !d->config.memory.overcommit)
        return status_hint(
            status_error(STATUS_MEMORY, "memory.total_budget is %llu MiB, the machine can give %llu MiB",
                         (unsigned long long)(d->budget / MIB), (unsigned long long)(machine / MIB)),
            "set it to \"auto\" or at most \"%lluMiB\", or memory.overcommit = true",
            (unsigned long long)(machine / MIB));
    if (d->budget < 64 * MIB)
        return status_hint(status_error(STATUS_MEMORY,
                                        "the memory budget is %llu MiB: too little for any proof",
                                        (unsigned long long)(d->budget / MIB)),
                           "free memory, lower memory.safety_margin, or raise the cgroup's limit");
    if (strcmp(d->config.gpus.backend, "cuda") == 0 && !devices_have_cuda())
        return status_error(STATUS_UNSUPPORTED, "gpus.backend = \"cuda\" is not in this build");
    TRY(open_devices(d));
    struct preflight_options options = {.config = &d->config,
                                        .devices = &d->devices,
                                        .circuits = CIRCUITS,
                                        .circuits_count = CIRCUITS_COUNT,
                                        .budget = d->budget,
                                        .partition_workers = d->partition_workers,
                                        .finishers = d->finishers,
                                        .threads = d->threads,
                                        .automatic = d->config.synthesis.partition_workers == 0};
    return preflight_make(&d->preflight, &options, d->log);
}

/* ---- start ---- */

static struct status start_engine(struct daemon *d)
{
    bool cards = d->devices.count > 0;
    uint64_t limits[LEDGER_CLASSES] = {d->preflight.plan.requests, 0, 0};
    TRY(ledger_make(&d->ledger, limits));
    ledger_set_reserve(d->ledger, LEDGER_HOST, d->preflight.reserve);
    const struct config *c = &d->config;
    struct service_options options = {
        .engine = d->preflight.engine,
        .facts = d->preflight.facts,
        .plan = &d->preflight.plan,
        .spare_cpu = d->preflight.engine.spare_device,
        .late_ms =
            {[PROOF_WINNING] = c->scheduler.late_winning_ms, [PROOF_WINDOW] = c->scheduler.late_window_ms},
        .circuits = CIRCUITS,
        .circuits_count = CIRCUITS_COUNT,
        .param_cache = c->srs.param_cache,
        .state_dir = c->daemon.state_dir,
        .allow_test_params = c->srs.allow_test_params,
        .trusted_digests = (const char *const *)c->srs.trusted_digests.items,
        .trusted_digests_count = c->srs.trusted_digests.count,
        .threads = d->threads,
        .journal = c->journal.path,
        .journal_retention_ms = c->journal.retention_ms,
        .oom_kills = d->record.oom_kills,
        .devices = cards ? d->devices.device : NULL,
        .devices_count = d->devices.count,
        .log = log_callback,
        .log_context = d->log,
    };
    options.engine.host_budget = d->preflight.budget;
    options.engine.orphan_ms = 60000;
    options.engine.retention_ms = /* in memory; for longer only the journal has it */
        c->journal.retention_ms < 600000 ? c->journal.retention_ms : 600000;
    TRY(service_start(&d->service, &options));
    struct watch_options watch = {.preflight = &d->preflight,
                                  .safety_margin = c->memory.safety_margin,
                                  .overcommit = c->memory.overcommit,
                                  .service = d->service,
                                  .ledger = d->ledger};
    return watch_start(&d->watch, &watch);
}

static struct status start_listening(struct daemon *d)
{
    struct listener *listener;
    struct listen_options options = {(uint32_t)d->config.daemon.socket_mode, d->config.daemon.socket_group};
    TRY(listen_open(&listener, d->config.daemon.listen, &options));
    snprintf(d->address, sizeof d->address, "%s", listener->address);
    struct proving_options proving = {.service = d->service,
                                      .ledger = d->ledger,
                                      .listeners = &listener,
                                      .listeners_count = 1,
                                      .max_message = REQUEST_MAX,
                                      .log = log_callback,
                                      .log_context = d->log};
    return proving_start(&d->proving, &proving);
}

/* Every circuit of srs.preload; a WinningPoSt circuit first. */
static struct status preload(struct daemon *d)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < d->preflight.preload_count; i++) {
            const char *circuit = d->preflight.preload[i];
            bool winning = strncmp(circuit, "winning-", 8) == 0, already;
            uint64_t ms;
            if (winning != (pass == 0))
                continue;
            log_line(d->log, LOG_INFO, "loading %s", circuit);
            struct status s = service_load(d->service, circuit, &already, &ms);
            if (status_failed(&s))
                return status_within(s, "srs.preload: %.40s", circuit);
            log_line(d->log, LOG_INFO, "loaded %s in %.1f s", circuit, (double)ms / 1000);
        }
    }
    return status_ok();
}

struct loading {
    struct daemon *daemon;
    struct status status;
    atomic_bool over;
};

static void *load_main(void *context)
{
    struct loading *l = context;
    l->status = preload(l->daemon);
    atomic_store(&l->over, true);
    kill(getpid(), SIGUSR1);
    return NULL;
}

/* In a thread of its own, so that signals are heard while 47 GB are read. */
static struct status load_and_listen(struct daemon *d)
{
    struct loading l = {.daemon = d};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, load_main, &l);
    if (error != 0)
        return status_error(STATUS_MEMORY, "cannot start the thread that loads parameters: %s",
                            strerror(error));
    while (!atomic_load(&l.over)) {
        int signal_number = wait_signal(UINT64_MAX);
        if (signal_number == SIGHUP)
            log_reopen(d->log);
        if (!is_end(signal_number) || d->interrupted != 0)
            continue;
        log_line(d->log, LOG_INFO, "%s came while parameters load: that is given up",
                 signal_text(signal_number));
        d->interrupted = signal_number;
        service_stop_loads(d->service);
    }
    pthread_join(thread, NULL);
    return d->interrupted != 0 ? status_ok() : l.status;
}

struct status daemon_start(struct daemon *d)
{
    daemon_phase(d, "starting the engine", NULL);
    TRY(start_engine(d));
    daemon_phase(d, "binding the address", NULL);
    TRY(start_listening(d));
    TRY(outside_serve(d));
    log_line(d->log, LOG_INFO, "listening on %s", d->address);
    daemon_phase(d, "loading parameters", NULL);
    TRY(load_and_listen(d));
    if (d->interrupted != 0)
        return status_ok();
    proving_ready(d->proving, true);
    daemon_phase(d, "ready", NULL);
    log_line(d->log, LOG_INFO, "cuzk-daemon ready, serving on %s", d->address);
    return status_ok();
}

/* ---- running and ending ---- */

static void drained(void *context)
{
    (void)context;
    kill(getpid(), SIGUSR1); /* wakes the wait below */
}

static bool drain(struct daemon *d)
{
    struct service_view *view = mem_alloc(1, sizeof *view);
    uint64_t until = monotonic_ms() + d->config.daemon.drain_timeout_ms;
    daemon_phase(d, "draining", NULL);
    log_line(d->log, LOG_INFO, "draining: running proofs end, new ones are refused; at most %llu s",
             (unsigned long long)(d->config.daemon.drain_timeout_ms / 1000));
    proving_drain(d->proving);
    service_drain(d->service, drained, NULL);
    bool done = false;
    while (!done && monotonic_ms() < until) {
        int signal_number = wait_signal(until - monotonic_ms());
        if (signal_number == SIGHUP)
            log_reopen(d->log);
        if (is_end(signal_number))
            break; /* told twice: whoever it is will not wait */
        if (view == NULL)
            break;
        service_look(d->service, view);
        done = view->counts.jobs_waiting + view->counts.jobs_running == 0;
    }
    mem_free(view);
    return done;
}

int daemon_serve(struct daemon *d)
{
    int signal_number = d->interrupted;
    while (!is_end(signal_number))
        if ((signal_number = wait_signal(UINT64_MAX)) == SIGHUP)
            log_reopen(d->log);
    log_line(d->log, LOG_INFO, "%s received", signal_text(signal_number));
    bool clean = drain(d);
    if (!clean)
        log_line(d->log, LOG_WARN, "what still runs is cancelled");
    daemon_stop(d);
    return 0;
}

void daemon_stop(struct daemon *d)
{
    outside_stop(d);
    watch_end(d->watch);
    d->watch = NULL;
    proving_stop(d->proving, 5000);
    service_end(d->service);
    ledger_end(d->ledger);
    devices_close(&d->devices);
    d->proving = NULL;
    d->service = NULL;
    d->ledger = NULL;
}

void daemon_finish(struct daemon *d, int code)
{
    devices_close(&d->devices);
    if (!d->locked)
        return;
    if (code == 0) {
        log_line(d->log, LOG_INFO, "cuzk-daemon stopped");
        daemon_phase(d, "stopped", "stopped cleanly");
    }
    run_record_unlock(&d->lock);
}
