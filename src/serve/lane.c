/* See lane.h. */
#include "serve/lane.h"

#include "base/mem.h"
#include "base/signals.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>

struct lane {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lane_task *first[PRIORITY_COUNT], **last[PRIORITY_COUNT];
    size_t length;
    bool ending;
    unsigned threads;
    pthread_t thread[];
};

static struct lane_task *take(struct lane *lane)
{
    for (int p = 0; p < PRIORITY_COUNT; p++) {
        struct lane_task *task = lane->first[p];
        if (task == NULL)
            continue;
        lane->first[p] = task->next;
        if (task->next == NULL)
            lane->last[p] = &lane->first[p];
        lane->length--;
        return task;
    }
    return NULL;
}

static void *thread_main(void *context)
{
    struct lane *lane = context;
    pthread_mutex_lock(&lane->lock);
    for (;;) {
        struct lane_task *task = take(lane);
        if (task != NULL) {
            pthread_mutex_unlock(&lane->lock);
            task->run(task);
            pthread_mutex_lock(&lane->lock);
        } else if (lane->ending) {
            break;
        } else {
            pthread_cond_wait(&lane->changed, &lane->lock);
        }
    }
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

struct status lane_start(struct lane **out, unsigned threads, const char *name)
{
    struct lane *lane = mem_alloc_zero(1, sizeof *lane + threads * sizeof *lane->thread);
    if (lane == NULL)
        return mem_failed("threads of the server", threads, sizeof *lane->thread);
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->changed, NULL);
    for (int p = 0; p < PRIORITY_COUNT; p++)
        lane->last[p] = &lane->first[p];
    sigset_t all, before;
    signals_not_for_threads(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = 0;
    while (error == 0 && lane->threads < threads) {
        error = pthread_create(&lane->thread[lane->threads], NULL, thread_main, lane);
        if (error == 0)
            pthread_setname_np(lane->thread[lane->threads++], name);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        lane_end(lane);
        return status_error(STATUS_MEMORY, "cannot start a thread of the server: %s", strerrordesc_np(error));
    }
    *out = lane;
    return status_ok();
}

size_t lane_length(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    size_t length = lane->length;
    pthread_mutex_unlock(&lane->lock);
    return length;
}

void lane_add(struct lane *lane, struct lane_task *task, enum priority priority)
{
    task->next = NULL;
    pthread_mutex_lock(&lane->lock);
    *lane->last[priority] = task;
    lane->last[priority] = &task->next;
    lane->length++;
    pthread_cond_signal(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
}

void lane_end(struct lane *lane)
{
    if (lane == NULL)
        return;
    pthread_mutex_lock(&lane->lock);
    lane->ending = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
    for (unsigned i = 0; i < lane->threads; i++)
        pthread_join(lane->thread[i], NULL);
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->lock);
    mem_free(lane);
}
