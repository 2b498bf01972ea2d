/* cuzk-bench sweep: what it tries, and what came of it. sweep_plan.c makes the list of runs and keeps the
 * results, sweep_run.c does one run, sweep_show.c writes table, CSV, JSON and picture. */
#ifndef CUZK_CMD_BENCH_SWEEP_H
#define CUZK_CMD_BENCH_SWEEP_H

#include "cmd/bench/bench.h"

#define SWEEP_KEYS_MAX   6
#define SWEEP_VALUES_MAX 32
#define SWEEP_RUNS_MAX   512
#define SWEEP_VALUE_MAX  48

struct sweep_key {
    char name[64]; /* of the configuration: "synthesis.partition_workers" */
    char values[SWEEP_VALUES_MAX][SWEEP_VALUE_MAX];
    size_t count;
};

enum sweep_outcome { SWEEP_NOT_YET, SWEEP_DONE, SWEEP_FAILED /* proofs */, SWEEP_NO_START, SWEEP_OUTCOMES };

struct sweep_run {
    size_t value[SWEEP_KEYS_MAX]; /* number of each key's value */
    enum sweep_outcome outcome;
    bool earlier; /* of a sweep that is continued */
    double ready_seconds, per_proof, steady, p50, p95;
    uint64_t completed, failed, peak_bytes;
    char reason[240]; /* why it did not come, or what failed first */
};

struct sweep {
    struct config base;
    struct sweep_key keys[SWEEP_KEYS_MAX];
    size_t keys_count;
    struct sweep_run runs[SWEEP_RUNS_MAX];
    size_t runs_count;
    const char *folder, *daemon;
    char daemon_found[CONFIG_TEXT_MAX];
    char **batch; /* options of `batch`, ends with NULL */
    uint64_t ready_ms, memory_limit, settle_ms;
    bool json;
};

/* ---- sweep_plan.c ---- */
/* "KEY=V1,V2,...". */
MUST_USE struct status sweep_add(struct sweep *s, const char *text);
/* The same keys from a file: [synthesis] partition_workers = ["8", "10"]. */
MUST_USE struct status sweep_add_file(struct sweep *s, const char *path);
/* All combinations, the last key fastest; every one is a configuration that loads. */
MUST_USE struct status sweep_combine(struct sweep *s);
const char *sweep_value(const struct sweep *s, const struct sweep_run *run, size_t key);
/* Results of an earlier sweep of the same keys, from results.csv. STATUS_MISSING: there are none. */
MUST_USE struct status sweep_recall(struct sweep *s);

/* ---- sweep_run.c ---- */
/* One configuration: written, started, measured, stopped. False if it was interrupted: it counts as not done.
 */
bool sweep_do(struct sweep *s, size_t number);
/* STATUS_BUSY: another cuzk-daemon holds a card. */
MUST_USE struct status sweep_alone(void);
/* Until as much memory is available as at first, or settle_ms have passed; false if interrupted. */
bool sweep_settle(const struct sweep *s, uint64_t available);
void sweep_catch_interrupts(void);

/* ---- sweep_show.c ---- */
/* results.csv, results.json, plot.svg, each written anew. */
MUST_USE struct status sweep_write(const struct sweep *s);
void sweep_table_head(const struct sweep *s);
void sweep_table_row(const struct sweep *s, const struct sweep_run *run);
/* The fastest run within the limit of memory; of those as fast as it within 1 % the one with least. NULL:
 * none. */
const struct sweep_run *sweep_best(const struct sweep *s);
void sweep_json(const struct sweep *s, FILE *out);
void sweep_svg(const struct sweep *s, FILE *out);

#endif
