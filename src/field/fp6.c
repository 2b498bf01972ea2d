/* Fp6 multiplication and its kin, in both flavours. Karatsuba over three coefficients (Devegili, O
 * hEigeartaigh, Scott, Dahab: "Multiplication and squaring on pairing-friendly fields", 2006). */
#include "field/fp6.h"

/* (x0 + x1)(y0 + y1) - v0 - v1: the cross term x0 y1 + x1 y0 from v0 = x0 y0 and v1 = x1 y1. */
static void cross_term(fp2 *out, const fp2 *x0, const fp2 *x1, const fp2 *y0, const fp2 *y1, const fp2 *v0,
                       const fp2 *v1)
{
    fp2 s, t;
    fp2_add(&s, x0, x1);
    fp2_add(&t, y0, y1);
    fp2_mul(&s, &s, &t);
    fp2_sub(&s, &s, v0);
    fp2_sub(out, &s, v1);
}

void FLAVOUR(fp6_mul_bulk)(fp6 *out, const fp6 *a, const fp6 *b)
{
    fp2 v0, v1, v2, t0, t1, t2;
    fp2_mul(&v0, &a->c0, &b->c0);
    fp2_mul(&v1, &a->c1, &b->c1);
    fp2_mul(&v2, &a->c2, &b->c2);
    cross_term(&t0, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2);
    cross_term(&t1, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1);
    cross_term(&t2, &a->c0, &a->c2, &b->c0, &b->c2, &v0, &v2);
    fp2_mul_nonresidue(&t0, &t0);
    fp2_add(&out->c0, &v0, &t0);
    fp2_mul_nonresidue(&v2, &v2);
    fp2_add(&out->c1, &t1, &v2);
    fp2_add(&out->c2, &t2, &v1);
}

/* Chung, Hasan: SQR2. s0 = a0^2, s1 = 2 a0 a1, s2 = (a0 - a1 + a2)^2, s3 = 2 a1 a2, s4 = a2^2. */
void FLAVOUR(fp6_sqr_bulk)(fp6 *out, const fp6 *a)
{
    fp2 s0, s1, s2, s3, s4, t;
    fp2_sqr(&s0, &a->c0);
    fp2_mul(&s1, &a->c0, &a->c1);
    fp2_dbl(&s1, &s1);
    fp2_sub(&t, &a->c0, &a->c1);
    fp2_add(&t, &t, &a->c2);
    fp2_sqr(&s2, &t);
    fp2_mul(&s3, &a->c1, &a->c2);
    fp2_dbl(&s3, &s3);
    fp2_sqr(&s4, &a->c2);
    fp2_add(&t, &s1, &s2); /* c2 = s1 + s2 + s3 - s0 - s4 */
    fp2_add(&t, &t, &s3);
    fp2_sub(&t, &t, &s0);
    fp2_sub(&out->c2, &t, &s4);
    fp2_mul_nonresidue(&t, &s3);
    fp2_add(&out->c0, &s0, &t);
    fp2_mul_nonresidue(&t, &s4);
    fp2_add(&out->c1, &s1, &t);
}

/* With x = 1+u: A = a0^2 - x a1 a2, B = x a2^2 - a0 a1, C = a1^2 - a0 a2; the norm is a0 A + x (a2 B + a1 C).
 */
void FLAVOUR(fp6_inv_bulk)(fp6 *out, const fp6 *a, bool vartime)
{
    fp2 ca, cb, cc, t, norm;
    fp2_mul(&t, &a->c1, &a->c2);
    fp2_mul_nonresidue(&t, &t);
    fp2_sqr(&ca, &a->c0);
    fp2_sub(&ca, &ca, &t);
    fp2_sqr(&cb, &a->c2);
    fp2_mul_nonresidue(&cb, &cb);
    fp2_mul(&t, &a->c0, &a->c1);
    fp2_sub(&cb, &cb, &t);
    fp2_sqr(&cc, &a->c1);
    fp2_mul(&t, &a->c0, &a->c2);
    fp2_sub(&cc, &cc, &t);
    fp2_mul(&norm, &a->c2, &cb);
    fp2_mul(&t, &a->c1, &cc);
    fp2_add(&norm, &norm, &t);
    fp2_mul_nonresidue(&norm, &norm);
    fp2_mul(&t, &a->c0, &ca);
    fp2_add(&norm, &norm, &t);
    if (vartime)
        fp2_inv_vartime(&norm, &norm);
    else
        fp2_inv(&norm, &norm);
    fp2_mul(&out->c0, &ca, &norm);
    fp2_mul(&out->c1, &cb, &norm);
    fp2_mul(&out->c2, &cc, &norm);
}

/* c0 = a0 b0 + x a2 b1, c1 = a0 b1 + a1 b0, c2 = a2 b0 + a1 b1. */
void FLAVOUR(fp6_mul_by_01_bulk)(fp6 *out, const fp6 *a, const fp2 *b0, const fp2 *b1)
{
    fp2 v0, v1, t0, t1, t2;
    fp2_mul(&v0, &a->c0, b0);
    fp2_mul(&v1, &a->c1, b1);
    cross_term(&t1, &a->c0, &a->c1, b0, b1, &v0, &v1);
    fp2_mul(&t0, &a->c2, b1);
    fp2_mul(&t2, &a->c2, b0);
    fp2_mul_nonresidue(&t0, &t0);
    fp2_add(&out->c0, &v0, &t0);
    out->c1 = t1;
    fp2_add(&out->c2, &t2, &v1);
}

void FLAVOUR(fp6_mul_by_1_bulk)(fp6 *out, const fp6 *a, const fp2 *b1)
{
    fp2 t0, t1, t2;
    fp2_mul(&t0, &a->c2, b1);
    fp2_mul(&t1, &a->c0, b1);
    fp2_mul(&t2, &a->c1, b1);
    fp2_mul_nonresidue(&out->c0, &t0);
    out->c1 = t1;
    out->c2 = t2;
}
