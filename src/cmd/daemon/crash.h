/* The last words. A daemon that dies of a signal of its own making (SIGSEGV, SIGBUS, SIGFPE, SIGILL, and
 * SIGABRT of a broken contract) says which, where, in which build, and what the log said last, on standard
 * error and in the log; then it writes the ending into the run record and lets the signal take its course.
 * There is no core file (blinding values pass through this process), so these lines are all there is.
 *
 * What runs in the handler calls nothing that is not async-signal-safe, takes no lock and allocates nothing.
 * It reads the events while another thread may write them: a torn line is better than none. */
#ifndef CUZK_CMD_DAEMON_CRASH_H
#define CUZK_CMD_DAEMON_CRASH_H

#include <stdbool.h>

/* Signals that somebody else (a sanitizer) handles are left alone. also: called last in the handler, if not
 * NULL; async-signal-safe. version: static. */
void crash_watch(const char *version, void (*also)(void));

/* One at a time, all three: */
void crash_event(int level, const char *text); /* a line of log */
void crash_log(int descriptor, bool json);     /* where the log goes besides standard output; -1: nowhere */
void crash_record(const char *path);           /* of the run record; its last line is "ending " */

/* Of this program, in hexadecimal, or "none". */
const char *crash_build_id(void);

#endif
