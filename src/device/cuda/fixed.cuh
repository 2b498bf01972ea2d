/* Many multiples of one base, for setup, in either group: a table of d 2^(bits w) base for every window w and
 * 1 <= d <= 2^(bits-1), and for each scalar the sum of one entry (or its negative) a window, by halving dense
 * lists: windows - 1 batch-affine additions a scalar. The table is made in the same way, by doubling its
 * length. */
#ifndef CUZK_DEVICE_CUDA_FIXED_CUH
#define CUZK_DEVICE_CUDA_FIXED_CUH

#include "device/cuda/digits.cuh"
#include "device/cuda/kernels.h"
#include "device/cuda/sums.cuh"

namespace gpu
{

static inline uint32_t fixed_slots(uint32_t window_bits) /* windows, up to a power of two */
{
    uint32_t windows = digit_windows(window_bits), slots = 1;
    while (slots < windows)
        slots *= 2;
    return slots;
}

[[maybe_unused]] static __global__ void fixed_refs(uint32_t *list, const fr_int *scalars, uint32_t n,
                                                   digit_offset offset, uint32_t bits, uint32_t windows,
                                                   uint32_t slots)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t words[9];
    fr_int s = scalars[i];
    digit_prepare(words, s.l, offset);
    for (uint32_t w = 0; w < slots; w++) {
        uint32_t ref = REF_NONE;
        if (w < windows) {
            int32_t d = digit_at(words, bits, w);
            uint32_t size = (uint32_t)(d < 0 ? -d : d);
            if (size)
                ref = ((w << (bits - 1)) + size - 1) | (d < 0 ? REF_NEGATIVE : 0);
        }
        list[(size_t)i * slots + w] = ref;
    }
}

/* out[i] = the point of list[i], fully reduced, as a record. */
template <class F>
__global__ void fixed_write(affine<F> *out, point_store<F> store, const uint32_t *list, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    affine<F> p;
    ref_point(p, store, list[i]);
    fp_reduce(p.x, p.x);
    fp_reduce(p.y, p.y);
    out[i] = p;
}

/* Step `have` of the table: entries have + 1 .. 2 have of every window, as entry `have` plus entry 1 .. have.
 */
[[maybe_unused]] static __global__ void fixed_table_pairs(pair_refs *pairs, uint32_t *list, uint32_t have,
                                                          uint32_t bits, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t w = i / have, k = i % have, first = w << (bits - 1);
    pairs[i] = pair_refs{first + have - 1, first + k};
    list[i] = REF_POOL | i;
}

template <class F>
__global__ void fixed_table_write(affine<F> *table, point_store<F> store, uint32_t have, uint32_t bits,
                                  uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    affine<F> p;
    ref_point(p, store, REF_POOL | i);
    fp_reduce(p.x, p.x);
    fp_reduce(p.y, p.y);
    table[((size_t)(i / have) << (bits - 1)) + have + i % have] = p;
}

template <class F> struct fixed_scratch {
    uint32_t *list[2];
    pair_refs *pairs;
    uint32_t *counters;
    point_store<F> store;
    pairs_buffers<F> buffers;
};

template <class F> size_t fixed_take(fixed_scratch<F> &s, char *base, size_t n, uint32_t bits)
{
    arena a = {base, 0, 0};
    /* a multiplication needs slots refs a scalar; the table's last step half of its entries */
    size_t refs = n * fixed_slots(bits), table = (size_t)digit_windows(bits) << (bits - 1);
    if (refs < table)
        refs = table;
    s.list[0] = a.take<uint32_t>(refs);
    s.list[1] = a.take<uint32_t>(refs / 2 + 1);
    s.pairs = a.take<pair_refs>(refs / 2 + 1);
    s.counters = a.take<uint32_t>(32);
    s.store.capacity = refs;
    s.store.pool = a.take<uint4>(refs * 2 * pieces_of<F>::count);
    pairs_take(s.buffers, a, pairs_batch<F>(refs / 2));
    return a.used;
}

template <class F>
struct status fixed_table(affine<F> *table, const affine<F> *base, uint32_t bits, void *scratch,
                          cudaStream_t stream)
{
    fixed_scratch<F> s;
    (void)fixed_take(s, (char *)scratch, 0, bits);
    uint32_t windows = digit_windows(bits);
    xyzz<F> power;
    affine<F> firsts[64];
    from_affine(power, *base);
    for (uint32_t w = 0; w < windows; w++) {
        to_affine(firsts[w], power);
        for (uint32_t i = 0; i < bits; i++)
            point_dbl(power, power);
    }
    CUDA_TRY(cudaMemcpy2DAsync(table, sizeof(affine<F>) << (bits - 1), firsts, sizeof(affine<F>),
                               sizeof(affine<F>), windows, cudaMemcpyHostToDevice, stream));
    s.store.base = (const uint4 *)table;
    for (uint32_t have = 1; have < 1u << (bits - 1); have *= 2) {
        uint32_t count = windows * have;
        LAUNCH(fixed_table_pairs, divide_up(count, 256), 256, 0, stream, s.pairs, s.list[0], have, bits,
               count);
        LAUNCH_TRY();
        TRY(pairs_run(s.buffers, s.store, s.pairs, count, nullptr, 0, stream));
        LAUNCH((fixed_table_write<F>), divide_up(count, 256), 256, 0, stream, table, s.store, have, bits,
               count);
        LAUNCH_TRY();
    }
    CUDA_TRY(cudaStreamSynchronize(stream)); /* firsts is on this stack */
    return status_ok();
}

template <class F>
struct status fixed_mul(affine<F> *out, const affine<F> *table, uint32_t bits, const fr_int *scalars,
                        size_t n, void *scratch, cudaStream_t stream)
{
    if (n == 0)
        return status_ok();
    fixed_scratch<F> s;
    (void)fixed_take(s, (char *)scratch, n, bits);
    s.store.base = (const uint4 *)table;
    uint32_t windows = digit_windows(bits), slots = fixed_slots(bits);
    LAUNCH(fixed_refs, divide_up(n, 256), 256, 0, stream, s.list[0], scalars, (uint32_t)n,
           digit_offset_of(bits), bits, windows, slots);
    CUDA_TRY(cudaMemsetAsync(s.counters, 0, 32 * sizeof(uint32_t), stream));
    size_t outputs = n * slots / 2, used = 0;
    int at = 0;
    for (uint32_t round = 0; slots > 1; round++, slots /= 2, outputs /= 2) {
        LAUNCH(halve_dense, divide_up(outputs, 256), 256, 0, stream, s.list[1 - at], s.pairs,
               s.counters + round, s.list[at], (uint32_t)outputs, (uint32_t)used);
        LAUNCH_TRY();
        TRY(pairs_run(s.buffers, s.store, s.pairs, outputs, s.counters + round, used, stream));
        used += outputs;
        at = 1 - at;
    }
    LAUNCH((fixed_write<F>), divide_up(n, 256), 256, 0, stream, out, s.store, s.list[at], (uint32_t)n);
    LAUNCH_TRY();
    return status_ok();
}

} // namespace gpu

#endif
