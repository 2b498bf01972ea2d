/* Loops of many.h, and the way to the eight-fold ones. */
#include "field/many.h"

void FLAVOUR(fp_mul_many_bulk)(fp *out, const fp *a, const fp *b, size_t n)
{
    size_t i = 0;
#ifdef CUZK_FLAVOUR_adx
    if (n >= 8 && flavour_ifma_in_force()) {
        i = n - n % 8;
        fp_mul_many_ifma(out, a, b, i);
    }
#endif
    for (; i < n; i++)
        fp_mul(&out[i], &a[i], &b[i]);
}

void FLAVOUR(fp_mul_eight_bulk)(fp *const out[8], const fp *const a[8], const fp *const b[8])
{
#ifdef CUZK_FLAVOUR_adx
    if (flavour_ifma_in_force()) {
        fp_mul_eight_ifma(out, a, b);
        return;
    }
#endif
    for (int i = 0; i < 8; i++)
        fp_mul(out[i], a[i], b[i]);
}

void FLAVOUR(fr_mul_many_bulk)(fr *out, const fr *a, const fr *b, size_t n)
{
    size_t i = 0;
#ifdef CUZK_FLAVOUR_adx
    if (n >= 8 && flavour_ifma_in_force()) {
        i = n - n % 8;
        fr_mul_many_ifma(out, a, b, i);
    }
#endif
    for (; i < n; i++)
        fr_mul(&out[i], &a[i], &b[i]);
}
