/* cuzk: proofs from files, without a daemon. This file finds the command; the others are one command each. */
#include "cmd/cuzk/commands.h"

#include "base/file.h"
#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const struct command *const COMMANDS[] = {&COMMAND_SETUP,   &COMMAND_PROVE,  &COMMAND_VERIFY,
                                                 &COMMAND_INSPECT, &COMMAND_PARAMS, &COMMAND_FABRICATE,
                                                 &COMMAND_DOCTOR};
#define COMMANDS_COUNT (sizeof COMMANDS / sizeof COMMANDS[0])

#define C1_FILE_MAX ((size_t)256 << 20)

static struct cuzk *interrupted_prover;

static void interrupt(int number)
{
    (void)number;
    if (interrupted_prover != NULL)
        cuzk_cancel(interrupted_prover);
}

enum cuzk_code open_prover(struct cuzk **out, uint64_t threads, const char *backend, struct cuzk_error *error)
{
    struct cuzk_options options = {threads > 4096 ? 4096 : (uint32_t)threads, backend};
    enum cuzk_code code = cuzk_open(out, &options, error);
    if (code != CUZK_OK)
        return code;
    interrupted_prover = *out;
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return CUZK_OK;
}

static enum cuzk_code to_error(const struct status *s, struct cuzk_error *error)
{
    error->code = (enum cuzk_code)s->code;
    memcpy(error->message, s->message, sizeof error->message);
    memcpy(error->detail, s->detail, sizeof error->detail);
    memcpy(error->hint, s->hint, sizeof error->hint);
    return error->code;
}

enum cuzk_code read_file(uint8_t **out, size_t *size, const char *path, size_t limit,
                         struct cuzk_error *error)
{
    struct status s = file_read(out, size, path, limit, 0);
    return status_failed(&s) ? to_error(&s, error) : CUZK_OK;
}

enum cuzk_code read_c1(struct cuzk_c1 **out, const char *path, struct cuzk_error *error)
{
    uint8_t *data;
    size_t size;
    *out = NULL;
    enum cuzk_code code = read_file(&data, &size, path, C1_FILE_MAX, error);
    if (code != CUZK_OK)
        return code;
    code = cuzk_c1_read(out, data, size, error);
    mem_free(data);
    return code;
}

enum cuzk_code write_file(const char *path, const void *data, size_t size, struct cuzk_error *error)
{
    struct file_writer writer;
    struct status s = file_writer_open(&writer, path);
    if (!status_failed(&s)) {
        s = file_writer_add(&writer, data, size);
        if (status_failed(&s))
            file_writer_abandon(&writer);
        else
            s = file_writer_finish(&writer);
    }
    return status_failed(&s) ? to_error(&s, error) : CUZK_OK;
}

const char *state_dir(char *buffer, size_t size)
{
    const char *own = getenv("CUZK_STATE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (own != NULL && own[0] != 0)
        n = snprintf(buffer, size, "%s", own);
    else if (cache != NULL && cache[0] != 0)
        n = snprintf(buffer, size, "%s/cuzk", cache);
    else if (home != NULL && home[0] != 0)
        n = snprintf(buffer, size, "%s/.cache/cuzk", home);
    return n > 0 && (size_t)n < size ? buffer : NULL;
}

static void show_help(void)
{
    puts("cuzk: Groth16 proofs for Filecoin, from files\n\nusage: cuzk COMMAND [OPTION...]\n\ncommands:");
    for (size_t i = 0; i < COMMANDS_COUNT; i++)
        printf("  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    puts("\ncuzk COMMAND --help tells its options; cuzk --version the version.\n"
         "Exit codes: 0 done, 1 failed, 2 wrong use, 7 proof invalid.");
}

/* Secrets pass through this process' memory: keep them out of core dumps. */
static void no_core_dumps(void)
{
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
    no_core_dumps();
    if (argc < 2) {
        show_help();
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        show_help();
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("cuzk %s\n", cuzk_version());
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMANDS_COUNT; i++)
        if (strcmp(argv[1], COMMANDS[i]->name) == 0)
            return COMMANDS[i]->run(argc - 1, argv + 1);
    return usage_error("cuzk --help lists the commands", "unknown command \"%s\"", argv[1]);
}
