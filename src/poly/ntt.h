/* Number theoretic transforms over an evaluation domain, in place, without bit-reversal passes.
 *
 * Orders: values are always natural, v[i] belonging to w^i (or to shift w^i on the coset). Coefficients
 * are BIT-REVERSED: the coefficient of x^e stands at index bits_reversed(e, k). So a chain values ->
 * coefficients -> values on the coset permutes nothing. ntt_bit_reverse() and the natural forms are for
 * setup, for the last step of h, and for tests.
 *
 * Several vectors of the same domain in one call are cheaper than one after the other: the factors between
 * passes are computed once for all. Per vector of m = 2^k elements, P passes, V vectors, multiplications:
 * m (k/2 - 1 + (P-1)/V), plus m on a coset (poly/ntt_core.c has the passes).
 *
 * Cancelled calls leave the vectors undefined. Nothing allocates. Time does not depend on the values. */
#ifndef CUZK_POLY_NTT_H
#define CUZK_POLY_NTT_H

#include "base/pool.h"
#include "poly/domain.h"

/* Values -> coefficients, times *scale if it is not NULL. */
MUST_USE struct status ntt_inverse(const struct domain *domain, const struct work *work, fr *const *vectors,
                                   size_t count, const fr *scale);
/* Values on the coset -> coefficients, times *scale if it is not NULL. */
MUST_USE struct status ntt_inverse_coset(const struct domain *domain, const struct work *work,
                                         fr *const *vectors, size_t count, const fr *scale);
/* Coefficients -> values. */
MUST_USE struct status ntt_forward(const struct domain *domain, const struct work *work, fr *const *vectors,
                                   size_t count);
/* Coefficients -> values on the coset. */
MUST_USE struct status ntt_forward_coset(const struct domain *domain, const struct work *work,
                                         fr *const *vectors, size_t count);

/* Exchanges v[i] and v[bits_reversed(i)]. With `less` (NULL or a vector of the same order), subtracts it
 * from v beforehand. */
MUST_USE struct status ntt_bit_reverse(const struct domain *domain, const struct work *work, fr *v,
                                       const fr *less);

/* One vector, natural order on both sides. */
MUST_USE struct status ntt_inverse_natural(const struct domain *domain, const struct work *work, fr *v);
MUST_USE struct status ntt_forward_natural(const struct domain *domain, const struct work *work, fr *v);

/* out[i] = a[i] b[i] for the whole domain; out may be a or b. */
MUST_USE struct status ntt_multiply(const struct domain *domain, const struct work *work, fr *out,
                                    const fr *a, const fr *b);

#endif
