/* What poly/ntt.c asks of the flavoured core (poly/ntt_core.c). Room-internal. */
#ifndef CUZK_POLY_NTT_CORE_H
#define CUZK_POLY_NTT_CORE_H

#include "field/flavour.h"
#include "poly/ntt.h"

struct ntt_job {
    const struct domain *domain;
    const struct work *work;
    fr *const *vectors;
    size_t count;
    const struct domain_powers *roots; /* domain->forward or domain->inverse */
    const struct domain_powers *shift; /* domain->shift_forward, shift_inverse, or NULL */
    const fr *scale;                   /* NULL for 1 */
};

/* Natural -> bit-reversed: x[e] = scale shift^e sum_i v[i] root^(i e). False if cancelled. */
FLAVOUR_DECLARE(bool, ntt_dif, (const struct ntt_job *job));
/* Bit-reversed -> natural: v[i] = sum_e (scale shift^e x[e]) root^(i e). */
FLAVOUR_DECLARE(bool, ntt_dit, (const struct ntt_job *job));
FLAVOUR_DECLARE(bool, ntt_multiply_core,
                (const struct work *work, fr *out, const fr *a, const fr *b, size_t n));
FLAVOUR_DECLARE(bool, ntt_bit_reverse_core,
                (const struct work *work, fr *v, const fr *less, unsigned log2_size));
/* out[i] = c w^i / (tau - w^i), given start = tau / c, less = 1 / c and the powers of 1/w (squares). */
FLAVOUR_DECLARE(bool, ntt_lagrange_core,
                (const struct work *work, fr *out, const fr *start, const fr *less, const fr *squares,
                 size_t n));

#endif
