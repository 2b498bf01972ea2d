/* cuzk params: names of parameter files. */
#include "cmd/cuzk/commands.h"

#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv)
{
    const char *circuit = NULL, *dir = ".", *positional[1] = {NULL};
    bool json = false;
    const struct arg args[] = {
        {"--circuit", ARG_TEXT, &circuit, NULL, "NAME", "circuit, such as porep-32g", true},
        {"--dir", ARG_TEXT, &dir, NULL, "DIR", "directory of the files; by default the present one", false},
        {"--json", ARG_FLAG, &json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_PARAMS, args, sizeof args / sizeof args[0], argc, argv, positional, 1,
                    &exit_code))
        return exit_code;
    if (positional[0] == NULL || strcmp(positional[0], "path") != 0)
        return usage_error("cuzk params path --circuit NAME", "cuzk params wants a word: path");
    char path[4096];
    struct cuzk_error error;
    if (cuzk_params_path(path, sizeof path, circuit, dir, &error) != CUZK_OK)
        return report_error(&error, json);
    if (json) {
        struct result r = {.json = true};
        result_text(&r, "path", path);
        return result_end(&r);
    }
    return puts(path) < 0 || fflush(stdout) != 0 ? EXIT_FAILED : EXIT_DONE;
}

const struct command COMMAND_PARAMS = {"params", "where the parameters of a circuit are looked for",
                                       "path --circuit NAME [--dir DIR] [--json]", run};
