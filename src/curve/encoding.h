/* Byte forms of points (groth16 specification 1.3): big-endian coordinates, Fp2 with c1 first, flags in
 * the top three bits of byte 0: 0x80 compressed, 0x40 infinity, 0x20 larger y. */
#ifndef CUZK_CURVE_ENCODING_H
#define CUZK_CURVE_ENCODING_H

#include "curve/point.h"

#define G1_UNCOMPRESSED_BYTES 96
#define G1_COMPRESSED_BYTES   48
#define G2_UNCOMPRESSED_BYTES 192
#define G2_COMPRESSED_BYTES   96

enum point_error {
    POINT_OK,
    POINT_FLAGS,      /* flag bits wrong for the form, or bits beside the infinity flag */
    POINT_COORDINATE, /* a coordinate is not below p */
    POINT_OFF_CURVE,  /* includes x = 0 in G1 and compressed x without a y */
    POINT_SUBGROUP,   /* not of order r; only when asked for */
};
const char *point_error_text(enum point_error error);

/* `subgroup` asks for the check of the order; encoding and curve are always checked. Infinity decodes
 * successfully; callers that forbid it ask g1_affine_is_infinity. */
enum point_error g1_from_uncompressed(g1_affine *out, const uint8_t bytes[96], bool subgroup);
enum point_error g2_from_uncompressed(g2_affine *out, const uint8_t bytes[192], bool subgroup);
enum point_error g1_from_compressed(g1_affine *out, const uint8_t bytes[48], bool subgroup);
enum point_error g2_from_compressed(g2_affine *out, const uint8_t bytes[96], bool subgroup);
void g1_to_uncompressed(uint8_t bytes[96], const g1_affine *a);
void g2_to_uncompressed(uint8_t bytes[192], const g2_affine *a);
void g1_to_compressed(uint8_t bytes[48], const g1_affine *a);
void g2_to_compressed(uint8_t bytes[96], const g2_affine *a);

/* Bulk decoding of n consecutive uncompressed points, without subgroup check: the parameter loader.
 * Returns n if all are well, else the index of the first bad point, with *error set. Infinity is bad
 * here (POINT_FLAGS). Single-threaded; callers split. 5 (G1) or 11 (G2) Fp multiplications a point. */
size_t g1_from_uncompressed_many(g1_affine *out, const uint8_t *bytes, size_t n, enum point_error *error);
size_t g2_from_uncompressed_many(g2_affine *out, const uint8_t *bytes, size_t n, enum point_error *error);
void g1_to_uncompressed_many(uint8_t *bytes, const g1_affine *a, size_t n);
void g2_to_uncompressed_many(uint8_t *bytes, const g2_affine *a, size_t n);

#endif
