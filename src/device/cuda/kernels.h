/* The card's kernels as C functions. Pointers named *_dev are device memory, everything else is host memory;
 * field elements and points have the memory forms of field/ and curve/ (Montgomery; infinity all zero).
 * Work is queued on `stream`; functions that return results to the host wait for it. Scratch is device memory
 * given by the caller, whose plan asks the *_scratch_bytes function first: nothing here allocates.
 *
 * Each has a C twin that gives the same answer: msm_*, bitsum_* and fixed_base_* of curve/, ntt_* of poly/;
 * and a simple version on the card, named *_simple. */
#ifndef CUZK_DEVICE_CUDA_KERNELS_H
#define CUZK_DEVICE_CUDA_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

struct CUstream_st;

/* Where set, called when work of another phase begins to be queued: benches put an event there. */
extern void (*gpu_phase_hook)(const char *phase, struct CUstream_st *stream);

/* --- multi-scalar multiplication: out = sum of scalars[i] points[i] ---
 * Signed windows, radix sort by digit, batch-affine halving of every bucket at once, then row and column
 * sums. Scalars are plain integers below r. n at most 2^29. out is an XYZZ point of curve/point.h (g1_xyzz,
 * g2_xyzz). More scratch than the least lets more windows be worked on together: fewer, larger rounds. */
struct gpu_msm_plan {
    uint32_t window_bits;
    uint32_t windows;
    uint32_t group;       /* windows worked on together */
    uint32_t batch;       /* pairs under one inversion */
    size_t scratch_bytes; /* what this plan needs */
};

/* The best plan that fits in `limit` bytes of scratch; STATUS_MEMORY, with the numbers, if none does. */
MUST_USE struct status gpu_msm_g1_plan(struct gpu_msm_plan *out, size_t n, size_t limit);
MUST_USE struct status gpu_msm_g2_plan(struct gpu_msm_plan *out, size_t n, size_t limit);
/* For experiments: window_bits and group given. */
MUST_USE struct status gpu_msm_g1_plan_with(struct gpu_msm_plan *out, size_t n, uint32_t window_bits,
                                            uint32_t group);
MUST_USE struct status gpu_msm_g2_plan_with(struct gpu_msm_plan *out, size_t n, uint32_t window_bits,
                                            uint32_t group);
MUST_USE struct status gpu_msm_g1(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                                  const struct gpu_msm_plan *plan, void *scratch_dev,
                                  struct CUstream_st *stream);
MUST_USE struct status gpu_msm_g2(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                                  const struct gpu_msm_plan *plan, void *scratch_dev,
                                  struct CUstream_st *stream);
/* Doubling and adding, a thread a point: for tests. Scratch: gpu_sum_simple_scratch_bytes. */
size_t gpu_sum_simple_scratch_bytes(void);
MUST_USE struct status gpu_msm_g1_simple(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                                         void *scratch_dev, struct CUstream_st *stream);
MUST_USE struct status gpu_msm_g2_simple(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                                         void *scratch_dev, struct CUstream_st *stream);

/* --- sum over set bits: as bitsum_* of curve/msm.h (present_dev may be null) --- */
size_t gpu_bitsum_g1_scratch_bytes(size_t n);
size_t gpu_bitsum_g2_scratch_bytes(size_t n);
MUST_USE struct status gpu_bitsum_g1(void *out, const void *points_dev, const uint64_t *bits_dev,
                                     const uint64_t *present_dev, size_t n, void *scratch_dev,
                                     size_t scratch_bytes, struct CUstream_st *stream);
MUST_USE struct status gpu_bitsum_g2(void *out, const void *points_dev, const uint64_t *bits_dev,
                                     const uint64_t *present_dev, size_t n, void *scratch_dev,
                                     size_t scratch_bytes, struct CUstream_st *stream);
MUST_USE struct status gpu_bitsum_g1_simple(void *out, const void *points_dev, const uint64_t *bits_dev,
                                            size_t n, void *scratch_dev, struct CUstream_st *stream);
MUST_USE struct status gpu_bitsum_g2_simple(void *out, const void *points_dev, const uint64_t *bits_dev,
                                            size_t n, void *scratch_dev, struct CUstream_st *stream);

/* --- fixed base: out[i] = scalars[i] base, scalars plain integers ---
 * Table: for window w and 1 <= d <= 2^(bits-1), d 2^(bits w) base; made on the card. */
size_t gpu_fixed_base_g1_table_bytes(uint32_t window_bits);
size_t gpu_fixed_base_g2_table_bytes(uint32_t window_bits);
size_t gpu_fixed_base_g1_scratch_bytes(size_t n,
                                       uint32_t window_bits); /* for n at a time, and for the table */
size_t gpu_fixed_base_g2_scratch_bytes(size_t n, uint32_t window_bits);
MUST_USE struct status gpu_fixed_base_g1_table(void *table_dev, const void *base, uint32_t window_bits,
                                               void *scratch_dev, struct CUstream_st *stream);
MUST_USE struct status gpu_fixed_base_g2_table(void *table_dev, const void *base, uint32_t window_bits,
                                               void *scratch_dev, struct CUstream_st *stream);
MUST_USE struct status gpu_fixed_base_g1(void *out_dev, const void *table_dev, uint32_t window_bits,
                                         const void *scalars_dev, size_t n, void *scratch_dev,
                                         struct CUstream_st *stream);
MUST_USE struct status gpu_fixed_base_g2(void *out_dev, const void *table_dev, uint32_t window_bits,
                                         const void *scalars_dev, size_t n, void *scratch_dev,
                                         struct CUstream_st *stream);

/* --- NTT of size 2^log, in place ---
 * One table of 2^log + 1 twiddles (64 bytes each) serves every size up to 2^log and all four transforms.
 * Forward: natural order in, values in bit-reversed order out. Inverse: bit-reversed in, natural out, times
 * 2^log (not divided). On the coset the points are g w^i with g the primitive root of order 2^(log+1).
 * Inputs below r; outputs below r. */
enum { GPU_NTT_INVERSE = 1, GPU_NTT_COSET = 2 };
size_t gpu_ntt_table_bytes(unsigned log_size);
MUST_USE struct status gpu_ntt_table(void *table_dev, unsigned log_size, struct CUstream_st *stream);
MUST_USE struct status gpu_ntt(void *data_dev, const void *table_dev, unsigned log_size, unsigned flags,
                               struct CUstream_st *stream);
MUST_USE struct status gpu_ntt_simple(void *data_dev, const void *table_dev, unsigned log_size,
                                      unsigned flags, struct CUstream_st *stream);
/* data[i] <-> data[reverse of the bits of i] */
MUST_USE struct status gpu_bit_reverse(void *data_dev, unsigned log_size, struct CUstream_st *stream);

/* h of a satisfied system, from the values of a and b (Montgomery) in bit-reversed order, c being their
 * product (groth16 specification 7.6, 1 to 3): six transforms. The coefficients, plain integers in natural
 * order, are left in a_dev; b_dev and c_dev are overwritten. All three hold 2^log elements. */
MUST_USE struct status gpu_h(void *a_dev, void *b_dev, void *c_dev, const void *table_dev, unsigned log_size,
                             struct CUstream_st *stream);

/* --- conversions --- */
MUST_USE struct status gpu_fr_to_int(void *data_dev, size_t n, struct CUstream_st *stream);   /* in place */
MUST_USE struct status gpu_fr_from_int(void *data_dev, size_t n, struct CUstream_st *stream); /* in place */

#ifdef __cplusplus
}
#endif

#endif
