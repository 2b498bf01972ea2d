/* Transforms and the quotient polynomial, 2^16 to 2^22 (or the two given exponents), beside their floor:
 * k/2 multiplications an element and transform, at the time of a scalar multiplication measured in the same
 * run. One and two threads. One thread is timed by processor time, which other programs disturb less.
 *
 *     ntt_bench [first [last]] */
#include "base/mem.h"
#include "base/pool.h"
#include "../field/mul_time.h"
#include "poly/h.h"
#include "poly/lagrange.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void stop(struct status s)
{
    if (!status_failed(&s))
        return;
    fprintf(stderr, "ntt_bench: %s\n", s.message);
    exit(1);
}

enum operation { INVERSE, FORWARD_COSET, INVERSE_3, H, LAGRANGE, OPERATIONS };
static const char *const NAMES[] = {"inverse", "forward coset", "inverse of 3", "h", "lagrange"};

/* Transforms the operation's floor counts. */
static const double TRANSFORMS[] = {1, 1, 3, 6, 1};

static struct status run(enum operation operation, const struct domain *d, const struct work *work,
                         fr *const *v)
{
    switch (operation) {
    case INVERSE:
        return ntt_inverse(d, work, v, 1, NULL);
    case FORWARD_COSET:
        return ntt_forward_coset(d, work, v, 1);
    case INVERSE_3:
        return ntt_inverse(d, work, v, 3, NULL);
    case H:
        return poly_h(d, work, v[0], v[1], v[2]);
    default:
        return lagrange_at_vartime(d, work, v[0], &FR_GENERATOR);
    }
}

static double best_ns(enum operation operation, const struct domain *d, const struct work *work, fr *const *v,
                      clockid_t clock)
{
    double best = 1e18;
    for (int repeat = 0; repeat < (d->log2_size < 20 ? 5 : 2); repeat++) {
        double start = now_ns(clock);
        stop(run(operation, d, work, v));
        double ns = now_ns(clock) - start;
        best = ns < best ? ns : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 16, last = argc > 2 ? (unsigned)atoi(argv[2]) : 22;
    struct pool *pool;
    stop(pool_start(&pool, 2));
    double mul = mul_time_fr_ns();
    struct domain small;
    stop(domain_open(&small, 6));
    printf("%s%s, Fr multiplication %.1f ns\n", flavour_name(flavour_in_force()),
           small.vectors ? " and AVX-512 IFMA (CUZK_CPU=adx: without)" : "", mul);
    domain_close(&small);
    printf("%4s  %-14s %12s %14s %10s %12s\n", "log2", "operation", "ms", "ns/butterfly", "x floor",
           "2 threads");
    for (unsigned k = first; k <= last; k += 2) {
        struct domain d;
        fr *v[3];
        stop(domain_open(&d, k));
        for (size_t i = 0; i < 3; i++) {
            v[i] = mem_alloc(d.size, sizeof(fr));
            if (!v[i])
                stop(mem_failed("vector", d.size, sizeof(fr)));
            for (size_t j = 0; j < d.size; j++)
                v[i][j] = (fr){{j * 77 + i, j * j, i + 1, j}};
        }
        for (unsigned i = 0; i < OPERATIONS; i++) {
            enum operation o = (enum operation)i;
            struct work alone = {NULL, PRIORITY_NORMAL, NULL}, both = {pool, PRIORITY_NORMAL, NULL};
            double ns = best_ns(o, &d, &alone, v, CLOCK_THREAD_CPUTIME_ID);
            double wall = best_ns(o, &d, &alone, v, CLOCK_MONOTONIC);
            double wall_2 = best_ns(o, &d, &both, v, CLOCK_MONOTONIC);
            double butterflies = (double)d.size / 2 * k * TRANSFORMS[o];
            printf("%4u  %-14s %12.2f %14.2f %10.3f %11.2fx\n", k, NAMES[o], ns / 1e6, ns / butterflies,
                   ns / butterflies / mul, wall / wall_2);
        }
        for (size_t i = 0; i < 3; i++)
            mem_free(v[i]);
        domain_close(&d);
    }
    pool_end(pool);
    return 0;
}
