/* The public face of curve/pairing_impl.c: chooses the flavour once per call. */
#include "curve/pairing_impl.h"

void g2_prepare(struct g2_prepared *out, const g2_affine *q)
{
    FLAVOUR_CALL(g2_prepare_impl, out, q);
}

void pairing_miller_product(fp12 *out, const struct pairing_term *terms, size_t n)
{
    FLAVOUR_CALL(pairing_miller_product_impl, out, terms, n);
}

void pairing_final_exponentiation(fp12 *out, const fp12 *a)
{
    FLAVOUR_CALL(pairing_final_exponentiation_impl, out, a);
}

void pairing(fp12 *out, const g1_affine *p, const g2_affine *q)
{
    struct g2_prepared prepared;
    struct pairing_term term = {p, &prepared};
    g2_prepare(&prepared, q);
    pairing_miller_product(out, &term, 1);
    pairing_final_exponentiation(out, out);
}

bool pairing_product_is_one(const struct pairing_term *terms, size_t n)
{
    fp12 f;
    pairing_miller_product(&f, terms, n);
    pairing_final_exponentiation(&f, &f);
    return fp12_is_one(&f);
}
