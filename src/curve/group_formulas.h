/* XYZZ formulas for one group, as static inline functions: a template, included once per group by
 * curve/group_inline.h with GROUP (g1, g2) and FIELD (fp, fp2) defined. Outputs may alias inputs. Every
 * addition is exact for infinity, equal and opposite operands; the tests for these are branches, so none
 * of this is for secret points. Costs count field multiplications M and squarings S. No include guard. */

#define GROUP_PASTE2(a, b) a##_##b
#define GROUP_PASTE(a, b)  GROUP_PASTE2(a, b)
#define G_(name)           GROUP_PASTE(GROUP, name)
#define F_(name)           GROUP_PASTE(FIELD, name)

static inline bool G_(affine_is_infinity_inline)(const G_(affine) * a)
{
    return F_(is_zero)(&a->x) && F_(is_zero)(&a->y);
}

static inline bool G_(xyzz_is_infinity_inline)(const G_(xyzz) * a)
{
    return F_(is_zero)(&a->zz);
}

static inline void G_(xyzz_set_infinity_inline)(G_(xyzz) * out)
{
    static const G_(xyzz) infinity;
    *out = infinity;
}

/* 4M + 3S. Not for infinity. (No point of either curve has y = 0: both orders are odd.) */
static inline void G_(xyzz_dbl_affine_inline)(G_(xyzz) * out, const G_(affine) * a)
{
    FIELD u, v, w, s, m, t;
    F_(dbl)(&u, &a->y);
    F_(sqr)(&v, &u);
    F_(mul)(&w, &u, &v);
    F_(mul)(&s, &a->x, &v);
    F_(sqr)(&t, &a->x);
    F_(dbl)(&m, &t);
    F_(add)(&m, &m, &t);
    F_(mul)(&t, &w, &a->y);
    F_(sqr)(&out->x, &m);
    F_(sub)(&out->x, &out->x, &s);
    F_(sub)(&out->x, &out->x, &s);
    F_(sub)(&s, &s, &out->x);
    F_(mul)(&s, &s, &m);
    F_(sub)(&out->y, &s, &t);
    out->zz = v;
    out->zzz = w;
}

/* 6M + 3S; infinity stays infinity. */
static inline void G_(xyzz_dbl_inline)(G_(xyzz) * out, const G_(xyzz) * a)
{
    FIELD u, v, w, s, m, t;
    F_(dbl)(&u, &a->y);
    F_(sqr)(&v, &u);
    F_(mul)(&w, &u, &v);
    F_(mul)(&s, &a->x, &v);
    F_(sqr)(&t, &a->x);
    F_(dbl)(&m, &t);
    F_(add)(&m, &m, &t);
    F_(mul)(&t, &w, &a->y);
    F_(mul)(&out->zz, &v, &a->zz);
    F_(mul)(&out->zzz, &w, &a->zzz);
    F_(sqr)(&out->x, &m);
    F_(sub)(&out->x, &out->x, &s);
    F_(sub)(&out->x, &out->x, &s);
    F_(sub)(&s, &s, &out->x);
    F_(mul)(&s, &s, &m);
    F_(sub)(&out->y, &s, &t);
}

/* k doublings. Long runs go through Jacobian coordinates, where one costs 3M + 4S; getting there and back
 * takes 3M + 3S. (x, y) = (X/ZZ, Y/ZZZ) is (X ZZ^2, Y ZZZ^2, Z = ZZZ) because ZZ^3 = ZZZ^2. */
static inline void G_(xyzz_dbl_many_inline)(G_(xyzz) * out, const G_(xyzz) * a, unsigned k)
{
    if (k < 5) {
        *out = *a;
        while (k--)
            G_(xyzz_dbl_inline)(out, out);
        return;
    }
    FIELD x, y, z, b, c, d, e, t;
    F_(sqr)(&t, &a->zz);
    F_(mul)(&x, &a->x, &t);
    F_(sqr)(&t, &a->zzz);
    F_(mul)(&y, &a->y, &t);
    z = a->zzz;
    while (k--) {
        F_(sqr)(&t, &x);
        F_(dbl)(&e, &t);
        F_(add)(&e, &e, &t); /* 3x^2 */
        F_(sqr)(&b, &y);
        F_(dbl)(&b, &b); /* 2y^2 */
        F_(mul)(&d, &x, &b);
        F_(dbl)(&d, &d); /* 4xy^2 */
        F_(sqr)(&c, &b);
        F_(dbl)(&c, &c); /* 8y^4 */
        F_(dbl)(&t, &y);
        F_(mul)(&z, &z, &t);
        F_(sqr)(&x, &e);
        F_(sub)(&x, &x, &d);
        F_(sub)(&x, &x, &d);
        F_(sub)(&d, &d, &x);
        F_(mul)(&y, &e, &d);
        F_(sub)(&y, &y, &c);
    }
    out->x = x;
    out->y = y;
    F_(sqr)(&out->zz, &z);
    F_(mul)(&out->zzz, &out->zz, &z);
}

