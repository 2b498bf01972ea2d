/* Sealing small sectors honestly, up to 16 MiB: labels, columns, trees, proofs. Gives real C1 outputs of any
 * size that a test can afford, and of sizes that have no registered number. */
#ifndef CUZK_FILECOIN_SEAL_H
#define CUZK_FILECOIN_SEAL_H

#include "base/pool.h"
#include "filecoin/c1.h"

/* The 32 bytes of a node of the data; two top bits clear. Called from several threads. */
typedef void seal_data(void *context, uint64_t node, uint8_t out[32]);

struct seal_request {
    const struct registered_seal *seal; /* porep_id, version, challenges; not non-interactive */
    const struct sector_size *sector;   /* NULL: the seal's own; else any of at most 16 MiB */
    uint64_t miner, sector_number;
    const uint8_t *ticket, *seed; /* 32 bytes each */
    seal_data *data;
    void *context;
};

/* Gives a C1 output (c1_end). Memory: about (5 + layers) * sector size. Labels are sequential: 20 layers
 * compressions a node in one thread, cancelled between runs of nodes; the rest is parallel. */
MUST_USE struct status seal_small(struct c1 *out, const struct seal_request *request,
                                  const struct work *work);

#endif
