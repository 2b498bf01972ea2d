/* What came of a sweep: a table for the terminal, CSV and JSON for programs, a picture for people. */
#include "cmd/bench/sweep.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const OUTCOME[SWEEP_OUTCOMES] = {"not yet", "done", "failed", "no start"};

const struct sweep_run *sweep_best(const struct sweep *s)
{
    const struct sweep_run *best = NULL;
    for (size_t i = 0; i < s->runs_count; i++) {
        const struct sweep_run *r = &s->runs[i];
        if (r->outcome != SWEEP_DONE || r->per_proof <= 0 ||
            (s->memory_limit != 0 && r->peak_bytes > s->memory_limit))
            continue;
        if (best == NULL || r->per_proof < best->per_proof)
            best = r;
    }
    for (size_t i = 0; best != NULL && i < s->runs_count; i++) {
        const struct sweep_run *r = &s->runs[i];
        if (r->outcome == SWEEP_DONE && r->per_proof > 0 && r->per_proof <= 1.01 * best->per_proof &&
            r->peak_bytes < best->peak_bytes)
            best = r;
    }
    return best;
}

/* ---- table ---- */

static const char *short_name(const struct sweep_key *key)
{
    const char *dot = strrchr(key->name, '.');
    return dot != NULL ? dot + 1 : key->name;
}

static int width_of(const struct sweep_key *key)
{
    size_t w = strlen(short_name(key));
    for (size_t v = 0; v < key->count; v++)
        w = strlen(key->values[v]) > w ? strlen(key->values[v]) : w;
    return (int)w;
}

void sweep_table_head(const struct sweep *s)
{
    for (size_t k = 0; k < s->keys_count; k++)
        printf("%*s  ", width_of(&s->keys[k]), short_name(&s->keys[k]));
    printf("%9s %9s %9s %9s %9s  %s\n", "s/proof", "steady", "p50", "p95", "peak GiB", "ready in");
}

void sweep_table_row(const struct sweep *s, const struct sweep_run *r)
{
    for (size_t k = 0; k < s->keys_count; k++)
        printf("%*s  ", width_of(&s->keys[k]), sweep_value(s, r, k));
    if (r->outcome == SWEEP_NO_START || r->outcome == SWEEP_NOT_YET) {
        printf("%s%s%s\n", OUTCOME[r->outcome], r->reason[0] != 0 ? ": " : "", r->reason);
    } else {
        printf("%9.3f ", r->per_proof);
        if (r->steady > 0)
            printf("%9.3f ", r->steady);
        else
            printf("%9s ", "-");
        printf("%9.3f %9.3f %9.3f  %.1f s%s", r->p50, r->p95, (double)r->peak_bytes / 0x1p30,
               r->ready_seconds, r->earlier ? " (before)" : "");
        if (r->outcome == SWEEP_FAILED)
            printf("  %llu failed: %s", (unsigned long long)r->failed, r->reason);
        putchar('\n');
    }
    fflush(stdout);
}

/* ---- CSV and JSON ---- */

static void csv_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('"', out);
}

static void csv(const struct sweep *s, FILE *out)
{
    for (size_t k = 0; k < s->keys_count; k++)
        fprintf(out, "%s,", s->keys[k].name);
    fputs("outcome,ready_seconds,completed,failed,seconds_per_proof,steady_seconds_per_proof,p50_seconds,p95_"
          "seconds,"
          "peak_memory_bytes,reason\n",
          out);
    for (size_t i = 0; i < s->runs_count; i++) {
        const struct sweep_run *r = &s->runs[i];
        if (r->outcome == SWEEP_NOT_YET)
            continue;
        for (size_t k = 0; k < s->keys_count; k++) {
            csv_text(out, sweep_value(s, r, k));
            fputc(',', out);
        }
        fprintf(out, "%s,%.3f,%llu,%llu,%.6f,%.6f,%.6f,%.6f,%llu,", OUTCOME[r->outcome], r->ready_seconds,
                (unsigned long long)r->completed, (unsigned long long)r->failed, r->per_proof, r->steady,
                r->p50, r->p95, (unsigned long long)r->peak_bytes);
        csv_text(out, r->reason);
        fputc('\n', out);
    }
}

