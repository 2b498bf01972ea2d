/* The memory plan: what proving will take, by purpose, before anything of it exists. Made before "ready",
 * from shapes alone (a large one takes 0.3 s to build), so that a setting that cannot work is refused with
 * its numbers and the largest that does, and not found out by the machine.
 *
 *     peak of a circuit = baseline + threads + parameters (its own, and those that are kept)
 *                       + waiting (permits + ready queue) + devices + finishing + what WinningPoSt may take
 *     fits              = peak + requests <= budget
 */
#ifndef CUZK_ENGINE_PLAN_H
#define CUZK_ENGINE_PLAN_H

#include "device/device.h"
#include "engine/engine.h"
#include "filecoin/registry.h"

struct plan_circuit {
    char name[CIRCUIT_NAME_MAX];
    enum proof_kind kind;
    bool preloaded;
    struct engine_circuit facts;
    uint64_t kept;                        /* parameters of others that stay beside it */
    uint64_t waiting, devices, finishing; /* bytes of partitions there when all places are taken */
    uint64_t peak;                        /* of the process */
    bool fits;
    uint32_t workers_most; /* the largest partition_workers that fits; 0: not even one does */
    char failure[160];     /* why a device cannot prove it; empty: it can */
};

struct plan {
    uint64_t budget;   /* of the process */
    uint64_t baseline; /* what it uses before anything is loaded */
    uint64_t threads, requests, winning;
    uint64_t host_budget; /* what the engine gets: parameters and partitions */
    uint64_t peak;        /* the highest of all that fit */
    bool fits;            /* all that are preloaded do, and all that could with fewer workers */
    uint32_t partition_workers, ready_capacity, device_workers, finishers;
    uint32_t circuits_count, worst; /* worst: the first that does not fit, or that with the highest peak */
    struct plan_circuit circuits[ENGINE_CIRCUITS_MAX];
};

struct plan_options {
    struct engine_config engine; /* workers, lookahead, devices; its budget is what comes out */
    uint64_t budget, baseline;
    uint64_t requests_most; /* daemon.max_queue_bytes */
    uint32_t threads;
    struct device *const *devices;
    uint32_t devices_count;
    struct device *spare; /* or NULL: plans for WinningPoSt too */
    /* Circuits to plan: those that are loaded at the start, and others that may be asked for. */
    const char *const *circuits;
    const bool *preloaded;
    uint32_t circuits_count;
};
/* STATUS_INVALID: a name that is none; or why a device cannot prove what is to be preloaded. That the plan
 * does not fit is no error of making it. */
MUST_USE struct status plan_make(struct plan *out, const struct plan_options *options);
/* Why it does not fit, with the numbers and the way out; STATUS_OK if it does. */
MUST_USE struct status plan_verdict(const struct plan *plan);
/* A line of text about one circuit: bytes by purpose and the predicted peak. */
void plan_line(char *out, size_t size, const struct plan *plan, uint32_t circuit);

/* What the engine accounts for a circuit: the most that any of the devices wants. */
MUST_USE struct status plan_facts(struct engine_circuit *out, const struct shape *shape,
                                  const struct params_counts *counts, struct device *const *devices,
                                  uint32_t devices_count);

#endif
