/* The journal as a file, and the service over it: what was accepted is taken up again, what was proved can be
 * fetched again, who waits for the disk and who does not, what happens when there is no room, and every way
 * in which a journal is refused. fdatasync() is this test's (the linker wraps it): spool files are synced
 * when the test lets them. Killing the process is in journal_kill_test.c. */
#include "service_rig.h"

#include "base/file.h"
#include "base/mem.h"
#include "engine/journal.h"
#include "engine/journal_running.h"
#include "engine/journal_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a disk by hand ---- */

static atomic_bool disk_holds, disk_full;
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    UNTIL(!atomic_load(&disk_holds));
    if (atomic_load(&disk_full)) {
        errno = ENOSPC;
        return -1;
    }
    return __real_fdatasync(fd);
}

static char folder[64], path[96], spool[112], running[112];

static int fresh_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-journal-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/j", folder);
    snprintf(spool, sizeof spool, "%s.spool", path);
    snprintf(running, sizeof running, "%s.running", path);
    atomic_store(&disk_holds, false);
    atomic_store(&disk_full, false);
    return 0;
}

static int remove_folder(void **state)
{
    char command[160];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int spooled(void)
{
    DIR *d = opendir(spool);
    int n = 0;
    if (d == NULL)
        return -1;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void sql(const char *text)
{
    sqlite3 *db;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s: %s", text, error);
    sqlite3_close(db);
}

/* ---- the file ---- */

static const uint8_t DIGEST[64] = {1, 2, 3}, BYTES[5] = {9, 8, 7, 6, 5};

static struct journal_entry entry(const char *id)
{
    static const struct bytes_view vanilla[2] = {{BYTES, 5}, {BYTES + 1, 3}};
    return (struct journal_entry){.id = id,
                                  .request_id = "name",
                                  .circuit = "wpost-2k",
                                  .digest = DIGEST,
                                  .request = {.kind = PROOF_WINDOW,
                                              .registered_proof = UINT64_MAX,
                                              .sector_size = 2048,
                                              .miner = UINT64_MAX - 1,
                                              .sector_number = UINT64_C(1) << 63,
                                              .partition_index = UINT32_MAX,
                                              .randomness = {DIGEST, 32},
                                              .vanilla = vanilla,
                                              .vanilla_count = 2},
                                  .partitions = 1,
                                  .priority = PRIORITY_HIGH,
                                  .detached = true,
                                  .accepted_ms = 1000,
                                  .deadline_ms = 2000,
                                  .status = status_ok()};
}

struct rows {
    int count;
    char ids[8][40];
    enum journal_state states[8];
    uint32_t crashes[8], deaths[8];
};

static void on_row(void *context, const struct journal_entry *e)
{
    struct rows *rows = context;
    assert_true(rows->count < 8);
    snprintf(rows->ids[rows->count], 40, "%s", e->id);
    rows->states[rows->count] = e->state;
    rows->crashes[rows->count] = e->crashes;
    rows->deaths[rows->count++] = e->deaths;
    struct journal_entry want = entry(e->id);
    if (e->state != JOURNAL_WAITING)
        return;
    assert_string_equal(e->request_id, "name");
    assert_string_equal(e->circuit, "wpost-2k");
    assert_memory_equal(e->digest, DIGEST, 64);
    assert_int_equal(e->request.kind, want.request.kind);
    assert_true(e->request.registered_proof == want.request.registered_proof);
    assert_true(e->request.miner == want.request.miner);
    assert_true(e->request.sector_number == want.request.sector_number);
    assert_int_equal(e->request.partition_index, UINT32_MAX);
    assert_int_equal(e->request.randomness.size, 32);
    assert_int_equal(e->request.comm_r_old.size, 0);
    assert_int_equal(e->request.vanilla_count, 2);
    assert_int_equal(e->priority, PRIORITY_HIGH);
    assert_true(e->detached && e->accepted_ms == 1000 && e->deadline_ms == 2000);
}

static struct rows read_rows(struct journal *j)
{
    struct rows rows = {0};
    rig_must(journal_read(j, on_row, &rows));
    return rows;
}

static void test_rows(void **state)
{
    (void)state;
    struct journal *j;
    struct spool read;
    char file[256];
    struct stat st;
    size_t before = mem_used();
    rig_must(journal_open(&j, path));
    struct journal_entry two[2] = {entry("id-1"), entry("id-2")};
    rig_must(journal_write(j, two, 2));
    assert_int_equal(spooled(), 2);
    snprintf(file, sizeof file, "%s/id-1", spool);
    rig_must(spool_open(&read, file, 2));
    assert_int_equal(read.vanilla[0].size, 5);
    assert_memory_equal(read.vanilla[0].data, BYTES, 5);
    assert_int_equal(read.vanilla[1].size, 3);
    assert_memory_equal(read.vanilla[1].data, BYTES + 1, 3);
    spool_close(&read);
    assert_int_equal(spool_open(&read, file, 3).code, STATUS_IO);
    struct journal_entry ended = entry("id-1");
    ended.state = JOURNAL_COMPLETED;
    ended.spooled = true;
    ended.ended_ms = 5000;
    ended.proof = BYTES;
    ended.proof_size = 5;
    rig_must(journal_write(j, &ended, 1));
    assert_int_equal(spooled(), 1);
    journal_close(j);

    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int fd = open(file, O_CREAT | O_WRONLY, 0600); /* of no job */
    assert_true(fd >= 0);
    close(fd);
    rig_must(journal_open(&j, path));
    struct rows rows = read_rows(j);
    assert_int_equal(rows.count, 2);
    assert_string_equal(rows.ids[0], "id-1");
    assert_int_equal(rows.states[0], JOURNAL_COMPLETED);
    assert_string_equal(rows.ids[1], "id-2");
    assert_int_equal(spooled(), 1);                 /* the stray one is swept */
    rig_must(journal_count_death(j, "id-1", true)); /* has ended: not its fault */
    rig_must(journal_count_death(j, "id-2", true));
    rig_must(journal_count_death(j, "id-2", false));
    rig_must(journal_forget(j, 5000));
    assert_int_equal(read_rows(j).count, 2);
    rig_must(journal_forget(j, 5001));
    rows = read_rows(j);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.crashes[0], 1);
    assert_int_equal(rows.deaths[0], 1);
    journal_close(j);
    assert_int_equal(mem_used(), before);
}

static void test_damaged_spool(void **state)
{
    (void)state;
    struct spool read;
    char file[256];
    static const struct bytes_view vanilla[2] = {{BYTES, 5}, {BYTES + 1, 3}};
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    rig_must(spool_write(fd, "x", vanilla, 2));
    snprintf(file, sizeof file, "%s/x", folder);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    for (off_t size = st.st_size + 1; size >= 0; size--) {
        rig_must(spool_write(fd, "x", vanilla, 2));
        assert_int_equal(truncate(file, size), 0);
        struct status s = spool_open(&read, file, 2);
        assert_int_equal(s.code, size == st.st_size ? STATUS_OK : STATUS_IO);
        if (!status_failed(&s))
            spool_close(&read);
    }
    int f = open(file, O_WRONLY);
    static const uint8_t huge[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    rig_must(spool_write(fd, "x", vanilla, 2));
    for (off_t at = 0; at < 32; at += 8) { /* magic, count, sizes */
        rig_must(spool_write(fd, "x", vanilla, 2));
        assert_int_equal(pwrite(f, huge, 8, at), 8);
        assert_int_equal(spool_open(&read, file, 2).code, STATUS_IO);
    }
    close(f);
    close(fd);
}

/* What version 1 made. */
static const char VERSION_1[] =
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
    "CREATE INDEX jobs_ended ON jobs (state, ended_ms);"
    "INSERT INTO jobs VALUES (7, 'old-id', x'6e616d65', 'wpost-2k', zeroblob(64), 2, 10, 0, 1000, 0, 0,"
    " zeroblob(32), x'', x'', x'', 2, 1, 1, 1, 1, 0, 1, 2, zeroblob(192), 0, '', '', '', 1, 2, 3, 4, 5);"
    "PRAGMA application_id=0x63757a6b; PRAGMA user_version=1";

static void test_migration(void **state)
{
    (void)state;
    struct journal *j;
    sql(VERSION_1);
    rig_must(journal_open(&j, path));
    struct rows rows = read_rows(j);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.ids[0], "old-id");
    assert_int_equal(rows.states[0], JOURNAL_COMPLETED);
    struct journal_entry more = entry("new-id");
    rig_must(journal_write(j, &more, 1));
    rig_must(journal_count_death(j, "new-id", true));
    assert_int_equal(read_rows(j).crashes[1], 1);
    journal_close(j);
    rig_must(journal_open(&j, path)); /* and it stays so */
    assert_int_equal(read_rows(j).count, 2);
    journal_close(j);
}

static void refused(enum status_code code, const char *message, const char *hint)
{
    struct journal *j;
    struct status s = journal_open(&j, path);
    assert_int_equal(s.code, code);
    assert_null(j);
    if (strstr(s.message, message) == NULL || strstr(s.hint, hint) == NULL)
        fail_msg("\"%s\" / \"%s\" lacks \"%s\" or \"%s\"", s.message, s.hint, message, hint);
}

static void overwrite(const char *file, off_t at, const void *data, size_t size)
{
    int fd = open(file, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, size, at), (ssize_t)size);
    close(fd);
}

