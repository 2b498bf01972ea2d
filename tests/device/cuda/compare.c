/* See compare.h. The twins run in the calling thread. */
#include "compare.h"
#include "base/mem.h"
#include "curve/fixed_base.h"
#include "curve/msm.h"
#include "device/cuda/kernels.h"
#include "poly/h.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t seed_used = 1, state = 1;
static bool quiet;
static const struct work here = {.pool = NULL, .priority = PRIORITY_NORMAL, .cancel = NULL};

void compare_seed(uint64_t seed)
{
    seed_used = state = seed;
}

void compare_quietly(bool on)
{
    quiet = on;
}

static uint64_t next_u64(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static fr random_fr(void)
{
    fr_int i;
    fr a;
    do {
        for (int k = 0; k < 4; k++)
            i.l[k] = next_u64();
        i.l[3] &= UINT64_C(0x7fffffffffffffff);
    } while (!limbs_less(i.l, FR_MODULUS.l, 4));
    fr_from_int(&a, &i);
    return a;
}

const char *scalar_kind_name(enum scalar_kind kind)
{
    static const char *const names[] = {"random", "all 0", "all 1", "all -1", "all equal", "bits", "mixed"};
    return names[kind];
}

const char *point_kind_name(enum point_kind kind)
{
    static const char *const names[] = {"random", "multiples", "equal", "opposite", "infinity"};
    return names[kind];
}

static void make_scalars(fr *s, size_t n, enum scalar_kind kind)
{
    fr same = random_fr(), minus_one;
    fr_neg(&minus_one, &FR_ONE);
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
        case SCALARS_RANDOM:
            s[i] = random_fr();
            break;
        case SCALARS_ZERO:
            s[i] = FR_ZERO;
            break;
        case SCALARS_ONE:
            s[i] = FR_ONE;
            break;
        case SCALARS_MINUS_ONE:
            s[i] = minus_one;
            break;
        case SCALARS_EQUAL:
            s[i] = same;
            break;
        case SCALARS_BITS:
            s[i] = next_u64() & 1 ? FR_ONE : FR_ZERO;
            break;
        default: {
            uint64_t r = next_u64();
            fr_int power = {{0, 0, 0, 0}};
            power.l[r / 8 % 4] = UINT64_C(1) << (r / 32 % (r / 8 % 4 == 3 ? 62 : 64));
            fr_from_int(&s[i], &power);
            if (r % 8 == 0)
                s[i] = FR_ZERO;
            else if (r % 8 == 1)
                s[i] = FR_ONE;
            else if (r % 8 == 2)
                s[i] = minus_one;
            else if (r % 8 == 3)
                fr_sub(&s[i], &s[i], &FR_ONE);
            else if (r % 8 > 5)
                s[i] = random_fr();
            break;
        }
        }
    }
}

static void *plain_scalars(const fr *s, size_t n) /* as the card takes them */
{
    fr_int *out = mem_alloc(n + 1, sizeof *out);
    CHECK(out);
    for (size_t i = 0; i < n; i++)
        fr_to_int(&out[i], &s[i]);
    return out;
}

/* A failed case: says which; statuses with their texts. */
static bool told(bool equal, const struct status *s, const char *what, const char *with)
{
    if (s->code != STATUS_OK && quiet)
        return false;
    if (s->code != STATUS_OK)
        printf("FAILED %s, %s: %s (%s)\n", what, with, s->message, s->detail);
    else if (!equal)
        printf("WRONG %s, %s, seed %" PRIu64 "\n", what, with, seed_used);
    return s->code == STATUS_OK && equal;
}

/* Device memory of one case; everything is freed together. */
struct held {
    void *at[8], *host[8]; /* device and host memory */
    int count, host_count;
};

static void *keep(struct held *h, void *host)
{
    CHECK(host);
    h->host[h->host_count++] = host;
    return host;
}

static struct status hold(void **out, struct held *h, const void *from, size_t bytes)
{
    TRY(check_alloc(out, bytes));
    h->at[h->count++] = *out;
    if (from)
        return check_upload(*out, from, bytes);
    return check_fill(*out, 0xe1, bytes ? bytes : 1);
}

