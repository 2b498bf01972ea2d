/* The daemon's log: lines to standard output and to a file, as text or JSON. Callers never block: lines go
 * through a bounded queue to a thread that writes them; when it is full they are counted and the count is
 * logged. Fatal lines are written at once, to standard error too. */
#ifndef CUZK_CMD_DAEMON_LOG_H
#define CUZK_CMD_DAEMON_LOG_H

#include "base/status.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log;

/* Logging to standard output only, before the configuration is known. */
MUST_USE struct status log_start(struct log **out);
/* Adds the file ("" for none); creates its folder if that is missing. Errors name the file. */
MUST_USE struct status log_open_file(struct log *log, const char *path);
void log_set(struct log *log, enum log_level level, bool json);
void log_line(struct log *log, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "error: MESSAGE: DETAIL; hint: HINT" everywhere, synchronously. */
void log_fatal(struct log *log, const struct status *s);
/* For the engine's callback: level 0..3. */
void log_callback(void *log, int level, const char *text);
void log_reopen(struct log *log); /* SIGHUP */
void log_end(struct log *log);    /* writes what waits */

#endif
