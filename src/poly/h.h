/* The quotient polynomial of a proof, h = (A B - C) / (x^m - 1), from the values that A, B, C take on the
 * domain (one per row of the constraint system). Groth16 specification, 2.3 and 7.6. */
#ifndef CUZK_POLY_H_H
#define CUZK_POLY_H_H

#include "poly/ntt.h"

/* From a and b alone (m values each, zero-padded), for a satisfied system, where c[i] = a[i] b[i]. On return
 * `a` holds the m coefficients of h in natural order, the last one zero; b and scratch are undefined.
 * Three vectors of m in all; allocates nothing. Six transforms:
 *
 *   h = z (icoset(A B) - inverse(a b)),   z = 1 / (shift^m - 1)
 *
 * because A B = low + high x^m turns into low + shift^m high on the coset and low + high on the domain.
 * If the system is not satisfied the result is of no use. */
MUST_USE struct status poly_h(const struct domain *domain, const struct work *work, fr *a, fr *b,
                              fr *scratch);

/* The literal recipe with seven transforms and c given: the reference for tests, and equal to the
 * reference prover even for systems that are not satisfied. Result in `a`; b and c are undefined. */
MUST_USE struct status poly_h_literal(const struct domain *domain, const struct work *work, fr *a, fr *b,
                                      fr *c);

#endif
