/* The ledger's contract in its simplest form, until base/ has its own: one lock, one list, nothing quick. */
#include "base/ledger.h"

#include <pthread.h>
#include <stdlib.h>

struct waiter {
    struct waiter *next;
    uint64_t ticket, bytes;
    enum priority priority;
    enum ledger_class class;
    const char *purpose;
    ledger_granted *granted;
    void *context;
};
struct ledger {
    pthread_mutex_t lock;
    uint64_t limit[LEDGER_CLASSES], used[LEDGER_CLASSES], reserve[LEDGER_CLASSES], tickets;
    struct waiter *waiters;
};

struct status ledger_make(struct ledger **out, const uint64_t limits[LEDGER_CLASSES])
{
    struct ledger *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    pthread_mutex_init(&l->lock, NULL);
    for (int i = 0; i < LEDGER_CLASSES; i++)
        l->limit[i] = limits[i];
    *out = l;
    return status_ok();
}

void ledger_end(struct ledger *l)
{
    for (int i = 0; i < LEDGER_CLASSES; i++)
        CHECK(l->used[i] == 0);
    CHECK(l->waiters == NULL);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void ledger_set_reserve(struct ledger *l, enum ledger_class class, uint64_t bytes)
{
    l->reserve[class] = bytes;
}

static bool fits(const struct ledger *l, const struct waiter *w)
{
    uint64_t limit = l->limit[w->class] - (w->priority == PRIORITY_CRITICAL ? 0 : l->reserve[w->class]);
    return l->used[w->class] + w->bytes <= limit;
}

static void serve(struct ledger *l)
{
    for (;;) {
        pthread_mutex_lock(&l->lock);
        struct waiter **best = NULL;
        for (struct waiter **w = &l->waiters; *w != NULL; w = &(*w)->next)
            if (best == NULL || (*w)->priority < (*best)->priority)
                best = w;
        struct waiter *w = best != NULL && fits(l, *best) ? *best : NULL;
        if (w != NULL) {
            *best = w->next;
            l->used[w->class] += w->bytes;
        }
        pthread_mutex_unlock(&l->lock);
        if (w == NULL)
            return;
        struct lease lease = {l, w->class, w->bytes, w->purpose};
        w->granted(w->context, &lease);
        free(w);
    }
}

struct status ledger_wait(struct ledger *l, uint64_t *ticket, enum ledger_class class, uint64_t bytes,
                          enum priority priority, const char *purpose, ledger_granted *granted, void *context)
{
    struct waiter *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    *w = (struct waiter){NULL, 0, bytes, priority, class, purpose, granted, context};
    pthread_mutex_lock(&l->lock);
    uint64_t used = l->used[class];
    l->used[class] = 0;
    bool ever = fits(l, w);
    l->used[class] = used;
    *ticket = w->ticket = ++l->tickets;
    struct waiter **last = &l->waiters;
    while (*last != NULL)
        last = &(*last)->next;
    if (ever)
        *last = w;
    pthread_mutex_unlock(&l->lock);
    if (!ever) {
        free(w);
        return status_error(STATUS_MEMORY, "%s: %llu bytes can never be reserved, the limit is %llu", purpose,
                            (unsigned long long)bytes, (unsigned long long)l->limit[class]);
    }
    serve(l);
    return status_ok();
}

bool ledger_withdraw(struct ledger *l, uint64_t ticket)
{
    bool found = false;
    pthread_mutex_lock(&l->lock);
    for (struct waiter **w = &l->waiters; *w != NULL; w = &(*w)->next)
        if ((*w)->ticket == ticket) {
            struct waiter *gone = *w;
            *w = gone->next;
            free(gone);
            found = true;
            break;
        }
    pthread_mutex_unlock(&l->lock);
    if (found)
        serve(l);
    return found;
}

void lease_end(struct lease *lease)
{
    struct ledger *l = lease->ledger;
    pthread_mutex_lock(&l->lock);
    l->used[lease->class] -= lease->bytes;
    lease->bytes = 0;
    pthread_mutex_unlock(&l->lock);
    serve(l);
}

void ledger_look(struct ledger *l, enum ledger_class class, struct ledger_view *out)
{
    pthread_mutex_lock(&l->lock);
    *out = (struct ledger_view){.limit = l->limit[class], .used = l->used[class]};
    for (struct waiter *w = l->waiters; w != NULL; w = w->next) {
        out->waiting++;
        out->waiting_bytes += w->bytes;
    }
    pthread_mutex_unlock(&l->lock);
}
