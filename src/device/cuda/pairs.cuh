/* Sums of many pairs of affine points with one inversion: the engine under the multi-scalar multiplications,
 * the bit sums and the fixed-base multiplication.
 *
 * A pair is two references: bit 31 negates the point, bit 30 says pool instead of base, the rest is an index.
 * Base points are 96 or 192 byte records as in parameter images; the pool holds sums, in planes of 16 bytes
 * so that neighbouring threads touch neighbouring bytes. Pair i of a run goes to pool slot out + i.
 *
 * Forward: a thread multiplies the differences x2 - x1 of its chain of pairs together, storing the product
 * before each step (1M a pair). The chains' products are inverted together, by the same method again and in
 * the end by one division (3M a chain). Backward: each step peels off one inverse and adds (4M + 1S).
 * Threads of a warp take neighbouring pairs, so that lists, products and sums are read and written in runs.
 *
 * Exactness: equal or opposite points give a zero product, and a zero top word of an x (infinity, or one
 * point in 2^29) marks the chain too; marked chains have product zero, are left out, and done again with
 * every case told apart, one thread a chain. */
#ifndef CUZK_DEVICE_CUDA_PAIRS_CUH
#define CUZK_DEVICE_CUDA_PAIRS_CUH

#include "device/cuda/launch.cuh"
#include "device/cuda/point.cuh"

namespace gpu
{

#define REF_NEGATIVE 0x80000000u
#define REF_POOL     0x40000000u
#define REF_INDEX    0x3fffffffu
#define REF_NONE     0xffffffffu

struct pair_refs {
    uint32_t a, b;
};

template <class F> struct point_store {
    const uint4 *base; /* records */
    uint4 *pool;       /* planes */
    size_t capacity;   /* of the pool, in points */
};

template <class F> struct pieces_of {
    static const int count = (int)(sizeof(F) / 16); /* 16-byte pieces of a coordinate */
    static const int blocks =
        count == 3 ? 4 : 2; /* of 128 threads, on a multiprocessor: 128 or 255 registers */
};

/* An array of field elements in planes. */
template <class F> struct field_planes {
    uint4 *at;
    size_t capacity;
};

template <class F> DEVICE void planes_load(F &r, const field_planes<F> &p, size_t i)
{
    uint4 v[pieces_of<F>::count];
    UNROLL for (int k = 0; k < pieces_of<F>::count; k++) v[k] = p.at[(size_t)k * p.capacity + i];
    uint32_t *w = (uint32_t *)&r;
    UNROLL for (int k = 0; k < pieces_of<F>::count; k++)
    {
        w[4 * k] = v[k].x;
        w[4 * k + 1] = v[k].y;
        w[4 * k + 2] = v[k].z;
        w[4 * k + 3] = v[k].w;
    }
}

template <class F> DEVICE void planes_store(const field_planes<F> &p, size_t i, const F &a)
{
    const uint32_t *w = (const uint32_t *)&a;
    UNROLL for (int k = 0; k < pieces_of<F>::count; k++) p.at[(size_t)k * p.capacity + i] =
        make_uint4(w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]);
}

/* Coordinate 0 (x) or 1 (y) of a reference's point, without its sign. */
template <class F> DEVICE void ref_load(F &r, const point_store<F> &s, uint32_t ref, int coordinate)
{
    const int n = pieces_of<F>::count;
    bool pool = (ref & REF_POOL) != 0;
    size_t index = ref & REF_INDEX;
    const uint4 *at = pool ? s.pool + index : s.base + index * (2 * n);
    size_t step = pool ? s.capacity : 1;
    at += step * (size_t)(coordinate * n);
    uint32_t *w = (uint32_t *)&r;
    UNROLL for (int k = 0; k < n; k++)
    {
        uint4 v = at[step * (size_t)k];
        w[4 * k] = v.x;
        w[4 * k + 1] = v.y;
        w[4 * k + 2] = v.z;
        w[4 * k + 3] = v.w;
    }
}

template <class F> DEVICE void pool_store(const point_store<F> &s, size_t slot, const affine<F> &a)
{
    const int n = pieces_of<F>::count;
    const uint32_t *w = (const uint32_t *)&a;
    UNROLL for (int k = 0; k < 2 * n; k++) s.pool[(size_t)k * s.capacity + slot] =
        make_uint4(w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]);
}

