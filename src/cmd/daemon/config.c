/* See config.h. */
#include "cmd/daemon/config.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "cmd/daemon/toml_shim.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum key_type { KEY_TEXT, KEY_BOOL, KEY_COUNT, KEY_BYTES, KEY_BYTES_AUTO, KEY_DURATION, KEY_MODE, KEY_LIST };

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
};

#define AT(member) offsetof(struct config, member)
static const struct key KEYS[] = {
    {"daemon.listen", KEY_TEXT, AT(daemon.listen)},
    {"daemon.insecure", KEY_BOOL, AT(daemon.insecure)},
    {"daemon.status_listen", KEY_TEXT, AT(daemon.status_listen)},
    {"daemon.socket_mode", KEY_MODE, AT(daemon.socket_mode)},
    {"daemon.socket_group", KEY_TEXT, AT(daemon.socket_group)},
    {"daemon.drain_timeout", KEY_DURATION, AT(daemon.drain_timeout_ms)},
    {"daemon.max_queue", KEY_COUNT, AT(daemon.max_queue)},
    {"daemon.max_queue_bytes", KEY_BYTES, AT(daemon.max_queue_bytes)},
    {"daemon.state_dir", KEY_TEXT, AT(daemon.state_dir)},
    {"srs.param_cache", KEY_TEXT, AT(srs.param_cache)},
    {"srs.preload", KEY_LIST, AT(srs.preload)},
    {"srs.residency", KEY_TEXT, AT(srs.residency)},
    {"srs.trusted_digests", KEY_LIST, AT(srs.trusted_digests)},
    {"srs.allow_test_params", KEY_BOOL, AT(srs.allow_test_params)},
    {"srs.shape_cache", KEY_TEXT, AT(srs.shape_cache)},
    {"memory.total_budget", KEY_BYTES_AUTO, AT(memory.total_budget)},
    {"memory.safety_margin", KEY_BYTES, AT(memory.safety_margin)},
    {"memory.eviction_min_idle", KEY_DURATION, AT(memory.eviction_min_idle_ms)},
    {"memory.overcommit", KEY_BOOL, AT(memory.overcommit)},
    {"gpus.backend", KEY_TEXT, AT(gpus.backend)},
    {"gpus.devices", KEY_LIST, AT(gpus.devices)},
    {"gpus.require_all", KEY_BOOL, AT(gpus.require_all)},
    {"gpus.memory_limit", KEY_BYTES, AT(gpus.memory_limit)},
    {"gpus.gpu_threads", KEY_COUNT, AT(gpus.gpu_threads)},
    {"gpus.gpu_workers_per_device", KEY_COUNT, AT(gpus.gpu_workers_per_device)},
    {"scheduler.sort_by_type", KEY_BOOL, AT(scheduler.sort_by_type)},
    {"scheduler.late_winning", KEY_DURATION, AT(scheduler.late_winning_ms)},
    {"scheduler.late_window", KEY_DURATION, AT(scheduler.late_window_ms)},
    {"synthesis.threads", KEY_COUNT, AT(synthesis.threads)},
    {"synthesis.partition_workers", KEY_COUNT, AT(synthesis.partition_workers)},
    {"pipeline.enabled", KEY_BOOL, AT(pipeline.enabled)},
    {"pipeline.synthesis_lookahead", KEY_COUNT, AT(pipeline.synthesis_lookahead)},
    {"journal.path", KEY_TEXT, AT(journal.path)},
    {"journal.retention", KEY_DURATION, AT(journal.retention_ms)},
    {"logging.level", KEY_TEXT, AT(logging.level)},
    {"logging.format", KEY_TEXT, AT(logging.format)},
    {"logging.file", KEY_TEXT, AT(logging.file)},
};
#define KEYS_COUNT (sizeof KEYS / sizeof KEYS[0])

