/* See timers.h. */
#include "serve/grpc/timers.h"

#include "base/mem.h"

void timers_end(struct timers *timers)
{
    CHECK(timers->count == 0);
    mem_free(timers->heap);
    timers->heap = NULL;
}

bool timers_room(struct timers *timers, size_t count)
{
    if (count + 1 <= timers->capacity)
        return true;
    size_t capacity = 2 * (count + 1);
    struct timer **heap = mem_grow(timers->heap, timers->capacity, capacity, sizeof *heap);
    if (heap == NULL)
        return false;
    timers->heap = heap;
    timers->capacity = capacity;
    return true;
}

static void put(struct timers *timers, size_t place, struct timer *timer)
{
    timers->heap[place] = timer;
    timer->place = place;
}

/* Moves the timer at `place` up or down to where it belongs. */
static void settle(struct timers *timers, size_t place)
{
    struct timer **heap = timers->heap, *t = heap[place];
    while (place > 1 && heap[place / 2]->at_ms > t->at_ms) {
        put(timers, place, heap[place / 2]);
        place /= 2;
    }
    for (size_t child; (child = 2 * place) <= timers->count; place = child) {
        if (child < timers->count && heap[child + 1]->at_ms < heap[child]->at_ms)
            child++;
        if (heap[child]->at_ms >= t->at_ms)
            break;
        put(timers, place, heap[child]);
    }
    put(timers, place, t);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t at_ms)
{
    if (at_ms == UINT64_MAX) {
        timer_clear(timers, timer);
        return;
    }
    timer->at_ms = at_ms;
    if (timer->place == 0) {
        CHECK(timers->count + 1 < timers->capacity);
        put(timers, ++timers->count, timer);
    }
    settle(timers, timer->place);
}

void timer_clear(struct timers *timers, struct timer *timer)
{
    size_t place = timer->place;
    if (place == 0)
        return;
    timer->place = 0;
    struct timer *last = timers->heap[timers->count--];
    if (last != timer) {
        put(timers, place, last);
        settle(timers, place);
    }
}

uint64_t timers_next(const struct timers *timers)
{
    return timers->count == 0 ? UINT64_MAX : timers->heap[1]->at_ms;
}

void timers_run(struct timers *timers, uint64_t now_ms)
{
    while (timers->count != 0 && timers->heap[1]->at_ms <= now_ms) {
        struct timer *t = timers->heap[1];
        timer_clear(timers, t);
        t->fire(t, now_ms);
    }
}
