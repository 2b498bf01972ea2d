/* The run record: one small file in state_dir that says what the present or the last run is or was: pid, boot
 * id, start, configuration, log, the phase reached, how it ended. Written anew at every phase through a
 * temporary name, so that a run that was killed can be explained afterwards. Also the lock that keeps a
 * second daemon from the same state_dir. */
#ifndef CUZK_CMD_DAEMON_RUN_RECORD_H
#define CUZK_CMD_DAEMON_RUN_RECORD_H

#include "base/status.h"

#include <stdint.h>

struct run_record {
    char version[32], boot_id[40], config[512], log[512], listen[512], phase[64], ending[256];
    int64_t pid, started, phase_time; /* Unix seconds */
    uint64_t start_ticks; /* of the process, in /proc/PID/stat: with pid and boot id, one process for ever */
    /* What the kernel's out-of-memory killer had ended at the start: in the cgroup (a new one, under a new
     * count, is made when systemd restarts a service), and on the machine. UINT64_MAX: not known. */
    uint64_t oom_kills, oom_kills_machine;
};

struct run_lock {
    int descriptor;
};

/* Makes state_dir, takes the lock; STATUS_BUSY naming the other daemon's pid if it is held. */
MUST_USE struct status run_record_lock(struct run_lock *lock, const char *state_dir);
void run_record_unlock(struct run_lock *lock);

/* A record of this process, phase "starting". */
void run_record_self(struct run_record *out, const char *version);
MUST_USE struct status run_record_write(const struct run_record *record, const char *state_dir);
/* Of the file; its last line is "ending " until the run has ended. */
void run_record_path(char out[512], const char *state_dir);
/* STATUS_MISSING if there is none. */
MUST_USE struct status run_record_read(struct run_record *out, const char *state_dir);
/* Whether its process lives. */
bool run_record_alive(const struct run_record *record);
/* One line on how a run without an ending ended: killed (with the cgroup's count of OOM kills since), power
 * loss, unknown. */
void run_record_explain(char *out, size_t size, const struct run_record *record);

#endif
