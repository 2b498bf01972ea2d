/* Sealing small sectors honestly, up to 16 MiB: labels, columns, trees, proofs. Gives real C1 outputs of any
 * size that a test can afford, and of sizes that have no registered number; and, from a sector that is kept,
 * real vanilla proofs for PoSts and sector updates. */
#ifndef CUZK_FILECOIN_SEAL_H
#define CUZK_FILECOIN_SEAL_H

#include "base/pool.h"
#include "filecoin/c1.h"
#include "filecoin/fabricate_snap.h"
#include "filecoin/post.h"

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

/* A sealed sector with all its trees. */
struct sealed;
/* Gives *out (sealed_end). The request must outlive it. Memory: about (5 + layers) * sector size. Labels are
 * sequential: 20 layers compressions a node in one thread, cancelled between runs of nodes; the rest is
 * parallel. */
MUST_USE struct status sealed_start(struct sealed **out, const struct seal_request *request,
                                    const struct work *work);
void sealed_end(struct sealed *s); /* NULL allowed */

/* Gives a C1 output (c1_end). */
MUST_USE struct status sealed_c1(struct c1 *out, const struct sealed *s);
/* The sector's part of a PoSt, at `position` of a partition: post_sector_bytes(registered). */
void sealed_post(uint8_t *out, const struct sealed *s, const struct registered_post *registered,
                 const uint8_t randomness[32], uint32_t partition_index, uint32_t position);
/* The update of the sector to new data: gives vanilla proofs and commitments (fabricated_snap_end). Memory:
 * as two trees of it. */
MUST_USE struct status sealed_update(struct fabricated_snap *out, const struct sealed *s,
                                     const struct snap_size *size, seal_data *data, void *context,
                                     const struct work *work);

/* sealed_start, sealed_c1, sealed_end. */
MUST_USE struct status seal_small(struct c1 *out, const struct seal_request *request,
                                  const struct work *work);

#endif
