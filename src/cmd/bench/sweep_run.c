/* One run of a sweep. Starting, measuring and stopping are the program's own commands `wait`, `batch` and
 * `stop`, called as a person would call them: what they say when something fails is what is kept. */
#include "cmd/bench/sweep.h"

#include "base/mem.h"
#include "cmd/daemon/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX  4200
#define OUTPUT_MAX 65536

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void sweep_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- calling this program ---- */

struct answer {
    char out[OUTPUT_MAX], errors[4096];
    int code; /* exit code; 128 + signal */
};

static void become(char *const *words, int out, int errors)
{
    setpgid(0, 0); /* an interrupt from the terminal comes to the sweep alone */
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execv("/proc/self/exe", words);
    _exit(127);
}

static void take(int fd, char *into, size_t size, size_t *used, bool *open)
{
    char rest[4096];
    bool full = *used + 1 >= size;
    ssize_t n = read(fd, full ? rest : into + *used, full ? sizeof rest : size - 1 - *used);
    if (n <= 0)
        *open = n < 0 && errno == EINTR;
    else if (!full)
        *used += (size_t)n;
    into[*used] = 0;
}

/* Reads both until they are closed; an interrupt is passed on once. */
static void listen_to(struct answer *a, pid_t pid, int out, int errors, bool pass_on)
{
    size_t used[2] = {0, 0};
    bool open[2] = {true, true}, told = false;
    while (open[0] || open[1]) {
        struct pollfd p[2] = {{.fd = open[0] ? out : -1, .events = POLLIN},
                              {.fd = open[1] ? errors : -1, .events = POLLIN}};
        (void)poll(p, 2, 200);
        if (interrupted && pass_on && !told) {
            kill(pid, SIGTERM);
            told = true;
        }
        if (p[0].revents != 0)
            take(out, a->out, sizeof a->out, &used[0], &open[0]);
        if (p[1].revents != 0)
            take(errors, a->errors, sizeof a->errors, &used[1], &open[1]);
    }
}

static void call(struct answer *a, char *const *words, bool pass_on)
{
    int out[2], errors[2], status = 0;
    memset(a, 0, sizeof *a);
    a->code = EXIT_FAILED;
    if (pipe2(out, O_CLOEXEC) != 0)
        return;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return;
    }
    pid_t pid = fork();
    if (pid == 0)
        become(words, out[1], errors[1]);
    close(out[1]);
    close(errors[1]);
    if (pid > 0) {
        listen_to(a, pid, out[0], errors[0], pass_on);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        a->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close(out[0]);
    close(errors[0]);
}

/* The value after "name": in a flat JSON object, or NULL. */
static const char *field(const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(json, quoted);
    return at == NULL ? NULL : at + strlen(quoted);
}

static double number(const char *json, const char *name)
{
    const char *at = field(json, name);
    return at == NULL ? 0 : strtod(at, NULL);
}

