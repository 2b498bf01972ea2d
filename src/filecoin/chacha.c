/* See chacha.h. */
#include "filecoin/chacha.h"

#include "base/bytes.h"

static inline uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static inline void quarter(uint32_t *x, unsigned a, unsigned b, unsigned c, unsigned d)
{
    x[a] += x[b], x[d] = rotate(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = rotate(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = rotate(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = rotate(x[b] ^ x[c], 7);
}

void chacha_block(uint8_t out[64], const uint8_t key[32], const uint32_t tail[4], unsigned rounds)
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (int i = 0; i < 8; i++)
        start[4 + i] = load_le32(key + 4 * i);
    for (int i = 0; i < 4; i++)
        start[12 + i] = tail[i];
    memcpy(x, start, sizeof x);
    for (unsigned i = 0; i < rounds; i += 2) {
        quarter(x, 0, 4, 8, 12);
        quarter(x, 1, 5, 9, 13);
        quarter(x, 2, 6, 10, 14);
        quarter(x, 3, 7, 11, 15);
        quarter(x, 0, 5, 10, 15);
        quarter(x, 1, 6, 11, 12);
        quarter(x, 2, 7, 8, 13);
        quarter(x, 3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++)
        store_le32(out + 4 * i, x[i] + start[i]);
}
