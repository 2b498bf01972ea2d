/* The commands of the tool, each in a file of its own. */
#ifndef CUZK_CMD_CUZK_COMMANDS_H
#define CUZK_CMD_CUZK_COMMANDS_H

#include "cmd/cuzk/args.h"
#include "cmd/cuzk/output.h"

extern const struct command COMMAND_SETUP, COMMAND_PROVE, COMMAND_VERIFY, COMMAND_INSPECT, COMMAND_PARAMS,
    COMMAND_FABRICATE, COMMAND_DOCTOR;

/* Opens a prover that ends its work cleanly when the program is interrupted (SIGINT, SIGTERM). */
enum cuzk_code open_prover(struct cuzk **out, uint64_t threads, const char *backend,
                           struct cuzk_error *error);
/* Reads and parses a C1 output; "-" is standard input. */
enum cuzk_code read_c1(struct cuzk_c1 **out, const char *path, struct cuzk_error *error);
/* A whole file of at most limit bytes; free with mem_free. */
enum cuzk_code read_file(uint8_t **out, size_t *size, const char *path, size_t limit,
                         struct cuzk_error *error);
/* Writes through a temporary name. */
enum cuzk_code write_file(const char *path, const void *data, size_t size, struct cuzk_error *error);
/* $CUZK_STATE_DIR, $XDG_CACHE_HOME/cuzk or $HOME/.cache/cuzk; NULL if none is set. */
const char *state_dir(char *buffer, size_t size);

#endif
