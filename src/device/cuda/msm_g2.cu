/* The multi-scalar multiplication of msm.cuh in G2. */
#include "device/cuda/msm.cuh"

using namespace gpu;

extern "C" {

struct status gpu_msm_g2_plan(struct gpu_msm_plan *out, size_t n, size_t limit)
{
    return msm_plan<fp2>(out, n, limit);
}

struct status gpu_msm_g2_plan_with(struct gpu_msm_plan *out, size_t n, uint32_t window_bits, uint32_t group)
{
    return msm_plan_with<fp2>(out, n, window_bits, group);
}

struct status gpu_msm_g2(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                         const struct gpu_msm_plan *plan, void *scratch_dev, struct CUstream_st *stream)
{
    return msm_run((g2_xyzz *)out, points_dev, scalars_dev, n, *plan, scratch_dev, stream);
}

struct status gpu_msm_g2_simple(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                                void *scratch_dev, struct CUstream_st *stream)
{
    return msm_simple_run((g2_xyzz *)out, points_dev, scalars_dev, n, scratch_dev, stream);
}
}

extern "C" size_t gpu_sum_simple_scratch_bytes(void)
{
    return (SUM_BLOCKS + 1) * sizeof(g2_xyzz);
}
