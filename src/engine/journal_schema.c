/* See journal_schema.h. Each version is a script that is run once, in a transaction with the new number; a
 * file that is new runs all of them. Scripts are never changed after a release. */
#include "engine/journal_schema.h"

#include "engine/journal.h"

#include <string.h>

#define APPLICATION_ID 0x63757a6b /* "cuzk" */

static const char *const SCRIPTS[] = {
    /* 1 */
    "CREATE TABLE jobs (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " request_id BLOB NOT NULL, circuit TEXT NOT NULL, digest BLOB NOT NULL,"
    " kind INTEGER NOT NULL, registered_proof INTEGER NOT NULL, sector_size INTEGER NOT NULL,"
    " miner INTEGER NOT NULL, sector_number INTEGER NOT NULL, partition_index INTEGER NOT NULL,"
    " randomness BLOB, comm_r_old BLOB, comm_r_new BLOB, comm_d_new BLOB, vanilla_count INTEGER NOT NULL,"
    " partitions INTEGER NOT NULL, priority INTEGER NOT NULL, detached INTEGER NOT NULL,"
    " accepted_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL,"
    " state INTEGER NOT NULL, ended_ms INTEGER NOT NULL, proof BLOB,"
    " code INTEGER NOT NULL, message TEXT NOT NULL, detail TEXT NOT NULL, hint TEXT NOT NULL,"
    " queue_wait_ms INTEGER NOT NULL, load_ms INTEGER NOT NULL, synthesis_ms INTEGER NOT NULL,"
    " device_ms INTEGER NOT NULL, total_ms INTEGER NOT NULL);"
    "CREATE INDEX jobs_ended ON jobs (state, ended_ms);",
    /* 2: ends of the process while a job ran */
    "ALTER TABLE jobs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;",
};
_Static_assert(sizeof SCRIPTS / sizeof SCRIPTS[0] == JOURNAL_VERSION, "one script a version");

struct status sqlite_status(sqlite3 *db, const char *path)
{
    switch (sqlite3_errcode(db)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return status_hint(status_error(STATUS_BUSY, "journal \"%.150s\" is in use by another process", path),
                           "stop that one, or give this daemon a journal.path of its own");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return status_hint(
            status_error(STATUS_INVALID, "journal \"%.150s\" is damaged: %.60s", path, sqlite3_errmsg(db)),
            "restore it, or move it, its -wal, .spool and .running away: the daemon then starts without the "
            "old jobs");
    default:
        return status_hint(status_error(STATUS_IO, "journal \"%.150s\": %.70s", path, sqlite3_errmsg(db)),
                           "see that its folder exists, can be written and has room; journal.path names it");
    }
}

struct status sqlite_run(sqlite3 *db, const char *path, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? status_ok() : sqlite_status(db, path);
}

/* The first number or text that a statement gives. */
static struct status first(sqlite3 *db, const char *path, const char *sql, int64_t *number, char text[80])
{
    sqlite3_stmt *statement = NULL;
    struct status s = status_ok();
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        s = sqlite_status(db, path);
    } else if (number != NULL) {
        *number = sqlite3_column_int64(statement, 0);
    } else {
        const char *found = (const char *)sqlite3_column_text(statement, 0);
        strncpy(text, found != NULL ? found : "", 79);
        text[79] = 0;
    }
    sqlite3_finalize(statement);
    return s;
}

static struct status whole(sqlite3 *db, const char *path)
{
    char verdict[80] = "";
    TRY(first(db, path, "PRAGMA quick_check(1)", NULL, verdict));
    if (strcmp(verdict, "ok") == 0)
        return status_ok();
    for (char *c = verdict; *c != 0; c++)
        if (*c == '\n')
            *c = ' ';
    return status_hint(status_error(STATUS_INVALID, "journal \"%.130s\" is damaged: %.70s", path, verdict),
                       "restore it, or move it, its -wal, .spool and .running away: the daemon then starts "
                       "without the old jobs");
}

static struct status migrate(sqlite3 *db, const char *path, int64_t from)
{
    char sql[96];
    for (int64_t v = from; v < JOURNAL_VERSION; v++) {
        TRY(sqlite_run(db, path, "BEGIN IMMEDIATE"));
        struct status s = sqlite_run(db, path, SCRIPTS[v]);
        sqlite3_snprintf(sizeof sql, sql, "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT",
                         APPLICATION_ID, (int)v + 1);
        if (!status_failed(&s))
            s = sqlite_run(db, path, sql);
        if (status_failed(&s)) {
            (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
            return s;
        }
    }
    return status_ok();
}

struct status schema_ready(sqlite3 *db, const char *path)
{
    int64_t application, version, tables;
    TRY(sqlite_run(db, path, "PRAGMA locking_mode=EXCLUSIVE")); /* first: then WAL needs no shared memory */
    /* Nothing is written before it is known to be ours. */
    TRY(first(db, path, "PRAGMA application_id", &application, NULL));
    TRY(first(db, path, "PRAGMA user_version", &version, NULL));
    TRY(first(db, path, "SELECT count(*) FROM sqlite_master", &tables, NULL));
    bool fresh = application == 0 && version == 0 && tables == 0;
    if (!fresh && application != APPLICATION_ID)
        return status_hint(
            status_error(STATUS_INVALID, "\"%.150s\" is a database, and not a journal of cuzk-daemon", path),
            "give journal.path a name that nothing else uses");
    if (version > JOURNAL_VERSION)
        return status_hint(status_error(STATUS_INVALID,
                                        "journal \"%.130s\" is of version %lld; this daemon knows up to %d",
                                        path, (long long)version, JOURNAL_VERSION),
                           "run the newer cuzk-daemon, or move it, its -wal, .spool and .running away to "
                           "start without the old jobs");
    TRY(whole(db, path));
    TRY(sqlite_run(db, path, "PRAGMA journal_mode=WAL"));
    TRY(sqlite_run(db, path, "PRAGMA synchronous=FULL"));
    TRY(migrate(db, path, version));
    /* Take the lock now, not with the first job. */
    return sqlite_run(db, path, "BEGIN IMMEDIATE; COMMIT");
}
