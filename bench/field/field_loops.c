/* See field_loops.h. Streams are eight operands that fit the first level cache. */
#include "field_loops.h"

#include "field/fp12.h"
#include "field/fr.h"
#include "field/fr_dot.h"

enum { STREAMS = 8 };

/* The compiler must not know the operands. */
#define HIDE(x) __asm__ volatile("" : "+m"(x))
#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")

#define LOOP(type, op, START, call)                                                                          \
    static void chain_##op(size_t n)                                                                         \
    {                                                                                                        \
        type x = START, y = START;                                                                           \
        HIDE(y);                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                     \
            call;                                                                                            \
        }                                                                                                    \
        KEEP(x);                                                                                             \
    }                                                                                                        \
    static void independent_##op(size_t n)                                                                   \
    {                                                                                                        \
        type streams[STREAMS], y = START;                                                                    \
        HIDE(y);                                                                                             \
        for (int j = 0; j < STREAMS; j++)                                                                    \
            streams[j] = y;                                                                                  \
        for (size_t i = 0; i < n; i += STREAMS)                                                              \
            for (int j = 0; j < STREAMS; j++) {                                                              \
                type x = streams[j];                                                                         \
                call;                                                                                        \
                streams[j] = x;                                                                              \
            }                                                                                                \
        KEEP(streams);                                                                                       \
    }

static const fp2 FP2_SOME = {{{5, 4, 3, 2, 1, 7}}, {{1, 2, 3, 4, 5, 6}}};
static const fp6 FP6_SOME = {{{{1, 2, 3}}, {{4, 5, 6}}}, {{{7, 8}}, {{9, 10}}}, {{{11}}, {{12}}}};
static const fp12 FP12_SOME = {{{{{1, 2, 3}}, {{4, 5, 6}}}, {{{7, 8}}, {{9, 10}}}, {{{11}}, {{12}}}},
                               {{{{3, 2, 3}}, {{4, 5, 6}}}, {{{7, 8}}, {{9, 10}}}, {{{11}}, {{12}}}}};

LOOP(fr, fr_mul, FR_R2, fr_mul(&x, &x, &y))
LOOP(fr, fr_sqr, FR_R2, fr_sqr(&x, &x))
LOOP(fr, fr_add, FR_R2, fr_add(&x, &x, &y))
LOOP(fr, fr_sub, FR_R2, fr_sub(&x, &x, &y))
LOOP(fr, fr_inv, FR_R2, fr_inv_vartime(&x, &x); fr_add(&x, &x, &y))
LOOP(fp, fp_mul, FP_R2, fp_mul(&x, &x, &y))
LOOP(fp, fp_sqr, FP_R2, fp_sqr(&x, &x))
LOOP(fp, fp_add, FP_R2, fp_add(&x, &x, &y))
LOOP(fp, fp_sub, FP_R2, fp_sub(&x, &x, &y))
LOOP(fp, fp_inv, FP_R2, fp_inv_vartime(&x, &x); fp_add(&x, &x, &y))
LOOP(fp2, fp2_mul, FP2_SOME, fp2_mul(&x, &x, &y))
LOOP(fp2, fp2_sqr, FP2_SOME, fp2_sqr(&x, &x))
LOOP(fp2, fp2_add, FP2_SOME, fp2_add(&x, &x, &y))
LOOP(fp6, fp6_mul, FP6_SOME, fp6_mul(&x, &x, &y))
LOOP(fp12, fp12_mul, FP12_SOME, fp12_mul(&x, &x, &y))
LOOP(fp12, fp12_sqr, FP12_SOME, fp12_sqr(&x, &x))
LOOP(fp12, fp12_cyclotomic_sqr, FP12_SOME, fp12_cyclotomic_sqr(&x, &x))

static void chain_fr_dot_12(size_t n)
{
    fr a[12], b[12];
    for (int i = 0; i < 12; i++)
        a[i] = FR_R2, b[i] = FR_ROOT;
    for (size_t i = 0; i < n; i++)
        fr_dot(&a[i % 12], a, b, 12);
    KEEP(a);
}

#define ROW(op)                                                                                              \
    {                                                                                                        \
#op, chain_##op, independent_##op                                                                    \
    }

const struct field_loop *FLAVOUR(field_loops)(size_t *count)
{
    static const struct field_loop loops[] = {
        ROW(fr_mul),   ROW(fr_sqr),   ROW(fr_add),
        ROW(fr_sub),   ROW(fr_inv),   {"fr_dot of 12", chain_fr_dot_12, NULL},
        ROW(fp_mul),   ROW(fp_sqr),   ROW(fp_add),
        ROW(fp_sub),   ROW(fp_inv),   ROW(fp2_mul),
        ROW(fp2_sqr),  ROW(fp2_add),  ROW(fp6_mul),
        ROW(fp12_mul), ROW(fp12_sqr), ROW(fp12_cyclotomic_sqr),
    };
    *count = sizeof loops / sizeof loops[0];
    return loops;
}
