/* Killed at any instant: a child runs the service over the journal, submits, waits and fetches; the parent
 * kills it with SIGKILL after a random time, and the next child goes on. What was acknowledged and answered
 * is written where both see it, so at the end it can be said: no acknowledged job was lost, none was answered
 * twice with different bytes, and every proof stands. Then jobs that take the process down themselves.
 *
 *     engine_journal_kill_test [--rounds N] [--seed N]
 */
#include "service_rig.h"

#include "base/mem.h"
#include "base/random.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX   4096
#define JOBS_ROUND 2
#define PROVE_NAME "prove"

/* Seen by parent and children. */
struct job {
    char id[40];
    atomic_bool acknowledged, answered;
    uint8_t proof[192];
};
struct shared {
    atomic_uint jobs; /* given a place */
    atomic_uint joined;
    struct job job[JOBS_MAX];
};

static struct shared *all;
static char folder[64], path[96];

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            _exit(3);                                                                                        \
        }                                                                                                    \
    } while (0)

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void pause_ms(uint64_t ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* ---- the child ---- */

struct child {
    struct engine_service *service;
    struct pool *pool;
    struct test_device device;
    struct golden golden;
    atomic_int waiting;
};

static struct child child;

static void on_log(void *context, int level, const char *text)
{
    (void)context;
    if (getenv("CUZK_TEST_TALK") != NULL || level == 0)
        fprintf(stderr, "%d %s\n", level, text);
}

static void child_start(bool hold)
{
    static const char *const CIRCUITS[] = {WINDOW, WINNING};
    golden_read(&child.golden);
    rig_must(pool_start(&child.pool, 2));
    test_device_open(&child.device, child.pool);
    atomic_store(&child.device.hold, hold);
    static struct device *devices[1];
    devices[0] = &child.device.device;
    struct service_options options = {.engine = {.partition_workers = 2,
                                                 .synthesis_lookahead = 1,
                                                 .finishers = 1,
                                                 .workers_per_device = 1,
                                                 .max_queue = JOBS_MAX,
                                                 .max_queue_bytes = UINT64_C(1) << 30,
                                                 .host_budget = UINT64_C(1) << 32,
                                                 .orphan_ms = 600000,
                                                 .permit_until_queued = true},
                                      .circuits = CIRCUITS,
                                      .circuits_count = 2,
                                      .param_cache = CUZK_TEST_PARAMS_DIR,
                                      .state_dir = folder,
                                      .allow_test_params = true,
                                      .threads = 2,
                                      .journal = path,
                                      .journal_retention_ms = 3600000,
                                      .oom_kills = UINT64_MAX,
                                      .devices = devices,
                                      .devices_count = 1,
                                      .log = on_log};
    rig_must(service_start(&child.service, &options));
}

static void on_acknowledged(void *context, const struct job_result *result)
{
    struct job *job = context;
    MUST(strcmp(job->id, result->id) == 0);
    atomic_store(&job->acknowledged, true);
    atomic_fetch_sub(&child.waiting, 1);
}

static void on_result(void *context, const struct job_result *result)
{
    struct job *job = context;
    if (result->state != JOB_COMPLETED)
        fprintf(stderr, "job %s: state %d: %s\n", job->id, (int)result->state, result->status.message);
    MUST(result->state == JOB_COMPLETED && result->proof_size == 192);
    if (atomic_load(&job->answered))
        MUST(memcmp(job->proof, result->proof, 192) == 0);
    memcpy(job->proof, result->proof, 192);
    atomic_store(&job->answered, true);
    atomic_fetch_sub(&child.waiting, 1);
}

static void submit(struct caller *c, const char *name, bool detached, char id[40])
{
    uint32_t position;
    caller_make(c, &child.golden, PROOF_WINDOW, name);
    c->submit.detached = detached;
    rig_must(service_submit(child.service, id, &position, &c->submit));
}

/* Those that were acknowledged before are there, and answer as before. */
static void ask_again(uint32_t known)
{
    uint64_t waiter;
    for (uint32_t i = 0; i < known; i++) {
        if (!atomic_load(&all->job[i].acknowledged))
            continue;
        atomic_fetch_add(&child.waiting, 1);
        rig_must(service_await(child.service, &waiter, all->job[i].id, 0, on_result, &all->job[i]));
    }
}

static void submit_more(void)
{
    static struct caller callers[JOBS_ROUND + 1];
    uint64_t waiter;
    char name[32], id[40];
    for (int k = 0; k < JOBS_ROUND; k++) {
        uint32_t i = atomic_load(&all->jobs);
        struct job *job = &all->job[i];
        snprintf(name, sizeof name, "job-%u", i);
        submit(&callers[k], name, true, job->id);
        atomic_store(&all->jobs, i + 1);
        atomic_fetch_add(&child.waiting, 1);
        rig_must(service_acknowledge(child.service, &waiter, job->id, on_acknowledged, job));
    }
    /* The same Prove in every round: if the journal has it, it is joined. */
    struct job *prove = &all->job[JOBS_MAX - 1];
    submit(&callers[JOBS_ROUND], PROVE_NAME, false, id);
    if (atomic_load(&prove->answered))
        MUST(strcmp(id, prove->id) == 0); /* answered once: the same job for ever */
    if (strcmp(id, prove->id) == 0)
        atomic_fetch_add(&all->joined, 1);
    memcpy(prove->id, id, sizeof prove->id);
    atomic_fetch_add(&child.waiting, 1);
    rig_must(service_await(child.service, &waiter, id, 0, on_result, prove));
}

static void child_main(bool to_the_end)
{
    uint32_t known = atomic_load(&all->jobs);
    child_start(false);
    ask_again(known);
    if (known + JOBS_ROUND < JOBS_MAX)
        submit_more();
    while (!to_the_end || atomic_load(&child.waiting) > 0)
        pause_ms(1);
    ask_again(atomic_load(&all->jobs)); /* its own too */
    while (atomic_load(&child.waiting) > 0)
        pause_ms(1);
    _exit(0);
}

/* ---- the parent ---- */

static pid_t start_child(bool to_the_end)
{
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child_main(to_the_end);
    return pid;
}

/* True if it was still alive. */
static bool kill_child(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFEXITED(status) || WTERMSIG(status) != SIGKILL) {
        fprintf(stderr, "a child ended by itself: status %x\n", (unsigned)status);
        exit(1);
    }
    return true;
}

