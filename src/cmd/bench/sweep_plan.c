/* The list of runs: every combination of the swept keys' values, each checked as a configuration before
 * anything starts; and what an earlier, stopped sweep has left in results.csv. */
#include "cmd/bench/sweep.h"

#include "base/file.h"
#include "base/mem.h"
#include "cmd/daemon/toml_shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sweep_value(const struct sweep *s, const struct sweep_run *run, size_t key)
{
    return s->keys[key].values[run->value[key]];
}

static struct status add_value(struct sweep_key *key, const char *text, size_t length)
{
    if (key->count == SWEEP_VALUES_MAX)
        return status_error(STATUS_INVALID, "%s: more than %d values", key->name, SWEEP_VALUES_MAX);
    if (length == 0 || length >= SWEEP_VALUE_MAX)
        return status_error(STATUS_INVALID, "%s: a value is empty, or longer than %d bytes", key->name,
                            SWEEP_VALUE_MAX - 1);
    snprintf(key->values[key->count++], SWEEP_VALUE_MAX, "%.*s", (int)length, text);
    return status_ok();
}

static struct status add_key(struct sweep_key **out, struct sweep *s, const char *name, size_t length)
{
    if (s->keys_count == SWEEP_KEYS_MAX)
        return status_error(STATUS_INVALID, "more than %d keys are swept", SWEEP_KEYS_MAX);
    struct sweep_key *key = &s->keys[s->keys_count];
    memset(key, 0, sizeof *key);
    if (length == 0 || length >= sizeof key->name)
        return status_error(STATUS_INVALID, "\"%.60s\" is no key: write KEY=VALUE,VALUE", name);
    snprintf(key->name, sizeof key->name, "%.*s", (int)length, name);
    for (size_t i = 0; i < s->keys_count; i++)
        if (strcmp(s->keys[i].name, key->name) == 0)
            return status_error(STATUS_INVALID, "%s is swept twice", key->name);
    s->keys_count++;
    *out = key;
    return status_ok();
}

struct status sweep_add(struct sweep *s, const char *text)
{
    struct sweep_key *key;
    const char *equals = strchr(text, '=');
    TRY(add_key(&key, s, text, equals != NULL ? (size_t)(equals - text) : 0));
    for (const char *at = equals + 1;;) {
        size_t length = strcspn(at, ",");
        TRY(add_value(key, at, length));
        if (at[length] == 0)
            return status_ok();
        at += length + 1;
    }
}

static struct status add_toml(struct sweep *s, const struct toml_value *v, const char *path)
{
    struct sweep_key *key;
    char text[32];
    TRY(add_key(&key, s, v->key, strlen(v->key)));
    if (v->type == TOML_INTEGER) {
        snprintf(text, sizeof text, "%lld", (long long)v->integer);
        return add_value(key, text, strlen(text));
    }
    if (v->type == TOML_BOOLEAN)
        return add_value(key, v->boolean ? "true" : "false", v->boolean ? 4 : 5);
    if (v->type == TOML_STRING)
        return add_value(key, v->text, strlen(v->text));
    if (v->type != TOML_STRINGS)
        return status_error(STATUS_INVALID, "%.150s, line %u: %s wants a list of values", path, v->line,
                            v->key);
    const char *at = v->text;
    for (size_t i = 0; i < v->elements; i++, at += strlen(at) + 1)
        TRY(add_value(key, at, strlen(at)));
    return status_ok();
}

struct status sweep_add_file(struct sweep *s, const char *path)
{
    uint8_t *text;
    size_t size;
    struct toml_file file;
    TRY(file_read(&text, &size, path, 1 << 20, 0));
    struct status status = status_ok();
    if (!toml_file_parse(&file, (const char *)text, size))
        status = status_error(STATUS_INVALID, "%.120s, line %u: %.100s", path, file.error_line, file.error);
    for (size_t i = 0; i < file.count && !status_failed(&status); i++)
        status = add_toml(s, &file.values[i], path);
    toml_file_end(&file);
    mem_free(text);
    return status;
}

