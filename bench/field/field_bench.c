/* Nanoseconds per field operation, as a chain of dependent operations and as independent ones, for each
 * flavour; and the long operations of the flavour in force against their count of multiplications. */
#include "field/fp2.h"
#include "field/fr.h"
#include "field_loops.h"
#include "mul_time.h"
#include <stdio.h>

static double best_of(void (*loop)(size_t), size_t n)
{
    double best = 1e30;
    for (int k = 0; k < 10; k++) {
        double start = bench_now_ns();
        loop(n);
        double taken = (bench_now_ns() - start) / (double)n;
        best = taken < best ? taken : best;
    }
    return best;
}

/* So many operations that a slice takes about 2 ms. */
static size_t slice_size(void (*loop)(size_t))
{
    size_t n = 64;
    for (;;) {
        double start = bench_now_ns();
        loop(n);
        if (bench_now_ns() - start > 1e6)
            return n;
        n *= 2;
    }
}

static void print_loop(const struct field_loop *portable, const struct field_loop *adx)
{
    double times[4] = {0};
    const struct field_loop *flavours[2] = {portable, adx};
    for (int f = 0; f < 2 && flavours[f] != NULL; f++) {
        times[2 * f] = best_of(flavours[f]->chain, slice_size(flavours[f]->chain));
        if (flavours[f]->independent != NULL)
            times[2 * f + 1] = best_of(flavours[f]->independent, slice_size(flavours[f]->independent));
    }
    printf("%-20s %9.1f %9.1f", portable->name, times[0], times[1]);
    if (adx != NULL)
        printf("   %9.1f %9.1f      %5.2f", times[2], times[3],
               times[1] > 0 ? times[1] / times[3] : times[0] / times[2]);
    printf("\n");
}

static void long_fp_sqrt(size_t n)
{
    fp a = FP_R2;
    for (size_t i = 0; i < n; i++) {
        fp_sqr(&a, &a);
        fp_sqrt_vartime(&a, &a);
    }
}

static void long_fp2_sqrt(size_t n)
{
    fp2 a = {FP_R2, FP_ONE};
    for (size_t i = 0; i < n; i++) {
        fp2_sqr(&a, &a);
        fp2_sqrt_vartime(&a, &a);
    }
}

static void long_fp_inv(size_t n)
{
    fp a = FP_R2;
    for (size_t i = 0; i < n; i++)
        fp_inv(&a, &a);
}

static void long_fr_inv_batch(size_t n)
{
    static fr a[1024], scratch[1024];
    for (size_t i = 0; i < 1024; i++)
        fr_add(&a[i], i > 0 ? &a[i - 1] : &FR_ONE, &FR_R2);
    for (size_t i = 0; i < n; i += 1024)
        fr_inv_batch_vartime(a, scratch, 1024);
}

static void print_long(const char *name, void (*loop)(size_t), size_t n, double multiplications, double unit)
{
    double taken = best_of(loop, n);
    printf("%-28s %10.1f ns   %7.0f multiplications   ratio to floor %5.2f\n", name, taken, multiplications,
           taken / (multiplications * unit));
}

int main(void)
{
    size_t count;
    const struct field_loop *portable = field_loops_portable(&count), *adx = NULL;
#ifdef CUZK_X86_64
    if (flavour_available(FLAVOUR_ADX))
        adx = field_loops_adx(&count);
#endif
    printf("%-20s %20s   %20s   portable\n%-20s %9s %9s   %9s %9s      / adx\n", "ns per operation",
           "portable", "adx", "", "chain", "indep.", "chain", "indep.");
    for (size_t i = 0; i < count; i++)
        print_loop(&portable[i], adx != NULL ? &adx[i] : NULL);
    double fr_unit = mul_time_fr_ns(), fp_unit = mul_time_fp_ns();
    printf("\nflavour in force: %s; one multiplication: Fr %.1f ns, Fp %.1f ns\n",
           flavour_name(flavour_in_force()), fr_unit, fp_unit);
    print_long("fp_inv (constant time)", long_fp_inv, 64, 378 + 95 + 15, fp_unit);
    print_long("fp_sqrt", long_fp_sqrt, 64, 376 + 94 + 17, fp_unit);
    print_long("fp2_sqrt", long_fp2_sqrt, 64, 2 * (376 + 94 + 17) + 6, fp_unit);
    print_long("fr_inv_batch of 1024, each", long_fr_inv_batch, 16384, 3, fr_unit);
    return 0;
}
