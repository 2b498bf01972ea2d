/* The unit in which benches state their floors: the time of one multiplication in Fr or Fp, in the flavour in
 * force, measured in this run (about 50 ms). Throughput, not latency: independent operands from the first
 * level cache. The best of many short slices, so that a busy machine spoils it least. */
#ifndef CUZK_BENCH_FIELD_MUL_TIME_H
#define CUZK_BENCH_FIELD_MUL_TIME_H

#include "field/flavour.h"
#include "field/fp.h"
#include "field/fr.h"
#include <time.h>

static inline double bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define MUL_TIME_SLICES  50
#define MUL_TIME_PRODUCT 2048 /* multiplications between two looks at the clock */

#define MUL_TIME_DEFINE(field, FIELD_R2, suffix)                                                             \
    static inline double mul_time_##field##_##suffix(void)                                                   \
    {                                                                                                        \
        field a[8], b = FIELD_R2;                                                                            \
        for (int i = 0; i < 8; i++)                                                                          \
            field##_add(&b, &b, &FIELD_R2), a[i] = b;                                                        \
        double best = 1e30, begin = bench_now_ns();                                                          \
        for (int slice = 0; slice < MUL_TIME_SLICES || bench_now_ns() - begin < 5e7; slice++) {              \
            double start = bench_now_ns();                                                                   \
            for (int i = 0; i < MUL_TIME_PRODUCT / 8; i++)                                                   \
                for (int j = 0; j < 8; j++)                                                                  \
                    field##_mul_##suffix(&a[j], &a[j], &b);                                                  \
            double taken = (bench_now_ns() - start) / MUL_TIME_PRODUCT;                                      \
            best = taken < best ? taken : best;                                                              \
            __asm__ volatile("" : : "r"(a) : "memory");                                                      \
        }                                                                                                    \
        return best;                                                                                         \
    }

MUL_TIME_DEFINE(fr, FR_R2, portable)
MUL_TIME_DEFINE(fp, FP_R2, portable)
#ifdef CUZK_X86_64
MUL_TIME_DEFINE(fr, FR_R2, adx)
MUL_TIME_DEFINE(fp, FP_R2, adx)
#endif

/* Nanoseconds per multiplication in the flavour in force. */
static inline double mul_time_fr_ns(void)
{
    return FLAVOUR_CALL(mul_time_fr, );
}

static inline double mul_time_fp_ns(void)
{
    return FLAVOUR_CALL(mul_time_fp, );
}

#endif
