/* The flavoured functions of one group: a template, included once per group by curve/point_impl.c, which
 * defines GROUP, FIELD, SPLIT_PARTS, SPLIT_LIMBS, mul_b3, mul_endomorphism. No include guard.
 *
 * Scalar multiplication works in homogeneous projective coordinates with the complete formulas of Renes,
 * Costello and Batina (2016, algorithms 7 and 9, a = 0): addition 12M, doubling 6M + 2S, correct for every
 * pair of points of a group of odd order, infinity (0 : 1 : 0) included, without a branch. Hence g_mul
 * needs no case analysis and no secret-dependent jump; g_mul_vartime shares them because nothing else is
 * faster at this length once the tables are counted. */

#define GROUP_PASTE2(a, b) a##_##b
#define GROUP_PASTE(a, b)  GROUP_PASTE2(a, b)
#define G_(name)           GROUP_PASTE(GROUP, name)
#define F_(name)           GROUP_PASTE(FIELD, name)

typedef struct {
    FIELD x, y, z;
} G_(projective);

bool FLAVOUR(G_(affine_on_curve_impl))(const G_(affine) * a)
{
    if (G_(affine_is_infinity_inline)(a))
        return true;
    FIELD l, r;
    F_(sqr)(&l, &a->y);
    F_(sqr)(&r, &a->x);
    F_(mul)(&r, &r, &a->x);
    F_(add)(&r, &r, &CURVE_B);
    return F_(equal)(&l, &r);
}

bool FLAVOUR(G_(equal_impl))(const G_(xyzz) * a, const G_(xyzz) * b)
{
    if (G_(xyzz_is_infinity_inline)(a) || G_(xyzz_is_infinity_inline)(b))
        return G_(xyzz_is_infinity_inline)(a) && G_(xyzz_is_infinity_inline)(b);
    FIELD s, t, u, v;
    F_(mul)(&s, &a->x, &b->zz);
    F_(mul)(&t, &b->x, &a->zz);
    F_(mul)(&u, &a->y, &b->zzz);
    F_(mul)(&v, &b->y, &a->zzz);
    return F_(equal)(&s, &t) && F_(equal)(&u, &v);
}

/* With i = 1/ZZZ: y = Y i, x = X (ZZ i)^2, because ZZ/ZZZ = 1/Z. */
static void G_(normalise)(G_(affine) * out, const G_(xyzz) * a, const FIELD *i)
{
    FIELD t;
    F_(mul)(&t, &a->zz, i);
    F_(sqr)(&t, &t);
    F_(mul)(&out->x, &a->x, &t);
    F_(mul)(&out->y, &a->y, i);
}

void FLAVOUR(G_(to_affine_impl))(G_(affine) * out, const G_(xyzz) * a)
{
    FIELD i;
    F_(inv)(&i, &a->zzz); /* 0 for infinity, which makes x = y = 0 */
    G_(normalise)(out, a, &i);
}

/* Simultaneous inversion: 3M a point beside the normalisation's 3M + 1S. */
void FLAVOUR(G_(to_affine_batch_vartime_impl))(G_(affine) * out, const G_(xyzz) * in, void *scratch, size_t n)
{
    FIELD *before = scratch; /* before[i]: product of the nonzero zzz below i */
    FIELD product = CURVE_ONE, i;
    for (size_t k = 0; k < n; k++) {
        before[k] = product;
        if (!G_(xyzz_is_infinity_inline)(&in[k]))
            F_(mul)(&product, &product, &in[k].zzz);
    }
    F_(inv_vartime)(&product, &product);
    for (size_t k = n; k-- > 0;) {
        if (G_(xyzz_is_infinity_inline)(&in[k])) {
            out[k] = (G_(affine)){0};
            continue;
        }
        F_(mul)(&i, &product, &before[k]);
        F_(mul)(&product, &product, &in[k].zzz);
        G_(normalise)(&out[k], &in[k], &i);
    }
}

void FLAVOUR(G_(dbl_impl))(G_(xyzz) * out, const G_(xyzz) * a)
{
    G_(xyzz_dbl_inline)(out, a);
}

void FLAVOUR(G_(add_impl))(G_(xyzz) * out, const G_(xyzz) * a, const G_(xyzz) * b)
{
    G_(xyzz_add_inline)(out, a, b);
}

void FLAVOUR(G_(add_affine_impl))(G_(xyzz) * out, const G_(xyzz) * a, const G_(affine) * b)
{
    G_(xyzz_add_affine_inline)(out, a, b);
}

