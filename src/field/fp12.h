/* Fp12 = Fp6[w]/(w^2 - v): c0 + c1 w, the field of the pairing's values.
 *
 * As a polynomial in w over Fp2 the coefficients of w^0 .. w^5 are c0.c0, c1.c0, c0.c1, c1.c1, c0.c2, c1.c2.
 * Multiplication and its kin are compiled in both flavours (fp12.c). Called from a FLAVOURED file they take
 * that file's flavour, elsewhere the one in force. Outputs may alias inputs. */
#ifndef CUZK_FIELD_FP12_H
#define CUZK_FIELD_FP12_H

#include "field/fp6.h"

typedef struct {
    fp6 c0, c1;
} fp12;

FLAVOUR_DECLARE(void, fp12_mul_bulk, (fp12 * out, const fp12 *a, const fp12 *b));
FLAVOUR_DECLARE(void, fp12_sqr_bulk, (fp12 * out, const fp12 *a));
FLAVOUR_DECLARE(void, fp12_inv_bulk, (fp12 * out, const fp12 *a, bool vartime));
FLAVOUR_DECLARE(void, fp12_mul_by_014_bulk,
                (fp12 * out, const fp12 *a, const fp2 *l0, const fp2 *l1, const fp2 *l4));
FLAVOUR_DECLARE(void, fp12_cyclotomic_sqr_bulk, (fp12 * out, const fp12 *a));
FLAVOUR_DECLARE(void, fp12_frobenius_bulk, (fp12 * out, const fp12 *a, unsigned power));
FLAVOUR_DECLARE(void, fp12_pow_bulk, (fp12 * out, const fp12 *a, const uint64_t *exponent, size_t limbs));

static inline void fp12_one(fp12 *out)
{
    fp6_one(&out->c0);
    out->c1 = FP6_ZERO;
}

static inline void fp12_add(fp12 *out, const fp12 *a, const fp12 *b)
{
    fp6_add(&out->c0, &a->c0, &b->c0);
    fp6_add(&out->c1, &a->c1, &b->c1);
}

static inline void fp12_sub(fp12 *out, const fp12 *a, const fp12 *b)
{
    fp6_sub(&out->c0, &a->c0, &b->c0);
    fp6_sub(&out->c1, &a->c1, &b->c1);
}

static inline void fp12_neg(fp12 *out, const fp12 *a)
{
    fp6_neg(&out->c0, &a->c0);
    fp6_neg(&out->c1, &a->c1);
}

/* c0 - c1 w = a^(p^6): the inverse of an element of the cyclotomic subgroup. */
static inline void fp12_conjugate(fp12 *out, const fp12 *a)
{
    out->c0 = a->c0;
    fp6_neg(&out->c1, &a->c1);
}

static inline bool fp12_equal(const fp12 *a, const fp12 *b)
{
    return fp6_equal(&a->c0, &b->c0) && fp6_equal(&a->c1, &b->c1);
}

static inline bool fp12_is_zero(const fp12 *a)
{
    return fp6_is_zero(&a->c0) && fp6_is_zero(&a->c1);
}

static inline bool fp12_is_one(const fp12 *a)
{
    fp12 one;
    fp12_one(&one);
    return fp12_equal(a, &one);
}

/* 18 multiplications in Fp2. */
static inline void fp12_mul(fp12 *out, const fp12 *a, const fp12 *b)
{
    FLAVOUR_HERE(fp12_mul_bulk, out, a, b);
}

/* 12 multiplications in Fp2. */
static inline void fp12_sqr(fp12 *out, const fp12 *a)
{
    FLAVOUR_HERE(fp12_sqr_bulk, out, a);
}

/* 1/a, or 0 for 0. */
static inline void fp12_inv(fp12 *out, const fp12 *a)
{
    FLAVOUR_HERE(fp12_inv_bulk, out, a, false);
}

static inline void fp12_inv_vartime(fp12 *out, const fp12 *a)
{
    FLAVOUR_HERE(fp12_inv_bulk, out, a, true);
}

/* out = a (l0 + l1 v + l4 v w), i.e. a (l0 + l1 w^2 + l4 w^3): 13 multiplications in Fp2.
 * That is a line of the ate pairing: with the twist's points taken to the curve by (x/w^2, y/w^3), the line
 * through T with slope m, at P, times w^3, is (m x_T - y_T) - m x_P w^2 + y_P w^3. */
static inline void fp12_mul_by_014(fp12 *out, const fp12 *a, const fp2 *l0, const fp2 *l1, const fp2 *l4)
{
    FLAVOUR_HERE(fp12_mul_by_014_bulk, out, a, l0, l1, l4);
}

/* a^2 for a in the cyclotomic subgroup (a^(p^4 - p^2 + 1) = 1) only: 9 squarings in Fp2. */
static inline void fp12_cyclotomic_sqr(fp12 *out, const fp12 *a)
{
    FLAVOUR_HERE(fp12_cyclotomic_sqr_bulk, out, a);
}

/* out = a^(p^power), power 1, 2 or 3. */
static inline void fp12_frobenius(fp12 *out, const fp12 *a, unsigned power)
{
    FLAVOUR_HERE(fp12_frobenius_bulk, out, a, power);
}

/* Square and multiply; for tests and rare use. */
static inline void fp12_pow_vartime(fp12 *out, const fp12 *a, const uint64_t *exponent, size_t limbs)
{
    FLAVOUR_HERE(fp12_pow_bulk, out, a, exponent, limbs);
}

#endif
