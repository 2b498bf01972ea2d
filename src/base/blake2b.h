/* BLAKE2b (RFC 7693) by libcrypto: 64 bytes without a key (digests of parameter files), or keyed with an
 * output of any size. Errors mean that the library is out of memory or forbids the algorithm. */
#ifndef CUZK_BASE_BLAKE2B_H
#define CUZK_BASE_BLAKE2B_H

#include "base/status.h"
#include <stdint.h>

struct blake2b {
    void *context; /* libcrypto's; NULL when ended */
};

MUST_USE struct status blake2b_begin(struct blake2b *h);
MUST_USE struct status blake2b_add(struct blake2b *h, const void *data, size_t size);
/* Releases the context in any case. */
MUST_USE struct status blake2b_end(struct blake2b *h, uint8_t out[64]);
void blake2b_abandon(struct blake2b *h); /* releases the context; no-op after end */
MUST_USE struct status blake2b(uint8_t out[64], const void *data, size_t size);

/* 1 <= out_size <= 64, 1 <= key_size <= 64. */
MUST_USE struct status blake2b_keyed(uint8_t *out, size_t out_size, const uint8_t *key, size_t key_size,
                                     const void *data, size_t size);

#endif
