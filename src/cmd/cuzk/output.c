/* See output.h. */
#include "cmd/cuzk/output.h"

#include "cmd/cuzk/args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t peak_rss_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* ---- progress ---- */

static struct {
    const char *what;
    double started;
    bool shown;
} bar;

void progress_clear(void)
{
    if (bar.shown)
        fputs("\r\033[K", stderr);
    bar.shown = false;
    bar.what = NULL;
}

void progress_bar(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    double now = seconds_now();
    if (bar.what == NULL || strcmp(bar.what, what) != 0) {
        progress_clear();
        bar.what = what;
        bar.started = now;
    }
    double elapsed = now - bar.started;
    if (elapsed < 2 || !isatty(STDERR_FILENO))
        return;
    bar.shown = true;
    if (total == 0) {
        fprintf(stderr, "\r%s, %.0f s\033[K", what, elapsed);
        return;
    }
    double share = done < total ? (double)done / (double)total : 1;
    char cells[31];
    for (int i = 0; i < 30; i++)
        cells[i] = i < (int)(share * 30) ? '#' : '.';
    cells[30] = 0;
    fprintf(stderr, "\r%s [%s] %3.0f %%", what, cells, 100 * share);
    if (share > 0.02)
        fprintf(stderr, ", %.0f s left", elapsed / share - elapsed);
    fputs("\033[K", stderr);
    if (done >= total)
        progress_clear();
}

static void *watch_run(void *argument)
{
    struct progress_watch *w = argument;
    while (!atomic_load(&w->stop)) {
        progress_bar(NULL, w->what, w->done == NULL ? 0 : atomic_load(w->done), w->total);
        nanosleep(&(struct timespec){0, 100 * 1000 * 1000}, NULL);
    }
    return NULL;
}

void progress_watch_start(struct progress_watch *w, const char *what, atomic_ullong *done, uint64_t total)
{
    w->what = what;
    w->done = done;
    w->total = total;
    atomic_init(&w->stop, false);
    w->running = pthread_create(&w->thread, NULL, watch_run, w) == 0;
}

void progress_watch_end(struct progress_watch *w)
{
    if (!w->running)
        return;
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
    w->running = false;
    progress_clear();
}

/* ---- results ---- */

void write_json_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(stream, "\\u%04x", *c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}

void print_json_string(const char *text)
{
    write_json_string(stdout, text);
}

static void begin(struct result *r, const char *name)
{
    if (r->json) {
        printf("%s", r->started ? ", " : "{");
        print_json_string(name);
        printf(": ");
    } else {
        printf("%-22s ", name);
    }
    r->started = true;
}

static void end(const struct result *r)
{
    if (!r->json)
        putchar('\n');
}

void result_text(struct result *r, const char *name, const char *value)
{
    begin(r, name);
    if (r->json)
        print_json_string(value);
    else
        fputs(value, stdout);
    end(r);
}

void result_number(struct result *r, const char *name, uint64_t value)
{
    begin(r, name);
    printf("%" PRIu64, value);
    end(r);
}

void result_seconds(struct result *r, const char *name, double value)
{
    begin(r, name);
    printf(r->json ? "%.3f" : "%.3f s", value);
    end(r);
}

void result_bytes(struct result *r, const char *name, uint64_t bytes)
{
    begin(r, name);
    printf("%" PRIu64, bytes);
    if (!r->json && bytes >= UINT64_C(1) << 30)
        printf(" (%.2f GiB)", (double)bytes / 1073741824);
    else if (!r->json && bytes >= UINT64_C(1) << 20)
        printf(" (%.1f MiB)", (double)bytes / 1048576);
    end(r);
}

void result_hex(struct result *r, const char *name, const uint8_t *bytes, size_t size)
{
    begin(r, name);
    if (r->json)
        putchar('"');
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    if (r->json)
        putchar('"');
    end(r);
}

void result_bool(struct result *r, const char *name, bool value)
{
    begin(r, name);
    fputs(r->json ? value ? "true" : "false" : value ? "yes" : "no", stdout);
    end(r);
}

int result_end(struct result *r)
{
    if (r->json)
        puts(r->started ? "}" : "{}");
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("error: cannot write to standard output\n", stderr);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static const char *code_name(enum cuzk_code code)
{
    static const char *const names[] = {"ok",     "invalid",     "missing",   "io",
                                        "memory", "cancelled",   "untrusted", "rejected",
                                        "device", "unsupported", "busy"};
    return (size_t)code < sizeof names / sizeof names[0] ? names[code] : "unknown";
}

int report_error(const struct cuzk_error *error, bool json)
{
    progress_clear();
    fprintf(stderr, "error: %s\n", error->message);
    if (error->detail[0] != 0)
        fprintf(stderr, "detail: %s\n", error->detail);
    if (error->hint[0] != 0)
        fprintf(stderr, "hint: %s\n", error->hint);
    if (json) {
        struct result r = {.json = true};
        result_text(&r, "error", error->message);
        result_text(&r, "code", code_name(error->code));
        result_text(&r, "detail", error->detail);
        result_text(&r, "hint", error->hint);
        (void)result_end(&r);
    }
    return error->code == CUZK_REJECTED ? EXIT_INVALID_PROOF : EXIT_FAILED;
}