static void test_refused(void **state)
{
    (void)state;
    struct journal *j;
    size_t before = mem_used();
    int files = files_now();
    rig_must(journal_open(&j, path));
    struct journal_entry e = entry("id");
    rig_must(journal_write(j, &e, 1));
    refused(STATUS_BUSY, "in use by another process", "journal.path");
    journal_close(j);

    sql("PRAGMA user_version=3");
    refused(STATUS_INVALID, "is of version 3; this daemon knows up to 2", "newer cuzk-daemon");
    sql("PRAGMA user_version=2; PRAGMA application_id=5");
    refused(STATUS_INVALID, "not a journal of cuzk-daemon", "journal.path");
    sql("PRAGMA application_id=0x63757a6b; PRAGMA journal_mode=DELETE");
    rig_must(journal_open(&j, path));
    assert_int_equal(read_rows(j).count, 1); /* being refused has changed nothing */
    journal_close(j);

    sql("PRAGMA journal_mode=DELETE");
    static const uint8_t rubbish[4096] = {0xff, 0xfe, 1, 2, 3};
    overwrite(path, 4096, rubbish, sizeof rubbish);
    refused(STATUS_INVALID, "is damaged", "move it");
    overwrite(path, 0, rubbish, sizeof rubbish);
    refused(STATUS_INVALID, "is damaged", "move it");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    refused(STATUS_IO, "Is a directory", "journal.path");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(remove_folder(NULL), 0);
    refused(STATUS_IO, "No such file", "journal.path");
    assert_int_equal(mem_used(), before);
    assert_int_equal(files_now(), files);
}

