/* The pairing: a value computed independently, bilinearity, degenerate inputs, products, and the Groth16
 * equation of a known proof. */
#include "curve_test.h"

#include "curve/encoding.h"
#include "curve/pairing.h"
#include "curve_vectors.h"
#include "proof_vectors.h"

static void g1_multiple(g1_affine *out, const fr_int *k)
{
    g1_xyzz p;
    g1_from_affine(&p, &G1_GENERATOR);
    g1_mul_vartime(&p, &p, k);
    g1_to_affine(out, &p);
}

static void g2_multiple(g2_affine *out, const fr_int *k)
{
    g2_xyzz p;
    g2_from_affine(&p, &G2_GENERATOR);
    g2_mul_vartime(&p, &p, k);
    g2_to_affine(out, &p);
}

static void test_known_value(void **state)
{
    fr_int a, b;
    g1_affine p;
    g2_affine q;
    fp12 e;
    (void)state;
    memcpy(a.l, PAIRING_A, sizeof a.l);
    memcpy(b.l, PAIRING_B, sizeof b.l);
    g1_multiple(&p, &a);
    g2_multiple(&q, &b);
    pairing(&e, &p, &q);
    const fp2 *const c[6] = {&e.c0.c0, &e.c1.c0, &e.c0.c1, &e.c1.c1, &e.c0.c2, &e.c1.c2};
    for (int i = 0; i < 6; i++) {
        uint8_t expected[96], got[96];
        from_hex(expected, 96, PAIRING_VALUE[i]);
        fp2_to_bytes(got, c[i]);
        assert_memory_equal(got, expected, 96);
    }
}

static void test_bilinear(void **state)
{
    fp12 base, e, f;
    (void)state;
    pairing(&base, &G1_GENERATOR, &G2_GENERATOR);
    assert_false(fp12_is_one(&base));
    assert_false(fp12_is_zero(&base));
    fp12_pow_vartime(&e, &base, FR_MODULUS.l, 4);
    assert_true(fp12_is_one(&e));
    for (int i = 0; i < 5; i++) {
        fr_int a, b, ab;
        fr fa, fb;
        g1_affine p;
        g2_affine q;
        random_scalar(&a);
        random_scalar(&b);
        fr_from_int(&fa, &a);
        fr_from_int(&fb, &b);
        fr_mul(&fa, &fa, &fb);
        fr_to_int(&ab, &fa);
        g1_multiple(&p, &a);
        g2_multiple(&q, &b);
        pairing(&e, &p, &q);
        fp12_pow_vartime(&f, &base, ab.l, 4);
        assert_true(fp12_equal(&e, &f));
        g1_multiple(&p, &ab);
        pairing(&f, &p, &G2_GENERATOR);
        assert_true(fp12_equal(&e, &f));
        g2_multiple(&q, &ab);
        pairing(&f, &G1_GENERATOR, &q);
        assert_true(fp12_equal(&e, &f));
    }
}

static void test_infinity(void **state)
{
    g1_affine p = {0};
    g2_affine q = {0};
    fp12 e;
    struct g2_prepared none, generator;
    (void)state;
    pairing(&e, &p, &G2_GENERATOR);
    assert_true(fp12_is_one(&e));
    pairing(&e, &G1_GENERATOR, &q);
    assert_true(fp12_is_one(&e));
    pairing(&e, &p, &q);
    assert_true(fp12_is_one(&e));
    assert_true(pairing_product_is_one(NULL, 0));
    g2_prepare(&none, &q);
    g2_prepare(&generator, &G2_GENERATOR);
    assert_true(none.infinity);
    assert_false(generator.infinity);
    struct pairing_term terms[3] = {{&p, &generator}, {&G1_GENERATOR, &none}, {&G1_GENERATOR, &generator}};
    pairing_miller_product(&e, terms, 2);
    assert_true(fp12_is_one(&e));
    assert_true(pairing_product_is_one(terms, 2));
    assert_false(pairing_product_is_one(terms, 3));
}

