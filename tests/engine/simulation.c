/* Random schedules through the real state machine, with faults of every kind: jobs of all priorities,
 * cancels, deadlines, callers that go and come back, proofs that do not verify, devices that err or are lost,
 * parameters that fail to load or load slowly or are evicted, draining, restarts, and memory from just enough
 * to plenty, of which other programs take some at times. model.h says what is checked at every step.
 *
 *     engine_simulation [--jobs N] [--seed S] [--runs R] [--trace]
 *
 * A failing run prints its seed; --seed S --runs 1 plays it again to the same step. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void options_of(struct model_options *o, uint64_t seed, uint32_t jobs, bool trace)
{
    uint64_t r = seed ^ UINT64_C(0x5eed);
    static const struct engine_circuit CIRCUITS[4] = {
        {.seeds_bytes = 400, .proof_bytes = 5000, .pending_bytes = 60, .load_bytes = 3000},
        {.seeds_bytes = 700, .proof_bytes = 12000, .pending_bytes = 60, .load_bytes = 9000},
        {.seeds_bytes = 80, .proof_bytes = 900, .pending_bytes = 60, .load_bytes = 500, .resident = true},
        {.seeds_bytes = 70, .proof_bytes = 1000, .pending_bytes = 60, .load_bytes = 700, .floor = true}};
    static const struct model_times TIMES[4] = {{400, 900, 800, 100, 400, 9000},
                                                {100, 300, 1500, 100, 50, 5000},
                                                {20, 50, 100, 10, 5, 800},
                                                {50, 200, 300, 20, 10, 3000}};
    memset(o, 0, sizeof *o);
    o->seed = seed;
    o->random = o->faults = true;
    o->jobs = jobs;
    o->trace = trace;
    o->circuits_count = 4;
    memcpy(o->circuits, CIRCUITS, sizeof CIRCUITS);
    memcpy(o->times, TIMES, sizeof TIMES);
    static const uint64_t BUDGETS[4] = {22200, 23000, 40000, 1000000};
    o->config = (struct engine_config){.partition_workers = 1 + (uint32_t)(mix(&r) % 8),
                                       .synthesis_lookahead = (uint32_t)(mix(&r) % 5),
                                       .finishers = 1 + (uint32_t)(mix(&r) % 3),
                                       .devices = 1 + (uint32_t)(mix(&r) % 3),
                                       .workers_per_device = 1 + (uint32_t)(mix(&r) % 2),
                                       .max_queue = 2 + (uint32_t)(mix(&r) % 20),
                                       .max_queue_bytes = 100 + mix(&r) % 1000,
                                       .host_budget = BUDGETS[mix(&r) % 4],
                                       .sort_by_circuit = mix(&r) % 2,
                                       .orphan_ms = 20000,
                                       .retention_ms = mix(&r) % 50000,
                                       .permit_until_queued = mix(&r) % 8 != 0,
                                       .eviction_min_idle_ms = mix(&r) % 100000,
                                       .strikes_max = (uint32_t)(mix(&r) % 4),
                                       .spare_device = mix(&r) % 2};
}

/* What a run says that breaks a promise at this step: child process, standard error into `out`. */
static void broken_run(char *out, size_t size, const struct model_options *o)
{
    int ends[2];
    size_t used = 0;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 2);
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        model_run(model_make(o));
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; used < size - 1 && (n = read(ends[0], out + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    out[used] = 0;
    close(ends[0]);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && !(WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

/* A failing seed fails again at the same step, and says both. */
static void check_replay(const struct model_options *options, uint64_t steps)
{
    struct model_options o = *options;
    char first[4096], second[4096], words[80];
    o.break_at = 1 + steps / 2;
    broken_run(first, sizeof first, &o);
    broken_run(second, sizeof second, &o);
    snprintf(words, sizeof words, "failed at seed %" PRIu64 ", step %" PRIu64 ", time", o.seed, o.break_at);
    CHECK(strstr(first, words) != NULL && strstr(first, "as it was asked for") != NULL);
    words[strlen(words) - 4] = 0;
    CHECK(strncmp(strstr(first, words), strstr(second, words), strcspn(strstr(first, words), "\n")) == 0);
}

int main(int argc, char **argv)
{
    uint64_t seed = (uint64_t)time(NULL), jobs = 20000, runs = 0;
    bool trace = false;
    for (int i = 1; i < argc; i++) {
        uint64_t *number = strcmp(argv[i], "--seed") == 0   ? &seed
                           : strcmp(argv[i], "--jobs") == 0 ? &jobs
                           : strcmp(argv[i], "--runs") == 0 ? &runs
                                                            : NULL;
        if (number != NULL && i + 1 < argc)
            *number = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--trace") == 0)
            trace = true;
        else {
            fprintf(stderr, "usage: %s [--jobs N] [--seed S] [--runs R] [--trace]\n", argv[0]);
            return 2;
        }
    }
    const uint32_t each = 200;
    if (runs == 0)
        runs = (jobs + each - 1) / each;
    printf("seed %" PRIu64 ", %" PRIu64 " runs of %u jobs\n", seed, runs, each);
    fflush(stdout);
    struct model_result sum = {0};
    for (uint64_t i = 0; i < runs; i++) {
        struct model_options o;
        struct model_result r, again;
        options_of(&o, seed + i, each, trace);
        struct model *m = model_make(&o);
        model_run(m);
        model_result(m, &r);
        model_end(m);
        if (i == 0 && !trace) { /* the same seed gives the same history */
            m = model_make(&o);
            model_run(m);
            model_result(m, &again);
            model_end(m);
            CHECK(again.finished_hash == r.finished_hash && again.steps == r.steps);
            check_replay(&o, r.steps);
        }
        sum.steps += r.steps;
        sum.jobs += r.jobs;
        sum.ok += r.ok;
        sum.failed += r.failed;
        sum.cancelled += r.cancelled;
        sum.refused += r.refused;
        sum.retries += r.retries;
        sum.evictions += r.evictions;
        sum.strikes += r.strikes;
        sum.devices_off += r.devices_off;
        sum.restarts += r.restarts;
    }
    printf("%" PRIu64 " jobs in %" PRIu64 " steps: %" PRIu64 " proved, %" PRIu64 " failed, %" PRIu64
           " cancelled; %" PRIu64 " of them refused; %" PRIu64 " retries, %" PRIu64 " evictions, %" PRIu64
           " strikes, %" PRIu64 " devices taken out of service, %" PRIu64 " restarts\n",
           sum.jobs, sum.steps, sum.ok, sum.failed, sum.cancelled, sum.refused, sum.retries, sum.evictions,
           sum.strikes, sum.devices_off, sum.restarts);
    /* A simulation in which nothing happens tests nothing. */
    CHECK(runs < 20 || (sum.ok > sum.jobs / 10 && sum.failed > 0 && sum.cancelled > 0 && sum.retries > 0 &&
                        sum.evictions > 0 && sum.strikes > 0 && sum.restarts > 0));
    return 0;
}
