/* Evaluation domains: the 2^k-th roots of unity of Fr, k = 0 .. 31, and the small tables that transforms
 * over them need.
 *
 * The root is part of the object. domain_open() takes the root that Filecoin's parameters are made with
 * (7-based); key files of other worlds number the same points differently and open their domain with
 * domain_open_with(). The order of points is w^0, w^1, ...; of a coset, shift w^0, shift w^1, ...
 *
 * Memory: 4 tables of 2^min(k, DOMAIN_TABLE_LOG2) elements, at most 512 KiB whatever the size, and as much as
 * 0.8 MiB more for the AVX-512 form where that is in force. */
#ifndef CUZK_POLY_DOMAIN_H
#define CUZK_POLY_DOMAIN_H

#include "base/status.h"
#include "field/fr.h"

#define DOMAIN_LOG2_MOST  31
#define DOMAIN_TABLE_LOG2 12
#define DOMAIN_PASS_LOG2  8 /* bits of the index that one strided pass does at most */

/* Powers of a root w of order 2^k: squares[i] = w^(2^i), and for every stage of a short transform
 * stages[2^s + j] = (the root of order 2^(s+1))^j, j < 2^s. */
struct domain_powers {
    fr squares[32];
    fr *stages;
};

struct domain {
    unsigned log2_size;
    unsigned block_log2; /* size of the contiguous transforms that a long one ends or begins with */
    unsigned pass_log2;  /* most bits of a strided pass, which moves columns of a long one */
    size_t size;
    fr root, shift;                        /* w, and the shift of the coset */
    fr size_inverse;                       /* 1 / size */
    fr vanishing;                          /* shift^size - 1: x^size - 1 anywhere on the coset; not zero */
    struct domain_powers forward, inverse; /* of w and of 1/w */
    /* Powers of the shift and of its inverse: squares[i] = shift^(2^i); for contiguous blocks,
     * stages[c] = (shift^(size / block))^(c with its block_log2 bits reversed). */
    struct domain_powers shift_forward, shift_inverse;
    fr *tables; /* owns all of the above */
    struct ntt_vectors
        *vectors; /* the tables of the AVX-512 form (poly/ntt_ifma.h), NULL where not in force */
};

/* The smallest k with 2^k >= rows; false if that is more than DOMAIN_LOG2_MOST. */
MUST_USE bool domain_log2_for(unsigned *log2_size, uint64_t rows);

/* The domain of size 2^log2_size over FR_ROOT, coset shift 7. Gives *out; domain_close. */
MUST_USE struct status domain_open(struct domain *out, unsigned log2_size);
/* The same over a given root of order exactly 2^log2_size, and a shift with shift^size neither 0 nor 1. */
MUST_USE struct status domain_open_with(struct domain *out, unsigned log2_size, const fr *root,
                                        const fr *shift);
/* The same with a given plan: one block (block_log2 = log2_size), or 2 <= block_log2 < log2_size and strided
 * passes of at most pass_log2 <= block_log2 bits. For tests, which reach every plan at small sizes. */
MUST_USE struct status domain_open_blocks(struct domain *out, unsigned log2_size, unsigned block_log2,
                                          unsigned pass_log2, const fr *root, const fr *shift);
void domain_close(struct domain *domain);

/* The last bits of i in reverse order; 0 for no bits. */
static inline size_t bits_reversed(size_t i, unsigned bits)
{
    uint64_t x = __builtin_bswap64(i);
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    return bits == 0 ? 0 : (size_t)(x >> (64 - bits));
}

#endif
