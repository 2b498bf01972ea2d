/* cuzk params: names of parameter files, and whether they are the published ones. */
#include "cmd/cuzk/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the tools of the network keep them. */
static const char *usual_folder(void)
{
    const char *folder = getenv("FIL_PROOFS_PARAMETER_CACHE");
    return folder != NULL && folder[0] != 0 ? folder : "/var/tmp/filecoin-proof-parameters";
}

static int show_path(const char *circuit, const char *dir, bool vk, bool json)
{
    char path[4096];
    struct cuzk_error error;
    if (circuit == NULL)
        return usage_error(NULL, "cuzk params path needs --circuit NAME");
    if (cuzk_params_path(path, sizeof path, circuit, dir, &error) != CUZK_OK)
        return report_error(&error, json);
    if (vk)
        strcpy(path + strlen(path) - strlen("params"), "vk");
    if (json) {
        struct result r = {.json = true};
        result_text(&r, "path", path);
        return result_end(&r);
    }
    return puts(path) < 0 || fflush(stdout) != 0 ? EXIT_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static struct params_check check;
    const char *circuit = NULL, *positional[1] = {NULL};
    bool vk = false;
    const struct arg args[] = {
        {"--circuit", ARG_TEXT, &circuit, NULL, "NAME", "path: circuit, such as porep-32g", false},
        {"--vk", ARG_FLAG, &vk, NULL, NULL, "path: that of the verifying key", false},
        {"--dir", ARG_TEXT, &check.dir, NULL, "DIR",
         "folder of the files; path: by default the present one; check: $FIL_PROOFS_PARAMETER_CACHE", false},
        {"--kinds", ARG_TEXT, &check.kinds, NULL, "LIST",
         "check: of porep,winning,window,snap; by default all", false},
        {"--sizes", ARG_TEXT, &check.sizes, NULL, "LIST",
         "check: of 2KiB,8MiB,512MiB,32GiB,64GiB; by default all", false},
        {"--subgroup", ARG_FLAG, &check.subgroup, NULL, NULL,
         "check: the order of every point, too (hours for large files)", false},
        {"--threads", ARG_NUMBER, &check.threads, NULL, "N", "threads to use; 0, the default: all", false},
        {"--json", ARG_FLAG, &check.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_PARAMS, args, sizeof args / sizeof args[0], argc, argv, positional, 1,
                    &exit_code))
        return exit_code;
    if (positional[0] != NULL && strcmp(positional[0], "path") == 0)
        return show_path(circuit, check.dir != NULL ? check.dir : ".", vk, check.json);
    if (positional[0] == NULL || strcmp(positional[0], "check") != 0)
        return usage_error("cuzk params path --circuit NAME, or cuzk params check",
                           "cuzk params wants a word: path or check");
    if (check.dir == NULL)
        check.dir = usual_folder();
    return params_check_run(&check);
}

const struct command COMMAND_PARAMS = {
    "params", "where parameter files are looked for, and whether they are the published ones",
    "path --circuit NAME [--dir DIR] [--vk] | check [--kinds LIST] [--sizes LIST] [--dir DIR] ...", run};