/* Runs of doublings between the set bits: as short as it can be for the sparse numbers it is meant for. */
void FLAVOUR(G_(mul_limbs_vartime_impl))(G_(xyzz) * out, const G_(xyzz) * a, const uint64_t *scalar,
                                         size_t limbs)
{
    G_(xyzz) base = *a, sum;
    unsigned run = 0;
    G_(xyzz_set_infinity_inline)(&sum);
    for (size_t bit = 64 * limbs; bit-- > 0;) {
        run += !G_(xyzz_is_infinity_inline)(&sum);
        if (scalar[bit / 64] >> (bit % 64) & 1) {
            G_(xyzz_dbl_many_inline)(&sum, &sum, run);
            G_(xyzz_add_inline)(&sum, &sum, &base);
            run = 0;
        }
    }
    G_(xyzz_dbl_many_inline)(out, &sum, run);
}

static void G_(projective_add)(G_(projective) * out, const G_(projective) * a, const G_(projective) * b)
{
    FIELD xx, yy, zz, xy, yz, xz, s, t;
    F_(mul)(&xx, &a->x, &b->x);
    F_(mul)(&yy, &a->y, &b->y);
    F_(mul)(&zz, &a->z, &b->z);
    F_(add)(&s, &a->x, &a->y);
    F_(add)(&t, &b->x, &b->y);
    F_(mul)(&xy, &s, &t);
    F_(sub)(&xy, &xy, &xx);
    F_(sub)(&xy, &xy, &yy);
    F_(add)(&s, &a->y, &a->z);
    F_(add)(&t, &b->y, &b->z);
    F_(mul)(&yz, &s, &t);
    F_(sub)(&yz, &yz, &yy);
    F_(sub)(&yz, &yz, &zz);
    F_(add)(&s, &a->x, &a->z);
    F_(add)(&t, &b->x, &b->z);
    F_(mul)(&xz, &s, &t);
    F_(sub)(&xz, &xz, &xx);
    F_(sub)(&xz, &xz, &zz);
    F_(dbl)(&s, &xx);
    F_(add)(&xx, &xx, &s); /* 3 x1 x2 */
    mul_b3(&zz, &zz);
    mul_b3(&xz, &xz);
    F_(add)(&s, &yy, &zz);
    F_(sub)(&t, &yy, &zz);
    F_(mul)(&yy, &yz, &xz);
    F_(mul)(&zz, &xy, &t);
    F_(sub)(&out->x, &zz, &yy);
    F_(mul)(&yy, &s, &t);
    F_(mul)(&zz, &xx, &xz);
    F_(add)(&out->y, &yy, &zz);
    F_(mul)(&yy, &yz, &s);
    F_(mul)(&zz, &xx, &xy);
    F_(add)(&out->z, &yy, &zz);
}

static void G_(projective_dbl)(G_(projective) * a)
{
    FIELD yy, b, yz, xy, s, t;
    F_(sqr)(&yy, &a->y);
    F_(sqr)(&b, &a->z);
    mul_b3(&b, &b);
    F_(mul)(&yz, &a->y, &a->z);
    F_(mul)(&xy, &a->x, &a->y);
    F_(dbl)(&s, &yy);
    F_(dbl)(&s, &s);
    F_(dbl)(&s, &s); /* 8 y^2 */
    F_(mul)(&a->z, &yz, &s);
    F_(mul)(&s, &s, &b);
    F_(add)(&t, &yy, &b);
    F_(sub)(&yy, &yy, &b);
    F_(dbl)(&b, &b);
    F_(sub)(&yy, &yy, &b); /* y^2 - 3 b3 z^2 */
    F_(mul)(&t, &t, &yy);
    F_(add)(&a->y, &s, &t);
    F_(mul)(&t, &yy, &xy);
    F_(dbl)(&a->x, &t);
}

static void G_(to_projective)(G_(projective) * out, const G_(xyzz) * a) /* not for infinity */
{
    F_(mul)(&out->x, &a->x, &a->zzz);
    F_(mul)(&out->y, &a->y, &a->zz);
    F_(mul)(&out->z, &a->zz, &a->zzz);
}

static void G_(from_projective)(G_(xyzz) * out, const G_(projective) * a)
{
    F_(mul)(&out->x, &a->x, &a->z);
    F_(sqr)(&out->zz, &a->z);
    F_(mul)(&out->y, &a->y, &out->zz);
    F_(mul)(&out->zzz, &a->z, &out->zz);
}

