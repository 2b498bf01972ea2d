/* Compiled once per flavour, as the FLAVOURED files of the rooms are. */
#include "field_ops.h"

#include "field/fp.h"
#include "field/fr.h"
#include <string.h>

#define WRAP2(field, op)                                                                                     \
    static void wrap_##field##_##op(uint64_t *out, const uint64_t *a, const uint64_t *b)                     \
    {                                                                                                        \
        field x, y, z;                                                                                       \
        memcpy(&x, a, sizeof x);                                                                             \
        memcpy(&y, b, sizeof y);                                                                             \
        field##_##op(&z, &x, &y);                                                                            \
        memcpy(out, &z, sizeof z);                                                                           \
    }

#define WRAP1(field, op)                                                                                     \
    static void wrap_##field##_##op(uint64_t *out, const uint64_t *a)                                        \
    {                                                                                                        \
        field x, z;                                                                                          \
        memcpy(&x, a, sizeof x);                                                                             \
        field##_##op(&z, &x);                                                                                \
        memcpy(out, &z, sizeof z);                                                                           \
    }

#define ALIAS2(field, op)                                                                                    \
    field##_##op(&z, &x, &y);                                                                                \
    t = x, field##_##op(&t, &t, &y), good = good && field##_equal(&t, &z);                                   \
    t = y, field##_##op(&t, &x, &t), good = good && field##_equal(&t, &z);                                   \
    field##_##op(&z, &x, &x);                                                                                \
    t = x, field##_##op(&t, &t, &t), good = good && field##_equal(&t, &z);

#define ALIAS1(field, op)                                                                                    \
    field##_##op(&z, &x);                                                                                    \
    t = x, field##_##op(&t, &t), good = good && field##_equal(&t, &z);

#define FIELD(field, FIELD_MODULUS, n)                                                                       \
    WRAP2(field, mul)                                                                                        \
    WRAP2(field, add)                                                                                        \
    WRAP2(field, sub)                                                                                        \
    WRAP1(field, sqr)                                                                                        \
    WRAP1(field, dbl)                                                                                        \
    WRAP1(field, neg)                                                                                        \
    const struct field_ops *FLAVOUR(field_ops_##field)(void)                                                 \
    {                                                                                                        \
        static const struct field_ops ops = {#field,                                                         \
                                             n,                                                              \
                                             FIELD_MODULUS.l,                                                \
                                             wrap_##field##_mul,                                             \
                                             wrap_##field##_add,                                             \
                                             wrap_##field##_sub,                                             \
                                             wrap_##field##_sqr,                                             \
                                             wrap_##field##_dbl,                                             \
                                             wrap_##field##_neg};                                            \
        return &ops;                                                                                         \
    }                                                                                                        \
    bool FLAVOUR(field_ops_alias_##field)(const uint64_t *a, const uint64_t *b)                              \
    {                                                                                                        \
        field x, y, z, t;                                                                                    \
        bool good = true;                                                                                    \
        memcpy(&x, a, sizeof x);                                                                             \
        memcpy(&y, b, sizeof y);                                                                             \
        ALIAS2(field, mul)                                                                                   \
        ALIAS2(field, add)                                                                                   \
        ALIAS2(field, sub)                                                                                   \
        ALIAS1(field, sqr)                                                                                   \
        ALIAS1(field, dbl)                                                                                   \
        ALIAS1(field, neg)                                                                                   \
        return good;                                                                                         \
    }

FIELD(fr, FR_MODULUS, 4)
FIELD(fp, FP_MODULUS, 6)
