/* See msm_indexed.h. A thread moves 16 bytes, so that neighbours write and, within a record, read side by
 * side. */
#include "device/cuda/msm_indexed.h"
#include "device/cuda/launch.cuh"

using namespace gpu;

namespace
{

__global__ void gather_records(uint4 *out, const uint4 *from, const uint32_t *index, size_t n,
                               uint32_t pieces)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t record = i / pieces;
    if (record < n)
        out[i] = from[index[record] * (size_t)pieces + i % pieces];
}

} // namespace

extern "C" {

struct status gpu_gather(void *out_dev, const void *from_dev, const uint32_t *index_dev, size_t n,
                         size_t record_bytes, struct CUstream_st *stream)
{
    if (n == 0)
        return status_ok();
    if (index_dev == nullptr) {
        CUDA_TRY(cudaMemcpyAsync(out_dev, from_dev, n * record_bytes, cudaMemcpyDeviceToDevice, stream));
        return status_ok();
    }
    uint32_t pieces = (uint32_t)(record_bytes / 16);
    LAUNCH(gather_records, divide_up(n * pieces, 256), 256, 0, stream, (uint4 *)out_dev,
           (const uint4 *)from_dev, index_dev, n, pieces);
    LAUNCH_TRY();
    return status_ok();
}
}