static void json_settings(const struct sweep *s, const struct sweep_run *r, FILE *out)
{
    fputs("{", out);
    for (size_t k = 0; k < s->keys_count; k++) {
        fprintf(out, "%s\"%s\":", k > 0 ? "," : "", s->keys[k].name);
        write_json_string(out, sweep_value(s, r, k));
    }
    fputs("}", out);
}

void sweep_json(const struct sweep *s, FILE *out)
{
    const struct sweep_run *best = sweep_best(s);
    bool first = true;
    fputs("{\"runs\":[", out);
    for (size_t i = 0; i < s->runs_count; i++) {
        const struct sweep_run *r = &s->runs[i];
        if (r->outcome == SWEEP_NOT_YET)
            continue;
        fprintf(out, "%s{\"settings\":", first ? "" : ",");
        first = false;
        json_settings(s, r, out);
        fprintf(out,
                ",\"outcome\":\"%s\",\"ready_seconds\":%.3f,\"completed\":%llu,\"failed\":%llu,\"seconds_per_"
                "proof\":%.6f,"
                "\"steady_seconds_per_proof\":%.6f,\"p50_seconds\":%.6f,\"p95_seconds\":%.6f,\"peak_memory_"
                "bytes\":%llu,"
                "\"reason\":",
                OUTCOME[r->outcome], r->ready_seconds, (unsigned long long)r->completed,
                (unsigned long long)r->failed, r->per_proof, r->steady, r->p50, r->p95,
                (unsigned long long)r->peak_bytes);
        write_json_string(out, r->reason);
        fputs("}", out);
    }
    fprintf(out, "],\"memory_limit_bytes\":%llu,\"recommended\":", (unsigned long long)s->memory_limit);
    if (best != NULL)
        json_settings(s, best, out);
    else
        fputs("null", out);
    fputs("}\n", out);
}

/* ---- picture ---- */

#define WIDTH  760.0
#define HEIGHT 420.0
#define LEFT   70.0
#define RIGHT  690.0
#define TOP    50.0
#define BOTTOM 350.0

struct scale {
    double most_seconds, most_gib;
    size_t columns;
};

static double x_of(const struct scale *c, size_t column)
{
    return c->columns < 2 ? (LEFT + RIGHT) / 2
                          : LEFT + 20 + (RIGHT - LEFT - 40) * (double)column / (double)(c->columns - 1);
}

static double y_of(double value, double most)
{
    return BOTTOM - (BOTTOM - TOP) * value / most;
}

/* A multiple of 1, 2 or 5 above the value, for the axis. */
static double round_up(double value)
{
    double step = 1e-6;
    while (value > 10 * step)
        step *= 10;
    for (double m = 1; m <= 10; m++)
        if (value <= m * step)
            return m * step;
    return 10 * step;
}

static void axes(const struct sweep *s, const struct scale *c, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n"
            "<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n"
            "<path d=\"M%g %gV%gH%gV%g\" fill=\"none\" stroke=\"#333\"/>\n"
            "<text x=\"%g\" y=\"30\" fill=\"#1f5fa8\">seconds per proof</text>\n"
            "<text x=\"%g\" y=\"30\" text-anchor=\"end\" fill=\"#b4531f\">peak memory, GiB (dashed)</text>\n"
            "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT, TOP, LEFT, RIGHT, (LEFT + RIGHT) / 2,
            BOTTOM + 40, s->keys[0].name);
    for (int i = 0; i <= 4; i++) {
        double y = y_of(i, 4);
        fprintf(
            out,
            "<path d=\"M%g %gH%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%g\" text-anchor=\"end\">%.3g</text>"
            "<text x=\"%g\" y=\"%g\">%.3g</text>\n",
            LEFT, y, RIGHT, LEFT - 8, y + 4, c->most_seconds * i / 4, RIGHT + 8, y + 4, c->most_gib * i / 4);
    }
    for (size_t v = 0; v < s->keys[0].count; v++)
        fprintf(out, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.20s</text>\n", x_of(c, v),
                BOTTOM + 18, s->keys[0].values[v]);
}

