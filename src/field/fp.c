/* Fp: bytes, inversion, powers and square roots. What is long goes through bulk.h, once per call. */
#include "field/fp.h"

#include "field/bulk.h"
#include "field/inverse.h"

bool fp_int_from_bytes(fp_int *out, const uint8_t bytes[48])
{
    for (int i = 0; i < 6; i++) {
        uint64_t x = 0;
        for (int j = 0; j < 8; j++)
            x = x << 8 | bytes[8 * (5 - i) + j];
        out->l[i] = x;
    }
    bool good = limbs_less(out->l, FP_MODULUS.l, 6);
    if (!good)
        *out = (fp_int){{0}};
    return good;
}

bool fp_from_bytes(fp *out, const uint8_t bytes[48])
{
    fp_int i;
    bool good = fp_int_from_bytes(&i, bytes);
    fp_from_int(out, &i);
    return good;
}

void fp_to_bytes(uint8_t bytes[48], const fp *a)
{
    fp_int t;
    fp_to_int(&t, a);
    for (int i = 0; i < 48; i++)
        bytes[47 - i] = (uint8_t)(t.l[i / 8] >> (i % 8 * 8));
}

/* a > (p-1)/2 exactly when 2a >= p, as p is odd; 2a has 382 bits. */
bool fp_is_large(const fp *a)
{
    fp_int t;
    fp_to_int(&t, a);
    limbs_add(t.l, t.l, t.l, 6);
    return !limbs_less(t.l, FP_MODULUS.l, 6);
}

void fp_pow_vartime(fp *out, const fp *a, const uint64_t *exponent, size_t limbs)
{
    FLAVOUR_CALL(fp_pow_bulk, out, a, exponent, limbs);
}

void fp_inv(fp *out, const fp *a)
{
    static const uint64_t p_minus_2[6] = {UINT64_C(0xb9feffffffffaaa9), UINT64_C(0x1eabfffeb153ffff),
                                          UINT64_C(0x6730d2a0f6b0f624), UINT64_C(0x64774b84f38512bf),
                                          UINT64_C(0x4b1ba7b6434bacd7), UINT64_C(0x1a0111ea397fe69a)};
    fp_pow_vartime(out, a, p_minus_2, 6); /* the exponent is public, so time does not depend on a */
}

/* The residue is aR; R^2 / (aR) is the residue of 1/a. */
void fp_inv_vartime(fp *out, const fp *a)
{
    limbs_inverse_vartime(out->l, a->l, FP_R2.l, FP_MODULUS.l, FP_N0, 6, 7);
}

bool fp_sqrt_vartime(fp *out, const fp *a)
{
    return FLAVOUR_CALL(fp_sqrt_bulk, out, a);
}
