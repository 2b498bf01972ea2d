/* Figures of a batch: pure functions of its proofs. */
#ifndef CUZK_CMD_BENCH_REPORT_H
#define CUZK_CMD_BENCH_REPORT_H

#include "cmd/bench/proof.h"

struct figures {
    size_t completed, failed;
    double wall, per_proof; /* from the first start to the last end; that divided by the completed proofs */
    double least, mean, p50, p95, most; /* of a proof, from its start to its end */
    /* Between completions once `concurrency` proofs have ended: the ramp apart. count 0: too few for that. */
    size_t steady_count;
    double steady, steady_spread;                   /* mean, standard deviation */
    double queue_wait, srs_load, synthesis, device; /* means of the daemon's own times, in seconds */
};

/* The q-quantile, 0 <= q <= 1, of sorted values, interpolated between neighbours; 0 for none. */
double quantile(const double *sorted, size_t count, double q);
/* False if memory is short. */
bool figures_of(struct figures *out, const struct proof *proofs, size_t count, size_t concurrency);

#endif
