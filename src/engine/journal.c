/* See journal.h. */
#include "engine/journal.h"

#include "base/mem.h"
#include "engine/journal_schema.h"
#include "engine/journal_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(PROOF_POREP == 0 && PROOF_WINNING == 1 && PROOF_WINDOW == 2 && PROOF_SNAP == 3 &&
                   PROOF_SNAP_POSEIDON == 4,
               "kinds are numbers of the file");
_Static_assert(PRIORITY_CRITICAL == 0 && PRIORITY_LOW == 3, "priorities are numbers of the file");

#define COLUMNS                                                                                              \
    "id, request_id, circuit, digest, kind, registered_proof, sector_size, miner, sector_number,"            \
    " partition_index, randomness, comm_r_old, comm_r_new, comm_d_new, vanilla_count, partitions, priority," \
    " detached, accepted_ms, deadline_ms, state, ended_ms, proof, code, message, detail, hint,"              \
    " queue_wait_ms, load_ms, synthesis_ms, device_ms, total_ms"

struct journal {
    sqlite3 *db;
    sqlite3_stmt *put, *death, *crash, *forget;
    char *path;
    int spool; /* the folder */
};

const char *journal_path(const struct journal *j)
{
    return j->path;
}

/* ---- opening ---- */

static struct status prepare(struct journal *j, sqlite3_stmt **out, const char *sql)
{
    return sqlite3_prepare_v3(j->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK
               ? status_ok()
               : sqlite_status(j->db, j->path);
}

static struct status prepare_all(struct journal *j)
{
    TRY(prepare(j, &j->put,
                "INSERT INTO jobs (" COLUMNS
                ") VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,"
                "?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,?31,?32)"
                " ON CONFLICT (id) DO UPDATE SET detached=excluded.detached,"
                " deadline_ms=excluded.deadline_ms, state=excluded.state, ended_ms=excluded.ended_ms,"
                " proof=excluded.proof, code=excluded.code, message=excluded.message, detail=excluded.detail,"
                " hint=excluded.hint, queue_wait_ms=excluded.queue_wait_ms, load_ms=excluded.load_ms,"
                " synthesis_ms=excluded.synthesis_ms, device_ms=excluded.device_ms,"
                " total_ms=excluded.total_ms"));
    TRY(prepare(j, &j->death, "UPDATE jobs SET deaths = deaths + 1 WHERE id = ?1 AND state = 0"));
    TRY(prepare(j, &j->crash, "UPDATE jobs SET crashes = crashes + 1 WHERE id = ?1 AND state = 0"));
    return prepare(j, &j->forget, "DELETE FROM jobs WHERE state <> 0 AND ended_ms < ?1");
}

static struct status open_spool(struct journal *j)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%.4000s.spool", j->path);
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        j->spool = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->spool < 0)
        return status_hint(status_error(STATUS_IO, "cannot use the journal's folder \"%.150s\": %s", folder,
                                        strerror(errno)),
                           "see that journal.path is in a folder that this user may write");
    return status_ok();
}

/* The file exists with rights for its owner alone before SQLite opens it. */
static struct status make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return status_hint(
            status_error(STATUS_IO, "cannot open journal \"%.150s\": %s", path, strerror(errno)),
            "set journal.path to a file in a folder that this user may write");
    close(fd);
    return status_ok();
}

struct status journal_open(struct journal **out, const char *path)
{
    struct journal *j = mem_alloc_zero(1, sizeof *j);
    size_t length = strlen(path) + 1;
    *out = NULL;
    if (j == NULL || (j->path = mem_alloc(length, 1)) == NULL) {
        mem_free(j);
        return mem_failed("journal", 1, sizeof *j);
    }
    memcpy(j->path, path, length);
    j->spool = -1;
    struct status s = make_file(path);
    if (!status_failed(&s) &&
        sqlite3_open_v2(path, &j->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL) != SQLITE_OK)
        s = sqlite_status(j->db, path);
    if (!status_failed(&s))
        s = schema_ready(j->db, path);
    if (!status_failed(&s))
        s = prepare_all(j);
    if (!status_failed(&s))
        s = open_spool(j);
    if (status_failed(&s)) {
        journal_close(j);
        return s;
    }
    *out = j;
    return s;
}