/* Keys of the older daemon that have no meaning here: taken, with a warning. */
static const char *const IGNORED[] = {
    "memory.pinned_budget",         "memory.working_memory_budget",
    "pipeline.slot_size",           "pipeline.max_parallel_synthesis",
    "pipeline.max_gpu_queue_depth", "pipeline.synthesis_concurrency",
    "scheduler.max_batch_size",     "scheduler.max_batch_wait_ms",
};
#define IGNORED_COUNT (sizeof IGNORED / sizeof IGNORED[0])
static const char *const REFUSED[] = {"cluster.", "tls.", "auth."};

static const char *const PLACES[] = {"/etc/cuzk/cuzk.toml", "/data/zk/cuzk.toml"};

/* ---- values ---- */

struct unit {
    const char *name;
    double factor;
};

static bool parse_unit(double *out, const char *text, const struct unit *units, size_t count, double plain)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno != 0 || !isfinite(value) || value < 0 || !isdigit((unsigned char)text[0]))
        return false;
    while (*end == ' ')
        end++;
    if (*end == 0) {
        *out = value * plain;
        return plain > 0 || value == 0;
    }
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(end, units[i].name) == 0) {
            *out = value * units[i].factor;
            return true;
        }
    return false;
}

static bool to_u64(uint64_t *out, double value)
{
    if (value >= 9.2e18)
        return false;
    *out = (uint64_t)(value + 0.5);
    return true;
}

bool parse_bytes(uint64_t *out, const char *text)
{
    static const struct unit units[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                        {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"KB", 1e3},
                                        {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
    double value;
    return parse_unit(&value, text, units, sizeof units / sizeof units[0], 1) && to_u64(out, value);
}

bool parse_duration_ms(uint64_t *out, const char *text)
{
    static const struct unit units[] = {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
    double value;
    return parse_unit(&value, text, units, sizeof units / sizeof units[0], 0) && to_u64(out, value);
}

static bool parse_count(uint64_t *out, const char *text)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)text[0]))
        return false;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == 0 && *out <= 1000000;
}

static bool parse_mode(uint64_t *out, const char *text)
{
    char *end;
    *out = strtoull(text, &end, 8);
    return text[0] != 0 && *end == 0 && *out <= 0777;
}

static bool parse_bool(bool *out, const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
        *out = true;
    else if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
        *out = false;
    else
        return false;
    return true;
}

static const char *wants(enum key_type type)
{
    static const char *const texts[] = {
        "a text",
        "true or false",
        "a whole number of at most 1,000,000",
        "a size such as \"5GiB\" (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)",
        "a size such as \"64GiB\", or \"auto\"",
        "a duration such as \"5m\" (ms, s, m, h, d)",
        "a file mode such as \"0660\"",
        "a list of texts",
    };
    return texts[type];
}

static void list_clear(struct config_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        mem_free(list->items[i]);
    list->count = 0;
}

static bool list_add(struct config_list *list, const char *text, size_t length)
{
    if (list->count == CONFIG_LIST_MAX)
        return false;
    char *copy = mem_alloc(length + 1, 1);
    if (copy == NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    list->items[list->count++] = copy;
    return true;
}

/* "a, b, c" */
static bool parse_list(struct config_list *list, const char *text)
{
    list_clear(list);
    list->set = true;
    while (*text != 0) {
        while (*text == ' ' || *text == ',')
            text++;
        size_t n = strcspn(text, ", ");
        if (n > 0 && !list_add(list, text, n))
            return false;
        text += n;
    }
    return true;
}

static bool set_text(const struct key *key, struct config *c, const char *text)
{
    void *at = (char *)c + key->offset;
    switch (key->type) {
    case KEY_TEXT:
        if (strlen(text) >= CONFIG_TEXT_MAX)
            return false;
        memcpy(at, text, strlen(text) + 1);
        return true;
    case KEY_BOOL:
        return parse_bool(at, text);
    case KEY_COUNT:
        return parse_count(at, text);
    case KEY_BYTES:
        if (text[0] == 0) {
            *(uint64_t *)at = 0;
            return true;
        }
        return parse_bytes(at, text);
    case KEY_BYTES_AUTO:
        if (strcmp(text, "auto") == 0) {
            *(uint64_t *)at = BYTES_AUTO;
            return true;
        }
        return parse_bytes(at, text);
    case KEY_DURATION:
        return parse_duration_ms(at, text);
    case KEY_MODE:
        return parse_mode(at, text);
    case KEY_LIST:
        return parse_list(at, text);
    }
    return false;
}

/* ---- keys ---- */

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEYS_COUNT; i++)
        if (strcmp(KEYS[i].name, name) == 0)
            return &KEYS[i];
    return NULL;
}

