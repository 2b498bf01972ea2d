/* cuzk-bench stop: SIGTERM to the daemon of the run record, until its process and its socket are gone. A
 * pidfd keeps the process apart from a later one of the same number. */
#include "cmd/bench/address.h"
#include "cmd/bench/bench.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BEYOND_DRAIN_MS UINT64_C(30000)
#define SOCKET_ROUNDS   50 /* of a tenth of a second, after the process has gone */
#define PROBE_MS        1000

struct stopping {
    struct target target;
    const char *timeout_text;
    uint64_t timeout_ms;
    struct run_record record;
    bool recorded;
    pid_t pid;
};

/* Whether it has ended, though nobody has taken notice yet, as under an init that reaps nothing. */
static bool is_zombie(pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    bool ended = pidfd >= 0 && poll(&p, 1, 0) > 0;
    if (pidfd >= 0)
        close(pidfd);
    return ended;
}

/* The process to stop; 0 if there is none. */
static struct status find(struct stopping *w)
{
    struct channel *channel;
    struct status s = run_record_read(&w->record, w->target.state_dir);
    w->recorded = !status_failed(&s) && run_record_alive(&w->record) && !is_zombie((pid_t)w->record.pid);
    if (w->recorded) {
        w->pid = (pid_t)w->record.pid;
        return status_ok();
    }
    s = channel_open(&channel, w->target.address, PROBE_MS);
    if (status_failed(&s))
        return s.code == STATUS_MISSING ? status_ok() : s;
    w->pid = channel_peer(channel);
    channel_close(channel);
    if (w->pid > 0)
        return status_ok();
    return status_hint(status_error(STATUS_MISSING,
                                    "something listens on %.100s, but no run record in \"%.100s\" says who",
                                    w->target.address, w->target.state_dir),
                       "give --config or --state-dir of that daemon");
}

static struct status signal_process(int *pidfd, const struct stopping *w)
{
    *pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
    if (*pidfd < 0)
        return errno == ESRCH
                   ? status_ok()
                   : status_error(STATUS_IO, "cannot watch process %d: %s", (int)w->pid, strerror(errno));
    if (w->recorded && !run_record_alive(&w->record))
        return status_ok(); /* it ended in between; the number may be another's now */
    if (syscall(SYS_pidfd_send_signal, *pidfd, SIGTERM, NULL, 0) == 0 || errno == ESRCH)
        return status_ok();
    return status_hint(
        status_error(STATUS_IO, "cannot stop cuzk-daemon, pid %d: %s", (int)w->pid, strerror(errno)),
        "do it as the user who started it");
}

static struct status await_end(int pidfd, const struct stopping *w)
{
    struct run_record now;
    double until = seconds_now() + 1e-3 * (double)w->timeout_ms;
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    while (seconds_now() < until)
        if (poll(&p, 1, 200) > 0)
            return status_ok();
    struct status s = run_record_read(&now, w->target.state_dir);
    return status_hint(status_error(STATUS_CANCELLED, "cuzk-daemon, pid %d, still runs after %.3g s%s%.60s",
                                    (int)w->pid, 1e-3 * (double)w->timeout_ms,
                                    status_failed(&s) ? "" : ", in phase ",
                                    status_failed(&s) ? "" : now.phase),
                       "give it longer with --timeout, or end it with kill -9 %d", (int)w->pid);
}

static struct status await_socket(const struct stopping *w)
{
    struct address address;
    struct timespec tenth = {0, 100000000};
    const char *listen = w->recorded && w->record.listen[0] != 0 ? w->record.listen : w->target.address;
    TRY(address_parse(&address, listen));
    for (int i = 0; i < SOCKET_ROUNDS; i++) {
        int fd;
        if (address.local && access(address.path, F_OK) != 0 && errno == ENOENT)
            return status_ok();
        if (!address.local) {
            struct status s = address_connect(&fd, &address, PROBE_MS);
            if (status_failed(&s))
                return status_ok();
            close(fd);
        }
        nanosleep(&tenth, NULL);
    }
    return status_error(STATUS_IO, "cuzk-daemon has ended, but %.150s is still there", listen);
}

static int show(const struct stopping *w, double seconds)
{
    struct result r = {.json = w->target.json};
    struct run_record record;
    result_bool(&r, "was_running", w->pid > 0);
    if (w->pid > 0) {
        struct status s = run_record_read(&record, w->target.state_dir);
        result_number(&r, "pid", (uint64_t)w->pid);
        result_seconds(&r, "seconds", seconds);
        if (!status_failed(&s) && record.pid == w->pid && record.ending[0] != 0)
            result_text(&r, "ended", record.ending);
    }
    return result_end(&r);
}

static int stop(struct stopping *w)
{
    int pidfd = -1;
    double started = seconds_now();
    struct status s = target_resolve(&w->target);
    if (!status_failed(&s))
        s = find(w);
    if (status_failed(&s))
        return report_status(&s, w->target.json);
    if (w->timeout_ms == 0)
        w->timeout_ms = w->target.drain_timeout_ms + BEYOND_DRAIN_MS;
    if (w->pid == 0)
        return show(w, 0);
    s = signal_process(&pidfd, w);
    if (!status_failed(&s) && pidfd >= 0)
        s = await_end(pidfd, w);
    if (pidfd >= 0)
        close(pidfd);
    if (!status_failed(&s))
        s = await_socket(w);
    return status_failed(&s) ? report_status(&s, w->target.json) : show(w, seconds_now() - started);
}

static int run(int argc, char **argv)
{
    static struct stopping w;
    const struct arg args[] = {
        {"--timeout", ARG_TEXT, &w.timeout_text, NULL, "T",
         "give up after this time, as in 90s or 10m; by default daemon.drain_timeout and half a minute",
         false},
        TARGET_ARGS(w.target),
    };
    int exit_code;
    if (!args_parse(&COMMAND_STOP, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    if (w.timeout_text != NULL && (!parse_duration_ms(&w.timeout_ms, w.timeout_text) || w.timeout_ms == 0))
        return usage_error(NULL, "--timeout wants a duration such as 90s or 10m, not \"%s\"", w.timeout_text);
    return stop(&w);
}

const struct command COMMAND_STOP = {"stop", "stop the daemon and wait until it is gone", "[--timeout T]",
                                     run};
