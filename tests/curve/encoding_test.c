/* Encodings: every row of the decode table of the groth16 specification (1.3), round trips, and the points
 * of three known proofs. */
#include "curve_test.h"

#include "curve/encoding.h"
#include "curve_vectors.h"
#include "proof_vectors.h"

static const char P_HEX[] =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";

static void test_known_uncompressed(void **state)
{
    uint8_t bytes[192], got[192];
    g1_xyzz p;
    g2_xyzz q;
    g1_affine a, a2;
    g2_affine b, b2;
    fr_int k;
    (void)state;
    memcpy(k.l, UNCOMPRESSED_SCALAR, sizeof k.l);
    g1_from_affine(&p, &G1_GENERATOR);
    g1_mul(&p, &p, &k);
    g1_to_affine(&a, &p);
    from_hex(bytes, 96, G1_UNCOMPRESSED);
    assert_int_equal(g1_from_uncompressed(&a2, bytes, true), POINT_OK);
    assert_true(g1_affine_equal(&a, &a2));
    g1_to_uncompressed(got, &a);
    assert_memory_equal(got, bytes, 96);

    g2_from_affine(&q, &G2_GENERATOR);
    g2_mul(&q, &q, &k);
    g2_to_affine(&b, &q);
    from_hex(bytes, 192, G2_UNCOMPRESSED);
    assert_int_equal(g2_from_uncompressed(&b2, bytes, true), POINT_OK);
    assert_true(g2_affine_equal(&b, &b2));
    g2_to_uncompressed(got, &b);
    assert_memory_equal(got, bytes, 192);
}

static void test_known_compressed(void **state)
{
    uint8_t bytes[96], got[96];
    g1_affine a;
    g2_affine b;
    (void)state;
    for (size_t i = 0; i < sizeof MULTIPLES / sizeof *MULTIPLES; i++) {
        from_hex(bytes, 48, MULTIPLES[i].g1);
        assert_int_equal(g1_from_compressed(&a, bytes, true), POINT_OK);
        assert_int_equal(g1_affine_is_infinity(&a), i == 0);
        g1_to_compressed(got, &a);
        assert_memory_equal(got, bytes, 48);
        from_hex(bytes, 96, MULTIPLES[i].g2);
        assert_int_equal(g2_from_compressed(&b, bytes, true), POINT_OK);
        assert_int_equal(g2_affine_is_infinity(&b), i == 0);
        g2_to_compressed(got, &b);
        assert_memory_equal(got, bytes, 96);
    }
}

static void test_round_trips(void **state)
{
    uint8_t bytes[192];
    g1_affine a, a2;
    g2_affine b, b2;
    g1_xyzz p;
    g2_xyzz q;
    (void)state;
    g1_from_affine(&p, &G1_GENERATOR);
    g2_from_affine(&q, &G2_GENERATOR);
    for (int i = 0; i < 20; i++) {
        fr_int k;
        random_scalar(&k);
        g1_mul_vartime(&p, &p, &k);
        g2_mul_vartime(&q, &q, &k);
        g1_to_affine(&a, &p);
        g2_to_affine(&b, &q);
        for (int sign = 0; sign < 2; sign++) {
            g1_to_uncompressed(bytes, &a);
            assert_int_equal(g1_from_uncompressed(&a2, bytes, true), POINT_OK);
            assert_true(g1_affine_equal(&a, &a2));
            g1_to_compressed(bytes, &a);
            assert_int_equal(g1_from_compressed(&a2, bytes, true), POINT_OK);
            assert_true(g1_affine_equal(&a, &a2));
            g2_to_uncompressed(bytes, &b);
            assert_int_equal(g2_from_uncompressed(&b2, bytes, true), POINT_OK);
            assert_true(g2_affine_equal(&b, &b2));
            g2_to_compressed(bytes, &b);
            assert_int_equal(g2_from_compressed(&b2, bytes, true), POINT_OK);
            assert_true(g2_affine_equal(&b, &b2));
            g1_affine_neg(&a, &a);
            g2_affine_neg(&b, &b);
        }
    }
}

