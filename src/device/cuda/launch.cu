/* Runtime errors as statuses. */
#include "device/cuda/launch.cuh"

void (*gpu_phase_hook)(const char *phase, struct CUstream_st *stream);

namespace gpu
{

struct status cuda_status(cudaError_t error, const char *call, const char *file, int line)
{
    int device = -1;
    (void)cudaGetDevice(&device);
    struct status s =
        status_error(STATUS_DEVICE, "CUDA device %d failed: %s", device, cudaGetErrorString(error));
    s = status_detail(s, "%s, %s:%d", call, file, line);
    if (error == cudaErrorMemoryAllocation)
        s = status_hint(s, "free device memory, or lower the plan");
    else
        s = status_hint(s, "see the driver's log (dmesg, nvidia-smi) for an Xid error");
    return s;
}

} // namespace gpu
