/* A model of everything around the state machine, on a virtual clock: it carries actions out in its own
 * times, keeps its own account of what is held where, and aborts when the engine breaks a promise. Used for
 * the random simulation (faults of every kind) and for the model device (times and sizes of a 32 GiB
 * partition).
 *
 * Promises that are checked at every step, besides engine_check_invariants:
 * - actions come in a legal order for each partition and each job; END, CLOSE and FORGET once each;
 * - what the driver holds is, to the byte, what the engine accounts for, and never beyond the budget; nothing
 *   begins, and no parameters are loaded, beyond what the budget is at the moment;
 * - who gets a permit, a device or a finisher is the first in order by the model's own reckoning;
 * - a lone WinningPoSt never waits;
 * - a job ends by its deadline, and by orphan_ms after its last caller went;
 * and at the end: nothing waits, nothing is held, every job was answered. */
#ifndef CUZK_TESTS_ENGINE_MODEL_H
#define CUZK_TESTS_ENGINE_MODEL_H

#include "engine/engine.h"

struct model_times {
    uint64_t open_ms, synthesis_ms, device_ms, finish_ms, verify_ms, load_ms;
    /* device_ms is exclusive: a device works on one partition after the other, whatever its workers. */
};

struct model_options {
    uint64_t seed;
    struct engine_config config;
    struct engine_circuit circuits[4];
    struct model_times times[4];
    uint32_t circuits_count;
    bool random; /* times vary from 0 to twice, faults happen, jobs are of all kinds */
    bool faults;
    uint32_t jobs; /* random: how many come */
    bool trace;
    uint64_t break_at; /* a step at which a promise is broken on purpose; 0: none */
};

struct model;
struct model *model_make(const struct model_options *options);
void model_end(struct model *model);
/* A job that comes at a time, beside the random ones. */
void model_submit(struct model *model, uint64_t at_ms, const struct engine_submit *submit);
void model_lose_device(struct model *model, uint64_t at_ms, uint32_t device);
/* Until nothing is left to happen. Aborts on a broken promise, with seed and step. */
void model_run(struct model *model);

struct model_result {
    uint64_t end_ms, first_start_ms, last_start_end_ms; /* device work: first begin, last end */
    uint64_t device_busy_ms[ENGINE_DEVICES_MAX];
    uint64_t lease_peak;
    uint64_t evictions, strikes, devices_off, restarts;
    uint64_t steps, jobs, ok, failed, cancelled, refused, retries;
    uint64_t finished_hash; /* of all actions in order: equal for equal seeds */
};
void model_result(const struct model *model, struct model_result *out);

#endif
