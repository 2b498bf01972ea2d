/* The signals that threads of a library leave to the program's own: all but faults. A fault (SIGSEGV and its
 * like) is raised in the thread that commits it, and where it is blocked the kernel ends the process without
 * a word: no handler could tell what happened. */
#ifndef CUZK_BASE_SIGNALS_H
#define CUZK_BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* What a thread is to be created with blocked. */
static inline void signals_not_for_threads(sigset_t *out)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigfillset(out);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(out, faults[i]);
}

#endif
