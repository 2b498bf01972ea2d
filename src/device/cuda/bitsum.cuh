/* Sums of the points whose bit is set, for either group: the bitmap is compacted to a list of references,
 * whose neighbours are added by batch-affine rounds until few are left; those are summed in XYZZ.
 * One addition a set bit; the list costs 4 bytes a bit set and is written once. */
#ifndef CUZK_DEVICE_CUDA_BITSUM_CUH
#define CUZK_DEVICE_CUDA_BITSUM_CUH

#include "device/cuda/kernels.h"
#include "device/cuda/sort.cuh"
#include "device/cuda/sums.cuh"

namespace gpu
{

#ifndef BITSUM_LAST
#define BITSUM_LAST (1u << 18) /* references left for XYZZ: four a thread */
#endif

DEVICE uint32_t count_bits(uint64_t x)
{
    return (uint32_t)__popcll(x);
}

DEVICE uint64_t word_within(uint64_t word, uint32_t index, uint32_t n)
{
    uint32_t left = n - index * 64;
    return left >= 64 ? word : word & (((uint64_t)1 << left) - 1);
}

/* For the scan: present in the high half, set and present in the low. One word more than there is, for the
 * totals. */
[[maybe_unused]] static __global__ void bitsum_count(uint64_t *packed, const uint64_t *bits,
                                                     const uint64_t *present, uint32_t n, uint32_t words)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > words)
        return;
    uint64_t p = 0, b = 0;
    if (i < words) {
        p = word_within(present ? present[i] : ~(uint64_t)0, i, n);
        b = bits[i] & p;
    }
    packed[i] = ((uint64_t)count_bits(p) << 32) | count_bits(b);
}

[[maybe_unused]] static __global__ void bitsum_list(uint32_t *list, const uint64_t *packed,
                                                    const uint64_t *bits, const uint64_t *present, uint32_t n,
                                                    uint32_t words)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    uint64_t p = word_within(present ? present[i] : ~(uint64_t)0, i, n), b = bits[i] & p;
    uint32_t rank = (uint32_t)(packed[i] >> 32), at = (uint32_t)packed[i];
    while (b) {
        uint64_t below = (b & (0 - b)) - 1;
        list[at++] = rank + count_bits(p & below);
        b &= b - 1;
    }
}

/* The list after a round: pool slots from base on, and the odd last reference of the round. */
[[maybe_unused]] static __global__ void bitsum_next(uint32_t *list, uint32_t pairs, uint32_t base,
                                                    const uint32_t *odd)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        list[i] = REF_POOL | (base + i);
    else if (i == pairs && odd)
        list[i] = *odd;
}

template <class F> struct bitsum_scratch {
    uint64_t *packed;
    void *scan_temp;
    size_t scan_temp_bytes;
    uint32_t *list[2];
    xyzz<F> *sums;
    point_store<F> store;
    pairs_buffers<F> buffers;
};

template <class F> size_t bitsum_take(bitsum_scratch<F> &s, char *base, size_t size, size_t n)
{
    arena a = {base, size, 0};
    size_t words = divide_up(n, 64) + 1;
    s.packed = a.take<uint64_t>(words);
    s.scan_temp_bytes = scan_u64_scratch_bytes(words);
    s.scan_temp = a.take<char>(s.scan_temp_bytes);
    s.list[0] = a.take<uint32_t>(n);
    s.list[1] = a.take<uint32_t>(n / 2 + 1);
    s.sums = a.take<xyzz<F>>(SUM_BLOCKS + 1);
    s.store.capacity = n;
    s.store.pool = a.take<uint4>(n * 2 * pieces_of<F>::count);
    pairs_take(s.buffers, a, pairs_batch<F>(n / 2));
    return a.used;
}

template <class F>
struct status bitsum_run(xyzz<F> *out, const void *points, const uint64_t *bits, const uint64_t *present,
                         size_t n, void *scratch, size_t scratch_bytes, cudaStream_t stream)
{
    bitsum_scratch<F> s;
    set_infinity(*out);
    if (n == 0)
        return status_ok();
    if (n > REF_INDEX)
        return status_error(STATUS_INVALID, "bit sum over %zu points: at most 2^30 are possible", n);
    size_t needed = bitsum_take(s, (char *)scratch, scratch_bytes, n);
    if (needed > scratch_bytes)
        return status_error(STATUS_INVALID,
                            "bit sum over %zu points needs %zu bytes of scratch, was given %zu", n, needed,
                            scratch_bytes);
    s.store.base = (const uint4 *)points;
    uint32_t words = (uint32_t)divide_up(n, 64);
    PHASE("bit lists");
    LAUNCH(bitsum_count, divide_up(words + 1, 256), 256, 0, stream, s.packed, bits, present, (uint32_t)n,
           words);
    LAUNCH_TRY();
    TRY(scan_u64(s.packed, words + 1, s.scan_temp, s.scan_temp_bytes, stream));
    LAUNCH(bitsum_list, divide_up(words, 256), 256, 0, stream, s.list[0], s.packed, bits, present,
           (uint32_t)n, words);
    LAUNCH_TRY();
    uint64_t totals;
    CUDA_TRY(cudaMemcpyAsync(&totals, s.packed + words, sizeof totals, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    uint32_t count = (uint32_t)totals, used = 0;
    int at = 0;
    while (count > BITSUM_LAST) {
        uint32_t pairs = count / 2;
        TRY(pairs_run(s.buffers, s.store, (const pair_refs *)s.list[at], pairs, nullptr, used, stream));
        LAUNCH(bitsum_next, divide_up(pairs + 1, 256), 256, 0, stream, s.list[1 - at], pairs, used,
               count % 2 ? s.list[at] + count - 1 : nullptr);
        LAUNCH_TRY();
        used += pairs;
        count -= pairs;
        at = 1 - at;
    }
    uint32_t blocks = sum_blocks(count);
    PHASE("last sums");
    LAUNCH((sum_refs<F>), blocks, SUM_THREADS, 0, stream, s.sums + 1, s.store, s.list[at], count);
    LAUNCH((sum_xyzz<F>), 1, SUM_THREADS, 0, stream, s.sums, s.sums + 1, blocks);
    LAUNCH_TRY();
    CUDA_TRY(cudaMemcpyAsync(out, s.sums, sizeof *out, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    reduced(*out);
    return status_ok();
}

/* No lists, no batches: a thread looks at every bit that falls to it. */
template <class F>
__global__ void bitsum_simple(xyzz<F> *out, const affine<F> *points, const uint64_t *bits, uint32_t n)
{
    __shared__ xyzz<F> values[SUM_THREADS];
    xyzz<F> sum;
    set_infinity(sum);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if ((bits[i / 64] >> (i % 64)) & 1) {
            affine<F> p = points[i];
            point_add(sum, sum, p);
        }
    }
    block_sum(values, sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = values[0];
}

template <class F>
struct status bitsum_simple_run(xyzz<F> *out, const void *points, const uint64_t *bits, size_t n,
                                void *scratch, cudaStream_t stream)
{
    xyzz<F> *sums = (xyzz<F> *)scratch;
    uint32_t blocks = sum_blocks(n);
    LAUNCH((bitsum_simple<F>), blocks, SUM_THREADS, 0, stream, sums + 1, (const affine<F> *)points, bits,
           (uint32_t)n);
    LAUNCH((sum_xyzz<F>), 1, SUM_THREADS, 0, stream, sums, sums + 1, blocks);
    LAUNCH_TRY();
    CUDA_TRY(cudaMemcpyAsync(out, sums, sizeof *out, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    reduced(*out);
    return status_ok();
}

} // namespace gpu

#endif
