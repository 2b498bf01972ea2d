/* Timers of an event loop: a binary heap of things that want to be looked at by a certain time. Each thing
 * embeds one. A timer that fires early is fine (its owner looks at what is due and sets it again), so
 * owners move deadlines forward without touching the heap. O(log n) a change. */
#ifndef CUZK_SERVE_GRPC_TIMERS_H
#define CUZK_SERVE_GRPC_TIMERS_H

#include "base/status.h"
#include <stdint.h>

struct timer {
    uint64_t at_ms;
    size_t place; /* in the heap, from 1; 0: not set */
    void (*fire)(struct timer *timer, uint64_t now_ms);
};

struct timers {
    struct timer **heap; /* from 1 */
    size_t count, capacity;
};

void timers_end(struct timers *timers);
/* Room for `count` timers in all: called where things are made, so that timer_set() cannot fail. */
MUST_USE bool timers_room(struct timers *timers, size_t count);
/* Sets or moves; UINT64_MAX clears. */
void timer_set(struct timers *timers, struct timer *timer, uint64_t at_ms);
void timer_clear(struct timers *timers, struct timer *timer);
uint64_t timers_next(const struct timers *timers); /* UINT64_MAX: none */
/* Fires, once each and cleared before, what is due. */
void timers_run(struct timers *timers, uint64_t now_ms);

#endif
