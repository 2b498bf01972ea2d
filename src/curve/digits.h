/* Signed digits of scalars, for windowed multiplication (groth16 specification 8.1). Room-internal, _vartime.
 *
 * A scalar s is replaced by t = min(s, r - s), which is below 2^254, and a sign. With windows of c bits and
 * W = ceil(255/c) of them, t + K, where K has 2^(c-1) in every window but the top one, is cut into c-bit
 * pieces; a piece less 2^(c-1) is a digit in [-2^(c-1), 2^(c-1)), and the top piece, taken as it is, lies in
 * [0, 2^(c-1)]. So a digit depends on its own bits alone: no carry walks from window to window, and W
 * windows are enough. */
#ifndef CUZK_CURVE_DIGITS_H
#define CUZK_CURVE_DIGITS_H

#include "field/flavour.h"
#include "field/fr.h"

#define DIGITS_MIN_BITS 2
#define DIGITS_MAX_BITS 20

struct digits_form {
    unsigned bits;      /* c */
    unsigned windows;   /* W */
    uint64_t offset[4]; /* K */
};

/* t + K in bits 0..254, the sign of s in bit 255. */
typedef struct {
    uint64_t l[4];
} digits_scalar;

void digits_form_make(struct digits_form *out, unsigned bits);
void digits_from_fr(digits_scalar *out, const fr *scalars, size_t n, const struct digits_form *form);

/* A scalar with all digits zero: what becomes of the terms to leave out. */
static inline void digits_zero(digits_scalar *out, const struct digits_form *form)
{
    for (int i = 0; i < 4; i++)
        out->l[i] = form->offset[i];
}

/* The digit of a window as magnitude << 1 | sign, the scalar's sign included; 0 or 1 if it is zero. */
static inline uint32_t digits_get(const digits_scalar *s, const struct digits_form *form, unsigned window)
{
    unsigned bit = window * form->bits, word = bit / 64, shift = bit % 64;
    uint64_t piece = s->l[word] >> shift;
    uint32_t sign = (uint32_t)(s->l[3] >> 63);
    if (shift + form->bits > 64 && word < 3)
        piece |= s->l[word + 1] << (64 - shift);
    if (window + 1 == form->windows)
        return (uint32_t)(piece & ((UINT64_C(1) << (255 - bit)) - 1)) << 1 | sign;
    uint32_t half = UINT32_C(1) << (form->bits - 1);
    uint32_t digit = ((uint32_t)piece & (2 * half - 1)) - half; /* two's complement */
    uint32_t negative = digit >> 31;
    uint32_t magnitude = (digit ^ (0 - negative)) + negative;
    return magnitude << 1 | (sign ^ negative);
}

/* Sorts the nonzero digits of a window by magnitude: order[] gets i << 1 | sign, and the terms of magnitude
 * m + 1 end at end[m] (and begin at end[m - 1], or 0). end has 2^(c-1) entries, keys is scratch; order and
 * keys have n. */
void digits_sort(uint32_t *order, uint32_t *end, uint32_t *keys, const digits_scalar *scalars, size_t n,
                 const struct digits_form *form, unsigned window);

FLAVOUR_DECLARE(void, digits_from_fr_impl,
                (digits_scalar * out, const fr *scalars, size_t n, const struct digits_form *form));

#endif
