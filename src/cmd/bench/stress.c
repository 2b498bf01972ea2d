/* cuzk-bench stress: several kinds of proofs at once, each at a rate of its own, for a time. Requests come
 * when they are due whether earlier ones have ended or not (as miners' clocks have it), so that a daemon that
 * falls behind shows it in its waiting times and not in a lower load. */
#include "cmd/bench/report.h"
#include "cmd/bench/sampler.h"

#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 8
#define PROOFS_MAX  100000 /* of one stream */

struct stream {
    struct input input;
    const char *rate_text;
    double period; /* seconds between requests */
    struct proof *proofs;
    uint32_t running;
    size_t due, started; /* due: in the whole time */
    char error[512];     /* the first */
};

struct stress {
    struct target target;
    const char *duration_text;
    double duration;
    struct stream streams[STREAMS_MAX];
    size_t streams_count;
    struct channel *channel;
    struct sampler sampler;
    bool connected;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* "2/s", "30/m", "4/h": seconds from one to the next; 0 if it is no rate. */
static double period_of(const char *text)
{
    char *end;
    double count = strtod(text, &end);
    double unit = strcmp(end, "/s") == 0   ? 1
                  : strcmp(end, "/m") == 0 ? 60
                  : strcmp(end, "/h") == 0 ? 3600
                                           : 0;
    return end == text || !(count > 0) || count > 1e6 ? 0 : unit / count;
}

static void start_due(struct stress *s, struct stream *t, double now)
{
    while (s->connected && t->started < t->due && (double)t->started * t->period <= now) {
        struct proof *p = &t->proofs[t->started];
        p->running = &t->running;
        struct status status = proof_start(p, s->channel, &t->input, t->started + 1);
        if (status_failed(&status)) {
            snprintf(t->error, sizeof t->error, "%s", status.message);
            s->connected = false;
            return;
        }
        t->started++;
    }
}

static uint64_t running(const struct stress *s, size_t *due)
{
    uint64_t n = 0;
    *due = 0;
    for (size_t i = 0; i < s->streams_count; i++) {
        n += s->streams[i].running;
        *due += s->streams[i].due - s->streams[i].started;
    }
    return n;
}

/* Until everything that is due has been asked for and answered, or the connection is gone. */
static void run_streams(struct stress *s)
{
    double began = seconds_now();
    size_t due = 1;
    s->connected = true;
    while (s->connected && (running(s, &due) > 0 || (due > 0 && !interrupted))) {
        double now = seconds_now() - began;
        for (size_t i = 0; i < s->streams_count && !interrupted; i++)
            start_due(s, &s->streams[i], now);
        s->connected = channel_poll(s->channel, 20) && s->connected;
        sampler_take(&s->sampler);
        progress_bar(NULL, "seconds", (uint64_t)(now < s->duration ? now : s->duration),
                     (uint64_t)s->duration);
    }
    while (running(s, &due) > 0 && channel_poll(s->channel, 200)) /* after a failed start */
        sampler_take(&s->sampler);
    progress_clear();
}

static struct status prepare(struct stress *s)
{
    TRY(target_resolve(&s->target));
    TRY(target_connect(&s->channel, &s->target));
    for (size_t i = 0; i < s->streams_count; i++) {
        struct stream *t = &s->streams[i];
        double due = s->duration / t->period + 1;
        t->due = due < PROOFS_MAX ? (size_t)due : PROOFS_MAX;
        t->proofs = mem_alloc_zero(t->due, sizeof *t->proofs);
        if (t->proofs == NULL)
            return mem_failed("proofs", t->due, sizeof *t->proofs);
    }
    sampler_start(&s->sampler, target_pid(&s->target, s->channel));
    return status_ok();
}

/* ---- results ---- */

static void show_stream(const struct stress *s, const struct stream *t, const struct figures *f, bool last)
{
    if (!s->target.json) {
        printf("%-8s %8s %7zu %9zu %6zu %9.3f %9.3f %9.3f %9.3f\n", t->input.type, t->rate_text, t->started,
               f->completed, t->started - f->completed, f->p50, f->p95, f->most, f->queue_wait);
        return;
    }
    fputs("{\"type\":", stdout);
    print_json_string(t->input.type);
    fputs(",\"rate\":", stdout);
    print_json_string(t->rate_text);
    printf(",\"started\":%zu,\"completed\":%zu,\"failed\":%zu,\"mean_seconds\":%.6f,\"p50_seconds\":%.6f,"
           "\"p95_seconds\":%.6f,"
           "\"max_seconds\":%.6f,\"queue_wait_mean_seconds\":%.6f}%s",
           t->started, f->completed, t->started - f->completed, f->mean, f->p50, f->p95, f->most,
           f->queue_wait, last ? "" : ",");
}

static int show(struct stress *s)
{
    bool good = s->connected;
    if (s->target.json)
        fputs("{\"streams\":[", stdout);
    else
        printf("%-8s %8s %7s %9s %6s %9s %9s %9s %9s\n", "type", "rate", "started", "completed", "failed",
               "p50", "p95", "max", "waited");
    for (size_t i = 0; i < s->streams_count; i++) {
        struct stream *t = &s->streams[i];
        struct figures f;
        if (!figures_of(&f, t->proofs, t->started, 1))
            return EXIT_FAILED;
        good = good && f.completed == t->started;
        show_stream(s, t, &f, i + 1 == s->streams_count);
        for (size_t k = 0; k < t->started && t->error[0] == 0; k++)
            if (!t->proofs[k].completed)
                snprintf(t->error, sizeof t->error, "%s", t->proofs[k].error);
        if (t->error[0] != 0)
            fprintf(stderr, "error: %s: %s\n", t->input.type, t->error);
    }
    if (s->target.json)
        printf("],\"peak_memory_bytes\":%llu}\n", (unsigned long long)s->sampler.peak_used);
    else if (s->sampler.peak_used != 0)
        printf("peak memory %.3f GiB\n", (double)s->sampler.peak_used / 0x1p30);
    return fflush(stdout) == 0 && good ? EXIT_DONE : EXIT_FAILED;
}

static void release(struct stress *s)
{
    channel_close(s->channel);
    for (size_t i = 0; i < s->streams_count; i++) {
        mem_free(s->streams[i].proofs);
        input_end(&s->streams[i].input);
    }
}

/* ---- options ---- */

static int add_stream(struct stress *s, int argc, char **argv)
{
    struct stream *t = &s->streams[s->streams_count];
    if (s->streams_count == STREAMS_MAX)
        return usage_error(NULL, "more than %d streams", STREAMS_MAX);
    const struct arg args[] = {
        INPUT_ARGS(t->input),
        {"--rate", ARG_TEXT, &t->rate_text, NULL, "N/U", "requests in a second, minute or hour, as 30/m (-r)",
         true},
        {"-r", ARG_ALIAS, "--rate", NULL, NULL, NULL, false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_STRESS, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    t->period = period_of(t->rate_text);
    if (t->period == 0)
        return usage_error(NULL, "--rate wants N/s, N/m or N/h, not \"%s\"", t->rate_text);
    exit_code = input_open(&t->input, s->target.json);
    s->streams_count += exit_code == EXIT_DONE;
    return exit_code;
}

static int parse(struct stress *s, int argc, char **argv)
{
    uint64_t ms;
    const struct arg args[] = {
        {"--duration", ARG_TEXT, &s->duration_text, NULL, "T",
         "for how long requests come, as in 90s or 10m; by default 60s", false},
        TARGET_ARGS(s->target),
    };
    int exit_code, count = 0;
    while (count < argc && strcmp(argv[count], "--") != 0)
        count++;
    if (!args_parse(&COMMAND_STRESS, args, sizeof args / sizeof args[0], count, argv, NULL, 0, &exit_code))
        return exit_code == EXIT_DONE ? -1 : exit_code;
    if (!parse_duration_ms(&ms, s->duration_text != NULL ? s->duration_text : "60s") || ms == 0)
        return usage_error(NULL, "--duration wants a duration such as 90s or 10m, not \"%s\"",
                           s->duration_text);
    s->duration = 1e-3 * (double)ms;
    while (count < argc) {
        int next = count + 1;
        while (next < argc && strcmp(argv[next], "--") != 0)
            next++;
        exit_code = add_stream(s, next - count, argv + count); /* its "--" stands for the name */
        if (exit_code != EXIT_DONE)
            return exit_code;
        count = next;
    }
    if (s->streams_count == 0)
        return usage_error("cuzk-bench stress -- -t wpost --rate 6/m ... -- -t winning --rate 2/m ...",
                           "streams must follow, each after --");
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static struct stress s;
    int exit_code = parse(&s, argc, argv);
    if (exit_code == EXIT_DONE) {
        struct sigaction action = {.sa_handler = interrupt};
        sigaction(SIGINT, &action, NULL);
        struct status status = prepare(&s);
        if (status_failed(&status)) {
            exit_code = report_status(&status, s.target.json);
        } else {
            run_streams(&s);
            exit_code = show(&s);
        }
    }
    release(&s);
    return exit_code < 0 ? EXIT_DONE : exit_code;
}

const struct command COMMAND_STRESS = {"stress", "ask for proofs of several kinds, each at its own rate",
                                       "[--duration T] -- -t KIND --rate N/U ... [-- -t KIND --rate N/U ...]",
                                       run};
