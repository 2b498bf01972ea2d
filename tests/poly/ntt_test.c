/* Transforms against the definition (evaluation by Horner's rule), for all small sizes; large ones by
 * round trips and by values at single points. Both flavours and any number of threads give the same. */
#include "poly_test.h"
#include "poly/lagrange.h"
#include "poly/ntt.h"
#include "poly/ntt_core.h"
#include "poly/ntt_ifma.h"

#define LARGE 18

static void is_integer(const fr *x, const char *hex)
{
    uint8_t bytes[32];
    char text[67] = "0x";
    fr_to_bytes(bytes, x);
    for (size_t i = 0; i < 32; i++)
        snprintf(text + 2 + 2 * i, 3, "%02x", bytes[31 - i]);
    const char *digits = text + 2;
    while (*digits == '0' && digits[1])
        digits++;
    assert_string_equal(digits, hex);
}

/* Groth16 specification, 1.1. */
static void domains_have_the_published_constants(void **state)
{
    (void)state;
    static const struct {
        unsigned k;
        const char *root, *inverse, *vanishing;
    } known[] = {{3, "345766f603fa66e78c0625cd70d77ce2b38b21c28713b7007228fd3397743f7a", NULL, NULL},
                 {26, "a0a77a3b1980c0d116168bffbedc11d02c8118402867ddc531a11a0d2d75182",
                  "73eda7362e33a87dcbda85fb3b2bd602eb47a2ae10955b3f0069003f00000041",
                  "21ce9ead3636a4b4b619749ff23da3e8aea4dd8fe3e1c0e66cbbf8323ebea982"},
                 {27, "23397a9300f8f98bece8ea224f31d25db94f1101b1d7a628e2d0a7869f0319ed",
                  "73eda744abe892e2ff8a2f01a266d7041f82a3588849db9f0034801f00000021",
                  "3cce2cbbce03d6bc82b2f0a62b7b100042289e15615b53f25f7d431bd40e5f31"},
                 {28, "52dd465e2f09425699e276b571905a7d6558e9e3f6ac7b41d7b688830a4f2089",
                  "73eda74beac3081599620384d6045784b9a023adc4241bcf001a400f00000011",
                  "33c06a1c81600c9f486fe7cd12cacf211ac4dbb3d52b36133aeb016bb3a3821f"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct domain d;
        fr z;
        test_open(&d, known[i].k);
        is_integer(&d.root, known[i].root);
        if (known[i].inverse)
            is_integer(&d.size_inverse, known[i].inverse);
        fr_inv(&z, &d.vanishing);
        if (known[i].vanishing)
            is_integer(&z, known[i].vanishing);
        domain_close(&d);
    }
}

static void domains_refuse_what_does_not_fit(void **state)
{
    (void)state;
    struct domain d;
    unsigned k;
    fr root;
    for (unsigned i = 0; i <= 31; i++) {
        uint64_t size = UINT64_C(1) << i;
        assert_true(domain_log2_for(&k, size));
        assert_int_equal(k, i);
        if (i >= 2) {
            assert_true(domain_log2_for(&k, size - 1));
            assert_int_equal(k, i);
        }
        assert_int_equal(domain_log2_for(&k, size + 1), i < 31);
        test_open(&d, i);
        domain_close(&d);
        assert_null(d.tables);
    }
    assert_true(domain_log2_for(&k, 0));
    assert_int_equal(k, 0);
    assert_false(domain_log2_for(&k, UINT64_MAX));
    assert_int_equal(domain_open(&d, 32).code, STATUS_INVALID);
    assert_int_equal(domain_open(&d, 1000).code, STATUS_INVALID);
    fr_root_of_unity(&root, 4);
    test_ok(domain_open_with(&d, 4, &root, &FR_GENERATOR));
    domain_close(&d);
    assert_int_equal(domain_open_with(&d, 3, &root, &FR_GENERATOR).code, STATUS_INVALID);
    assert_int_equal(domain_open_with(&d, 5, &root, &FR_GENERATOR).code, STATUS_INVALID);
    assert_int_equal(domain_open_with(&d, 4, &root, &FR_ZERO).code, STATUS_INVALID);
    assert_int_equal(domain_open_with(&d, 4, &root, &root).code, STATUS_INVALID);
    size_t used = mem_used();
    for (uint64_t n = 1;; n++) {
        mem_fail_after(n);
        struct status s = domain_open(&d, 8);
        bool all = mem_allocations() < n;
        mem_fail_after(0);
        assert_int_equal(s.code, all ? STATUS_OK : STATUS_MEMORY);
        domain_close(&d);
        assert_int_equal(mem_used(), used);
        if (all)
            break;
    }
}

static void bits_are_reversed(void **state)
{
    (void)state;
    assert_int_equal(bits_reversed(0, 0), 0);
    assert_int_equal(bits_reversed(1, 1), 1);
    assert_int_equal(bits_reversed(6, 3), 3);
    assert_int_equal(bits_reversed(1, 31), 1 << 30);
    assert_int_equal(bits_reversed(0x12345678, 32), 0x1e6a2c48);
}

/* All four transforms and the natural forms against the definition; with another root and shift too. */
static void check_against_definition(const struct domain *d)
{
    size_t n = d->size;
    unsigned k = d->log2_size;
    fr *natural = test_vector(n), *reversed = mem_alloc(n, sizeof(fr));
    fr *values = mem_alloc(n, sizeof(fr)), *coset = mem_alloc(n, sizeof(fr));
    struct work work = {0};
    fr x = FR_ONE, scale, y;
    for (size_t i = 0; i < n; i++) {
        reversed[bits_reversed(i, k)] = natural[i];
        test_evaluate(&values[i], natural, n, &x);
        fr_mul(&y, &x, &d->shift);
        test_evaluate(&coset[i], natural, n, &y);
        fr_mul(&x, &x, &d->root);
    }
    assert_true(fr_equal(&x, &FR_ONE));
    fr *v = test_copy(values, n);
    test_ok(ntt_inverse(d, &work, &v, 1, NULL));
    test_equal(v, reversed, n);
    test_ok(ntt_forward_coset(d, &work, &v, 1));
    test_equal(v, coset, n);
    test_ok(ntt_inverse_coset(d, &work, &v, 1, NULL));
    test_equal(v, reversed, n);
    test_ok(ntt_forward(d, &work, &v, 1));
    test_equal(v, values, n);
    test_ok(ntt_inverse_natural(d, &work, v));
    test_equal(v, natural, n);
    test_ok(ntt_forward_natural(d, &work, v));
    test_equal(v, values, n);
    test_random_fr(&scale);
    memcpy(v, coset, n * sizeof *v);
    test_ok(ntt_inverse_coset(d, &work, &v, 1, &scale));
    for (size_t i = 0; i < n; i++)
        fr_mul(&reversed[i], &reversed[i], &scale);
    test_equal(v, reversed, n);
    memcpy(v, values, n * sizeof *v);
    test_ok(ntt_inverse(d, &work, &v, 1, &scale));
    test_equal(v, reversed, n);
    mem_free(v);
    mem_free(natural);
    mem_free(reversed);
    mem_free(values);
    mem_free(coset);
}

static void small_sizes_follow_the_definition(void **state)
{
    (void)state;
    for (unsigned k = 0; k <= 8; k++) {
        struct domain d;
        fr root, shift;
        test_open(&d, k);
        check_against_definition(&d);
        domain_close(&d);
        /* Another primitive root: an odd power; another shift. */
        fr_root_of_unity(&root, k);
        fr_pow_u64_vartime(&root, &root, 5);
        fr_from_u64(&shift, 11);
        test_ok(domain_open_with(&d, k, &root, &shift));
        check_against_definition(&d);
        domain_close(&d);
    }
}

/* Sizes that need strided passes: against the definition at some points, and all round trips. */
static void check_large(unsigned k, const struct work *work)
{
    struct domain d;
    test_open(&d, k);
    size_t n = d.size;
    fr *natural = test_vector(n), *v = test_copy(natural, n), *w = NULL;
    test_ok(ntt_forward_natural(&d, work, v));
    for (int i = 0; i < 4; i++) {
        size_t at = i == 0 ? 0 : i == 1 ? n - 1 : test_random() % n;
        fr x, y;
        fr_pow_u64_vartime(&x, &d.root, at);
        test_evaluate(&y, natural, n, &x);
        assert_true(fr_equal(&v[at], &y));
    }
    w = test_copy(v, n);
    test_ok(ntt_inverse(&d, work, &v, 1, NULL));
    for (size_t i = 0; i < n; i++)
        if (!fr_equal(&v[bits_reversed(i, k)], &natural[i]))
            fail_msg("2^%u: coefficient %zu differs", k, i);
    test_ok(ntt_forward_coset(&d, work, &v, 1));
    for (int i = 0; i < 3; i++) {
        size_t at = i == 0 ? 0 : test_random() % n;
        fr x, y;
        fr_pow_u64_vartime(&x, &d.root, at);
        fr_mul(&x, &x, &d.shift);
        test_evaluate(&y, natural, n, &x);
        assert_true(fr_equal(&v[at], &y));
    }
    test_ok(ntt_inverse_coset(&d, work, &v, 1, NULL));
    test_ok(ntt_forward(&d, work, &v, 1));
    test_equal(v, w, n);
    mem_free(w);
    mem_free(v);
    mem_free(natural);
    domain_close(&d);
}

static void larger_sizes_come_back(void **state)
{
    (void)state;
    struct pool *pool;
    test_ok(pool_start(&pool, 2));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    for (unsigned k = 9; k <= 16; k++)
        check_large(k, &work);
    check_large(LARGE, &work);
    pool_end(pool);
}

/* Several strided passes need 2^21 points, too slow for the definition; a domain with a small block has
 * them at 2^10. */
static void many_passes_follow_the_definition(void **state)
{
    (void)state;
    for (unsigned k = 4; k <= 10; k++)
        for (unsigned block = k <= 8 ? 2 : 4; block < k; block += k <= 8 ? 1 : 3) {
            struct domain d;
            fr root;
            fr_root_of_unity(&root, k);
            test_ok(domain_open_blocks(&d, k, block, block < 3 ? block : 3, &root, &FR_GENERATOR));
            check_against_definition(&d);
            domain_close(&d);
        }
}

/* Vectors of one call do not disturb each other. */
static void several_vectors_at_once(void **state)
{
    (void)state;
    struct work work = {0};
    for (unsigned k = 0; k <= 12; k += 3) {
        struct domain d;
        test_open(&d, k);
        fr *v[4], *alone[4];
        for (int i = 0; i < 4; i++) {
            v[i] = test_vector(d.size);
            alone[i] = test_copy(v[i], d.size);
            test_ok(ntt_inverse(&d, &work, &alone[i], 1, NULL));
        }
        test_ok(ntt_inverse(&d, &work, v, 4, NULL));
        for (int i = 0; i < 4; i++)
            test_equal(v[i], alone[i], d.size);
        test_ok(ntt_forward_coset(&d, &work, v, 4));
        test_ok(ntt_inverse_coset(&d, &work, v, 4, NULL));
        for (int i = 0; i < 4; i++) {
            test_equal(v[i], alone[i], d.size);
            mem_free(v[i]);
            mem_free(alone[i]);
        }
        domain_close(&d);
    }
}

static bool run_portable(const struct ntt_job *job, bool frequency)
{
    return frequency ? ntt_dif_portable(job) : ntt_dit_portable(job);
}

#ifdef CUZK_X86_64
static bool run_adx(const struct ntt_job *job, bool frequency)
{
    return frequency ? ntt_dif_adx(job) : ntt_dit_adx(job);
}
#endif

#ifdef CUZK_X86_64
static bool run_ifma(const struct ntt_job *job, bool frequency)
{
    return frequency ? ntt_dif_ifma(job) : ntt_dit_ifma(job);
}

/* Fills with values that drive sums and differences to their bounds. */
static void fill_extreme(fr *v, size_t n, int kind)
{
    fr most;
    for (int i = 0; i < 4; i++)
        most.l[i] = FR_MODULUS.l[i] - (i == 0); /* the largest residue in memory */
    for (size_t i = 0; i < n; i++)
        v[i] =
            kind == 0 || (kind == 1 && i % 2) || (kind == 2 && i < n / 2) || (kind == 3 && test_random() % 2)
                ? most
                : FR_ZERO;
}

/* The vector form against the portable one, in every kind of plan and at the bounds of its lazy reduction. */
static void vector_form_agrees(void **state)
{
    static const unsigned plans[][3] = {{6, 6, 6},  {7, 7, 6},  {9, 9, 6},  {12, 12, 8},
                                        {9, 6, 3},  {10, 6, 2}, {11, 6, 5}, {12, 6, 6},
                                        {13, 7, 1}, {14, 7, 7}, {16, 8, 8}, {15, 12, 3}};
    if (!flavour_ifma_available()) {
        print_message("no AVX-512 IFMA here\n");
        skip();
    }
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct domain d;
        fr root, scale;
        fr_root_of_unity(&root, plans[i][0]);
        test_ok(domain_open_blocks(&d, plans[i][0], plans[i][1], plans[i][2], &root, &FR_GENERATOR));
        if (!d.vectors)
            test_ok(ntt_ifma_prepare(&d));
        fr *input = test_vector(d.size), *v = test_copy(input, d.size), *expected = test_copy(input, d.size);
        test_random_fr(&scale);
        for (int mode = 0; mode < 40; mode++) {
            bool frequency = mode & 1, shifted = mode & 2, scaled = mode & 4;
            if (mode >= 8)
                fill_extreme(input, d.size, mode / 8 - 1);
            memcpy(v, input, d.size * sizeof *v);
            memcpy(expected, input, d.size * sizeof *v);
            struct ntt_job job = {&d,
                                  NULL,
                                  &expected,
                                  1,
                                  frequency ? &d.inverse : &d.forward,
                                  !shifted    ? NULL
                                  : frequency ? &d.shift_inverse
                                              : &d.shift_forward,
                                  scaled ? &scale : NULL};
            assert_true(run_portable(&job, frequency));
            job.vectors = &v;
            assert_true(run_ifma(&job, frequency));
            test_equal(v, expected, d.size);
        }
        for (int kind = 0; kind < 4; kind++) {
            fr *other = test_copy(v, d.size);
            fill_extreme(other, d.size, kind);
            assert_true(ntt_multiply_core_portable(NULL, expected, v, other, d.size));
            assert_true(ntt_multiply_ifma(NULL, v, v, other, d.size));
            test_equal(v, expected, d.size);
            mem_free(other);
        }
        mem_free(input);
        mem_free(v);
        mem_free(expected);
        domain_close(&d);
    }
}
#endif

