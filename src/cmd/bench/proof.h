/* One Prove call: from a number of the batch to its outcome. */
#ifndef CUZK_CMD_BENCH_PROOF_H
#define CUZK_CMD_BENCH_PROOF_H

#include "cmd/bench/input.h"

struct proof {
    double started, ended; /* of seconds_now() */
    bool over, completed;
    uint8_t *bytes; /* kept only if asked for; mem_free */
    size_t size;
    char job_id[64], error[512];
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
    uint32_t *running; /* counted down at the end */
    bool keep;
};

/* Starts the call; `proof` must stay where it is until proof->over. */
MUST_USE struct status proof_start(struct proof *proof, struct channel *channel, const struct input *input,
                                   uint64_t number);

#endif
