/* What is proved or verified, of any kind: the options that describe it, named as cuzk-bench names them, and
 * what they must be for each kind. */
#ifndef CUZK_CMD_CUZK_CLAIM_H
#define CUZK_CMD_CUZK_CLAIM_H

#include "cmd/cuzk/commands.h"

struct claim {
    /* options */
    const char *kind_text, *c1_path;
    struct arg_list vanilla, sectors;
    uint64_t registered, partition;
    bool c1_given, vanilla_given, sectors_given, registered_given, miner_given, sector_given, partition_given,
        randomness_given, comm_r_old_given, comm_r_new_given, comm_d_new_given, comm_r_given, comm_d_given,
        seed_given, ticket_given;
    /* made from them */
    struct cuzk_statement statement;
    struct cuzk_c1 *c1;
    struct cuzk_sector *sector_list;
};

/* Options of proving; the kind may be called by its name in circuits, too. */
#define CLAIM_ARGS(c)                                                                                        \
    {                                                                                                        \
        "--kind", ARG_TEXT, &(c).kind_text, NULL, "KIND", "porep (the default), winning, window or snap",    \
        false},                                                                                              \
        {"--type", ARG_ALIAS, "--kind", NULL, NULL, NULL, false},                                            \
        {"-t", ARG_ALIAS, "--kind", NULL, NULL, NULL, false},                                                \
        {"--c1",        ARG_TEXT, &(c).c1_path,                                                              \
         &(c).c1_given, "FILE",   "porep: C1 output, bare or wrapped; - for standard input",                 \
         false},                                                                                             \
        {"--vanilla",  ARG_LIST,                                                                             \
         &(c).vanilla, &(c).vanilla_given,                                                                   \
         "FILE",       "others: a vanilla proof, or a JSON array of base64 texts; repeatable",               \
         false},                                                                                             \
        {"--registered-proof",      ARG_NUMBER, &(c).registered, &(c).registered_given, "N",                 \
         "registered proof number", false},                                                                  \
        {"--miner-id",                                                                                       \
         ARG_NUMBER,                                                                                         \
         &(c).statement.miner_id,                                                                            \
         &(c).miner_given,                                                                                   \
         "N",                                                                                                \
         "porep: the miner's actor id",                                                                      \
         false},                                                                                             \
        {"--sector-num",                                                                                     \
         ARG_NUMBER,                                                                                         \
         &(c).statement.sector_number,                                                                       \
         &(c).sector_given,                                                                                  \
         "N",                                                                                                \
         "porep: sector number; by default that of a wrapped C1 output",                                     \
         false},                                                                                             \
        {"--randomness",                                                                                     \
         ARG_HEX32,                                                                                          \
         (c).statement.randomness,                                                                           \
         &(c).randomness_given,                                                                              \
         "HEX",                                                                                              \
         "winning, window: the challenge randomness",                                                        \
         false},                                                                                             \
        {"--partition",                                                                                      \
         ARG_NUMBER,                                                                                         \
         &(c).partition,                                                                                     \
         &(c).partition_given,                                                                               \
         "N",                                                                                                \
         "window: partition index; by default 0",                                                            \
         false},                                                                                             \
        {"--comm-r-old",                                                                                     \
         ARG_HEX32,                                                                                          \
         (c).statement.comm_r_old,                                                                           \
         &(c).comm_r_old_given,                                                                              \
         "HEX",                                                                                              \
         "snap: commitment of the old replica",                                                              \
         false},                                                                                             \
        {"--comm-r-new",                                                                                     \
         ARG_HEX32,                                                                                          \
         (c).statement.comm_r_new,                                                                           \
         &(c).comm_r_new_given,                                                                              \
         "HEX",                                                                                              \
         "snap: of the new replica",                                                                         \
         false},                                                                                             \
    {                                                                                                        \
        "--comm-d-new", ARG_HEX32, (c).statement.comm_d_new, &(c).comm_d_new_given, "HEX",                   \
            "snap: of the new data", false                                                                   \
    }
/* Those that verifying has in addition. */
#define CLAIM_VERIFY_ARGS(c)                                                                                 \
    {"--sector",   ARG_LIST,                                                                                 \
     &(c).sectors, &(c).sectors_given,                                                                       \
     "N:HEX",      "winning, window: number and comm_r of a sector, in order; repeatable",                   \
     false},                                                                                                 \
        {"--comm-r", ARG_HEX32, (c).statement.comm_r, &(c).comm_r_given, "HEX", "porep: replica commitment", \
         false},                                                                                             \
        {"--comm-d", ARG_HEX32, (c).statement.comm_d, &(c).comm_d_given, "HEX", "porep: data commitment",    \
         false},                                                                                             \
        {"--seed", ARG_HEX32, (c).statement.seed, &(c).seed_given, "HEX", "porep: interactive randomness",   \
         false},                                                                                             \
    {                                                                                                        \
        "--ticket", ARG_HEX32, (c).statement.ticket, &(c).ticket_given, "HEX", "porep: seal randomness",     \
            false                                                                                            \
    }

/* Whether the options are those of the kind; EXIT_DONE, or EXIT_USAGE after saying what is missing. */
int claim_for_prove(struct claim *claim);
int claim_for_verify(struct claim *claim);
/* Reads the files and opens the request. The claim must outlive it. */
enum cuzk_code claim_open(struct cuzk_request **out, struct claim *claim, struct cuzk *cuzk,
                          struct cuzk_error *error);
/* Completes the statement for verification: from options, or from the files given instead. */
enum cuzk_code claim_complete(struct claim *claim, struct cuzk *cuzk, struct cuzk_error *error);
void claim_end(struct claim *claim);

#endif
