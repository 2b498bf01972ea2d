/* cuzk-bench wait: until the daemon is ready, or until it is known that it will not be.
 *
 * Ready is what the daemon says of itself at its socket (grpc.health.v1), from the process that is meant:
 * with a command the one that was started here, so that another daemon's answer is not taken for its. Why it
 * is not is told by the process' end, its last words and its run record. */
#include "cmd/bench/bench.h"
#include "cmd/bench/child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUND_NS      100000000L
#define PROBE_MS      1000
#define PHASE_READY   "ready" /* as the daemon records it */
#define GRACE_SECONDS 5       /* without a command: for a daemon that is just being started */

struct waiting {
    struct target target;
    const char *timeout_text, *console;
    uint64_t timeout_ms; /* 0: none */
    char **command;      /* NULL: none */
    struct child child;
    double started;
    time_t started_at;
    pid_t pid; /* of the daemon that answered */
    char phase[64];
    struct status unresolved;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* The value of an option of the daemon's, given as "-c X", "--config X" or "--config=X". */
static const char *option_of(char **command, const char *brief, const char *full)
{
    size_t n = strlen(full);
    for (char **word = command + 1; command[0] != NULL && *word != NULL; word++) {
        if ((strcmp(*word, brief) == 0 || strcmp(*word, full) == 0) && word[1] != NULL)
            return word[1];
        if (strncmp(*word, full, n) == 0 && (*word)[n] == '=')
            return *word + n + 1;
    }
    return NULL;
}

/* Where to look for the daemon: as it was told itself, unless it was said here. */
static void resolve(struct waiting *w)
{
    if (w->command != NULL) {
        if (w->target.config_given == NULL)
            w->target.config_given = option_of(w->command, "-c", "--config");
        if (w->target.address_given == NULL)
            w->target.address_given = option_of(w->command, "-l", "--listen");
    }
    w->unresolved = target_resolve(&w->target);
}

static bool read_record(struct run_record *record, const struct waiting *w)
{
    struct status s = run_record_read(record, w->target.state_dir);
    return !status_failed(&s);
}

/* Whether a run record is of a daemon that was started after this program, with this pid if that is known. */
static bool fresh(const struct waiting *w, const struct run_record *record, pid_t peer)
{
    return record->started + 1 >= (int64_t)w->started_at && run_record_alive(record) &&
           (peer == 0 || record->pid == peer);
}

/* Whether the daemon that is meant says that it serves, and has recorded that it does. */
static bool serving(struct waiting *w)
{
    struct channel *channel;
    struct run_record record;
    bool yes = false;
    if (status_failed(&w->unresolved))
        return false;
    struct status s = channel_open(&channel, w->target.address, PROBE_MS);
    if (status_failed(&s))
        return false;
    pid_t peer = channel_peer(channel);
    s = target_health(channel, &yes);
    yes = yes && !status_failed(&s);
    bool known = read_record(&record, w) && run_record_alive(&record) && (peer == 0 || record.pid == peer);
    if (yes && known)
        yes = strcmp(record.phase, PHASE_READY) == 0;
    if (yes && w->command != NULL)
        yes = (peer != 0 && peer == w->child.pid) || (known && fresh(w, &record, peer));
    w->pid = peer != 0 ? peer : known ? (pid_t)record.pid : w->child.pid;
    channel_close(channel);
    return yes;
}

/* The phase that the daemon has reached, told once on a terminal. */
static void follow_phase(struct waiting *w)
{
    struct run_record record;
    if (status_failed(&w->unresolved) || !read_record(&record, w) ||
        (w->command != NULL && record.pid != w->child.pid && !fresh(w, &record, 0)))
        return;
    if (strcmp(w->phase, record.phase) == 0)
        return;
    snprintf(w->phase, sizeof w->phase, "%s", record.phase);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "[%5.1f s] %s\n", seconds_now() - w->started, w->phase);
}

static int ready(struct waiting *w)
{
    struct result r = {.json = w->target.json};
    result_bool(&r, "ready", true);
    result_text(&r, "address", w->target.address);
    if (w->pid > 0)
        result_number(&r, "pid", (uint64_t)w->pid);
    result_seconds(&r, "seconds", seconds_now() - w->started);
    return result_end(&r);
}

static int too_late(struct waiting *w)
{
    struct status s =
        status_error(STATUS_CANCELLED, "cuzk-daemon is not ready after %.3g s%s%.60s",
                     1e-3 * (double)w->timeout_ms, w->phase[0] != 0 ? ", in phase " : "", w->phase);
    if (status_failed(&w->unresolved))
        s = status_detail(s, "%s", w->unresolved.message);
    if (w->command != NULL) {
        child_stop(&w->child);
        s = status_hint(s, "it was stopped; give it more time, or look at its log");
    } else {
        s = status_hint(s, "wait longer, or look at its log%s%.100s", w->target.log[0] != 0 ? ": " : "",
                        w->target.log);
    }
    return report_status(&s, w->target.json);
}

