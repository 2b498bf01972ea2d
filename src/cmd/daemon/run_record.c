/* See run_record.h. */
#include "cmd/daemon/run_record.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECORD_NAME "run-record"
#define LOCK_NAME   "run-lock"

static void path_in(char out[512], const char *state_dir, const char *name)
{
    snprintf(out, 512, "%.480s/%s", state_dir, name);
}

static bool read_small(char *out, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    if (n < 0)
        return false;
    out[n] = 0;
    return true;
}

/* ---- the lock ---- */

static void make_folders(const char *path)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%.500s/", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(folder, 0750);
        *slash = '/';
    }
}

struct status run_record_lock(struct run_lock *lock, const char *state_dir)
{
    char path[512], text[32] = "";
    make_folders(state_dir);
    path_in(path, state_dir, LOCK_NAME);
    lock->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (lock->descriptor < 0)
        return status_hint(
            status_error(STATUS_IO, "cannot use daemon.state_dir \"%.150s\": %s", state_dir, strerror(errno)),
            "set it to a folder that this user may write");
    if (flock(lock->descriptor, LOCK_EX | LOCK_NB) != 0) {
        (void)read_small(text, sizeof text, path);
        close(lock->descriptor);
        lock->descriptor = -1;
        return status_hint(status_error(STATUS_BUSY,
                                        "another cuzk-daemon, pid %.20s, uses daemon.state_dir \"%.150s\"",
                                        text[0] != 0 ? text : "unknown", state_dir),
                           "stop it with `cuzk-bench stop`, or give this one another state_dir and address");
    }
    int n = snprintf(text, sizeof text, "%d", (int)getpid());
    if (ftruncate(lock->descriptor, 0) != 0 || pwrite(lock->descriptor, text, (size_t)n, 0) != n) {
        close(lock->descriptor);
        lock->descriptor = -1;
        return status_error(STATUS_IO, "cannot write \"%.200s\": %s", path, strerror(errno));
    }
    return status_ok();
}

void run_record_unlock(struct run_lock *lock)
{
    if (lock->descriptor >= 0)
        close(lock->descriptor);
    lock->descriptor = -1;
}

/* ---- facts of a process and of the machine ---- */

static void boot_id(char out[40])
{
    if (!read_small(out, 40, "/proc/sys/kernel/random/boot_id"))
        out[0] = 0;
    out[strcspn(out, "\n")] = 0;
}