/* out = a + b or a - b: 8M + 2S. The caller's `negative` is the sign of a signed digit. */
static inline void G_(xyzz_add_affine_signed_inline)(G_(xyzz) * out, const G_(xyzz) * a, const G_(affine) * b,
                                                     bool negative)
{
    if (G_(affine_is_infinity_inline)(b)) {
        *out = *a;
        return;
    }
    FIELD by = b->y;
    if (negative)
        F_(neg)(&by, &by);
    if (G_(xyzz_is_infinity_inline)(a)) {
        out->x = b->x;
        out->y = by;
        out->zz = out->zzz = F_(one_value)();
        return;
    }
    FIELD p, r, pp, ppp, q, t;
    F_(mul)(&p, &b->x, &a->zz);
    F_(sub)(&p, &p, &a->x);
    F_(mul)(&r, &by, &a->zzz);
    F_(sub)(&r, &r, &a->y);
    if (__builtin_expect(F_(is_zero)(&p), 0)) {
        if (F_(is_zero)(&r)) {
            G_(affine) same = {b->x, by};
            G_(xyzz_dbl_affine_inline)(out, &same);
        } else {
            G_(xyzz_set_infinity_inline)(out);
        }
        return;
    }
    F_(sqr)(&pp, &p);
    F_(mul)(&ppp, &p, &pp);
    F_(mul)(&q, &a->x, &pp);
    F_(mul)(&t, &a->y, &ppp);
    F_(mul)(&out->zz, &a->zz, &pp);
    F_(mul)(&out->zzz, &a->zzz, &ppp);
    F_(sqr)(&pp, &r);
    F_(sub)(&pp, &pp, &ppp);
    F_(sub)(&pp, &pp, &q);
    F_(sub)(&out->x, &pp, &q);
    F_(sub)(&q, &q, &out->x);
    F_(mul)(&q, &q, &r);
    F_(sub)(&out->y, &q, &t);
}

static inline void G_(xyzz_add_affine_inline)(G_(xyzz) * out, const G_(xyzz) * a, const G_(affine) * b)
{
    G_(xyzz_add_affine_signed_inline)(out, a, b, false);
}

/* 12M + 2S. */
static inline void G_(xyzz_add_inline)(G_(xyzz) * out, const G_(xyzz) * a, const G_(xyzz) * b)
{
    if (G_(xyzz_is_infinity_inline)(b)) {
        *out = *a;
        return;
    }
    if (G_(xyzz_is_infinity_inline)(a)) {
        *out = *b;
        return;
    }
    FIELD u, s, p, r, pp, ppp, t;
    F_(mul)(&u, &a->x, &b->zz);
    F_(mul)(&p, &b->x, &a->zz);
    F_(sub)(&p, &p, &u);
    F_(mul)(&s, &a->y, &b->zzz);
    F_(mul)(&r, &b->y, &a->zzz);
    F_(sub)(&r, &r, &s);
    if (__builtin_expect(F_(is_zero)(&p), 0)) {
        if (F_(is_zero)(&r))
            G_(xyzz_dbl_inline)(out, a);
        else
            G_(xyzz_set_infinity_inline)(out);
        return;
    }
    F_(sqr)(&pp, &p);
    F_(mul)(&ppp, &p, &pp);
    F_(mul)(&u, &u, &pp);
    F_(mul)(&s, &s, &ppp);
    F_(mul)(&t, &a->zz, &b->zz);
    F_(mul)(&out->zz, &t, &pp);
    F_(mul)(&t, &a->zzz, &b->zzz);
    F_(mul)(&out->zzz, &t, &ppp);
    F_(sqr)(&t, &r);
    F_(sub)(&t, &t, &ppp);
    F_(sub)(&t, &t, &u);
    F_(sub)(&out->x, &t, &u);
    F_(sub)(&u, &u, &out->x);
    F_(mul)(&u, &u, &r);
    F_(sub)(&out->y, &u, &s);
}

#undef F_
#undef G_
#undef GROUP_PASTE
#undef GROUP_PASTE2
