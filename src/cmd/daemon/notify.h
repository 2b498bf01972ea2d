/* What a service manager is told (sd_notify's protocol: datagrams of "KEY=value" lines to the socket that
 * NOTIFY_SOCKET names), without its library. A thread of its own says how far the start is and asks for more
 * time while parameters load; feeds the watchdog, if there is one and only while the engine's loop goes
 * round, so that a daemon that is stuck is seen and restarted; and later keeps the status line. Nothing here
 * fails loudly: no manager, no words. */
#ifndef CUZK_CMD_DAEMON_NOTIFY_H
#define CUZK_CMD_DAEMON_NOTIFY_H

#include "base/status.h"

#include <stdint.h>

struct notify_now {
    bool waits;       /* starting or draining: the manager's time limit is pushed back */
    bool alive;       /* the engine's loop goes round, or there is none yet or any more */
    char status[160]; /* one line for people */
};

struct notify_options {
    const char *socket;        /* NOTIFY_SOCKET's value; NULL or "": nobody listens */
    const char *watchdog_usec; /* WATCHDOG_USEC's value; NULL or "": no watchdog */
    const char *watchdog_pid;  /* WATCHDOG_PID's: the watchdog is for this process only */
    void (*now)(void *context, struct notify_now *out); /* from the thread */
    void *context;
};

struct notify;
/* *out NULL, and success, where nobody listens. An error says why the socket cannot be used. */
MUST_USE struct status notify_start(struct notify **out, const struct notify_options *options);
/* One message, at once: "READY=1", "STOPPING=1". Any thread; NULL allowed. */
void notify_say(struct notify *n, const char *lines);
void notify_end(struct notify *n); /* NULL allowed */

#endif
