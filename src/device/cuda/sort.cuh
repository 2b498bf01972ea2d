/* Device-wide sort and scan, from CUB; behind plain functions because CUB compiles slowly and the host
 * stand-in has its own. Scratch sizes depend on the count only. */
#ifndef CUZK_DEVICE_CUDA_SORT_CUH
#define CUZK_DEVICE_CUDA_SORT_CUH

#include "device/cuda/launch.cuh"

namespace gpu
{

size_t sort_pairs_scratch_bytes(size_t count);
/* Sorts (key, value) by the low `bits` of key. Input in keys/values, which are overwritten; output in
 * keys_out/values_out. */
struct status sort_pairs(uint32_t *keys_out, uint32_t *values_out, uint32_t *keys, uint32_t *values,
                         size_t count, int bits, void *scratch, size_t scratch_bytes, cudaStream_t stream);

size_t scan_u64_scratch_bytes(size_t count);
/* Exclusive prefix sums, in place. */
struct status scan_u64(uint64_t *values, size_t count, void *scratch, size_t scratch_bytes,
                       cudaStream_t stream);

} // namespace gpu

#endif
