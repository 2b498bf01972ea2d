/* Point encodings: flags and infinity here, the arithmetic in curve/encoding_impl.c.
 *
 * One strict reading: whatever decodes also encodes to the same bytes. Stricter than the reference in one
 * place: an uncompressed slot with the compressed flag is refused, where the reference reads a compressed
 * point and ignores the rest. */
#include "curve/encoding_impl.h"

#include <string.h>

#define FLAG_COMPRESSED 0x80
#define FLAG_INFINITY   0x40
#define FLAG_LARGE_Y    0x20
#define FLAGS           0xe0

const char *point_error_text(enum point_error error)
{
    static const char *const text[] = {
        [POINT_OK] = "good point",
        [POINT_FLAGS] = "wrong flag bits",
        [POINT_COORDINATE] = "coordinate not below the field modulus",
        [POINT_OFF_CURVE] = "not on the curve",
        [POINT_SUBGROUP] = "not in the subgroup of order r",
    };
    return (size_t)error < sizeof text / sizeof *text ? text[error] : "unknown point error";
}

/* Infinity is its flags and nothing else. */
static enum point_error read_infinity(const uint8_t *bytes, size_t size, uint8_t flags)
{
    uint8_t rest = bytes[0] ^ flags;
    for (size_t i = 1; i < size; i++)
        rest |= bytes[i];
    return rest ? POINT_FLAGS : POINT_OK;
}

#define DEFINE_ENCODING(g, f, SIZE)                                                                          \
    enum point_error g##_from_uncompressed(g##_affine *out, const uint8_t bytes[2 * SIZE], bool subgroup)    \
    {                                                                                                        \
        enum point_error error;                                                                              \
        if (bytes[0] & FLAG_INFINITY) {                                                                      \
            *out = (g##_affine){0};                                                                          \
            return read_infinity(bytes, 2 * (SIZE), FLAG_INFINITY);                                          \
        }                                                                                                    \
        FLAVOUR_CALL(g##_from_uncompressed_many_impl, out, bytes, 1, &error);                                \
        if (error == POINT_OK && subgroup && !g##_in_subgroup(out))                                          \
            error = POINT_SUBGROUP;                                                                          \
        if (error != POINT_OK)                                                                               \
            *out = (g##_affine){0};                                                                          \
        return error;                                                                                        \
    }                                                                                                        \
                                                                                                             \
    enum point_error g##_from_compressed(g##_affine *out, const uint8_t bytes[SIZE], bool subgroup)          \
    {                                                                                                        \
        uint8_t x[SIZE];                                                                                     \
        g##_affine a;                                                                                        \
        *out = (g##_affine){0};                                                                              \
        if (!(bytes[0] & FLAG_COMPRESSED))                                                                   \
            return POINT_FLAGS;                                                                              \
        if (bytes[0] & FLAG_INFINITY)                                                                        \
            return read_infinity(bytes, SIZE, FLAG_COMPRESSED | FLAG_INFINITY);                              \
        memcpy(x, bytes, SIZE);                                                                              \
        x[0] = (uint8_t)(x[0] & ~FLAGS);                                                                     \
        if (!f##_from_bytes(&a.x, x))                                                                        \
            return POINT_COORDINATE;                                                                         \
        if (!FLAVOUR_CALL(g##_y_impl, &a.y, &a.x))                                                           \
            return POINT_OFF_CURVE;                                                                          \
        if (f##_is_large(&a.y) != ((bytes[0] & FLAG_LARGE_Y) != 0))                                          \
            f##_neg(&a.y, &a.y);                                                                             \
        if (subgroup && !g##_in_subgroup(&a))                                                                \
            return POINT_SUBGROUP;                                                                           \
        *out = a;                                                                                            \
        return POINT_OK;                                                                                     \
    }                                                                                                        \
                                                                                                             \
    void g##_to_uncompressed(uint8_t bytes[2 * SIZE], const g##_affine *a)                                   \
    {                                                                                                        \
        FLAVOUR_CALL(g##_to_uncompressed_many_impl, bytes, a, 1);                                            \
    }                                                                                                        \
                                                                                                             \
    void g##_to_compressed(uint8_t bytes[SIZE], const g##_affine *a)                                         \
    {                                                                                                        \
        int flags = FLAG_COMPRESSED;                                                                         \
        f##_to_bytes(bytes, &a->x);                                                                          \
        if (g##_affine_is_infinity(a))                                                                       \
            flags |= FLAG_INFINITY;                                                                          \
        else if (f##_is_large(&a->y))                                                                        \
            flags |= FLAG_LARGE_Y;                                                                           \
        bytes[0] = (uint8_t)(bytes[0] | flags);                                                              \
    }                                                                                                        \
                                                                                                             \
    size_t g##_from_uncompressed_many(g##_affine *out, const uint8_t *bytes, size_t n,                       \
                                      enum point_error *error)                                               \
    {                                                                                                        \
        return FLAVOUR_CALL(g##_from_uncompressed_many_impl, out, bytes, n, error);                          \
    }                                                                                                        \
                                                                                                             \
    void g##_to_uncompressed_many(uint8_t *bytes, const g##_affine *a, size_t n)                             \
    {                                                                                                        \
        FLAVOUR_CALL(g##_to_uncompressed_many_impl, bytes, a, n);                                            \
    }

DEFINE_ENCODING(g1, fp, 48)
DEFINE_ENCODING(g2, fp2, 96)
