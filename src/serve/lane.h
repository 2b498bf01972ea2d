/* Threads for work that the server's thread must not wait for, in order of priority. */
#ifndef CUZK_SERVE_LANE_H
#define CUZK_SERVE_LANE_H

#include "base/pool.h"

struct lane;
struct lane_task {
    struct lane_task *next;
    void (*run)(struct lane_task *task);
};

MUST_USE struct status lane_start(struct lane **out, unsigned threads, const char *name);
/* Tasks that wait now, those that run apart. */
size_t lane_length(struct lane *lane);
void lane_add(struct lane *lane, struct lane_task *task, enum priority priority);
void lane_end(struct lane *lane); /* runs what waits, then ends; NULL allowed */

#endif