/* One decoder of each of the four forms, for tables of bad bytes. */
struct form {
    const char *name;
    size_t size;
    uint8_t flags;     /* of a finite point, the sign apart */
    const char *point; /* a good one */
};

static const struct form FORMS[4] = {
    {"g1 uncompressed", 96, 0, G1_UNCOMPRESSED},
    {"g2 uncompressed", 192, 0, G2_UNCOMPRESSED},
    {"g1 compressed", 48, 0x80, NULL},
    {"g2 compressed", 96, 0x80, NULL},
};

static void good_point(uint8_t *bytes, int form)
{
    if (FORMS[form].point)
        from_hex(bytes, FORMS[form].size, FORMS[form].point);
    else
        from_hex(bytes, FORMS[form].size, form == 2 ? MULTIPLES[5].g1 : MULTIPLES[5].g2);
}

/* Decodes; a failure must leave infinity behind. */
static enum point_error decode(const uint8_t *bytes, int form, bool subgroup)
{
    union {
        g1_affine a;
        g2_affine b;
        uint8_t raw[sizeof(g2_affine)];
    } out;
    static const uint8_t zero[sizeof(g2_affine)];
    enum point_error error;
    memset(&out, 0xaa, sizeof out);
    switch (form) {
    case 0:
        error = g1_from_uncompressed(&out.a, bytes, subgroup);
        break;
    case 1:
        error = g2_from_uncompressed(&out.b, bytes, subgroup);
        break;
    case 2:
        error = g1_from_compressed(&out.a, bytes, subgroup);
        break;
    default:
        error = g2_from_compressed(&out.b, bytes, subgroup);
    }
    if (error != POINT_OK)
        assert_memory_equal(out.raw, zero, form % 2 ? sizeof out.b : sizeof out.a);
    return error;
}

static void test_flags(void **state)
{
    uint8_t bytes[192];
    (void)state;
    for (int form = 0; form < 4; form++) {
        good_point(bytes, form);
        uint8_t low = bytes[0] & 0x1f;
        for (int flags = 0; flags < 8; flags++) {
            bool good = form < 2 ? flags == 0 : flags == 4 || flags == 5; /* both signs are points */
            bytes[0] = (uint8_t)(low | flags << 5);
            assert_int_equal(decode(bytes, form, true), good ? POINT_OK : POINT_FLAGS);
        }
    }
}

static void test_infinity(void **state)
{
    uint8_t bytes[192], got[192];
    g1_affine a = {0};
    g2_affine b = {0};
    (void)state;
    for (int form = 0; form < 4; form++) {
        size_t size = FORMS[form].size;
        uint8_t correct = FORMS[form].flags | 0x40;
        memset(bytes, 0, sizeof bytes);
        bytes[0] = correct;
        assert_int_equal(decode(bytes, form, true), POINT_OK);
        assert_int_equal(decode(bytes, form, false), POINT_OK);
        switch (form) {
        case 0:
            g1_to_uncompressed(got, &a);
            break;
        case 1:
            g2_to_uncompressed(got, &b);
            break;
        case 2:
            g1_to_compressed(got, &a);
            break;
        default:
            g2_to_compressed(got, &b);
        }
        assert_memory_equal(got, bytes, size);
        for (size_t bit = 0; bit < 8 * size; bit++) { /* any bit beside the flags, or a third flag */
            if (bit == 6 || bit == 7)
                continue;
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
            assert_int_equal(decode(bytes, form, false), POINT_FLAGS);
            bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        }
    }
    memset(bytes, 0, sizeof bytes); /* the memory form of infinity is no encoding */
    for (int form = 0; form < 2; form++)
        assert_int_equal(decode(bytes, form, false), POINT_OFF_CURVE);
}

