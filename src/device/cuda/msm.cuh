/* Multi-scalar multiplication on the card, for either group; instantiated by msm_g1.cu and msm_g2.cu.
 *
 * Windows are worked on in groups, so that one inversion serves all their buckets:
 *  1. digits of the group's windows, each window sorted by |digit| (CUB radix sort, three passes);
 *  2. rounds that halve every bucket: entries 2i and 2i+1 of a bucket become one, an odd last one is kept.
 *     Where a bucket's entries lie in each round follows from its first count alone (count / 2^round, rounded
 *     up), so each round is two prefix sums over buckets and a list built by a thread an entry. Work per
 * round depends on the number of entries, never on how they are spread over buckets: no distribution is slow;
 *  3. sum of b times bucket b: with b - 1 = 2^low hi + lo, the sums over lo for each hi (rows) and over hi
 * for each lo (columns) by halving dense lists, then for both a weighted sum of about 2^(bits/2) points.
 * Digit 0 goes to no bucket. Four points a window come back; the host adds up the windows. */
#ifndef CUZK_DEVICE_CUDA_MSM_CUH
#define CUZK_DEVICE_CUDA_MSM_CUH

#include "device/cuda/digits.cuh"
#include "device/cuda/kernels.h"
#include "device/cuda/sort.cuh"
#include "device/cuda/sums.cuh"
#include "device/cuda/windows.h"

namespace gpu
{

#define MSM_ROUNDS 30 /* buckets of 2^29 entries */

/* Windows first .. first + count of every scalar; window first + w goes to keys + w n. */
[[maybe_unused]] static __global__ void msm_digits(uint32_t *keys, uint32_t *values, const fr_int *scalars,
                                                   uint32_t n, digit_offset offset, uint32_t bits,
                                                   uint32_t first, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t words[9];
    fr_int s = scalars[i];
    digit_prepare(words, s.l, offset);
    for (uint32_t w = 0; w < count; w++) {
        int32_t d = digit_at(words, bits, first + w);
        keys[(size_t)w * n + i] = (uint32_t)(d < 0 ? -d : d);
        values[(size_t)w * n + i] = i | (d < 0 ? REF_NEGATIVE : 0);
    }
}

/* Bucket b = window * buckets + (digit - 1): where its entries start and end in the group's sorted list. One
 * thread an entry, which looks at its neighbour; empty buckets are left alone (start and end must be zero
 * before). */
[[maybe_unused]] static __global__ void msm_bounds(uint32_t *start, uint32_t *end, const uint32_t *keys,
                                                   uint32_t n, uint32_t buckets, uint32_t entries)
{
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= entries)
        return;
    uint32_t window = p / n, inside = p - window * n, key = keys[p];
    uint32_t before = inside ? keys[p - 1] : 0;
    if (key != before) {
        start[window * buckets + key - 1] = p;
        if (before)
            end[window * buckets + before - 1] = p;
    }
    if (inside == n - 1 && key)
        end[window * buckets + key - 1] = p + 1;
}

HD uint32_t size_after(uint32_t size, uint32_t round)
{
    return (uint32_t)(((uint64_t)size + ((uint64_t)1 << round) - 1) >> round);
}

/* totals[r] += additions of round r, over all buckets; totals[MSM_ROUNDS] += buckets that are not empty.
 * sizes: the ends on entry, the sizes on return. */
[[maybe_unused]] static __global__ void msm_totals(unsigned long long *totals, uint32_t *sizes,
                                                   const uint32_t *start, uint32_t total)
{
    __shared__ unsigned long long sums[MSM_ROUNDS + 1];
    uint32_t mine[MSM_ROUNDS], filled = 0;
    UNROLL for (int r = 0; r < MSM_ROUNDS; r++) mine[r] = 0;
    if (threadIdx.x <= MSM_ROUNDS)
        sums[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t b = blockIdx.x * blockDim.x + threadIdx.x; b < total; b += gridDim.x * blockDim.x) {
        uint32_t size = sizes[b] - start[b];
        sizes[b] = size;
        filled += size > 0;
        UNROLL for (int r = 0; r < MSM_ROUNDS; r++)
        {
            mine[r] += size / 2;
            size -= size / 2;
        }
    }
    UNROLL for (int r = 0; r < MSM_ROUNDS; r++)
    {
        if (mine[r])
            atomicAdd(&sums[r], (unsigned long long)mine[r]);
    }
    atomicAdd(&sums[MSM_ROUNDS], (unsigned long long)filled);
    __syncthreads();
    if (threadIdx.x <= MSM_ROUNDS && sums[threadIdx.x])
        atomicAdd(&totals[threadIdx.x], sums[threadIdx.x]);
}

