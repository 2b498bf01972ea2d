/* The optimal ate pairing e: G1 x G2 -> Fp12 of BLS12-381, and products of pairings with one final
 * exponentiation. Values are a fixed non-zero power of the reduced pairing: products compare, nothing else.
 */
#ifndef CUZK_CURVE_PAIRING_H
#define CUZK_CURVE_PAIRING_H

#include "curve/point.h"
#include "field/fp12.h"

/* Line coefficients of a fixed G2 point, 68 steps: computed once for a key's fixed points. The point must be
 * of order r, or infinity. */
struct g2_prepared {
    bool infinity;
    fp2 lines[68][3];
};
void g2_prepare(struct g2_prepared *out, const g2_affine *q);

struct pairing_term {
    const g1_affine *p;
    const struct g2_prepared *q;
};

/* Product of the Miller loops of n terms (squarings shared); a term with infinity on either side is 1. */
void pairing_miller_product(fp12 *out, const struct pairing_term *terms, size_t n);
void pairing_final_exponentiation(fp12 *out, const fp12 *a);
void pairing(fp12 *out, const g1_affine *p, const g2_affine *q);
/* True iff the product of the pairings is 1. */
bool pairing_product_is_one(const struct pairing_term *terms, size_t n);

#endif
