/* Fp12 multiplication and its kin, in both flavours. */
#include "field/fp12.h"

#include "base/status.h"

/* FROBENIUS[k-1][j-1] = (1+u)^(j (p^k - 1)/6): w^j becomes that times w^j under the p^k-power. */
static const fp2 FROBENIUS[3][5] = {
    {
        {{{UINT64_C(0x07089552b319d465), UINT64_C(0xc6695f92b50a8313), UINT64_C(0x97e83cccd117228f),
           UINT64_C(0xa35baecab2dc29ee), UINT64_C(0x1ce393ea5daace4d), UINT64_C(0x08f2220fb0fb66eb)}},
         {{UINT64_C(0xb2f66aad4ce5d646), UINT64_C(0x5842a06bfc497cec), UINT64_C(0xcf4895d42599d394),
           UINT64_C(0xc11b9cba40a8e8d0), UINT64_C(0x2e3813cbe5a0de89), UINT64_C(0x110eefda88847faf)}}},
        {{{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
         {{UINT64_C(0xcd03c9e48671f071), UINT64_C(0x5dab22461fcda5d2), UINT64_C(0x587042afd3851b95),
           UINT64_C(0x8eb60ebe01bacb9e), UINT64_C(0x03f97d6e83d050d2), UINT64_C(0x18f0206554638741)}}},
        {{{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
           UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}},
         {{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
           UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}}},
        {{{UINT64_C(0x890dc9e4867545c3), UINT64_C(0x2af322533285a5d5), UINT64_C(0x50880866309b7e2c),
           UINT64_C(0xa20d1b8c7e881024), UINT64_C(0x14e4f04fe2db9068), UINT64_C(0x14e56d3f1564853a)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0x82d83cf50dbce43f), UINT64_C(0xa2813e53df9d018f), UINT64_C(0xc6f0caa53c65e181),
           UINT64_C(0x7525cf528d50fe95), UINT64_C(0x4a85ed50f4798a6b), UINT64_C(0x171da0fd6cf8eebd)}},
         {{UINT64_C(0x3726c30af242c66c), UINT64_C(0x7c2ac1aad1b6fe70), UINT64_C(0xa04007fbba4b14a2),
           UINT64_C(0xef517c3266341429), UINT64_C(0x0095ba654ed2226b), UINT64_C(0x02e370eccc86f7dd)}}},
    },
    {
        {{{UINT64_C(0xecfb361b798dba3a), UINT64_C(0xc100ddb891865a2c), UINT64_C(0x0ec08ff1232bda8e),
           UINT64_C(0xd5c13cc6f1ca4721), UINT64_C(0x47222a47bf7b5c04), UINT64_C(0x0110f184e51c5f59)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0x30f1361b798a64e8), UINT64_C(0xf3b8ddab7ece5a2a), UINT64_C(0x16a8ca3ac61577f7),
           UINT64_C(0xc26a2ff874fd029b), UINT64_C(0x3636b76660701c6e), UINT64_C(0x051ba4ab241b6160)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0x43f5fffffffcaaae), UINT64_C(0x32b7fff2ed47fffd), UINT64_C(0x07e83a49a2e99d69),
           UINT64_C(0xeca8f3318332bb7a), UINT64_C(0xef148d1ea0f4c069), UINT64_C(0x040ab3263eff0206)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0xcd03c9e48671f071), UINT64_C(0x5dab22461fcda5d2), UINT64_C(0x587042afd3851b95),
           UINT64_C(0x8eb60ebe01bacb9e), UINT64_C(0x03f97d6e83d050d2), UINT64_C(0x18f0206554638741)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0x890dc9e4867545c3), UINT64_C(0x2af322533285a5d5), UINT64_C(0x50880866309b7e2c),
           UINT64_C(0xa20d1b8c7e881024), UINT64_C(0x14e4f04fe2db9068), UINT64_C(0x14e56d3f1564853a)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
    },
    {
        {{{UINT64_C(0x3e2f585da55c9ad1), UINT64_C(0x4294213d86c18183), UINT64_C(0x382844c88b623732),
           UINT64_C(0x92ad2afd19103e18), UINT64_C(0x1d794e4fac7cf0b9), UINT64_C(0x0bd592fc7d825ec8)}},
         {{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
           UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}}},
        {{{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
         {{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
           UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}}},
        {{{UINT64_C(0x3e2f585da55c9ad1), UINT64_C(0x4294213d86c18183), UINT64_C(0x382844c88b623732),
           UINT64_C(0x92ad2afd19103e18), UINT64_C(0x1d794e4fac7cf0b9), UINT64_C(0x0bd592fc7d825ec8)}},
         {{UINT64_C(0x3e2f585da55c9ad1), UINT64_C(0x4294213d86c18183), UINT64_C(0x382844c88b623732),
           UINT64_C(0x92ad2afd19103e18), UINT64_C(0x1d794e4fac7cf0b9), UINT64_C(0x0bd592fc7d825ec8)}}},
        {{{UINT64_C(0x43f5fffffffcaaae), UINT64_C(0x32b7fff2ed47fffd), UINT64_C(0x07e83a49a2e99d69),
           UINT64_C(0xeca8f3318332bb7a), UINT64_C(0xef148d1ea0f4c069), UINT64_C(0x040ab3263eff0206)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
           UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}},
         {{UINT64_C(0x3e2f585da55c9ad1), UINT64_C(0x4294213d86c18183), UINT64_C(0x382844c88b623732),
           UINT64_C(0x92ad2afd19103e18), UINT64_C(0x1d794e4fac7cf0b9), UINT64_C(0x0bd592fc7d825ec8)}}},
    },
};

/* Karatsuba: 3 multiplications in Fp6. */
void FLAVOUR(fp12_mul_bulk)(fp12 *out, const fp12 *a, const fp12 *b)
{
    fp6 v0, v1, s, t;
    fp6_mul(&v0, &a->c0, &b->c0);
    fp6_mul(&v1, &a->c1, &b->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_add(&t, &b->c0, &b->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &v0);
    fp6_sub(&out->c1, &s, &v1);
    fp6_mul_v(&v1, &v1);
    fp6_add(&out->c0, &v0, &v1);
}

/* c0^2 + v c1^2 = (c0 + c1)(c0 + v c1) - c0 c1 - v c0 c1: 2 multiplications in Fp6. */
void FLAVOUR(fp12_sqr_bulk)(fp12 *out, const fp12 *a)
{
    fp6 m, s, t;
    fp6_mul(&m, &a->c0, &a->c1);
    fp6_mul_v(&t, &a->c1);
    fp6_add(&t, &t, &a->c0);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &m);
    fp6_mul_v(&t, &m);
    fp6_sub(&out->c0, &s, &t);
    fp6_dbl(&out->c1, &m);
}

/* (c0 - c1 w) / (c0^2 - v c1^2). */
void FLAVOUR(fp12_inv_bulk)(fp12 *out, const fp12 *a, bool vartime)
{
    fp6 s, t;
    fp6_sqr(&s, &a->c0);
    fp6_sqr(&t, &a->c1);
    fp6_mul_v(&t, &t);
    fp6_sub(&s, &s, &t);
    if (vartime)
        fp6_inv_vartime(&s, &s);
    else
        fp6_inv(&s, &s);
    fp6_mul(&out->c0, &a->c0, &s);
    fp6_neg(&s, &s);
    fp6_mul(&out->c1, &a->c1, &s);
}

void FLAVOUR(fp12_mul_by_014_bulk)(fp12 *out, const fp12 *a, const fp2 *l0, const fp2 *l1, const fp2 *l4)
{
    fp6 v0, v1, s;
    fp2 l14;
    fp6_mul_by_01(&v0, &a->c0, l0, l1);
    fp6_mul_by_1(&v1, &a->c1, l4);
    fp2_add(&l14, l1, l4);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul_by_01(&s, &s, l0, &l14);
    fp6_sub(&s, &s, &v0);
    fp6_sub(&out->c1, &s, &v1);
    fp6_mul_v(&v1, &v1);
    fp6_add(&out->c0, &v0, &v1);
}

/* (a + b s)^2 with s^2 = 1+u: re = a^2 + (1+u) b^2, im = 2ab; 3 squarings. */
static void fp4_sqr(fp2 *re, fp2 *im, const fp2 *a, const fp2 *b)
{
    fp2 a2, b2, t;
    fp2_sqr(&a2, a);
    fp2_sqr(&b2, b);
    fp2_add(&t, a, b);
    fp2_sqr(&t, &t);
    fp2_sub(&t, &t, &a2);
    fp2_sub(im, &t, &b2);
    fp2_mul_nonresidue(&t, &b2);
    fp2_add(re, &a2, &t);
}

/* out = 3t - 2z and 3t + 2z. */
static void three_t_minus_two_z(fp2 *out, const fp2 *t, const fp2 *z)
{
    fp2 d;
    fp2_sub(&d, t, z);
    fp2_dbl(&d, &d);
    fp2_add(out, &d, t);
}

static void three_t_plus_two_z(fp2 *out, const fp2 *t, const fp2 *z)
{
    fp2 s;
    fp2_add(&s, t, z);
    fp2_dbl(&s, &s);
    fp2_add(out, &s, t);
}

/* Granger, Scott: "Faster squaring in the cyclotomic subgroup of sixth degree extensions", 2009, over
 * Fp4 = Fp2[s], s = w^3: the pairs of coefficients of (w^0, w^3), (w^1, w^4), (w^2, w^5). */
void FLAVOUR(fp12_cyclotomic_sqr_bulk)(fp12 *out, const fp12 *a)
{
    fp2 a_re, a_im, b_re, b_im, c_re, c_im;
    fp4_sqr(&a_re, &a_im, &a->c0.c0, &a->c1.c1);
    fp4_sqr(&b_re, &b_im, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&c_re, &c_im, &a->c0.c1, &a->c1.c2);
    fp2_mul_nonresidue(&c_im, &c_im);
    three_t_minus_two_z(&out->c0.c0, &a_re, &a->c0.c0);
    three_t_plus_two_z(&out->c1.c1, &a_im, &a->c1.c1);
    three_t_minus_two_z(&out->c0.c1, &b_re, &a->c0.c1);
    three_t_plus_two_z(&out->c1.c2, &b_im, &a->c1.c2);
    three_t_plus_two_z(&out->c1.c0, &c_im, &a->c1.c0);
    three_t_minus_two_z(&out->c0.c2, &c_re, &a->c0.c2);
}

void FLAVOUR(fp12_frobenius_bulk)(fp12 *out, const fp12 *a, unsigned power)
{
    CHECK(power >= 1 && power <= 3);
    const fp2 *const in[6] = {&a->c0.c0, &a->c1.c0, &a->c0.c1, &a->c1.c1, &a->c0.c2, &a->c1.c2};
    fp2 *const to[6] = {&out->c0.c0, &out->c1.c0, &out->c0.c1, &out->c1.c1, &out->c0.c2, &out->c1.c2};
    for (int j = 0; j < 6; j++) {
        fp2 t = *in[j];
        if (power & 1)
            fp2_conjugate(&t, &t);
        if (j > 0)
            fp2_mul(&t, &t, &FROBENIUS[power - 1][j - 1]);
        *to[j] = t;
    }
}

void FLAVOUR(fp12_pow_bulk)(fp12 *out, const fp12 *a, const uint64_t *exponent, size_t limbs)
{
    fp12 base = *a, acc;
    fp12_one(&acc);
    for (size_t i = 64 * limbs; i-- > 0;) {
        fp12_sqr(&acc, &acc);
        if (exponent[i / 64] >> (i % 64) & 1)
            fp12_mul(&acc, &acc, &base);
    }
    *out = acc;
}
