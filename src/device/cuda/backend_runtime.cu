/* See backend_runtime.h. */
#include "device/cuda/backend_runtime.h"
#include "device/cuda/launch.cuh"
#include <stdio.h>
#include <string.h>

using namespace gpu;

extern "C" {

struct status gpu_count(int *out)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) {
        *out = count;
        return status_ok();
    }
    bool none = error == cudaSuccess || error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
    struct status s =
        status_error(none ? STATUS_MISSING : STATUS_DEVICE, "no CUDA device is available: %s",
                     error == cudaSuccess ? "the driver shows none" : cudaGetErrorString(error));
    (void)cudaGetLastError();
    return status_hint(s, "see that nvidia-smi lists the card, or use the CPU backend");
}

struct status gpu_open(struct gpu_info *out, int ordinal)
{
    cudaDeviceProp p;
    int count = 0;
    TRY(gpu_count(&count));
    if (ordinal < 0 || ordinal >= count)
        return status_error(STATUS_MISSING, "CUDA device %d does not exist: there are %d", ordinal, count);
    CUDA_TRY(cudaSetDevice(ordinal));
    CUDA_TRY(cudaGetDeviceProperties(&p, ordinal));
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%.63s", p.name);
    snprintf(out->bus, sizeof out->bus, "%08x:%02x:%02x.0", (unsigned)p.pciDomainID, (unsigned)p.pciBusID,
             (unsigned)p.pciDeviceID);
    char *at = out->uuid;
    at += snprintf(at, 5, "GPU-");
    for (int i = 0; i < 16; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        at += snprintf(at, 4, dash ? "-%02x" : "%02x", (unsigned)(unsigned char)p.uuid.bytes[i]);
    }
    out->bytes = p.totalGlobalMem;
    out->major = p.major;
    out->minor = p.minor;
    out->multiprocessors = p.multiProcessorCount;
    return status_ok();
}

struct status gpu_select(int ordinal)
{
    CUDA_TRY(cudaSetDevice(ordinal));
    return status_ok();
}

bool gpu_answers(void)
{
    (void)cudaGetLastError();
    return cudaDeviceSynchronize() == cudaSuccess;
}

struct status gpu_alloc(void **out_dev, size_t bytes, const char *what)
{
    *out_dev = nullptr;
    cudaError_t error = cudaMalloc(out_dev, bytes ? bytes : 1);
    if (error == cudaSuccess)
        return status_ok();
    *out_dev = nullptr;
    if (error != cudaErrorMemoryAllocation)
        return cuda_status(error, "cudaMalloc", __FILE__, __LINE__);
    (void)cudaGetLastError(); /* it does not stay */
    size_t free_bytes = 0, total = 0;
    (void)cudaMemGetInfo(&free_bytes, &total);
    struct status s =
        status_error(STATUS_MEMORY, "out of device memory: %s needs %zu bytes, %zu of %zu are free", what,
                     bytes, free_bytes, total);
    return status_hint(s, "load fewer circuits on this device, or end what else uses it");
}

void gpu_free(void *at_dev)
{
    (void)cudaFree(at_dev);
}

struct status gpu_alloc_pinned(void **out, size_t bytes, const char *what)
{
    *out = nullptr;
    cudaError_t error = cudaMallocHost(out, bytes ? bytes : 1);
    if (error == cudaSuccess)
        return status_ok();
    *out = nullptr;
    if (error != cudaErrorMemoryAllocation)
        return cuda_status(error, "cudaMallocHost", __FILE__, __LINE__);
    (void)cudaGetLastError();
    struct status s = status_error(STATUS_MEMORY, "out of pinned memory: %s needs %zu bytes", what, bytes);
    return status_hint(s, "raise the limit of locked memory (ulimit -l), or free host memory");
}

void gpu_free_pinned(void *at)
{
    if (at)
        (void)cudaFreeHost(at);
}

struct status gpu_free_bytes(size_t *out)
{
    size_t total;
    CUDA_TRY(cudaMemGetInfo(out, &total));
    return status_ok();
}

bool gpu_pin(const void *at, size_t bytes)
{
    void *start = const_cast<void *>(at);
    if (bytes == 0)
        return false;
    if (cudaHostRegister(start, bytes, cudaHostRegisterDefault) == cudaSuccess)
        return true;
    (void)cudaGetLastError();
    if (cudaHostRegister(start, bytes, cudaHostRegisterReadOnly) == cudaSuccess)
        return true; /* a mapped file */
    (void)cudaGetLastError();
    return false;
}

void gpu_unpin(const void *at)
{
    (void)cudaHostUnregister(const_cast<void *>(at));
}

struct status gpu_stream_open(struct CUstream_st **out, bool urgent)
{
    int least = 0, greatest = 0;
    CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA_TRY(cudaStreamCreateWithPriority(out, cudaStreamNonBlocking, urgent ? greatest : least));
    return status_ok();
}

void gpu_stream_close(struct CUstream_st *stream)
{
    if (stream)
        (void)cudaStreamDestroy(stream);
}

struct status gpu_wait(struct CUstream_st *stream)
{
    CUDA_TRY(cudaStreamSynchronize(stream));
    return status_ok();
}

struct status gpu_upload(void *to_dev, const void *from, size_t bytes, struct CUstream_st *stream)
{
    if (bytes)
        CUDA_TRY(cudaMemcpyAsync(to_dev, from, bytes, cudaMemcpyHostToDevice, stream));
    return status_ok();
}

struct status gpu_download(void *to, const void *from_dev, size_t bytes, struct CUstream_st *stream)
{
    if (bytes)
        CUDA_TRY(cudaMemcpyAsync(to, from_dev, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    return status_ok();
}

struct status gpu_copy(void *to_dev, const void *from_dev, size_t bytes, struct CUstream_st *stream)
{
    if (bytes)
        CUDA_TRY(cudaMemcpyAsync(to_dev, from_dev, bytes, cudaMemcpyDeviceToDevice, stream));
    return status_ok();
}

struct status gpu_fill(void *to_dev, int byte, size_t bytes, struct CUstream_st *stream)
{
    if (bytes)
        CUDA_TRY(cudaMemsetAsync(to_dev, byte, bytes, stream));
    return status_ok();
}
}