void journal_close(struct journal *j)
{
    if (j == NULL)
        return;
    sqlite3_finalize(j->put);
    sqlite3_finalize(j->death);
    sqlite3_finalize(j->crash);
    sqlite3_finalize(j->forget);
    sqlite3_close(j->db);
    if (j->spool >= 0)
        close(j->spool);
    mem_free(j->path);
    mem_free(j);
}

/* ---- writing ---- */

static void bind_view(sqlite3_stmt *p, int at, const uint8_t *data, size_t size)
{
    sqlite3_bind_blob64(p, at, data != NULL ? (const void *)data : "", size, SQLITE_STATIC);
}

static void bind_request(sqlite3_stmt *p, const struct journal_entry *e)
{
    const struct proof_request *r = &e->request;
    sqlite3_bind_text(p, 1, e->id, -1, SQLITE_STATIC);
    bind_view(p, 2, (const uint8_t *)e->request_id, strlen(e->request_id));
    sqlite3_bind_text(p, 3, e->circuit, -1, SQLITE_STATIC);
    bind_view(p, 4, e->digest, 64);
    sqlite3_bind_int64(p, 5, (int64_t)r->kind);
    sqlite3_bind_int64(p, 6, (int64_t)r->registered_proof);
    sqlite3_bind_int64(p, 7, (int64_t)r->sector_size);
    sqlite3_bind_int64(p, 8, (int64_t)r->miner);
    sqlite3_bind_int64(p, 9, (int64_t)r->sector_number);
    sqlite3_bind_int64(p, 10, (int64_t)r->partition_index);
    bind_view(p, 11, r->randomness.data, r->randomness.size);
    bind_view(p, 12, r->comm_r_old.data, r->comm_r_old.size);
    bind_view(p, 13, r->comm_r_new.data, r->comm_r_new.size);
    bind_view(p, 14, r->comm_d_new.data, r->comm_d_new.size);
    sqlite3_bind_int64(p, 15, (int64_t)r->vanilla_count);
    sqlite3_bind_int64(p, 16, (int64_t)e->partitions);
    sqlite3_bind_int64(p, 17, (int64_t)e->priority);
    sqlite3_bind_int64(p, 18, e->detached);
    sqlite3_bind_int64(p, 19, e->accepted_ms);
    sqlite3_bind_int64(p, 20, e->deadline_ms);
}

static void bind_result(sqlite3_stmt *p, const struct journal_entry *e)
{
    sqlite3_bind_int64(p, 21, (int64_t)e->state);
    sqlite3_bind_int64(p, 22, e->ended_ms);
    bind_view(p, 23, e->proof, e->proof_size);
    sqlite3_bind_int64(p, 24, (int64_t)e->status.code);
    sqlite3_bind_text(p, 25, e->status.message, -1, SQLITE_STATIC);
    sqlite3_bind_text(p, 26, e->status.detail, -1, SQLITE_STATIC);
    sqlite3_bind_text(p, 27, e->status.hint, -1, SQLITE_STATIC);
    sqlite3_bind_int64(p, 28, (int64_t)e->times.queue_wait_ms);
    sqlite3_bind_int64(p, 29, (int64_t)e->times.load_ms);
    sqlite3_bind_int64(p, 30, (int64_t)e->times.synthesis_ms);
    sqlite3_bind_int64(p, 31, (int64_t)e->times.device_ms);
    sqlite3_bind_int64(p, 32, (int64_t)e->times.total_ms);
}

/* Runs a prepared statement that gives no rows. */
static struct status run(struct journal *j, sqlite3_stmt *p)
{
    struct status s = sqlite3_step(p) == SQLITE_DONE ? status_ok() : sqlite_status(j->db, j->path);
    sqlite3_reset(p);
    sqlite3_clear_bindings(p);
    return s;
}

