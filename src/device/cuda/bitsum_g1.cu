/* The bit sums of bitsum.cuh in G1. */
#include "device/cuda/bitsum.cuh"

using namespace gpu;

extern "C" {

size_t gpu_bitsum_g1_scratch_bytes(size_t n)
{
    bitsum_scratch<decltype(g1_affine::x)> s;
    return bitsum_take(s, nullptr, 0, n);
}

struct status gpu_bitsum_g1(void *out, const void *points_dev, const uint64_t *bits_dev,
                            const uint64_t *present_dev, size_t n, void *scratch_dev, size_t scratch_bytes,
                            struct CUstream_st *stream)
{
    return bitsum_run((g1_xyzz *)out, points_dev, bits_dev, present_dev, n, scratch_dev, scratch_bytes,
                      stream);
}

struct status gpu_bitsum_g1_simple(void *out, const void *points_dev, const uint64_t *bits_dev, size_t n,
                                   void *scratch_dev, struct CUstream_st *stream)
{
    return bitsum_simple_run((g1_xyzz *)out, points_dev, bits_dev, n, scratch_dev, stream);
}
}