struct status sweep_combine(struct sweep *s)
{
    size_t runs = 1;
    if (s->keys_count == 0)
        return status_hint(status_error(STATUS_INVALID, "nothing is swept"),
                           "--partition-workers 4,8,12, or --set KEY=V1,V2");
    for (size_t k = 0; k < s->keys_count; k++) {
        const struct sweep_key *key = &s->keys[k];
        for (size_t v = 0; v < key->count; v++)
            TRY(config_set(&s->base, key->name, key->values[v], "the sweep"));
        runs *= key->count;
        if (runs == 0 || runs > SWEEP_RUNS_MAX)
            return status_error(STATUS_INVALID, "%zu runs: from 1 to %d can be swept", runs, SWEEP_RUNS_MAX);
    }
    s->runs_count = runs;
    for (size_t i = 0; i < runs; i++) {
        size_t rest = i;
        for (size_t k = s->keys_count; k-- > 0; rest /= s->keys[k].count)
            s->runs[i].value[k] = rest % s->keys[k].count;
    }
    return status_ok();
}

/* ---- results of before ---- */

/* The next field of a CSV line: quoted, or up to the comma. False at the end of the line. */
static bool next_field(char *out, size_t size, const char **line)
{
    const char *at = *line;
    size_t n = 0;
    if (*at == 0 || *at == '\n')
        return false;
    bool quoted = *at == '"';
    at += quoted;
    while (*at != 0 && *at != '\n' && (quoted || *at != ',')) {
        if (quoted && *at == '"' && *++at != '"')
            break;
        if (n + 1 < size)
            out[n++] = *at;
        at++;
    }
    out[n] = 0;
    *line = *at == ',' ? at + 1 : at;
    return true;
}

static struct sweep_run *find_run(struct sweep *s, char values[SWEEP_KEYS_MAX][240])
{
    for (size_t i = 0; i < s->runs_count; i++) {
        size_t same = 0;
        while (same < s->keys_count && strcmp(sweep_value(s, &s->runs[i], same), values[same]) == 0)
            same++;
        if (same == s->keys_count)
            return &s->runs[i];
    }
    return NULL;
}

static void recall_line(struct sweep *s, const char *line)
{
    static const char *const OUTCOME[SWEEP_OUTCOMES] = {"", "done", "failed", "no start"};
    char values[SWEEP_KEYS_MAX][240], text[240];
    double number[8] = {0};
    for (size_t k = 0; k < s->keys_count; k++)
        if (!next_field(values[k], sizeof values[k], &line))
            return;
    struct sweep_run *run = find_run(s, values);
    if (run == NULL || !next_field(text, sizeof text, &line))
        return;
    for (int o = SWEEP_DONE; o < SWEEP_OUTCOMES; o++)
        if (strcmp(text, OUTCOME[o]) == 0)
            run->outcome = (enum sweep_outcome)o;
    for (int i = 0; i < 8 && next_field(text, sizeof text, &line); i++)
        number[i] = strtod(text, NULL);
    run->ready_seconds = number[0];
    run->completed = (uint64_t)number[1];
    run->failed = (uint64_t)number[2];
    run->per_proof = number[3];
    run->steady = number[4];
    run->p50 = number[5];
    run->p95 = number[6];
    run->peak_bytes = (uint64_t)number[7];
    if (next_field(text, sizeof text, &line))
        memcpy(run->reason, text, sizeof run->reason);
    run->earlier = run->outcome != SWEEP_NOT_YET;
}

struct status sweep_recall(struct sweep *s)
{
    char path[CONFIG_TEXT_MAX + 32], name[64];
    uint8_t *text;
    size_t size;
    snprintf(path, sizeof path, "%.500s/results.csv", s->folder);
    TRY(file_read(&text, &size, path, 1 << 24, 0));
    const char *line = (const char *)text;
    struct status status = status_ok();
    for (size_t k = 0; k < s->keys_count && !status_failed(&status); k++)
        if (!next_field(name, sizeof name, &line) || strcmp(name, s->keys[k].name) != 0)
            status = status_hint(status_error(STATUS_INVALID, "\"%.150s\" is of a sweep of other keys", path),
                                 "give the same keys in the same order, or another --out");
    while (!status_failed(&status) && (line = strchr(line, '\n')) != NULL)
        recall_line(s, ++line);
    mem_free(text);
    return status;
}
