/* A stand-in for the CUDA runtime, so that the kernels of device/cuda run on a machine without a card: the
 * .cu files are compiled as C++ against this header. Device memory is host memory; a launch runs its blocks
 * one after the other, the threads of a block as coroutines that change over at barriers. Streams are in
 * order anyway.
 *
 * Every runtime call counts, and call number N can be made to fail (standin_fail_at). Memory from cudaMalloc
 * has a redzone behind it and is filled with a pattern, so that kernels that read what nobody wrote do not
 * see zeros. */
#ifndef CUZK_STANDIN_CUDA_RUNTIME_H
#define CUZK_STANDIN_CUDA_RUNTIME_H

#include <functional>
#include <stddef.h>
#include <stdint.h>

struct uint3 {
    unsigned x, y, z;
};
struct uint4 {
    unsigned x, y, z, w;
};
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define BOUNDS(threads, blocks)
#define DEVICE inline
#define LAUNCH(kernel, grid, block, shared, stream, ...)                                                     \
    ((void)(stream), standin_launch(                                                                         \
                         []() -> standin_site * {                                                            \
                             static standin_site site;                                                       \
                             return &site;                                                                   \
                         }(),                                                                                \
                         (unsigned)(grid), (unsigned)(block), shared, [&] { (kernel)(__VA_ARGS__); }))
#define DYNAMIC_SHARED(type, name) type *name = (type *)standin_dynamic_shared

extern uint3 threadIdx, blockIdx, blockDim, gridDim;
extern void *standin_dynamic_shared;
/* Whether the kernel launched here has barriers: known after its first block, and then kernels without run as
 * plain loops. */
struct standin_site {
    bool known = false, barriers = false;
};
void standin_launch(standin_site *site, unsigned grid, unsigned block, size_t shared,
                    const std::function<void()> &body);
void __syncthreads();

template <class T> inline T atomicAdd(T *at, T value) /* one thread runs at a time */
{
    T old = *at;
    *at += value;
    return old;
}
template <class T> inline T atomicMin(T *at, T value)
{
    T old = *at;
    *at = value < old ? value : old;
    return old;
}
static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
static inline unsigned __brev(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= ((x >> i) & 1) << (31 - i);
    return r;
}

typedef struct CUstream_st *cudaStream_t;
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorUnknown = 999
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount, pciDomainID, pciBusID, pciDeviceID;
};
enum { cudaStreamNonBlocking = 1 };

cudaError_t cudaGetDeviceCount(int *count); /* one */
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMallocHost(void **out, size_t bytes);
cudaError_t cudaFreeHost(void *at);
enum { cudaHostRegisterDefault = 0, cudaHostRegisterReadOnly = 8 };
cudaError_t cudaHostRegister(void *at, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *at);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void **out, size_t bytes); /* no more than standin_memory in all */
template <class T> inline cudaError_t cudaMalloc(T **out, size_t bytes)
{
    return cudaMalloc((void **)out, bytes);
}
cudaError_t cudaFree(void *at); /* checks the redzone */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDevice(int *device);
const char *cudaGetErrorString(cudaError_t error);
template <class K> inline cudaError_t cudaFuncSetAttribute(K, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

/* Runtime call number n from now (1 = the next) and all after it fail; 0 turns this off. */
extern "C" void standin_fail_at(uint64_t n);
extern "C" uint64_t standin_calls(void);        /* since standin_fail_at was last called */
extern "C" size_t standin_memory(size_t bytes); /* of the card; gives back what is in use */

#endif