/* Every flavour and thread count gives the same bits. */
static void flavours_and_threads_agree(void **state)
{
    (void)state;
    static const unsigned sizes[] = {0, 1, 2, 3, 5, 10, 11, 13, 14};
    bool (*runs[2])(const struct ntt_job *, bool) = {run_portable, NULL};
#ifdef CUZK_X86_64
    if (flavour_in_force() == FLAVOUR_ADX)
        runs[1] = run_adx;
#endif
    for (unsigned threads = 1; threads <= 3; threads++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct pool *pool;
            struct domain d;
            test_ok(pool_start(&pool, threads));
            test_open(&d, sizes[i]);
            struct work work = {pool, PRIORITY_NORMAL, NULL};
            fr *input = test_vector(d.size), scale;
            test_random_fr(&scale);
            for (int frequency = 0; frequency < 2; frequency++)
                for (int shifted = 0; shifted < 2; shifted++) {
                    fr *expected = test_copy(input, d.size);
                    struct ntt_job job = {
                        &d, NULL, &expected, 1, &d.forward, shifted ? &d.shift_inverse : NULL, &scale};
                    assert_true(run_portable(&job, frequency));
                    for (int r = 0; r < 2 && runs[r]; r++) {
                        fr *v = test_copy(input, d.size);
                        job.vectors = &v;
                        job.work = &work;
                        assert_true(runs[r](&job, frequency));
                        test_equal(v, expected, d.size);
                        mem_free(v);
                    }
                    mem_free(expected);
                }
            mem_free(input);
            domain_close(&d);
            pool_end(pool);
        }
}

