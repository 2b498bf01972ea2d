/* Shared by journal_keep.c and journal_replay.c. */
#ifndef CUZK_ENGINE_JOURNAL_KEEP_INTERNAL_H
#define CUZK_ENGINE_JOURNAL_KEEP_INTERNAL_H

#include "engine/journal.h"
#include "engine/journal_running.h"
#include "engine/service_internal.h"

#define BATCH_MAX 64

/* A result of a former run: the state machine does not know it. */
struct loaded {
    struct record *record;
    uint64_t until_ms;
};

struct keeper {
    struct engine_service *service;
    struct journal *journal;
    struct running *running;
    uint64_t retention_ms, retry_ms, wait_ms;
    pthread_t thread;
    bool runs, stop, degraded, slow;
    pthread_cond_t work;
    struct record *first, **last; /* queued */
    struct record *batch[BATCH_MAX];
    struct journal_entry entries[BATCH_MAX]; /* the thread's */
    size_t batch_count;
    uint64_t written;
    uint64_t try_at_ms, forget_at_ms;
    struct loaded *loaded; /* by until_ms */
    size_t loaded_first, loaded_count, loaded_capacity;
};

int64_t wall_clock_ms(void);

#endif