static bool is_ignored(const char *name)
{
    for (size_t i = 0; i < IGNORED_COUNT; i++)
        if (strcmp(IGNORED[i], name) == 0)
            return true;
    return false;
}

static void warn(struct config *c, const char *where, const char *name)
{
    if (c->warnings_count < sizeof c->warnings / sizeof c->warnings[0])
        snprintf(c->warnings[c->warnings_count++], CONFIG_TEXT_MAX,
                 "%.300s: %.100s has no effect here and is ignored", where, name);
}

static struct status unknown_key(const char *where, const char *name)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++)
        if (strncmp(REFUSED[i], name, strlen(REFUSED[i])) == 0)
            return status_error(STATUS_UNSUPPORTED, "%.150s: %.60s is not in this version", where, name);
    const char *nearest = name_nearest(name, &KEYS[0].name, KEYS_COUNT, sizeof KEYS[0]);
    struct status s = status_error(STATUS_INVALID, "%.150s: there is no key %.60s", where, name);
    return nearest != NULL ? status_hint(s, "did you mean %s?", nearest)
                           : status_hint(s, "cuzk-daemon --show-config lists all keys");
}

static struct status wrong_value(const char *where, const struct key *key, const char *text)
{
    return status_error(STATUS_INVALID, "%.120s: %s wants %s, not %.60s", where, key->name, wants(key->type),
                        text);
}

struct status config_set(struct config *c, const char *name, const char *text, const char *where)
{
    const struct key *key = find_key(name);
    if (key == NULL && is_ignored(name)) {
        warn(c, where, name);
        return status_ok();
    }
    if (key == NULL)
        return unknown_key(where, name);
    return set_text(key, c, text) ? status_ok() : wrong_value(where, key, text);
}

/* ---- the file ---- */

static bool set_strings(struct config_list *list, const struct toml_value *v)
{
    const char *at = v->text;
    list_clear(list);
    list->set = true;
    for (size_t i = 0; i < v->elements; i++, at += strlen(at) + 1)
        if (!list_add(list, at, strlen(at)))
            return false;
    return true;
}

static struct status set_value(struct config *c, const struct toml_value *v, const char *where)
{
    char text[64];
    const struct key *key = find_key(v->key);
    if (key == NULL)
        return config_set(c, v->key, "", where);
    bool number_fits = key->type == KEY_COUNT || key->type == KEY_BYTES || key->type == KEY_BYTES_AUTO;
    switch (v->type) {
    case TOML_STRING:
        if (key->type == KEY_BOOL || key->type == KEY_COUNT || key->type == KEY_LIST)
            return wrong_value(where, key, v->text);
        return config_set(c, v->key, v->text, where);
    case TOML_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)v->integer);
        return number_fits ? config_set(c, v->key, text, where) : wrong_value(where, key, text);
    case TOML_BOOLEAN:
        snprintf(text, sizeof text, "%s", v->boolean ? "true" : "false");
        return key->type == KEY_BOOL ? config_set(c, v->key, text, where) : wrong_value(where, key, text);
    case TOML_STRINGS:
        if (key->type != KEY_LIST)
            return wrong_value(where, key, "a list");
        return set_strings((struct config_list *)(void *)((char *)c + key->offset), v)
                   ? status_ok()
                   : wrong_value(where, key, "so long a list");
    case TOML_FLOAT:
        snprintf(text, sizeof text, "%g", v->number);
        return wrong_value(where, key, text);
    case TOML_OTHER:
        return wrong_value(where, key, v->text);
    }
    return status_ok();
}

