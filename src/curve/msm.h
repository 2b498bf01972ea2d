/* Multi-scalar multiplication over arrays of affine points: the bulk of a Groth16 proof.
 *
 * msm_*:      sum of scalars[i] * points[i]; signed-digit Pippenger with batch-affine buckets
 *             (groth16 specification 8.1, 8.2).
 * bitsum_*:   sum of the points whose bit is set, by batch-affine trees: no scalars, no buckets.
 * Both are exact for infinity, equal and opposite points and fair for any distribution of scalars.
 * Points may be read from a mapped file; nothing here writes to them. All are _vartime. */
#ifndef CUZK_CURVE_MSM_H
#define CUZK_CURVE_MSM_H

#include "base/pool.h"
#include "curve/point.h"

/* Scratch bytes that a call needs, for the caller's plan: an upper bound, attained within a few percent.
 * threads = pool_threads(work->pool). */
size_t msm_g1_scratch_bytes(size_t n, unsigned threads);
size_t msm_g2_scratch_bytes(size_t n, unsigned threads);
size_t bitsum_g1_scratch_bytes(size_t n, unsigned threads);
size_t bitsum_g2_scratch_bytes(size_t n, unsigned threads);

/* Scalars in Montgomery form (converted in passing; 1 multiplication each). Scratch comes from mem_alloc;
 * errors: STATUS_MEMORY, STATUS_CANCELLED. */
MUST_USE struct status msm_g1(g1_xyzz *out, const g1_affine *points, const fr *scalars, size_t n,
                              const struct work *work);
MUST_USE struct status msm_g2(g2_xyzz *out, const g2_affine *points, const fr *scalars, size_t n,
                              const struct work *work);

/* As msm_*, but term i uses points[index[i]]: for the field-valued variables, scattered over a query. */
MUST_USE struct status msm_g1_indexed(g1_xyzz *out, const g1_affine *points, const uint32_t *index,
                                      const fr *scalars, size_t n, const struct work *work);
MUST_USE struct status msm_g2_indexed(g2_xyzz *out, const g2_affine *points, const uint32_t *index,
                                      const fr *scalars, size_t n, const struct work *work);

/* A query's view of a variable set: variable j (0 <= j < n) has a point iff bit j of `present` is set (NULL:
 * all have one), and its point is points[rank of j among the present]. Sums the points of the variables
 * whose bit is set in `bits` and that are present. Bit j is bit j mod 64 of word j / 64; bits beyond n are
 * ignored. */
MUST_USE struct status bitsum_g1(g1_xyzz *out, const g1_affine *points, const uint64_t *bits,
                                 const uint64_t *present, size_t n, const struct work *work);
MUST_USE struct status bitsum_g2(g2_xyzz *out, const g2_affine *points, const uint64_t *bits,
                                 const uint64_t *present, size_t n, const struct work *work);

#endif
