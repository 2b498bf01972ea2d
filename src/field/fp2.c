/* Fp2: bytes, inversion by the norm, square roots (method: bulk.c). */
#include "field/fp2.h"

#include "field/bulk.h"

bool fp2_from_bytes(fp2 *out, const uint8_t bytes[96])
{
    bool good1 = fp_from_bytes(&out->c1, bytes);
    bool good0 = fp_from_bytes(&out->c0, bytes + 48);
    if (!good0 || !good1)
        *out = FP2_ZERO;
    return good0 && good1;
}

void fp2_to_bytes(uint8_t bytes[96], const fp2 *a)
{
    fp_to_bytes(bytes, &a->c1);
    fp_to_bytes(bytes + 48, &a->c0);
}

bool fp2_is_large(const fp2 *a)
{
    return fp_is_large(fp_is_zero(&a->c1) ? &a->c0 : &a->c1);
}

static void fp2_norm(fp *out, const fp2 *a)
{
    fp t;
    fp_sqr(&t, &a->c0);
    fp_sqr(out, &a->c1);
    fp_add(out, out, &t);
}

static void fp2_conjugate_times(fp2 *out, const fp2 *a, const fp *factor)
{
    fp2 t;
    fp2_conjugate(&t, a);
    fp2_mul_fp(out, &t, factor);
}

void fp2_inv(fp2 *out, const fp2 *a)
{
    fp n;
    fp2_norm(&n, a);
    fp_inv(&n, &n);
    fp2_conjugate_times(out, a, &n);
}

void fp2_inv_vartime(fp2 *out, const fp2 *a)
{
    fp n;
    fp2_norm(&n, a);
    fp_inv_vartime(&n, &n);
    fp2_conjugate_times(out, a, &n);
}

bool fp2_sqrt_vartime(fp2 *out, const fp2 *a)
{
    return FLAVOUR_CALL(fp2_sqrt_bulk, out, a);
}