/* Every coordinate in turn set to p, p + 1 and all ones; p - 1 is in range, though on no such curve point. */
static void test_range(void **state)
{
    uint8_t p[48], bytes[192];
    (void)state;
    from_hex(p, 48, P_HEX);
    for (int form = 0; form < 4; form++) {
        for (size_t at = 0; at < FORMS[form].size; at += 48) {
            uint8_t flags = at == 0 ? FORMS[form].flags : 0;
            for (int value = 0; value < 4; value++) {
                good_point(bytes, form);
                memcpy(bytes + at, p, 48);
                bytes[at + 47] = (uint8_t)(bytes[at + 47] + value - 1);
                if (value == 3)
                    memset(bytes + at, 0xff, 48);
                if (value == 3 && at == 0)
                    bytes[at] = 0x1f;
                bytes[at] |= flags;
                if (value == 0)
                    assert_int_not_equal(decode(bytes, form, false), POINT_COORDINATE);
                else
                    assert_int_equal(decode(bytes, form, false), POINT_COORDINATE);
            }
        }
    }
    good_point(bytes, 1); /* flag bits mean nothing but in the first byte */
    for (size_t at = 48; at < 192; at += 48)
        for (int bit = 5; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1 << bit);
            assert_int_equal(decode(bytes, 1, false), POINT_COORDINATE);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
}

static void test_curve(void **state)
{
    uint8_t bytes[192];
    (void)state;
    for (int form = 0; form < 2; form++) /* one bit changed in any coordinate */
        for (size_t at = 47; at < FORMS[form].size; at += 48) {
            good_point(bytes, form);
            bytes[at] ^= 1;
            assert_int_equal(decode(bytes, form, false), POINT_OFF_CURVE);
        }
    for (int form = 2; form < 4; form++) { /* about half of all x have no y */
        int none = 0;
        for (int x = 1; x < 100; x++) {
            memset(bytes, 0, sizeof bytes);
            bytes[0] = 0x80;
            bytes[FORMS[form].size - 1] = (uint8_t)x;
            enum point_error error = decode(bytes, form, false);
            assert_true(error == POINT_OK || error == POINT_OFF_CURVE);
            none += error == POINT_OFF_CURVE;
        }
        assert_in_range(none, 25, 75);
    }
}

/* (0, 2) and (0, -2) are on the curve, of order 3, and refused in every form. */
static void test_x_zero(void **state)
{
    uint8_t bytes[96] = {0};
    enum point_error error;
    g1_affine a;
    (void)state;
    bytes[95] = 2;
    assert_int_equal(decode(bytes, 0, false), POINT_OFF_CURVE);
    assert_int_equal(g1_from_uncompressed_many(&a, bytes, 1, &error), 0);
    assert_int_equal(error, POINT_OFF_CURVE);
    from_hex(bytes + 48, 48, P_HEX);
    bytes[95] = (uint8_t)(bytes[95] - 2);
    assert_int_equal(decode(bytes, 0, false), POINT_OFF_CURVE);
    memset(bytes, 0, sizeof bytes);
    bytes[0] = 0x80;
    assert_int_equal(decode(bytes, 2, false), POINT_OFF_CURVE);
    bytes[0] = 0xa0;
    assert_int_equal(decode(bytes, 2, false), POINT_OFF_CURVE);
}