static void finish_child(pid_t pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "a child did not end well: status %x\n", (unsigned)status);
        exit(1);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void kill_rounds(uint32_t rounds, uint64_t seed)
{
    uint64_t began = now_ms();
    finish_child(start_child(true));
    uint64_t whole = now_ms() - began; /* from nothing to the last answer */
    for (uint32_t i = 0; i < rounds; i++) {
        pid_t pid = start_child(false);
        /* Denser at the beginning: many short lives, some long ones. */
        uint64_t r = next_random(&seed) % (2 * whole + 1), most = next_random(&seed) % (2 * whole + 1);
        pause_ms(r < most ? r : most);
        kill_child(pid);
    }
    finish_child(start_child(true));
    uint32_t acknowledged = 0, jobs = atomic_load(&all->jobs);
    struct golden golden;
    struct caller caller;
    golden_read(&golden);
    caller_make(&caller, &golden, PROOF_WINDOW, "x");
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &all->job[i];
        acknowledged += atomic_load(&job->acknowledged);
        if (i < jobs && atomic_load(&job->acknowledged) && !atomic_load(&job->answered)) {
            fprintf(stderr, "job %s was acknowledged and is lost\n", job->id);
            exit(1);
        }
        if (atomic_load(&job->answered) && !proof_stands(&caller, job->proof, WINDOW)) {
            fprintf(stderr, "job %s: its proof does not stand\n", job->id);
            exit(1);
        }
    }
    golden_end(&golden);
    CHECK(acknowledged >= 2 * JOBS_ROUND); /* of the first and the last child at the least */
    CHECK(atomic_load(&all->joined) > 0);
    printf("%u rounds of %llu ms at most: %u jobs submitted, %u acknowledged, all proved; the Prove joined "
           "%u times\n",
           rounds, (unsigned long long)(2 * whole), jobs, acknowledged, atomic_load(&all->joined));
}

/* ---- jobs that take the process down ---- */

static void crash_main(const char *id)
{
    static struct caller c;
    child_start(true);
    if (id[0] == 0)
        submit(&c, "poison", true, all->job[0].id);
    UNTIL(atomic_load(&child.device.holding) > 0);
    service_crashed(); /* as the handler of a fatal signal does */
    _exit(0);
}

static void failed_main(const char *id)
{
    struct answer a;
    struct caller c;
    char again[40];
    child_start(true);
    MUST(await_job(child.service, &a, id, 10000) == JOB_FAILED);
    MUST(strstr(a.result.status.message, "ended 2 times while it proved job") != NULL);
    MUST(strstr(a.result.status.message, id) != NULL && strstr(a.result.status.message, "poison") != NULL);
    submit(&c, "poison", true, again);
    MUST(strcmp(again, id) == 0);
    _exit(0);
}

static void crashes(void)
{
    char id[40] = "";
    for (int i = 0; i < 3; i++) {
        fflush(NULL);
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0 && i < 2)
            crash_main(id);
        if (pid == 0)
            failed_main(id);
        finish_child(pid);
        memcpy(id, all->job[0].id, sizeof id);
    }
    printf("a job that twice took the process down is failed by name\n");
}

static void fresh_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/cuzk-kill-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/j", folder);
    memset(all, 0, sizeof *all);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
}

int main(int argc, char **argv)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    uint32_t rounds = 10; /* ten times slower */
#else
    uint32_t rounds = 50;
#endif
    uint64_t seed = 0;
    rig_must(random_bytes((uint8_t *)&seed, sizeof seed));
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
    }
    printf("seed %llu\n", (unsigned long long)seed);
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED);
    fflush(NULL);
    pid_t pid = fork(); /* making parameters takes threads, which a parent of children does not want */
    CHECK(pid >= 0);
    if (pid == 0) {
        rig_params();
        _exit(0);
    }
    finish_child(pid);
    fresh_folder();
    crashes();
    remove_folder();
    fresh_folder();
    kill_rounds(rounds, seed);
    remove_folder();
    return 0;
}
