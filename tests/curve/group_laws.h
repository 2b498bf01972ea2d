/* The tests of one group: a template, included once per group by point_test.c with GROUP, FIELD, GENERATOR,
 * OUTSIDE, CLEARED, COFACTOR, ENCODED defined. The oracle is the textbook affine group law below and the
 * vectors of curve_vectors.py. No include guard. */

#define GROUP_PASTE2(a, b) a##_##b
#define GROUP_PASTE(a, b)  GROUP_PASTE2(a, b)
#define G_(name)           GROUP_PASTE(GROUP, name)
#define F_(name)           GROUP_PASTE(FIELD, name)

/* Chord and tangent with a division; infinity is all zero. */
static G_(affine) G_(textbook_add)(G_(affine) a, G_(affine) b)
{
    FIELD m, t;
    G_(affine) out = {0};
    if (G_(affine_is_infinity)(&a))
        return b;
    if (G_(affine_is_infinity)(&b))
        return a;
    if (F_(equal)(&a.x, &b.x)) {
        if (!F_(equal)(&a.y, &b.y))
            return out;
        F_(sqr)(&t, &a.x);
        F_(dbl)(&m, &t);
        F_(add)(&m, &m, &t);
        F_(dbl)(&t, &a.y);
    } else {
        F_(sub)(&m, &b.y, &a.y);
        F_(sub)(&t, &b.x, &a.x);
    }
    F_(inv)(&t, &t);
    F_(mul)(&m, &m, &t);
    F_(sqr)(&out.x, &m);
    F_(sub)(&out.x, &out.x, &a.x);
    F_(sub)(&out.x, &out.x, &b.x);
    F_(sub)(&t, &a.x, &out.x);
    F_(mul)(&out.y, &m, &t);
    F_(sub)(&out.y, &out.y, &a.y);
    return out;
}

/* The point in coordinates with a random ZZ, as a computation would leave it. */
static void G_(blind)(G_(xyzz) * out, const G_(affine) * a)
{
    FIELD z;
    uint8_t bytes[2 * 48] = {0};
    G_(from_affine)(out, a);
    if (G_(is_infinity)(out))
        return;
    for (size_t i = 0; i < sizeof(FIELD); i++)
        bytes[i] = (uint8_t)(i % 48 ? random_u64() : 0);
    assert_true(F_(from_bytes)(&z, bytes));
    F_(sqr)(&out->zz, &z);
    F_(mul)(&out->zzz, &out->zz, &z);
    F_(mul)(&out->x, &a->x, &out->zz);
    F_(mul)(&out->y, &a->y, &out->zzz);
}

static void G_(assert_is)(const G_(xyzz) * a, const G_(affine) * expected)
{
    G_(affine) got;
    G_(to_affine)(&got, a);
    assert_true(G_(affine_equal)(&got, expected));
    assert_true(G_(affine_on_curve)(&got));
}

/* All pairs out of: infinity, P, 2P, 3P, -P, -2P, a point outside the subgroup and its opposite; with every
 * form of addition, also onto an operand. */
static void G_(test_group_law)(void **state)
{
    enum { N = 8 };
    G_(affine) p[N], bad;
    (void)state;
    p[0] = (G_(affine)){0};
    p[1] = GENERATOR;
    p[2] = G_(textbook_add)(p[1], p[1]);
    p[3] = G_(textbook_add)(p[2], p[1]);
    G_(affine_neg)(&p[4], &p[1]);
    G_(affine_neg)(&p[5], &p[2]);
    G_(outside)(&p[6], 0);
    G_(affine_neg)(&p[7], &p[6]);
    bad = p[3];
    F_(add)(&bad.x, &bad.x, &p[1].x);
    assert_false(G_(affine_on_curve)(&bad));
    for (int i = 0; i < N; i++) {
        G_(xyzz) a, b, c;
        assert_true(G_(affine_on_curve)(&p[i]));
        G_(blind)(&a, &p[i]);
        G_(assert_is)(&a, &p[i]);
        G_(affine) twice = G_(textbook_add)(p[i], p[i]), minus;
        G_(dbl)(&c, &a);
        G_(assert_is)(&c, &twice);
        G_(affine_neg)(&minus, &p[i]);
        G_(neg)(&c, &a);
        G_(assert_is)(&c, &minus);
        for (int j = 0; j < N; j++) {
            G_(affine) sum = G_(textbook_add)(p[i], p[j]);
            G_(blind)(&b, &p[j]);
            assert_int_equal(G_(equal)(&a, &b), i == j);
            G_(add)(&c, &a, &b);
            G_(assert_is)(&c, &sum);
            G_(add_affine)(&c, &a, &p[j]);
            G_(assert_is)(&c, &sum);
            c = a;
            G_(add)(&c, &c, &b);
            G_(assert_is)(&c, &sum);
            c = b;
            G_(add)(&c, &a, &c);
            G_(assert_is)(&c, &sum);
            c = a;
            G_(add_affine)(&c, &c, &p[j]);
            G_(assert_is)(&c, &sum);
        }
        G_(dbl)(&a, &a);
        G_(assert_is)(&a, &twice);
    }
}

