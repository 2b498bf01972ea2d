/* Sums of products in Fr with a single reduction, for matrix products (Poseidon mixing). */
#ifndef CUZK_FIELD_FR_DOT_H
#define CUZK_FIELD_FR_DOT_H

#include "field/flavour.h"
#include "field/fr.h"

#define FR_DOT_MAX 64

/* sum of a[i] b[i] for i < n as five limbs, divided by 2^256, below 30 r; not yet reduced. Assembly. */
void fr_dot_rows_adx(uint64_t out[5], const fr *a, const fr *b, size_t n);
FLAVOUR_DECLARE(void, fr_dot_bulk, (fr * out, const fr *a, const fr *b, size_t n));

/* out = sum of a[i] b[i] for i < n, n <= FR_DOT_MAX; 16n + 20 limb products (fr_mul: 36n). out may alias.
 * In a FLAVOURED file that file's flavour, elsewhere the one in force. */
static inline void fr_dot(fr *out, const fr *a, const fr *b, size_t n)
{
    FLAVOUR_HERE(fr_dot_bulk, out, a, b, n);
}

#endif
