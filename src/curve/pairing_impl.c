/* Optimal ate pairing, FLAVOURED: a Miller loop over |z| with prepared lines, and the final exponentiation.
 *
 * The loop walks the multiple T of Q in homogeneous coordinates on the twist. Taken to the curve by
 * (x/w^2, y/w^3), the line through T with slope m, at P, times w^3, is
 *     (m x_T - y_T) - m x_P w^2 + y_P w^3,
 * and any factor in Fp2 may be put before it: the final exponentiation takes it to 1. */
#include "base/status.h"
#include "curve/group_inline.h"
#include "curve/pairing_impl.h"

#define CURVE_PARAMETER UINT64_C(0xd201000000010000) /* |z|; z is negative */
#define LINES           68                           /* 63 doublings and 5 additions */

typedef struct {
    fp2 x, y, z;
} point;

/* T = 2T. Times 2 y_T Z^2 the line is Y^2 - 3b Z^2, -3X^2 (times x_P), 2YZ (times y_P), where
 * m x_T = 3x^3/2y and x^3 = y^2 - b. 3M + 6S. */
static void double_step(fp2 line[3], point *t)
{
    fp2 b, c, e, f, s;
    fp2_sqr(&b, &t->y);
    fp2_sqr(&c, &t->z);
    fp2_add(&s, &t->y, &t->z);
    fp2_sqr(&s, &s);
    fp2_sub(&s, &s, &b);
    fp2_sub(&line[2], &s, &c);
    fp2_dbl(&e, &c);
    fp2_add(&e, &e, &c);
    fp2_mul(&e, &e, &G2_B); /* 3b Z^2 */
    fp2_sub(&line[0], &b, &e);
    fp2_sqr(&s, &t->x);
    fp2_dbl(&line[1], &s);
    fp2_add(&line[1], &line[1], &s);
    fp2_neg(&line[1], &line[1]);

    fp2_dbl(&f, &e);
    fp2_add(&f, &f, &e); /* 9b Z^2 */
    fp2_mul(&s, &t->x, &t->y);
    fp2_sub(&c, &b, &f);
    fp2_mul(&s, &s, &c);
    fp2_dbl(&t->x, &s); /* 2XY (Y^2 - 9b Z^2) */
    fp2_add(&f, &f, &b);
    fp2_sqr(&f, &f);
    fp2_sqr(&e, &e);
    fp2_dbl(&s, &e);
    fp2_add(&s, &s, &e);
    fp2_dbl(&s, &s);
    fp2_dbl(&s, &s);
    fp2_sub(&t->y, &f, &s); /* (Y^2 + 9b Z^2)^2 - 12 (3b Z^2)^2 */
    fp2_mul(&s, &b, &line[2]);
    fp2_dbl(&s, &s);
    fp2_dbl(&t->z, &s); /* 8 Y^3 Z */
}

/* T = T + Q, where T is neither infinity nor +-Q. With m = d/e, d = Y - y_Q Z, e = X - x_Q Z, the line times
 * e is d x_Q - e y_Q, -d, e. 11M + 2S. */
static void add_step(fp2 line[3], point *t, const g2_affine *q)
{
    fp2 d, e, ee, eee, f, g, h;
    fp2_mul(&d, &q->y, &t->z);
    fp2_sub(&d, &t->y, &d);
    fp2_mul(&e, &q->x, &t->z);
    fp2_sub(&e, &t->x, &e);
    fp2_mul(&f, &d, &q->x);
    fp2_mul(&g, &e, &q->y);
    fp2_sub(&line[0], &f, &g);
    fp2_neg(&line[1], &d);
    line[2] = e;

    fp2_sqr(&ee, &e);
    fp2_mul(&eee, &ee, &e);
    fp2_sqr(&f, &d);
    fp2_mul(&f, &f, &t->z);
    fp2_mul(&g, &t->x, &ee);
    fp2_add(&h, &eee, &f);
    fp2_sub(&h, &h, &g);
    fp2_sub(&h, &h, &g);
    fp2_mul(&t->x, &e, &h);
    fp2_sub(&g, &g, &h);
    fp2_mul(&g, &g, &d);
    fp2_mul(&f, &eee, &t->y);
    fp2_sub(&t->y, &g, &f);
    fp2_mul(&t->z, &t->z, &eee);
}

