/* See outside.h. */
#include "cmd/daemon/outside.h"

#include "base/mem.h"
#include "cuzk/cuzk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- the service manager ---- */

static void phase_now(struct daemon *d, struct phase *out)
{
    struct phase list[PHASES_MAX];
    size_t count = phases_look(&d->phases, list);
    memset(out, 0, sizeof *out);
    if (count > 0 && list[count - 1].ended_ms == 0)
        *out = list[count - 1];
}

static void tell_work(struct daemon *d, struct notify_now *out)
{
    struct service_view *v = mem_alloc(1, sizeof *v);
    if (v == NULL)
        return;
    uint64_t completed = 0, failed = 0;
    service_look(d->watched, v);
    for (int k = 0; k < PROOF_KINDS; k++) {
        completed += v->completed[k];
        failed += v->failed[k];
    }
    snprintf(out->status, sizeof out->status,
             "%s%u jobs running, %u waiting; %" PRIu64 " completed, %" PRIu64 " failed",
             out->waits ? "draining: " : "", v->counts.jobs_running, v->counts.jobs_waiting, completed,
             failed);
    mem_free(v);
}

static void now(void *context, struct notify_now *out)
{
    struct daemon *d = context;
    struct phase phase;
    phase_now(d, &phase);
    pthread_mutex_lock(&d->looking);
    out->alive = d->watched == NULL || service_silence_ms(d->watched) < SITE_SILENCE_MS;
    out->waits = !d->stopping && (phase.name[0] != 0 || d->draining);
    if (d->stopping)
        snprintf(out->status, sizeof out->status, "stopping");
    else if (phase.name[0] != 0)
        snprintf(out->status, sizeof out->status, "%s, since %" PRIu64 " s", phase.name,
                 (monotonic_ms() - phase.began_ms) / 1000);
    else if (d->watched != NULL && out->alive)
        tell_work(d, out);
    pthread_mutex_unlock(&d->looking);
}

void outside_begin(struct daemon *d)
{
    pthread_mutex_init(&d->looking, NULL);
    phases_init(&d->phases);
    struct notify_options options = {.socket = getenv("NOTIFY_SOCKET"),
                                     .watchdog_usec = getenv("WATCHDOG_USEC"),
                                     .watchdog_pid = getenv("WATCHDOG_PID"),
                                     .now = now,
                                     .context = d};
    struct status s = notify_start(&d->notify, &options);
    if (status_failed(&s))
        log_line(d->log, LOG_WARN, "the service manager is not told: %s", s.message);
}

void outside_phase(struct daemon *d, const char *phase)
{
    struct phase ended;
    bool ready = strcmp(phase, "ready") == 0, draining = strcmp(phase, "draining") == 0;
    bool over = ready || draining || strcmp(phase, "stopped") == 0;
    if (phases_begin(&d->phases, over ? NULL : phase, &ended))
        log_line(d->log, LOG_INFO, "phase \"%s\": %.3f s", ended.name,
                 (double)(ended.ended_ms - ended.began_ms) / 1000);
    if (ready)
        notify_say(d->notify, "READY=1\n");
    if (draining) {
        pthread_mutex_lock(&d->looking);
        d->draining = true;
        pthread_mutex_unlock(&d->looking);
        notify_say(d->notify, "STOPPING=1\n");
    }
}

void outside_failed(struct daemon *d, const struct status *s)
{
    char text[sizeof s->message + 32];
    snprintf(text, sizeof text, "STATUS=failed: %s\n", s->message);
    for (char *c = text; *c != 0; c++)
        if (*c == '\n' && c[1] != 0)
            *c = ' ';
    notify_say(d->notify, text);
}

/* ---- status pages ---- */

/* As many descriptors as are allowed; an eighth of them, and 128 at most, for status pages, so that those who
 * look never take the place of those who want proofs. */
static uint32_t connections_for_pages(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= 8 * 128)
        return 128;
    return limit.rlim_cur < 8 * 8 ? 8 : (uint32_t)(limit.rlim_cur / 8);
}

static void raise_descriptors(struct daemon *d)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024)
        log_line(d->log, LOG_WARN,
                 "only %llu files and connections are allowed to this process; raise its limit (ulimit -n, "
                 "LimitNOFILE=)",
                 (unsigned long long)limit.rlim_cur);
}

static void memory(void *context, struct site_memory *out)
{
    struct daemon *d = context;
    struct machine_memory machine;
    machine_memory(&machine, "");
    process_memory(&out->process_bytes, &out->resident_bytes, "self");
    out->machine_bytes = machine.cgroup_limit < machine.total ? machine.cgroup_limit : machine.total;
    out->machine_available_bytes = machine_budget(&machine, 0);
    out->budget_bytes = d->budget;
}

static size_t phases(void *context, struct site_phase out[SITE_PHASES])
{
    struct daemon *d = context;
    struct phase list[PHASES_MAX];
    size_t count = phases_look(&d->phases, list);
    uint64_t time = monotonic_ms();
    for (size_t i = 0; i < count; i++) {
        out[i].running = list[i].ended_ms == 0;
        out[i].ms = (out[i].running ? time : list[i].ended_ms) - list[i].began_ms;
        memcpy(out[i].name, list[i].name, sizeof out[i].name);
    }
    return count;
}

static void warn_if_open(struct daemon *d, const char *key, const char *address, const char *what)
{
    bool loopback = true;
    struct status s = listen_check(&loopback, address);
    if (!status_failed(&s) && !loopback)
        log_line(d->log, LOG_WARN, "%s = \"%s\" is open to the network: whoever can connect can %s", key,
                 address, what);
}

struct status outside_serve(struct daemon *d)
{
    struct listener *listener;
    const char *address = d->config.daemon.status_listen;
    pthread_mutex_lock(&d->looking);
    d->watched = d->service;
    pthread_mutex_unlock(&d->looking);
    raise_descriptors(d);
    struct listen_options permissions = {(uint32_t)d->config.daemon.socket_mode,
                                         d->config.daemon.socket_group};
    warn_if_open(d, "daemon.listen", d->config.daemon.listen, "ask for proofs");
    if (address[0] == 0)
        return status_ok();
    warn_if_open(d, "daemon.status_listen", address, "see what is proved");
    struct status s = listen_open(&listener, address, &permissions);
    if (status_failed(&s))
        return status_within(s, "daemon.status_listen");
    snprintf(d->status_address, sizeof d->status_address, "%s", listener->address);
    struct site_options options = {.service = d->service,
                                   .proving = d->proving,
                                   .ledger = d->ledger,
                                   .version = cuzk_version(),
                                   .memory = memory,
                                   .phases = phases,
                                   .context = d,
                                   .max_connections = connections_for_pages(),
                                   .log = log_callback,
                                   .log_context = d->log};
    TRY(site_start(&d->site, &options, listener));
    log_line(d->log, LOG_INFO, "status pages on %s%s", strncmp(address, "unix:", 5) == 0 ? "" : "http://",
             d->status_address);
    return status_ok();
}

void outside_stop(struct daemon *d)
{
    site_stop(d->site);
    d->site = NULL;
    pthread_mutex_lock(&d->looking);
    d->watched = NULL;
    d->stopping = true;
    pthread_mutex_unlock(&d->looking);
}

void outside_end(struct daemon *d)
{
    notify_end(d->notify);
    d->notify = NULL;
}
