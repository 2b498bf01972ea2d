/* Bulk coding of uncompressed points, FLAVOURED: each coordinate takes one multiplication into Montgomery
 * form or out of it, the curve equation 3 (G1) or 7 (G2) more. */
#include "curve/encoding_impl.h"
#include "curve/group_inline.h"

static inline bool read_fp(fp *out, const uint8_t bytes[48])
{
    fp_int a;
    for (int i = 0; i < 6; i++) {
        uint64_t x = 0;
        for (int j = 0; j < 8; j++)
            x = x << 8 | bytes[8 * (5 - i) + j];
        a.l[i] = x;
    }
    if (!limbs_less(a.l, FP_MODULUS.l, 6))
        return false;
    fp_from_int(out, &a);
    return true;
}

static inline bool read_fp2(fp2 *out, const uint8_t bytes[96])
{
    return read_fp(&out->c1, bytes) && read_fp(&out->c0, bytes + 48);
}

static inline void write_fp(uint8_t bytes[48], const fp *a)
{
    fp_int t;
    fp_to_int(&t, a);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 8; j++)
            bytes[8 * (5 - i) + j] = (uint8_t)(t.l[i] >> (8 * (7 - j)));
}

static inline void write_fp2(uint8_t bytes[96], const fp2 *a)
{
    write_fp(bytes, &a->c1);
    write_fp(bytes + 48, &a->c0);
}

static inline void g1_right_side(fp *out, const fp *x)
{
    fp t;
    fp_sqr(&t, x);
    fp_mul(&t, &t, x);
    fp_add(out, &t, &G1_B);
}

static inline void g2_right_side(fp2 *out, const fp2 *x)
{
    fp2 t;
    fp2_sqr(&t, x);
    fp2_mul(&t, &t, x);
    fp2_add(out, &t, &G2_B);
}

static inline enum point_error g1_read(g1_affine *out, const uint8_t bytes[96])
{
    fp left, right;
    if (bytes[0] & 0xe0)
        return POINT_FLAGS;
    if (!read_fp(&out->x, bytes) || !read_fp(&out->y, bytes + 48))
        return POINT_COORDINATE;
    fp_sqr(&left, &out->y);
    g1_right_side(&right, &out->x);
    if (!fp_equal(&left, &right) || fp_is_zero(&out->x))
        return POINT_OFF_CURVE;
    return POINT_OK;
}

static inline enum point_error g2_read(g2_affine *out, const uint8_t bytes[192])
{
    fp2 left, right;
    if (bytes[0] & 0xe0)
        return POINT_FLAGS;
    if (!read_fp2(&out->x, bytes) || !read_fp2(&out->y, bytes + 96))
        return POINT_COORDINATE;
    fp2_sqr(&left, &out->y);
    g2_right_side(&right, &out->x);
    return fp2_equal(&left, &right) ? POINT_OK : POINT_OFF_CURVE;
}

size_t FLAVOUR(g1_from_uncompressed_many_impl)(g1_affine *out, const uint8_t *bytes, size_t n,
                                               enum point_error *error)
{
    *error = POINT_OK;
    for (size_t i = 0; i < n; i++)
        if ((*error = g1_read(&out[i], bytes + G1_UNCOMPRESSED_BYTES * i)) != POINT_OK)
            return i;
    return n;
}

size_t FLAVOUR(g2_from_uncompressed_many_impl)(g2_affine *out, const uint8_t *bytes, size_t n,
                                               enum point_error *error)
{
    *error = POINT_OK;
    for (size_t i = 0; i < n; i++)
        if ((*error = g2_read(&out[i], bytes + G2_UNCOMPRESSED_BYTES * i)) != POINT_OK)
            return i;
    return n;
}

void FLAVOUR(g1_to_uncompressed_many_impl)(uint8_t *bytes, const g1_affine *a, size_t n)
{
    for (size_t i = 0; i < n; i++, bytes += G1_UNCOMPRESSED_BYTES) {
        write_fp(bytes, &a[i].x);
        write_fp(bytes + 48, &a[i].y);
        bytes[0] = (uint8_t)(bytes[0] | (g1_affine_is_infinity_inline(&a[i]) ? 0x40 : 0));
    }
}

void FLAVOUR(g2_to_uncompressed_many_impl)(uint8_t *bytes, const g2_affine *a, size_t n)
{
    for (size_t i = 0; i < n; i++, bytes += G2_UNCOMPRESSED_BYTES) {
        write_fp2(bytes, &a[i].x);
        write_fp2(bytes + 96, &a[i].y);
        bytes[0] = (uint8_t)(bytes[0] | (g2_affine_is_infinity_inline(&a[i]) ? 0x40 : 0));
    }
}

bool FLAVOUR(g1_y_impl)(fp *y, const fp *x)
{
    fp right;
    g1_right_side(&right, x);
    return fp_sqrt_vartime(y, &right) && !fp_is_zero(x);
}

bool FLAVOUR(g2_y_impl)(fp2 *y, const fp2 *x)
{
    fp2 right;
    g2_right_side(&right, x);
    return fp2_sqrt_vartime(y, &right);
}
