/* SHA-256 (FIPS 180-4) with its compression function open: labels of twenty blocks and the chaining states
 * that circuits need are built from single compressions. Written here rather than taken from libcrypto,
 * whose raw compression is deprecated and whose general interface costs about a microsecond per message;
 * tests compare the two. Uses the processor's SHA instructions where it has them. Cannot fail. */
#ifndef CUZK_BASE_SHA256_H
#define CUZK_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

extern const uint32_t SHA256_INITIAL[8];
/* The 64 round constants. */
extern const uint32_t SHA256_ROUND[64];

/* state = compression of state with one block, or with `blocks` of them one after the other. */
void sha256_compress(uint32_t state[8], const uint8_t block[64]);
void sha256_compress_many(uint32_t state[8], const uint8_t *data, size_t blocks);
/* The portable form, for tests and for comparison. */
void sha256_compress_portable(uint32_t state[8], const uint8_t *data, size_t blocks);

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes added so far */
    uint8_t block[64];
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t size);
void sha256_end(struct sha256 *h, uint8_t out[32]); /* h must be begun anew */
void sha256(uint8_t out[32], const void *data, size_t size);

#endif
