/* Exponentiation, square roots and batch inversion: hundreds of dependent multiplications per call, so
 * compiled in both flavours. Exponents are public; only the base may be secret. */
#include "field/bulk.h"

enum { WINDOW_BITS = 4, WINDOW_SIZE = 1 << WINDOW_BITS, WINDOWS_PER_LIMB = 64 / WINDOW_BITS };

/* (p-3)/4, so that for a square a: a * a^e is a root and a^e its inverse. */
static const uint64_t FP_SQRT_EXPONENT[6] = {UINT64_C(0xee7fbfffffffeaaa), UINT64_C(0x07aaffffac54ffff),
                                             UINT64_C(0xd9cc34a83dac3d89), UINT64_C(0xd91dd2e13ce144af),
                                             UINT64_C(0x92c6e9ed90d2eb35), UINT64_C(0x0680447a8e5ff9a6)};

static unsigned exponent_window(const uint64_t *exponent, size_t i)
{
    return (unsigned)(exponent[i / WINDOWS_PER_LIMB] >> (i % WINDOWS_PER_LIMB * WINDOW_BITS)) &
           (WINDOW_SIZE - 1);
}

/* Fixed windows of four bits: per window 4 squarings and at most 1 multiplication. */
void FLAVOUR(fr_pow_bulk)(fr *out, const fr *a, const uint64_t *exponent, size_t limbs)
{
    fr table[WINDOW_SIZE], acc = FR_ONE;
    table[0] = FR_ONE;
    for (int i = 1; i < WINDOW_SIZE; i++)
        fr_mul(&table[i], &table[i - 1], a);
    bool begun = false;
    for (size_t i = limbs * WINDOWS_PER_LIMB; i-- > 0;) {
        unsigned w = exponent_window(exponent, i);
        for (int j = 0; begun && j < WINDOW_BITS; j++)
            fr_sqr(&acc, &acc);
        if (w != 0)
            fr_mul(&acc, &acc, &table[w]);
        begun = begun || w != 0;
    }
    *out = acc;
}

void FLAVOUR(fp_pow_bulk)(fp *out, const fp *a, const uint64_t *exponent, size_t limbs)
{
    fp table[WINDOW_SIZE], acc = FP_ONE;
    table[0] = FP_ONE;
    for (int i = 1; i < WINDOW_SIZE; i++)
        fp_mul(&table[i], &table[i - 1], a);
    bool begun = false;
    for (size_t i = limbs * WINDOWS_PER_LIMB; i-- > 0;) {
        unsigned w = exponent_window(exponent, i);
        for (int j = 0; begun && j < WINDOW_BITS; j++)
            fp_sqr(&acc, &acc);
        if (w != 0)
            fp_mul(&acc, &acc, &table[w]);
        begun = begun || w != 0;
    }
    *out = acc;
}

/* Montgomery's trick: scratch[i] is the product of the non-zero elements before i. */
void FLAVOUR(fr_inv_batch_bulk)(fr *a, fr *scratch, size_t n)
{
    fr acc = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!fr_is_zero(&a[i]))
            fr_mul(&acc, &acc, &a[i]);
    }
    fr_inv_vartime(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (fr_is_zero(&a[i]))
            continue;
        fr t;
        fr_mul(&t, &acc, &scratch[i]);
        fr_mul(&acc, &acc, &a[i]);
        a[i] = t;
    }
}

bool FLAVOUR(fp_sqrt_bulk)(fp *out, const fp *a)
{
    fp z, x, check;
    FLAVOUR(fp_pow_bulk)(&z, a, FP_SQRT_EXPONENT, 6);
    fp_mul(&x, &z, a);
    fp_sqr(&check, &x);
    bool square = fp_equal(&check, a);
    *out = square ? x : FP_ZERO;
    return square;
}

static void fp_half(fp *out, const fp *a)
{
    static const fp half = {{UINT64_C(0x1804000000015554), UINT64_C(0x855000053ab00001),
                             UINT64_C(0x633cb57c253c276f), UINT64_C(0x6e22d1ec31ebb502),
                             UINT64_C(0xd3916126f2d14ca2), UINT64_C(0x17fbb8571a006596)}};
    fp_mul(out, a, &half);
}

/* The complex method for p = 3 mod 4, with two exponentiations and no inversion. With s^2 the norm of a and
 * t = (c0 + s)/2, put z = t^((p-3)/4), x = z t, so that x^2 = +-t and z = +-1/x. If x^2 = t, the root is
 * x + (c1/2) z u. Otherwise (c0 - s)/2 = -(c1/2)^2 / t is the square, and the root is -(c1/2) z + x u. */
bool FLAVOUR(fp2_sqrt_bulk)(fp2 *out, const fp2 *a)
{
    fp s, t, z, x, half_c1, check;
    fp2 root;
    if (fp_is_zero(&a->c1)) { /* one of c0 and -c0 is a square */
        FLAVOUR(fp_pow_bulk)(&z, &a->c0, FP_SQRT_EXPONENT, 6);
        fp_mul(&x, &z, &a->c0);
        fp_sqr(&check, &x);
        bool square = fp_equal(&check, &a->c0);
        out->c0 = square ? x : FP_ZERO;
        out->c1 = square ? FP_ZERO : x;
        return true;
    }
    fp_sqr(&s, &a->c0);
    fp_sqr(&t, &a->c1);
    fp_add(&s, &s, &t);
    if (!FLAVOUR(fp_sqrt_bulk)(&s, &s)) {
        *out = FP2_ZERO;
        return false;
    }
    fp_add(&t, &a->c0, &s);
    fp_half(&t, &t);
    FLAVOUR(fp_pow_bulk)(&z, &t, FP_SQRT_EXPONENT, 6);
    fp_mul(&x, &z, &t);
    fp_half(&half_c1, &a->c1);
    fp_mul(&z, &z, &half_c1);
    fp_sqr(&check, &x);
    if (fp_equal(&check, &t)) {
        root.c0 = x;
        root.c1 = z;
    } else {
        fp_neg(&root.c0, &z);
        root.c1 = x;
    }
    *out = root;
    return true;
}
