/* The fixed-base multiplication of fixed.cuh in G1. */
#include "device/cuda/fixed.cuh"

using namespace gpu;

extern "C" {

size_t gpu_fixed_base_g1_table_bytes(uint32_t window_bits)
{
    return ((size_t)digit_windows(window_bits) << (window_bits - 1)) * sizeof(g1_affine);
}

size_t gpu_fixed_base_g1_scratch_bytes(size_t n, uint32_t window_bits)
{
    fixed_scratch<decltype(g1_affine::x)> s;
    return fixed_take(s, nullptr, n, window_bits);
}

struct status gpu_fixed_base_g1_table(void *table_dev, const void *base, uint32_t window_bits,
                                      void *scratch_dev, struct CUstream_st *stream)
{
    if (window_bits < 4 || window_bits > 24)
        return status_error(STATUS_INVALID, "fixed-base table with windows of %u bits: 4 to 24 are possible",
                            window_bits);
    return fixed_table((g1_affine *)table_dev, (const g1_affine *)base, window_bits, scratch_dev, stream);
}

struct status gpu_fixed_base_g1(void *out_dev, const void *table_dev, uint32_t window_bits,
                                const void *scalars_dev, size_t n, void *scratch_dev,
                                struct CUstream_st *stream)
{
    return fixed_mul((g1_affine *)out_dev, (const g1_affine *)table_dev, window_bits,
                     (const fr_int *)scalars_dev, n, scratch_dev, stream);
}
}
