/* Points of G1 (over Fp) and G2 (over Fp2): y^2 = x^3 + 4 and y^2 = x^3 + 4(1+u).
 *
 * Affine points are what files and parameter images hold; infinity is all-zero x and y, which is on
 * neither curve. XYZZ (X/ZZ, Y/ZZZ, ZZ^3 = ZZZ^2; Sutherland 2009) is the accumulator form: a mixed
 * addition costs 8M + 2S, a doubling of an affine point 4M + 3S; infinity is ZZ = 0. Every addition is
 * exact for infinity, equal and opposite operands. The two groups are different types. */
#ifndef CUZK_CURVE_POINT_H
#define CUZK_CURVE_POINT_H

#include "field/fp2.h"
#include "field/fr.h"

typedef struct {
    fp x, y;
} g1_affine;

typedef struct {
    fp x, y, zz, zzz;
} g1_xyzz;

typedef struct {
    fp2 x, y;
} g2_affine;

typedef struct {
    fp2 x, y, zz, zzz;
} g2_xyzz;

extern const g1_affine G1_GENERATOR;
extern const g2_affine G2_GENERATOR;

#define CURVE_GROUP_FUNCTIONS(g)                                                                             \
    bool g##_affine_is_infinity(const g##_affine *a);                                                        \
    bool g##_affine_equal(const g##_affine *a, const g##_affine *b);                                         \
    bool g##_affine_on_curve(const g##_affine *a); /* infinity counts as on the curve */                     \
    void g##_affine_neg(g##_affine *out, const g##_affine *a);                                               \
    void g##_infinity(g##_xyzz *out);                                                                        \
    bool g##_is_infinity(const g##_xyzz *a);                                                                 \
    bool g##_equal(const g##_xyzz *a, const g##_xyzz *b); /* as points */                                    \
    void g##_from_affine(g##_xyzz *out, const g##_affine *a);                                                \
    void g##_to_affine(g##_affine *out, const g##_xyzz *a);                                                  \
    void g##_neg(g##_xyzz *out, const g##_xyzz *a);                                                          \
    void g##_dbl(g##_xyzz *out, const g##_xyzz *a);                                                          \
    void g##_add(g##_xyzz *out, const g##_xyzz *a, const g##_xyzz *b);                                       \
    void g##_add_affine(g##_xyzz *out, const g##_xyzz *a, const g##_affine *b);                              \
    /* scalar * a for a of order r, or infinity (an endomorphism is used); constant time in the scalar       \
     * (fixed window, uniform steps). For r and s. */                                                        \
    void g##_mul(g##_xyzz *out, const g##_xyzz *a, const fr_int *scalar);                                    \
    void g##_mul_vartime(g##_xyzz *out, const g##_xyzz *a, const fr_int *scalar);                            \
    /* scalar given as `limbs` 64-bit limbs, any size, a of any order: for cofactors and sparse numbers. */  \
    void g##_mul_limbs_vartime(g##_xyzz *out, const g##_xyzz *a, const uint64_t *scalar, size_t limbs);      \
    /* r-order subgroup by the endomorphism test (groth16 specification 1.3). */                             \
    bool g##_in_subgroup(const g##_affine *a);                                                               \
    /* One inversion for all; scratch holds n field elements of the group (fp or fp2). */                    \
    void g##_to_affine_batch_vartime(g##_affine *out, const g##_xyzz *in, void *scratch, size_t n);

CURVE_GROUP_FUNCTIONS(g1)
CURVE_GROUP_FUNCTIONS(g2)

#endif
