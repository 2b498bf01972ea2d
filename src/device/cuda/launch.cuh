/* What every .cu file sees of CUDA: the runtime, kernel launches and shared memory behind names that a host
 * stand-in (tests/device/cuda/standin) can give as well, so that kernels run in tests without a card; and the
 * one macro through which runtime calls are made, which names call, file, line and device in the status. */
#ifndef CUZK_DEVICE_CUDA_LAUNCH_CUH
#define CUZK_DEVICE_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "base/status.h"
extern void (*gpu_phase_hook)(const char *phase, struct CUstream_st *stream); /* see kernels.h */
}

#ifdef __CUDACC__
#define LAUNCH(kernel, grid, block, shared, stream, ...)                                                     \
    kernel<<<(unsigned)(grid), (unsigned)(block), shared, stream>>>(__VA_ARGS__)
#define DYNAMIC_SHARED(type, name)                                                                           \
    extern __shared__ __align__(16) unsigned char gpu_dynamic_shared[];                                      \
    type *name = (type *)gpu_dynamic_shared
#define BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define DEVICE                  __device__ __forceinline__
#endif

namespace gpu
{

struct status cuda_status(cudaError_t error, const char *call, const char *file, int line);

#define CUDA_TRY(call)                                                                                       \
    do {                                                                                                     \
        cudaError_t cuda_error_ = (call);                                                                    \
        if (cuda_error_ != cudaSuccess)                                                                      \
            return gpu::cuda_status(cuda_error_, #call, __FILE__, __LINE__);                                 \
    } while (0)

/* After launches: a bad configuration shows here, a fault in the kernel at the next synchronisation. */
#define LAUNCH_TRY() CUDA_TRY(cudaGetLastError())

/* For benches: called, where set (kernels.h), at the start of each phase of a longer computation. */
#define PHASE(name)                                                                                          \
    do {                                                                                                     \
        if (gpu_phase_hook)                                                                                  \
            gpu_phase_hook(name, stream);                                                                    \
    } while (0)

static inline size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Hands out pieces of one block of device memory, 256-byte aligned; a null base only counts. */
struct arena {
    char *base;
    size_t size, used;

    template <class T> T *take(size_t count)
    {
        size_t at = used;
        used += divide_up(count * sizeof(T), 256) * 256;
        return base ? (T *)(base + at) : nullptr;
    }
    bool fits() const
    {
        return used <= size;
    }
};

} // namespace gpu

#endif