/* ---- which jobs ran ---- */

struct ran {
    int crashed, died;
    char id[40];
};

static void on_ran(void *context, const char *id, bool crash)
{
    struct ran *r = context;
    *(crash ? &r->crashed : &r->died) += 1;
    snprintf(r->id, sizeof r->id, "%s", id);
}

static void test_running(void **state)
{
    (void)state;
    static const char A[40] = "a-job", B[40] = "b-job";
    struct running *r;
    struct ran ran = {0};
    rig_must(running_open(&r, running, 5, on_ran, &ran));
    int a = running_begin(r, A), b = running_begin(r, B);
    assert_int_not_equal(a, b);
    running_end(r, a);
    running_close(r);
    rig_must(running_open(&r, running, 5, on_ran, &ran)); /* as if killed with b under way */
    assert_int_equal(ran.crashed, 0);
    assert_int_equal(ran.died, 1);
    assert_string_equal(ran.id, "b-job");
    running_begin(r, A);
    running_crashed();
    running_close(r);
    running_crashed(); /* nobody's */
    rig_must(running_open(&r, running, 5, on_ran, &ran));
    assert_int_equal(ran.crashed, 1);
    running_begin(r, A);
    running_close(r);
    rig_must(running_open(&r, running, 6, on_ran, &ran)); /* the kernel's killer has struck */
    assert_int_equal(ran.crashed, 2);
    for (int i = 0; i < RUNNING_SLOTS; i++)
        assert_int_not_equal(running_begin(r, A), RUNNING_NONE);
    assert_int_equal(running_begin(r, A), RUNNING_NONE);
    running_end(r, RUNNING_NONE);
    running_close(r);
    char other[40] = "another-boot";
    overwrite(running, 8, other, sizeof other); /* the machine has restarted since */
    rig_must(running_open(&r, running, 6, on_ran, &ran));
    assert_int_equal(ran.died, 1);
    assert_int_equal(ran.crashed, 2);
    running_close(r);
}

