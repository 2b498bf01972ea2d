/* SHA-512 by libcrypto. Errors mean that the library is out of memory or forbids the algorithm. */
#ifndef CUZK_BASE_SHA512_H
#define CUZK_BASE_SHA512_H

#include "base/status.h"
#include <stdint.h>

struct sha512 {
    void *context; /* libcrypto's; NULL when ended */
};

MUST_USE struct status sha512_begin(struct sha512 *h);
MUST_USE struct status sha512_add(struct sha512 *h, const void *data, size_t size);
/* Releases the context in any case. */
MUST_USE struct status sha512_end(struct sha512 *h, uint8_t out[64]);
void sha512_abandon(struct sha512 *h); /* releases the context; no-op after end */
MUST_USE struct status sha512(uint8_t out[64], const void *data, size_t size);

#endif
