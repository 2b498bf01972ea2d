/* Pieces shared by the MSMs, bit sums and fixed-base multiplication: dense halving of lists of references,
 * and the last sums in XYZZ. */
#ifndef CUZK_DEVICE_CUDA_SUMS_CUH
#define CUZK_DEVICE_CUDA_SUMS_CUH

#include "device/cuda/pairs.cuh"

namespace gpu
{

/* next[i] = list[2i] + list[2i+1]: a pair to add where both are there, else the one that is, or NONE. Pairs
 * are appended to `pairs`, whose length is *count; pair k's sum will be in pool slot base + k. */
[[maybe_unused]] static __global__ void halve_dense(uint32_t *next, pair_refs *pairs, uint32_t *count,
                                                    const uint32_t *list, uint32_t outputs, uint32_t base)
{
    __shared__ uint32_t block_count, block_base;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        block_count = 0;
    __syncthreads();
    uint32_t a = REF_NONE, b = REF_NONE, at = 0;
    bool add = false;
    if (i < outputs) {
        a = list[2 * (size_t)i];
        b = list[2 * (size_t)i + 1];
        add = a != REF_NONE && b != REF_NONE;
        if (add)
            at = atomicAdd(&block_count, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        block_base = block_count ? atomicAdd(count, block_count) : 0;
    __syncthreads();
    if (i < outputs) {
        uint32_t r = a == REF_NONE ? b : a;
        if (add) {
            at += block_base;
            pairs[at] = pair_refs{a, b};
            r = REF_POOL | (base + at);
        }
        next[i] = r;
    }
}

/* A copy of an accumulator that functions out of line have worked on. nvcc 13.0 takes the first 16 bytes of
 * such a variable for undefined after a loop of calls and drops their copy (seen in the PTX of sum_xyzz and
 * bitsum_simple in G1, whose results were wrong on the card); what is read as volatile it leaves alone. */
template <class T> DEVICE void copied(T *to, const T &from)
{
    const volatile uint32_t *w = (const volatile uint32_t *)&from;
    T t;
    uint32_t *v = (uint32_t *)&t;
    UNROLL for (size_t i = 0; i < sizeof(T) / 4; i++) v[i] = w[i];
    *to = t;
}

/* Sum of XYZZ values over a block through shared memory; result in values[0]. Threads a power of two. */
template <class F> DEVICE void block_sum(xyzz<F> *values, const xyzz<F> &mine)
{
    copied(&values[threadIdx.x], mine);
    __syncthreads();
    for (uint32_t width = blockDim.x / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) {
            xyzz<F> a = values[threadIdx.x], b = values[threadIdx.x + width];
            point_add(a, a, b);
            copied(&values[threadIdx.x], a);
        }
        __syncthreads();
    }
}

#ifndef SUM_THREADS
#define SUM_THREADS 64 /* 48 KiB of shared memory in G2 would not take 128 */
#endif
#define SUM_BLOCKS 1056

/* out[block] = sum of the references that fall to the block. */
template <class F>
__global__ void sum_refs(xyzz<F> *out, point_store<F> store, const uint32_t *list, uint32_t count)
{
    __shared__ xyzz<F> values[SUM_THREADS];
    xyzz<F> sum;
    affine<F> p;
    set_infinity(sum);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        ref_point(p, store, list[i]);
        point_add(sum, sum, p);
    }
    block_sum(values, sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = values[0];
}

/* out[0] = sum of in[0..count), one block. */
template <class F> __global__ void sum_xyzz(xyzz<F> *out, const xyzz<F> *in, uint32_t count)
{
    __shared__ xyzz<F> values[SUM_THREADS];
    xyzz<F> sum;
    set_infinity(sum);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        xyzz<F> one = in[i];
        point_add(sum, sum, one);
    }
    block_sum(values, sum);
    if (threadIdx.x == 0)
        out[0] = values[0];
}

/* Blocks worth launching for a sum of `count` references. */
static inline uint32_t sum_blocks(size_t count)
{
    size_t blocks = divide_up(count, SUM_THREADS);
    return (uint32_t)(blocks < 1 ? 1 : blocks > SUM_BLOCKS ? SUM_BLOCKS : blocks);
}

/* Fully reduced copy of an XYZZ value that came back to the host. */
template <class F> static inline void reduced(xyzz<F> &r)
{
    fp_reduce(r.x, r.x);
    fp_reduce(r.y, r.y);
    fp_reduce(r.zz, r.zz);
    fp_reduce(r.zzz, r.zzz);
}

} // namespace gpu

#endif
