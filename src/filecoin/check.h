/* The strict check of vanilla proofs: everything that the circuit proves and everything that it leaves to
 * the verifier, so that bad vanilla data is an error with a name before any proving, and a C1 output that
 * passes gives a proof that verifies. */
#ifndef CUZK_FILECOIN_CHECK_H
#define CUZK_FILECOIN_CHECK_H

#include "base/pool.h"
#include "filecoin/public.h"

/* Checks all partitions. The error of the first bad place in order, whatever the number of threads:
 * "partition 0, challenge 1 (node 54): layer 2: ...". Cost per challenge: hashes of 16 tree paths and 15
 * columns, 2 log2(n) + 20 layers SHA-256 blocks. */
MUST_USE struct status c1_check(const struct c1 *c1, const struct porep_public *public,
                                const struct work *work);

#endif
