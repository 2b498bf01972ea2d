/* What a decision of the state machine costs: steps of a busy engine, by how many jobs it has. The floor is
 * the time of one partition on a device (hundreds of milliseconds on a card): a step must be nothing beside
 * it, and it bounds how long a look at the service can wait. */
#include "base/status.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PARTITIONS 10
#define QUEUE      65536

static struct engine_event queue[QUEUE];
static size_t first, last;
static uint64_t steps;
static double worst;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void push(enum engine_event_kind kind, const struct engine_action *a)
{
    queue[last++ % QUEUE] =
        (struct engine_event){.kind = kind, .job = a->job, .partition = a->partition, .circuit = a->circuit};
}

static void step(struct engine *e, const struct engine_event *event)
{
    const struct engine_action *actions;
    size_t count;
    double began = now();
    engine_step(e, steps, event, &actions, &count);
    double took = now() - began;
    worst = took > worst ? took : worst;
    steps++;
    for (size_t i = 0; i < count; i++) {
        static const int ANSWER[] = {
            [ACTION_OPEN] = EVENT_OPENED,     [ACTION_SYNTHESISE] = EVENT_SYNTHESISED,
            [ACTION_START] = EVENT_STARTED,   [ACTION_FINISH] = EVENT_FINISHED,
            [ACTION_VERIFY] = EVENT_VERIFIED, [ACTION_LOAD] = EVENT_CIRCUIT};
        if (actions[i].kind <= ACTION_LOAD)
            push((enum engine_event_kind)ANSWER[actions[i].kind], &actions[i]);
    }
}

static void run(uint32_t jobs, uint64_t rounds)
{
    struct engine *e;
    const struct engine_circuit circuit = {
        .seeds_bytes = 4 << 20, .proof_bytes = 64 << 20, .pending_bytes = 1 << 20, .load_bytes = 1};
    struct engine_config config = {.partition_workers = 16,
                                   .synthesis_lookahead = 1,
                                   .finishers = 2,
                                   .devices = 2,
                                   .workers_per_device = 2,
                                   .max_queue = jobs,
                                   .max_queue_bytes = UINT64_MAX / 2,
                                   .host_budget = UINT64_MAX / 2,
                                   .sort_by_circuit = true,
                                   .orphan_ms = 60000,
                                   .retention_ms = 86400000,
                                   .permit_until_queued = true};
    struct status s = engine_make(&e, &config, &circuit, 1);
    CHECK(!status_failed(&s));
    job_id next = 1;
    struct engine_event submit = {
        .kind = EVENT_SUBMIT,
        .submit = {.partitions = PARTITIONS, .priority = PRIORITY_NORMAL, .request_bytes = 1}};
    first = last = 0;
    steps = 0;
    worst = 0;
    struct engine_counts counts;
    double began = now();
    for (uint64_t done = 0; done < rounds;) {
        engine_counts(e, &counts);
        if (counts.jobs_waiting + counts.jobs_running < jobs) { /* the queue stays full */
            submit.job = next++;
            step(e, &submit);
        } else {
            done += queue[first % QUEUE].kind == EVENT_VERIFIED;
            step(e, &queue[first++ % QUEUE]);
        }
    }
    double took = now() - began;
    printf("%5u jobs of %d partitions: %7.2f us a step, %8.1f us a job, worst step %7.1f us\n", jobs,
           PARTITIONS, took * 1e6 / (double)steps, took * 1e6 / (double)rounds, worst * 1e6);
    engine_end(e);
}

int main(void)
{
    static const uint32_t JOBS[] = {1, 4, 16, 64, 256, 1024};
    for (size_t i = 0; i < sizeof JOBS / sizeof JOBS[0]; i++)
        run(JOBS[i], 2000);
    return 0;
}
