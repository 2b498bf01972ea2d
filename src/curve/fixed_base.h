/* Many multiples of one base point: signed fixed windows over a table of affine multiples, accumulated by
 * batch-affine additions across a block of scalars. W = ceil(255/w) additions a scalar, no doublings
 * (groth16 specification 4). For setup. _vartime. */
#ifndef CUZK_CURVE_FIXED_BASE_H
#define CUZK_CURVE_FIXED_BASE_H

#include "base/pool.h"
#include "curve/point.h"

struct fixed_base_g1;
struct fixed_base_g2;

/* Table for about n multiplications (window chosen by n; bytes by *_table_bytes). */
size_t fixed_base_g1_table_bytes(size_t n);
size_t fixed_base_g2_table_bytes(size_t n);
MUST_USE struct status fixed_base_g1_make(struct fixed_base_g1 **out, const g1_affine *base, size_t n,
                                          const struct work *work);
MUST_USE struct status fixed_base_g2_make(struct fixed_base_g2 **out, const g2_affine *base, size_t n,
                                          const struct work *work);
void fixed_base_g1_end(struct fixed_base_g1 *table); /* NULL allowed */
void fixed_base_g2_end(struct fixed_base_g2 *table);

/* out[i] = scalars[i] * base (Montgomery scalars); infinity, all-zero, for zero. */
MUST_USE struct status fixed_base_g1_mul(g1_affine *out, const struct fixed_base_g1 *table, const fr *scalars,
                                         size_t n, const struct work *work);
MUST_USE struct status fixed_base_g2_mul(g2_affine *out, const struct fixed_base_g2 *table, const fr *scalars,
                                         size_t n, const struct work *work);

#endif
