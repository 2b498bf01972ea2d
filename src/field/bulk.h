/* The long-running parts of Fr, Fp and Fp2, compiled in both flavours (bulk.c) and chosen once per call by
 * the public functions of fr.h, fp.h and fp2.h. Room-internal. */
#ifndef CUZK_FIELD_BULK_H
#define CUZK_FIELD_BULK_H

#include "field/flavour.h"
#include "field/fp2.h"
#include "field/fr.h"

FLAVOUR_DECLARE(void, fr_pow_bulk, (fr * out, const fr *a, const uint64_t *exponent, size_t limbs));
FLAVOUR_DECLARE(void, fp_pow_bulk, (fp * out, const fp *a, const uint64_t *exponent, size_t limbs));
FLAVOUR_DECLARE(void, fr_inv_batch_bulk, (fr * a, fr *scratch, size_t n));
FLAVOUR_DECLARE(bool, fp_sqrt_bulk, (fp * out, const fp *a));
FLAVOUR_DECLARE(bool, fp2_sqrt_bulk, (fp2 * out, const fp2 *a));

#endif
