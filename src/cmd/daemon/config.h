/* The daemon's configuration. One table of keys drives the file, the environment, --show-config and every
 * error message; each value knows where it came from. Order: built-in value, file, environment
 * CUZK_SECTION_KEY, flag. */
#ifndef CUZK_CMD_DAEMON_CONFIG_H
#define CUZK_CMD_DAEMON_CONFIG_H

#include "base/status.h"

#include <stdint.h>
#include <stdio.h>

#define CONFIG_LIST_MAX 64
#define CONFIG_TEXT_MAX 512

struct config_list {
    uint32_t count;
    bool set; /* given, be it empty */
    char *items[CONFIG_LIST_MAX];
};

#define BYTES_AUTO UINT64_MAX

struct config {
    struct {
        char listen[CONFIG_TEXT_MAX], status_listen[CONFIG_TEXT_MAX], socket_group[CONFIG_TEXT_MAX],
            state_dir[CONFIG_TEXT_MAX];
        bool insecure;
        uint64_t socket_mode, drain_timeout_ms, max_queue, max_queue_bytes;
    } daemon;
    struct {
        char param_cache[CONFIG_TEXT_MAX], residency[CONFIG_TEXT_MAX], shape_cache[CONFIG_TEXT_MAX];
        struct config_list preload, trusted_digests;
        bool allow_test_params;
    } srs;
    struct {
        uint64_t total_budget, safety_margin, eviction_min_idle_ms; /* total_budget: BYTES_AUTO */
        bool overcommit;
    } memory;
    struct {
        char backend[CONFIG_TEXT_MAX];
        struct config_list devices;
        bool require_all;
        uint64_t memory_limit; /* 0: none */
        uint64_t gpu_threads, gpu_workers_per_device;
    } gpus;
    struct {
        bool sort_by_type;
        uint64_t late_winning_ms, late_window_ms;
    } scheduler;
    struct {
        uint64_t threads, partition_workers;
    } synthesis;
    struct {
        bool enabled;
        uint64_t synthesis_lookahead;
    } pipeline;
    struct {
        char path[CONFIG_TEXT_MAX]; /* "": none */
        uint64_t retention_ms;
    } journal;
    struct {
        char level[CONFIG_TEXT_MAX], format[CONFIG_TEXT_MAX], file[CONFIG_TEXT_MAX];
    } logging;
    char file[CONFIG_TEXT_MAX]; /* the configuration file in use; "" if none */
    char warnings[16][CONFIG_TEXT_MAX];
    uint32_t warnings_count;
};

/* Built-in values; they depend on being root or not and on XDG_* and FIL_PROOFS_PARAMETER_CACHE. */
void config_defaults(struct config *c);
/* path NULL: the first of the usual places that exists, else none. Errors name file, line, key and the
 * nearest key. */
MUST_USE struct status config_load(struct config *c, const char *path);
/* Values from CUZK_SECTION_KEY. */
MUST_USE struct status config_environment(struct config *c);
/* One value by name, as from the file; `where` says whence in errors ("--listen"). */
MUST_USE struct status config_set(struct config *c, const char *key, const char *text, const char *where);
/* Contradictions and what needs more than one key: addresses that are not loopback, levels, modes. */
MUST_USE struct status config_check(const struct config *c);
/* Every key with its value, as a file that gives the same configuration. */
void config_show(const struct config *c, FILE *out);
void config_end(struct config *c);

/* "5GiB", "1.5 GB", "512": bytes; "5m", "250ms", "1.5h": milliseconds. False if it is neither. */
bool parse_bytes(uint64_t *out, const char *text);
bool parse_duration_ms(uint64_t *out, const char *text);

#endif
