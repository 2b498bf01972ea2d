/* gpu-check's program: everything the card's kernels must show, in parts that a script runs one by one, so
 * that one part's failure leaves the others' results.
 *
 *   gpu_check device                      the card, or exit status 3
 *   gpu_check small [seed]                every kernel against its twin, sizes from 0 up, adversarial inputs
 *   gpu_check sanitize                    a few of them, for compute-sanitizer
 *   gpu_check rates                       arithmetic and memory rates, from which floors follow
 *   gpu_check ntt LOG ...                 fast against simple, and times
 *   gpu_check h LOG ...
 *   gpu_check msm GROUP LOG[:BITS[:WINDOWS]] ...   against the sum in the exponent, and times by phase
 *   gpu_check spread GROUP LOG            the same for every distribution of scalars
 *   gpu_check bits GROUP MILLIONS
 *   gpu_check fixed GROUP LOG [BITS]
 *   gpu_check prove CIRCUIT [COUNT [GB]]  whole proofs with parameters made on the card, each verified; as on
 * a card of so much memory gpu_check prove-as-cpu CIRCUIT        the same, and the CPU backend's partial sums
 * beside them gpu_check setup CIRCUIT               the same, and the CPU's parameter set beside the card's
 *   gpu_check beside CIRCUIT COUNT OTHER  critical proofs of OTHER while COUNT proofs run
 *   gpu_check witness CIRCUIT [times]     a partition expanded and evaluated, as on the CPU; times: not
 * compared
 *
 * Exit status 1 when something is wrong or failed. Lines that begin with "|" are the table's. */
#include "backend_check.h"
#include "compare.h"
#include "curve/point.h"
#include "device/cuda/kernels.h"
#include "field/fr.h"
#include "witness_part.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measured once a run, for the floors. */
static double rates[RATES], copy_rate;
static int failures;

static bool failed(const struct status *s, const char *what)
{
    if (s->code == STATUS_OK)
        return false;
    printf("FAILED %s: %s (%s) %s\n", what, s->message, s->detail, s->hint);
    failures++;
    return true;
}

static void counted(bool good, int *cases)
{
    (*cases)++;
    if (!good)
        failures++;
    fflush(stdout);
}

/* kernel, size, time, operations a second, floor, ratio */
static void row(const char *kernel, const char *size, double ms, double operations, double floor_ms)
{
    printf("| %-28s | %-18s | %9.3f ms | %8.3f G/s | %9.3f ms | %5.2f |\n", kernel, size, ms,
           operations / ms / 1e6, floor_ms, ms / floor_ms);
    fflush(stdout);
}

static void print_phases(void)
{
    struct check_phase p[CHECK_PHASES];
    int n = check_phases(p);
    for (int i = 0; i < n; i++)
        printf("    %-28s %9.3f ms\n", p[i].name, p[i].ms);
}

static struct status measure_rates(bool print)
{
    static const char *const names[RATES] = {"Fp multiplication", "Fp squaring",       "Fp2 multiplication",
                                             "Fr multiplication", "Fr times constant", "wide multiply-add"};
    for (int i = 0; i < RATES; i++)
        TRY(check_rate_of(&rates[i], (enum check_rate)i));
    TRY(check_copy_rate(&copy_rate));
    for (int i = 0; print && i < RATES; i++)
        printf("rate: %-20s %9.2f G/s\n", names[i], rates[i] / 1e9);
    if (print)
        printf("rate: %-20s %9.2f GB/s read and written\n", "copy", copy_rate / 1e9);
    return status_ok();
}

static double addition_seconds(int group) /* batch affine: 5M + 1S */
{
    if (group == 1)
        return 5 / rates[RATE_FP_MUL] + 1 / rates[RATE_FP_SQR];
    return 5 / rates[RATE_FP2_MUL] + 2 / rates[RATE_FP_MUL];
}

