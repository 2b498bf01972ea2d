/* The multi-scalar multiplication of msm.cuh in G1. */
#include "device/cuda/msm.cuh"

using namespace gpu;

extern "C" {

struct status gpu_msm_g1_plan(struct gpu_msm_plan *out, size_t n, size_t limit)
{
    return msm_plan<fp>(out, n, limit);
}

struct status gpu_msm_g1_plan_with(struct gpu_msm_plan *out, size_t n, uint32_t window_bits, uint32_t group)
{
    return msm_plan_with<fp>(out, n, window_bits, group);
}

struct status gpu_msm_g1(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                         const struct gpu_msm_plan *plan, void *scratch_dev, struct CUstream_st *stream)
{
    return msm_run((g1_xyzz *)out, points_dev, scalars_dev, n, *plan, scratch_dev, stream);
}

struct status gpu_msm_g1_simple(void *out, const void *points_dev, const void *scalars_dev, size_t n,
                                void *scratch_dev, struct CUstream_st *stream)
{
    return msm_simple_run((g1_xyzz *)out, points_dev, scalars_dev, n, scratch_dev, stream);
}
}
