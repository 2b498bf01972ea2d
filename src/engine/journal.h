/* The journal: accepted jobs and finished results on disk, so that what was acknowledged outlives the
 * process.
 *
 * Three things stand beside each other: PATH, an SQLite file in WAL mode with one row a job; PATH.spool/ID,
 * the vanilla bytes of a job that waits (journal_spool.h); PATH.running, which job ran when the process died
 * (journal_running.h). A row is committed only after its spool file is synced, and a spool file goes only
 * after the row says that the job has ended; so at every instant a waiting row has its bytes, and a file
 * without a row is rubbish that the next start sweeps away.
 *
 * Only one process may have a journal open, and only one thread may call it. All calls wait for the disk: the
 * engine calls them from a thread of their own (journal_keep.h). */
#ifndef CUZK_ENGINE_JOURNAL_H
#define CUZK_ENGINE_JOURNAL_H

#include "base/pool.h"
#include "engine/service.h"
#include "filecoin/request.h"

#define JOURNAL_VERSION 2

/* Numbers of the file: never changed. */
enum journal_state { JOURNAL_WAITING = 0, JOURNAL_COMPLETED = 1, JOURNAL_FAILED = 2, JOURNAL_CANCELLED = 3 };

/* A row. Everything is borrowed: from the caller when it is written, until the callback returns when read. */
struct journal_entry {
    const char *id, *request_id, *circuit;
    const uint8_t *digest;        /* 64 bytes, of the request's content */
    struct proof_request request; /* as read: without the vanilla bytes, vanilla_count is right */
    uint32_t partitions;
    enum priority priority;
    bool detached;
    int64_t accepted_ms, deadline_ms, ended_ms; /* Unix time; 0: none */
    enum journal_state state;
    const uint8_t *proof;
    size_t proof_size;
    struct status status;
    struct job_times times;
    uint32_t crashes, deaths; /* ends of the process while it ran: crashes, and without a known cause */
    bool spooled;             /* to be written: its bytes are on disk already */
};

struct journal;
/* Makes or opens it: checks that it is whole and ours, brings an older one to the present version, takes it
 * for this process alone. STATUS_BUSY: another process has it. STATUS_INVALID: damaged, newer, or not a
 * journal, with the way out as the hint; nothing is changed then. */
MUST_USE struct status journal_open(struct journal **out, const char *path);
void journal_close(struct journal *journal); /* NULL allowed */

/* All or none of the entries: bytes of the waiting ones first, then the rows in one transaction that is
 * synced when this returns; then the bytes of the ended ones are removed. */
MUST_USE struct status journal_write(struct journal *journal, const struct journal_entry *entries,
                                     size_t count);
/* One more process ended while the job ran. */
MUST_USE struct status journal_count_death(struct journal *journal, const char *id, bool crash);
/* Removes results that ended before this Unix time. */
MUST_USE struct status journal_forget(struct journal *journal, int64_t before_ms);
/* Whether it can write: writes something that changes nothing. */
MUST_USE struct status journal_probe(struct journal *journal);
/* Every row: the ended ones in the order of their ends, then those that wait in the order of acceptance, the
 * ones that a crash befell last. Also sweeps spool files that have none. */
MUST_USE struct status journal_read(struct journal *journal,
                                    void (*each)(void *context, const struct journal_entry *entry),
                                    void *context);
const char *journal_path(const struct journal *journal);

#endif
