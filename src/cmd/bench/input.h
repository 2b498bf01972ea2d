/* What is to be proved: the options that describe a request of any kind, read from files once and packed
 * once, so that a batch sends the same bytes under as many request ids as it likes without a copy. */
#ifndef CUZK_CMD_BENCH_INPUT_H
#define CUZK_CMD_BENCH_INPUT_H

#include "cmd/bench/bench.h"

#define INPUT_TYPE_MAX 16

struct input {
    /* options */
    const char *type, *c1_path, *priority, *request_id, *vk_path;
    struct arg_list vanilla; /* paths */
    uint64_t registered, sector_number, miner, partition, timeout_s;
    bool registered_given, sector_given, miner_given, randomness_given, comm_r_old_given, comm_r_new_given,
        comm_d_new_given;
    uint8_t randomness[32], comm_r_old[32], comm_r_new[32], comm_d_new[32];
    /* made from them */
    struct input_files { /* the files of --c1 or --vanilla, as they are */
        uint8_t **data;
        struct cuzk_bytes *bytes;
        size_t count, total;
    } files;
    uint8_t *body; /* a packed SubmitProofRequest without request_id */
    size_t body_size;
    int kind;    /* Cuzk__V1__ProofKind */
    char id[64]; /* of the requests, without their number */
    uint8_t *vk;
    size_t vk_size;
    struct cuzk_request *checked; /* for verification */
};
/* clang-format off */
#define INPUT_ARGS(in) \
    {"--type", ARG_TEXT, &(in).type, NULL, "KIND", \
     "porep (the default), snap, wpost or winning (-t)", false}, \
    {"-t", ARG_ALIAS, "--type", NULL, NULL, NULL, false}, \
    {"--c1", ARG_TEXT, &(in).c1_path, NULL, "FILE", "PoRep: C1 output, bare or wrapped", false}, \
    {"--vanilla", ARG_LIST, &(in).vanilla, NULL, "FILE", \
     "others: JSON array of base64 texts, or the raw bytes of one vanilla proof; may be repeated", false}, \
    {"--registered-proof", ARG_NUMBER, &(in).registered, &(in).registered_given, "N", \
     "registered proof number; PoRep: by default that of the C1 output", false}, \
    {"--sector-num", ARG_NUMBER, &(in).sector_number, &(in).sector_given, "N", \
     "sector number; by default that of a wrapped C1 output", false}, \
    {"--miner-id", ARG_NUMBER, &(in).miner, &(in).miner_given, "N", "the miner's actor id", false}, \
    {"--partition", ARG_NUMBER, &(in).partition, NULL, "N", "wpost: partition index", false}, \
    {"--randomness", ARG_HEX32, (in).randomness, &(in).randomness_given, "HEX", "wpost, winning", false}, \
    {"--comm-r-old", ARG_HEX32, (in).comm_r_old, &(in).comm_r_old_given, "HEX", "snap", false}, \
    {"--comm-r-new", ARG_HEX32, (in).comm_r_new, &(in).comm_r_new_given, "HEX", "snap", false}, \
    {"--comm-d-new", ARG_HEX32, (in).comm_d_new, &(in).comm_d_new_given, "HEX", "snap", false}, \
    {"--priority", ARG_TEXT, &(in).priority, NULL, "P", \
     "low, normal, high or critical; by default that of the kind", false}, \
    {"--request-id", ARG_TEXT, &(in).request_id, NULL, "TEXT", \
     "of the request; by default a fresh one, so that nothing is joined", false}, \
    {"--timeout", ARG_NUMBER, &(in).timeout_s, NULL, "SECONDS", "of each proof; by default 1800", false}, \
    {"--vk", ARG_TEXT, &(in).vk_path, NULL, "FILE", "verify every proof here, too, with this key", false}
/* clang-format on */

#define INPUT_TIMEOUT_DEFAULT_S 1800

/* EXIT_DONE, or what to exit with: wrong use and unreadable files have been said. */
int input_open(struct input *input, bool json);
void input_end(struct input *input);
/* The head of proof number n's ProveRequest, to go before the body; returns its size. number 0 with a
 * request id given: that id itself. */
size_t input_head(uint8_t head[CALL_HEAD_MAX], const struct input *input, uint64_t number);
/* Checks the vanilla proofs as the daemon does and keeps their public values, so that input_verify can
 * follow. Nothing to do without a key. */
enum cuzk_code input_check(struct input *input, struct cuzk *cuzk, struct cuzk_error *error);
enum cuzk_code input_verify(const struct input *input, struct cuzk *cuzk, const uint8_t *proof, size_t size,
                            struct cuzk_error *error);

#endif
