/* The machine looked at again while running: see preflight.h. A thread of its own, because reading /proc of a
 * machine that is short of memory can take its time, and the engine must not wait for it. */
#include "base/mem.h"
#include "cmd/daemon/machine.h"
#include "cmd/daemon/preflight.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define LOOK_MS 1000

struct watch {
    struct watch_options o;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool end;
};

/* What the process may use now is what it uses and what is left; the engine gets that less what was never
 * the engine's. */
static void look(const struct watch *w)
{
    const struct preflight *p = w->o.preflight;
    struct machine_memory machine;
    struct service_memory told = {.budget = p->budget};
    struct ledger_view requests;
    uint64_t used, resident;
    machine_memory(&machine, machine_root());
    process_memory(&used, &resident, "self");
    ledger_look(w->o.ledger, LEDGER_HOST, &requests);
    uint64_t allowed = machine_budget(&machine, w->o.safety_margin), fixed = p->plan.budget - p->budget;
    allowed = allowed > UINT64_MAX - used ? UINT64_MAX : allowed + used;
    if (!w->o.overcommit && allowed < p->plan.budget)
        told.budget = allowed > fixed ? allowed - fixed : 0;
    /* Nothing left for proofs: requests wait where they are, too. */
    ledger_set_shortage(w->o.ledger, LEDGER_HOST, told.budget == 0 ? 0 : UINT64_MAX);
    told.process_bytes = used;
    told.mapped_bytes = resident > used ? resident - used : 0;
    told.other_bytes = p->plan.baseline + p->plan.threads + requests.used;
    service_memory(w->o.service, &told);
}

static void *watch_main(void *argument)
{
    struct watch *w = argument;
    struct timespec t;
    pthread_mutex_lock(&w->lock);
    while (!w->end) {
        pthread_mutex_unlock(&w->lock);
        look(w);
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_sec += LOOK_MS / 1000;
        pthread_mutex_lock(&w->lock);
        while (!w->end && pthread_cond_timedwait(&w->wake, &w->lock, &t) == 0) {
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct status watch_start(struct watch **out, const struct watch_options *options)
{
    pthread_condattr_t monotonic;
    struct watch *w = mem_alloc_zero(1, sizeof *w);
    *out = NULL;
    if (w == NULL)
        return mem_failed("watch", 1, sizeof *w);
    w->o = *options;
    CHECK(pthread_mutex_init(&w->lock, NULL) == 0);
    CHECK(pthread_condattr_init(&monotonic) == 0);
    CHECK(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&w->wake, &monotonic) == 0);
    pthread_condattr_destroy(&monotonic);
    int error = pthread_create(&w->thread, NULL, watch_main, w);
    if (error != 0) {
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
        mem_free(w);
        return status_error(STATUS_MEMORY, "cannot start a thread to watch the memory: %s", strerror(error));
    }
    *out = w;
    return status_ok();
}

void watch_end(struct watch *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->end = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
}