/* For the scan: entries after the round in the high half, pairs of the round in the low. */
[[maybe_unused]] static __global__ void msm_round_sizes(uint64_t *packed, const uint32_t *sizes,
                                                        uint32_t total, uint32_t round)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= total)
        return;
    uint32_t size = size_after(sizes[b], round);
    packed[b] = ((uint64_t)(size - size / 2) << 32) | (size / 2);
}

struct msm_lists {
    uint32_t *keys;   /* digit (round 0) or bucket, by entry */
    uint32_t *values; /* reference, by entry */
};

/* One thread an entry. `start`: where the bucket's entries lie in this round; next_start is filled for the
 * next. */
[[maybe_unused]] static __global__ void msm_round(msm_lists next, uint32_t *next_start, pair_refs *pairs,
                                                  msm_lists list, const uint32_t *start,
                                                  const uint64_t *packed, const uint32_t *sizes,
                                                  uint32_t entries, uint32_t round, uint32_t n,
                                                  uint32_t buckets, uint32_t pool_base)
{
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= entries)
        return;
    uint32_t b = list.keys[p];
    if (round == 0) {
        if (b == 0)
            return;
        b = p / n * buckets + b - 1;
    }
    uint32_t rank = p - start[b];
    uint64_t offsets = packed[b];
    uint32_t to = (uint32_t)(offsets >> 32), pair = (uint32_t)offsets;
    if (rank == 0)
        next_start[b] = to;
    if (rank & 1)
        return;
    to += rank / 2;
    pair += rank / 2;
    uint32_t ref = list.values[p];
    if (rank + 1 < size_after(sizes[b], round)) {
        pairs[pair] = pair_refs{ref, list.values[p + 1]};
        ref = REF_POOL | (pool_base + pair);
    }
    next.keys[to] = b;
    next.values[to] = ref;
}

/* After the last round: rows in bucket order, columns transposed. */
[[maybe_unused]] static __global__ void msm_dense(uint32_t *rows, uint32_t *columns, msm_lists list,
                                                  const uint32_t *start, const uint32_t *sizes,
                                                  uint32_t buckets, uint32_t total, uint32_t low_bits,
                                                  uint32_t high_bits)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= total)
        return;
    uint32_t ref = sizes[b] ? list.values[start[b]] : REF_NONE;
    rows[b] = ref;
    uint32_t inside = b % buckets, low = inside & ((1u << low_bits) - 1), high = inside >> low_bits;
    columns[b - inside + (low << high_bits) + high] = ref;
}

#ifndef WEIGHTED_THREADS
#define WEIGHTED_THREADS(F) (pieces_of<F>::count == 3 ? 128 : 64) /* 24 KiB of shared memory */
#endif

struct weighted_lists {
    const uint32_t *rows, *columns;
    uint32_t count; /* of each */
    uint32_t row_length, column_length;
};

/* Block k: list k of the rows, or list k - count of the columns. out[2k] = their sum, out[2k+1] = sum of i
 * times the i-th. A thread takes a run of neighbours, from its end: the running sum and the sum of running
 * sums; then with A_t and B_t those of thread t and L the run's length, sum_i = sum B_t + L sum_(t>0) (A_t +
 * A_(t+1) +
 * ...). */