static void test_subgroup(void **state)
{
    uint8_t bytes[192];
    g1_affine a;
    g2_affine b;
    (void)state;
    for (size_t i = 0; i < sizeof G1_OUTSIDE / sizeof *G1_OUTSIDE; i++) {
        from_hex(bytes, 96, G1_OUTSIDE[i]);
        assert_int_equal(decode(bytes, 0, true), POINT_SUBGROUP);
        assert_int_equal(g1_from_uncompressed(&a, bytes, false), POINT_OK);
        g1_to_compressed(bytes, &a);
        assert_int_equal(decode(bytes, 2, true), POINT_SUBGROUP);
        assert_int_equal(decode(bytes, 2, false), POINT_OK);
    }
    for (size_t i = 0; i < sizeof G2_OUTSIDE / sizeof *G2_OUTSIDE; i++) {
        from_hex(bytes, 192, G2_OUTSIDE[i]);
        assert_int_equal(decode(bytes, 1, true), POINT_SUBGROUP);
        assert_int_equal(g2_from_uncompressed(&b, bytes, false), POINT_OK);
        g2_to_compressed(bytes, &b);
        assert_int_equal(decode(bytes, 3, true), POINT_SUBGROUP);
        assert_int_equal(decode(bytes, 3, false), POINT_OK);
    }
}

/* The sign of y in G2 is that of c1, of c0 where c1 is zero. */
static void test_special_y(void **state)
{
    uint8_t whole[192], bytes[96], got[96];
    g2_affine a, b;
    (void)state;
    for (int i = 0; i < 4; i++) {
        from_hex(whole, 192, G2_SPECIAL_Y[i][0]);
        from_hex(bytes, 96, G2_SPECIAL_Y[i][1]);
        assert_int_equal(g2_from_uncompressed(&a, whole, false), POINT_OK);
        assert_true(fp_is_zero(i < 2 ? &a.y.c1 : &a.y.c0));
        g2_to_compressed(got, &a);
        assert_memory_equal(got, bytes, 96);
        assert_int_equal(g2_from_compressed(&b, bytes, false), POINT_OK);
        assert_true(g2_affine_equal(&a, &b));
    }
}

static void test_many(void **state)
{
    enum { N = 7 };
    uint8_t bytes1[N * 96], bytes2[N * 192], got[N * 192];
    g1_affine a[N];
    g2_affine b[N];
    enum point_error error = POINT_SUBGROUP;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        from_hex(got, 48, MULTIPLES[i + 1].g1);
        assert_int_equal(g1_from_compressed(&a[i], got, true), POINT_OK);
        from_hex(got, 96, MULTIPLES[i + 1].g2);
        assert_int_equal(g2_from_compressed(&b[i], got, true), POINT_OK);
        g1_to_uncompressed(bytes1 + 96 * i, &a[i]);
        g2_to_uncompressed(bytes2 + 192 * i, &b[i]);
    }
    g1_to_uncompressed_many(got, a, N);
    assert_memory_equal(got, bytes1, sizeof bytes1);
    g2_to_uncompressed_many(got, b, N);
    assert_memory_equal(got, bytes2, sizeof bytes2);
    for (size_t n = 0; n <= N; n++) {
        g1_affine c[N];
        g2_affine d[N];
        assert_int_equal(g1_from_uncompressed_many(c, bytes1, n, &error), n);
        assert_int_equal(error, POINT_OK);
        assert_memory_equal(c, a, n * sizeof *a);
        assert_int_equal(g2_from_uncompressed_many(d, bytes2, n, &error), n);
        assert_int_equal(error, POINT_OK);
        assert_memory_equal(d, b, n * sizeof *b);
    }
    /* A bad point at each place: infinity, flags, range, off the curve. */
    static const struct {
        size_t at;
        uint8_t change;
        enum point_error error;
    } bad[] = {{0, 0x40, POINT_FLAGS},       {0, 0x80, POINT_FLAGS},   {0, 0x20, POINT_FLAGS},
               {48, 0x80, POINT_COORDINATE}, {47, 1, POINT_OFF_CURVE}, {95, 1, POINT_OFF_CURVE}};
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            bytes1[96 * i + bad[j].at] ^= bad[j].change;
            bytes2[192 * i + bad[j].at] ^= bad[j].change;
            assert_int_equal(g1_from_uncompressed_many(a, bytes1, N, &error), i);
            assert_int_equal(error, bad[j].error);
            assert_int_equal(g2_from_uncompressed_many(b, bytes2, N, &error), i);
            assert_int_equal(error, bad[j].error);
            bytes1[96 * i + bad[j].at] ^= bad[j].change;
            bytes2[192 * i + bad[j].at] ^= bad[j].change;
        }
    memset(bytes1, 0, 96);
    bytes1[0] = 0x40; /* a correct encoding of infinity, refused here */
    assert_int_equal(g1_from_uncompressed_many(a, bytes1, N, &error), 0);
    assert_int_equal(error, POINT_FLAGS);
}