static void small(void)
{
    int cases = 0;
    static const size_t sizes[] = {0,  1,  2,  3,  4,   5,   7,   8,   15,   16,   17,   31,   32,
                                   33, 63, 64, 65, 127, 128, 129, 500, 1000, 1023, 1025, 4097, 20000};
    for (unsigned log_size = 0; log_size <= 17; log_size++) {
        for (unsigned flags = 0; flags < 4; flags++) {
            counted(compare_ntt(log_size, flags, false), &cases);
            if (log_size < 12)
                counted(compare_ntt(log_size, flags, true), &cases);
        }
        counted(compare_h(log_size), &cases);
    }
    printf("NTT and h: %d cases, %d wrong so far\n", cases, failures);
    for (int group = 1; group <= 2; group++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i];
            if (group == 2 && n > 2000)
                continue;
            counted(compare_msm(group, n, SCALARS_RANDOM, POINTS_RANDOM, 0, 0), &cases);
            counted(compare_msm(group, n, SCALARS_MIXED, POINTS_MULTIPLES, 0, 0), &cases);
            counted(compare_bitsum(group, n, 50, false, POINTS_RANDOM), &cases);
            counted(compare_bitsum(group, n, 70, true, POINTS_MULTIPLES), &cases);
        }
        for (int s = 0; s < SCALARS_KINDS; s++) {
            for (int p = 0; p < POINTS_KINDS; p++) {
                counted(compare_msm(group, 777, (enum scalar_kind)s, (enum point_kind)p,
                                    4 + (unsigned)(s + p) % 5, 9),
                        &cases);
                if (s == 0)
                    counted(compare_bitsum(group, 3000, 50, false, (enum point_kind)p), &cases);
            }
            counted(compare_fixed_base(group, 300, 8, (enum scalar_kind)s), &cases);
        }
        for (uint32_t bits = 4; bits <= 16; bits += group == 1 ? 1 : 4)
            counted(compare_msm(group, 3000, SCALARS_RANDOM, POINTS_RANDOM, bits, 5), &cases);
        counted(compare_msm_simple(group, 300, SCALARS_MIXED, POINTS_RANDOM), &cases);
        counted(compare_bitsum_simple(group, 3000, 50, POINTS_RANDOM), &cases);
        printf("G%d: %d cases in all, %d wrong so far\n", group, cases, failures);
    }
    printf("%d comparisons with the C twins, %d wrong\n", cases, failures);
}

/* Few cases that reach every kernel: compute-sanitizer slows them down a hundredfold. */
static void sanitize(void)
{
    int cases = 0;
    counted(compare_ntt(12, 0, false), &cases);
    counted(compare_ntt(14, GPU_NTT_INVERSE | GPU_NTT_COSET, false), &cases);
    counted(compare_h(12), &cases);
    for (int group = 1; group <= 2; group++) {
        counted(compare_msm(group, 1000, SCALARS_MIXED, POINTS_MULTIPLES, 8, 9), &cases);
        counted(compare_bitsum(group, 1000, 50, true, POINTS_RANDOM), &cases);
        counted(compare_fixed_base(group, 50, 8, SCALARS_MIXED), &cases);
    }
    printf("%d comparisons, %d wrong\n", cases, failures);
}

static struct status ntt_times(unsigned log_size)
{
    static const char *const names[] = {"NTT forward", "NTT inverse", "NTT forward coset",
                                        "NTT inverse coset"};
    size_t m = (size_t)1 << log_size;
    void *table, *data, *other;
    char size[32];
    snprintf(size, sizeof size, "2^%u", log_size);
    TRY(check_alloc(&table, gpu_ntt_table_bytes(log_size)));
    TRY(check_alloc(&data, m * 32));
    TRY(check_alloc(&other, m * 32));
    check_timer_start();
    TRY(gpu_ntt_table(table, log_size, NULL));
    row("NTT table", size, check_timer_stop(), (double)m, (double)m / rates[RATE_FR_MUL] * 2e3);
    double mults = (double)m / 2 * log_size;
    double floor_ms = mults / rates[RATE_FR_SHOUP] * 1e3;
    for (unsigned flags = 0; flags < 4; flags++) {
        uint64_t differing = 0;
        TRY(check_random_elements(data, m, 17 + flags));
        TRY(check_copy(other, data, m * 32));
        TRY(gpu_ntt(data, table, log_size, flags, NULL));
        TRY(gpu_ntt_simple(other, table, log_size, flags, NULL));
        TRY(check_words_differ(&differing, data, other, m * 4));
        if (differing) {
            printf("WRONG %s %s: %" PRIu64 " words differ from the simple version\n", names[flags], size,
                   differing);
            failures++;
        }
        double best = 1e9;
        for (int i = 0; i < 5; i++) {
            check_timer_start();
            TRY(gpu_ntt(data, table, log_size, flags, NULL));
            double ms = check_timer_stop();
            best = ms < best ? ms : best;
        }
        row(names[flags], size, best, mults, floor_ms);
        check_phases_on();
        TRY(gpu_ntt(data, table, log_size, flags, NULL));
        print_phases();
    }
    check_free(table);
    check_free(data);
    check_free(other);
    return status_ok();
}

