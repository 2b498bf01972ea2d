/* Point arithmetic that multiplies, FLAVOURED: the shared template of both groups, and what differs between
 * them: curve constants, endomorphisms, scalar splitting, subgroup tests (groth16 specification 1.1, 1.3,
 * 8.3, 8.4). Scalar multiplication with an endomorphism holds for points of order r only, which is the
 * contract of g_mul and g_mul_vartime. */
#include "base/mem.h"
#include "curve/group_inline.h"
#include "curve/point_impl.h"

#define CURVE_PARAMETER UINT64_C(0xd201000000010000) /* |z|; z is negative */

/* The cube root of unity with (BETA x, y) = [z^2 - 1](x, y) on G1. */
static const fp BETA = {{UINT64_C(0xcd03c9e48671f071), UINT64_C(0x5dab22461fcda5d2),
                         UINT64_C(0x587042afd3851b95), UINT64_C(0x8eb60ebe01bacb9e),
                         UINT64_C(0x03f97d6e83d050d2), UINT64_C(0x18f0206554638741)}};
static const uint64_t LAMBDA[2] = {UINT64_C(0x00000000ffffffff), UINT64_C(0xac45a4010001a402)}; /* z^2 - 1 */

/* psi(x, y) = (conj(x) PSI_X u, conj(y) PSI_Y), [z] on G2. */
static const fp PSI_X = {{UINT64_C(0x890dc9e4867545c3), UINT64_C(0x2af322533285a5d5),
                          UINT64_C(0x50880866309b7e2c), UINT64_C(0xa20d1b8c7e881024),
                          UINT64_C(0x14e4f04fe2db9068), UINT64_C(0x14e56d3f1564853a)}};
static const fp2 PSI_Y = {
    {{UINT64_C(0x3e2f585da55c9ad1), UINT64_C(0x4294213d86c18183), UINT64_C(0x382844c88b623732),
      UINT64_C(0x92ad2afd19103e18), UINT64_C(0x1d794e4fac7cf0b9), UINT64_C(0x0bd592fc7d825ec8)}},
    {{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
      UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}}};

/* All ones if a == b, else 0; a and b below 2^63. The barrier keeps compilers from making it a branch. */
static inline uint64_t equal_mask(uint64_t a, uint64_t b)
{
    uint64_t mask = 0 - (((a ^ b) - 1) >> 63);
    __asm__("" : "+r"(mask));
    return mask;
}

static inline void fp_or_masked(fp *out, const fp *a, uint64_t mask)
{
    for (int i = 0; i < 6; i++)
        out->l[i] |= a->l[i] & mask;
}

static inline void fp2_or_masked(fp2 *out, const fp2 *a, uint64_t mask)
{
    fp_or_masked(&out->c0, &a->c0, mask);
    fp_or_masked(&out->c1, &a->c1, mask);
}

/* out = 3 * 4 * a and 3 * 4(1 + u) * a. */
static inline void fp_mul_12(fp *out, const fp *a)
{
    fp four;
    fp_dbl(&four, a);
    fp_dbl(&four, &four);
    fp_dbl(out, &four);
    fp_add(out, out, &four);
}

static inline void fp2_mul_12_nonresidue(fp2 *out, const fp2 *a)
{
    fp_mul_12(&out->c0, &a->c0);
    fp_mul_12(&out->c1, &a->c1);
    fp2_mul_nonresidue(out, out);
}

/* Long division by shift and masked subtraction: a (4 limbs) becomes the quotient, rem the remainder.
 * d has its top bit set and n <= 2 limbs. Constant time; about a microsecond. */
static void divide(uint64_t a[4], uint64_t *rem, const uint64_t *d, int n)
{
    for (int i = 0; i < n; i++)
        rem[i] = 0;
    for (int bit = 0; bit < 256; bit++) {
        uint64_t out = rem[n - 1] >> 63, t[2], borrow;
        for (int i = n - 1; i > 0; i--)
            rem[i] = rem[i] << 1 | rem[i - 1] >> 63;
        rem[0] = rem[0] << 1 | a[3] >> 63;
        borrow = limbs_sub(t, rem, d, n);
        out = out | (borrow ^ 1); /* subtract: the remainder had n limbs and a bit, or is at least d */
        for (int i = 3; i > 0; i--)
            a[i] = a[i] << 1 | a[i - 1] >> 63;
        a[0] = a[0] << 1 | out;
        uint64_t keep = out - 1;
        __asm__("" : "+r"(keep));
        for (int i = 0; i < n; i++)
            rem[i] = (rem[i] & keep) | (t[i] & ~keep);
    }
}

/* scalar = parts[0] + parts[1] LAMBDA. */
static void g1_split(uint64_t parts[2][2], const fr_int *scalar)
{
    uint64_t a[4] = {scalar->l[0], scalar->l[1], scalar->l[2], scalar->l[3]};
    divide(a, parts[0], LAMBDA, 2);
    parts[1][0] = a[0]; /* r / LAMBDA < 2^128 */
    parts[1][1] = a[1];
    mem_wipe(a, sizeof a);
}