static struct status apply_file(struct config *c, const char *path, const struct toml_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        char where[CONFIG_TEXT_MAX];
        snprintf(where, sizeof where, "%.200s, line %u", path, file->values[i].line);
        TRY(set_value(c, &file->values[i], where));
    }
    return status_ok();
}

struct status config_load(struct config *c, const char *path)
{
    for (size_t i = 0; path == NULL && i < sizeof PLACES / sizeof PLACES[0]; i++)
        if (access(PLACES[i], F_OK) == 0)
            path = PLACES[i];
    if (path == NULL)
        return status_ok();
    if (strlen(path) >= CONFIG_TEXT_MAX)
        return status_error(STATUS_INVALID, "path of the configuration file is too long");
    memcpy(c->file, path, strlen(path) + 1);
    uint8_t *text;
    size_t size;
    TRY(file_read(&text, &size, path, 1 << 20, 0));
    struct toml_file file;
    struct status s =
        toml_file_parse(&file, (const char *)text, size)
            ? apply_file(c, path, &file)
            : status_error(STATUS_INVALID, "%.120s, line %u: %.100s", path, file.error_line, file.error);
    toml_file_end(&file);
    mem_free(text);
    return s;
}

struct status config_environment(struct config *c)
{
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        char name[64] = "CUZK_", where[96];
        size_t n = 5;
        for (const char *k = KEYS[i].name; *k != 0 && n + 1 < sizeof name; k++)
            name[n++] = *k == '.' ? '_' : (char)toupper((unsigned char)*k);
        name[n] = 0;
        const char *value = getenv(name);
        snprintf(where, sizeof where, "environment variable %s", name);
        if (value != NULL)
            TRY(config_set(c, KEYS[i].name, value, where));
    }
    return status_ok();
}

/* ---- showing ---- */

static void show_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void show_bytes(FILE *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    fprintf(out, "\"%llu%s\"", (unsigned long long)bytes, units[unit]);
}

static void show_value(FILE *out, const struct key *key, const struct config *c)
{
    const void *at = (const char *)c + key->offset;
    uint64_t number = 0;
    if (key->type != KEY_TEXT && key->type != KEY_BOOL && key->type != KEY_LIST)
        number = *(const uint64_t *)at;
    switch (key->type) {
    case KEY_TEXT:
        show_text(out, at);
        break;
    case KEY_BOOL:
        fputs(*(const bool *)at ? "true" : "false", out);
        break;
    case KEY_COUNT:
        fprintf(out, "%llu", (unsigned long long)number);
        break;
    case KEY_BYTES_AUTO:
    case KEY_BYTES:
        if (number == BYTES_AUTO)
            fputs("\"auto\"", out);
        else
            show_bytes(out, number);
        break;
    case KEY_DURATION:
        if (number % 1000 == 0)
            fprintf(out, "\"%llus\"", (unsigned long long)(number / 1000));
        else
            fprintf(out, "\"%llums\"", (unsigned long long)number);
        break;
    case KEY_MODE:
        fprintf(out, "\"%04llo\"", (unsigned long long)number);
        break;
    case KEY_LIST: {
        const struct config_list *list = at;
        fputc('[', out);
        for (uint32_t i = 0; i < list->count; i++) {
            fputs(i > 0 ? ", " : "", out);
            show_text(out, list->items[i]);
        }
        fputc(']', out);
        break;
    }
    }
}

void config_show(const struct config *c, FILE *out)
{
    char section[32] = "";
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        const char *dot = strchr(KEYS[i].name, '.');
        size_t n = (size_t)(dot - KEYS[i].name);
        if (strncmp(section, KEYS[i].name, n) != 0 || section[n] != 0) {
            fprintf(out, "%s[%.*s]\n", i > 0 ? "\n" : "", (int)n, KEYS[i].name);
            snprintf(section, sizeof section, "%.*s", (int)n, KEYS[i].name);
        }
        fprintf(out, "%s = ", dot + 1);
        show_value(out, &KEYS[i], c);
        fputc('\n', out);
    }
}

void config_end(struct config *c)
{
    list_clear(&c->srs.preload);
    list_clear(&c->srs.trusted_digests);
    list_clear(&c->gpus.devices);
}