static struct status h_times(unsigned log_size)
{
    size_t m = (size_t)1 << log_size;
    void *table, *v[3];
    char size[32];
    double best = 1e9;
    snprintf(size, sizeof size, "2^%u", log_size);
    TRY(check_alloc(&table, gpu_ntt_table_bytes(log_size)));
    TRY(gpu_ntt_table(table, log_size, NULL));
    for (int i = 0; i < 3; i++)
        TRY(check_alloc(&v[i], m * 32));
    for (int i = 0; i < 3; i++) {
        TRY(check_random_elements(v[0], m, 5));
        TRY(check_random_elements(v[1], m, 6));
        check_timer_start();
        TRY(gpu_h(v[0], v[1], v[2], table, log_size, NULL));
        double ms = check_timer_stop();
        best = ms < best ? ms : best;
    }
    double mults = 6.0 * (double)m / 2 * log_size;
    row("h (six transforms)", size, best, mults,
        mults / rates[RATE_FR_SHOUP] * 1e3 + 4.0 * (double)m / rates[RATE_FR_MUL] * 1e3);
    for (int i = 0; i < 3; i++)
        check_free(v[i]);
    check_free(table);
    return status_ok();
}

/* Points with known logarithms, made by the fixed-base kernel, which `small` has compared with its twin. */
struct large {
    size_t n;
    int group;
    void *points, *logs, *scalars;
};

static struct status large_open(struct large *l, int group, size_t n)
{
    const uint32_t bits = 16;
    size_t point = group == 1 ? 96 : 192, piece = (size_t)1 << 21;
    void *table, *scratch;
    l->n = n;
    l->group = group;
    if (piece > n)
        piece = n;
    TRY(check_alloc(&l->points, n * point));
    TRY(check_alloc(&l->logs, n * 32));
    TRY(check_alloc(&l->scalars, n * 32));
    TRY(check_random_elements(l->logs, n, 1234));
    size_t table_bytes =
        group == 1 ? gpu_fixed_base_g1_table_bytes(bits) : gpu_fixed_base_g2_table_bytes(bits);
    size_t bytes = group == 1 ? gpu_fixed_base_g1_scratch_bytes(piece, bits)
                              : gpu_fixed_base_g2_scratch_bytes(piece, bits);
    TRY(check_alloc(&table, table_bytes));
    TRY(check_alloc(&scratch, bytes));
    if (group == 1)
        TRY(gpu_fixed_base_g1_table(table, &G1_GENERATOR, bits, scratch, NULL));
    else
        TRY(gpu_fixed_base_g2_table(table, &G2_GENERATOR, bits, scratch, NULL));
    for (size_t first = 0; first < n; first += piece) {
        size_t count = n - first < piece ? n - first : piece;
        char *out = (char *)l->points + first * point, *logs = (char *)l->logs + first * 32;
        if (group == 1)
            TRY(gpu_fixed_base_g1(out, table, bits, logs, count, scratch, NULL));
        else
            TRY(gpu_fixed_base_g2(out, table, bits, logs, count, scratch, NULL));
    }
    TRY(check_sync());
    check_free(table);
    check_free(scratch);
    return status_ok();
}

