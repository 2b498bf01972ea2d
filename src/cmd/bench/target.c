/* Finding the daemon and talking to it: see bench.h. */
#include "cmd/bench/bench.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define CONNECT_MS 5000
#define HEALTH_MS  5000

static void copy(char out[CONFIG_TEXT_MAX], const char *text)
{
    snprintf(out, CONFIG_TEXT_MAX, "%s", text);
}

static struct status resolve_with(struct target *target, struct config *config)
{
    struct status s = config_load(config, target->config_given);
    if (!status_failed(&s))
        s = config_environment(config);
    if (status_failed(&s) && (target->config_given != NULL || target->address_given == NULL))
        return s;
    copy(target->address, target->address_given != NULL ? target->address_given : config->daemon.listen);
    copy(target->state_dir,
         target->state_dir_given != NULL ? target->state_dir_given : config->daemon.state_dir);
    copy(target->log, config->logging.file);
    target->drain_timeout_ms = config->daemon.drain_timeout_ms;
    return status_ok();
}

struct status target_resolve(struct target *target)
{
    struct config config;
    config_defaults(&config);
    struct status s = resolve_with(target, &config);
    config_end(&config);
    return s;
}

int report_status(const struct status *s, bool json)
{
    struct cuzk_error error = {.code = (enum cuzk_code)s->code};
    memcpy(error.message, s->message, sizeof error.message);
    memcpy(error.detail, s->detail, sizeof error.detail);
    memcpy(error.hint, s->hint, sizeof error.hint);
    return report_error(&error, json);
}

struct status call_failed(const char *what, uint32_t code, const char *message)
{
    static const struct {
        uint32_t code;
        enum status_code status;
    } map[] = {{GRPC_INVALID_ARGUMENT, STATUS_INVALID},  {GRPC_NOT_FOUND, STATUS_MISSING},
               {GRPC_RESOURCE_EXHAUSTED, STATUS_MEMORY}, {GRPC_CANCELLED, STATUS_CANCELLED},
               {GRPC_UNIMPLEMENTED, STATUS_UNSUPPORTED}, {GRPC_FAILED_PRECONDITION, STATUS_INVALID}};
    enum status_code status = STATUS_IO;
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (map[i].code == code)
            status = map[i].status;
    struct status s = status_error(status, "%.60s: %s", what, grpc_code_name((enum grpc_code)code));
    snprintf(s.detail, sizeof s.detail, "%.239s", message);
    return s;
}

struct status target_connect(struct channel **out, const struct target *target)
{
    struct run_record record;
    char how[400];
    struct status s = channel_open(out, target->address, CONNECT_MS);
    if (s.code != STATUS_MISSING)
        return s;
    struct status read = run_record_read(&record, target->state_dir);
    if (status_failed(&read))
        return status_hint(s, "start cuzk-daemon, or give its address with -a");
    run_record_explain(how, sizeof how, &record);
    if (run_record_alive(&record))
        return status_hint(status_detail(s, "a daemon %.180s", how), "it listens on %.120s",
                           record.listen[0] != 0 ? record.listen : "no address yet");
    return status_hint(status_detail(s, "the last run, pid %lld, %.180s", (long long)record.pid, how),
                       "start cuzk-daemon, or give its address with -a");
}

pid_t target_pid(const struct target *target, const struct channel *channel)
{
    struct run_record record;
    if (channel_peer(channel) > 0)
        return channel_peer(channel);
    struct status s = run_record_read(&record, target->state_dir);
    return !status_failed(&s) && run_record_alive(&record) && strcmp(record.listen, target->address) == 0
               ? (pid_t)record.pid
               : 0;
}

struct status target_call(struct channel *channel, const char *method, const uint8_t *message, size_t size,
                          uint64_t timeout_ms, struct call_reply *reply)
{
    TRY(channel_call(channel, method, message, size, timeout_ms, reply));
    return reply->code == GRPC_OK ? status_ok()
                                  : call_failed(strrchr(method, '/') + 1, reply->code, reply->message);
}

/* The request is empty (the whole server); field 1 of the answer is 1 for SERVING. Too little to generate
 * code for. */
struct status target_health(struct channel *channel, bool *serving)
{
    struct call_reply reply;
    *serving = false;
    TRY(target_call(channel, "/grpc.health.v1.Health/Check", NULL, 0, HEALTH_MS, &reply));
    *serving = reply.size == 2 && reply.data[0] == 8 && reply.data[1] == 1;
    mem_free(reply.data);
    return status_ok();
}
