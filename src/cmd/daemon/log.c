/* See log.h. */
#include "cmd/daemon/log.h"

#include "base/mem.h"
#include "cmd/daemon/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINES_MAX      1024
#define LINE_MAX_BYTES 768

struct line {
    enum log_level level;
    struct timespec time;
    char text[LINE_MAX_BYTES];
};

struct log {
    pthread_mutex_t mutex, output; /* queue; descriptors and order of writing */
    pthread_cond_t more, empty;
    pthread_t writer;
    bool started, stop, writing, json;
    enum log_level level;
    uint32_t first, count;
    uint64_t lost;
    int file;
    char path[512];
    char early[4096]; /* what was written before there was a file: it comes first in it */
    size_t early_used;
    struct line lines[LINES_MAX];
};

static const char *level_name(enum log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    return names[level];
}

static void json_text(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text != 0 && n + 8 < size; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 0x20) {
            n += (size_t)snprintf(out + n, size - n, "\\u%04x", c);
        } else {
            out[n++] = (char)c;
        }
    }
    out[n] = 0;
}

static size_t format_line(const struct log *log, char *out, size_t size, const struct line *line)
{
    struct tm tm;
    char stamp[40], escaped[2 * LINE_MAX_BYTES];
    gmtime_r(&line->time.tv_sec, &tm);
    size_t n = strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(stamp + n, sizeof stamp - n, ".%03ldZ", line->time.tv_nsec / 1000000);
    int length;
    if (log->json) {
        json_text(escaped, sizeof escaped, line->text);
        length = snprintf(out, size, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":\"%s\"}\n", stamp,
                          level_name(line->level), escaped);
    } else {
        length = snprintf(out, size, "%s %-5s %s\n", stamp, level_name(line->level), line->text);
    }
    return (size_t)length < size ? (size_t)length : size - 1;
}

static void write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* a full disk or a closed pipe must not stop the daemon */
        text += n;
        size -= (size_t)n;
    }
}

static void put(struct log *log, const struct line *line, bool fatal)
{
    char text[3 * LINE_MAX_BYTES];
    size_t size = format_line(log, text, sizeof text, line);
    pthread_mutex_lock(&log->output);
    write_all(STDOUT_FILENO, text, size);
    if (log->file >= 0)
        write_all(log->file, text, size);
    else if (log->path[0] == 0 && size <= sizeof log->early - log->early_used) {
        memcpy(log->early + log->early_used, text, size);
        log->early_used += size;
    }
    if (fatal)
        write_all(STDERR_FILENO, text, size);
    pthread_mutex_unlock(&log->output);
}

static void *write_lines(void *argument)
{
    struct log *log = argument;
    pthread_mutex_lock(&log->mutex);
    for (;;) {
        while (log->count == 0 && !log->stop)
            pthread_cond_wait(&log->more, &log->mutex);
        if (log->count == 0)
            break;
        struct line line = log->lines[log->first];
        log->first = (log->first + 1) % LINES_MAX;
        log->count--;
        log->writing = true;
        pthread_mutex_unlock(&log->mutex);
        put(log, &line, false);
        pthread_mutex_lock(&log->mutex);
        log->writing = false;
        if (log->count == 0)
            pthread_cond_broadcast(&log->empty);
    }
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

struct status log_start(struct log **out)
{
    struct log *log = mem_alloc_zero(1, sizeof *log);
    if (log == NULL)
        return mem_failed("log", 1, sizeof *log);
    pthread_mutex_init(&log->mutex, NULL);
    pthread_mutex_init(&log->output, NULL);
    pthread_cond_init(&log->more, NULL);
    pthread_cond_init(&log->empty, NULL);
    log->level = LOG_INFO;
    log->file = -1;
    if (pthread_create(&log->writer, NULL, write_lines, log) != 0) {
        mem_free(log);
        return status_error(STATUS_MEMORY, "cannot start the thread of the log");
    }
    log->started = true;
    *out = log;
    return status_ok();
}

static void make_folders(const char *path)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(folder, 0755); /* if it cannot be made, opening the file says why */
        *slash = '/';
    }
}

