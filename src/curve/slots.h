/* Workspaces for the tasks of one pool_run: as many as threads can work on it at the same time, claimed by a
 * task when it begins and released when it ends. Room-internal. */
#ifndef CUZK_CURVE_SLOTS_H
#define CUZK_CURVE_SLOTS_H

#include "base/status.h"
#include <stdatomic.h>
#include <stdint.h>

#define SLOTS_MAX 1024

struct slots {
    unsigned count;
    atomic_bool busy[SLOTS_MAX];
};

static inline void slots_start(struct slots *slots, unsigned count)
{
    CHECK(count >= 1 && count <= SLOTS_MAX);
    slots->count = count;
    for (unsigned i = 0; i < count; i++)
        atomic_init(&slots->busy[i], false);
}

/* A pool of n threads never runs more than n tasks of a batch at once, so one is always free. */
static inline unsigned slots_claim(struct slots *slots)
{
    for (unsigned i = 0; i < slots->count; i++)
        if (!atomic_exchange_explicit(&slots->busy[i], true, memory_order_acquire))
            return i;
    CHECK(false && "more tasks at once than threads");
    return 0;
}

static inline void slots_release(struct slots *slots, unsigned slot)
{
    atomic_store_explicit(&slots->busy[slot], false, memory_order_release);
}

/* Places in one block of memory, each 64-byte aligned: offsets first, memory later. */
static inline size_t layout_take(size_t *end, size_t bytes)
{
    size_t offset = *end;
    *end += (bytes + 63) / 64 * 64;
    return offset;
}

#endif
