/* Fr: bytes, inversion, powers and roots of unity. What is long goes through bulk.h, once per call. */
#include "field/fr.h"

#include "base/status.h"
#include "field/bulk.h"
#include "field/inverse.h"

static void limbs_from_le(uint64_t *out, const uint8_t *bytes, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t x = 0;
        for (int j = 7; j >= 0; j--)
            x = x << 8 | bytes[8 * i + j];
        out[i] = x;
    }
}

bool fr_int_from_bytes(fr_int *out, const uint8_t bytes[32])
{
    limbs_from_le(out->l, bytes, 4);
    bool good = limbs_less(out->l, FR_MODULUS.l, 4);
    if (!good)
        *out = (fr_int){{0}};
    return good;
}

bool fr_from_bytes(fr *out, const uint8_t bytes[32])
{
    fr_int i;
    bool good = fr_int_from_bytes(&i, bytes);
    fr_from_int(out, &i);
    return good;
}

void fr_int_to_bytes(uint8_t bytes[32], const fr_int *a)
{
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(a->l[i / 8] >> (i % 8 * 8));
}

void fr_to_bytes(uint8_t bytes[32], const fr *a)
{
    fr_int i;
    fr_to_int(&i, a);
    fr_int_to_bytes(bytes, &i);
}

/* 2^256 < 3r: two conditional subtractions reduce any four limbs. */
static void fr_from_limbs_reduce(fr *out, const uint64_t limbs[4])
{
    fr_int t;
    limbs_reduce_once(t.l, limbs, FR_MODULUS.l, 4);
    limbs_reduce_once(t.l, t.l, FR_MODULUS.l, 4);
    fr_from_int(out, &t);
}

void fr_from_bytes_reduce(fr *out, const uint8_t *bytes, size_t length)
{
    CHECK(length <= 64);
    uint8_t padded[64] = {0};
    uint64_t limbs[8];
    for (size_t i = 0; i < length; i++)
        padded[i] = bytes[i];
    limbs_from_le(limbs, padded, 8);
    fr high;
    fr_from_limbs_reduce(&high, limbs + 4);
    fr_mul(&high, &high, &FR_R2); /* times 2^256 */
    fr_from_limbs_reduce(out, limbs);
    fr_add(out, out, &high);
}

void fr_pow_vartime(fr *out, const fr *a, const uint64_t *exponent, size_t limbs)
{
    FLAVOUR_CALL(fr_pow_bulk, out, a, exponent, limbs);
}

void fr_pow_u64_vartime(fr *out, const fr *a, uint64_t exponent)
{
    fr_pow_vartime(out, a, &exponent, 1);
}

void fr_inv(fr *out, const fr *a)
{
    static const uint64_t r_minus_2[4] = {UINT64_C(0xfffffffeffffffff), UINT64_C(0x53bda402fffe5bfe),
                                          UINT64_C(0x3339d80809a1d805), UINT64_C(0x73eda753299d7d48)};
    fr_pow_vartime(out, a, r_minus_2, 4); /* the exponent is public, so time does not depend on a */
}

/* The residue is aR; R^2 / (aR) is the residue of 1/a. */
void fr_inv_vartime(fr *out, const fr *a)
{
    limbs_inverse_vartime(out->l, a->l, FR_R2.l, FR_MODULUS.l, FR_N0, 4, 5);
}

void fr_inv_batch_vartime(fr *a, fr *scratch, size_t n)
{
    FLAVOUR_CALL(fr_inv_batch_bulk, a, scratch, n);
}

void fr_root_of_unity(fr *out, unsigned log2_order)
{
    CHECK(log2_order <= FR_TWO_ADICITY);
    *out = FR_ROOT;
    for (unsigned i = log2_order; i < FR_TWO_ADICITY; i++)
        fr_sqr(out, out);
}