static void large_close(struct large *l)
{
    check_free(l->points);
    check_free(l->logs);
    check_free(l->scalars);
}

static struct status large_scalars(struct large *l, enum scalar_kind kind)
{
    fr_int minus_one = FR_MODULUS, one = {{1, 0, 0, 0}}, zero = {{0, 0, 0, 0}};
    fr_int any = {
        {UINT64_C(0x1234567890abcdef), 77, UINT64_C(0xfedcba0987654321), UINT64_C(0x3141592653589793)}};
    minus_one.l[0]--;
    switch (kind) {
    case SCALARS_ZERO:
        return check_equal_elements(l->scalars, l->n, &zero);
    case SCALARS_ONE:
        return check_equal_elements(l->scalars, l->n, &one);
    case SCALARS_MINUS_ONE:
        return check_equal_elements(l->scalars, l->n, &minus_one);
    case SCALARS_EQUAL:
        return check_equal_elements(l->scalars, l->n, &any);
    case SCALARS_BITS:
        return check_bit_elements(l->scalars, l->n, 99);
    default:
        return check_random_elements(l->scalars, l->n, 4321);
    }
}

static bool result_is(int group, const void *result, const fr_int *log)
{
    if (group == 1) {
        g1_xyzz want;
        g1_from_affine(&want, &G1_GENERATOR);
        g1_mul_vartime(&want, &want, log);
        return g1_equal(&want, result);
    }
    g2_xyzz want;
    g2_from_affine(&want, &G2_GENERATOR);
    g2_mul_vartime(&want, &want, log);
    return g2_equal(&want, result);
}

static struct status msm_once(struct large *l, size_t n, enum scalar_kind kind, uint32_t bits, uint32_t group,
                              int repeat, bool phases)
{
    struct gpu_msm_plan plan;
    void *scratch;
    g2_xyzz result;
    fr_int log;
    double best = 1e9;
    char name[40], size[40];
    size_t limit = check_free_bytes() - ((size_t)1 << 30);
    TRY(large_scalars(l, kind));
    TRY(check_dot(&log, l->scalars, l->logs, NULL, n));
    if (bits)
        TRY(l->group == 1 ? gpu_msm_g1_plan_with(&plan, n, bits, group)
                          : gpu_msm_g2_plan_with(&plan, n, bits, group));
    else
        TRY(l->group == 1 ? gpu_msm_g1_plan(&plan, n, limit) : gpu_msm_g2_plan(&plan, n, limit));
    TRY(check_alloc(&scratch, plan.scratch_bytes));
    for (int i = 0; i < repeat; i++) {
        check_timer_start();
        if (l->group == 1)
            TRY(gpu_msm_g1(&result, l->points, l->scalars, n, &plan, scratch, NULL));
        else
            TRY(gpu_msm_g2(&result, l->points, l->scalars, n, &plan, scratch, NULL));
        double ms = check_timer_stop();
        best = ms < best ? ms : best;
    }
    if (!result_is(l->group, &result, &log)) {
        printf("WRONG MSM G%d of %zu, scalars %s, window %u\n", l->group, n, scalar_kind_name(kind),
               plan.window_bits);
        failures++;
    }
    double additions = (double)n * plan.windows;
    snprintf(name, sizeof name, "MSM G%d, %s", l->group, scalar_kind_name(kind));
    snprintf(size, sizeof size, "2^%.0f c=%u g=%u", __builtin_log2((double)n), plan.window_bits, plan.group);
    row(name, size, best, additions, additions * addition_seconds(l->group) * 1e3);
    printf("    scratch %.1f GB\n", (double)plan.scratch_bytes / 1e9);
    if (phases) {
        check_phases_on();
        if (l->group == 1)
            TRY(gpu_msm_g1(&result, l->points, l->scalars, n, &plan, scratch, NULL));
        else
            TRY(gpu_msm_g2(&result, l->points, l->scalars, n, &plan, scratch, NULL));
        print_phases();
    }
    check_free(scratch);
    return status_ok();
}

