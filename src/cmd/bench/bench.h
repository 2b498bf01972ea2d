/* The commands of cuzk-bench, each in a file of its own, and what they share: how the daemon is found. */
#ifndef CUZK_CMD_BENCH_BENCH_H
#define CUZK_CMD_BENCH_BENCH_H

#include "cmd/bench/channel.h"
#include "cmd/cuzk/args.h"
#include "cmd/cuzk/output.h"
#include "cmd/daemon/config.h"
#include "cmd/daemon/run_record.h"

extern const struct command COMMAND_SINGLE, COMMAND_BATCH, COMMAND_STATUS, COMMAND_METRICS, COMMAND_PRELOAD,
    COMMAND_WAIT, COMMAND_STOP, COMMAND_SWEEP, COMMAND_COMPARE, COMMAND_STRESS;

/* Options of every command. The daemon's own configuration is read to find its address and its run record, so
 * that both programs agree without being told twice. */
struct target {
    const char *address_given, *config_given, *state_dir_given;
    bool json;
    char address[CONFIG_TEXT_MAX], state_dir[CONFIG_TEXT_MAX], log[CONFIG_TEXT_MAX];
    uint64_t drain_timeout_ms;
};
/* clang-format off */
#define TARGET_ARGS(t) \
    {"--address", ARG_TEXT, &(t).address_given, NULL, "ADDR", \
     "the daemon's address (-a), unix:///PATH or HOST:PORT; by default that of its configuration", false}, \
    {"-a", ARG_ALIAS, "--address", NULL, NULL, NULL, false}, \
    {"--config", ARG_TEXT, &(t).config_given, NULL, "FILE", \
     "the daemon's configuration; by default the file that the daemon would use", false}, \
    {"--state-dir", ARG_TEXT, &(t).state_dir_given, NULL, "DIR", \
     "where its run record is; by default that of its configuration", false}, \
    {"--json", ARG_FLAG, &(t).json, NULL, NULL, "result as JSON", false}
/* clang-format on */

/* Fills in address, state_dir and log. A configuration that cannot be read is an error only if it was named
 * or is needed. */
MUST_USE struct status target_resolve(struct target *target);
/* As report_error of the tool, for a status. */
int report_status(const struct status *s, bool json);
/* "UNAVAILABLE: ..." as a status. */
struct status call_failed(const char *what, uint32_t code, const char *message);
/* Connects; the error says how the last run ended, if the run record knows. */
MUST_USE struct status target_connect(struct channel **out, const struct target *target);
/* The daemon's process: the socket's peer, else the run record's; 0 if unknown. */
pid_t target_pid(const struct target *target, const struct channel *channel);
/* Sets *serving if the whole server says that it serves (grpc.health.v1). */
MUST_USE struct status target_health(struct channel *channel, bool *serving);
/* One unary call with a packed message; gives reply->data. A code other than OK becomes a status. */
MUST_USE struct status target_call(struct channel *channel, const char *method, const uint8_t *message,
                                   size_t size, uint64_t timeout_ms, struct call_reply *reply);

#endif