static void reversal_is_an_exchange(void **state)
{
    (void)state;
    struct pool *pool;
    test_ok(pool_start(&pool, 2));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    for (unsigned k = 0; k <= 14; k++) {
        struct domain d;
        test_open(&d, k);
        fr *v = test_vector(d.size), *less = test_vector(d.size), *copy = test_copy(v, d.size);
        test_ok(ntt_bit_reverse(&d, &work, v, NULL));
        for (size_t i = 0; i < d.size; i++)
            assert_true(fr_equal(&v[bits_reversed(i, k)], &copy[i]));
        test_ok(ntt_bit_reverse(&d, &work, v, NULL));
        test_equal(v, copy, d.size);
        test_ok(ntt_bit_reverse(&d, &work, v, less));
        for (size_t i = 0; i < d.size; i++) {
            fr x;
            fr_sub(&x, &copy[i], &less[i]);
            assert_true(fr_equal(&v[bits_reversed(i, k)], &x));
        }
        mem_free(v);
        mem_free(less);
        mem_free(copy);
        domain_close(&d);
    }
    pool_end(pool);
}

static void lagrange_values_interpolate(void **state)
{
    (void)state;
    struct pool *pool;
    test_ok(pool_start(&pool, 2));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    for (unsigned k = 0; k <= 13; k++) {
        struct domain d;
        fr tau, x = FR_ONE;
        test_open(&d, k);
        fr_from_u64(&tau, 3673 + k);
        fr *l = mem_alloc(d.size, sizeof(fr)), *powers = mem_alloc(d.size, sizeof(fr));
        test_ok(lagrange_at_vartime(&d, &work, l, &tau));
        /* The inverse transform of the powers of tau is the same by definition. */
        for (size_t i = 0; i < d.size; i++) {
            powers[i] = x;
            fr_mul(&x, &x, &tau);
        }
        test_ok(ntt_inverse_natural(&d, &work, powers));
        test_equal(l, powers, d.size);
        /* A point of the domain gives a unit vector. */
        size_t at = test_random() % d.size;
        fr_pow_u64_vartime(&tau, &d.root, at);
        test_ok(lagrange_at_vartime(&d, &work, l, &tau));
        for (size_t i = 0; i < d.size; i++)
            assert_true(fr_equal(&l[i], i == at ? &FR_ONE : &FR_ZERO));
        test_ok(lagrange_at_vartime(&d, &work, l, &FR_ZERO));
        for (size_t i = 0; i < d.size; i++)
            assert_true(fr_equal(&l[i], &d.size_inverse));
        mem_free(l);
        mem_free(powers);
        domain_close(&d);
    }
    pool_end(pool);
}

