/* See sector.h. */
#include "filecoin/sector.h"

#include "base/bytes.h"
#include "base/sha256.h"

void prover_id(uint8_t out[32], uint64_t miner)
{
    memset(out, 0, 32);
    for (; miner >= 128; miner >>= 7)
        *out++ = (uint8_t)(miner | 128);
    *out = (uint8_t)miner;
}

void replica_id(uint8_t out[32], const uint8_t prover[32], uint64_t sector_number, const uint8_t ticket[32],
                const uint8_t comm_d[32], const uint8_t porep[32])
{
    uint8_t number[8];
    struct sha256 h;
    store_be64(number, sector_number);
    sha256_begin(&h);
    sha256_add(&h, prover, 32);
    sha256_add(&h, number, 8);
    sha256_add(&h, ticket, 32);
    sha256_add(&h, comm_d, 32);
    sha256_add(&h, porep, 32);
    sha256_end(&h, out);
    trim(out);
}

static void store_state(uint8_t out[32], const uint32_t state[8])
{
    for (int i = 0; i < 8; i++)
        store_be32(out + 4 * i, state[i]);
    trim(out);
}

void hash_nodes(uint8_t out[32], const uint8_t left[32], const uint8_t right[32])
{
    uint32_t state[8];
    uint8_t text[128] = {0};
    memcpy(state, SHA256_INITIAL, sizeof state);
    memcpy(text, left, 32);
    memcpy(text + 32, right, 32);
    text[64] = 0x80;
    store_be64(text + 120, 512);
    sha256_compress_many(state, text, 2);
    store_state(out, state);
}

void label_hash(uint8_t out[32], const uint8_t replica[32], uint32_t layer, uint64_t node,
                const uint8_t *const *values, uint32_t count, uint8_t (*inputs)[32])
{
    enum { HEAD = 64, BYTES = HEAD + 32 * LABEL_INPUTS, BLOCKS = BYTES / 64 + 1 };
    uint8_t text[64 * BLOCKS];
    uint32_t state[8];
    memcpy(text, replica, 32);
    store_be32(text + 32, layer);
    store_be64(text + 36, node);
    memset(text + 44, 0, 20);
    size_t size = HEAD;
    for (uint32_t i = 0, from = 0; count && i < LABEL_INPUTS; i++, size += 32) {
        memcpy(text + size, values[from], 32);
        from = from + 1 == count ? 0 : from + 1;
    }
    if (inputs && count)
        memcpy(inputs, text + HEAD, 32 * LABEL_INPUTS);
    size_t end = (size + 8) / 64 * 64 + 64;
    memset(text + size, 0, end - size);
    text[size] = 0x80;
    store_be64(text + end - 8, 8 * size);
    memcpy(state, SHA256_INITIAL, sizeof state);
    sha256_compress_many(state, text, end / 64);
    store_state(out, state);
}
