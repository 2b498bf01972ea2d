/* Fp2 = Fp[u]/(u^2 + 1): c0 + c1 u. Multiplication is Karatsuba (3 Fp multiplications), squaring
 * (c0+c1)(c0-c1), 2c0c1 (2 multiplications). Bytes are c1 first (point encodings). */
#ifndef CUZK_FIELD_FP2_H
#define CUZK_FIELD_FP2_H

#include "field/fp.h"

typedef struct {
    fp c0, c1;
} fp2;

static const fp2 FP2_ZERO = {{{0, 0, 0, 0, 0, 0}}, {{0, 0, 0, 0, 0, 0}}};
static const fp2 FP2_ONE = {
    {{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
      UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}},
    {{0, 0, 0, 0, 0, 0}}};

static inline void fp2_add(fp2 *out, const fp2 *a, const fp2 *b)
{
    fp_add(&out->c0, &a->c0, &b->c0);
    fp_add(&out->c1, &a->c1, &b->c1);
}

static inline void fp2_sub(fp2 *out, const fp2 *a, const fp2 *b)
{
    fp_sub(&out->c0, &a->c0, &b->c0);
    fp_sub(&out->c1, &a->c1, &b->c1);
}

static inline void fp2_neg(fp2 *out, const fp2 *a)
{
    fp_neg(&out->c0, &a->c0);
    fp_neg(&out->c1, &a->c1);
}

static inline void fp2_dbl(fp2 *out, const fp2 *a)
{
    fp2_add(out, a, a);
}

static inline void fp2_conjugate(fp2 *out, const fp2 *a)
{
    out->c0 = a->c0;
    fp_neg(&out->c1, &a->c1);
}

static inline void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b)
{
    fp v0, v1, s, t;
    fp_add(&s, &a->c0, &a->c1);
    fp_add(&t, &b->c0, &b->c1);
    fp_mul(&v0, &a->c0, &b->c0);
    fp_mul(&v1, &a->c1, &b->c1);
    fp_mul(&s, &s, &t);
    fp_sub(&s, &s, &v0);
    fp_sub(&out->c1, &s, &v1);
    fp_sub(&out->c0, &v0, &v1);
}

static inline void fp2_sqr(fp2 *out, const fp2 *a)
{
    fp s, d, m;
    fp_add(&s, &a->c0, &a->c1);
    fp_sub(&d, &a->c0, &a->c1);
    fp_mul(&m, &a->c0, &a->c1);
    fp_mul(&out->c0, &s, &d);
    fp_dbl(&out->c1, &m);
}

static inline void fp2_mul_fp(fp2 *out, const fp2 *a, const fp *b)
{
    fp_mul(&out->c0, &a->c0, b);
    fp_mul(&out->c1, &a->c1, b);
}

/* out = a (1 + u), the non-residue of the tower. */
static inline void fp2_mul_nonresidue(fp2 *out, const fp2 *a)
{
    fp t;
    fp_sub(&t, &a->c0, &a->c1);
    fp_add(&out->c1, &a->c0, &a->c1);
    out->c0 = t;
}

static inline bool fp2_is_zero(const fp2 *a)
{
    return fp_is_zero(&a->c0) && fp_is_zero(&a->c1);
}

static inline bool fp2_equal(const fp2 *a, const fp2 *b)
{
    return fp_equal(&a->c0, &b->c0) && fp_equal(&a->c1, &b->c1);
}

bool fp2_from_bytes(fp2 *out, const uint8_t bytes[96]); /* c1 then c0; false if not canonical */
void fp2_to_bytes(uint8_t bytes[96], const fp2 *a);
bool fp2_is_large(const fp2 *a); /* by c1, by c0 if c1 is zero */
void fp2_inv(fp2 *out, const fp2 *a);
void fp2_inv_vartime(fp2 *out, const fp2 *a);
bool fp2_sqrt_vartime(fp2 *out, const fp2 *a);

#endif
