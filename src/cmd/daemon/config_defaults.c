/* The built-in values, and the rules that concern more than one key. */
#include "cmd/daemon/config.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set(char out[CONFIG_TEXT_MAX], const char *directory, const char *rest)
{
    snprintf(out, CONFIG_TEXT_MAX, "%.300s%s", directory, rest);
}

/* $variable, or $HOME/rest, or /tmp/rest. */
static void user_directory(char out[CONFIG_TEXT_MAX], const char *variable, const char *rest)
{
    const char *own = getenv(variable), *home = getenv("HOME");
    if (own != NULL && own[0] == '/')
        set(out, own, "");
    else
        set(out, home != NULL && home[0] == '/' ? home : "/tmp", rest);
}

void config_defaults(struct config *c)
{
    char directory[CONFIG_TEXT_MAX];
    bool root = geteuid() == 0;
    memset(c, 0, sizeof *c);
    if (root) {
        set(c->daemon.listen, "unix:///run/curio/cuzk.sock", "");
        set(c->daemon.state_dir, "/var/lib/cuzk", "");
        set(c->logging.file, "/var/log/cuzk/cuzk.log", "");
    } else {
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        user_directory(directory, "XDG_STATE_HOME", "/.local/state");
        set(c->daemon.state_dir, directory, "/cuzk");
        set(c->logging.file, directory, "/cuzk/cuzk.log");
        snprintf(c->daemon.listen, CONFIG_TEXT_MAX, "unix://%.300s/cuzk.sock",
                 runtime != NULL && runtime[0] == '/' ? runtime : directory);
    }
    c->daemon.socket_mode = 0660;
    c->daemon.drain_timeout_ms = 300000;
    c->daemon.max_queue = 256;
    c->daemon.max_queue_bytes = UINT64_C(8) << 30;
    const char *cache = getenv("FIL_PROOFS_PARAMETER_CACHE");
    set(c->srs.param_cache, cache != NULL && cache[0] != 0 ? cache : "/var/tmp/filecoin-proof-parameters",
        "");
    set(c->srs.residency, "auto", "");
    c->memory.total_budget = BYTES_AUTO;
    c->memory.safety_margin = UINT64_C(5) << 30;
    c->memory.eviction_min_idle_ms = 300000;
    set(c->gpus.backend, "auto", "");
    c->gpus.require_all = true;
    c->gpus.gpu_workers_per_device = 2;
    c->scheduler.sort_by_type = true;
    c->scheduler.late_winning_ms = 20000;
    c->scheduler.late_window_ms = 1200000;
    c->pipeline.enabled = true;
    c->pipeline.synthesis_lookahead = 1;
    c->journal.retention_ms = 86400000;
    set(c->logging.level, "info", "");
    set(c->logging.format, "text", "");
}

static bool one_of(const char *text, const char *const *choices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, choices[i]) == 0)
            return true;
    return false;
}

static struct status check_choice(const char *key, const char *text, const char *const *choices, size_t count)
{
    char all[128] = "";
    if (one_of(text, choices, count))
        return status_ok();
    for (size_t i = 0; i < count; i++) {
        strncat(all, i > 0 ? ", " : "", sizeof all - strlen(all) - 1);
        strncat(all, choices[i], sizeof all - strlen(all) - 1);
    }
    return status_error(STATUS_INVALID, "%s is \"%.60s\"; it can be %s", key, text, all);
}

/* Numbers, or the name that cannot be another machine's: "127.0.0.1.example.org" is one. */
static bool loopback(const char *host, size_t length)
{
    static const char *const names[] = {"localhost", "[::1]"};
    char text[INET_ADDRSTRLEN];
    struct in_addr number;
    for (size_t i = 0; i < 2; i++)
        if (strlen(names[i]) == length && strncmp(host, names[i], length) == 0)
            return true;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), host);
    return length < sizeof text && inet_pton(AF_INET, text, &number) == 1 &&
           ntohl(number.s_addr) >> 24 == 127;
}

static struct status check_address(const char *key, const char *address, bool insecure)
{
    if (strncmp(address, "unix:", 5) == 0)
        return address[5] != 0 ? status_ok()
                               : status_error(STATUS_INVALID, "%s: \"unix:\" wants a path", key);
    const char *colon = strrchr(address, ':');
    char *end;
    long port = colon == NULL ? -1 : strtol(colon + 1, &end, 10);
    if (colon == NULL || colon == address || colon[1] == 0 || *end != 0 || port < 0 || port > 65535)
        return status_hint(
            status_error(STATUS_INVALID, "%s is \"%.150s\", which is no address", key, address),
            "write unix:///path/to/socket or host:port");
    if (loopback(address, (size_t)(colon - address)) || insecure)
        return status_ok();
    return status_hint(
        status_error(STATUS_INVALID,
                     "%s is \"%.150s\": an address beyond this machine, without encryption or access control",
                     key, address),
        "set daemon.insecure = true if the network is private, or listen on a UNIX socket or 127.0.0.1");
}

struct status config_check(const struct config *c)
{
    static const char *const residencies[] = {"auto", "device", "pinned", "mapped"};
    static const char *const backends[] = {"auto", "cuda", "cpu"};
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    static const char *const formats[] = {"text", "json"};
    TRY(check_choice("srs.residency", c->srs.residency, residencies, 4));
    TRY(check_choice("gpus.backend", c->gpus.backend, backends, 3));
    TRY(check_choice("logging.level", c->logging.level, levels, 4));
    TRY(check_choice("logging.format", c->logging.format, formats, 2));
    TRY(check_address("daemon.listen", c->daemon.listen, c->daemon.insecure));
    if (c->daemon.status_listen[0] != 0)
        TRY(check_address("daemon.status_listen", c->daemon.status_listen, c->daemon.insecure));
    if (c->journal.path[0] != 0 && c->journal.path[0] != '/')
        return status_hint(status_error(STATUS_INVALID, "journal.path is \"%.150s\"", c->journal.path),
                           "write the whole path, from / on: it must be the same file at every start");
    if (c->daemon.max_queue == 0)
        return status_error(STATUS_INVALID, "daemon.max_queue must be at least 1");
    if (c->gpus.gpu_workers_per_device == 0)
        return status_error(STATUS_INVALID, "gpus.gpu_workers_per_device must be at least 1");
    for (uint32_t i = 0; i < c->srs.trusted_digests.count; i++) {
        const char *digest = c->srs.trusted_digests.items[i];
        if (strlen(digest) != 32 || strspn(digest, "0123456789abcdef") != 32)
            return status_error(STATUS_INVALID,
                                "srs.trusted_digests: \"%.60s\" is not 32 lower-case hexadecimal digits",
                                digest);
    }
    return status_ok();
}
