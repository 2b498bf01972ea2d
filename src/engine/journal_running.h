/* Which jobs were being worked on when the process died, and whether it died of itself.
 *
 * A small file mapped shared: writing an id into it is a store to memory, which the kernel keeps even when
 * the process is killed at the next instruction. No sync: after a power loss it says nothing, and is not
 * asked (the boot id has changed). A process that was killed from outside is no job's fault; a crash is, and
 * so is the kernel's out-of-memory killer. */
#ifndef CUZK_ENGINE_JOURNAL_RUNNING_H
#define CUZK_ENGINE_JOURNAL_RUNNING_H

#include "base/status.h"

#include <stdint.h>

#define RUNNING_SLOTS 1024
#define RUNNING_NONE  (-1)

struct running;
/* Maps the file, made where it is missing, and calls back for each job that ran when the last process died.
 * Then it is empty. oom_kills: the cgroup's count now, UINT64_MAX if not known. */
MUST_USE struct status running_open(struct running **out, const char *path, uint64_t oom_kills,
                                    void (*each)(void *context, const char *id, bool crash), void *context);
/* A slot, or RUNNING_NONE when there is none: then this job is not watched. */
int running_begin(struct running *running, const char id[40]);
void running_end(struct running *running, int slot); /* RUNNING_NONE allowed */
void running_close(struct running *running);         /* NULL allowed */

/* Async-signal-safe: the process dies of itself. */
void running_crashed(void);

#endif