static struct status write_rows(struct journal *j, const struct journal_entry *entries, size_t count)
{
    TRY(sqlite_run(j->db, j->path, "BEGIN IMMEDIATE"));
    struct status s = status_ok();
    for (size_t i = 0; i < count && !status_failed(&s); i++) {
        bind_request(j->put, &entries[i]);
        bind_result(j->put, &entries[i]);
        s = run(j, j->put);
    }
    if (!status_failed(&s))
        s = sqlite_run(j->db, j->path, "COMMIT");
    if (status_failed(&s))
        (void)sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    return s;
}

static bool to_spool(const struct journal_entry *e)
{
    return e->state == JOURNAL_WAITING && !e->spooled;
}

/* The bytes of those that wait, all synced; *done: how many entries were looked at. */
static struct status write_bytes(size_t *done, struct journal *j, const struct journal_entry *entries,
                                 size_t count)
{
    bool any = false;
    for (*done = 0; *done < count; *done += 1) {
        const struct journal_entry *e = &entries[*done];
        if (!to_spool(e))
            continue;
        any = true;
        struct status s = spool_write(j->spool, e->id, e->request.vanilla, e->request.vanilla_count);
        if (status_failed(&s))
            return status_within(s, "journal \"%.120s\", bytes of job %s", j->path, e->id);
    }
    if (any && fsync(j->spool) != 0)
        return status_error(STATUS_IO, "journal \"%.150s\": sync of its folder: %s", j->path,
                            strerror(errno));
    return status_ok();
}

struct status journal_write(struct journal *j, const struct journal_entry *entries, size_t count)
{
    size_t done;
    struct status s = write_bytes(&done, j, entries, count);
    if (!status_failed(&s))
        s = write_rows(j, entries, count);
    for (size_t i = 0; i < count; i++) {
        const struct journal_entry *e = &entries[i];
        if (status_failed(&s) ? i < done && to_spool(e) : e->state != JOURNAL_WAITING && e->spooled)
            (void)unlinkat(j->spool, e->id, 0);
    }
    return s;
}

struct status journal_count_death(struct journal *j, const char *id, bool crash)
{
    sqlite3_stmt *p = crash ? j->crash : j->death;
    sqlite3_bind_text(p, 1, id, -1, SQLITE_STATIC);
    return run(j, p);
}

struct status journal_forget(struct journal *j, int64_t before_ms)
{
    sqlite3_bind_int64(j->forget, 1, before_ms);
    return run(j, j->forget);
}

struct status journal_probe(struct journal *j)
{
    static const uint8_t nothing[1 << 16];
    const struct bytes_view bytes = {nothing, sizeof nothing};
    char sql[64];
    TRY(spool_write(j->spool, ".probe", &bytes, 1));
    (void)unlinkat(j->spool, ".probe", 0);
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA user_version=%d", JOURNAL_VERSION);
    return sqlite_run(j->db, j->path, sql);
}

/* ---- reading ---- */

static struct bytes_view column_view(sqlite3_stmt *p, int at)
{
    const void *data = sqlite3_column_blob(p, at);
    return (struct bytes_view){data, data == NULL ? 0 : (size_t)sqlite3_column_bytes(p, at)};
}

static void column_text(char *out, size_t size, sqlite3_stmt *p, int at)
{
    const char *text = (const char *)sqlite3_column_text(p, at);
    snprintf(out, size, "%s", text != NULL ? text : "");
}

static uint64_t column(sqlite3_stmt *p, int at)
{
    return (uint64_t)sqlite3_column_int64(p, at);
}

static void read_request(struct proof_request *r, sqlite3_stmt *p)
{
    r->kind = (enum proof_kind)column(p, 4);
    r->registered_proof = column(p, 5);
    r->sector_size = column(p, 6);
    r->miner = column(p, 7);
    r->sector_number = column(p, 8);
    r->partition_index = (uint32_t)column(p, 9);
    r->randomness = column_view(p, 10);
    r->comm_r_old = column_view(p, 11);
    r->comm_r_new = column_view(p, 12);
    r->comm_d_new = column_view(p, 13);
    r->vanilla_count = (size_t)column(p, 14);
}

