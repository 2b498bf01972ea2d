/* cuzk-bench compare: two results of `batch --json`, figure by figure, with the ratio of the second to the
 * first. */
#include "cmd/bench/bench.h"

#include "base/file.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Figures in the order in which they are shown; less is better for all of them. */
static const char *const FIGURES[] = {
    "seconds_per_proof",
    "steady_seconds_per_proof",
    "min_seconds",
    "mean_seconds",
    "p50_seconds",
    "p95_seconds",
    "max_seconds",
    "queue_wait_mean_seconds",
    "synthesis_mean_seconds",
    "device_mean_seconds",
    "peak_memory_bytes",
    "peak_rss_bytes",
    "failed",
};
#define FIGURES_COUNT (sizeof FIGURES / sizeof FIGURES[0])

struct side {
    const char *path;
    double value[FIGURES_COUNT]; /* NAN: it has none */
    char type[32];
};

static double number(const char *json, const char *name)
{
    char quoted[64], *end;
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(json, quoted);
    if (at == NULL)
        return NAN;
    double value = strtod(at + strlen(quoted), &end);
    return end == at + strlen(quoted) ? NAN : value;
}

static struct status read_side(struct side *s, const char *path)
{
    uint8_t *text;
    size_t size;
    s->path = path;
    TRY(file_read(&text, &size, path, 1 << 20, 0));
    const char *json = (const char *)text, *type = strstr(json, "\"type\":\"");
    if (type != NULL)
        snprintf(s->type, sizeof s->type, "%.*s", (int)strcspn(type + 8, "\""), type + 8);
    bool any = false;
    for (size_t i = 0; i < FIGURES_COUNT; i++) {
        s->value[i] = number(json, FIGURES[i]);
        any |= !isnan(s->value[i]);
    }
    mem_free(text);
    return any ? status_ok()
               : status_hint(
                     status_error(STATUS_INVALID, "\"%.200s\" is no result of cuzk-bench batch --json", path),
                     "cuzk-bench batch ... --json > FILE");
}

static void show_text(const struct side *a, const struct side *b)
{
    printf("%-26s %15s %15s %9s\n", "", "A", "B", "B / A");
    for (size_t i = 0; i < FIGURES_COUNT; i++) {
        double x = a->value[i], y = b->value[i];
        if (isnan(x) || isnan(y))
            continue;
        printf("%-26s %15.6g %15.6g ", FIGURES[i], x, y);
        if (x > 0)
            printf("%9.3f\n", y / x);
        else
            printf("%9s\n", "-");
    }
}

static void show_json(const struct side *a, const struct side *b)
{
    const char *comma = "";
    fputs("{", stdout);
    for (size_t i = 0; i < FIGURES_COUNT; i++) {
        double x = a->value[i], y = b->value[i];
        if (isnan(x) || isnan(y))
            continue;
        printf("%s\"%s\":{\"a\":%.9g,\"b\":%.9g", comma, FIGURES[i], x, y);
        if (x > 0)
            printf(",\"ratio\":%.6f", y / x);
        fputs("}", stdout);
        comma = ",";
    }
    fputs("}\n", stdout);
}

static int run(int argc, char **argv)
{
    static struct side a, b;
    const char *paths[2] = {NULL, NULL};
    uint64_t worse = 0;
    bool json = false, worse_given = false;
    const struct arg args[] = {
        {"--worse", ARG_NUMBER, &worse, &worse_given, "PERCENT",
         "fail if B takes more seconds or memory per proof than A by more than this", false},
        {"--json", ARG_FLAG, &json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_COMPARE, args, sizeof args / sizeof args[0], argc, argv, paths, 2, &exit_code))
        return exit_code;
    if (paths[1] == NULL)
        return usage_error("cuzk-bench compare A.json B.json", "two results are compared");
    struct status s = read_side(&a, paths[0]);
    if (!status_failed(&s))
        s = read_side(&b, paths[1]);
    if (status_failed(&s))
        return report_status(&s, json);
    if (strcmp(a.type, b.type) != 0)
        fprintf(stderr, "warning: A is of %s proofs, B of %s\n", a.type, b.type);
    (json ? show_json : show_text)(&a, &b);
    if (fflush(stdout) != 0)
        return EXIT_FAILED;
    static const char *const BARS[] = {"seconds_per_proof", "peak_memory_bytes"};
    for (size_t i = 0; worse_given && i < FIGURES_COUNT; i++)
        for (size_t k = 0; k < 2; k++)
            if (strcmp(FIGURES[i], BARS[k]) == 0 && b.value[i] > a.value[i] * (1 + 0.01 * (double)worse)) {
                fprintf(stderr, "error: %s of B is %.1f %% above A's\n", FIGURES[i],
                        100 * (b.value[i] / a.value[i] - 1));
                return EXIT_FAILED;
            }
    return EXIT_DONE;
}

const struct command COMMAND_COMPARE = {"compare", "set two results of batch --json side by side",
                                        "A.json B.json [--worse PERCENT]", run};
