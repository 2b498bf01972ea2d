/* See cuda_runtime.h here. Coroutines by ucontext: a barrier hands over to the next thread of the block that
 * has not reached it; the barrier opens when all that still run have. Kernels without barriers never change
 * over. */
#include "cuda_runtime.h"
#include "device/cuda/sort.cuh"
#include <algorithm>
#include <memory>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <vector>

uint3 threadIdx, blockIdx, blockDim, gridDim;
void *standin_dynamic_shared;

namespace
{

const size_t STACK_BYTES = 256 << 10;

struct coroutine {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool done = false;
};

std::vector<coroutine> coroutines;
ucontext_t scheduler;
unsigned running;
const std::function<void()> *kernel_body;

void enter()
{
    (*kernel_body)();
    coroutines[running].done = true;
    swapcontext(&coroutines[running].context, &scheduler);
}

bool direct, barrier_seen;
uint64_t calls, fail_at;

bool failing()
{
    calls++;
    return fail_at != 0 && calls >= fail_at;
}

const unsigned char REDZONE = 0xd7;
const size_t REDZONE_BYTES = 256;
struct block {
    void *at;
    size_t bytes;
};
std::vector<block> blocks;
size_t memory_bytes = (size_t)16 << 30, memory_used;

} // namespace

void __syncthreads()
{
    if (direct) {
        fprintf(stderr, "standin: a kernel whose first block had no barrier has one in another\n");
        abort();
    }
    barrier_seen = true;
    swapcontext(&coroutines[running].context, &scheduler);
}

namespace
{

/* Apart, because getcontext counts as returning twice and the caller's loop variable would not survive that.
 */
__attribute__((noinline)) void prepare(coroutine &c)
{
    if (!c.stack)
        c.stack.reset(new char[STACK_BYTES]);
    getcontext(&c.context);
    c.context.uc_stack.ss_sp = c.stack.get();
    c.context.uc_stack.ss_size = STACK_BYTES;
    c.context.uc_link = &scheduler;
    c.done = false;
    makecontext(&c.context, enter, 0);
}

void run_block(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++)
        prepare(coroutines[t]);
    for (bool any = true; any;) {
        any = false;
        for (unsigned t = 0; t < threads; t++) {
            if (coroutines[t].done)
                continue;
            any = true;
            running = t;
            threadIdx = uint3{t, 0, 0};
            swapcontext(&scheduler, &coroutines[t].context);
        }
    }
}

} // namespace

void standin_launch(standin_site *site, unsigned grid, unsigned block_size, size_t shared,
                    const std::function<void()> &body)
{
    std::vector<uint4> dynamic(shared / 16 + 1);
    standin_dynamic_shared = dynamic.data();
    gridDim = uint3{grid, 1, 1};
    blockDim = uint3{block_size, 1, 1};
    kernel_body = &body;
    if (coroutines.size() < block_size)
        coroutines.resize(block_size);
    for (unsigned b = 0; b < grid; b++) {
        blockIdx = uint3{b, 0, 0};
        direct = site->known && !site->barriers;
        if (!direct) {
            barrier_seen = false;
            run_block(block_size);
            site->barriers |= barrier_seen;
            site->known = true;
            continue;
        }
        for (unsigned t = 0; t < block_size; t++) {
            threadIdx = uint3{t, 0, 0};
            body();
        }
    }
    direct = false;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "stand-in %d", device);
    out->totalGlobalMem = memory_bytes;
    out->major = 9;
    out->multiProcessorCount = 1;
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = memory_bytes;
    *free_bytes = memory_bytes - memory_used;
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    if (failing())
        return cudaErrorMemoryAllocation;
    *out = malloc(bytes);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *at)
{
    free(at);
    return cudaSuccess;
}

/* Every second block of host memory can be pinned. */
cudaError_t cudaHostRegister(void *, size_t, unsigned flags)
{
    static bool last;
    if (flags == cudaHostRegisterDefault)
        last = !last;
    return failing() || last ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaHostUnregister(void *)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -1;
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned, int)
{
    if (failing())
        return cudaErrorUnknown;
    *out = (cudaStream_t)malloc(1); /* so that one that is not destroyed shows as a leak */
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    free((void *)stream);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    if (failing() || bytes > memory_bytes - memory_used)
        return cudaErrorMemoryAllocation;
    memory_used += bytes;
    unsigned char *p = (unsigned char *)aligned_alloc(256, (bytes + REDZONE_BYTES + 255) / 256 * 256);
    memset(p, 0xa5, bytes);
    memset(p + bytes, REDZONE, REDZONE_BYTES);
    blocks.push_back(block{p, bytes});
    *out = p;
    return cudaSuccess;
}

cudaError_t cudaFree(void *at)
{
    for (size_t i = 0; i < blocks.size(); i++) {
        if (blocks[i].at != at)
            continue;
        for (size_t k = 0; k < REDZONE_BYTES; k++) {
            if (((unsigned char *)at)[blocks[i].bytes + k] != REDZONE) {
                fprintf(stderr, "standin: device memory of %zu bytes was written beyond its end\n",
                        blocks[i].bytes);
                abort();
            }
        }
        memory_used -= blocks[i].bytes;
        blocks.erase(blocks.begin() + (long)i);
        free(at);
        return cudaSuccess;
    }
    return at ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    if (failing())
        return cudaErrorUnknown;
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t)
{
    if (failing())
        return cudaErrorUnknown;
    for (size_t i = 0; i < height; i++)
        memmove((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t)
{
    if (failing())
        return cudaErrorUnknown;
    memset(at, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    return failing() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "out of memory (stand-in)" : "injected fault (stand-in)";
}

void standin_fail_at(uint64_t n)
{
    calls = 0;
    fail_at = n;
}

uint64_t standin_calls()
{
    return calls;
}

size_t standin_memory(size_t bytes)
{
    memory_bytes = bytes;
    return memory_used;
}

namespace gpu
{

size_t sort_pairs_scratch_bytes(size_t)
{
    return 256;
}

struct status sort_pairs(uint32_t *keys_out, uint32_t *values_out, uint32_t *keys, uint32_t *values,
                         size_t count, int bits, void *, size_t, cudaStream_t)
{
    const uint32_t mask = bits < 32 ? (1u << bits) - 1 : 0xffffffffu;
    std::vector<uint32_t> order(count);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
    for (size_t i = 0; i < count; i++) {
        keys_out[i] = keys[order[i]];
        values_out[i] = values[order[i]];
    }
    if (failing())
        return cuda_status(cudaErrorUnknown, "sort_pairs", __FILE__, __LINE__);
    memset(keys, 0xee, count * sizeof *keys);
    memset(values, 0xee, count * sizeof *values);
    return status_ok();
}

size_t scan_u64_scratch_bytes(size_t)
{
    return 256;
}

struct status scan_u64(uint64_t *values, size_t count, void *, size_t, cudaStream_t)
{
    if (failing())
        return cuda_status(cudaErrorUnknown, "scan_u64", __FILE__, __LINE__);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t v = values[i];
        values[i] = sum;
        sum += v;
    }
    return status_ok();
}

} // namespace gpu
