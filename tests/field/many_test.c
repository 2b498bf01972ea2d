/* Many multiplications at once against single portable ones: all pairs of edge values, random pairs, every
 * length, operands in place and scattered. Registered once for each value of CUZK_CPU that this machine can.
 */
#include "field_test.h"

#include "field/many.h"

enum { LONGEST = 41, RANDOM_ROUNDS = 20000 };

static void check_fp(const fp *a, const fp *b, size_t n)
{
    fp out[LONGEST + 1], in_place[LONGEST + 1], want;
    const fp guard = {{1, 2, 3, 4, 5, 6}};
    assert_true(n <= LONGEST);
    out[n] = guard;
    fp_mul_many(out, a, b, n);
    for (size_t i = 0; i < n; i++) {
        fp_mul_portable(&want, &a[i], &b[i]);
        assert_memory_equal(&out[i], &want, sizeof want);
    }
    assert_memory_equal(&out[n], &guard, sizeof guard);
    memcpy(in_place, a, n * sizeof *a);
    fp_mul_many(in_place, in_place, b, n);
    assert_memory_equal(in_place, out, n * sizeof *out);
    memcpy(in_place, b, n * sizeof *b);
    fp_mul_many(in_place, a, in_place, n);
    assert_memory_equal(in_place, out, n * sizeof *out);
}

static void check_fr(const fr *a, const fr *b, size_t n)
{
    fr out[LONGEST + 1], in_place[LONGEST + 1], want;
    const fr guard = {{1, 2, 3, 4}};
    assert_true(n <= LONGEST);
    out[n] = guard;
    fr_mul_many(out, a, b, n);
    for (size_t i = 0; i < n; i++) {
        fr_mul_portable(&want, &a[i], &b[i]);
        assert_memory_equal(&out[i], &want, sizeof want);
    }
    assert_memory_equal(&out[n], &guard, sizeof guard);
    memcpy(in_place, a, n * sizeof *a);
    fr_mul_many(in_place, in_place, b, n);
    assert_memory_equal(in_place, out, n * sizeof *out);
    memcpy(in_place, b, n * sizeof *b);
    fr_mul_many(in_place, a, in_place, n);
    assert_memory_equal(in_place, out, n * sizeof *out);
}

static void test_lengths(void **state)
{
    (void)state;
    fp a[LONGEST], b[LONGEST];
    fr c[LONGEST], d[LONGEST];
    for (int round = 0; round < 20; round++)
        for (size_t n = 0; n <= LONGEST; n++) {
            for (size_t i = 0; i < n; i++) {
                a[i] = test_random_fp(), b[i] = test_random_fp();
                c[i] = test_random_fr(), d[i] = test_random_fr();
            }
            check_fp(a, b, n);
            check_fr(c, d, n);
        }
}

/* All pairs of edges; the lanes beside each other hold different edges. */
static void test_edge_pairs(void **state)
{
    (void)state;
    static struct limbs6 edges[TEST_EDGES_MAX];
    fp a[8], b[8];
    fr c[8], d[8];
    size_t count = test_edges(edges, FP_MODULUS.l, 6);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j += 8) {
            for (size_t k = 0; k < 8; k++) {
                memcpy(a[k].l, edges[(i + k) % count].l, sizeof a[k]);
                memcpy(b[k].l, edges[(j + 3 * k) % count].l, sizeof b[k]);
            }
            check_fp(a, b, 8);
        }
    count = test_edges(edges, FR_MODULUS.l, 4);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            for (size_t k = 0; k < 8; k++) {
                memcpy(c[k].l, edges[(i + k) % count].l, sizeof c[k]);
                memcpy(d[k].l, edges[(j + 3 * k) % count].l, sizeof d[k]);
            }
            check_fr(c, d, 8);
        }
}

static void test_random_pairs(void **state)
{
    (void)state;
    fp a[8], b[8];
    fr c[8], d[8];
    for (int round = 0; round < RANDOM_ROUNDS; round++) {
        for (int k = 0; k < 8; k++) {
            a[k] = test_random_fp(), b[k] = test_random_fp();
            c[k] = test_random_fr(), d[k] = test_random_fr();
        }
        check_fp(a, b, 8);
        check_fr(c, d, 8);
    }
}

static void test_scattered(void **state)
{
    (void)state;
    enum { POOL = 64 };
    fp from_a[POOL], from_b[POOL], to[POOL], before[POOL], want;
    for (int round = 0; round < 2000; round++) {
        const fp *a[8], *b[8];
        fp *out[8];
        size_t at[8];
        for (int i = 0; i < POOL; i++)
            from_a[i] = test_random_fp(), from_b[i] = test_random_fp(), to[i] = test_random_fp();
        memcpy(before, to, sizeof to);
        for (size_t k = 0; k < 8; k++) { /* inputs may repeat, outputs not */
            at[k] = 8 * k + test_random() % 8;
            a[k] = &from_a[test_random() % POOL];
            b[k] = round % 2 ? &from_b[test_random() % POOL] : &to[at[k]];
            out[k] = &to[at[k]];
        }
        fp_mul_eight(out, a, b);
        for (size_t k = 0; k < 8; k++) {
            fp_mul_portable(&want, a[k], round % 2 ? b[k] : &before[at[k]]);
            assert_memory_equal(out[k], &want, sizeof want);
            before[at[k]] = want;
        }
        assert_memory_equal(to, before, sizeof to); /* and nothing else was written */
    }
}

int main(int argc, char **argv)
{
    test_seed(argc, argv);
    printf("flavour %s, ifma %d\n", flavour_name(flavour_in_force()), flavour_ifma_in_force());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_edge_pairs),
        cmocka_unit_test(test_random_pairs),
        cmocka_unit_test(test_scattered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
