/* The public values of a seal proof and the verifier's input vector that follows from them: challenges and
 * graph, nothing from the vanilla proofs. */
#ifndef CUZK_FILECOIN_PUBLIC_H
#define CUZK_FILECOIN_PUBLIC_H

#include "filecoin/c1.h"
#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "field/fr.h"

#define POREP_INPUTS_FIXED         4 /* ONE, replica_id, comm_d, comm_r */
#define POREP_INPUTS_PER_CHALLENGE (PARENTS + 4)
#define POREP_INPUTS_MAX           (POREP_INPUTS_FIXED + CHALLENGES_MAX * POREP_INPUTS_PER_CHALLENGE)

struct porep_public {
    const struct sector_size *sector;
    uint8_t replica_id[32], comm_d[32], comm_r[32];
    struct graph graph;
    struct challenges challenges;
};

/* From what a chain knows; the replica_id is computed. Errors: comm_r or comm_d zero or no field element,
 * seed zero, a kind of proof that is not in this version. */
MUST_USE struct status porep_public_from_sector(struct porep_public *out, const struct registered_seal *seal,
                                                uint64_t miner, uint64_t sector_number,
                                                const uint8_t ticket[32], const uint8_t seed[32],
                                                const uint8_t comm_r[32], const uint8_t comm_d[32]);
/* From a C1 output, believing its replica_id. */
MUST_USE struct status porep_public_from_c1(struct porep_public *out, const struct c1 *c1);
/* Compares a C1 output's replica_id with the one of a miner and a sector number. */
MUST_USE struct status porep_check_sector(const struct c1 *c1, uint64_t miner, uint64_t sector_number);

static inline uint32_t porep_inputs_count(const struct sector_size *s)
{
    return POREP_INPUTS_FIXED + s->challenges * POREP_INPUTS_PER_CHALLENGE;
}

/* Challenge i of partition k. */
uint64_t porep_challenge(const struct porep_public *p, uint32_t k, uint32_t i);
/* The inputs of partition k, ONE first: out holds porep_inputs_count(). */
void porep_inputs(fr *out, const struct porep_public *p, uint32_t k);
/* The same vector from the path positions and nodes of the vanilla proofs: what a circuit over them exposes.
 */
void porep_c1_inputs(fr *out, const struct c1 *c1, uint32_t k);
/* Compares the two for partition k; the error names the challenge and the value. */
MUST_USE struct status porep_check_inputs(const struct porep_public *p, const struct c1 *c1, uint32_t k);

/* Number of the leaf that a path leads to. */
uint64_t merkle_leaf_number(const struct merkle_proof *m);

#endif
