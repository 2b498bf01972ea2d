/* Additions of affine points in batches that share one field inversion: 5M + 1S each, and 3M in place of an
 * inversion of its own, which makes 5M + 1S in all (groth16 specification 8.2). The base of the
 * multi-scalar and fixed-base multiplications and of the sums over set bits. Room-internal.
 *
 * A batch is a queue of independent additions; callers keep in flight no two that touch the same output.
 * Every addition is exact: infinity (all-zero) and opposite points are settled at once, equal points wait in
 * a queue of doublings. So callers need no case analysis. All of this is _vartime. */
#ifndef CUZK_CURVE_BATCH_AFFINE_H
#define CUZK_CURVE_BATCH_AFFINE_H

#include "curve/group_names.h"
#include "curve/point.h"
#include "field/flavour.h"

/* Additions that share an inversion, which takes as long as 30 of them. Their points (200 KiB in G1) and
 * products (128 KiB) stay in the L2 cache between the two passes. */
#define BATCH_SUMS      1024
#define BATCH_DOUBLINGS 64
#define BATCH_LIMBS     8 /* room for the radix-2^52 kernels; the others use 6 */

/* Additions run eight at a time by AVX-512 IFMA (batch_affine_x8.c) where flavour_ifma_in_force(). */

/* How many additions make a task of less than 10 ms with the kernels in force, on a slow core: a power of
 * two, at least 2^12. Constant. */
size_t g1_batch_task_sums(void);
size_t g2_batch_task_sums(void);

#define GROUP          g1
#define FIELD          fp
#define FIELD_DEGREE   1
#define LOWEST_LIMB(x) ((x).l[0])
#include "curve/batch_affine_group.h"
#undef GROUP
#undef FIELD
#undef FIELD_DEGREE
#undef LOWEST_LIMB

#define GROUP          g2
#define FIELD          fp2
#define FIELD_DEGREE   2
#define LOWEST_LIMB(x) ((x).c0.l[0])
#include "curve/batch_affine_group.h"
#undef GROUP
#undef FIELD
#undef FIELD_DEGREE
#undef LOWEST_LIMB

#endif