static int given_up(struct waiting *w)
{
    struct status s = status_error(STATUS_CANCELLED, "interrupted before cuzk-daemon was ready");
    if (w->command != NULL) {
        child_stop(&w->child);
        s = status_detail(s, "it was stopped");
    }
    return report_status(&s, w->target.json);
}

/* Without a command: why nothing can be expected, from the run record. False: not known yet. */
static bool hopeless(const struct waiting *w, struct status *s)
{
    struct run_record record;
    char how[400];
    if (seconds_now() - w->started < GRACE_SECONDS)
        return false;
    if (!read_record(&record, w)) {
        *s = status_hint(status_error(STATUS_MISSING, "no cuzk-daemon has run with state_dir \"%.120s\"",
                                      w->target.state_dir),
                         "start it, or give --config or --state-dir");
        return true;
    }
    if (run_record_alive(&record))
        return false;
    run_record_explain(how, sizeof how, &record);
    *s = status_detail(status_error(STATUS_MISSING, "no cuzk-daemon runs; the last one, pid %lld, %.150s",
                                    (long long)record.pid, how),
                       "%s", strlen(how) > 150 ? how : "");
    if (record.log[0] != 0)
        *s = status_hint(*s, "its log is %.120s", record.log);
    return true;
}

static int ended(struct waiting *w)
{
    follow_phase(w);
    struct status s = child_story(&w->child, w->phase);
    int code = child_exit_code(&w->child);
    child_forget(&w->child);
    (void)report_status(&s, w->target.json);
    return code;
}

static int wait_until(struct waiting *w)
{
    struct timespec round = {0, ROUND_NS};
    struct status s;
    for (;;) {
        if (w->command != NULL && child_ended(&w->child))
            return ended(w);
        if (serving(w)) {
            if (w->command != NULL)
                child_forget(&w->child);
            return ready(w);
        }
        follow_phase(w);
        if (interrupted)
            return given_up(w);
        if (w->timeout_ms != 0 && seconds_now() - w->started >= 1e-3 * (double)w->timeout_ms)
            return too_late(w);
        if (w->command == NULL && hopeless(w, &s))
            return report_status(&s, w->target.json);
        nanosleep(&round, NULL);
    }
}

static int start_and_wait(struct waiting *w)
{
    char console[CONFIG_TEXT_MAX + 16] = "";
    resolve(w);
    if (w->command == NULL && status_failed(&w->unresolved))
        return report_status(&w->unresolved, w->target.json);
    if (w->console != NULL)
        snprintf(console, sizeof console, "%s", w->console);
    else if (!status_failed(&w->unresolved))
        snprintf(console, sizeof console, "%s/console", w->target.state_dir);
    w->started = seconds_now();
    w->started_at = time(NULL);
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (w->command != NULL) {
        bool all = w->console != NULL || w->target.log[0] == 0;
        struct status s = child_start(&w->child, w->command, console, all);
        if (status_failed(&s))
            return report_status(&s, w->target.json);
    }
    return wait_until(w);
}

static int run(int argc, char **argv)
{
    static struct waiting w;
    const struct arg args[] = {
        {"--timeout", ARG_TEXT, &w.timeout_text, NULL, "T",
         "give up after this time, as in 90s or 10m; by default only when the daemon ends", false},
        {"--console", ARG_TEXT, &w.console, NULL, "FILE",
         "where the standard output and error of COMMAND go; by default errors alone, to STATE_DIR/console",
         false},
        TARGET_ARGS(w.target),
    };
    int exit_code, count = 0;
    while (count < argc && strcmp(argv[count], "--") != 0)
        count++;
    if (!args_parse(&COMMAND_WAIT, args, sizeof args / sizeof args[0], count, argv, NULL, 0, &exit_code))
        return exit_code;
    if (w.timeout_text != NULL && (!parse_duration_ms(&w.timeout_ms, w.timeout_text) || w.timeout_ms == 0))
        return usage_error(NULL, "--timeout wants a duration such as 90s or 10m, not \"%s\"", w.timeout_text);
    if (count < argc) {
        w.command = argv + count + 1;
        if (w.command[0] == NULL)
            return usage_error(NULL, "a command must follow --");
    }
    return start_and_wait(&w);
}

const struct command COMMAND_WAIT = {"wait", "wait until the daemon is ready, starting it if told how",
                                     "[--timeout T] [-- COMMAND...]", run};