static void release(struct held *h)
{
    while (h->count > 0)
        check_free(h->at[--h->count]);
    while (h->host_count > 0)
        mem_free(h->host[--h->host_count]);
}

/* Random points are sums of two entries of small tables, so that making them is cheap. */
#define GROUP(g, G)                                                                                          \
    static g##_affine *g##_make_points(size_t n, enum point_kind kind)                                       \
    {                                                                                                        \
        enum { TABLE = 64 };                                                                                 \
        g##_affine *p = mem_alloc(n + 1, sizeof *p), table[2][TABLE], random;                                \
        g##_xyzz *sums = mem_alloc(n + 1, sizeof *sums), t;                                                  \
        void *scratch = mem_alloc(n + 1, sizeof(fp2));                                                       \
        CHECK(p &&sums &&scratch);                                                                           \
        fr s = random_fr();                                                                                  \
        fr_int k;                                                                                            \
        fr_to_int(&k, &s);                                                                                   \
        g##_from_affine(&t, &G##_GENERATOR);                                                                 \
        g##_mul_vartime(&t, &t, &k);                                                                         \
        g##_to_affine(&random, &t);                                                                          \
        for (int j = 0; j < 2 && kind == POINTS_RANDOM; j++) {                                               \
            for (int i = 0; i < TABLE; i++) {                                                                \
                k.l[0] ^= next_u64();                                                                        \
                g##_from_affine(&t, &random);                                                                \
                g##_mul_vartime(&t, &t, &k);                                                                 \
                g##_to_affine(&table[j][i], &t);                                                             \
            }                                                                                                \
        }                                                                                                    \
        g##_infinity(&t);                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                     \
            if (kind == POINTS_RANDOM) {                                                                     \
                g##_from_affine(&sums[i], &table[0][next_u64() % TABLE]);                                    \
                g##_add_affine(&sums[i], &sums[i], &table[1][i % TABLE]);                                    \
                g##_add_affine(&sums[i], &sums[i], &table[0][i / TABLE % TABLE]);                            \
            } else if (kind == POINTS_MULTIPLES || kind == POINTS_INFINITY) {                                \
                g##_add_affine(&t, &t, &G##_GENERATOR);                                                      \
                sums[i] = t;                                                                                 \
                if (kind == POINTS_INFINITY && (i % 3 == 0 || i < 4))                                        \
                    g##_infinity(&sums[i]);                                                                  \
            } else {                                                                                         \
                g##_from_affine(&sums[i], &random);                                                          \
                if (kind == POINTS_OPPOSITE && i % 2)                                                        \
                    g##_neg(&sums[i], &sums[i]);                                                             \
            }                                                                                                \
        }                                                                                                    \
        g##_to_affine_batch_vartime(p, sums, scratch, n);                                                    \
        mem_free(sums);                                                                                      \
        mem_free(scratch);                                                                                   \
        return p;                                                                                            \
    }                                                                                                        \
    static struct status g##_msm_case(bool *equal, const g##_affine *p, const fr *s, size_t n,               \
                                      uint32_t bits, uint32_t group, bool simple, struct held *h)            \
    {                                                                                                        \
        g##_xyzz want, got;                                                                                  \
        void *points, *scalars, *scratch, *plain = keep(h, plain_scalars(s, n));                             \
        struct gpu_msm_plan plan;                                                                            \
        TRY(msm_##g(&want, p, s, n, &here));                                                                 \
        TRY(hold(&points, h, p, n * sizeof *p));                                                             \
        TRY(hold(&scalars, h, plain, n * 32));                                                               \
        if (simple) {                                                                                        \
            TRY(hold(&scratch, h, NULL, gpu_sum_simple_scratch_bytes()));                                    \
            TRY(gpu_msm_##g##_simple(&got, points, scalars, n, scratch, NULL));                              \
        } else {                                                                                             \
            if (bits)                                                                                        \
                TRY(gpu_msm_##g##_plan_with(&plan, n, bits, group));                                         \
            else                                                                                             \
                TRY(gpu_msm_##g##_plan(&plan, n, (size_t)1 << 34));                                          \
            TRY(hold(&scratch, h, NULL, plan.scratch_bytes));                                                \
            TRY(gpu_msm_##g(&got, points, scalars, n, &plan, scratch, NULL));                                \
        }                                                                                                    \
        *equal = g##_equal(&want, &got);                                                                     \
        return status_ok();                                                                                  \
    }                                                                                                        \
    static struct status g##_bitsum_case(bool *equal, const g##_affine *p, const uint64_t *bits,             \
                                         const uint64_t *present, size_t n, bool simple, struct held *h)     \
    {                                                                                                        \
        g##_xyzz want, got;                                                                                  \
        void *points, *bits_dev, *present_dev = NULL, *scratch;                                              \
        size_t words = (n + 63) / 64, bytes = gpu_bitsum_##g##_scratch_bytes(n);                             \
        TRY(bitsum_##g(&want, p, bits, present, n, &here));                                                  \
        TRY(hold(&points, h, p, n * sizeof *p));                                                             \
        TRY(hold(&bits_dev, h, bits, words * 8));                                                            \
        if (present)                                                                                         \
            TRY(hold(&present_dev, h, present, words * 8));                                                  \
        if (bytes < gpu_sum_simple_scratch_bytes())                                                          \
            bytes = gpu_sum_simple_scratch_bytes();                                                          \
        TRY(hold(&scratch, h, NULL, bytes));                                                                 \
        if (simple)                                                                                          \
            TRY(gpu_bitsum_##g##_simple(&got, points, bits_dev, n, scratch, NULL));                          \
        else                                                                                                 \
            TRY(gpu_bitsum_##g(&got, points, bits_dev, present_dev, n, scratch, bytes, NULL));               \
        *equal = g##_equal(&want, &got);                                                                     \
        return status_ok();                                                                                  \
    }                                                                                                        \
    static struct status g##_fixed_case(bool *equal, const fr *s, size_t n, uint32_t bits, struct held *h)   \
    {                                                                                                        \
        struct fixed_base_##g *twin;                                                                         \
        g##_affine base, *want = keep(h, mem_alloc(n + 1, sizeof *want)),                                    \
                         *got = keep(h, mem_alloc(n + 1, sizeof *got));                                      \
        g##_affine *one = g##_make_points(1, POINTS_EQUAL);                                                  \
        void *table, *scalars, *scratch, *out, *plain = keep(h, plain_scalars(s, n));                        \
        CHECK(want &&got);                                                                                   \
        base = one[0];                                                                                       \
        mem_free(one);                                                                                       \
        TRY(fixed_base_##g##_make(&twin, &base, n + 1, &here));                                              \
        TRY(fixed_base_##g##_mul(want, twin, s, n, &here));                                                  \
        fixed_base_##g##_end(twin);                                                                          \
        TRY(hold(&table, h, NULL, gpu_fixed_base_##g##_table_bytes(bits)));                                  \
        TRY(hold(&scratch, h, NULL, gpu_fixed_base_##g##_scratch_bytes(n, bits)));                           \
        TRY(hold(&out, h, NULL, n * sizeof *got));                                                           \
        TRY(hold(&scalars, h, plain, n * 32));                                                               \
        TRY(gpu_fixed_base_##g##_table(table, &base, bits, scratch, NULL));                                  \
        TRY(gpu_fixed_base_##g(out, table, bits, scalars, n, scratch, NULL));                                \
        TRY(check_download(got, out, n * sizeof *got));                                                      \
        *equal = memcmp(want, got, n * sizeof *got) == 0;                                                    \
        return status_ok();                                                                                  \
    }

GROUP(g1, G1)
GROUP(g2, G2)

static bool msm_case(int group, size_t n, enum scalar_kind scalars, enum point_kind points, uint32_t bits,
                     uint32_t window_group, bool simple)
{
    struct held h = {.count = 0, .host_count = 0};
    bool equal = false;
    fr *s = mem_alloc(n + 1, sizeof *s);
    char with[120];
    CHECK(s);
    make_scalars(s, n, scalars);
    void *p = group == 1 ? (void *)g1_make_points(n, points) : (void *)g2_make_points(n, points);
    struct status st = group == 1 ? g1_msm_case(&equal, p, s, n, bits, window_group, simple, &h)
                                  : g2_msm_case(&equal, p, s, n, bits, window_group, simple, &h);
    release(&h);
    mem_free(s);
    mem_free(p);
    snprintf(with, sizeof with, "%zu points, scalars %s, points %s, window %u, group %u", n,
             scalar_kind_name(scalars), point_kind_name(points), bits, window_group);
    return told(equal, &st,
                simple       ? (group == 1 ? "simple MSM G1" : "simple MSM G2")
                : group == 1 ? "MSM G1"
                             : "MSM G2",
                with);
}

bool compare_msm(int group, size_t n, enum scalar_kind scalars, enum point_kind points, uint32_t window_bits,
                 uint32_t window_group)
{
    return msm_case(group, n, scalars, points, window_bits, window_group, false);
}

bool compare_msm_simple(int group, size_t n, enum scalar_kind scalars, enum point_kind points)
{
    return msm_case(group, n, scalars, points, 0, 0, true);
}

static bool bitsum_case(int group, size_t n, unsigned percent, bool present, enum point_kind points,
                        bool simple)
{
    struct held h = {.count = 0, .host_count = 0};
    bool equal = false;
    size_t words = n / 64 + 1;
    uint64_t *bits = mem_alloc_zero(words, 8), *have = mem_alloc_zero(words, 8);
    char with[120];
    CHECK(bits && have);
    for (size_t i = 0; i < words * 64; i++) { /* also beyond n, where they must be ignored */
        if (next_u64() % 100 < percent)
            bits[i / 64] |= UINT64_C(1) << (i % 64);
        if (next_u64() & 1)
            have[i / 64] |= UINT64_C(1) << (i % 64);
    }
    void *p = group == 1 ? (void *)g1_make_points(n, points) : (void *)g2_make_points(n, points);
    const uint64_t *presence = present ? have : NULL;
    struct status st = group == 1 ? g1_bitsum_case(&equal, p, bits, presence, n, simple, &h)
                                  : g2_bitsum_case(&equal, p, bits, presence, n, simple, &h);
    release(&h);
    mem_free(bits);
    mem_free(have);
    mem_free(p);
    snprintf(with, sizeof with, "%zu points, %u %% set%s, points %s", n, percent,
             present ? ", half present" : "", point_kind_name(points));
    return told(equal, &st, simple ? "simple bit sum" : group == 1 ? "bit sum G1" : "bit sum G2", with);
}

bool compare_bitsum(int group, size_t n, unsigned percent, bool present, enum point_kind points)
{
    return bitsum_case(group, n, percent, present, points, false);
}

bool compare_bitsum_simple(int group, size_t n, unsigned percent, enum point_kind points)
{
    return bitsum_case(group, n, percent, false, points, true);
}

bool compare_fixed_base(int group, size_t n, uint32_t window_bits, enum scalar_kind scalars)
{
    struct held h = {.count = 0, .host_count = 0};
    bool equal = false;
    fr *s = mem_alloc(n + 1, sizeof *s);
    char with[120];
    CHECK(s);
    make_scalars(s, n, scalars);
    struct status st = group == 1 ? g1_fixed_case(&equal, s, n, window_bits, &h)
                                  : g2_fixed_case(&equal, s, n, window_bits, &h);
    release(&h);
    mem_free(s);
    snprintf(with, sizeof with, "%zu scalars %s, window %u", n, scalar_kind_name(scalars), window_bits);
    return told(equal, &st, group == 1 ? "fixed base G1" : "fixed base G2", with);
}

static void reverse_order(fr *v, unsigned log_size)
{
    for (size_t i = 0; i < (size_t)1 << log_size; i++) {
        size_t j = bits_reversed(i, log_size);
        if (i < j) {
            fr t = v[i];
            v[i] = v[j];
            v[j] = t;
        }
    }
}

/* The twin with the card's coset: shift of order 2^(log + 1). */
static struct status open_domain(struct domain *d, unsigned log_size)
{
    fr root, shift;
    fr_root_of_unity(&root, log_size);
    fr_root_of_unity(&shift, log_size + 1);
    return domain_open_with(d, log_size, &root, &shift);
}

static struct status ntt_case(bool *equal, unsigned log_size, unsigned flags, bool simple, struct held *h)
{
    size_t m = (size_t)1 << log_size;
    fr *v = keep(h, mem_alloc(m, sizeof *v)), *got = keep(h, mem_alloc(m, sizeof *v));
    void *data, *table;
    struct domain d;
    for (size_t i = 0; i < m; i++)
        v[i] = i < 3 ? FR_ZERO : random_fr();
    TRY(hold(&table, h, NULL, gpu_ntt_table_bytes(log_size)));
    TRY(gpu_ntt_table(table, log_size, NULL));
    TRY(hold(&data, h, v, m * sizeof *v));
    if (simple)
        TRY(gpu_ntt_simple(data, table, log_size, flags, NULL));
    else
        TRY(gpu_ntt(data, table, log_size, flags, NULL));
    TRY(check_download(got, data, m * sizeof *v));
    TRY(open_domain(&d, log_size));
    /* The twin has values natural and coefficients reversed; the card the other way round, and its inverse is
     * not divided by the size. */
    fr size = FR_ONE;
    for (unsigned i = 0; i < log_size; i++)
        fr_dbl(&size, &size);
    reverse_order(v, log_size);
    if (flags & GPU_NTT_INVERSE)
        TRY(flags & GPU_NTT_COSET ? ntt_inverse_coset(&d, &here, &v, 1, &size)
                                  : ntt_inverse(&d, &here, &v, 1, &size));
    else
        TRY(flags & GPU_NTT_COSET ? ntt_forward_coset(&d, &here, &v, 1) : ntt_forward(&d, &here, &v, 1));
    reverse_order(v, log_size);
    domain_close(&d);
    *equal = memcmp(v, got, m * sizeof *v) == 0;
    return status_ok();
}

bool compare_ntt(unsigned log_size, unsigned flags, bool simple)
{
    struct held h = {.count = 0, .host_count = 0};
    bool equal = false;
    char with[80];
    struct status s = ntt_case(&equal, log_size, flags, simple, &h);
    release(&h);
    snprintf(with, sizeof with, "2^%u, %s%s", log_size, flags & GPU_NTT_INVERSE ? "inverse" : "forward",
             flags & GPU_NTT_COSET ? ", coset" : "");
    return told(equal, &s, simple ? "simple NTT" : "NTT", with);
}

static struct status h_case(bool *equal, unsigned log_size, struct held *h)
{
    size_t m = (size_t)1 << log_size;
    fr *a = keep(h, mem_alloc(m, sizeof *a)), *b = keep(h, mem_alloc(m, sizeof *a));
    fr *scratch = keep(h, mem_alloc(m, sizeof *a));
    fr_int *got = keep(h, mem_alloc(m, sizeof *got));
    void *a_dev, *b_dev, *c_dev, *table;
    struct domain d;
    for (size_t i = 0; i < m; i++) {
        a[i] = i % 5 == 4 ? FR_ZERO : random_fr();
        b[i] = i % 7 == 6 ? FR_ZERO : random_fr();
    }
    TRY(hold(&table, h, NULL, gpu_ntt_table_bytes(log_size)));
    TRY(gpu_ntt_table(table, log_size, NULL));
    TRY(hold(&a_dev, h, a, m * sizeof *a));
    TRY(hold(&b_dev, h, b, m * sizeof *b));
    TRY(hold(&c_dev, h, NULL, m * sizeof *b));
    TRY(gpu_bit_reverse(a_dev, log_size, NULL));
    TRY(gpu_bit_reverse(b_dev, log_size, NULL));
    TRY(gpu_h(a_dev, b_dev, c_dev, table, log_size, NULL));
    TRY(check_download(got, a_dev, m * sizeof *got));
    TRY(domain_open(&d, log_size)); /* the usual coset: h does not depend on it */
    TRY(poly_h(&d, &here, a, b, scratch));
    domain_close(&d);
    *equal = true;
    for (size_t i = 0; i < m; i++) {
        fr_int want;
        fr_to_int(&want, &a[i]);
        *equal = *equal && memcmp(&want, &got[i], sizeof want) == 0;
    }
    return status_ok();
}

bool compare_h(unsigned log_size)
{
    struct held h = {.count = 0, .host_count = 0};
    bool equal = false;
    char with[80];
    struct status s = h_case(&equal, log_size, &h);
    release(&h);
    snprintf(with, sizeof with, "2^%u", log_size);
    return told(equal, &s, "h", with);
}
