/* A proof request of any kind, from the bytes that a caller sent to seeds and public inputs: the seam between
 * this room and the engine, which knows no kind of proof.
 *
 *     request_open: decode and check everything -> circuit and partitions
 *     request_seeds: seeds of one partition over the circuit's shape
 *     request_inputs: the vector that a verifier derives, from public values alone
 */
#ifndef CUZK_FILECOIN_REQUEST_H
#define CUZK_FILECOIN_REQUEST_H

#include "base/pool.h"
#include "field/fr.h"
#include "filecoin/c1.h"
#include "filecoin/registry.h"
#include "r1cs/witness.h"

struct bytes_view {
    const uint8_t *data;
    size_t size;
};

/* As on the wire; everything is borrowed. PoRep has one vanilla entry, the C1 output, bare or wrapped, with
 * C1_PADDING readable bytes after it; SnapDeals one entry a partition, PoSts one a sector. */
struct proof_request {
    enum proof_kind kind;
    uint64_t registered_proof; /* number within the kind's family */
    uint64_t sector_size;      /* 0: derived */
    uint64_t miner, sector_number;
    struct bytes_view randomness, comm_r_old, comm_r_new, comm_d_new;
    uint32_t partition_index;
    const struct bytes_view *vanilla;
    size_t vanilla_count;
};

/* What can be known before decoding: the circuit, its partitions, and what the request will hold in memory.
 * Refuses numbers and sizes that do not exist or contradict each other. */
struct request_outline {
    enum proof_kind kind;
    const struct sector_size *sector;
    char circuit[CIRCUIT_NAME_MAX];
    uint32_t partitions;
    uint64_t decoded_bytes; /* upper bound of what request_open keeps, beside the borrowed bytes */
};
MUST_USE struct status request_outline(struct request_outline *out, const struct proof_request *request);

struct request;
/* Decodes and checks; the errors name sector or partition, challenge and check. Keeps references into the
 * vanilla bytes (they must outlive it) except for PoRep, which copies what it needs. */
MUST_USE struct status request_open(struct request **out, const struct proof_request *request,
                                    const struct work *work);
/* The same from a C1 output that was parsed before and must outlive the request. */
MUST_USE struct status request_open_c1(struct request **out, const struct c1 *c1, uint64_t miner,
                                       uint64_t sector_number, const struct work *work);
void request_end(struct request *request); /* NULL allowed */
const struct request_outline *request_facts(const struct request *request);

/* Seeds of partition k; the shape is that of the circuit. Gives *out (seeds_end). */
MUST_USE struct status request_seeds(struct seeds *out, const struct request *request,
                                     const struct shape *shape, uint32_t k);
/* Inputs of partition k without ONE, as the verifier derives them; out holds circuit_inputs() values. */
MUST_USE struct status request_inputs(fr *out, const struct request *request, uint32_t k);

/* For a proof that did not verify: looks for the reason in what request_open left to the circuit (the paths
 * of a long Window list). OK if the request is sound. */
MUST_USE struct status request_diagnose(const struct request *request, const struct work *work);

/* ---- circuits of every kind ---- */
/* Public inputs without ONE. */
uint32_t circuit_inputs(enum proof_kind kind, const struct sector_size *sector);
MUST_USE struct status circuit_shape(struct shape **out, enum proof_kind kind,
                                     const struct sector_size *sector);

#endif
