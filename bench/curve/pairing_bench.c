/* Times of pairings, multiples, subgroup tests and decoding, each beside its floor: the number of Fp
 * multiplications of the formulas used (squarings count as multiplications) times the time of one, measured
 * in the same run. The rest is additions, calls and memory. Usage: pairing_bench */
#include "curve/encoding.h"
#include "curve/pairing.h"
#include "field/flavour.h"

#include "../field/mul_time.h"
#include <stdio.h>
#include <string.h>

enum { POINTS = 256 };

/* Fp multiplications in an Fp2 multiplication and squaring. */
#define M2 3
#define S2 2

/* |z| has 64 bits, 6 of them set: runs of 1, 2, 3, 9, 32 and 16 doublings. XYZZ: doubling 6M + 3S, addition
 * 12M + 2S; from 5 doublings on Jacobian, 3M + 4S each and 3M + 3S a run. */
#define BY_Z(m, s)                                                                                           \
    (6 * (6 * (m) + 3 * (s)) + 57 * (3 * (m) + 4 * (s)) + 3 * 3 * ((m) + (s)) + 5 * (12 * (m) + 2 * (s)))
/* Complete projective formulas: doubling 6M + 2S, addition 12M. */
#define DBL(m, s) (6 * (m) + 2 * (s))
#define ADD(m)    (12 * (m))
#define ROOT      (380 + 76 + 3) /* an exponentiation by 379 bits in windows of 5, and its check */

#define MILLER(terms) (62 * 12 * M2 + 68 * (terms) * (13 * M2 + 4))
#define PREPARE       (63 * (4 * M2 + 6 * S2) + 5 * (11 * M2 + 2 * S2))
#define FINAL         (5 * (63 * 9 * S2 + 5 * 18 * M2) + 10 * 18 * M2 + 100)

static g1_affine g1_points[POINTS];
static g2_affine g2_points[POINTS];
static uint8_t g1_bytes[POINTS * G1_UNCOMPRESSED_BYTES], g2_bytes[POINTS * G2_UNCOMPRESSED_BYTES];
static struct g2_prepared prepared[3];
static struct pairing_term terms[3];
static g1_xyzz g1_sum;
static g2_xyzz g2_sum;
static fp12 value;
static fr_int scalar = {{UINT64_C(0x6f8a2d1c94b7e053), UINT64_C(0x1d9c5b7ae2f08463),
                         UINT64_C(0x8e31f6c05a2b9d74), UINT64_C(0x5a7c3e19d0f4b286)}};
static uint64_t failures; /* keeps results alive and counts what must not happen */

static void run_pairing(void)
{
    pairing(&value, &g1_points[1], &g2_points[1]);
}

static void run_prepare(void)
{
    g2_prepare(&prepared[0], &g2_points[0]);
}

static void run_miller1(void)
{
    pairing_miller_product(&value, terms, 1);
}

static void run_miller3(void)
{
    pairing_miller_product(&value, terms, 3);
}

static void run_final(void)
{
    pairing_final_exponentiation(&value, &value);
}

static void run_product3(void)
{
    failures += pairing_product_is_one(terms, 3);
}

static void run_g1_mul(void)
{
    g1_mul(&g1_sum, &g1_sum, &scalar);
}

static void run_g2_mul(void)
{
    g2_mul(&g2_sum, &g2_sum, &scalar);
}

static void run_g1_mul_vartime(void)
{
    g1_mul_vartime(&g1_sum, &g1_sum, &scalar);
}

static void run_g2_mul_vartime(void)
{
    g2_mul_vartime(&g2_sum, &g2_sum, &scalar);
}

static void run_g1_subgroup(void)
{
    failures += !g1_in_subgroup(&g1_points[2]);
}

static void run_g2_subgroup(void)
{
    failures += !g2_in_subgroup(&g2_points[2]);
}

static void run_g1_decode(void)
{
    enum point_error error;
    failures += g1_from_uncompressed_many(g1_points, g1_bytes, POINTS, &error) != POINTS;
}

static void run_g2_decode(void)
{
    enum point_error error;
    failures += g2_from_uncompressed_many(g2_points, g2_bytes, POINTS, &error) != POINTS;
}

static void run_g1_encode(void)
{
    g1_to_uncompressed_many(g1_bytes, g1_points, POINTS);
}

static void run_g2_encode(void)
{
    g2_to_uncompressed_many(g2_bytes, g2_points, POINTS);
}

