/* See args.h. A mistyped option is answered with the nearest one that exists. */
#include "cmd/cuzk/args.h"

#include "base/nearest.h"
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int usage_error(const char *hint, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    if (hint != NULL)
        fprintf(stderr, "hint: %s\n", hint);
    return EXIT_USAGE;
}

static void show_help(const struct command *command, const struct arg *args, size_t args_count)
{
    const char *program = program_invocation_short_name;
    printf("%s %s: %s\n\nusage: %s %s %s\n\noptions:\n", program, command->name, command->summary, program,
           command->name, command->usage);
    for (size_t i = 0; i < args_count; i++) {
        char left[64];
        if (args[i].type == ARG_ALIAS)
            continue;
        snprintf(left, sizeof left, "%s%s%s", args[i].name, args[i].metavar == NULL ? "" : " ",
                 args[i].metavar == NULL ? "" : args[i].metavar);
        printf("  %-26s %s%s\n", left, args[i].help, args[i].required ? " (required)" : "");
    }
    printf("  %-26s %s\n", "--help", "this text");
}

static const struct arg *find(const struct arg *args, size_t args_count, const char *name, size_t length)
{
    for (size_t i = 0; i < args_count; i++)
        if (strlen(args[i].name) == length && memcmp(args[i].name, name, length) == 0)
            return args[i].type != ARG_ALIAS ? &args[i]
                                             : find(args, args_count, args[i].value, strlen(args[i].value));
    return NULL;
}

static int unknown(const struct command *command, const struct arg *args, size_t args_count, const char *text)
{
    const char *nearest = name_nearest(text, &args[0].name, args_count, sizeof args[0]);
    char hint[128];
    if (nearest != NULL)
        snprintf(hint, sizeof hint, "did you mean %s?", nearest);
    else
        snprintf(hint, sizeof hint, "%s %s --help lists the options", program_invocation_short_name,
                 command->name);
    return usage_error(hint, "unknown option %s", text);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool store_hex32(uint8_t out[32], const char *text)
{
    if (strlen(text) != 64)
        return false;
    for (int i = 0; i < 32; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool store_number(uint64_t *out, const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == 0;
}

static int store_list(struct arg_list *list, const char *name, const char *text)
{
    if (list->count == ARG_LIST_MAX)
        return usage_error(NULL, "%s is given more than %d times", name, ARG_LIST_MAX);
    list->items[list->count++] = text;
    return EXIT_DONE;
}

/* EXIT_DONE if the value was good. */
static int store(const struct arg *arg, const char *text)
{
    if (arg->given != NULL)
        *arg->given = true;
    switch (arg->type) {
    case ARG_FLAG:
        *(bool *)arg->value = true;
        return EXIT_DONE;
    case ARG_TEXT:
        *(const char **)arg->value = text;
        return EXIT_DONE;
    case ARG_NUMBER:
        if (!store_number(arg->value, text))
            return usage_error(NULL, "%s wants a whole number below 2^64, not \"%s\"", arg->name, text);
        return EXIT_DONE;
    case ARG_HEX32:
        if (!store_hex32(arg->value, text))
            return usage_error(NULL, "%s wants 64 hexadecimal digits, not \"%s\"", arg->name, text);
        return EXIT_DONE;
    case ARG_LIST:
        return store_list(arg->value, arg->name, text);
    case ARG_ALIAS: /* find() gives what it stands for */
        break;
    }
    return EXIT_USAGE;
}

/* One option at argv[*i], with its value there after "=" or in the next word. */
static int parse_option(const struct command *command, const struct arg *args, size_t args_count, int argc,
                        char **argv, int *i, bool *seen)
{
    const char *text = argv[*i], *equals = strchr(text, '=');
    size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
    const struct arg *arg = find(args, args_count, text, length);
    if (arg == NULL)
        return unknown(command, args, args_count, text);
    if (seen[arg - args] && arg->type != ARG_LIST)
        return usage_error(NULL, "%s is given twice", arg->name);
    seen[arg - args] = true;
    if (arg->type == ARG_FLAG) {
        if (equals != NULL)
            return usage_error(NULL, "%s takes no value", arg->name);
        return store(arg, NULL);
    }
    if (equals != NULL)
        return store(arg, equals + 1);
    if (*i + 1 >= argc)
        return usage_error(NULL, "%s wants a value (%s)", arg->name, arg->metavar);
    return store(arg, argv[++*i]);
}

bool args_parse(const struct command *command, const struct arg *args, size_t args_count, int argc,
                char **argv, const char **positional, size_t positional_max, int *exit_code)
{
    bool seen[ARGS_MAX] = {false};
    size_t positional_count = 0;
    CHECK(args_count <= ARGS_MAX);
    *exit_code = EXIT_DONE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            show_help(command, args, args_count);
            return false;
        }
        if (argv[i][0] == '-' && argv[i][1] != 0) {
            *exit_code = parse_option(command, args, args_count, argc, argv, &i, seen);
        } else if (positional_count < positional_max) {
            positional[positional_count++] = argv[i];
        } else {
            *exit_code = usage_error(NULL, "unexpected argument \"%s\"", argv[i]);
        }
        if (*exit_code != EXIT_DONE)
            return false;
    }
    for (size_t i = 0; i < args_count; i++) {
        if (args[i].required && !seen[i]) {
            *exit_code =
                usage_error("--help lists the options", "%s %s needs %s %s", program_invocation_short_name,
                            command->name, args[i].name, args[i].metavar);
            return false;
        }
    }
    return true;
}