/* Q must be of order r: then T meets neither infinity nor +-Q. */
void FLAVOUR(g2_prepare_impl)(struct g2_prepared *out, const g2_affine *q)
{
    out->infinity = g2_affine_is_infinity_inline(q);
    if (out->infinity)
        return;
    point t = {q->x, q->y, FP2_ONE};
    int line = 0;
    for (int bit = 62; bit >= 0; bit--) {
        double_step(out->lines[line++], &t);
        if (CURVE_PARAMETER >> bit & 1)
            add_step(out->lines[line++], &t, q);
    }
    CHECK(line == LINES);
}

static void multiply_lines(fp12 *f, const struct pairing_term *terms, size_t n, int line)
{
    for (size_t i = 0; i < n; i++) {
        const struct g2_prepared *q = terms[i].q;
        fp2 l1, l4;
        if (q->infinity || g1_affine_is_infinity_inline(terms[i].p))
            continue;
        fp2_mul_fp(&l1, &q->lines[line][1], &terms[i].p->x);
        fp2_mul_fp(&l4, &q->lines[line][2], &terms[i].p->y);
        fp12_mul_by_014(f, f, &q->lines[line][0], &l1, &l4);
    }
}

void FLAVOUR(pairing_miller_product_impl)(fp12 *out, const struct pairing_term *terms, size_t n)
{
    fp12 f;
    int line = 0;
    fp12_one(&f);
    for (int bit = 62; bit >= 0; bit--) {
        if (bit != 62)
            fp12_sqr(&f, &f);
        multiply_lines(&f, terms, n, line++);
        if (CURVE_PARAMETER >> bit & 1)
            multiply_lines(&f, terms, n, line++);
    }
    fp12_conjugate(out, &f); /* z < 0: up to a factor that vanishes, conjugation inverts */
}

/* a^z in the cyclotomic subgroup, where conjugation is inversion. */
static void power_z(fp12 *out, const fp12 *a)
{
    fp12 f = *a;
    for (int bit = 62; bit >= 0; bit--) {
        fp12_cyclotomic_sqr(&f, &f);
        if (CURVE_PARAMETER >> bit & 1)
            fp12_mul(&f, &f, a);
    }
    fp12_conjugate(out, &f);
}

/* a^(z - 1). */
static void power_z_minus_1(fp12 *out, const fp12 *a)
{
    fp12 t, u;
    power_z(&t, a);
    fp12_conjugate(&u, a);
    fp12_mul(out, &t, &u);
}

/* The power 3 (p^12 - 1)/r: (p^6 - 1)(p^2 + 1), then 3 (p^4 - p^2 + 1)/r = (z - 1)^2 (z + p)(z^2 + p^2 - 1) +
 * 3, an identity of polynomials in z. The factor 3 is prime to r. Five powers of z. */
void FLAVOUR(pairing_final_exponentiation_impl)(fp12 *out, const fp12 *a)
{
    fp12 m, t, u, v;
    fp12_inv_vartime(&t, a);
    fp12_conjugate(&m, a);
    fp12_mul(&m, &m, &t);
    fp12_frobenius(&t, &m, 2);
    fp12_mul(&m, &m, &t);

    power_z_minus_1(&t, &m);
    power_z_minus_1(&t, &t);
    power_z(&u, &t);
    fp12_frobenius(&t, &t, 1);
    fp12_mul(&t, &t, &u); /* m^((z - 1)^2 (z + p)) */
    power_z(&u, &t);
    power_z(&u, &u);
    fp12_frobenius(&v, &t, 2);
    fp12_mul(&u, &u, &v);
    fp12_conjugate(&v, &t);
    fp12_mul(&u, &u, &v);
    fp12_cyclotomic_sqr(&v, &m);
    fp12_mul(&v, &v, &m);
    fp12_mul(out, &u, &v);
}
