/* Vanilla proofs of sector updates of any size without a sealed sector. Every leaf of the new replica must
 * satisfy the encoding, because the challenges depend on the whole new tree; so the three trees are constant
 * on the 2^h blocks of leaves on which rho is constant, and a 32 GiB tree costs some thousand hashes. They
 * pass snap_check, satisfy the circuit, and their proofs verify. For tests and measurements. */
#ifndef CUZK_FILECOIN_FABRICATE_SNAP_H
#define CUZK_FILECOIN_FABRICATE_SNAP_H

#include "filecoin/snap.h"

struct fabricated_snap {
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
    uint32_t partitions;
    size_t partition_bytes;
    uint8_t *vanilla; /* owned; partition k begins at k * partition_bytes */
};

/* name: NULL for the published instance (recipe Q: block b of the old replica is 1000 + b, of the data
 * 7 * 2^200 + b; comm_c is 0xc0ffee); otherwise the three numbers depend on the name. Work at 32 GiB: 14,000
 * Poseidon and 22,000 SHA-256 hashes. Memory: partitions * partition_bytes (9 MB), and 2 MB meanwhile. */
MUST_USE struct status fabricate_snap(struct fabricated_snap *out, const struct snap_size *size,
                                      const char *name, const struct work *work);
void fabricated_snap_end(struct fabricated_snap *f);

#endif