static struct status msm_times(int group, int count, char **specs)
{
    struct large l;
    unsigned most = 0;
    for (int i = 0; i < count; i++)
        most = (unsigned)atoi(specs[i]) > most ? (unsigned)atoi(specs[i]) : most;
    TRY(large_open(&l, group, (size_t)1 << most));
    for (int i = 0; i < count; i++) {
        unsigned log_size = 0, bits = 0, windows = 0;
        (void)sscanf(specs[i], "%u:%u:%u", &log_size, &bits, &windows);
        struct status s =
            msm_once(&l, (size_t)1 << log_size, SCALARS_RANDOM, bits, windows ? windows : 3, 2, true);
        (void)failed(&s, specs[i]);
    }
    large_close(&l);
    return status_ok();
}

static struct status spread_times(int group, unsigned log_size)
{
    struct large l;
    TRY(large_open(&l, group, (size_t)1 << log_size));
    for (int kind = 0; kind < SCALARS_MIXED; kind++) {
        struct status s = msm_once(&l, l.n, (enum scalar_kind)kind, 0, 0, 2, false);
        (void)failed(&s, scalar_kind_name((enum scalar_kind)kind));
    }
    large_close(&l);
    return status_ok();
}

static struct status bits_times(int group, size_t n)
{
    struct large l;
    void *bits, *scratch;
    g2_xyzz result;
    fr_int log;
    double best = 1e9;
    char name[40], size[40];
    TRY(large_open(&l, group, n));
    TRY(check_alloc(&bits, (n / 64 + 1) * 8));
    TRY(check_random_words(bits, n / 64 + 1, 8));
    TRY(check_dot(&log, NULL, l.logs, bits, n));
    size_t bytes = group == 1 ? gpu_bitsum_g1_scratch_bytes(n) : gpu_bitsum_g2_scratch_bytes(n);
    TRY(check_alloc(&scratch, bytes));
    for (int i = 0; i < 4; i++) {
        if (i == 3)
            check_phases_on();
        check_timer_start();
        if (group == 1)
            TRY(gpu_bitsum_g1(&result, l.points, bits, NULL, n, scratch, bytes, NULL));
        else
            TRY(gpu_bitsum_g2(&result, l.points, bits, NULL, n, scratch, bytes, NULL));
        double ms = check_timer_stop();
        best = ms < best ? ms : best;
    }
    if (!result_is(group, &result, &log)) {
        printf("WRONG bit sum G%d of %zu\n", group, n);
        failures++;
    }
    snprintf(name, sizeof name, "bit sum G%d, half set", group);
    snprintf(size, sizeof size, "%.1f million", (double)n / 1e6);
    row(name, size, best, (double)n / 2, (double)n / 2 * addition_seconds(group) * 1e3);
    print_phases();
    check_free(bits);
    check_free(scratch);
    large_close(&l);
    return status_ok();
}

static struct status fixed_times(int group, unsigned log_size, uint32_t bits)
{
    size_t n = (size_t)1 << log_size, point = group == 1 ? 96 : 192;
    void *table, *scratch, *scalars, *out;
    char name[40], size[40];
    double best = 1e9;
    TRY(check_alloc(&table,
                    group == 1 ? gpu_fixed_base_g1_table_bytes(bits) : gpu_fixed_base_g2_table_bytes(bits)));
    TRY(check_alloc(&scratch, group == 1 ? gpu_fixed_base_g1_scratch_bytes(n, bits)
                                         : gpu_fixed_base_g2_scratch_bytes(n, bits)));
    TRY(check_alloc(&scalars, n * 32));
    TRY(check_alloc(&out, n * point));
    TRY(check_random_elements(scalars, n, 3));
    check_timer_start();
    TRY(group == 1 ? gpu_fixed_base_g1_table(table, &G1_GENERATOR, bits, scratch, NULL)
                   : gpu_fixed_base_g2_table(table, &G2_GENERATOR, bits, scratch, NULL));
    printf("    table %.2f ms\n", check_timer_stop());
    for (int i = 0; i < 3; i++) {
        check_timer_start();
        TRY(group == 1 ? gpu_fixed_base_g1(out, table, bits, scalars, n, scratch, NULL)
                       : gpu_fixed_base_g2(out, table, bits, scalars, n, scratch, NULL));
        double ms = check_timer_stop();
        best = ms < best ? ms : best;
    }
    double additions = (double)n * (255 / bits);
    snprintf(name, sizeof name, "fixed base G%d", group);
    snprintf(size, sizeof size, "2^%u w=%u", log_size, bits);
    row(name, size, best, additions, additions * addition_seconds(group) * 1e3);
    check_free(table);
    check_free(scratch);
    check_free(scalars);
    check_free(out);
    return status_ok();
}

