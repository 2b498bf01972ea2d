/* The basic operations of Fr and Fp: both flavours against OpenSSL's big numbers, against each other on many
 * more pairs, and with outputs in place of inputs. */
#include "field_test.h"

#include "field_ops.h"

enum { RANDOM_PAIRS = 500000, ORACLE_PAIRS = 20000, EDGE_STEP_ORACLE = 37 };

struct subject {
    const struct field_ops *flavours[2];
    size_t count;
    bool (*alias[2])(const uint64_t *a, const uint64_t *b);
};

static struct subject subject_fr(void)
{
    struct subject s = {{field_ops_fr_portable()}, 1, {field_ops_alias_fr_portable}};
#ifdef CUZK_X86_64
    if (flavour_available(FLAVOUR_ADX))
        s.flavours[1] = field_ops_fr_adx(), s.alias[1] = field_ops_alias_fr_adx, s.count = 2;
#endif
    return s;
}

static struct subject subject_fp(void)
{
    struct subject s = {{field_ops_fp_portable()}, 1, {field_ops_alias_fp_portable}};
#ifdef CUZK_X86_64
    if (flavour_available(FLAVOUR_ADX))
        s.flavours[1] = field_ops_fp_adx(), s.alias[1] = field_ops_alias_fp_adx, s.count = 2;
#endif
    return s;
}

/* All operations on the pair, into six results. */
static void run_all(struct limbs6 out[6], const struct field_ops *ops, const uint64_t *a, const uint64_t *b)
{
    memset(out, 0, 6 * sizeof *out);
    ops->mul(out[0].l, a, b);
    ops->add(out[1].l, a, b);
    ops->sub(out[2].l, a, b);
    ops->sqr(out[3].l, a);
    ops->dbl(out[4].l, a);
    ops->neg(out[5].l, a);
}

static void check_pair(const struct subject *s, const uint64_t *a, const uint64_t *b)
{
    struct limbs6 first[6], second[6];
    run_all(first, s->flavours[0], a, b);
    for (int i = 0; i < 6; i++)
        if (!limbs_less(first[i].l, s->flavours[0]->modulus, s->flavours[0]->limbs))
            fail_msg("%s operation %d is not fully reduced", s->flavours[0]->name, i);
    if (s->count == 2) {
        run_all(second, s->flavours[1], a, b);
        for (int i = 0; i < 6; i++)
            if (memcmp(&first[i], &second[i], sizeof first[i]) != 0)
                fail_msg("%s operation %d differs between the flavours", s->flavours[0]->name, i);
    }
    for (size_t f = 0; f < s->count; f++)
        assert_true(s->alias[f](a, b));
}

static void edge_pairs(const struct subject *s)
{
    static struct limbs6 edges[TEST_EDGES_MAX];
    size_t count = test_edges(edges, s->flavours[0]->modulus, s->flavours[0]->limbs);
    assert_true(count > 50);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            check_pair(s, edges[i].l, edges[j].l);
}

static void random_pairs(const struct subject *s)
{
    const struct field_ops *ops = s->flavours[0];
    for (int i = 0; i < RANDOM_PAIRS; i++) {
        struct limbs6 a, b;
        test_random_limbs(a.l, ops->modulus, ops->limbs);
        test_random_limbs(b.l, ops->modulus, ops->limbs);
        check_pair(s, a.l, b.l);
    }
}

/* mul and sqr are checked as out * 2^(64n) = a b. */
static void oracle_pair(const struct field_ops *ops, const uint64_t *a, const uint64_t *b, BN_CTX *ctx)
{
    struct limbs6 got[6], want = {{0}};
    int n = ops->limbs;
    run_all(got, ops, a, b);
    BIGNUM *m = test_bn(ops->modulus, n), *x = test_bn(a, n), *y = test_bn(b, n), *z = BN_new();
    for (int i = 0; i < 6; i++) {
        struct limbs6 have = got[i];
        if (i == 0 || i == 3) {
            BIGNUM *g = test_bn(got[i].l, n);
            assert_true(BN_lshift(g, g, 64 * n) && BN_nnmod(g, g, m, ctx));
            test_bn_to_limbs(have.l, g, n);
            BN_free(g);
        }
        int good = i == 0   ? BN_mod_mul(z, x, y, m, ctx)
                   : i == 1 ? BN_mod_add(z, x, y, m, ctx)
                   : i == 2 ? BN_mod_sub(z, x, y, m, ctx)
                   : i == 3 ? BN_mod_sqr(z, x, m, ctx)
                   : i == 4 ? BN_mod_lshift1(z, x, m, ctx)
                            : (BN_zero(z), BN_mod_sub(z, z, x, m, ctx));
        assert_true(good);
        test_bn_to_limbs(want.l, z, n);
        if (memcmp(have.l, want.l, 8 * (size_t)n) != 0)
            fail_msg("%s operation %d is wrong", ops->name, i);
    }
    BN_free(m), BN_free(x), BN_free(y), BN_free(z);
}

static void against_oracle(const struct subject *s)
{
    static struct limbs6 edges[TEST_EDGES_MAX];
    size_t count = test_edges(edges, s->flavours[0]->modulus, s->flavours[0]->limbs);
    BN_CTX *ctx = BN_CTX_new();
    for (size_t f = 0; f < s->count; f++) {
        const struct field_ops *ops = s->flavours[f];
        for (size_t i = 0; i < count; i++)
            for (size_t j = i % EDGE_STEP_ORACLE; j < count; j += EDGE_STEP_ORACLE)
                oracle_pair(ops, edges[i].l, edges[j].l, ctx);
        for (int i = 0; i < ORACLE_PAIRS; i++) {
            struct limbs6 a, b;
            test_random_limbs(a.l, ops->modulus, ops->limbs);
            test_random_limbs(b.l, ops->modulus, ops->limbs);
            oracle_pair(ops, a.l, b.l, ctx);
        }
    }
    BN_CTX_free(ctx);
}

static void test_fr_edges(void **state)
{
    (void)state;
    struct subject s = subject_fr();
    edge_pairs(&s);
}

static void test_fp_edges(void **state)
{
    (void)state;
    struct subject s = subject_fp();
    edge_pairs(&s);
}

static void test_fr_random(void **state)
{
    (void)state;
    struct subject s = subject_fr();
    random_pairs(&s);
}

static void test_fp_random(void **state)
{
    (void)state;
    struct subject s = subject_fp();
    random_pairs(&s);
}

static void test_fr_oracle(void **state)
{
    (void)state;
    struct subject s = subject_fr();
    against_oracle(&s);
}

static void test_fp_oracle(void **state)
{
    (void)state;
    struct subject s = subject_fp();
    against_oracle(&s);
}

int main(int argc, char **argv)
{
    test_seed(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fr_oracle), cmocka_unit_test(test_fp_oracle), cmocka_unit_test(test_fr_edges),
        cmocka_unit_test(test_fp_edges),  cmocka_unit_test(test_fr_random), cmocka_unit_test(test_fp_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