/* The error's lines as one, without their labels. */
static void reason_of(char out[240], const char *errors, int code)
{
    size_t n = 0;
    for (const char *line = errors; *line != 0 && n + 4 < 240;) {
        size_t length = strcspn(line, "\n");
        const char *text = line;
        size_t left = length;
        static const char *const LABELS[] = {"error: ", "detail: ", "hint: "};
        for (int i = 0; i < 3; i++)
            if (strncmp(text, LABELS[i], strlen(LABELS[i])) == 0) {
                text += strlen(LABELS[i]);
                left -= strlen(LABELS[i]);
            }
        int wrote = snprintf(out + n, 240 - n, "%s%.*s", n > 0 && left > 0 ? "; " : "", (int)left, text);
        n = n + (size_t)wrote < 240 ? n + (size_t)wrote : 239;
        line += length + (line[length] == '\n');
    }
    if (n == 0)
        snprintf(out, 240, "exit code %d, without a word", code);
    for (char *c = out; *c != 0; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
}

/* ---- the machine between runs ---- */

static bool holds_card(const char *pid)
{
    char path[300], target[256], name[32] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, name, sizeof name - 1);
        name[n > 0 ? n : 0] = 0;
        close(fd);
    }
    if (strncmp(name, "cuzk-daemon", 11) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    DIR *folder = opendir(path);
    bool holds = false;
    for (struct dirent *e; folder != NULL && !holds && (e = readdir(folder)) != NULL;) {
        ssize_t n = readlinkat(dirfd(folder), e->d_name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        holds = strncmp(target, "/dev/nvidia", 11) == 0 && target[11] >= '0' && target[11] <= '9';
    }
    if (folder != NULL)
        closedir(folder);
    return holds;
}

struct status sweep_alone(void)
{
    DIR *folder = opendir("/proc");
    char pid[24] = "";
    for (struct dirent *e; folder != NULL && pid[0] == 0 && (e = readdir(folder)) != NULL;)
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9' && holds_card(e->d_name))
            snprintf(pid, sizeof pid, "%.20s", e->d_name);
    if (folder != NULL)
        closedir(folder);
    if (pid[0] == 0)
        return status_ok();
    return status_hint(
        status_error(STATUS_BUSY, "another cuzk-daemon, pid %s, holds a card: figures would be of both", pid),
        "stop it: cuzk-bench stop");
}

bool sweep_settle(const struct sweep *s, uint64_t available)
{
    struct timespec round = {0, 250000000};
    double until = seconds_now() + 1e-3 * (double)s->settle_ms;
    struct machine_memory now;
    for (;;) {
        machine_memory(&now, "");
        if (now.available + now.total / 50 >= available || seconds_now() >= until)
            return !interrupted;
        if (interrupted)
            return false;
        nanosleep(&round, NULL);
    }
}

/* ---- a run ---- */

/* Base, values of the run, and what keeps it apart from other daemons. */
static struct status write_config(char path[CONFIG_TEXT_MAX + 32], struct sweep *s, size_t i)
{
    char text[CONFIG_TEXT_MAX + 32];
    for (size_t k = 0; k < s->keys_count; k++)
        TRY(config_set(&s->base, s->keys[k].name, sweep_value(s, &s->runs[i], k), "the sweep"));
    snprintf(text, sizeof text, "%.480s/%zu.log", s->folder, i + 1);
    TRY(config_set(&s->base, "logging.file", text, "the sweep"));
    snprintf(path, CONFIG_TEXT_MAX + 32, "%.480s/%zu.toml", s->folder, i + 1);
    FILE *out = fopen(path, "we");
    if (out == NULL)
        return status_error(STATUS_IO, "cannot write \"%.200s\": %s", path, strerror(errno));
    config_show(&s->base, out);
    bool bad = ferror(out) != 0;
    return fclose(out) != 0 || bad ? status_error(STATUS_IO, "cannot write \"%.200s\"", path) : status_ok();
}

static void stop_daemon(const char *config)
{
    static struct answer a;
    char *words[] = {"cuzk-bench", "stop", "--config", (char *)(uintptr_t)config, "--json", NULL};
    call(&a, words, false);
}

static void measure(struct sweep *s, struct sweep_run *run, const char *config)
{
    static struct answer a;
    static char *words[WORDS_MAX];
    size_t n = 0;
    words[n++] = "cuzk-bench";
    words[n++] = "batch";
    words[n++] = "--config";
    words[n++] = (char *)(uintptr_t)config;
    words[n++] = "--json";
    for (char **word = s->batch; *word != NULL && n + 1 < WORDS_MAX; word++)
        words[n++] = *word;
    words[n] = NULL;
    call(&a, words, true);
    run->completed = (uint64_t)number(a.out, "completed");
    run->failed = (uint64_t)number(a.out, "failed");
    run->per_proof = number(a.out, "seconds_per_proof");
    run->steady = number(a.out, "steady_seconds_per_proof");
    run->p50 = number(a.out, "p50_seconds");
    run->p95 = number(a.out, "p95_seconds");
    run->peak_bytes = (uint64_t)number(a.out, "peak_memory_bytes");
    run->outcome = a.code == EXIT_DONE ? SWEEP_DONE : SWEEP_FAILED;
    if (a.code != EXIT_DONE)
        reason_of(run->reason, a.errors, a.code);
}

bool sweep_do(struct sweep *s, size_t i)
{
    static struct answer a;
    struct sweep_run *run = &s->runs[i];
    char config[CONFIG_TEXT_MAX + 32], timeout[32];
    struct status status = write_config(config, s, i);
    snprintf(timeout, sizeof timeout, "%llums", (unsigned long long)s->ready_ms);
    if (status_failed(&status)) {
        run->outcome = SWEEP_NO_START;
        snprintf(run->reason, sizeof run->reason, "%s", status.message);
        return !interrupted;
    }
    char *words[] = {"cuzk-bench", "wait",   "--timeout",
                     timeout,      "--json", "--config",
                     config,       "--",     (char *)(uintptr_t)s->daemon,
                     "-c",         config,   NULL};
    call(&a, words, true);
    run->ready_seconds = number(a.out, "seconds");
    if (a.code != EXIT_DONE) {
        run->outcome = SWEEP_NO_START;
        reason_of(run->reason, a.errors, a.code);
    } else {
        if (!interrupted)
            measure(s, run, config);
        stop_daemon(config);
    }
    if (interrupted)
        run->outcome = SWEEP_NOT_YET;
    return !interrupted;
}