/* ---- the service over it ---- */

static void with_journal(struct service_options *o)
{
    o->journal = path;
    o->journal_retention_ms = 3600000;
    o->journal_wait_ms = 600000;
    o->journal_retry_ms = 20;
    o->oom_kills = UINT64_MAX;
}

static void submit(struct service_rig *r, struct caller *c, char id[40])
{
    uint32_t position;
    rig_must(service_submit(r->service, id, &position, &c->submit));
}

static void acknowledge(struct service_rig *r, struct answer *a, uint64_t *waiter, const char *id)
{
    answer_start(a);
    rig_must(service_acknowledge(r->service, waiter, id, answer_callback, a));
}

static int came(struct answer *a)
{
    pthread_mutex_lock(&a->lock);
    int n = a->count;
    pthread_mutex_unlock(&a->lock);
    return n;
}

static bool measured(struct service_rig *r, const char *line)
{
    char *text;
    size_t size;
    rig_must(service_metrics(r->service, &text, &size));
    bool found = memmem(text, size, line, strlen(line)) != NULL;
    mem_free(text);
    return found;
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* A job that is accepted, and the service ends: it is proved by the next one, and fetched by id from a third.
 */
static void test_taken_up_again(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller submitted, proved, same;
    struct answer a, b, c;
    uint64_t waiter;
    char id[40], id2[40], id3[40];
    service_rig_start(&r, with_journal);
    atomic_store(&r.device.hold, true);
    caller_make(&submitted, &r.golden, PROOF_WINDOW, "submitted");
    submitted.submit.detached = true;
    caller_make(&proved, &r.golden, PROOF_WINDOW, "proved");
    proved.submit.timeout_ms = 3600000;
    submit(&r, &submitted, id);
    submit(&r, &proved, id2);
    acknowledge(&r, &a, &waiter, id);
    answer_wait(&a);
    answer_end(&a);
    service_rig_end(&r);
    assert_int_equal(atomic_load(&submitted.released), 1);
    assert_int_equal(spooled(), 2);

    service_rig_start(&r, with_journal);
    UNTIL(service_rig_logged(&r, "2 jobs taken up again, 0 results kept, 0 jobs ended"));
    caller_make(&same, &r.golden, PROOF_WINDOW, "proved"); /* the caller comes back */
    submit(&r, &same, id3);
    assert_string_equal(id3, id2);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &b, id2, 0), JOB_COMPLETED);
    assert_true(proof_stands(&same, a.proof, WINDOW));
    assert_true(proof_stands(&same, b.proof, WINDOW));
    service_rig_end(&r);
    assert_int_equal(spooled(), 0);

    service_rig_start(&r, with_journal);
    assert_int_equal(await_job(r.service, &c, id, 0), JOB_COMPLETED);
    assert_memory_equal(a.proof, c.proof, 192);
    assert_string_equal(c.result.id, id);
    assert_int_equal(c.result.times.total_ms, a.result.times.total_ms);
    assert_int_equal(c.result.times.device_ms, a.result.times.device_ms);
    caller_make(&same, &r.golden, PROOF_WINDOW, "proved");
    submit(&r, &same, id3);
    assert_string_equal(id3, id2);
    assert_int_equal(await_job(r.service, &c, "proved", 0), JOB_COMPLETED);
    assert_memory_equal(b.proof, c.proof, 192);

    assert_int_equal(atomic_load(&r.device.starts), 0);
    service_rig_end(&r);
}