/* The point of a reference, exactly: NONE and infinity come out as all zero. */
template <class F> DEVICE void ref_point(affine<F> &r, const point_store<F> &s, uint32_t ref)
{
    if (ref == REF_NONE) {
        set_infinity(r);
        return;
    }
    ref_load(r.x, s, ref, 0);
    ref_load(r.y, s, ref, 1);
    if (is_infinity(r))
        set_infinity(r);
    else if (ref & REF_NEGATIVE)
        fp_neg(r.y, r.y);
}

HD uint32_t top_word(const fp &a)
{
    return a.l[11];
}

HD uint32_t top_word(const fp2 &a)
{
    return a.c0.l[11] | a.c1.l[11];
}

/* How one launch is cut into chains: pair i of the batch belongs to chain 32 (i / (32 length)) + i mod 32. */
struct chain_cut {
    uint32_t count;        /* pairs, an upper bound */
    const uint32_t *total; /* where not null: the number of pairs of the whole run, on the device */
    uint32_t first;        /* of this batch within the run */
    uint32_t length;       /* of a chain */
    uint32_t chains;
};

DEVICE uint32_t cut_count(const chain_cut &c)
{
    if (!c.total)
        return c.count;
    uint32_t total = *c.total;
    uint32_t left = total > c.first ? total - c.first : 0;
    return left < c.count ? left : c.count;
}

struct bad_chains {
    uint32_t *count;
    uint32_t *list; /* as many as chains */
};

template <class F>
__global__ void BOUNDS(128, pieces_of<F>::blocks)
    pairs_forward(point_store<F> store, const pair_refs *list, chain_cut cut, field_planes<F> before,
                  field_planes<F> products, bad_chains bad)
{
    uint32_t chain = blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= cut.chains)
        return;
    uint32_t count = cut_count(cut);
    size_t i = (size_t)(chain / 32) * 32 * cut.length + chain % 32;
    F product = field_of<F>::one();
    bool marked = false;
    pair_refs refs = {0, 0};
    if (i < count)
        refs = list[i];
    for (uint32_t k = 0; k < cut.length && i < count; k++) {
        F x1, x2;
        ref_load(x1, store, refs.a, 0);
        ref_load(x2, store, refs.b, 0);
        if (i + 32 < count) /* the next pair, so that its points wait for one memory access and not for two */
            refs = list[i + 32];
        marked |= top_word(x1) == 0 || top_word(x2) == 0;
        planes_store(before, i, product);
        fp_sub_wide(x2, x2, x1);
        fp_mul(product, x2, product);
        i += 32;
    }
    if (marked || fp_is_zero(product)) {
        product = field_of<F>::zero();
        bad.list[atomicAdd(bad.count, 1u)] = chain;
    }
    planes_store(products, chain, product);
}

template <class F>
__global__ void BOUNDS(128, pieces_of<F>::blocks)
    pairs_backward(point_store<F> store, const pair_refs *list, chain_cut cut, field_planes<F> before,
                   field_planes<F> inverses, uint32_t out)
{
    uint32_t chain = blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= cut.chains)
        return;
    uint32_t count = cut_count(cut);
    size_t start = (size_t)(chain / 32) * 32 * cut.length + chain % 32;
    if (start >= count)
        return;
    uint32_t steps = (uint32_t)((count - start + 31) / 32);
    if (steps > cut.length)
        steps = cut.length;
    F inverse;
    planes_load(inverse, inverses, chain);
    if (fp_is_zero(inverse))
        return;
    for (uint32_t k = steps; k-- > 0;) {
        size_t i = start + (size_t)k * 32;
        pair_refs refs = list[i];
        affine<F> p, q;
        F l, t;
        ref_load(p.x, store, refs.a, 0);
        ref_load(q.x, store, refs.b, 0);
        planes_load(l, before, i);
        fp_mul(l, l, inverse);
        fp_sub_wide(t, q.x, p.x);
        fp_mul(inverse, t, inverse);
        ref_load(p.y, store, refs.a, 1);
        ref_load(q.y, store, refs.b, 1);
        fp_neg_if(p.y, p.y, refs.a & REF_NEGATIVE);
        fp_neg_if(q.y, q.y, refs.b & REF_NEGATIVE);
        fp_sub_wide(q.y, q.y, p.y);
        fp_mul(l, q.y, l);
        fp_sqr(t, l);
        fp_sub(t, t, p.x);
        fp_sub(t, t, q.x);
        fp_sub_wide(p.x, p.x, t);
        q.x = t;
        fp_mul(q.y, p.x, l);
        fp_sub(q.y, q.y, p.y);
        pool_store(store, (size_t)out + i, q);
    }
}

