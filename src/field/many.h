/* Many independent multiplications in one call. In the ADX flavour, where the processor has AVX-512 IFMA,
 * eight go side by side in vector registers (many_ifma.c) in less than half the time; elsewhere these are
 * loops. The results are the same to the bit, so callers need no second algorithm: batch-affine addition and
 * NTT passes only have to be written as steps over arrays. In a FLAVOURED file they take that file's flavour.
 *
 * out[i] may be a[i] or b[i] of the same index; otherwise outputs overlap nothing. */
#ifndef CUZK_FIELD_MANY_H
#define CUZK_FIELD_MANY_H

#include "field/flavour.h"
#include "field/fp.h"
#include "field/fr.h"

FLAVOUR_DECLARE(void, fp_mul_many_bulk, (fp * out, const fp *a, const fp *b, size_t n));
FLAVOUR_DECLARE(void, fp_mul_eight_bulk, (fp *const out[8], const fp *const a[8], const fp *const b[8]));
FLAVOUR_DECLARE(void, fr_mul_many_bulk, (fr * out, const fr *a, const fr *b, size_t n));

/* out[i] = a[i] b[i] for i < n. Multiples of eight are best. */
static inline void fp_mul_many(fp *out, const fp *a, const fp *b, size_t n)
{
    FLAVOUR_HERE(fp_mul_many_bulk, out, a, b, n);
}

static inline void fr_mul_many(fr *out, const fr *a, const fr *b, size_t n)
{
    FLAVOUR_HERE(fr_mul_many_bulk, out, a, b, n);
}

/* *out[i] = *a[i] *b[i] for i < 8: operands wherever they lie. */
static inline void fp_mul_eight(fp *const out[8], const fp *const a[8], const fp *const b[8])
{
    FLAVOUR_HERE(fp_mul_eight_bulk, out, a, b);
}

/* AVX-512 IFMA only; n a multiple of eight. */
void fp_mul_many_ifma(fp *out, const fp *a, const fp *b, size_t n);
void fp_mul_eight_ifma(fp *const out[8], const fp *const a[8], const fp *const b[8]);
void fr_mul_many_ifma(fr *out, const fr *a, const fr *b, size_t n);

#endif
