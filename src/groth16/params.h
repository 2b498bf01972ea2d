/* Parameter files (.params, the SRS of one circuit) and the resident image made from them.
 *
 * A .params file is the verifying key, then the queries h, l, a, b_g1, b_g2, each a big-endian count and that
 * many uncompressed points (groth16 specification 3.2). The resident image holds the same points decoded:
 * affine, Montgomery form, 64-bit limbs in memory order, 96 bytes a G1 and 192 a G2 point, the same for the
 * CPU, pinned memory and devices (docs/params.md gives the layout). It can be saved as a file, bound to the
 * digest of its source, and mapped at the next start. */
#ifndef CUZK_GROTH16_PARAMS_H
#define CUZK_GROTH16_PARAMS_H

#include "base/file.h"
#include "base/pool.h"
#include "groth16/key.h"

enum query { QUERY_H, QUERY_L, QUERY_A, QUERY_B_G1, QUERY_B_G2, QUERY_COUNT };
const char *query_name(enum query query);

/* Lengths of all arrays of a parameter set: what a circuit wants and what a file has must agree. */
struct params_counts {
    uint32_t ic;
    uint32_t query[QUERY_COUNT];
};
uint64_t params_file_bytes(const struct params_counts *counts);
uint64_t image_bytes(const struct params_counts *counts);

/* A mapped .params file: counts checked against the length before anything else; nothing decoded but the key.
 */
struct params_file {
    struct file_map map; /* of a file, or just data and size of borrowed bytes */
    bool borrowed;
    struct params_counts counts;
    uint64_t offset[QUERY_COUNT]; /* of the first point */
    struct verifying_key key;
};
MUST_USE struct status params_open(struct params_file *out, const char *path);
/* The same over bytes in memory, which are borrowed; `name` stands for the path in errors. */
MUST_USE struct status params_parse(struct params_file *out, const uint8_t *data, size_t size,
                                    const char *name);
void params_close(struct params_file *file);
/* Compares counts; the error names the array, both numbers and the circuit. */
MUST_USE struct status params_match(const struct params_counts *have, const struct params_counts *want,
                                    const char *path, const char *circuit);

#define PARAMS_DIGEST_BYTES 64
/* BLAKE2b-512 of a whole file; *done (may be NULL) is advanced for a progress bar. */
MUST_USE struct status params_digest(uint8_t out[PARAMS_DIGEST_BYTES], const struct file_map *map,
                                     const struct work *work, atomic_ullong *done);

/* The resident image. Points of a query are contiguous. */
struct image {
    struct params_counts counts;
    const g1_affine *h, *l, *a, *b_g1;
    const g2_affine *b_g2;
    uint8_t source_digest[PARAMS_DIGEST_BYTES]; /* zero if not known */
    struct verifying_key key;
    void *memory;        /* owned allocation, or NULL when mapped */
    struct file_map map; /* used when mapped */
};
/* Decodes all points in parallel, checks encodings and curve, refuses infinity; the error names query, index
 * and what is wrong. subgroup: also the order of every point. *done counts points. Memory: image_bytes. */
MUST_USE struct status image_decode(struct image *out, const struct params_file *file, bool subgroup,
                                    const struct work *work, atomic_ullong *done);
/* The same checks without keeping the points: a few hundred KB a thread. */
MUST_USE struct status params_check_points(const struct params_file *file, bool subgroup,
                                           const struct work *work, atomic_ullong *done);
MUST_USE struct status image_save(const struct image *image, const char *path, const struct work *work);
/* Maps a saved image; checks header, lengths, and the digest over the content when `check_content`. The
 * source digest must equal `source` unless that is NULL. */
MUST_USE struct status image_map(struct image *out, const char *path,
                                 const uint8_t source[PARAMS_DIGEST_BYTES], bool check_content,
                                 const struct work *work);
void image_end(struct image *image);

#endif
