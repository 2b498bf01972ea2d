/* Secure randomness: getrandom only. Never falls back to anything weaker. */
#ifndef CUZK_BASE_RANDOM_H
#define CUZK_BASE_RANDOM_H

#include "base/status.h"
#include <stdint.h>

MUST_USE struct status random_bytes(uint8_t *out, size_t size);

#endif
