/* Constants of Poseidon: the Grain LFSR, the Cauchy matrix, its factorisation into sparse matrices, and the
 * round constants moved through the linear layers (gadgets specification, 8.2 to 8.4). Sizes are small and
 * everything is static, so nothing here can fail. */
#include "gadget/poseidon.h"

#include <pthread.h>
#include <string.h>

#define W POSEIDON_WIDTH_MAX

/* ---- Grain ---- */

struct grain {
    u128 state; /* s0 is bit 0, s79 bit 79 */
};

static uint32_t grain_step(struct grain *g)
{
    uint64_t s = (uint64_t)g->state;
    uint32_t bit = (uint32_t)((s >> 62) ^ (s >> 51) ^ (s >> 38) ^ (s >> 23) ^ (s >> 13) ^ s) & 1;
    g->state = (g->state >> 1) | ((u128)bit << 79);
    return bit;
}

static void grain_start(struct grain *g, uint32_t width, uint32_t partial_rounds)
{
    static const uint8_t lengths[7] = {2, 4, 12, 12, 10, 10, 30};
    const uint32_t fields[7] = {1, 1, FR_BITS, width, POSEIDON_FULL_ROUNDS, partial_rounds, (1u << 30) - 1};
    uint32_t at = 0;
    g->state = 0;
    for (int f = 0; f < 7; f++)
        for (uint32_t bit = lengths[f]; bit-- > 0; at++)
            g->state |= (u128)((fields[f] >> bit) & 1) << at;
    for (int i = 0; i < 160; i++)
        grain_step(g);
}

static uint32_t grain_bit(struct grain *g)
{
    for (;;) {
        uint32_t take = grain_step(g), bit = grain_step(g);
        if (take)
            return bit;
    }
}

static void grain_element(struct grain *g, fr *out)
{
    fr_int value;
    do {
        memset(&value, 0, sizeof value);
        for (uint32_t bit = FR_BITS; bit-- > 0;)
            value.l[bit / 64] |= (uint64_t)grain_bit(g) << (bit % 64);
    } while (!limbs_less(value.l, FR_MODULUS.l, 4));
    fr_from_int(out, &value);
}

/* ---- small matrices, n x n row by row ---- */

static void matrix_multiply(fr *out, const fr *a, const fr *b, uint32_t n)
{
    fr t;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            fr sum = FR_ZERO;
            for (uint32_t k = 0; k < n; k++) {
                fr_mul(&t, &a[i * n + k], &b[k * n + j]);
                fr_add(&sum, &sum, &t);
            }
            out[i * n + j] = sum;
        }
}

/* out = a x; the same as x a for the symmetric matrices here */
static void matrix_apply(fr *out, const fr *a, const fr *x, uint32_t n)
{
    fr t;
    for (uint32_t i = 0; i < n; i++) {
        fr sum = FR_ZERO;
        for (uint32_t k = 0; k < n; k++) {
            fr_mul(&t, &a[i * n + k], &x[k]);
            fr_add(&sum, &sum, &t);
        }
        out[i] = sum;
    }
}

/* Gauss-Jordan without pivoting: every leading minor of a Cauchy matrix is non-zero. a is destroyed. */
static void matrix_inverse(fr *out, fr *a, uint32_t n)
{
    fr t;
    for (uint32_t i = 0; i < n * n; i++)
        out[i] = i % (n + 1) == 0 ? FR_ONE : FR_ZERO;
    for (uint32_t c = 0; c < n; c++) {
        fr scale;
        CHECK(!fr_is_zero(&a[c * n + c]));
        fr_inv_vartime(&scale, &a[c * n + c]);
        for (uint32_t j = 0; j < n; j++) {
            fr_mul(&a[c * n + j], &a[c * n + j], &scale);
            fr_mul(&out[c * n + j], &out[c * n + j], &scale);
        }
        for (uint32_t i = 0; i < n; i++) {
            fr factor = a[i * n + c];
            if (i == c)
                continue;
            for (uint32_t j = 0; j < n; j++) {
                fr_mul(&t, &factor, &a[c * n + j]);
                fr_sub(&a[i * n + j], &a[i * n + j], &t);
                fr_mul(&t, &factor, &out[c * n + j]);
                fr_sub(&out[i * n + j], &out[i * n + j], &t);
            }
        }
    }
}

static void matrix_power(fr *out, const fr *a, uint32_t exponent, uint32_t n)
{
    fr square[W * W], t[W * W];
    memcpy(square, a, n * n * sizeof *a);
    for (uint32_t i = 0; i < n * n; i++)
        out[i] = i % (n + 1) == 0 ? FR_ONE : FR_ZERO;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) {
            matrix_multiply(t, out, square, n);
            memcpy(out, t, n * n * sizeof *t);
        }
        matrix_multiply(t, square, square, n);
        memcpy(square, t, n * n * sizeof *t);
    }
}

/* ---- the parts ---- */

static void fill_mds(fr *mds, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        for (uint32_t j = 0; j < width; j++) {
            fr sum;
            fr_from_u64(&sum, i + j + width);
            fr_inv_vartime(&mds[i * width + j], &sum);
        }
}

static void fill_plain(fr *plain, uint32_t width, uint32_t partial_rounds)
{
    struct grain g;
    grain_start(&g, width, partial_rounds);
    for (uint32_t i = 0; i < (POSEIDON_FULL_ROUNDS + partial_rounds) * width; i++)
        grain_element(&g, &plain[i]);
}

