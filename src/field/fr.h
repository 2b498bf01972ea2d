/* Fr, the scalar field of BLS12-381 (255 bits, r = 1 mod 2^32), in Montgomery form with radix 2^256.
 *
 * `fr` is a Montgomery residue, always fully reduced, so that equality is limb equality; `fr_int` is a
 * plain integer below r. They are different types on purpose. Bytes are 32, little-endian, canonical.
 * Constants: groth16 specification, section 1.1. */
#ifndef CUZK_FIELD_FR_H
#define CUZK_FIELD_FR_H

#include "field/limbs.h"
#ifdef CUZK_FLAVOUR_adx
#include "field/limbs_x86_64.h"
#endif

typedef struct {
    uint64_t l[4];
} fr; /* Montgomery form */

typedef struct {
    uint64_t l[4];
} fr_int; /* canonical integer < r */

#define FR_BITS        255
#define FR_TWO_ADICITY 32
#define FR_N0          UINT64_C(0xfffffffeffffffff)

#define FR_MODULUS_LIMBS                                                                                     \
    {                                                                                                        \
        UINT64_C(0xffffffff00000001), UINT64_C(0x53bda402fffe5bfe), UINT64_C(0x3339d80809a1d805),            \
            UINT64_C(0x73eda753299d7d48)                                                                     \
    }
static const fr_int FR_MODULUS = {FR_MODULUS_LIMBS}; /* r itself; the one fr_int that is not below r */

static const fr FR_ZERO = {{0, 0, 0, 0}};
static const fr FR_ONE = {{UINT64_C(0x00000001fffffffe), UINT64_C(0x5884b7fa00034802),
                           UINT64_C(0x998c4fefecbc4ff5), UINT64_C(0x1824b159acc5056f)}};
static const fr FR_R2 = {{UINT64_C(0xc999e990f3f29c6d), UINT64_C(0x2b6cedcb87925c23),
                          UINT64_C(0x05d314967254398f), UINT64_C(0x0748d9d99f59ff11)}}; /* 2^512 mod r */
static const fr FR_GENERATOR = {{UINT64_C(0x0000000efffffff1), UINT64_C(0x17e363d300189c0f),
                                 UINT64_C(0xff9c57876f8457b0), UINT64_C(0x351332208fc5a8c4)}}; /* 7 */
static const fr FR_ROOT = {{UINT64_C(0xb9b58d8c5f0e466a), UINT64_C(0x5b1b4c801819d7ec),
                            UINT64_C(0x0af53ae352a31e64), UINT64_C(0x5bf3adda19e9b27b)}}; /* order 2^32 */

void fr_mul_adx(fr *out, const fr *a, const fr *b); /* assembly; x86-64 with BMI2 and ADX only */
void fr_sqr_adx(fr *out, const fr *a);

static inline void fr_mul_portable(fr *out, const fr *a, const fr *b)
{
    limbs_mont_mul(out->l, a->l, b->l, FR_MODULUS.l, FR_N0, 4);
}

static inline void fr_mul(fr *out, const fr *a, const fr *b)
{
#ifdef CUZK_FLAVOUR_adx
    fr_mul_adx(out, a, b);
#else
    fr_mul_portable(out, a, b);
#endif
}

static inline void fr_sqr(fr *out, const fr *a)
{
#ifdef CUZK_FLAVOUR_adx
    fr_sqr_adx(out, a);
#else
    fr_mul_portable(out, a, a);
#endif
}

static inline void fr_add(fr *out, const fr *a, const fr *b)
{
#ifdef CUZK_FLAVOUR_adx
    fr_add_x86_64(out->l, a->l, b->l);
#else
    limbs_add_mod(out->l, a->l, b->l, FR_MODULUS.l, 4);
#endif
}

static inline void fr_sub(fr *out, const fr *a, const fr *b)
{
#ifdef CUZK_FLAVOUR_adx
    fr_sub_x86_64(out->l, a->l, b->l);
#else
    limbs_sub_mod(out->l, a->l, b->l, FR_MODULUS.l, 4);
#endif
}

static inline void fr_neg(fr *out, const fr *a)
{
    fr_sub(out, &FR_ZERO, a);
}

static inline void fr_dbl(fr *out, const fr *a)
{
    fr_add(out, a, a);
}

static inline bool fr_is_zero(const fr *a)
{
    return limbs_is_zero(a->l, 4);
}

static inline bool fr_equal(const fr *a, const fr *b)
{
    return limbs_equal(a->l, b->l, 4);
}

static inline void fr_from_int(fr *out, const fr_int *a) /* needs a < r */
{
    fr t = {{a->l[0], a->l[1], a->l[2], a->l[3]}};
    fr_mul(out, &t, &FR_R2);
}

static inline void fr_to_int(fr_int *out, const fr *a)
{
    static const fr one = {{1, 0, 0, 0}};
    fr t;
    fr_mul(&t, a, &one);
    for (int i = 0; i < 4; i++)
        out->l[i] = t.l[i];
}

static inline void fr_from_u64(fr *out, uint64_t a)
{
    fr_int i = {{a, 0, 0, 0}};
    fr_from_int(out, &i);
}

/* Reads 32 little-endian bytes; false, and *out zero, if they are not below r. */
bool fr_from_bytes(fr *out, const uint8_t bytes[32]);
bool fr_int_from_bytes(fr_int *out, const uint8_t bytes[32]);
void fr_to_bytes(uint8_t bytes[32], const fr *a);
void fr_int_to_bytes(uint8_t bytes[32], const fr_int *a);

/* Any little-endian byte string of at most 64 bytes, reduced modulo r. */
void fr_from_bytes_reduce(fr *out, const uint8_t *bytes, size_t length);

/* out = 1/a, or 0 for a = 0. Constant time (Fermat). */
void fr_inv(fr *out, const fr *a);
/* The same by binary GCD or a better method, time depends on a. */
void fr_inv_vartime(fr *out, const fr *a);
/* Inverts a[0..n) in place by one inversion and 3(n-1) multiplications; zeros stay zero.
 * scratch holds n elements. */
void fr_inv_batch_vartime(fr *a, fr *scratch, size_t n);
void fr_pow_vartime(fr *out, const fr *a, const uint64_t *exponent, size_t limbs);
void fr_pow_u64_vartime(fr *out, const fr *a, uint64_t exponent);

/* w with w^(2^log2_order) = 1, primitive: FR_ROOT squared (32 - log2_order) times. log2_order <= 32. */
void fr_root_of_unity(fr *out, unsigned log2_order);

#endif