/* What the sum of two points needs inverted: nothing (one of them infinite, or opposite), 2y, or x2 - x1. */
enum pair_kind { PAIR_FIRST, PAIR_SECOND, PAIR_ZERO, PAIR_DOUBLE, PAIR_ADD };

template <class F>
DEVICE pair_kind pair_load(affine<F> &p, affine<F> &q, F &denominator, const point_store<F> &store,
                           pair_refs refs)
{
    ref_point(p, store, refs.a);
    ref_point(q, store, refs.b);
    denominator = field_of<F>::one();
    if (is_infinity(q))
        return PAIR_FIRST;
    if (is_infinity(p))
        return PAIR_SECOND;
    if (fp_equal(p.x, q.x)) {
        if (!fp_equal(p.y, q.y))
            return PAIR_ZERO;
        fp_dbl(denominator, p.y);
        return PAIR_DOUBLE;
    }
    fp_sub(denominator, q.x, p.x);
    return PAIR_ADD;
}

template <class F>
__global__ void pairs_careful(point_store<F> store, const pair_refs *list, chain_cut cut,
                              field_planes<F> before, bad_chains bad, uint32_t out)
{
    uint32_t count = cut_count(cut), chains = *bad.count;
    for (uint32_t c = blockIdx.x * blockDim.x + threadIdx.x; c < chains; c += gridDim.x * blockDim.x) {
        uint32_t chain = bad.list[c];
        size_t start = (size_t)(chain / 32) * 32 * cut.length + chain % 32;
        F product = field_of<F>::one(), d;
        affine<F> p, q;
        uint32_t steps = 0;
        for (; steps < cut.length && start + (size_t)steps * 32 < count; steps++) {
            size_t i = start + (size_t)steps * 32;
            (void)pair_load(p, q, d, store, list[i]);
            planes_store(before, i, product);
            fp_mul(product, d, product);
        }
        fp_inverse_vartime(product, product);
        while (steps-- > 0) {
            size_t i = start + (size_t)steps * 32;
            F l, t;
            pair_kind kind = pair_load(p, q, d, store, list[i]);
            planes_load(l, before, i);
            fp_mul(l, l, product);
            fp_mul(product, d, product);
            if (kind == PAIR_FIRST) {
                q = p;
            } else if (kind == PAIR_ZERO) {
                set_infinity(q);
            } else if (kind != PAIR_SECOND) {
                if (kind == PAIR_ADD) {
                    fp_sub(t, q.y, p.y);
                } else {
                    F s;
                    fp_sqr(s, p.x);
                    fp_dbl(t, s);
                    fp_add(t, t, s);
                }
                fp_mul(l, t, l);
                fp_sqr(t, l);
                fp_sub(t, t, p.x);
                fp_sub(t, t, q.x);
                fp_sub(p.x, p.x, t);
                fp_mul(l, p.x, l);
                q.x = t;
                fp_sub(q.y, l, p.y);
            }
            pool_store(store, (size_t)out + i, q);
        }
    }
}

/* The same method for the chains' products themselves. Zeros stay zero. */
template <class F>
__global__ void BOUNDS(128, pieces_of<F>::blocks)
    invert_forward(field_planes<F> values, uint32_t count, uint32_t length, field_planes<F> before,
                   field_planes<F> products, uint32_t chains)
{
    uint32_t chain = blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= chains)
        return;
    size_t i = (size_t)(chain / 32) * 32 * length + chain % 32;
    F product = field_of<F>::one();
    for (uint32_t k = 0; k < length && i < count; k++, i += 32) {
        F v;
        planes_load(v, values, i);
        planes_store(before, i, product);
        if (!fp_is_zero(v))
            fp_mul(product, v, product);
    }
    planes_store(products, chain, product);
}

