/* See phases.h. */
#include "cmd/daemon/phases.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void phases_init(struct phases *p)
{
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
}

bool phases_begin(struct phases *p, const char *name, struct phase *ended)
{
    uint64_t now = monotonic_ms();
    bool one_ended = false;
    pthread_mutex_lock(&p->lock);
    struct phase *last = p->count > 0 ? &p->list[p->count - 1] : NULL;
    if (last != NULL && last->ended_ms == 0) {
        last->ended_ms = now;
        *ended = *last;
        one_ended = true;
    }
    if (name != NULL) {
        struct phase *next = &p->list[p->count < PHASES_MAX ? p->count++ : PHASES_MAX - 1];
        *next = (struct phase){.began_ms = now};
        snprintf(next->name, sizeof next->name, "%s", name);
    }
    pthread_mutex_unlock(&p->lock);
    return one_ended;
}

size_t phases_look(struct phases *p, struct phase out[PHASES_MAX])
{
    pthread_mutex_lock(&p->lock);
    size_t count = p->count;
    memcpy(out, p->list, count * sizeof *out);
    pthread_mutex_unlock(&p->lock);
    return count;
}