/* out = table[digit], reading every entry; digit < 16. */
static void G_(select)(G_(projective) * out, const G_(projective) table[16], uint64_t digit)
{
    *out = (G_(projective)){0};
    for (uint64_t i = 0; i < 16; i++) {
        uint64_t mask = equal_mask(i, digit);
        F_(or_masked)(&out->x, &table[i].x, mask);
        F_(or_masked)(&out->y, &table[i].y, mask);
        F_(or_masked)(&out->z, &table[i].z, mask);
    }
}

/* The scalar is split into SPLIT_PARTS digits in the base of the endomorphism's eigenvalue, which share
 * their doublings: 4-bit windows, one table lookup and one addition for each part and window, whatever the
 * scalar. G1: 128 doublings and 64 additions; G2: 64 and 64. */
void FLAVOUR(G_(mul_impl))(G_(xyzz) * out, const G_(xyzz) * a, const fr_int *scalar)
{
    G_(projective) table[SPLIT_PARTS][16], sum = {.y = CURVE_ONE}, term;
    uint64_t parts[SPLIT_PARTS][SPLIT_LIMBS];
    if (G_(xyzz_is_infinity_inline)(a)) {
        *out = *a;
        return;
    }
    table[0][0] = sum;
    G_(to_projective)(&table[0][1], a);
    for (int i = 2; i < 16; i++)
        G_(projective_add)(&table[0][i], &table[0][i - 1], &table[0][1]);
    for (int part = 1; part < SPLIT_PARTS; part++)
        for (int i = 0; i < 16; i++)
            G_(mul_eigenvalue)
    (&table[part][i].x, &table[part][i].y, &table[part][i].z, &table[part - 1][i].x, &table[part - 1][i].y,
     &table[part - 1][i].z);
    G_(split)(parts, scalar);
    for (unsigned bit = 64 * SPLIT_LIMBS; bit > 0;) {
        bit -= 4;
        for (int k = 0; k < 4; k++)
            G_(projective_dbl)(&sum);
        for (int part = 0; part < SPLIT_PARTS; part++) {
            G_(select)(&term, table[part], parts[part][bit / 64] >> (bit % 64) & 15);
            G_(projective_add)(&sum, &sum, &term);
        }
    }
    G_(from_projective)(out, &sum);
    mem_wipe(parts, sizeof parts);
    mem_wipe(&term, sizeof term);
}

/* The same split; digits in non-adjacent form of width 5, so that only one addition in six bits is left. */
void FLAVOUR(G_(mul_vartime_impl))(G_(xyzz) * out, const G_(xyzz) * a, const fr_int *scalar)
{
    enum { BITS = 64 * SPLIT_LIMBS };
    G_(projective) table[SPLIT_PARTS][8], sum = {.y = CURVE_ONE}, term;
    uint64_t parts[SPLIT_PARTS][SPLIT_LIMBS];
    int8_t digits[SPLIT_PARTS][BITS + 1];
    if (G_(xyzz_is_infinity_inline)(a)) {
        *out = *a;
        return;
    }
    G_(to_projective)(&table[0][0], a);
    term = table[0][0];
    G_(projective_dbl)(&term);
    for (int i = 1; i < 8; i++)
        G_(projective_add)(&table[0][i], &table[0][i - 1], &term);
    for (int part = 1; part < SPLIT_PARTS; part++)
        for (int i = 0; i < 8; i++)
            G_(mul_eigenvalue)
    (&table[part][i].x, &table[part][i].y, &table[part][i].z, &table[part - 1][i].x, &table[part - 1][i].y,
     &table[part - 1][i].z);
    G_(split)(parts, scalar);
    int top = -1;
    for (int part = 0; part < SPLIT_PARTS; part++) {
        int t = wnaf5(digits[part], parts[part], SPLIT_LIMBS);
        top = t > top ? t : top;
    }
    for (int bit = top; bit >= 0; bit--) {
        if (bit != top)
            G_(projective_dbl)(&sum);
        for (int part = 0; part < SPLIT_PARTS; part++) {
            int digit = digits[part][bit];
            if (digit == 0)
                continue;
            term = table[part][(digit > 0 ? digit : -digit) / 2];
            if (digit < 0)
                F_(neg)(&term.y, &term.y);
            G_(projective_add)(&sum, &sum, &term);
        }
    }
    G_(from_projective)(out, &sum);
}

#undef F_
#undef G_
#undef GROUP_PASTE
#undef GROUP_PASTE2
