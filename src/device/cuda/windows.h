/* The end of a multi-scalar multiplication, on the host: one point from four a window. */
#ifndef CUZK_DEVICE_CUDA_WINDOWS_H
#define CUZK_DEVICE_CUDA_WINDOWS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* sums: for each window, lowest first, four XYZZ points (g1_xyzz or g2_xyzz, fully reduced): the sum of the
 * rows and the sum of hi times row hi, the sum of the columns (not used) and the sum of lo times column lo. A
 * bucket's digit is 2^low_bits hi + lo + 1. out (g1_xyzz, g2_xyzz): the sum over windows of 2^(bits window)
 * times the bucket sum. */
void gpu_windows_sum_g1(void *out, const void *sums, uint32_t windows, uint32_t bits, uint32_t low_bits);
void gpu_windows_sum_g2(void *out, const void *sums, uint32_t windows, uint32_t bits, uint32_t low_bits);

#ifdef __cplusplus
}
#endif

#endif
