/* A proof request from golden files, taken the whole way: decoded, checked, synthesised, expanded, and
 * compared with the reference by digest; for circuits small enough also set up, proved and compared byte for
 * byte. */
#ifndef CUZK_TESTS_FILECOIN_PROOF_CASE_H
#define CUZK_TESTS_FILECOIN_PROOF_CASE_H

#include "filecoin/request.h"

struct proof_case {
    const char *name;
    enum proof_kind kind;
    uint64_t registered_proof;
    uint32_t partition_index; /* of the request */
    uint32_t partition;       /* of the proof: blinding r + k, s + k, and the place in proof_file */
    uint8_t randomness;       /* the byte repeated */
    const char *const *files; /* under tests/data */
    size_t files_count;
    const char *rows, *inputs, *aux, *a, *b, *c;      /* hex digests */
    const char *params_sha256, *vk_file, *proof_file; /* NULL: not proved */
    const char *comm_r_old, *comm_r_new, *comm_d_new; /* hex; SnapDeals */
};

/* The request of a case; the bytes live until proof_case_end. */
struct proof_case_request {
    struct proof_request request;
    struct bytes_view *vanilla;
    uint8_t randomness[32], comm[3][32];
};
void proof_case_load(struct proof_case_request *out, const struct proof_case *c);
void proof_case_end(struct proof_case_request *r);
/* Aborts through cmocka on the first difference. folder: for the parameter files. */
void proof_case_run(const struct proof_case *c, const char *folder);

#endif