static void cancel_ends_every_operation(void **state)
{
    (void)state;
    struct cancel cancel;
    atomic_init(&cancel.requested, true);
    struct work work = {NULL, PRIORITY_NORMAL, &cancel};
    static const unsigned sizes[] = {0, 6, 12};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct domain d;
        fr tau;
        test_open(&d, sizes[i]);
        fr *v = test_vector(d.size), *copy = test_copy(v, d.size);
        assert_int_equal(ntt_inverse(&d, &work, &v, 1, NULL).code, STATUS_CANCELLED);
        assert_int_equal(ntt_inverse_coset(&d, &work, &v, 1, NULL).code, STATUS_CANCELLED);
        assert_int_equal(ntt_forward(&d, &work, &v, 1).code, STATUS_CANCELLED);
        assert_int_equal(ntt_forward_coset(&d, &work, &v, 1).code, STATUS_CANCELLED);
        assert_int_equal(ntt_bit_reverse(&d, &work, v, NULL).code, STATUS_CANCELLED);
        assert_int_equal(ntt_inverse_natural(&d, &work, v).code, STATUS_CANCELLED);
        assert_int_equal(ntt_forward_natural(&d, &work, v).code, STATUS_CANCELLED);
        assert_int_equal(ntt_multiply(&d, &work, v, v, v).code, STATUS_CANCELLED);
        fr_from_u64(&tau, 12345);
        assert_int_equal(lagrange_at_vartime(&d, &work, v, &tau).code, STATUS_CANCELLED);
        assert_int_equal(lagrange_at_vartime(&d, &work, v, &FR_ONE).code, STATUS_CANCELLED);
        test_equal(v, copy, d.size);
        mem_free(v);
        mem_free(copy);
        domain_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_have_the_published_constants),
        cmocka_unit_test(domains_refuse_what_does_not_fit),
        cmocka_unit_test(bits_are_reversed),
        cmocka_unit_test(small_sizes_follow_the_definition),
        cmocka_unit_test(many_passes_follow_the_definition),
        cmocka_unit_test(several_vectors_at_once),
        cmocka_unit_test(flavours_and_threads_agree),
#ifdef CUZK_X86_64
        cmocka_unit_test(vector_form_agrees),
#endif
        cmocka_unit_test(reversal_is_an_exchange),
        cmocka_unit_test(lagrange_values_interpolate),
        cmocka_unit_test(cancel_ends_every_operation),
        cmocka_unit_test(larger_sizes_come_back),
    };
    test_seed_start();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed || mem_used() != 0;
}