/* prove CIRCUIT [COUNT [GIGABYTES]], prove-as-cpu, setup; beside CIRCUIT COUNT CRITICAL */
static void prove_part(int argc, char **argv)
{
    bool setup = strcmp(argv[1], "setup") == 0, beside = strcmp(argv[1], "beside") == 0;
    struct backend_check check = {.circuit = argc > 2 ? argv[2] : "porep-2k",
                                  .count = argc > 3 ? (unsigned)atoi(argv[3]) : 3,
                                  .cpu_sums = setup || strcmp(argv[1], "prove-as-cpu") == 0,
                                  .cpu_params = setup,
                                  .limit = !beside && argc > 4 ? (uint64_t)(atof(argv[4]) * 1e9) : 0};
    bool good = false;
    struct status s = beside ? backend_check_beside(&good, &check, argc > 4 ? argv[4] : "winning-32g")
                             : backend_check_run(&good, &check);
    if (!failed(&s, check.circuit) && !good)
        failures++;
}

static bool is_prove_part(const char *part)
{
    static const char *const parts[] = {"prove", "prove-as-cpu", "setup", "beside"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i]) == 0)
            return true;
    return false;
}

static void each(int argc, char **argv, struct status (*run)(unsigned))
{
    for (int i = 2; i < argc; i++) {
        struct status s = run((unsigned)atoi(argv[i]));
        (void)failed(&s, argv[i]);
    }
}

int main(int argc, char **argv)
{
    char text[240];
    const char *part = argc > 1 ? argv[1] : "device";
    struct status s = status_ok();
    if (!check_device(text, sizeof text)) {
        fprintf(stderr, "gpu_check: %s\nhint: run this on a machine with an NVIDIA card and its driver\n",
                text);
        return 3;
    }
    if (strcmp(part, "device") == 0) {
        printf("%s\n", text);
        return 0;
    }
    if (strcmp(part, "small") == 0) {
        compare_seed(argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
        small();
        return failures != 0;
    }
    if (strcmp(part, "sanitize") == 0) {
        sanitize();
        return failures != 0;
    }
    if (is_prove_part(part)) {
        prove_part(argc, argv);
        return failures != 0;
    }
    s = measure_rates(strcmp(part, "rates") == 0);
    if (failed(&s, "rates"))
        return 1;
    int group = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(part, "ntt") == 0)
        each(argc, argv, ntt_times);
    else if (strcmp(part, "h") == 0)
        each(argc, argv, h_times);
    else if (strcmp(part, "msm") == 0 && argc > 3)
        s = msm_times(group, argc - 3, argv + 3);
    else if (strcmp(part, "spread") == 0 && argc > 3)
        s = spread_times(group, (unsigned)atoi(argv[3]));
    else if (strcmp(part, "bits") == 0 && argc > 3)
        s = bits_times(group, (size_t)(atof(argv[3]) * 1e6));
    else if (strcmp(part, "fixed") == 0 && argc > 3)
        s = fixed_times(group, (unsigned)atoi(argv[3]), argc > 4 ? (uint32_t)atoi(argv[4]) : 16);
    else if (strcmp(part, "witness") == 0 && argc > 2) {
        bool good = true;
        s = witness_part(&good, argv[2], argc < 4, rates[RATE_FR_MUL], copy_rate);
        failures += good ? 0 : 1;
    } else if (strcmp(part, "rates") != 0) {
        fprintf(stderr, "gpu_check: unknown part \"%s\"\n", part);
        return 2;
    }
    (void)failed(&s, part);
    return failures != 0;
}