static void run_g1_compressed(void)
{
    uint8_t bytes[G1_COMPRESSED_BYTES];
    g1_affine a;
    g1_to_compressed(bytes, &g1_points[3]);
    failures += g1_from_compressed(&a, bytes, false) != POINT_OK;
}

static void run_g2_compressed(void)
{
    uint8_t bytes[G2_COMPRESSED_BYTES];
    g2_affine a;
    g2_to_compressed(bytes, &g2_points[3]);
    failures += g2_from_compressed(&a, bytes, false) != POINT_OK;
}

static const struct {
    const char *name;
    void (*run)(void);
    int units; /* what one run does of what the name says */
    double multiplications;
} ROWS[] = {
    {"pairing", run_pairing, 1, PREPARE + MILLER(1) + FINAL},
    {"G2 prepare", run_prepare, 1, PREPARE},
    {"Miller loop, 1 term", run_miller1, 1, MILLER(1)},
    {"Miller loop, 3 terms", run_miller3, 1, MILLER(3)},
    {"final exponentiation", run_final, 1, FINAL},
    {"product of 3, prepared", run_product3, 1, MILLER(3) + FINAL},
    {"G1 mul, constant time", run_g1_mul, 1, 128 * DBL(1, 1) + (14 + 64) * ADD(1) + 16},
    {"G1 mul_vartime", run_g1_mul_vartime, 1, 128 * DBL(1, 1) + (7 + 43) * ADD(1) + 8},
    {"G2 mul, constant time", run_g2_mul, 1, 64 * DBL(M2, S2) + (14 + 64) * ADD(M2) + 48 * (M2 + 2)},
    {"G2 mul_vartime", run_g2_mul_vartime, 1, 64 * DBL(M2, S2) + (7 + 43) * ADD(M2) + 24 * (M2 + 2)},
    {"G1 subgroup test", run_g1_subgroup, 1, 2 * BY_Z(1, 1)},
    {"G2 subgroup test", run_g2_subgroup, 1, BY_Z(M2, S2)},
    {"G1 decode", run_g1_decode, POINTS, 5},
    {"G2 decode", run_g2_decode, POINTS, 11},
    {"G1 encode", run_g1_encode, POINTS, 2},
    {"G2 encode", run_g2_encode, POINTS, 4},
    {"G1 compress, decompress", run_g1_compressed, 1, ROOT},
    {"G2 compress, decompress", run_g2_compressed, 1, 2 * ROOT},
};

static void make_points(void)
{
    g1_xyzz p;
    g2_xyzz q;
    g1_from_affine(&p, &G1_GENERATOR);
    g2_from_affine(&q, &G2_GENERATOR);
    g1_mul(&p, &p, &scalar);
    g2_mul(&q, &q, &scalar);
    for (int i = 0; i < POINTS; i++) {
        g1_to_affine(&g1_points[i], &p);
        g2_to_affine(&g2_points[i], &q);
        g1_add_affine(&p, &p, &G1_GENERATOR);
        g2_add_affine(&q, &q, &G2_GENERATOR);
    }
    g1_sum = p;
    g2_sum = q;
    g1_to_uncompressed_many(g1_bytes, g1_points, POINTS);
    g2_to_uncompressed_many(g2_bytes, g2_points, POINTS);
    for (int i = 0; i < 3; i++) {
        g2_prepare(&prepared[i], &g2_points[i]);
        terms[i] = (struct pairing_term){&g1_points[i], &prepared[i]};
    }
    fp12_one(&value);
}

/* Best of many slices, about a quarter of a second in all. */
static double time_ns(void (*run)(void))
{
    double best = 1e30, begin = bench_now_ns();
    for (int slice = 0; slice < 5 || bench_now_ns() - begin < 2.5e8; slice++) {
        double start = bench_now_ns();
        run();
        double taken = bench_now_ns() - start;
        best = taken < best ? taken : best;
    }
    return best;
}

int main(void)
{
    double unit = mul_time_fp_ns();
    make_points();
    printf("flavour %s, Fp multiplication %.1f ns\n", flavour_name(flavour_in_force()), unit);
    printf("%-24s %12s %12s %8s\n", "", "ns", "floor ns", "ratio");
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double ns = time_ns(ROWS[i].run) / ROWS[i].units, floor = ROWS[i].multiplications * unit;
        printf("%-24s %12.0f %12.0f %8.2f\n", ROWS[i].name, ns, floor, ns / floor);
    }
    if (failures)
        printf("%llu results were wrong\n", (unsigned long long)failures);
    return failures != 0;
}
