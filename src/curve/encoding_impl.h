/* The two flavours of the bulk coders of curve/encoding.h; curve/encoding.c chooses. */
#ifndef CUZK_CURVE_ENCODING_IMPL_H
#define CUZK_CURVE_ENCODING_IMPL_H

#include "curve/encoding.h"
#include "field/flavour.h"

FLAVOUR_DECLARE(size_t, g1_from_uncompressed_many_impl,
                (g1_affine * out, const uint8_t *bytes, size_t n, enum point_error *error));
FLAVOUR_DECLARE(size_t, g2_from_uncompressed_many_impl,
                (g2_affine * out, const uint8_t *bytes, size_t n, enum point_error *error));
FLAVOUR_DECLARE(void, g1_to_uncompressed_many_impl, (uint8_t * bytes, const g1_affine *a, size_t n));
FLAVOUR_DECLARE(void, g2_to_uncompressed_many_impl, (uint8_t * bytes, const g2_affine *a, size_t n));
/* y^2 = x^3 + b for a given x; false if there is no such y. */
FLAVOUR_DECLARE(bool, g1_y_impl, (fp * y, const fp *x));
FLAVOUR_DECLARE(bool, g2_y_impl, (fp2 * y, const fp2 *x));

#endif
