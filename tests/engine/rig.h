/* The state machine in a vice: events by hand, actions as text.
 *
 * Actions are written "open 1", "synth 1.0" (job.partition), "start 1.0@0" (device), "finish 1.0", "verify
 * 1", "load 0" (circuit), "release 1.0", "stop 1.0" or "stop 1", "end 1 ok" (or the code's name), "close 1",
 * "forget 1", "drained", separated by "; ". Invariants are checked after every step. */
#ifndef CUZK_TESTS_ENGINE_RIG_H
#define CUZK_TESTS_ENGINE_RIG_H

#include "engine/engine.h"

#define RIG_OUT 256
struct rig {
    struct engine *engine;
    uint64_t now;
    char actions[8192];                /* of the last step */
    struct status last_status;         /* of the last END */
    struct engine_action out[RIG_OUT]; /* given and not answered yet, oldest first */
    size_t out_count;
    char order[1024]; /* jobs in the order in which they began synthesis */
};

#define RIG_CIRCUITS 3
/* 100 seeds, 1000 proof, 10 pending; 200, 2000, 20; 1, 1, 1. */
extern const struct engine_circuit RIG_CIRCUIT[RIG_CIRCUITS];
/* 2 permits, 1 finisher, 1 device of 1 worker, 4 jobs, plenty of bytes. */
struct engine_config rig_config(void);
void rig_start(struct rig *rig, const struct engine_config *config);
/* Started, circuit 0 loaded, job 1 of circuit 0 open. */
void rig_start_open(struct rig *rig, const struct engine_config *config, uint32_t partitions);
void rig_end(struct rig *rig);

void rig_step(struct rig *rig, const struct engine_event *event);
struct engine_submit rig_job(uint32_t circuit, uint32_t partitions, enum priority priority);
void rig_submit(struct rig *rig, job_id job, struct engine_submit submit);
/* An event of a job's partition, or of the job where partition has no meaning. */
void rig_event(struct rig *rig, enum engine_event_kind kind, job_id job, uint32_t partition,
               enum status_code code);
void rig_circuit(struct rig *rig, enum engine_event_kind kind, uint32_t circuit, enum status_code code);
void rig_device_lost(struct rig *rig, uint32_t device);
void rig_tick(struct rig *rig, uint64_t ms); /* moves the clock and ticks */
/* Answers what is outstanding of one kind, or of all kinds but LOAD (RIG_ALL), with OK (what was stopped:
 * cancelled), oldest first, and what comes of it, until nothing is left. */
#define RIG_ALL ACTION_DRAINED
void rig_run(struct rig *rig, enum engine_action_kind kind);
/* The actions of the last step are these. */
#define EXPECT(rig, text) rig_expect(rig, text, __FILE__, __LINE__)
void rig_expect(const struct rig *rig, const char *text, const char *file, int line);
struct engine_counts rig_counts(const struct rig *rig);
enum partition_state rig_state(const struct rig *rig, job_id job, uint32_t partition);

#endif
