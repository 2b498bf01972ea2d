/* Inside of the model: what it keeps of the world around the state machine. */
#ifndef CUZK_TESTS_ENGINE_MODEL_INTERNAL_H
#define CUZK_TESTS_ENGINE_MODEL_INTERNAL_H

#include "model.h"

#include <inttypes.h>

enum spot { S_REST, S_SYNTHESIS, S_DOOR, S_QUEUE, S_DEVICE, S_STAND, S_FINISH, S_DONE, S_GONE };

struct mpart {
    enum spot spot;
    uint64_t token; /* of the answer that will come; 0: none */
    uint64_t answer_ms;
    uint64_t held;
    uint32_t device, starts;
    bool stopped;
};

struct mjob {
    job_id id;
    struct engine_submit submit;
    uint64_t created_ms, orphan_since, ended_ms;
    bool opening, opened, verifying, ended, closed, stopped, begun;
    uint64_t token, answer_ms; /* of open or verify */
    struct mpart parts[ENGINE_PARTITIONS_MAX];
};

struct item {
    uint64_t at, sequence, token;
    uint32_t epoch; /* restarts before it */
    bool arrival;
    struct engine_event event;
};

struct model {
    struct model_options o;
    struct engine *engine;
    uint64_t now, stepped_ms, random, sequence, token;
    struct item *heap;
    size_t heap_count, heap_capacity;
    struct mjob **jobs; /* by id */
    uint64_t jobs_capacity, next_id;
    job_id *live; /* not closed */
    size_t live_count, live_capacity;
    uint64_t held[2], arrivals_left, loads_out, budget, parameters, lowered_until;
    bool ready[4], lost[ENGINE_DEVICES_MAX], drained, draining;
    uint32_t strikes[ENGINE_DEVICES_MAX], epoch;
    uint64_t device_free[ENGINE_DEVICES_MAX];
    struct model_result result;
};

void model_broken(const struct model *m, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
#define PROMISE(m, condition, ...)                                                                           \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            model_broken(m, __VA_ARGS__);                                                                    \
    } while (0)

/* ---- model_order.c: what comes next ---- */
/* What is to come; event NULL: a random job. */
void model_push(struct model *m, uint64_t at, uint64_t token, const struct engine_event *event);
struct item model_pop(struct model *m);
/* The order of jobs, reckoned again from its description: below 0 if a comes first. */
int model_compare(const struct model *m, const struct mjob *a, const struct mjob *b);
/* No other job of its sort that has a partition at the spot comes before this one. */
void model_check_first(const struct model *m, const struct mjob *job, uint32_t k, enum spot spot);
/* The same for a job that opens or is verified. */
void model_check_job_first(const struct model *m, const struct mjob *job, bool open);
/* The ready queue as the model sees it: what stands at the door comes in, in order, as there is room. */
void model_fill_queue(struct model *m);

#endif