static void test_proofs(void **state)
{
    uint8_t bytes[96], got[96];
    (void)state;
    for (size_t i = 0; i < sizeof PROOFS / sizeof *PROOFS; i++) {
        const char *const g1[2] = {PROOFS[i].a, PROOFS[i].c};
        g2_affine b;
        for (int j = 0; j < 2; j++) {
            g1_affine a;
            from_hex(bytes, 48, g1[j]);
            assert_int_equal(g1_from_compressed(&a, bytes, true), POINT_OK);
            g1_to_compressed(got, &a);
            assert_memory_equal(got, bytes, 48);
            bytes[0] ^= 0x20;
            assert_int_equal(g1_from_compressed(&a, bytes, true), POINT_OK);
            g1_affine_neg(&a, &a);
            g1_to_compressed(got, &a);
            bytes[0] ^= 0x20;
            assert_memory_equal(got, bytes, 48);
        }
        from_hex(bytes, 96, PROOFS[i].b);
        assert_int_equal(g2_from_compressed(&b, bytes, true), POINT_OK);
        g2_to_compressed(got, &b);
        assert_memory_equal(got, bytes, 96);
    }
}

/* The exponents of T2's proof are known. */
static void test_proof_exponents(void **state)
{
    static const fr_int exponents[3] = {{{UINT64_C(0x01bde91417ea94e6), UINT64_C(0xe8a8f2ddb969d0c0),
                                          UINT64_C(0xf6d52aacc0272032), UINT64_C(0x00f87fc11f69199d)}},
                                        {{UINT64_C(0x176267614abf4533), UINT64_C(0x000000000000eeca),
                                          UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
                                        {{UINT64_C(0x8a682c727fe447e2), UINT64_C(0xd98579dd3e71b9a6),
                                          UINT64_C(0x6ad2bd04d18e0155), UINT64_C(0x5a6e1ad0554af988)}}};
    uint8_t got[96], bytes[96];
    g1_xyzz p;
    g2_xyzz q;
    g1_affine a;
    g2_affine b;
    (void)state;
    for (int i = 0; i < 2; i++) {
        g1_from_affine(&p, &G1_GENERATOR);
        g1_mul(&p, &p, &exponents[2 * i]);
        g1_to_affine(&a, &p);
        g1_to_compressed(got, &a);
        from_hex(bytes, 48, i ? PROOFS[1].c : PROOFS[1].a);
        assert_memory_equal(got, bytes, 48);
    }
    g2_from_affine(&q, &G2_GENERATOR);
    g2_mul(&q, &q, &exponents[1]);
    g2_to_affine(&b, &q);
    g2_to_compressed(got, &b);
    from_hex(bytes, 96, PROOFS[1].b);
    assert_memory_equal(got, bytes, 96);
}

static void test_error_texts(void **state)
{
    (void)state;
    for (int i = POINT_OK; i <= POINT_SUBGROUP; i++)
        for (int j = POINT_OK; j < i; j++)
            assert_string_not_equal(point_error_text((enum point_error)i),
                                    point_error_text((enum point_error)j));
    assert_string_equal(point_error_text((enum point_error)99), "unknown point error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_uncompressed),
        cmocka_unit_test(test_known_compressed),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_curve),
        cmocka_unit_test(test_x_zero),
        cmocka_unit_test(test_subgroup),
        cmocka_unit_test(test_special_y),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_proof_exponents),
        cmocka_unit_test(test_error_texts),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