/* e(aG, H) e(bG, H) e(-(a+b)G, H) = 1, with one prepared point and with three; not for a changed point. */
static void test_products(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        fr_int a, b, c, one = {{1}};
        fr fa, fb, fc;
        g1_affine p[3];
        g2_affine q[3];
        struct g2_prepared prepared[3];
        random_scalar(&a);
        random_scalar(&b);
        fr_from_int(&fa, &a);
        fr_from_int(&fb, &b);
        fr_mul(&fc, &fa, &fb);
        fr_add(&fc, &fc, &fb);
        fr_neg(&fc, &fc);
        fr_to_int(&c, &fc);
        g1_multiple(&p[0], &a); /* a * b */
        g2_multiple(&q[0], &b);
        g1_multiple(&p[1], &c); /* -(ab + b) * 1 */
        g2_multiple(&q[1], &one);
        g1_multiple(&p[2], &b); /* b * 1 */
        g2_multiple(&q[2], &one);
        struct pairing_term terms[3];
        for (int i = 0; i < 3; i++) {
            g2_prepare(&prepared[i], &q[i]);
            terms[i] = (struct pairing_term){&p[i], &prepared[i]};
        }
        assert_true(pairing_product_is_one(terms, 3));
        terms[2].q = &prepared[1]; /* a shared point */
        assert_true(pairing_product_is_one(terms, 3));
        assert_false(pairing_product_is_one(terms, 2));
        for (int i = 0; i < 3; i++) {
            g1_affine_neg(&p[i], &p[i]);
            assert_false(pairing_product_is_one(terms, 3));
            g1_affine_neg(&p[i], &p[i]);
        }
        fp12 product, e, f;
        pairing_miller_product(&product, terms, 3);
        pairing_miller_product(&e, terms, 1);
        pairing_miller_product(&f, terms + 1, 2);
        fp12_mul(&e, &e, &f);
        assert_true(fp12_equal(&e, &product));
    }
}

/* e(A, B) = e(alpha, beta) e(inputs, H) e(C, delta) for the proof T1, whose secrets are public; the input
 * sum times gamma comes from curve_vectors.py. */
static void test_groth16_equation(void **state)
{
    fr_int alpha = {{48577}}, beta = {{22580}}, delta = {{5481}}, inputs;
    g1_affine p[4];
    g2_affine q[4];
    struct g2_prepared prepared[4];
    struct pairing_term terms[4];
    uint8_t bytes[96];
    (void)state;
    memcpy(inputs.l, T1_INPUT_EXPONENT, sizeof inputs.l);
    from_hex(bytes, 48, PROOFS[0].a);
    assert_int_equal(g1_from_compressed(&p[0], bytes, true), POINT_OK);
    g1_affine_neg(&p[0], &p[0]);
    from_hex(bytes, 96, PROOFS[0].b);
    assert_int_equal(g2_from_compressed(&q[0], bytes, true), POINT_OK);
    g1_multiple(&p[1], &alpha);
    g2_multiple(&q[1], &beta);
    g1_multiple(&p[2], &inputs);
    q[2] = G2_GENERATOR;
    from_hex(bytes, 48, PROOFS[0].c);
    assert_int_equal(g1_from_compressed(&p[3], bytes, true), POINT_OK);
    g2_multiple(&q[3], &delta);
    for (int i = 0; i < 4; i++) {
        g2_prepare(&prepared[i], &q[i]);
        terms[i] = (struct pairing_term){&p[i], &prepared[i]};
    }
    assert_true(pairing_product_is_one(terms, 4));
    inputs.l[0]++;
    g1_multiple(&p[2], &inputs);
    assert_false(pairing_product_is_one(terms, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_value),      cmocka_unit_test(test_bilinear),
        cmocka_unit_test(test_infinity),         cmocka_unit_test(test_products),
        cmocka_unit_test(test_groth16_equation),
    };
    return cmocka_run_group_tests(tests, random_seed, NULL);
}
