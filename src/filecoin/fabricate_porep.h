/* C1 outputs of any sector size without sealing: consistent for everything that a proof opens, pseudo-random
 * everywhere else. They pass c1_check, satisfy the circuit, and their proofs verify; no sector stands behind
 * them. For tests and measurements of sizes that nobody can seal on the spot. */
#ifndef CUZK_FILECOIN_FABRICATE_POREP_H
#define CUZK_FILECOIN_FABRICATE_POREP_H

#include "base/pool.h"
#include "filecoin/c1.h"

struct fabricate_porep_request {
    const struct registered_seal *seal; /* interactive: the other kinds' challenges depend on comm_r */
    const struct sector_size *sector;   /* NULL: the seal's own; another, in tests of sizes without number */
    uint64_t miner, sector_number;
    /* NULL for the published instance; otherwise everything pseudo-random depends on this name. */
    const char *name;
};

/* Gives a C1 output (c1_end). Work at 32 GiB: 17,000 Poseidon hashes, 40,000 SHA-256 blocks of labels and
 * 125,000 of filling. Memory: c1_bytes, and about 5 MB meanwhile. */
MUST_USE struct status fabricate_porep(struct c1 *out, const struct fabricate_porep_request *request,
                                       const struct work *work);

#endif