static void G_(test_inline_forms)(void **state)
{
    G_(affine) p = GENERATOR, q, expected;
    G_(xyzz) a, c, d;
    (void)state;
    for (unsigned k = 0; k < 12; k++) { /* both branches of the run of doublings */
        G_(blind)(&a, &p);
        G_(xyzz_dbl_many_inline)(&c, &a, k);
        d = a;
        for (unsigned i = 0; i < k; i++)
            G_(dbl)(&d, &d);
        assert_true(G_(equal)(&c, &d));
        G_(xyzz_set_infinity_inline)(&a);
        G_(xyzz_dbl_many_inline)(&a, &a, k);
        assert_true(G_(xyzz_is_infinity_inline)(&a));
    }
    G_(xyzz_dbl_affine_inline)(&c, &p);
    q = G_(textbook_add)(p, p);
    G_(assert_is)(&c, &q);
    G_(blind)(&a, &q);
    G_(xyzz_add_affine_signed_inline)(&c, &a, &p, true);
    G_(assert_is)(&c, &p);
    G_(blind)(&a, &p);
    G_(xyzz_add_affine_signed_inline)(&c, &a, &p, true);
    assert_true(G_(is_infinity)(&c));
    G_(xyzz_add_affine_signed_inline)(&c, &c, &p, true);
    G_(affine_neg)(&expected, &p);
    G_(assert_is)(&c, &expected);
}

static void G_(assert_encodes)(const G_(xyzz) * a, const char *hex)
{
    uint8_t expected[96], got[96];
    G_(affine) t;
    G_(to_affine)(&t, a);
    G_(to_compressed)(got, &t);
    from_hex(expected, sizeof(FIELD), hex);
    assert_memory_equal(got, expected, sizeof(FIELD));
}

static void G_(test_known_multiples)(void **state)
{
    G_(xyzz) p, q;
    (void)state;
    G_(blind)(&p, &GENERATOR);
    for (size_t i = 0; i < sizeof MULTIPLES / sizeof *MULTIPLES; i++) {
        fr_int k;
        memcpy(k.l, MULTIPLES[i].scalar, sizeof k.l);
        G_(mul)(&q, &p, &k);
        G_(assert_encodes)(&q, MULTIPLES[i].ENCODED);
        G_(mul_vartime)(&q, &p, &k);
        G_(assert_encodes)(&q, MULTIPLES[i].ENCODED);
        G_(mul_limbs_vartime)(&q, &p, k.l, 4);
        G_(assert_encodes)(&q, MULTIPLES[i].ENCODED);
    }
    G_(mul_limbs_vartime)(&q, &p, NULL, 0);
    assert_true(G_(is_infinity)(&q));
    G_(mul_limbs_vartime)(&q, &p, FR_MODULUS.l, 4);
    assert_true(G_(is_infinity)(&q));
}

static void G_(test_random_multiples)(void **state)
{
    G_(xyzz) p, q, s;
    (void)state;
    G_(from_affine)(&p, &GENERATOR);
    for (int i = 0; i < 40; i++) {
        fr_int k;
        random_scalar(&k);
        if (i % 4 == 1)
            k.l[2] = k.l[3] = 0; /* one part of the split is small or zero */
        if (i % 4 == 2)
            k.l[0] = k.l[1] = 0;
        G_(mul_limbs_vartime)(&s, &p, k.l, 4);
        G_(mul_vartime)(&q, &p, &k);
        assert_true(G_(equal)(&q, &s));
        G_(mul)(&p, &p, &k); /* onto the operand; the base of the next round */
        assert_true(G_(equal)(&p, &s));
    }
    G_(infinity)(&p);
    fr_int k;
    random_scalar(&k);
    G_(mul)(&q, &p, &k);
    assert_true(G_(is_infinity)(&q));
    G_(mul_vartime)(&q, &p, &k);
    assert_true(G_(is_infinity)(&q));
}

static void G_(test_subgroup)(void **state)
{
    G_(affine) a = {0};
    G_(xyzz) p, q;
    (void)state;
    assert_true(G_(in_subgroup)(&a));
    G_(from_affine)(&p, &GENERATOR);
    for (int i = 0; i < 10; i++) {
        fr_int k;
        random_scalar(&k);
        G_(mul)(&p, &p, &k);
        G_(to_affine)(&a, &p);
        assert_true(G_(in_subgroup)(&a));
    }
    for (size_t i = 0; i < sizeof OUTSIDE / sizeof *OUTSIDE; i++) {
        G_(outside)(&a, i);
        assert_true(G_(affine_on_curve)(&a));
        assert_false(G_(in_subgroup)(&a));
        G_(from_affine)(&p, &a);
        G_(mul_limbs_vartime)(&q, &p, FR_MODULUS.l, 4); /* the definition */
        assert_false(G_(is_infinity)(&q));
        G_(mul_limbs_vartime)(&q, &p, COFACTOR, sizeof COFACTOR / 8);
        if (i == 0)
            G_(assert_encodes)(&q, CLEARED);
        G_(to_affine)(&a, &q);
        assert_true(G_(in_subgroup)(&a));
    }
}

static void G_(test_batch)(void **state)
{
    enum { N = 33 };
    G_(xyzz) in[N];
    G_(affine) out[N], one;
    FIELD scratch[N];
    (void)state;
    G_(from_affine)(&in[0], &GENERATOR);
    for (int i = 1; i < N; i++)
        G_(add_affine)(&in[i], &in[i - 1], &GENERATOR);
    for (int zeros = 0; zeros < 4; zeros++) {
        if (zeros == 1)
            G_(infinity)(&in[0]);
        if (zeros == 2)
            G_(infinity)(&in[N - 1]);
        if (zeros == 3)
            for (int i = 0; i < N; i++)
                G_(infinity)(&in[i]);
        for (size_t n = 0; n <= N; n++) {
            memset(out, 0xaa, sizeof out);
            G_(to_affine_batch_vartime)(out, in, scratch, n);
            for (size_t i = 0; i < n; i++) {
                G_(to_affine)(&one, &in[i]);
                assert_true(G_(affine_equal)(&one, &out[i]));
            }
        }
    }
}

#undef F_
#undef G_
#undef GROUP_PASTE
#undef GROUP_PASTE2