/* One line of the picture: the runs that differ in the first key alone. */
static void line(const struct sweep *s, const struct scale *c, size_t series, size_t count, bool memory,
                 FILE *out)
{
    static const char *const COLOURS[2][4] = {{"#1f5fa8", "#2a9d8f", "#6a4c93", "#4a4a4a"},
                                              {"#b4531f", "#d9a441", "#c2418f", "#8a8a8a"}};
    const char *colour = COLOURS[memory][series % 4], *dash = memory ? " stroke-dasharray=\"6 4\"" : "";
    bool drawn = false;
    for (size_t v = 0; v < s->keys[0].count; v++) {
        const struct sweep_run *r = &s->runs[v * count + series];
        if (r->outcome != SWEEP_DONE)
            continue;
        double x = x_of(c, v);
        double y =
            memory ? y_of((double)r->peak_bytes / 0x1p30, c->most_gib) : y_of(r->per_proof, c->most_seconds);
        fprintf(out, drawn ? "L%.1f %.1f" : "<path fill=\"none\" stroke-width=\"2\" d=\"M%.1f %.1fh0.1", x,
                y);
        drawn = true;
    }
    if (drawn)
        fprintf(out, "\" stroke=\"%s\"%s/>\n", colour, dash);
    if (!drawn || memory || s->keys_count < 2)
        return;
    fprintf(out, "<text x=\"%g\" y=\"%g\" fill=\"%s\">", LEFT + 160 * (double)(series % 4),
            HEIGHT - 4 - 14 * (double)(series / 4), colour);
    for (size_t k = 1; k < s->keys_count; k++)
        fprintf(out, "%s%s=%.16s", k > 1 ? " " : "", short_name(&s->keys[k]),
                sweep_value(s, &s->runs[series], k));
    fputs("</text>\n", out);
}

void sweep_svg(const struct sweep *s, FILE *out)
{
    struct scale c = {0, 0, s->keys[0].count};
    size_t series = s->runs_count / s->keys[0].count;
    for (size_t i = 0; i < s->runs_count; i++) {
        const struct sweep_run *r = &s->runs[i];
        if (r->outcome != SWEEP_DONE)
            continue;
        double gib = (double)r->peak_bytes / 0x1p30;
        c.most_seconds = r->per_proof > c.most_seconds ? r->per_proof : c.most_seconds;
        c.most_gib = gib > c.most_gib ? gib : c.most_gib;
    }
    c.most_seconds = round_up(c.most_seconds);
    c.most_gib = round_up(c.most_gib);
    axes(s, &c, out);
    for (size_t i = 0; i < series && i < 12; i++) {
        line(s, &c, i, series, false, out);
        line(s, &c, i, series, true, out);
    }
    fputs("</svg>\n", out);
}

/* ---- files ---- */

static struct status write_one(const struct sweep *s, const char *name,
                               void (*write)(const struct sweep *s, FILE *out))
{
    char path[CONFIG_TEXT_MAX + 32];
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL)
        return mem_failed("results", 1, 65536);
    write(s, memory);
    if (fclose(memory) != 0) {
        free(text);
        return mem_failed("results", 1, 65536);
    }
    snprintf(path, sizeof path, "%.500s/%s", s->folder, name);
    struct file_writer writer;
    struct status status = file_writer_open(&writer, path);
    if (!status_failed(&status)) {
        status = file_writer_add(&writer, text, size);
        if (status_failed(&status))
            file_writer_abandon(&writer);
        else
            status = file_writer_finish(&writer);
    }
    free(text);
    return status;
}

struct status sweep_write(const struct sweep *s)
{
    TRY(write_one(s, "results.csv", csv));
    TRY(write_one(s, "results.json", sweep_json));
    return write_one(s, "plot.svg", sweep_svg);
}