template <class F>
__global__ void BOUNDS(128, pieces_of<F>::blocks)
    invert_backward(field_planes<F> values, uint32_t count, uint32_t length, field_planes<F> before,
                    field_planes<F> inverses, uint32_t chains)
{
    uint32_t chain = blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= chains)
        return;
    size_t start = (size_t)(chain / 32) * 32 * length + chain % 32;
    if (start >= count)
        return;
    uint32_t steps = (uint32_t)((count - start + 31) / 32);
    if (steps > length)
        steps = length;
    F inverse;
    planes_load(inverse, inverses, chain);
    for (uint32_t k = steps; k-- > 0;) {
        size_t i = start + (size_t)k * 32;
        F v, b;
        planes_load(v, values, i);
        if (fp_is_zero(v))
            continue;
        planes_load(b, before, i);
        fp_mul(b, b, inverse);
        fp_mul(inverse, v, inverse);
        planes_store(values, i, b);
    }
}

/* One block: a product tree over its threads, one division, and back down. */
#define INVERT_LAST_THREADS 128
#ifndef INVERT_LAST_COUNT
#define INVERT_LAST_COUNT 1024
#endif

template <class F>
__global__ void BOUNDS(INVERT_LAST_THREADS, 1) invert_last(field_planes<F> values, uint32_t count)
{
    __shared__ F tree[2 * INVERT_LAST_THREADS];
    const uint32_t n = INVERT_LAST_THREADS;
    F before[INVERT_LAST_COUNT / INVERT_LAST_THREADS], v;
    F product = field_of<F>::one();
    for (uint32_t k = 0, i = threadIdx.x; i < count; k++, i += n) {
        before[k] = product;
        planes_load(v, values, i);
        if (!fp_is_zero(v))
            fp_mul(product, v, product);
    }
    tree[n + threadIdx.x] = product;
    __syncthreads();
    for (uint32_t width = n / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            fp_mul(tree[width + threadIdx.x], tree[2 * (width + threadIdx.x)],
                   tree[2 * (width + threadIdx.x) + 1]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        v = tree[1];
        fp_inverse_vartime(v, v);
        tree[1] = v;
    }
    __syncthreads();
    for (uint32_t width = 1; width < n; width *= 2) {
        if (threadIdx.x < width) {
            uint32_t node = width + threadIdx.x;
            F left = tree[2 * node];
            fp_mul(tree[2 * node], tree[node], tree[2 * node + 1]);
            fp_mul(tree[2 * node + 1], tree[node], left);
        }
        __syncthreads();
    }
    F inverse = tree[n + threadIdx.x];
    uint32_t steps = count > threadIdx.x ? (count - threadIdx.x + n - 1) / n : 0;
    for (uint32_t k = steps; k-- > 0;) {
        uint32_t i = threadIdx.x + k * n;
        planes_load(v, values, i);
        if (fp_is_zero(v))
            continue;
        F b;
        fp_mul(b, before[k], inverse);
        fp_mul(inverse, v, inverse);
        planes_store(values, i, b);
    }
}

/* Host side. */

/* Chosen by measurement; tests make them small, to have long chains, levels and batches from few points. */
#ifndef PAIRS_CHAINS_GOAL
#define PAIRS_CHAINS_GOAL (1u << 18) /* four waves of 16 warps on 132 multiprocessors */
#define PAIRS_BATCH       (1u << 26) /* 3.2 GB of products in G1 */
#endif
#define PAIRS_LEVELS      8
#define PAIRS_LEVEL_CHAIN 16u
#define PAIRS_CHAIN       64u

/* Pairs under one inversion, when a run has this many. */
template <class F> uint32_t pairs_batch(size_t pairs)
{
    size_t most = PAIRS_BATCH / (pieces_of<F>::count / 3);
    return (uint32_t)(pairs + 64 < most ? pairs + 64 : most);
}

template <class F> struct pairs_buffers {
    uint32_t batch; /* pairs that go under one inversion */
    field_planes<F> before;
    field_planes<F> level_values[PAIRS_LEVELS], level_before[PAIRS_LEVELS];
    bad_chains bad;
};

static inline uint32_t pairs_chain_length(uint32_t pairs)
{
    uint32_t length = (uint32_t)divide_up(pairs, PAIRS_CHAINS_GOAL);
    return length < 1 ? 1 : length > PAIRS_CHAIN ? PAIRS_CHAIN : length;
}

static inline uint32_t chains_for(uint32_t count, uint32_t length) /* whole warps */
{
    return (uint32_t)divide_up(count, (size_t)32 * length) * 32;
}

/* Bytes: a coordinate for each pair of a batch and about 1.1 for each of its chains, of which there are at
 * most max(batch / 64, 2^18). */
template <class F> void pairs_take(pairs_buffers<F> &b, arena &a, uint32_t batch)
{
    const size_t pieces = pieces_of<F>::count;
    b.batch = batch;
    b.before.capacity = batch;
    b.before.at = a.take<uint4>(pieces * batch);
    size_t chains = divide_up(batch, PAIRS_CHAIN) + 64;
    if (chains < PAIRS_CHAINS_GOAL + 64)
        chains = batch + 64 < PAIRS_CHAINS_GOAL + 64 ? batch + 64 : PAIRS_CHAINS_GOAL + 64;
    b.bad.count = a.take<uint32_t>(1);
    b.bad.list = a.take<uint32_t>(chains);
    for (int level = 0; level < PAIRS_LEVELS; level++) {
        b.level_values[level].capacity = b.level_before[level].capacity = chains;
        b.level_values[level].at = a.take<uint4>(pieces * chains);
        b.level_before[level].at = a.take<uint4>(pieces * chains);
        chains = divide_up(chains, 32 * PAIRS_LEVEL_CHAIN) * 32;
    }
}

template <class F> struct status pairs_invert(const pairs_buffers<F> &b, uint32_t count, cudaStream_t stream)
{
    uint32_t counts[PAIRS_LEVELS];
    int level = 0;
    counts[0] = count;
    while (counts[level] > INVERT_LAST_COUNT) {
        uint32_t chains = chains_for(counts[level], PAIRS_LEVEL_CHAIN);
        LAUNCH((invert_forward<F>), divide_up(chains, 128), 128, 0, stream, b.level_values[level],
               counts[level], PAIRS_LEVEL_CHAIN, b.level_before[level], b.level_values[level + 1], chains);
        counts[++level] = chains;
    }
    LAUNCH((invert_last<F>), 1, INVERT_LAST_THREADS, 0, stream, b.level_values[level], counts[level]);
    while (level-- > 0)
        LAUNCH((invert_backward<F>), divide_up(counts[level + 1], 128), 128, 0, stream, b.level_values[level],
               counts[level], PAIRS_LEVEL_CHAIN, b.level_before[level], b.level_values[level + 1],
               counts[level + 1]);
    LAUNCH_TRY();
    return status_ok();
}

/* pool[out + i] = list[i].a + list[i].b for i < count, or i < *total where total (device memory) is given and
 * less. The inputs must not lie in the slots that are written. */
template <class F>
struct status pairs_run(const pairs_buffers<F> &b, const point_store<F> &store, const pair_refs *list,
                        size_t count, const uint32_t *total, size_t out, cudaStream_t stream)
{
    for (size_t first = 0; first < count; first += b.batch) {
        chain_cut cut;
        cut.count = (uint32_t)(count - first < b.batch ? count - first : b.batch);
        cut.total = total;
        cut.first = (uint32_t)first;
        cut.length = pairs_chain_length(cut.count);
        cut.chains = chains_for(cut.count, cut.length);
        unsigned blocks = (unsigned)divide_up(cut.chains, 128);
        CUDA_TRY(cudaMemsetAsync(b.bad.count, 0, sizeof(uint32_t), stream));
        PHASE("pairs: forward");
        LAUNCH((pairs_forward<F>), blocks, 128, 0, stream, store, list + first, cut, b.before,
               b.level_values[0], b.bad);
        PHASE("pairs: inversion");
        struct status s = pairs_invert(b, cut.chains, stream);
        if (s.code != STATUS_OK)
            return s;
        PHASE("pairs: backward");
        LAUNCH((pairs_backward<F>), blocks, 128, 0, stream, store, list + first, cut, b.before,
               b.level_values[0], (uint32_t)(out + first));
        PHASE("pairs: careful");
        LAUNCH((pairs_careful<F>), blocks < 528 ? blocks : 528, 128, 0, stream, store, list + first, cut,
               b.before, b.bad, (uint32_t)(out + first));
        LAUNCH_TRY();
    }
    return status_ok();
}

} // namespace gpu

#endif
