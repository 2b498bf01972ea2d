/* What the tool writes: progress on a terminal, results as text or JSON, errors. */
#ifndef CUZK_CMD_CUZK_OUTPUT_H
#define CUZK_CMD_CUZK_OUTPUT_H

#include "cuzk/cuzk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* A cuzk_progress: a bar on standard error, if that is a terminal and the work takes longer than two seconds.
 */
void progress_bar(void *context, const char *what, uint64_t done, uint64_t total);
void progress_clear(void);
/* The same from a counter that other threads advance, until progress_watch_end; with total 0 the seconds that
 * have passed. `what` must outlive it. */
struct progress_watch {
    pthread_t thread;
    atomic_bool stop;
    bool running;
    const char *what;
    atomic_ullong *done;
    uint64_t total;
};
void progress_watch_start(struct progress_watch *watch, const char *what, atomic_ullong *done,
                          uint64_t total);
void progress_watch_end(struct progress_watch *watch);

/* "error: ...", detail and hint on standard error; with json, one object on standard output too. Returns the
 * exit code. */
int report_error(const struct cuzk_error *error, bool json);

double seconds_now(void); /* monotonic */
uint64_t peak_rss_bytes(void);

void print_json_string(const char *text); /* quoted and escaped, on standard output */
void write_json_string(FILE *stream, const char *text);

/* A flat JSON object on standard output, or aligned "name: value" lines. */
struct result {
    bool json, started;
};
void result_text(struct result *r, const char *name, const char *value);
void result_number(struct result *r, const char *name, uint64_t value);
void result_seconds(struct result *r, const char *name, double value);
void result_bytes(struct result *r, const char *name, uint64_t bytes); /* text: in MiB or GiB, too */
void result_hex(struct result *r, const char *name, const uint8_t *bytes, size_t size);
void result_bool(struct result *r, const char *name, bool value);
int result_end(struct result *r); /* EXIT_DONE, or EXIT_FAILED if standard output could not be written */

#endif
