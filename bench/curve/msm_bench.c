/* Times of multi-scalar and fixed-base multiplication and of sums over set bits, each beside its floor:
 * additions times (5M + 1S) times the time of a scalar field multiplication measured in the same run (the
 * AVX-512 kernels go below it). Ratios are of processor time. Usage: msm_bench [LOG2_MAX [THREADS]]; 20 and 1
 * by default. */
#include "base/mem.h"
#include "base/pool.h"
#include "curve/fixed_base.h"
#include "curve/msm.h"
#include "field/flavour.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_u64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds on the wall and of processor time, which other programs disturb less. */
struct times {
    double wall, cpu;
};

static struct times now(void)
{
    return (struct times){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

static void must(struct status s)
{
    if (status_failed(&s)) {
        fprintf(stderr, "%s\n", s.message);
        exit(1);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *block = mem_alloc(count, size);
    if (!block)
        must(mem_failed("benchmark", count, size));
    return block;
}

static fr *random_scalars(size_t n)
{
    fr *out = allocate(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            out[i].l[k] = random_u64() >> (k == 3 ? 2 : 0);
    return out;
}

/* Nanoseconds of 5M + 1S, eight independent chains. */
static double addition_ns(bool g2)
{
    fp a[8], b = FP_R2;
    fp2 c[8], d = {FP_R2, FP_ONE};
    enum { ROUNDS = 20000 };
    for (int i = 0; i < 8; i++) {
        a[i] = FP_ONE;
        a[i].l[0] ^= (uint64_t)i;
        c[i] = (fp2){a[i], FP_R2};
    }
    double start = now().cpu;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 8; i++) {
#ifdef CUZK_X86_64
            if (flavour_in_force() == FLAVOUR_ADX && !g2)
                fp_mul_adx(&a[i], &a[i], &b);
            else
#endif
                if (!g2)
                fp_mul(&a[i], &a[i], &b);
            else
                fp2_mul(&c[i], &c[i], &d);
        }
    double ns = (now().cpu - start) * 1e9 / (8.0 * ROUNDS);
    volatile uint64_t sink = a[3].l[0] ^ c[3].c0.l[0];
    (void)sink;
    return ns;
}

static unsigned threads;
static struct work work;
static double addition[2]; /* ns; G1, G2 */

static void report(const char *what, int group, size_t n, double additions, struct times start)
{
    double wall = (now().wall - start.wall) * 1e3, cpu = (now().cpu - start.cpu) * 1e3;
    double floor = additions * addition[group] * 1e-6;
    printf("%-12s G%d  n %8zu  %9.2f ms  cpu %9.2f ms  floor %9.2f ms  ratio %.2f  %7.1f ns an addition\n",
           what, group + 1, n, wall, cpu, floor, cpu / floor, cpu * 1e6 / additions);
    fflush(stdout);
}

/* Additions at the best window: W (n + 2^(c-1)), accumulation less the first of a bucket, reduction two. */
static double msm_additions(double n)
{
    double best = 1e300;
    for (unsigned bits = 2; bits <= 17; bits++) {
        double additions = ((FR_BITS + bits - 1) / bits) * (n + (double)(1u << (bits - 1)));
        best = additions < best ? additions : best;
    }
    return best;
}

static void bench_g1(unsigned log2_max)
{
    size_t n = (size_t)1 << log2_max;
    fr *scalars = random_scalars(n);
    g1_affine *points = allocate(n, sizeof *points);
    struct fixed_base_g1 *table;
    g1_xyzz sum;
    struct times start = now();
    must(fixed_base_g1_make(&table, &G1_GENERATOR, n, &work));
    printf("table of %zu bytes: %.1f ms\n", fixed_base_g1_table_bytes(n), (now().cpu - start.cpu) * 1e3);
    start = now();
    must(fixed_base_g1_mul(points, table, scalars, n, &work));
    report("fixed base", 0, n, 15.0 * (double)n, start);
    fixed_base_g1_end(table);
    for (unsigned log = 6; log <= log2_max; log += log < 12 ? 2 : 2) {
        size_t m = (size_t)1 << log;
        start = now();
        must(msm_g1(&sum, points, scalars + n - m, m, &work));
        report("msm", 0, m, msm_additions((double)m), start);
    }
    uint64_t *bits = allocate(n / 64, sizeof *bits), *present = allocate(n / 64, sizeof *present);
    size_t set = 0;
    for (size_t i = 0; i < n / 64; i++) {
        bits[i] = random_u64();
        present[i] = random_u64() | random_u64();
        set += (size_t)__builtin_popcountll(bits[i] & present[i]);
    }
    start = now();
    must(bitsum_g1(&sum, points, bits, present, n, &work));
    report("bitsum", 0, n, (double)set, start);
    size_t some = n / 64;
    uint32_t *index = allocate(some, sizeof *index);
    for (size_t i = 0; i < some; i++)
        index[i] = (uint32_t)(i * 64 + random_u64() % 64);
    start = now();
    must(msm_g1_indexed(&sum, points, index, scalars, some, &work));
    report("msm indexed", 0, some, msm_additions((double)some), start);
    mem_free(index);
    mem_free(bits);
    mem_free(present);
    mem_free(points);
    mem_free(scalars);
}

static void bench_g2(unsigned log2_max)
{
    size_t n = (size_t)1 << log2_max;
    fr *scalars = random_scalars(n);
    g2_affine *points = allocate(n, sizeof *points);
    struct fixed_base_g2 *table;
    g2_xyzz sum;
    struct times start = now();
    must(fixed_base_g2_make(&table, &G2_GENERATOR, n, &work));
    printf("table of %zu bytes: %.1f ms\n", fixed_base_g2_table_bytes(n), (now().cpu - start.cpu) * 1e3);
    start = now();
    must(fixed_base_g2_mul(points, table, scalars, n, &work));
    report("fixed base", 1, n, 15.0 * (double)n, start);
    fixed_base_g2_end(table);
    for (unsigned log = 6; log <= log2_max; log += log < 12 ? 2 : 2) {
        size_t m = (size_t)1 << log;
        start = now();
        must(msm_g2(&sum, points, scalars + n - m, m, &work));
        report("msm", 1, m, msm_additions((double)m), start);
    }
    uint64_t *bits = allocate(n / 64, sizeof *bits);
    size_t set = 0;
    for (size_t i = 0; i < n / 64; i++) {
        bits[i] = random_u64();
        set += (size_t)__builtin_popcountll(bits[i]);
    }
    start = now();
    must(bitsum_g2(&sum, points, bits, NULL, n, &work));
    report("bitsum", 1, n, (double)set, start);
    mem_free(bits);
    mem_free(points);
    mem_free(scalars);
}

int main(int argc, char **argv)
{
    unsigned log2_max = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    if (log2_max < 12 || log2_max > 24 || threads < 1) {
        fprintf(stderr, "usage: msm_bench [LOG2_MAX (12 to 24) [THREADS]]\n");
        return 2;
    }
    must(pool_start(&work.pool, threads));
    work.priority = PRIORITY_NORMAL;
    addition[0] = 6 * addition_ns(false);
    addition[1] = 3 * addition[0] * 17 / 18; /* 5 * 3 + 2 multiplications in Fp */
    printf(
        "%s arithmetic, %u threads; an Fp multiplication %.1f ns, an addition %.1f ns (G1), %.1f ns (G2)\n",
        flavour_name(flavour_in_force()), threads, addition[0] / 6, addition[0], addition[1]);
    bench_g1(log2_max);
    bench_g2(log2_max < 18 ? log2_max : 18);
    pool_end(work.pool);
    return 0;
}
