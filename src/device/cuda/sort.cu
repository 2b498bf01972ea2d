/* See sort.cuh. */
#include "device/cuda/sort.cuh"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace gpu
{

size_t sort_pairs_scratch_bytes(size_t count)
{
    size_t bytes = 0;
    cub::DoubleBuffer<uint32_t> keys(nullptr, nullptr), values(nullptr, nullptr);
    (void)cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count, 0, 32);
    return bytes + 256;
}

struct status sort_pairs(uint32_t *keys_out, uint32_t *values_out, uint32_t *keys, uint32_t *values,
                         size_t count, int bits, void *scratch, size_t scratch_bytes, cudaStream_t stream)
{
    cub::DoubleBuffer<uint32_t> k(keys, keys_out), v(values, values_out);
    CUDA_TRY(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, k, v, count, 0, bits, stream));
    /* An even number of passes leaves the result where the input was. */
    if (k.Current() != keys_out)
        CUDA_TRY(cudaMemcpyAsync(keys_out, k.Current(), count * 4, cudaMemcpyDeviceToDevice, stream));
    if (v.Current() != values_out)
        CUDA_TRY(cudaMemcpyAsync(values_out, v.Current(), count * 4, cudaMemcpyDeviceToDevice, stream));
    return status_ok();
}

size_t scan_u64_scratch_bytes(size_t count)
{
    size_t bytes = 0;
    (void)cub::DeviceScan::ExclusiveSum(nullptr, bytes, (uint64_t *)nullptr, (uint64_t *)nullptr, count);
    return bytes + 256;
}

struct status scan_u64(uint64_t *values, size_t count, void *scratch, size_t scratch_bytes,
                       cudaStream_t stream)
{
    CUDA_TRY(cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, values, values, count, stream));
    return status_ok();
}

} // namespace gpu