/* Field 22 of /proc/PID/stat; the name before it may hold anything, so count from the last ')'. */
static uint64_t start_ticks(int64_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    if (!read_small(text, sizeof text, path))
        return 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

static uint64_t oom_kills(void)
{
    char group[512], path[640], text[1024];
    if (!read_small(group, sizeof group, "/proc/self/cgroup"))
        return UINT64_MAX;
    char *unified = strstr(group, "0::");
    if (unified == NULL)
        return UINT64_MAX;
    unified += 3;
    unified[strcspn(unified, "\n")] = 0;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events", unified);
    if (!read_small(text, sizeof text, path))
        return UINT64_MAX;
    char *at = strstr(text, "oom_kill ");
    return at == NULL ? UINT64_MAX : strtoull(at + 9, NULL, 10);
}

static uint64_t oom_kills_machine(void)
{
    char text[16384];
    if (!read_small(text, sizeof text, "/proc/vmstat"))
        return UINT64_MAX;
    char *at = strstr(text, "\noom_kill ");
    return at == NULL ? UINT64_MAX : strtoull(at + 10, NULL, 10);
}

void run_record_path(char out[512], const char *state_dir)
{
    path_in(out, state_dir, RECORD_NAME);
}

void run_record_self(struct run_record *out, const char *version)
{
    memset(out, 0, sizeof *out);
    snprintf(out->version, sizeof out->version, "%s", version);
    boot_id(out->boot_id);
    out->pid = getpid();
    out->start_ticks = start_ticks(out->pid);
    out->started = out->phase_time = time(NULL);
    out->oom_kills = oom_kills();
    out->oom_kills_machine = oom_kills_machine();
    snprintf(out->phase, sizeof out->phase, "starting");
}

/* ---- the file ---- */

static void without_newlines(char *text)
{
    for (; *text != 0; text++)
        if (*text == '\n' || *text == '\r')
            *text = ' ';
}

struct status run_record_write(const struct run_record *record, const char *state_dir)
{
    struct run_record r = *record;
    char path[512], text[4096];
    without_newlines(r.config);
    without_newlines(r.log);
    without_newlines(r.listen);
    without_newlines(r.ending);
    int n = snprintf(text, sizeof text,
                     "version %s\npid %" PRId64 "\nstart_ticks %" PRIu64 "\nboot_id %s\nstarted %" PRId64
                     "\noom_kills %" PRIu64 "\noom_kills_machine %" PRIu64
                     "\nconfig %s\nlog %s\nlisten %s\nphase %s\nphase_time %" PRId64 "\nending %s\n",
                     r.version, r.pid, r.start_ticks, r.boot_id, r.started, r.oom_kills, r.oom_kills_machine,
                     r.config, r.log, r.listen, r.phase, r.phase_time, r.ending);
    path_in(path, state_dir, RECORD_NAME);
    struct file_writer writer;
    TRY(file_writer_open(&writer, path));
    struct status s = file_writer_add(&writer, text, (size_t)n);
    if (!status_failed(&s))
        return file_writer_finish(&writer);
    file_writer_abandon(&writer);
    return s;
}

/* The rest of the line that begins with "name ". */
static void field(char *out, size_t size, const char *text, const char *name)
{
    size_t n = strlen(name);
    out[0] = 0;
    for (const char *line = text; line != NULL && *line != 0;) {
        if (strncmp(line, name, n) == 0 && line[n] == ' ') {
            snprintf(out, size, "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
            return;
        }
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
}

static int64_t number(const char *text, const char *name)
{
    char value[32];
    field(value, sizeof value, text, name);
    return strtoll(value, NULL, 10);
}

struct status run_record_read(struct run_record *out, const char *state_dir)
{
    char path[512];
    uint8_t *data;
    size_t size;
    char value[32];
    memset(out, 0, sizeof *out);
    path_in(path, state_dir, RECORD_NAME);
    TRY(file_read(&data, &size, path, 1 << 16, 0));
    const char *text = (const char *)data;
    field(out->version, sizeof out->version, text, "version");
    field(out->boot_id, sizeof out->boot_id, text, "boot_id");
    field(out->config, sizeof out->config, text, "config");
    field(out->log, sizeof out->log, text, "log");
    field(out->listen, sizeof out->listen, text, "listen");
    field(out->phase, sizeof out->phase, text, "phase");
    field(out->ending, sizeof out->ending, text, "ending");
    out->pid = number(text, "pid");
    out->started = number(text, "started");
    out->phase_time = number(text, "phase_time");
    out->start_ticks = (uint64_t)number(text, "start_ticks");
    field(value, sizeof value, text, "oom_kills");
    out->oom_kills = strtoull(value, NULL, 10);
    field(value, sizeof value, text, "oom_kills_machine");
    out->oom_kills_machine = value[0] != 0 ? strtoull(value, NULL, 10) : UINT64_MAX;
    mem_free(data);
    if (out->pid <= 0)
        return status_error(STATUS_INVALID, "run record \"%.200s\" is damaged", path);
    return status_ok();
}

bool run_record_alive(const struct run_record *record)
{
    char boot[40];
    boot_id(boot);
    return strcmp(boot, record->boot_id) == 0 && record->start_ticks != 0 &&
           start_ticks(record->pid) == record->start_ticks;
}

void run_record_explain(char *out, size_t size, const struct run_record *record)
{
    char boot[40];
    boot_id(boot);
    uint64_t kills = oom_kills(), on_machine = oom_kills_machine();
    if (record->ending[0] != 0)
        snprintf(out, size, "ended: %s", record->ending);
    else if (run_record_alive(record))
        snprintf(out, size, "runs, pid %" PRId64 ", phase %s", record->pid, record->phase);
    else if (strcmp(boot, record->boot_id) != 0)
        snprintf(out, size, "ended with the machine (it has restarted since), in phase %s", record->phase);
    else if (kills != UINT64_MAX && record->oom_kills != UINT64_MAX && kills > record->oom_kills)
        snprintf(out, size,
                 "was killed in phase %s: the kernel's out-of-memory killer has struck %" PRIu64
                 " time(s) in this cgroup since",
                 record->phase, kills - record->oom_kills);
    else if (on_machine != UINT64_MAX && record->oom_kills_machine != UINT64_MAX &&
             on_machine > record->oom_kills_machine)
        snprintf(
            out, size,
            "was killed, or ended without a word, in phase %s; the kernel's out-of-memory killer has struck "
            "%" PRIu64 " time(s) on this machine since",
            record->phase, on_machine - record->oom_kills_machine);
    else
        snprintf(
            out, size,
            "was killed, or ended without a word, in phase %s (a crash message would stand at the end of %s)",
            record->phase, record->log[0] != 0 ? record->log : "its standard error");
}