static void short_orphans(struct service_options *o)
{
    with_journal(o);
    o->engine.orphan_ms = 50;
}

/* A Prove that nobody asks for again is cancelled as an orphan, and stays so; a failure is kept with its
 * reason. */
static void test_orphan_and_failure(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller proved, bad;
    struct answer a;
    char id[40], id2[40];
    service_rig_start(&r, with_journal);
    atomic_store(&r.device.hold, true);
    caller_make(&proved, &r.golden, PROOF_WINDOW, "proved");
    caller_make(&bad, &r.golden, PROOF_WINDOW, "bad");
    bad.randomness[0] ^= 1;
    submit(&r, &proved, id);
    submit(&r, &bad, id2);
    assert_int_equal(await_job(r.service, &a, id2, 0), JOB_FAILED);
    struct status why = a.result.status;
    service_rig_end(&r);
    atomic_store(&disk_holds, false);
    service_rig_start(&r, short_orphans);
    atomic_store(&r.device.hold, true);
    assert_int_equal(await_job(r.service, &a, id2, 0), JOB_FAILED);
    assert_string_equal(a.result.status.message, why.message);
    assert_int_equal(a.result.status.code, why.code);
    bool was_running;
    UNTIL(service_rig_logged(&r, "cancelled after"));
    rig_must(service_cancel(r.service, id, &was_running));
    assert_false(was_running);
    service_rig_end(&r);
    service_rig_start(&r, with_journal);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_CANCELLED);
    service_rig_end(&r);
}

/* While the disk does not answer: SubmitProof and results wait, WinningPoSt and proving do not. */
static void test_who_waits_for_the_disk(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller window, winning, gone;
    struct answer stored, result, quick, quick_result, left;
    uint64_t waiter, leaving;
    char id[40], id2[40], id3[40];
    service_rig_start(&r, with_journal);
    caller_make(&window, &r.golden, PROOF_WINDOW, "window");
    caller_make(&gone, &r.golden, PROOF_WINDOW, "gone");
    caller_make(&winning, &r.golden, PROOF_WINNING, "winning");
    window.submit.detached = winning.submit.detached = gone.submit.detached = true;
    atomic_store(&disk_holds, true);
    submit(&r, &window, id);
    submit(&r, &winning, id2);
    submit(&r, &gone, id3);
    acknowledge(&r, &stored, &waiter, id);
    acknowledge(&r, &quick, &waiter, id2);
    acknowledge(&r, &left, &leaving, id3);
    answer_start(&result);
    rig_must(service_await(r.service, &waiter, id, 0, answer_callback, &result));
    answer_wait(&quick);
    assert_int_equal(await_job(r.service, &quick_result, id2, 0), JOB_COMPLETED);
    UNTIL(service_rig_logged(&r, "(window) window-post: proved in"));
    service_unwait(r.service, leaving);
    pause_ms(50);
    assert_int_equal(came(&stored), 0);
    assert_int_equal(came(&result), 0);
    assert_int_equal(atomic_load(&window.released), 0); /* its bytes are still being written */
    atomic_store(&disk_holds, false);
    answer_wait(&stored);
    assert_int_equal(answer_wait(&result), JOB_COMPLETED);
    UNTIL(atomic_load(&window.released) == 1 && atomic_load(&gone.released) == 1);
    assert_int_equal(came(&left), 0);
    service_rig_end(&r);
    assert_int_equal(came(&left), 0);
    assert_int_equal(came(&result), 1);
    assert_int_equal(spooled(), 0);
    answer_end(&stored);
    answer_end(&result);
    answer_end(&quick);
    answer_end(&left);
}

static void impatient(struct service_options *o)
{
    with_journal(o);
    o->journal_wait_ms = 300;
}

