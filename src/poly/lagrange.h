/* The values of the Lagrange polynomials of a domain at one point: what a setup weighs matrix columns with.
 */
#ifndef CUZK_POLY_LAGRANGE_H
#define CUZK_POLY_LAGRANGE_H

#include "base/pool.h"
#include "poly/domain.h"

/* out[i] = L_i(tau) for i < size, where L_i is 1 at w^i and 0 at the other points of the domain. Closed
 * formula (tau^m - 1)/m * w^i / (tau - w^i) with batch inversion: about 4.5 multiplications an element, where
 * a transform of tau's powers takes k/2 + 1. For tau inside the domain the result is a unit vector.
 * Allocates nothing; time depends on tau by the inversions. */
MUST_USE struct status lagrange_at_vartime(const struct domain *domain, const struct work *work, fr *out,
                                           const fr *tau);

#endif
