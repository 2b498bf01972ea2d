/* See notify.h. */
#include "cmd/daemon/notify.h"

#include "base/mem.h"
#include "base/signals.h"
#include "cmd/daemon/phases.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS  1000                             /* the thread's pace, or a third of the watchdog's time */
#define EXTEND_MS 5000                             /* how often more time is asked for */
#define EXTEND_TO "EXTEND_TIMEOUT_USEC=60000000\n" /* and how much: from then on */

struct notify {
    struct notify_options options;
    int socket;
    struct sockaddr_un name;
    socklen_t name_size;
    uint64_t watchdog_ms, round_ms; /* 0: no watchdog */
    pthread_t thread;
    bool runs, stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* A manager that does not read its messages must not hold us up: whoever has tries left waits a little. */
static bool say(struct notify *n, const char *lines, unsigned tries)
{
    static const struct timespec a_little = {0, 10000000};
    for (;;) {
        ssize_t sent = sendto(n->socket, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT,
                              (const struct sockaddr *)&n->name, n->name_size);
        if (sent >= 0)
            return true;
        if (errno == EINTR)
            continue;
        if ((errno != EAGAIN && errno != ENOBUFS) || tries-- == 0)
            return false;
        nanosleep(&a_little, NULL);
    }
}

void notify_say(struct notify *n, const char *lines)
{
    if (n != NULL)
        (void)say(n, lines, 100);
}

static void round_once(struct notify *n, uint64_t *extended_ms, char last[160])
{
    struct notify_now now = {.alive = true};
    char text[512];
    size_t used = 0;
    uint64_t time = monotonic_ms();
    n->options.now(n->options.context, &now);
    bool extend = now.waits && (*extended_ms == 0 || time - *extended_ms >= EXTEND_MS);
    bool status = strcmp(now.status, last) != 0;
    text[0] = 0;
    if (n->watchdog_ms != 0 && now.alive)
        used += (size_t)snprintf(text + used, sizeof text - used, "WATCHDOG=1\n");
    if (extend)
        used += (size_t)snprintf(text + used, sizeof text - used, EXTEND_TO);
    if (status)
        used += (size_t)snprintf(text + used, sizeof text - used, "STATUS=%s\n", now.status);
    if (used == 0 || !say(n, text, 0))
        return;
    if (extend)
        *extended_ms = time;
    if (status)
        snprintf(last, 160, "%s", now.status);
}

static void *run(void *argument)
{
    struct notify *n = argument;
    char last[160] = "";
    uint64_t extended_ms = 0;
    pthread_mutex_lock(&n->lock);
    while (!n->stop) {
        pthread_mutex_unlock(&n->lock);
        round_once(n, &extended_ms, last);
        pthread_mutex_lock(&n->lock);
        uint64_t until = monotonic_ms() + n->round_ms;
        struct timespec t = {(time_t)(until / 1000), (long)(until % 1000) * 1000000};
        while (!n->stop && pthread_cond_timedwait(&n->changed, &n->lock, &t) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

/* "/path", or "@name" in the abstract space. */
static struct status name_of(struct notify *n, const char *socket_name)
{
    size_t length = strlen(socket_name);
    if ((socket_name[0] != '/' && socket_name[0] != '@') || length >= sizeof n->name.sun_path)
        return status_error(STATUS_INVALID,
                            "NOTIFY_SOCKET is \"%.100s\": neither an absolute path nor @name, or too long",
                            socket_name);
    n->name.sun_family = AF_UNIX;
    memcpy(n->name.sun_path, socket_name, length);
    if (socket_name[0] == '@')
        n->name.sun_path[0] = 0;
    n->name_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return status_ok();
}

static uint64_t watchdog_ms(const struct notify_options *o)
{
    if (o->watchdog_usec == NULL || o->watchdog_usec[0] == 0)
        return 0;
    if (o->watchdog_pid != NULL && o->watchdog_pid[0] != 0 &&
        strtoll(o->watchdog_pid, NULL, 10) != (long long)getpid())
        return 0;
    return strtoull(o->watchdog_usec, NULL, 10) / 1000;
}

static struct status start_thread(struct notify *n)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    pthread_mutex_init(&n->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&n->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    signals_not_for_threads(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&n->thread, NULL, run, n);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    n->runs = error == 0;
    return error == 0
               ? status_ok()
               : status_error(STATUS_MEMORY, "cannot start the thread that tells the service manager: %s",
                              strerror(error));
}

struct status notify_start(struct notify **out, const struct notify_options *options)
{
    *out = NULL;
    if (options->socket == NULL || options->socket[0] == 0)
        return status_ok();
    struct notify *n = mem_alloc_zero(1, sizeof *n);
    if (n == NULL)
        return mem_failed("service manager's socket", 1, sizeof *n);
    n->options = *options;
    n->watchdog_ms = watchdog_ms(options);
    n->round_ms = n->watchdog_ms != 0 && n->watchdog_ms / 3 < ROUND_MS ? n->watchdog_ms / 3 + 1 : ROUND_MS;
    struct status s = name_of(n, options->socket);
    n->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (!status_failed(&s) && n->socket < 0)
        s = status_error(STATUS_IO, "cannot make a socket to tell the service manager: %s", strerror(errno));
    if (!status_failed(&s))
        s = start_thread(n);
    if (status_failed(&s)) {
        notify_end(n);
        return s;
    }
    *out = n;
    return s;
}

void notify_end(struct notify *n)
{
    if (n == NULL)
        return;
    if (n->runs) {
        pthread_mutex_lock(&n->lock);
        n->stop = true;
        pthread_cond_signal(&n->changed);
        pthread_mutex_unlock(&n->lock);
        pthread_join(n->thread, NULL);
        pthread_mutex_destroy(&n->lock);
        pthread_cond_destroy(&n->changed);
    }
    if (n->socket >= 0)
        close(n->socket);
    mem_free(n);
}