template <class F> __global__ void msm_weighted(xyzz<F> *out, point_store<F> store, weighted_lists lists)
{
    __shared__ xyzz<F> values[WEIGHTED_THREADS(F)];
    bool row = blockIdx.x < lists.count;
    uint32_t length = row ? lists.row_length : lists.column_length;
    const uint32_t *list = row ? lists.rows + (size_t)blockIdx.x * length
                               : lists.columns + (size_t)(blockIdx.x - lists.count) * length;
    uint32_t run = (length + blockDim.x - 1) / blockDim.x;
    uint32_t first = threadIdx.x * run, end = first + run < length ? first + run : length;
    xyzz<F> sum, weighted, t;
    affine<F> p;
    set_infinity(sum);
    set_infinity(weighted);
    for (uint32_t i = end; i-- > first;) {
        if (i + 1 < end)
            point_add(weighted, weighted, sum);
        ref_point(p, store, list[i]);
        point_add(sum, sum, p);
    }
    /* weighted is the sum of (i - first) P_i; now the suffix sums of the runs */
    copied(&values[threadIdx.x], sum);
    __syncthreads();
    for (uint32_t width = 1; width < blockDim.x; width *= 2) {
        bool take = threadIdx.x + width < blockDim.x;
        if (take) {
            t = values[threadIdx.x + width];
            point_add(t, t, sum);
        }
        __syncthreads();
        if (take) {
            copied(&sum, t);
            copied(&values[threadIdx.x], t);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        copied(&out[2 * blockIdx.x], sum);
        set_infinity(sum);
    }
    block_sum(values, sum);
    xyzz<F> runs = values[0];
    __syncthreads();
    block_sum(values, weighted);
    if (threadIdx.x == 0) {
        set_infinity(t);
        for (int bit = 31; bit >= 0; bit--) {
            point_dbl(t, t);
            if ((run >> bit) & 1)
                point_add(t, t, runs);
        }
        weighted = values[0];
        point_add(t, t, weighted);
        copied(&out[2 * blockIdx.x + 1], t);
    }
}

template <class F> struct msm_scratch {
    void *sort_temp;
    size_t sort_temp_bytes;
    msm_lists lists[2];
    uint32_t *start[2], *sizes;
    uint64_t *packed;
    void *scan_temp;
    size_t scan_temp_bytes;
    pair_refs *pairs;
    uint32_t *dense[2];
    unsigned long long *totals;
    uint32_t *counters; /* one a dense round */
    xyzz<F> *sums;
    point_store<F> store;
    pairs_buffers<F> buffers;
};

static inline uint32_t msm_low_bits(uint32_t bits)
{
    return (bits - 1) / 2;
}

template <class F>
size_t msm_take(msm_scratch<F> &s, char *base, size_t size, size_t n, const gpu_msm_plan &plan)
{
    arena a = {base, size, 0};
    size_t buckets = (size_t)1 << (plan.window_bits - 1), total = buckets * plan.group,
           entries = n * plan.group;
    s.sort_temp_bytes = sort_pairs_scratch_bytes(n);
    s.sort_temp = a.take<char>(s.sort_temp_bytes);
    s.lists[0].keys = a.take<uint32_t>(entries);
    s.lists[0].values = a.take<uint32_t>(entries);
    size_t halved = entries / 2 + total + 1 < entries ? entries / 2 + total + 1 : entries;
    s.lists[1].keys = a.take<uint32_t>(halved);
    s.lists[1].values = a.take<uint32_t>(halved);
    s.start[0] = a.take<uint32_t>(total);
    s.start[1] = a.take<uint32_t>(total);
    s.sizes = a.take<uint32_t>(total);
    s.packed = a.take<uint64_t>(total);
    s.scan_temp_bytes = scan_u64_scratch_bytes(total);
    s.scan_temp = a.take<char>(s.scan_temp_bytes);
    s.pairs = a.take<pair_refs>(entries / 2 > total ? entries / 2 : total);
    s.dense[0] = a.take<uint32_t>(2 * total);
    s.dense[1] = a.take<uint32_t>(2 * total);
    s.totals = a.take<unsigned long long>(MSM_ROUNDS + 1);
    s.counters = a.take<uint32_t>(MSM_ROUNDS);
    s.sums = a.take<xyzz<F>>(4 * (size_t)plan.group);
    s.store.base = nullptr;
    s.store.capacity = entries + 2 * total;
    s.store.pool = a.take<uint4>(s.store.capacity * 2 * pieces_of<F>::count);
    pairs_take(s.buffers, a, plan.batch);
    return a.used;
}

/* Digits, sort, bounds and totals of windows first .. first + count. Unsorted digits lie where sums will be.
 */
template <class F>
struct status msm_sort(const msm_scratch<F> &s, const void *scalars, size_t n, const gpu_msm_plan &plan,
                       uint32_t first, uint32_t count, cudaStream_t stream)
{
    uint32_t buckets = 1u << (plan.window_bits - 1), total = buckets * count;
    size_t entries = n * count;
    uint32_t *keys = (uint32_t *)s.store.pool, *values = keys + entries;
    PHASE("digits");
    LAUNCH(msm_digits, divide_up(n, 256), 256, 0, stream, keys, values, (const fr_int *)scalars, (uint32_t)n,
           digit_offset_of(plan.window_bits), plan.window_bits, first, count);
    LAUNCH_TRY();
    PHASE("sort");
    for (uint32_t w = 0; w < count; w++)
        TRY(sort_pairs(s.lists[0].keys + w * n, s.lists[0].values + w * n, keys + w * n, values + w * n, n,
                       (int)plan.window_bits, s.sort_temp, s.sort_temp_bytes, stream));
    PHASE("bounds");
    CUDA_TRY(cudaMemsetAsync(s.start[0], 0, total * sizeof(uint32_t), stream));
    CUDA_TRY(cudaMemsetAsync(s.sizes, 0, total * sizeof(uint32_t), stream));
    CUDA_TRY(cudaMemsetAsync(s.totals, 0, (MSM_ROUNDS + 1) * sizeof(unsigned long long), stream));
    LAUNCH(msm_bounds, divide_up(entries, 256), 256, 0, stream, s.start[0], s.sizes, s.lists[0].keys,
           (uint32_t)n, buckets, (uint32_t)entries);
    size_t blocks = divide_up(total, 256);
    LAUNCH(msm_totals, blocks < 528 ? blocks : 528, 256, 0, stream, s.totals, s.sizes, s.start[0], total);
    LAUNCH_TRY();
    return status_ok();
}

/* Rounds until every bucket holds one entry at most; *pool_used counts slots, *last tells which lists hold
 * it. */
template <class F>
struct status msm_halve(const msm_scratch<F> &s, const unsigned long long *totals, size_t n,
                        const gpu_msm_plan &plan, uint32_t count, size_t *pool_used, int *last,
                        cudaStream_t stream)
{
    uint32_t buckets = 1u << (plan.window_bits - 1), total = buckets * count;
    size_t entries = n * count;
    int at = 0;
    *pool_used = 0;
    for (uint32_t round = 0; round < MSM_ROUNDS && totals[round]; round++) {
        PHASE("lists");
        LAUNCH(msm_round_sizes, divide_up(total, 256), 256, 0, stream, s.packed, s.sizes, total, round);
        LAUNCH_TRY();
        TRY(scan_u64(s.packed, total, s.scan_temp, s.scan_temp_bytes, stream));
        LAUNCH(msm_round, divide_up(entries, 256), 256, 0, stream, s.lists[1 - at], s.start[1 - at], s.pairs,
               s.lists[at], s.start[at], s.packed, s.sizes, (uint32_t)entries, round, (uint32_t)n, buckets,
               (uint32_t)*pool_used);
        LAUNCH_TRY();
        TRY(pairs_run(s.buffers, s.store, s.pairs, totals[round], nullptr, *pool_used, stream));
        *pool_used += totals[round];
        if (round == 0) { /* the zero digits are gone: a bucket of s entries takes s - 1 additions in all */
            entries = totals[MSM_ROUNDS];
            for (uint32_t r = 0; r < MSM_ROUNDS; r++)
                entries += totals[r];
        }
        entries -= totals[round];
        at = 1 - at;
    }
    *last = at;
    return status_ok();
}

template <class F>
struct status msm_rows_and_columns(const msm_scratch<F> &s, const gpu_msm_plan &plan, uint32_t count,
                                   size_t pool_used, int last, cudaStream_t stream)
{
    uint32_t buckets = 1u << (plan.window_bits - 1), total = buckets * count;
    uint32_t low = msm_low_bits(plan.window_bits), high = plan.window_bits - 1 - low;
    uint32_t *rows = s.dense[0], *columns = rows + total;
    PHASE("rows and columns: lists");
    LAUNCH(msm_dense, divide_up(total, 256), 256, 0, stream, rows, columns, s.lists[last], s.start[last],
           s.sizes, buckets, total, low, high);
    CUDA_TRY(cudaMemsetAsync(s.counters, 0, MSM_ROUNDS * sizeof(uint32_t), stream));
    uint32_t outputs = total, done = 0;
    int at = 0;
    for (; done < low; done++, outputs /= 2) { /* rows and columns, one list of 2 total */
        LAUNCH(halve_dense, divide_up(outputs, 256), 256, 0, stream, s.dense[1 - at], s.pairs,
               s.counters + done, s.dense[at], outputs, (uint32_t)pool_used);
        LAUNCH_TRY();
        TRY(pairs_run(s.buffers, s.store, s.pairs, outputs, s.counters + done, pool_used, stream));
        pool_used += outputs;
        at = 1 - at;
    }
    uint32_t half = count << high; /* rows: finished */
    const uint32_t *row_sums = s.dense[at], *column_sums = s.dense[at] + half;
    if (high > low) {
        LAUNCH(halve_dense, divide_up(half / 2, 256), 256, 0, stream, s.dense[1 - at], s.pairs,
               s.counters + done, column_sums, half / 2, (uint32_t)pool_used);
        LAUNCH_TRY();
        TRY(pairs_run(s.buffers, s.store, s.pairs, half / 2, s.counters + done, pool_used, stream));
        column_sums = s.dense[1 - at];
    }
    PHASE("weighted sums");
    weighted_lists lists = {row_sums, column_sums, count, 1u << high, 1u << low};
    LAUNCH((msm_weighted<F>), 2 * count, WEIGHTED_THREADS(F), 0, stream, s.sums, s.store, lists);
    LAUNCH_TRY();
    return status_ok();
}

static inline void windows_sum(xyzz<fp> *out, const xyzz<fp> *sums, uint32_t windows, uint32_t bits,
                               uint32_t low)
{
    gpu_windows_sum_g1(out, sums, windows, bits, low);
}

static inline void windows_sum(xyzz<fp2> *out, const xyzz<fp2> *sums, uint32_t windows, uint32_t bits,
                               uint32_t low)
{
    gpu_windows_sum_g2(out, sums, windows, bits, low);
}

template <class F>
struct status msm_run(xyzz<F> *out, const void *points, const void *scalars, size_t n,
                      const gpu_msm_plan &plan, void *scratch, cudaStream_t stream)
{
    msm_scratch<F> s;
    set_infinity(*out);
    if (n == 0)
        return status_ok();
    if (msm_take(s, (char *)scratch, plan.scratch_bytes, n, plan) > plan.scratch_bytes)
        return status_error(STATUS_INVALID, "MSM of %zu points does not fit its plan", n);
    s.store.base = (const uint4 *)points;
    xyzz<F> sums[256], all[256]; /* four a window; at most 64 windows */
    for (uint32_t first = 0; first < plan.windows; first += plan.group) {
        uint32_t count = plan.windows - first < plan.group ? plan.windows - first : plan.group;
        unsigned long long totals[MSM_ROUNDS + 1];
        size_t pool_used;
        int last;
        TRY(msm_sort(s, scalars, n, plan, first, count, stream));
        CUDA_TRY(cudaMemcpyAsync(totals, s.totals, sizeof totals, cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
        TRY(msm_halve(s, totals, n, plan, count, &pool_used, &last, stream));
        TRY(msm_rows_and_columns(s, plan, count, pool_used, last, stream));
        CUDA_TRY(cudaMemcpyAsync(sums, s.sums, 4 * count * sizeof(xyzz<F>), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
        for (uint32_t w = 0; w < count; w++) {
            for (uint32_t k = 0; k < 4; k++) {
                xyzz<F> &to = all[4 * (first + w) + k];
                to = sums[2 * (k / 2 * count + w) + k % 2];
                reduced(to);
            }
        }
    }
    windows_sum(out, all, plan.windows, plan.window_bits, msm_low_bits(plan.window_bits));
    return status_ok();
}

/* Window by size, measured on an H200 (docs/gpu.md). Not 17 to 19: their top window is nearly empty, so that
 * few buckets take all of its entries. */
static inline uint32_t msm_window_bits(size_t n)
{
    if (n < (1u << 9))
        return 5;
    if (n < (1u << 13))
        return 8;
    if (n < (1u << 17))
        return 11;
    if (n < (1u << 19))
        return 13;
    if (n < ((size_t)1 << 23))
        return 16;
    if (n < ((size_t)1 << 26))
        return 20;
    return 22;
}

template <class F>
struct status msm_plan_with(gpu_msm_plan *out, size_t n, uint32_t window_bits, uint32_t group)
{
    if (n > ((size_t)1 << 29) || window_bits < 4 || window_bits > 24 || group < 1)
        return status_error(STATUS_INVALID, "MSM of %zu points with windows of %u bits cannot be planned", n,
                            window_bits);
    out->window_bits = window_bits;
    out->windows = digit_windows(window_bits);
    out->group = group < out->windows ? group : out->windows;
    out->batch = pairs_batch<F>(n * out->group / 2);
    msm_scratch<F> s;
    out->scratch_bytes = msm_take(s, nullptr, 0, n, *out);
    if (s.store.capacity > REF_INDEX)
        return status_error(STATUS_INVALID, "MSM of %zu points: %u windows at once need more than 2^30 sums",
                            n, out->group);
    return status_ok();
}

template <class F> struct status msm_plan(gpu_msm_plan *out, size_t n, size_t limit)
{
    uint32_t bits = msm_window_bits(n), windows = digit_windows(bits);
    struct status s = status_ok();
    gpu_msm_plan p = {0, 0, 0, 0, 0};
    size_t least = 0;
    for (uint32_t groups = 1; groups <= windows; groups++) {
        s = msm_plan_with<F>(&p, n, bits, (uint32_t)divide_up(windows, groups));
        if (s.code == STATUS_OK) {
            least = p.scratch_bytes;
            if (least <= limit) {
                *out = p;
                return s;
            }
        }
    }
    if (s.code != STATUS_OK)
        return s;
    s = status_error(STATUS_MEMORY,
                     "MSM of %zu points needs %zu bytes of device scratch, only %zu are planned", n, least,
                     limit);
    return status_hint(s, "split the MSM, or give the device less to hold");
}

/* One thread a point: scalar times point by doubling and adding, then block sums. */
template <class F>
__global__ void msm_simple(xyzz<F> *out, const affine<F> *points, const fr_int *scalars, uint32_t n)
{
    __shared__ xyzz<F> values[SUM_THREADS];
    xyzz<F> sum, t;
    set_infinity(sum);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        affine<F> p = points[i];
        fr_int s = scalars[i];
        point_mul(t, p, s.l, 255);
        point_add(sum, sum, t);
    }
    block_sum(values, sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = values[0];
}

template <class F>
struct status msm_simple_run(xyzz<F> *out, const void *points, const void *scalars, size_t n, void *scratch,
                             cudaStream_t stream)
{
    xyzz<F> *sums = (xyzz<F> *)scratch;
    uint32_t blocks = sum_blocks(n);
    LAUNCH((msm_simple<F>), blocks, SUM_THREADS, 0, stream, sums + 1, (const affine<F> *)points,
           (const fr_int *)scalars, (uint32_t)n);
    LAUNCH((sum_xyzz<F>), 1, SUM_THREADS, 0, stream, sums, sums + 1, blocks);
    LAUNCH_TRY();
    CUDA_TRY(cudaMemcpyAsync(out, sums, sizeof *out, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    reduced(*out);
    return status_ok();
}

} // namespace gpu

#endif
