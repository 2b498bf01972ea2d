/* Before "ready": what the configured workers will take of the machine's memory, said in the log and by
 * --check, and refused with the numbers and the largest setting that fits. While running the machine is
 * looked at again every second, so that proving pauses when others take its memory. */
#ifndef CUZK_CMD_DAEMON_PREFLIGHT_H
#define CUZK_CMD_DAEMON_PREFLIGHT_H

#include "cmd/daemon/config.h"
#include "cmd/daemon/log.h"
#include "device/open.h"
#include "engine/plan.h"
#include "engine/service.h"

#include "base/ledger.h"

struct preflight {
    struct engine_config engine; /* all of it but the times */
    struct plan plan;
    const char *preload[CONFIG_LIST_MAX + 1]; /* srs.preload, or what it is by default */
    uint32_t preload_count;
    struct engine_circuit facts[ENGINE_CIRCUITS_MAX]; /* by circuit, of those that were planned */
    uint64_t budget;                                  /* what the engine gets */
    uint64_t reserve; /* bytes of the requests' share that only WinningPoSt may use */
};

struct preflight_options {
    const struct config *config;
    const struct devices *devices; /* cards; none: the CPU */
    const char *const *circuits;   /* all that can be served */
    uint32_t circuits_count;
    uint64_t budget; /* of the process */
    uint32_t partition_workers, finishers, threads;
    bool automatic; /* partition_workers was not asked for: as many as fit */
};
/* STATUS_MEMORY with the numbers if the plan does not fit and memory.overcommit is not set. */
MUST_USE struct status preflight_make(struct preflight *out, const struct preflight_options *options,
                                      struct log *log);

/* The root of /proc and /sys: "", but in tests. */
const char *machine_root(void);

struct watch;
struct watch_options {
    const struct preflight *preflight;
    uint64_t safety_margin;
    bool overcommit; /* only tells what is used, and lowers nothing */
    struct engine_service *service;
    struct ledger *ledger;
};
/* A thread that tells the service every second what the machine allows and the process uses. */
MUST_USE struct status watch_start(struct watch **out, const struct watch_options *options);
void watch_end(struct watch *watch);

#endif
