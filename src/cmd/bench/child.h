/* A daemon that cuzk-bench starts: in a session of its own, what it says on its standard error kept, how it
 * ends told in one sentence. */
#ifndef CUZK_CMD_BENCH_CHILD_H
#define CUZK_CMD_BENCH_CHILD_H

#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    const char *program;
    int console; /* a file, opened for appending */
    int64_t console_start;
    char console_path[512]; /* "": in memory only */
    int wait_status;
};

/* Starts words[0] with words; its standard error, and with `all` its standard output too, go to the end of
 * console_path, or to memory if that cannot be written or is "". STATUS_MISSING or STATUS_IO if it cannot be
 * started at all. */
MUST_USE struct status child_start(struct child *child, char *const *words, const char *console_path,
                                   bool all);
/* Whether it has ended; then child_story tells how. */
bool child_ended(struct child *child);
/* How it ended, as an error: exit code, signal or loader failure, and its own last words. phase: what it was
 * at; may be "". */
struct status child_story(const struct child *child, const char *phase);
/* What to exit with after that: the child's own code, or EXIT_FAILED. */
int child_exit_code(const struct child *child);
void child_stop(struct child *child);   /* SIGTERM, then SIGKILL after ten seconds */
void child_forget(struct child *child); /* lets it run */

#endif
