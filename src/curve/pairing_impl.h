/* The two flavours of the functions of curve/pairing.h; curve/pairing.c chooses. */
#ifndef CUZK_CURVE_PAIRING_IMPL_H
#define CUZK_CURVE_PAIRING_IMPL_H

#include "curve/pairing.h"
#include "field/flavour.h"

FLAVOUR_DECLARE(void, g2_prepare_impl, (struct g2_prepared * out, const g2_affine *q));
FLAVOUR_DECLARE(void, pairing_miller_product_impl, (fp12 * out, const struct pairing_term *terms, size_t n));
FLAVOUR_DECLARE(void, pairing_final_exponentiation_impl, (fp12 * out, const fp12 *a));

#endif