struct status log_open_file(struct log *log, const char *path)
{
    if (path[0] == 0)
        return status_ok();
    make_folders(path);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0)
        return status_hint(
            status_error(STATUS_IO, "cannot write the log file \"%.150s\": %s", path, strerror(errno)),
            "set logging.file to a place that this user may write, or to \"\" for none");
    pthread_mutex_lock(&log->output);
    int old = log->file;
    log->file = fd;
    write_all(fd, log->early, log->early_used);
    log->early_used = 0;
    snprintf(log->path, sizeof log->path, "%s", path);
    crash_log(fd, log->json);
    pthread_mutex_unlock(&log->output);
    if (old >= 0)
        close(old);
    return status_ok();
}

void log_reopen(struct log *log)
{
    char path[sizeof log->path];
    pthread_mutex_lock(&log->output);
    memcpy(path, log->path, sizeof path);
    pthread_mutex_unlock(&log->output);
    struct status s = log_open_file(log, path);
    if (status_failed(&s))
        log_line(log, LOG_ERROR, "%s; the old file stays in use", s.message);
    else
        log_line(log, LOG_INFO, "log file reopened");
}

void log_set(struct log *log, enum log_level level, bool json)
{
    pthread_mutex_lock(&log->mutex);
    log->level = level;
    log->json = json;
    pthread_mutex_unlock(&log->mutex);
    pthread_mutex_lock(&log->output);
    crash_log(log->file, json);
    pthread_mutex_unlock(&log->output);
}

/* With the mutex held. */
static struct line *next_line(struct log *log)
{
    if (log->count == LINES_MAX) {
        log->lost++;
        return NULL;
    }
    return &log->lines[(log->first + log->count++) % LINES_MAX];
}

static void report_lost(struct log *log)
{
    if (log->lost == 0 || log->count > LINES_MAX / 2)
        return;
    struct line *line = next_line(log);
    line->level = LOG_WARN;
    clock_gettime(CLOCK_REALTIME, &line->time);
    snprintf(line->text, sizeof line->text,
             "%llu log lines were lost: they came faster than they could be written",
             (unsigned long long)log->lost);
    log->lost = 0;
}

static void queue_text(struct log *log, enum log_level level, const char *text)
{
    pthread_mutex_lock(&log->mutex);
    if (level < LOG_DEBUG)
        crash_event((int)level, text);
    if (level <= log->level) {
        report_lost(log);
        struct line *line = next_line(log);
        if (line != NULL) {
            line->level = level;
            clock_gettime(CLOCK_REALTIME, &line->time);
            snprintf(line->text, sizeof line->text, "%s", text);
        }
        pthread_cond_signal(&log->more);
    }
    pthread_mutex_unlock(&log->mutex);
}

void log_line(struct log *log, enum log_level level, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    queue_text(log, level, text);
}

void log_callback(void *log, int level, const char *text)
{
    queue_text(log, level < 0 ? LOG_ERROR : level > 3 ? LOG_DEBUG : (enum log_level)level, text);
}

static void flush(struct log *log)
{
    pthread_mutex_lock(&log->mutex);
    while (log->count > 0 || log->writing)
        pthread_cond_wait(&log->empty, &log->mutex);
    pthread_mutex_unlock(&log->mutex);
}

void log_fatal(struct log *log, const struct status *s)
{
    struct line line = {.level = LOG_ERROR};
    flush(log); /* in order */
    clock_gettime(CLOCK_REALTIME, &line.time);
    snprintf(line.text, sizeof line.text, "%s%s%s%s%s", s->message, s->detail[0] != 0 ? ": " : "", s->detail,
             s->hint[0] != 0 ? "; hint: " : "", s->hint);
    pthread_mutex_lock(&log->mutex);
    crash_event(LOG_ERROR, line.text);
    pthread_mutex_unlock(&log->mutex);
    put(log, &line, true);
}

void log_end(struct log *log)
{
    if (log == NULL)
        return;
    pthread_mutex_lock(&log->mutex);
    log->stop = true;
    pthread_cond_signal(&log->more);
    pthread_mutex_unlock(&log->mutex);
    pthread_join(log->writer, NULL);
    if (log->file >= 0)
        close(log->file);
    pthread_mutex_destroy(&log->mutex);
    pthread_mutex_destroy(&log->output);
    pthread_cond_destroy(&log->more);
    pthread_cond_destroy(&log->empty);
    mem_free(log);
}