/* With H = mds without row and column 0, v and w the rest of row and column 0: partial round k from the last
 * has first column (m, H^-(k+1) w) and first row (m, v H^k); the dense matrix before them is [m, v H^R; w,
 * H^(R+1)]. */
static void fill_sparse(fr *sparse, fr *pre, const fr *mds, uint32_t width, uint32_t partial_rounds)
{
    fr h[W * W], inverse[W * W], power[W * W], row[W], column[W], t[W];
    uint32_t n = width - 1, stride = 2 * width - 1;
    for (uint32_t i = 0; i < n; i++) {
        row[i] = column[i] = mds[i + 1];
        for (uint32_t j = 0; j < n; j++)
            h[i * n + j] = mds[(i + 1) * width + j + 1];
    }
    memcpy(power, h, n * n * sizeof *h);
    matrix_inverse(inverse, power, n);
    for (uint32_t k = 0; k < partial_rounds; k++) {
        fr *to = sparse + (size_t)(partial_rounds - 1 - k) * stride;
        matrix_apply(t, inverse, column, n);
        memcpy(column, t, n * sizeof *t);
        to[0] = mds[0];
        memcpy(to + 1, column, n * sizeof *t);
        memcpy(to + width, row, n * sizeof *t);
        matrix_apply(t, h, row, n);
        memcpy(row, t, n * sizeof *t);
    }
    matrix_power(power, h, partial_rounds + 1, n);
    pre[0] = mds[0];
    for (uint32_t i = 0; i < n; i++) {
        pre[i + 1] = row[i];
        pre[(i + 1) * width] = mds[(i + 1) * width];
        memcpy(pre + (i + 1) * width + 1, power + (size_t)i * n, n * sizeof *t);
    }
}

static void fill_rounds(fr *rounds, const fr *plain, const fr *mds, uint32_t width, uint32_t partial_rounds)
{
    fr work[W * W], inverse[W * W], acc[W], x[W];
    memcpy(work, mds, width * width * sizeof *mds);
    matrix_inverse(inverse, work, width);
    memcpy(rounds, plain, width * sizeof *plain);
    for (uint32_t k = 1; k < 4; k++)
        matrix_apply(rounds + k * width, inverse, plain + k * width, width);
    fr *partial = rounds + 5 * width;
    memcpy(acc, plain + (4 + partial_rounds) * width, width * sizeof *acc);
    for (uint32_t i = 0; i < partial_rounds; i++) {
        matrix_apply(x, inverse, acc, width);
        partial[partial_rounds - 1 - i] = x[0];
        x[0] = FR_ZERO;
        for (uint32_t j = 0; j < width; j++)
            fr_add(&acc[j], &plain[(3 + partial_rounds - i) * width + j], &x[j]);
    }
    matrix_apply(rounds + 4 * width, inverse, acc, width);
    for (uint32_t k = 1; k < 4; k++)
        matrix_apply(partial + partial_rounds + (k - 1) * width, inverse,
                     plain + (4 + partial_rounds + k) * width, width);
}

/* ---- storage, one set per arity ---- */

#define PARTIAL(width) ((width) <= 3 ? 55 : (width) <= 7 ? 56 : (width) <= 15 ? 57 : (width) <= 31 ? 59 : 60)
#define ARITIES(each)  each(2) each(4) each(8) each(11) each(16) each(24) each(36)

#define DECLARE(a)                                                                                           \
    static fr rounds_##a[8 * (a + 1) + PARTIAL(a + 1)], plain_##a[(8 + PARTIAL(a + 1)) * (a + 1)],           \
        mds_##a[(a + 1) * (a + 1)], pre_##a[(a + 1) * (a + 1)], sparse_##a[PARTIAL(a + 1) * (2 * a + 1)];    \
    static const struct poseidon poseidon_##a = {a,         a + 1,   PARTIAL(a + 1), rounds_##a,             \
                                                 plain_##a, mds_##a, pre_##a,        sparse_##a};            \
    static pthread_once_t once_##a = PTHREAD_ONCE_INIT;                                                      \
    static void fill_##a(void)                                                                               \
    {                                                                                                        \
        fill_mds(mds_##a, a + 1);                                                                            \
        fill_plain(plain_##a, a + 1, PARTIAL(a + 1));                                                        \
        fill_sparse(sparse_##a, pre_##a, mds_##a, a + 1, PARTIAL(a + 1));                                    \
        fill_rounds(rounds_##a, plain_##a, mds_##a, a + 1, PARTIAL(a + 1));                                  \
    }
ARITIES(DECLARE)

bool poseidon_has(uint32_t arity)
{
    switch (arity) {
#define HAS(a) case a:
        ARITIES(HAS)
        return true;
    default:
        return false;
    }
}

const struct poseidon *poseidon_of(uint32_t arity)
{
    CHECK(poseidon_has(arity));
    switch (arity) {
#define GET(a)                                                                                               \
    case a:                                                                                                  \
        CHECK(pthread_once(&once_##a, fill_##a) == 0);                                                       \
        return &poseidon_##a;
        ARITIES(GET)
    default:
        return NULL;
    }
}

uint64_t poseidon_merkle_tag(uint32_t arity)
{
    CHECK(arity < 64);
    return (UINT64_C(1) << arity) - 1;
}

uint32_t poseidon_circuit_size(const struct poseidon *p)
{
    uint32_t sboxes = 8 * p->width + p->partial_rounds - 1;
    return 3 * sboxes + 8 * p->width + p->partial_rounds - p->arity;
}
