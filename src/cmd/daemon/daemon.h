/* The parts of the running daemon and its phases, each a function that main calls in order. */
#ifndef CUZK_CMD_DAEMON_DAEMON_H
#define CUZK_CMD_DAEMON_DAEMON_H

#include "cmd/daemon/config.h"
#include "cmd/daemon/log.h"
#include "cmd/daemon/machine.h"
#include "cmd/daemon/notify.h"
#include "cmd/daemon/phases.h"
#include "cmd/daemon/preflight.h"
#include "cmd/daemon/run_record.h"
#include "device/open.h"
#include "engine/service.h"
#include "serve/http/site.h"
#include "serve/proving.h"

struct daemon {
    struct config config;
    struct log *log;
    struct run_record record;
    struct run_lock lock;
    bool locked;
    /* the plan */
    uint64_t budget;
    uint32_t partition_workers, finishers, threads;
    /* what runs */
    struct devices devices; /* cards; none: the service opens the CPU */
    struct preflight preflight;
    struct watch *watch;
    struct ledger *ledger;
    struct engine_service *service;
    struct proving *proving;
    char address[160];
    /* what is told (outside.h) */
    struct phases phases;
    struct notify *notify;
    struct site *site; /* NULL: no daemon.status_listen */
    char status_address[160];
    int interrupted;                /* the signal that came while parameters loaded */
    pthread_mutex_t looking;        /* for those below, and held while the thread of `notify` looks */
    struct engine_service *watched; /* `service`, from its start to its end; else NULL */
    bool draining, stopping;
};

void daemon_block_signals(void);
/* Records the phase; ending NULL while it goes on. */
void daemon_phase(struct daemon *d, const char *phase, const char *ending);
/* State directory, lock, and one line on how the last run ended. */
MUST_USE struct status daemon_lock(struct daemon *d);
/* Budget and workers; refuses what the machine cannot hold unless memory.overcommit. */
MUST_USE struct status daemon_plan(struct daemon *d);
/* Engine, listener, parameters: until "ready". Success with `interrupted` set: told to end before that. */
MUST_USE struct status daemon_start(struct daemon *d);
/* Waits for signals; drains. The exit code. */
int daemon_serve(struct daemon *d);
void daemon_stop(struct daemon *d);
void daemon_finish(struct daemon *d, int code);

#endif
