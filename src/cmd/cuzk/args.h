/* Options from one table per command: the table drives parsing, --help and the errors. Messages name the
 * program as it was called. */
#ifndef CUZK_CMD_CUZK_ARGS_H
#define CUZK_CMD_CUZK_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of every program. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INVALID_PROOF = 7 };

/* ARG_LIST may be given any number of times. ARG_ALIAS: another name, say "-c", of the option whose name
 * `value` points to. */
enum arg_type { ARG_FLAG, ARG_TEXT, ARG_NUMBER, ARG_HEX32, ARG_LIST, ARG_ALIAS };
#define ARG_LIST_MAX 4096
struct arg_list {
    const char *items[ARG_LIST_MAX];
    size_t count;
};
#define ARGS_MAX 64 /* options of a command */
struct arg {
    const char *name; /* "--miner-id" */
    enum arg_type type;
    void *value; /* bool *, const char **, uint64_t *, uint8_t[32], struct arg_list * */
    bool *given; /* may be NULL */
    const char *metavar, *help;
    bool required;
};

struct command {
    const char *name, *summary;
    const char *usage; /* after "PROGRAM NAME" */
    int (*run)(int argc, char **argv);
};

/* Parses argv[1..]; positional arguments (at most positional_max) go to positional. True if the command
 * should go on; otherwise *exit_code is what to exit with (help was shown, or the error was). */
bool args_parse(const struct command *command, const struct arg *args, size_t args_count, int argc,
                char **argv, const char **positional, size_t positional_max, int *exit_code);
/* "error: ..." and "hint: ..." on standard error; returns EXIT_USAGE. */
int usage_error(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