/* scalar = sum of parts[i] |z|^i; r < |z|^4. */
static void g2_split(uint64_t parts[4][1], const fr_int *scalar)
{
    static const uint64_t z[1] = {CURVE_PARAMETER};
    uint64_t a[4] = {scalar->l[0], scalar->l[1], scalar->l[2], scalar->l[3]};
    for (int i = 0; i < 3; i++)
        divide(a, parts[i], z, 1);
    parts[3][0] = a[0];
    mem_wipe(a, sizeof a);
}

/* Digits of a in {0, +-1, +-3, ..., +-15}, any two nonzero ones at least five places apart; returns the
 * place of the highest, -1 for zero. digits has 64 limbs + 1 places. */
static int wnaf5(int8_t *digits, const uint64_t *a, int limbs)
{
    int top = -1;
    int carry = 0;
    int bits = 64 * limbs;
    for (int i = 0; i <= bits; i++)
        digits[i] = 0;
    for (int i = 0; i <= bits;) {
        int bit = i < bits ? (int)(a[i / 64] >> (i % 64) & 1) : 0;
        if (bit == carry) {
            i++;
            continue;
        }
        int digit = carry;
        for (int k = 0; k < 5 && i + k < bits; k++)
            digit += (int)(a[(i + k) / 64] >> ((i + k) % 64) & 1) << k;
        carry = digit > 16;
        digits[i] = (int8_t)(digit - 32 * carry);
        top = i;
        i += 5;
    }
    return top;
}

/* [LAMBDA]. Coordinates: any in which x is scaled apart from y. */
static inline void g1_mul_eigenvalue(fp *x, fp *y, fp *z, const fp *ax, const fp *ay, const fp *az)
{
    fp_mul(x, ax, &BETA);
    *y = *ay;
    *z = *az;
}

/* out = conj(a) PSI_X u: conj(a) u = c1 + c0 u. */
static inline void psi_x(fp2 *out, const fp2 *a)
{
    fp t;
    fp_mul(&t, &a->c1, &PSI_X);
    fp_mul(&out->c1, &a->c0, &PSI_X);
    out->c0 = t;
}

/* [|z|] = -psi, in homogeneous coordinates. */
static inline void g2_mul_eigenvalue(fp2 *x, fp2 *y, fp2 *z, const fp2 *ax, const fp2 *ay, const fp2 *az)
{
    fp2 t;
    psi_x(x, ax);
    fp2_conjugate(&t, ay);
    fp2_mul(&t, &t, &PSI_Y);
    fp2_neg(y, &t);
    fp2_conjugate(z, az);
}

#define GROUP       g1
#define FIELD       fp
#define CURVE_B     G1_B
#define CURVE_ONE   FP_ONE
#define SPLIT_PARTS 2
#define SPLIT_LIMBS 2
#define mul_b3      fp_mul_12
#include "curve/group_impl.h"
#undef GROUP
#undef FIELD
#undef CURVE_B
#undef CURVE_ONE
#undef SPLIT_PARTS
#undef SPLIT_LIMBS
#undef mul_b3

#define GROUP       g2
#define FIELD       fp2
#define CURVE_B     G2_B
#define CURVE_ONE   FP2_ONE
#define SPLIT_PARTS 4
#define SPLIT_LIMBS 1
#define mul_b3      fp2_mul_12_nonresidue
#include "curve/group_impl.h"

/* P is in G1 iff [z^2]P = -(BETA^2 x, y), here as [z^2]P = (BETA x, y) + P: the three points over y, with
 * x, BETA x and BETA^2 x, are on a line. 126 doublings, 10 additions. */
bool FLAVOUR(g1_in_subgroup_impl)(const g1_affine *a)
{
    static const uint64_t z = CURVE_PARAMETER;
    g1_xyzz p, q;
    g1_affine image;
    if (g1_affine_is_infinity_inline(a))
        return true;
    p = (g1_xyzz){a->x, a->y, FP_ONE, FP_ONE};
    FLAVOUR(g1_mul_limbs_vartime_impl)(&q, &p, &z, 1);
    FLAVOUR(g1_mul_limbs_vartime_impl)(&q, &q, &z, 1);
    fp_mul(&image.x, &a->x, &BETA);
    image.y = a->y;
    g1_xyzz_add_affine_inline(&p, &p, &image);
    return FLAVOUR(g1_equal_impl)(&p, &q);
}

/* Q is in G2 iff [|z|]Q = -psi(Q). 63 doublings, 5 additions. */
bool FLAVOUR(g2_in_subgroup_impl)(const g2_affine *a)
{
    static const uint64_t z = CURVE_PARAMETER;
    g2_xyzz p, q, image;
    if (g2_affine_is_infinity_inline(a))
        return true;
    p = (g2_xyzz){a->x, a->y, FP2_ONE, FP2_ONE};
    FLAVOUR(g2_mul_limbs_vartime_impl)(&q, &p, &z, 1);
    g2_mul_eigenvalue(&image.x, &image.y, &image.zz, &p.x, &p.y, &p.zz);
    image.zz = image.zzz = FP2_ONE;
    return FLAVOUR(g2_equal_impl)(&image, &q);
}
