/* cuzk-bench: asks a cuzk-daemon for proofs and measures, looks at it, waits for it, stops it. This file
 * finds the command; the others are one command each. */
#include "cmd/bench/bench.h"

#include "base/nearest.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command *const COMMANDS[] = {
    &COMMAND_SINGLE, &COMMAND_BATCH, &COMMAND_STATUS, &COMMAND_METRICS, &COMMAND_PRELOAD,
    &COMMAND_WAIT,   &COMMAND_STOP,  &COMMAND_SWEEP,  &COMMAND_COMPARE, &COMMAND_STRESS};
#define COMMANDS_COUNT (sizeof COMMANDS / sizeof COMMANDS[0])
#define ARGUMENTS_MAX  4096

static void show_help(void)
{
    puts("cuzk-bench: client of cuzk-daemon, for measuring and for operators\n\n"
         "usage: cuzk-bench [-a ADDR] COMMAND [OPTION...]\n\ncommands:");
    for (size_t i = 0; i < COMMANDS_COUNT; i++)
        printf("  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    puts("\ncuzk-bench COMMAND --help tells its options; cuzk-bench --version the version.\n"
         "Exit codes: 0 done, 1 failed (a proof, the daemon, the connection), 2 wrong use, 7 proof invalid;\n"
         "wait passes on the daemon's own.");
}

/* Options may stand before the command, as the older tool had it: how many words of argv are such. */
static int leading_options(int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        bool has_value = strcmp(argv[i], "-a") == 0 || strcmp(argv[i], "--address") == 0 ||
                         strcmp(argv[i], "--config") == 0 || strcmp(argv[i], "--state-dir") == 0;
        i += has_value ? 2 : 1;
    }
    return i - 1;
}

static int run(const struct command *command, int argc, char **argv, int leading)
{
    static char *words[ARGUMENTS_MAX + 1];
    int n = 0;
    if (argc > ARGUMENTS_MAX)
        return usage_error(NULL, "too many arguments");
    words[n++] = argv[1 + leading];
    for (int i = 1; i <= leading; i++)
        words[n++] = argv[i];
    for (int i = 2 + leading; i < argc; i++)
        words[n++] = argv[i];
    words[n] = NULL;
    return command->run(n, words);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        show_help();
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        show_help();
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("cuzk-bench %s\n", cuzk_version());
        return EXIT_DONE;
    }
    int leading = leading_options(argc, argv);
    if (leading + 1 >= argc)
        return usage_error("cuzk-bench --help lists the commands", "a command is missing");
    const char *name = argv[1 + leading];
    for (size_t i = 0; i < COMMANDS_COUNT; i++)
        if (strcmp(name, COMMANDS[i]->name) == 0)
            return run(COMMANDS[i], argc, argv, leading);
    char hint[64] = "cuzk-bench --help lists the commands";
    const char *near = NULL;
    for (size_t i = 0; i < COMMANDS_COUNT && near == NULL; i++)
        near = name_nearest(name, &COMMANDS[i]->name, 1, sizeof COMMANDS[i]);
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean %s?", near);
    return usage_error(hint, "unknown command \"%s\"", name);
}
