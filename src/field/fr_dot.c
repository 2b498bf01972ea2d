/* Lazily reduced sums of products in Fr. Product rows of all pairs for one limb of the b side go into one
 * accumulator of six limbs, then one reduction row brings it down by a limb; after four rounds the sum S has
 * become (S + qr)/2^256 < n r^2/2^256 + r < 30 r for n <= 64, as r < 0.453 * 2^256. */
#include "field/fr_dot.h"

#include "base/status.h"

#ifndef CUZK_FLAVOUR_adx
static void fr_dot_rows(uint64_t out[5], const fr *a, const fr *b, size_t n)
{
    uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5, carry;
    for (int i = 0; i < 4; i++) {
        t5 = 0;
        for (size_t k = 0; k < n; k++) {
            uint64_t x = b[k].l[i];
            carry = 0;
            t0 = limb_mac(t0, a[k].l[0], x, &carry);
            t1 = limb_mac(t1, a[k].l[1], x, &carry);
            t2 = limb_mac(t2, a[k].l[2], x, &carry);
            t3 = limb_mac(t3, a[k].l[3], x, &carry);
            t4 += carry;
            t5 += t4 < carry;
        }
        uint64_t q = t0 * FR_N0;
        carry = 0;
        (void)limb_mac(t0, q, FR_MODULUS.l[0], &carry);
        t0 = limb_mac(t1, q, FR_MODULUS.l[1], &carry);
        t1 = limb_mac(t2, q, FR_MODULUS.l[2], &carry);
        t2 = limb_mac(t3, q, FR_MODULUS.l[3], &carry);
        t3 = t4 + carry;
        t4 = t5 + (t3 < carry);
    }
    out[0] = t0, out[1] = t1, out[2] = t2, out[3] = t3, out[4] = t4;
}
#endif

/* Quotient by the top 20 bits: with h = floor(t / 2^240) and r just above 29677 * 2^240, floor(h / 29678) is
 * at most the quotient and leaves less than 1.01 r. */
static void reduce_below_30r(fr *out, const uint64_t t[5])
{
    uint64_t q = (t[3] >> 48 | t[4] << 16) / 29678;
    uint64_t product[4], rest[4], carry = 0;
    for (int i = 0; i < 4; i++)
        product[i] = limb_mac(0, q, FR_MODULUS.l[i], &carry);
    limbs_sub(rest, t, product, 4); /* the fifth limb cancels: the rest is below 2^256 */
    limbs_reduce_once(out->l, rest, FR_MODULUS.l, 4);
}

void FLAVOUR(fr_dot_bulk)(fr *out, const fr *a, const fr *b, size_t n)
{
    uint64_t t[5];
    CHECK(n <= FR_DOT_MAX);
#ifdef CUZK_FLAVOUR_adx
    fr_dot_rows_adx(t, a, b, n);
#else
    fr_dot_rows(t, a, b, n);
#endif
    reduce_below_30r(out, t);
}
