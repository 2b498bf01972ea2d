/* cuzk setup: parameters for tests. */
#include "cmd/cuzk/commands.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static enum cuzk_code make(struct cuzk *cuzk, const char *circuit_name, const char *directory,
                           const char *seed, const char *shape_path, char path[4096],
                           struct cuzk_error *error)
{
    struct cuzk_circuit *circuit;
    enum cuzk_code code = cuzk_circuit_open(&circuit, cuzk, circuit_name, error);
    if (code != CUZK_OK)
        return code;
    if (shape_path != NULL)
        code = cuzk_circuit_save(circuit, shape_path, error);
    if (directory != NULL && code == CUZK_OK) {
        (void)mkdir(directory, 0777); /* if it cannot be made, writing into it says why */
        code = cuzk_setup(cuzk, circuit, directory, seed, progress_bar, NULL, error);
    }
    if (directory != NULL && code == CUZK_OK)
        code = cuzk_params_path(path, 4096, circuit_name, directory, error);
    cuzk_circuit_close(circuit);
    return code;
}

static int run(int argc, char **argv)
{
    const char *circuit = NULL, *out = NULL, *seed = NULL, *shape = NULL, *backend = NULL;
    uint64_t threads = 0;
    bool json = false;
    const struct arg args[] = {
        {"--circuit", ARG_TEXT, &circuit, NULL, "NAME",
         "circuit: porep-2k, winning-32g, wpost-2k, snap-8m, ...", true},
        {"--out", ARG_TEXT, &out, NULL, "DIR", "directory for the .params and the .vk file", false},
        {"--save-shape", ARG_TEXT, &shape, NULL, "FILE", "write the circuit's shape, for cuzk inspect shape",
         false},
        {"--test-seed", ARG_TEXT, &seed, NULL, "NAME",
         "derive the secret values from NAME: same files every time", false},
        {"--threads", ARG_NUMBER, &threads, NULL, "N", "threads to use; 0, the default: all", false},
        {"--backend", ARG_TEXT, &backend, NULL, "NAME", "cpu, cuda or auto, the default", false},
        {"--json", ARG_FLAG, &json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_SETUP, args, sizeof args / sizeof args[0], argc, argv, NULL, 0, &exit_code))
        return exit_code;
    if (out == NULL && shape == NULL)
        return usage_error("--help lists the options", "cuzk setup needs --out DIR or --save-shape FILE");
    double started = seconds_now();
    struct cuzk *cuzk;
    struct cuzk_error error;
    char path[4096];
    if (open_prover(&cuzk, threads, backend, &error) != CUZK_OK)
        return report_error(&error, json);
    enum cuzk_code code = make(cuzk, circuit, out, seed, shape, path, &error);
    cuzk_close(cuzk);
    if (code != CUZK_OK)
        return report_error(&error, json);
    progress_clear();
    struct result r = {.json = json};
    if (out != NULL) {
        result_text(&r, "parameters", path);
        result_text(&r, "trust", "single-party: for tests, not for a network");
    }
    if (shape != NULL)
        result_text(&r, "shape", shape);
    result_seconds(&r, "seconds", seconds_now() - started);
    result_bytes(&r, "peak_rss_bytes", peak_rss_bytes());
    return result_end(&r);
}

const struct command COMMAND_SETUP = {
    "setup", "make parameters for a circuit (single-party: for tests, not for a network)",
    "--circuit NAME --out DIR [--test-seed NAME] [--save-shape FILE] [--backend NAME] [--threads N] [--json]",
    run};
