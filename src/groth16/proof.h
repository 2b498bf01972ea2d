/* Proofs: assembling one from a backend's partial sums, encoding, verification (groth16 specification 5). */
#ifndef CUZK_GROTH16_PROOF_H
#define CUZK_GROTH16_PROOF_H

#include "base/pool.h"
#include "groth16/key.h"

#define PROOF_BYTES 192

struct proof {
    g1_affine a;
    g2_affine b;
    g1_affine c;
};

/* What a backend hands over: the five sums over the queries, without blinding. */
struct partial_sums {
    g1_xyzz a, b_g1, l, h;
    g2_xyzz b_g2;
};

/* r and s, from getrandom, non-zero. */
struct blinding {
    fr r, s;
};
MUST_USE struct status blinding_random(struct blinding *out);
void blinding_wipe(struct blinding *blinding);

/* A, B, C of section 5.1. Constant time in r and s. Refuses a key with delta at infinity. */
MUST_USE struct status proof_assemble(struct proof *out, const struct partial_sums *sums,
                                      const struct verifying_key *key, const struct blinding *blinding);
void proof_encode(uint8_t bytes[PROOF_BYTES], const struct proof *proof);
/* Encoding, curve, subgroup, no infinity. The error says which element. */
MUST_USE struct status proof_decode(struct proof *out, const uint8_t bytes[PROOF_BYTES]);

/* inputs: key.ic_count - 1 values (ONE left out). STATUS_REJECTED if the equation does not hold. */
MUST_USE struct status proof_verify(const struct verifying_key *key, const struct proof *proof,
                                    const fr *inputs, size_t inputs_count);
/* n proofs with n * inputs_count inputs, one random combination (128-bit, getrandom). STATUS_REJECTED if any
 * is bad (which one is not known: verify singly then). n = 1 is proof_verify; n = 0 is STATUS_INVALID. */
MUST_USE struct status proof_verify_batch(const struct verifying_key *key, const struct proof *proofs,
                                          size_t n, const fr *inputs, size_t inputs_count,
                                          const struct work *work);

#endif
