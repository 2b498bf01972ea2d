/* Fp, the base field of BLS12-381 (381 bits, p = 3 mod 4), in Montgomery form with radix 2^384.
 *
 * `fp` is a fully reduced Montgomery residue; `fp_int` a plain integer below p. Bytes are 48,
 * big-endian, canonical, as in the point encodings. Constants: groth16 specification, 1.1. */
#ifndef CUZK_FIELD_FP_H
#define CUZK_FIELD_FP_H

#include "field/limbs.h"
#ifdef CUZK_FLAVOUR_adx
#include "field/limbs_x86_64.h"
#endif

typedef struct {
    uint64_t l[6];
} fp; /* Montgomery form */

typedef struct {
    uint64_t l[6];
} fp_int; /* canonical integer < p */

#define FP_BITS 381
#define FP_N0   UINT64_C(0x89f3fffcfffcfffd)

static const fp_int FP_MODULUS = {{UINT64_C(0xb9feffffffffaaab), UINT64_C(0x1eabfffeb153ffff),
                                   UINT64_C(0x6730d2a0f6b0f624), UINT64_C(0x64774b84f38512bf),
                                   UINT64_C(0x4b1ba7b6434bacd7), UINT64_C(0x1a0111ea397fe69a)}};

static const fp FP_ZERO = {{0, 0, 0, 0, 0, 0}};
static const fp FP_ONE = {{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002),
                           UINT64_C(0x5f48985753c758ba), UINT64_C(0x77ce585370525745),
                           UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}};
static const fp FP_R2 = {{UINT64_C(0xf4df1f341c341746), UINT64_C(0x0a76e6a609d104f1),
                          UINT64_C(0x8de5476c4c95b6d5), UINT64_C(0x67eb88a9939d83c0),
                          UINT64_C(0x9a793e85b519952d), UINT64_C(0x11988fe592cae3aa)}};

void fp_mul_adx(fp *out, const fp *a, const fp *b); /* assembly; x86-64 with BMI2 and ADX only */
void fp_sqr_adx(fp *out, const fp *a);

static inline void fp_mul_portable(fp *out, const fp *a, const fp *b)
{
    limbs_mont_mul(out->l, a->l, b->l, FP_MODULUS.l, FP_N0, 6);
}

static inline void fp_mul(fp *out, const fp *a, const fp *b)
{
#ifdef CUZK_FLAVOUR_adx
    fp_mul_adx(out, a, b);
#else
    fp_mul_portable(out, a, b);
#endif
}

static inline void fp_sqr(fp *out, const fp *a)
{
#ifdef CUZK_FLAVOUR_adx
    fp_sqr_adx(out, a);
#else
    fp_mul_portable(out, a, a);
#endif
}

static inline void fp_add(fp *out, const fp *a, const fp *b)
{
#ifdef CUZK_FLAVOUR_adx
    fp_add_x86_64(out->l, a->l, b->l);
#else
    limbs_add_mod(out->l, a->l, b->l, FP_MODULUS.l, 6);
#endif
}

static inline void fp_sub(fp *out, const fp *a, const fp *b)
{
#ifdef CUZK_FLAVOUR_adx
    fp_sub_x86_64(out->l, a->l, b->l);
#else
    limbs_sub_mod(out->l, a->l, b->l, FP_MODULUS.l, 6);
#endif
}

static inline void fp_neg(fp *out, const fp *a)
{
    fp_sub(out, &FP_ZERO, a);
}

static inline void fp_dbl(fp *out, const fp *a)
{
    fp_add(out, a, a);
}

static inline bool fp_is_zero(const fp *a)
{
    return limbs_is_zero(a->l, 6);
}

static inline bool fp_equal(const fp *a, const fp *b)
{
    return limbs_equal(a->l, b->l, 6);
}

static inline void fp_from_int(fp *out, const fp_int *a) /* needs a < p */
{
    fp t = {{a->l[0], a->l[1], a->l[2], a->l[3], a->l[4], a->l[5]}};
    fp_mul(out, &t, &FP_R2);
}

static inline void fp_to_int(fp_int *out, const fp *a)
{
    static const fp one = {{1, 0, 0, 0, 0, 0}};
    fp t;
    fp_mul(&t, a, &one);
    for (int i = 0; i < 6; i++)
        out->l[i] = t.l[i];
}

/* Reads 48 big-endian bytes; false, and *out zero, if they are not below p. */
bool fp_from_bytes(fp *out, const uint8_t bytes[48]);
bool fp_int_from_bytes(fp_int *out, const uint8_t bytes[48]);
void fp_to_bytes(uint8_t bytes[48], const fp *a);

/* a > (p-1)/2 as an integer: the sign of the point encodings. */
bool fp_is_large(const fp *a);

/* out = 1/a, or 0 for a = 0. Constant time (Fermat). */
void fp_inv(fp *out, const fp *a);
/* The same by binary GCD or a better method, time depends on a. */
void fp_inv_vartime(fp *out, const fp *a);
/* A square root of a (a^((p+1)/4)); false if a is not a square. */
bool fp_sqrt_vartime(fp *out, const fp *a);
void fp_pow_vartime(fp *out, const fp *a, const uint64_t *exponent, size_t limbs);

#endif
