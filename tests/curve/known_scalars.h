/* Scalars and kinds of points for tests of bulk functions. */
#ifndef CUZK_TESTS_KNOWN_SCALARS_H
#define CUZK_TESTS_KNOWN_SCALARS_H

#include "curve_test.h"
#include "base/mem.h"
#include "base/pool.h"
#include "curve/group_names.h"

enum point_kind {
    POINTS_DISTINCT,
    POINTS_SAME,
    POINTS_OPPOSITE, /* P, -P, P, ... */
    POINTS_FEW,
    POINTS_INFINITY,
    POINT_KINDS
};

enum scalar_kind {
    SCALARS_RANDOM,
    SCALARS_ZERO,
    SCALARS_ONE,
    SCALARS_MINUS_ONE,
    SCALARS_TWO,
    SCALARS_BITS,  /* 0 or 1 */
    SCALARS_SMALL, /* below 2^16, either sign */
    SCALARS_EQUAL, /* one random number */
    SCALARS_EDGE,  /* 0, 1, -1, 2, -2, (r-1)/2, (r+1)/2, 2^k, 2^k - 1, and negatives */
    SCALAR_KINDS
};

static inline void random_fr(fr *out)
{
    fr_int i;
    random_scalar(&i);
    fr_from_int(out, &i);
}

static inline void edge_scalar(fr *out)
{
    uint64_t choice = random_u64() % 6;
    fr two, power;
    fr_from_u64(&two, 2);
    fr_pow_u64_vartime(&power, &two, random_u64() % 256);
    if (choice == 0)
        fr_from_u64(out, random_u64() % 3);
    else if (choice == 1)
        *out = power;
    else if (choice == 2)
        fr_sub(out, &power, &FR_ONE);
    else if (choice == 3)
        fr_inv(out, &two); /* (r + 1) / 2 */
    else if (choice == 4)
        fr_mul(out, &power, &(fr){{random_u64(), 0, 0, 0}});
    else
        random_fr(out);
    if (random_u64() & 1)
        fr_neg(out, out);
}

static inline void known_scalars(fr *out, size_t n, enum scalar_kind kind)
{
    fr equal;
    random_fr(&equal);
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
        case SCALARS_RANDOM:
            random_fr(&out[i]);
            break;
        case SCALARS_ZERO:
            out[i] = FR_ZERO;
            break;
        case SCALARS_ONE:
            out[i] = FR_ONE;
            break;
        case SCALARS_MINUS_ONE:
            fr_neg(&out[i], &FR_ONE);
            break;
        case SCALARS_TWO:
            fr_from_u64(&out[i], 2);
            break;
        case SCALARS_BITS:
            fr_from_u64(&out[i], random_u64() & 1);
            break;
        case SCALARS_SMALL:
            fr_from_u64(&out[i], random_u64() & 0xffff);
            if (random_u64() & 1)
                fr_neg(&out[i], &out[i]);
            break;
        case SCALARS_EQUAL:
            out[i] = equal;
            break;
        case SCALARS_EDGE:
            edge_scalar(&out[i]);
            break;
        case SCALAR_KINDS:
            break;
        }
    }
}

/* sum of a[i] b[i] */
static inline void inner_product(fr *out, const fr *a, const fr *b, size_t n)
{
    fr t;
    *out = FR_ZERO;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&t, &a[i], &b[i]);
        fr_add(out, out, &t);
    }
}

static inline void assert_ok(struct status s)
{
    if (status_failed(&s))
        fail_msg("%s", s.message);
}

static inline struct pool *start_pool(unsigned threads)
{
    struct pool *pool;
    assert_ok(pool_start(&pool, threads));
    return pool;
}

#endif
