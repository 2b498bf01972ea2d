/* Between the parts of cuzk fabricate. */
#ifndef CUZK_CMD_CUZK_FABRICATE_H
#define CUZK_CMD_CUZK_FABRICATE_H

#include "cmd/cuzk/commands.h"
#include "cmd/cuzk/info.h"

#include "base/pool.h"
#include "filecoin/fabricate_post.h"
#include "filecoin/fabricate_snap.h"
#include "filecoin/seal.h"

struct fabricate {
    const char *kind_text, *size_text, *seed, *out;
    uint64_t partitions, sectors, registered, miner, sector_number, threads;
    bool partitions_given, sectors_given, registered_given, honest, json;
    enum proof_kind kind;
    const struct sector_size *sector;
    const char *registered_name;
    const char *name; /* of the instance; NULL: the published one */
    struct pool *pool;
    struct work work;
    struct info info;
    struct cuzk_error error;
};

/* The same as the fabricated ones, from sectors that are really sealed. With the name "reference" they are
 * the sectors of the published known answers. */
MUST_USE struct status honest_c1(struct c1 *out, const struct fabricate *f);
MUST_USE struct status honest_post(struct fabricated_post *out, const struct fabricate *f,
                                   const uint64_t *ids, size_t count, uint32_t partition);
MUST_USE struct status honest_update(struct fabricated_snap *out, const struct fabricate *f);

#endif
