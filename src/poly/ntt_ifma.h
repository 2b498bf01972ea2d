/* The transforms with AVX-512 IFMA, eight elements at a time (poly/fr8.h). Room-internal; x86-64 only.
 * Used where the processor has it, unless CUZK_CPU chooses another form; about four times as fast as
 * MULX/ADX. Needs blocks of at least 64 elements; the other form does the rest. */
#ifndef CUZK_POLY_NTT_IFMA_H
#define CUZK_POLY_NTT_IFMA_H

#include "poly/ntt_core.h"

/* Fills domain->vectors: about 200 bytes for each element of a block, at most 0.8 MiB. Only where
 * available, for block_log2 >= 6. */
MUST_USE struct status ntt_ifma_prepare(struct domain *domain);

/* As ntt_dif with the inverse root, and ntt_dit with the root, on a prepared domain. */
bool ntt_dif_ifma(const struct ntt_job *job);
bool ntt_dit_ifma(const struct ntt_job *job);
bool ntt_multiply_ifma(const struct work *work, fr *out, const fr *a, const fr *b, size_t n); /* n % 8 = 0 */

#endif
