/* Sealing with the data rule of the known answers: data(v) = trim(SHA-256("porep-gv-data" || LE32(v))). */
#ifndef CUZK_TESTS_FILECOIN_SEAL_SUPPORT_H
#define CUZK_TESTS_FILECOIN_SEAL_SUPPORT_H

#include "support.h"
#include "base/bytes.h"
#include "filecoin/seal.h"

static inline void known_data(void *context, uint64_t node, uint8_t out[32])
{
    uint8_t text[17] = "porep-gv-data";
    (void)context;
    store_le32(text + 13, (uint32_t)node);
    sha256(out, text, sizeof text);
    out[31] &= 0x3f;
}

/* Miner 1000, ticket 32 x 1, seed 32 x 2. circuit: "4k". */
static inline struct seal_request known_sector(const char *circuit, uint32_t registered_number,
                                               uint64_t sector_number)
{
    static uint8_t ticket[32], seed[32];
    memset(ticket, 1, 32);
    memset(seed, 2, 32);
    struct seal_request q = {.seal = &REGISTERED_SEAL[registered_number],
                             .sector = sector_by_circuit(circuit),
                             .miner = 1000,
                             .sector_number = sector_number,
                             .ticket = ticket,
                             .seed = seed,
                             .data = known_data};
    return q;
}

static inline struct status seal_known(struct c1 *out, const char *circuit, uint32_t registered_number,
                                       uint64_t sector_number, const struct work *work)
{
    struct seal_request q = known_sector(circuit, registered_number, sector_number);
    return seal_small(out, &q, work);
}

#endif
