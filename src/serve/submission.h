/* The one large message, SubmitProofRequest (and ProveRequest around it), decoded in place: vanilla proofs
 * are views into the received bytes, and nothing of them is copied. Follows protobuf's rules: fields in any
 * order, the last one of a scalar counts, a repeated submessage is merged, unknown fields and known ones of a
 * foreign wire type are skipped. */
#ifndef CUZK_SERVE_SUBMISSION_H
#define CUZK_SERVE_SUBMISSION_H

#include "filecoin/request.h"

#define SUBMISSION_VANILLA_MAX 65536 /* entries; a full WindowPoSt has 2,349 */
#define REQUEST_ID_MAX         1024

/* As on the wire; enumerations unchecked. */
struct submission {
    struct bytes_view request_id;
    int32_t proof_kind, priority;
    uint64_t sector_size, registered_proof, sector_number, miner_id;
    uint32_t partition_index;
    struct bytes_view randomness, comm_r_old, comm_r_new, comm_d_new;
    struct bytes_view vanilla_proof;
    bool has_vanilla_proof;
    struct bytes_view *vanilla_proofs; /* mem_free */
    size_t vanilla_proofs_count;
};

/* wrapped: a ProveRequest, else a SubmitProofRequest. Views borrow data. Gives vanilla_proofs also when it is
 * empty. STATUS_INVALID with the byte offset. */
MUST_USE struct status submission_decode(struct submission *out, const uint8_t *data, size_t size,
                                         bool wrapped);
void submission_end(struct submission *submission);

/* What the first bytes of a message tell, before the rest has come: kind and priority, 0 where they are not
 * among them. */
void submission_peek(int32_t *proof_kind, int32_t *priority, const uint8_t *head, size_t size, bool wrapped);

/* The request that the engine takes, with what the wire itself can get wrong checked: kinds, fields that do
 * not belong to the kind, lengths. Borrows from the submission. */
MUST_USE struct status submission_request(struct proof_request *out, const struct submission *submission);

/* Numbers of proto/cuzk.proto. */
enum { WIRE_POREP = 1, WIRE_SNAP = 2, WIRE_WINDOW = 3, WIRE_WINNING = 4 };
bool wire_kind(enum proof_kind *out, int32_t number);
const char *
wire_kind_name(enum proof_kind kind); /* "porep-c2", "snap-update", "window-post", "winning-post" */

#endif
