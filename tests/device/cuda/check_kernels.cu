/* See check_kernels.h. */
#include "check_kernels.h"
#include "device/cuda/fr.cuh"
#include "device/cuda/launch.cuh"
#include <string.h>

using namespace gpu;

namespace
{

HD uint64_t mixed(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + i * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

__global__ void random_words_kernel(uint64_t *out, size_t words, uint64_t seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = mixed(seed, i);
}

__global__ void random_elements_kernel(fr_int *out, size_t n, uint64_t seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        fr x;
        for (int k = 0; k < 4; k++) {
            uint64_t w = mixed(seed, 4 * i + (uint64_t)k);
            x.l[2 * k] = (uint32_t)w;
            x.l[2 * k + 1] = (uint32_t)(w >> 32);
        }
        x.l[7] &= 0x7fffffff; /* below 2^255 < 2r */
        fr_reduce(x, x);
        for (int k = 0; k < 8; k++)
            out[i].l[k] = x.l[k];
    }
}

__global__ void equal_elements_kernel(fr_int *out, size_t n, fr_int element)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        out[i] = element;
}

__global__ void bit_elements_kernel(fr_int *out, size_t n, uint64_t seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        fr_int e = {{(uint32_t)mixed(seed, i) & 1, 0, 0, 0, 0, 0, 0, 0}};
        out[i] = e;
    }
}

__global__ void differ_kernel(unsigned long long *out, const uint64_t *a, const uint64_t *b, size_t words)
{
    unsigned long long count = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words;
         i += (size_t)gridDim.x * blockDim.x)
        count += a[i] != b[i];
    if (count)
        atomicAdd(out, count);
}

#define DOT_THREADS 128
#define DOT_BLOCKS  528

__global__ void dot_kernel(fr *out, const fr *a, const fr *b, const uint64_t *bits, size_t n)
{
    __shared__ fr sums[DOT_THREADS];
    fr sum = fr_zero();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        fr t = b[i];
        if (bits) {
            if (!((bits[i / 64] >> (i % 64)) & 1))
                continue;
        } else {
            fr u;
            fr_mul(u, fr_r2(), a[i]);
            fr_mul(t, u, t);
        }
        fr_add(sum, sum, t);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned width = blockDim.x / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            fr_add(sums[threadIdx.x], sums[threadIdx.x], sums[threadIdx.x + width]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}

size_t blocks_for(size_t n)
{
    size_t blocks = divide_up(n, 256);
    return blocks < 1 ? 1 : blocks > 4096 ? 4096 : blocks;
}

} // namespace

extern "C" {

struct status check_alloc(void **out, size_t bytes)
{
    *out = nullptr;
    CUDA_TRY(cudaMalloc(out, bytes ? bytes : 1));
    return status_ok();
}

void check_free(void *at)
{
    if (at)
        (void)cudaFree(at);
}

struct status check_upload(void *to_dev, const void *from, size_t bytes)
{
    if (bytes)
        CUDA_TRY(cudaMemcpy(to_dev, from, bytes, cudaMemcpyHostToDevice));
    return status_ok();
}

struct status check_download(void *to, const void *from_dev, size_t bytes)
{
    if (bytes)
        CUDA_TRY(cudaMemcpy(to, from_dev, bytes, cudaMemcpyDeviceToHost));
    return status_ok();
}

struct status check_copy(void *to_dev, const void *from_dev, size_t bytes)
{
    CUDA_TRY(cudaMemcpyAsync(to_dev, from_dev, bytes, cudaMemcpyDeviceToDevice, nullptr));
    return status_ok();
}

struct status check_fill(void *to_dev, int byte, size_t bytes)
{
    CUDA_TRY(cudaMemsetAsync(to_dev, byte, bytes, nullptr));
    return status_ok();
}

struct status check_sync(void)
{
    CUDA_TRY(cudaStreamSynchronize(nullptr));
    return status_ok();
}

struct status check_random_words(void *out_dev, size_t words, uint64_t seed)
{
    LAUNCH(random_words_kernel, blocks_for(words), 256, 0, nullptr, (uint64_t *)out_dev, words, seed);
    LAUNCH_TRY();
    return status_ok();
}

struct status check_random_elements(void *out_dev, size_t n, uint64_t seed)
{
    LAUNCH(random_elements_kernel, blocks_for(n), 256, 0, nullptr, (fr_int *)out_dev, n, seed);
    LAUNCH_TRY();
    return status_ok();
}

struct status check_equal_elements(void *out_dev, size_t n, const void *element)
{
    fr_int e;
    memcpy(&e, element, sizeof e);
    LAUNCH(equal_elements_kernel, blocks_for(n), 256, 0, nullptr, (fr_int *)out_dev, n, e);
    LAUNCH_TRY();
    return status_ok();
}

struct status check_bit_elements(void *out_dev, size_t n, uint64_t seed)
{
    LAUNCH(bit_elements_kernel, blocks_for(n), 256, 0, nullptr, (fr_int *)out_dev, n, seed);
    LAUNCH_TRY();
    return status_ok();
}

struct status check_words_differ(uint64_t *out, const void *a_dev, const void *b_dev, size_t words)
{
    void *count;
    unsigned long long result = 0;
    TRY(check_alloc(&count, sizeof result));
    CUDA_TRY(cudaMemsetAsync(count, 0, sizeof result, nullptr));
    LAUNCH(differ_kernel, blocks_for(words), 256, 0, nullptr, (unsigned long long *)count,
           (const uint64_t *)a_dev, (const uint64_t *)b_dev, words);
    LAUNCH_TRY();
    TRY(check_download(&result, count, sizeof result));
    check_free(count);
    *out = result;
    return status_ok();
}

struct status check_dot(void *out, const void *a_dev, const void *b_dev, const uint64_t *bits_dev, size_t n)
{
    static fr sums[DOT_BLOCKS];
    void *partial;
    TRY(check_alloc(&partial, sizeof sums));
    LAUNCH(dot_kernel, DOT_BLOCKS, DOT_THREADS, 0, nullptr, (fr *)partial, (const fr *)a_dev,
           (const fr *)b_dev, bits_dev, n);
    LAUNCH_TRY();
    TRY(check_download(sums, partial, sizeof sums));
    check_free(partial);
    fr total = fr_zero();
    for (int i = 0; i < DOT_BLOCKS; i++)
        fr_add(total, total, sums[i]);
    memcpy(out, &total, sizeof total);
    return status_ok();
}
}
