/* The daemon's memory while it works: anonymous + shared, and resident, the highest seen. Read from
 * /proc/PID/status, which costs microseconds and holds no lock of the process, unlike smaps_rollup. */
#ifndef CUZK_CMD_BENCH_SAMPLER_H
#define CUZK_CMD_BENCH_SAMPLER_H

#include "cmd/bench/bench.h"

struct sampler {
    char pid[24]; /* "": not known, not on this machine */
    uint64_t used, resident, peak_used, peak_resident;
};
void sampler_start(struct sampler *sampler, pid_t pid);
void sampler_take(struct sampler *sampler);

#endif