/* False for a row that no version writes. */
static bool read_entry(struct journal_entry *e, char request_id[2048], sqlite3_stmt *p)
{
    struct bytes_view name = column_view(p, 1), digest = column_view(p, 3), proof = column_view(p, 22);
    memset(e, 0, sizeof *e);
    e->id = (const char *)sqlite3_column_text(p, 0);
    e->circuit = (const char *)sqlite3_column_text(p, 2);
    if (e->id == NULL || strlen(e->id) >= 40 || e->circuit == NULL || digest.size != 64 ||
        name.size >= 2048 || column(p, 4) >= PROOF_KINDS || column(p, 16) >= PRIORITY_COUNT ||
        column(p, 20) > JOURNAL_CANCELLED || column(p, 15) == 0 || column(p, 15) > ENGINE_PARTITIONS_MAX ||
        column(p, 14) > (1 << 20))
        return false;
    memcpy(request_id, name.size > 0 ? (const char *)name.data : "", name.size);
    request_id[name.size] = 0;
    e->request_id = request_id;
    e->digest = digest.data;
    read_request(&e->request, p);
    e->partitions = (uint32_t)column(p, 15);
    e->priority = (enum priority)column(p, 16);
    e->detached = column(p, 17) != 0;
    e->accepted_ms = sqlite3_column_int64(p, 18);
    e->deadline_ms = sqlite3_column_int64(p, 19);
    e->state = (enum journal_state)column(p, 20);
    e->ended_ms = sqlite3_column_int64(p, 21);
    e->proof = proof.data;
    e->proof_size = proof.size;
    e->status.code = (enum status_code)column(p, 23);
    column_text(e->status.message, sizeof e->status.message, p, 24);
    column_text(e->status.detail, sizeof e->status.detail, p, 25);
    column_text(e->status.hint, sizeof e->status.hint, p, 26);
    e->times = (struct job_times){.queue_wait_ms = column(p, 27),
                                  .load_ms = column(p, 28),
                                  .synthesis_ms = column(p, 29),
                                  .device_ms = column(p, 30),
                                  .total_ms = column(p, 31)};
    e->crashes = (uint32_t)column(p, 32);
    e->deaths = (uint32_t)column(p, 33);
    return true;
}

/* Spool files of jobs that do not wait: written before a row that never came, or left after one that ended.
 */
static struct status sweep(struct journal *j)
{
    sqlite3_stmt *p = NULL;
    TRY(prepare(j, &p, "SELECT 1 FROM jobs WHERE id = ?1 AND state = 0"));
    int fd = dup(j->spool);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *file;
    if (folder == NULL && fd >= 0)
        close(fd);
    if (folder != NULL)
        rewinddir(folder);
    while (folder != NULL && (file = readdir(folder)) != NULL) {
        if (file->d_name[0] == '.')
            continue;
        sqlite3_bind_text(p, 1, file->d_name, -1, SQLITE_STATIC);
        if (sqlite3_step(p) == SQLITE_DONE)
            (void)unlinkat(j->spool, file->d_name, 0);
        sqlite3_reset(p);
    }
    if (folder != NULL)
        closedir(folder);
    sqlite3_finalize(p);
    return status_ok();
}

struct status journal_read(struct journal *j, void (*each)(void *context, const struct journal_entry *entry),
                           void *context)
{
    sqlite3_stmt *p = NULL;
    char request_id[2048];
    struct journal_entry entry;
    int step;
    TRY(sweep(j));
    TRY(prepare(j, &p,
                "SELECT " COLUMNS
                ", crashes, deaths FROM jobs ORDER BY state = 0, ended_ms, crashes, accepted_ms, number"));
    struct status s = status_ok();
    while ((step = sqlite3_step(p)) == SQLITE_ROW)
        if (read_entry(&entry, request_id, p))
            each(context, &entry);
    if (step != SQLITE_DONE)
        s = sqlite_status(j->db, j->path);
    sqlite3_finalize(p);
    return s;
}
