/* Fp6 = Fp2[v]/(v^3 - (1+u)): c0 + c1 v + c2 v^2.
 *
 * The cheap functions are inline; multiplication and its kin are compiled in both flavours (fp6.c). Called
 * from a FLAVOURED file they take that file's flavour, elsewhere the one in force. Outputs may alias inputs.
 */
#ifndef CUZK_FIELD_FP6_H
#define CUZK_FIELD_FP6_H

#include "field/flavour.h"
#include "field/fp2.h"

typedef struct {
    fp2 c0, c1, c2;
} fp6;

static const fp6 FP6_ZERO = {0};

FLAVOUR_DECLARE(void, fp6_mul_bulk, (fp6 * out, const fp6 *a, const fp6 *b));
FLAVOUR_DECLARE(void, fp6_sqr_bulk, (fp6 * out, const fp6 *a));
FLAVOUR_DECLARE(void, fp6_inv_bulk, (fp6 * out, const fp6 *a, bool vartime));
FLAVOUR_DECLARE(void, fp6_mul_by_01_bulk, (fp6 * out, const fp6 *a, const fp2 *b0, const fp2 *b1));
FLAVOUR_DECLARE(void, fp6_mul_by_1_bulk, (fp6 * out, const fp6 *a, const fp2 *b1));

static inline void fp6_one(fp6 *out)
{
    *out = FP6_ZERO;
    out->c0 = FP2_ONE;
}

static inline void fp6_add(fp6 *out, const fp6 *a, const fp6 *b)
{
    fp2_add(&out->c0, &a->c0, &b->c0);
    fp2_add(&out->c1, &a->c1, &b->c1);
    fp2_add(&out->c2, &a->c2, &b->c2);
}

static inline void fp6_sub(fp6 *out, const fp6 *a, const fp6 *b)
{
    fp2_sub(&out->c0, &a->c0, &b->c0);
    fp2_sub(&out->c1, &a->c1, &b->c1);
    fp2_sub(&out->c2, &a->c2, &b->c2);
}

static inline void fp6_neg(fp6 *out, const fp6 *a)
{
    fp2_neg(&out->c0, &a->c0);
    fp2_neg(&out->c1, &a->c1);
    fp2_neg(&out->c2, &a->c2);
}

static inline void fp6_dbl(fp6 *out, const fp6 *a)
{
    fp6_add(out, a, a);
}

/* out = a v. */
static inline void fp6_mul_v(fp6 *out, const fp6 *a)
{
    fp2 t;
    fp2_mul_nonresidue(&t, &a->c2);
    out->c2 = a->c1;
    out->c1 = a->c0;
    out->c0 = t;
}

static inline bool fp6_is_zero(const fp6 *a)
{
    return fp2_is_zero(&a->c0) && fp2_is_zero(&a->c1) && fp2_is_zero(&a->c2);
}

static inline bool fp6_equal(const fp6 *a, const fp6 *b)
{
    return fp2_equal(&a->c0, &b->c0) && fp2_equal(&a->c1, &b->c1) && fp2_equal(&a->c2, &b->c2);
}

/* 6 multiplications in Fp2. */
static inline void fp6_mul(fp6 *out, const fp6 *a, const fp6 *b)
{
    FLAVOUR_HERE(fp6_mul_bulk, out, a, b);
}

/* 2 multiplications and 3 squarings in Fp2. */
static inline void fp6_sqr(fp6 *out, const fp6 *a)
{
    FLAVOUR_HERE(fp6_sqr_bulk, out, a);
}

/* 1/a, or 0 for 0. */
static inline void fp6_inv(fp6 *out, const fp6 *a)
{
    FLAVOUR_HERE(fp6_inv_bulk, out, a, false);
}

static inline void fp6_inv_vartime(fp6 *out, const fp6 *a)
{
    FLAVOUR_HERE(fp6_inv_bulk, out, a, true);
}

/* out = a (b0 + b1 v): 5 multiplications in Fp2. */
static inline void fp6_mul_by_01(fp6 *out, const fp6 *a, const fp2 *b0, const fp2 *b1)
{
    FLAVOUR_HERE(fp6_mul_by_01_bulk, out, a, b0, b1);
}

/* out = a (b1 v): 3 multiplications in Fp2. */
static inline void fp6_mul_by_1(fp6 *out, const fp6 *a, const fp2 *b1)
{
    FLAVOUR_HERE(fp6_mul_by_1_bulk, out, a, b1);
}

#endif