/* A result at hand does not wait for ever, nor for longer than its caller. */
static void test_slow_disk(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller window;
    struct answer a;
    char id[40];
    service_rig_start(&r, with_journal);
    caller_make(&window, &r.golden, PROOF_WINDOW, "window");
    atomic_store(&disk_holds, true);
    submit(&r, &window, id);
    UNTIL(service_rig_logged(&r, "proved in"));
    assert_int_equal(await_job(r.service, &a, id, 100), JOB_COMPLETED);
    assert_false(service_rig_logged(&r, "is slow"));
    atomic_store(&disk_holds, false);
    service_rig_end(&r);

    service_rig_start(&r, impatient);
    caller_make(&window, &r.golden, PROOF_WINDOW, "another");
    atomic_store(&disk_holds, true);
    submit(&r, &window, id);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    UNTIL(service_rig_logged(&r, "is slow"));
    atomic_store(&disk_holds, false);
    service_rig_end(&r);
}

/* No room: it is said, everything goes on, and when there is room again what still stands is written. */
static void test_full_disk(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller first, second, winning;
    struct answer a, b, c, d;
    uint64_t waiter;
    char id[40], id2[40], id3[40];
    service_rig_start(&r, with_journal);
    caller_make(&first, &r.golden, PROOF_WINDOW, "first");
    caller_make(&second, &r.golden, PROOF_WINDOW, "second");
    caller_make(&winning, &r.golden, PROOF_WINNING, "winning");
    first.submit.detached = second.submit.detached = true;
    atomic_store(&disk_full, true);
    submit(&r, &first, id);
    submit(&r, &winning, id3);
    acknowledge(&r, &a, &waiter, id);
    answer_wait(&a);
    answer_end(&a);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(await_job(r.service, &d, id3, 0), JOB_COMPLETED);
    UNTIL(service_rig_logged(&r, "No space left on device"));
    assert_true(service_rig_logged(&r, "in memory only"));
    assert_true(measured(&r, "cuzk_journal_degraded 1\n"));
    atomic_store(&disk_full, false);
    UNTIL(service_rig_logged(&r, "can be written again"));
    assert_true(measured(&r, "cuzk_journal_degraded 0\n"));
    UNTIL(measured(&r, "cuzk_journal_waiting 0\n") && measured(&r, "cuzk_journal_written_total 2\n"));
    atomic_store(&r.device.hold, true);
    submit(&r, &second, id2);
    acknowledge(&r, &b, &waiter, id2);
    answer_wait(&b);
    answer_end(&b);
    service_rig_end(&r);
    assert_int_equal(spooled(), 1);

    service_rig_start(&r, with_journal);
    assert_int_equal(await_job(r.service, &b, id, 0), JOB_COMPLETED);
    assert_memory_equal(a.proof, b.proof, 192);
    assert_int_equal(await_job(r.service, &c, id3, 0), JOB_COMPLETED);
    assert_memory_equal(c.proof, d.proof, 192);
    assert_int_equal(await_job(r.service, &c, id2, 0), JOB_COMPLETED);
    service_rig_end(&r);
}

/* What is not worth proving any more, or cannot be, is ended by name when it is taken up. */
static void test_no_sense(void **state)
{
    (void)state;
    struct service_rig r;
    enum { WINNING_OLD, WINDOW_OLD, WINDOW_DUE, CUT, CRASHED, FLIPPED, CASES };
    static const char *const NAMES[CASES] = {"winning", "window", "due", "cut", "crashed", "flipped"};
    static const char *const WHY[CASES] = {"its window is over", "its window is over", "deadline passed",
                                           "is damaged",         "(crashed)",          "are damaged"};
    struct caller callers[CASES], same;
    struct answer a;
    char ids[CASES][40], again[40], text[400], file[256];
    service_rig_start(&r, with_journal);
    atomic_store(&r.device.hold, true);
    for (int i = 0; i < CASES; i++) {
        caller_make(&callers[i], &r.golden, i == WINNING_OLD ? PROOF_WINNING : PROOF_WINDOW, NAMES[i]);
        callers[i].submit.detached = true;
        if (i == WINDOW_DUE)
            callers[i].submit.timeout_ms = 3600000;
        submit(&r, &callers[i], ids[i]);
    }
    service_rig_end(&r);
    assert_int_equal(spooled(), CASES);
    snprintf(text, sizeof text,
             "UPDATE jobs SET accepted_ms = accepted_ms - 40000 WHERE id = '%s';"
             "UPDATE jobs SET accepted_ms = accepted_ms - 1900000 WHERE id = '%s';"
             "UPDATE jobs SET deadline_ms = deadline_ms - 3600000 WHERE id = '%s';"
             "UPDATE jobs SET crashes = 2 WHERE id = '%s'",
             ids[WINNING_OLD], ids[WINDOW_OLD], ids[WINDOW_DUE], ids[CRASHED]);
    sql(text);
    snprintf(file, sizeof file, "%s/%s", spool, ids[CUT]);
    assert_int_equal(truncate(file, 100), 0);
    snprintf(file, sizeof file, "%s/%s", spool, ids[FLIPPED]);
    overwrite(file, 5000, "\xff\xff\xff\xff", 4);
    for (int round = 0; round < 2; round++) {
        service_rig_start(&r, with_journal);
        for (int i = 0; i < CASES; i++) {
            enum job_state want = i < CUT ? JOB_CANCELLED : JOB_FAILED;
            assert_int_equal(await_job(r.service, &a, ids[i], 0), want);
            if (strstr(a.result.status.message, WHY[i]) == NULL)
                fail_msg("%s: \"%s\"", NAMES[i], a.result.status.message);
        }
        /* The request that took the process down is not tried under a new id either. */
        caller_make(&same, &r.golden, PROOF_WINDOW, NAMES[CRASHED]);
        submit(&r, &same, again);
        assert_string_equal(again, ids[CRASHED]);
        assert_int_equal(atomic_load(&r.device.starts), 0);
        service_rig_end(&r);
        assert_int_equal(spooled(), 0);
    }
}

static void no_retention(struct service_options *o)
{
    with_journal(o);
    o->journal_retention_ms = 1;
}

static void test_retention(void **state)
{
    (void)state;
    struct service_rig r;
    struct caller c;
    struct answer a;
    uint64_t waiter;
    char id[40];
    service_rig_start(&r, with_journal);
    caller_make(&c, &r.golden, PROOF_WINDOW, "window");
    submit(&r, &c, id);
    assert_int_equal(await_job(r.service, &a, id, 0), JOB_COMPLETED);
    service_rig_end(&r);
    pause_ms(5);
    service_rig_start(&r, no_retention);
    assert_int_equal(service_await(r.service, &waiter, id, 0, answer_callback, &a).code, STATUS_MISSING);
    service_rig_end(&r);
}

static void test_refused_by_the_service(void **state)
{
    (void)state;
    static const char *const CIRCUITS[] = {WINDOW};
    struct engine_service *service;
    size_t before = mem_used();
    struct service_options o = {.engine = {.partition_workers = 1,
                                           .finishers = 1,
                                           .workers_per_device = 1,
                                           .max_queue = 1,
                                           .max_queue_bytes = 1},
                                .circuits = CIRCUITS,
                                .circuits_count = 1,
                                .threads = 1};
    with_journal(&o);
    overwrite(path, 0, "this is no database, whatever its name may say to those who look", 64);
    struct status s = service_start(&service, &o);
    assert_int_equal(s.code, STATUS_INVALID);
    assert_non_null(strstr(s.hint, "move it"));
    assert_null(service);
    assert_int_equal(mem_used(), before);
}

int main(void)
{
    rig_params();
#define EACH(test) cmocka_unit_test_setup_teardown(test, fresh_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        EACH(test_rows),
        EACH(test_damaged_spool),
        EACH(test_migration),
        EACH(test_refused),
        EACH(test_running),
        EACH(test_taken_up_again),
        EACH(test_orphan_and_failure),
        EACH(test_who_waits_for_the_disk),
        EACH(test_slow_disk),
        EACH(test_full_disk),
        EACH(test_no_sense),
        EACH(test_retention),
        EACH(test_refused_by_the_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
