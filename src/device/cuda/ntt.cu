/* Number-theoretic transforms in place, natural order to bit-reversed and back, and h.
 *
 * Forward stage s (0 first) works on 2^s groups of neighbours; group k pairs offset j with j + half its
 * length and has one twiddle: w^(bits of k reversed), the same for every size, so one table serves all: entry
 * k is a fraction of a turn, 0, 1/4, 1/8, 3/8, 1/16, 5/16, 3/16, 7/16, ... The tree of these groups splits
 * x^m - 1; its sibling splits x^m + 1, whose roots are g w^i with g^m = -1. So the transform over that coset
 * is the same network with the groups of stage s numbered from 2^s instead of 0: scaling by powers of g costs
 * nothing. The inverse runs the stages backwards, with 1/w of entry k, 2^j <= k < 2^(j+1), found as minus
 * entry 3*2^j - 1 - k.
 *
 * A pass is up to nine stages: a block holds 2048 elements in the registers of 256 threads, eight each, and
 * does three stages between exchanges through shared memory. 2^27 takes three passes. Twiddles are in Shoup
 * form, which also makes Montgomery form irrelevant. Values are lazy, below 2r, until the last pass. */
#include "device/cuda/fr.cuh"
#include "device/cuda/kernels.h"
#include "device/cuda/launch.cuh"

namespace gpu
{

#define NTT_THREADS  256
#define NTT_ELEMENTS 2048

struct ntt_pass {
    uint32_t first_group; /* of the pass's first stage: 0, or 2^stage on the coset */
    uint32_t log_inner;   /* log2 of the distance between the pass's elements */
    uint32_t last;        /* reduce below r on the way out */
};

DEVICE void fr_load(fr &r, const fr *p)
{
    const uint4 *q = (const uint4 *)p;
    uint4 a = q[0], b = q[1];
    r.l[0] = a.x, r.l[1] = a.y, r.l[2] = a.z, r.l[3] = a.w;
    r.l[4] = b.x, r.l[5] = b.y, r.l[6] = b.z, r.l[7] = b.w;
}

DEVICE void fr_store(fr *p, const fr &a)
{
    uint4 *q = (uint4 *)p;
    q[0] = make_uint4(a.l[0], a.l[1], a.l[2], a.l[3]);
    q[1] = make_uint4(a.l[4], a.l[5], a.l[6], a.l[7]);
}

DEVICE void twiddle_load(fr_shoup &t, const fr_shoup *p)
{
    const uint4 *q = (const uint4 *)p;
    uint4 a = q[0], b = q[1], c = q[2], d = q[3];
    t.w[0] = a.x, t.w[1] = a.y, t.w[2] = a.z, t.w[3] = a.w;
    t.w[4] = b.x, t.w[5] = b.y, t.w[6] = b.z, t.w[7] = b.w;
    t.q[0] = c.x, t.q[1] = c.y, t.q[2] = c.z, t.q[3] = c.w;
    t.q[4] = d.x, t.q[5] = d.y, t.q[6] = d.z, t.q[7] = d.w;
}

/* Entry of the table that has minus the inverse of twiddle k; entry -1 is minus one, for k = 0. */
DEVICE int32_t inverse_entry(uint32_t k)
{
    return k ? (int32_t)(3 * (1u << (31 - __clz((int)k))) - 1 - k) : -1;
}

/* One butterfly, for which t holds twiddle k (forward) or inverse_entry(k). MAYBE_ONE: skip the
 * multiplication where k = 0, at the price of a branch. */
template <bool INVERSE, bool MAYBE_ONE> DEVICE void butterfly(fr &x, fr &y, uint32_t k, const fr_shoup &t)
{
    fr s;
    if (!INVERSE) {
        if (!MAYBE_ONE || k)
            fr_mul_shoup(y, y, t.w, t.q);
        s = y;
        fr_sub_lazy(y, x, s);
        fr_add_lazy(x, x, s);
    } else if (!MAYBE_ONE || k) {
        fr_sub_lazy(s, y, x);
        fr_add_lazy(x, x, y);
        fr_mul_shoup(y, s, t.w, t.q);
    } else {
        fr_sub_lazy(s, x, y);
        fr_add_lazy(x, x, y);
        y = s;
    }
}

/* `stages` stages on eight elements whose index bits are the thread's three: the first works across bit 2.
 * group is that of the first stage for these elements; with fewer than three stages the low bits of the eight
 * are left. ONES: group may be 0, often enough to look. */
template <bool INVERSE, bool ONES, int stages> DEVICE void eight(fr *v, uint32_t group, const fr_shoup *table)
{
    UNROLL for (int step = 0; step < stages; step++)
    {
        const int stage = INVERSE ? stages - 1 - step : step;
        const int half = 4 >> stage;
        UNROLL for (int g = 0; g < (1 << stage); g++)
        {
            uint32_t k = (group << stage) + (uint32_t)g;
            fr_shoup t;
            twiddle_load(t, table + (INVERSE ? inverse_entry(k) : (int32_t)k));
            UNROLL for (int j = 0; j < half; j++)
            {
                if (ONES && g == 0)
                    butterfly<INVERSE, true>(v[g * 2 * half + j], v[g * 2 * half + j + half], k, t);
                else
                    butterfly<INVERSE, false>(v[g * 2 * half + j], v[g * 2 * half + j + half], k, t);
            }
        }
    }
}

/* Where the 11-bit index n of an element of the block lies in shared memory: the lowest bits are mixed with
 * those above them, so that eight neighbouring threads reach eight different bank groups in every step. */
DEVICE uint32_t shared_place(uint32_t n)
{
    return n ^ ((n >> 3) & 7) ^ ((n >> 6) & 7);
}

/* Index of element e of a thread whose three bits are low+2 .. low of n. */
template <int low> DEVICE uint32_t spread(uint32_t thread, uint32_t e)
{
    return ((thread >> low) << (low + 3)) | (e << low) | (thread & ((1u << low) - 1));
}

template <int low> DEVICE void shared_write(uint4 *shared, const fr *v)
{
    UNROLL for (uint32_t e = 0; e < 8; e++)
    {
        uint32_t at = shared_place(spread<low>(threadIdx.x, e));
        shared[at] = make_uint4(v[e].l[0], v[e].l[1], v[e].l[2], v[e].l[3]);
        shared[at + NTT_ELEMENTS] = make_uint4(v[e].l[4], v[e].l[5], v[e].l[6], v[e].l[7]);
    }
}

template <int low> DEVICE void shared_read(const uint4 *shared, fr *v)
{
    UNROLL for (uint32_t e = 0; e < 8; e++)
    {
        uint32_t at = shared_place(spread<low>(threadIdx.x, e));
        uint4 a = shared[at], b = shared[at + NTT_ELEMENTS];
        v[e].l[0] = a.x, v[e].l[1] = a.y, v[e].l[2] = a.z, v[e].l[3] = a.w;
        v[e].l[4] = b.x, v[e].l[5] = b.y, v[e].l[6] = b.z, v[e].l[7] = b.w;
    }
}

/* Where element n of the block's share is: with CLOSE (the pass's elements are neighbours in memory) n is
 * column, then element; else element, then column, columns being neighbours in memory. */
template <int STAGES, bool CLOSE> struct pass_index {
    static const int columns = 11 - STAGES; /* log2 */
    const ntt_pass &pass;

    /* sub-transform f: group f >> log_inner, offset the rest */
    DEVICE uint32_t transform_of(uint32_t n) const
    {
        return (blockIdx.x << columns) + (CLOSE ? n >> STAGES : n & ((1u << columns) - 1));
    }
    DEVICE uint32_t element_of(uint32_t n) const
    {
        return CLOSE ? n & ((1u << STAGES) - 1) : n >> columns;
    }
    DEVICE size_t place(uint32_t n) const
    {
        uint32_t f = transform_of(n), element = element_of(n);
        if (CLOSE)
            return ((size_t)f << STAGES) + element;
        uint32_t group = f >> pass.log_inner, offset = f & ((1u << pass.log_inner) - 1);
        return ((((size_t)group << STAGES) + element) << pass.log_inner) + offset;
    }
    /* group number, in the pass's first stage, of the element with index n */
    DEVICE uint32_t group_of(uint32_t n) const
    {
        uint32_t f = transform_of(n);
        return pass.first_group + (CLOSE ? f : f >> pass.log_inner);
    }
};

/* STAGES stages (7 to 9), of which the first is the transform's first where ONES. */
template <int STAGES, bool INVERSE, bool CLOSE, bool ONES>
__global__ void BOUNDS(NTT_THREADS, 2) ntt_pass_kernel(fr *data, const fr_shoup *table, ntt_pass pass)
{
    const int shift = CLOSE ? 0 : 11 - STAGES; /* of the element number in n */
    const int low_a = shift + STAGES - 3, low_b = shift + 3, low_c = shift;
    const int stages_a = STAGES - 6;
    DYNAMIC_SHARED(uint4, shared);
    fr v[8];
    uint32_t thread = threadIdx.x;
    const pass_index<STAGES, CLOSE> at = {pass};

    /* Memory is read and written with neighbouring threads at neighbouring elements. Between a step's reading
     * of shared memory and its writing no barrier is needed: a thread writes the places that it read. */
    const int low_memory = CLOSE || !INVERSE ? low_a : low_c;
    if (!INVERSE) {
        UNROLL for (uint32_t e = 0; e < 8; e++) fr_load(v[e], data + at.place(spread<low_a>(thread, e)));
        eight<INVERSE, ONES, stages_a>(v, at.group_of(spread<low_a>(thread, 0)), table);
        shared_write<low_a>(shared, v);
        __syncthreads();
        shared_read<low_b>(shared, v);
        {
            uint32_t n = spread<low_b>(thread, 0);
            eight<INVERSE, ONES, 3>(v, (at.group_of(n) << stages_a) + (at.element_of(n) >> 6), table);
        }
        shared_write<low_b>(shared, v);
        __syncthreads();
        shared_read<low_c>(shared, v);
        {
            uint32_t n = spread<low_c>(thread, 0);
            eight<INVERSE, ONES, 3>(v, (at.group_of(n) << (stages_a + 3)) + (at.element_of(n) >> 3), table);
        }
        if (CLOSE) {
            shared_write<low_c>(shared, v);
            __syncthreads();
            shared_read<low_a>(shared, v);
        }
        if (pass.last) {
            UNROLL for (uint32_t e = 0; e < 8; e++) fr_reduce(v[e], v[e]);
        }
        UNROLL for (uint32_t e = 0; e < 8; e++)
            fr_store(data + at.place(CLOSE ? spread<low_a>(thread, e) : spread<low_c>(thread, e)), v[e]);
    } else {
        UNROLL for (uint32_t e = 0; e < 8; e++) fr_load(v[e], data + at.place(spread<low_memory>(thread, e)));
        if (CLOSE) {
            shared_write<low_a>(shared, v);
            __syncthreads();
            shared_read<low_c>(shared, v);
        }
        {
            uint32_t n = spread<low_c>(thread, 0);
            eight<INVERSE, ONES, 3>(v, (at.group_of(n) << (stages_a + 3)) + (at.element_of(n) >> 3), table);
        }
        shared_write<low_c>(shared, v);
        __syncthreads();
        shared_read<low_b>(shared, v);
        {
            uint32_t n = spread<low_b>(thread, 0);
            eight<INVERSE, ONES, 3>(v, (at.group_of(n) << stages_a) + (at.element_of(n) >> 6), table);
        }
        shared_write<low_b>(shared, v);
        __syncthreads();
        shared_read<low_a>(shared, v);
        eight<INVERSE, ONES, stages_a>(v, at.group_of(spread<low_a>(thread, 0)), table);
        if (pass.last) {
            UNROLL for (uint32_t e = 0; e < 8; e++) fr_reduce(v[e], v[e]);
        }
        UNROLL for (uint32_t e = 0; e < 8; e++) fr_store(data + at.place(spread<low_a>(thread, e)), v[e]);
    }
}

/* One to three stages straight from memory, a thread eight (or four, or two) elements: what is left when
 * seven to nine do not divide the stages. */
template <int STAGES, bool INVERSE>
__global__ void ntt_short_pass(fr *data, const fr_shoup *table, ntt_pass pass, uint32_t threads)
{
    uint32_t f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= threads)
        return;
    uint32_t group = f >> pass.log_inner, offset = f & ((1u << pass.log_inner) - 1);
    fr *at = data + ((size_t)group << (STAGES + pass.log_inner)) + offset;
    size_t step = (size_t)1 << pass.log_inner;
    fr v[8];
    UNROLL for (int e = 0; e < 8; e++) /* element e of 2^STAGES sits in place e << (3 - STAGES) */
    {
        if (e % (8 >> STAGES) == 0)
            fr_load(v[e], at + step * (size_t)(e >> (3 - STAGES)));
        else
            v[e] = fr_zero();
    }
    eight<INVERSE, false, STAGES>(v, pass.first_group + group, table);
    UNROLL for (int e = 0; e < 8; e++)
    {
        if (e % (8 >> STAGES) == 0) {
            if (pass.last)
                fr_reduce(v[e], v[e]);
            fr_store(at + step * (size_t)(e >> (3 - STAGES)), v[e]);
        }
    }
}

/* Entries 2^level .. 2^(level+1): those before times a root of order 2^(level+2). */
static __global__ void ntt_table_level(fr_shoup *table, uint32_t count, fr_shoup root)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count)
        return;
    fr x;
    fr_shoup t;
    UNROLL for (int i = 0; i < 8; i++) x.l[i] = table[k].w[i];
    fr_mul_shoup(x, x, root.w, root.q);
    fr_reduce(x, x);
    fr_mul(x, fr_r2(), x);
    fr_shoup_from(t, x);
    table[count + k] = t;
}

static __global__ void bit_reverse(fr *data, uint32_t log_size)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log_size)
        return;
    uint32_t j = log_size ? __brev(i) >> (32 - log_size) : 0;
    if (i < j) {
        fr a, b;
        fr_load(a, data + i);
        fr_load(b, data + j);
        fr_store(data + i, b);
        fr_store(data + j, a);
    }
}

/* out = a b, Montgomery; a, b < r. */
static __global__ void fr_multiply(fr *out, const fr *a, const fr *b, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr x, y;
    fr_load(x, a + i);
    fr_load(y, b + i);
    fr_mul(x, x, y);
    fr_store(out + i, x);
}

/* a = ca a - cc c, with constants that take Montgomery form away. */
static __global__ void h_combine(fr *a, const fr *c, fr ca, fr cc, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr x, y;
    fr_load(x, a + i);
    fr_load(y, c + i);
    fr_mul(x, ca, x);
    fr_mul(y, cc, y);
    fr_sub(x, x, y);
    fr_store(a + i, x);
}

static __global__ void fr_convert(fr *data, uint32_t n, fr by)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr x;
    fr_load(x, data + i);
    fr_mul(x, by, x);
    fr_store(data + i, x);
}

/* 7^((r-1)/2^32) in Montgomery form, squared down to order 2^log. */
static fr root_of_order(unsigned log)
{
    fr w = {{0x5f0e466a, 0xb9b58d8c, 0x1819d7ec, 0x5b1b4c80, 0x52a31e64, 0x0af53ae3, 0x19e9b27b, 0x5bf3adda}};
    for (unsigned i = 32; i > log; i--)
        fr_mul(w, w, w);
    return w;
}

template <int STAGES, bool INVERSE, bool CLOSE, bool ONES>
static struct status run_pass(fr *data, const fr_shoup *table, ntt_pass pass, unsigned log_size,
                              cudaStream_t stream)
{
    const int bytes = NTT_ELEMENTS * 32;
    auto *kernel = ntt_pass_kernel<STAGES, INVERSE, CLOSE, ONES>;
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    LAUNCH(kernel, (size_t)1 << (log_size - 11), NTT_THREADS, bytes, stream, data, table, pass);
    LAUNCH_TRY();
    return status_ok();
}

template <int STAGES, bool INVERSE>
static struct status run_long(fr *data, const fr_shoup *table, ntt_pass pass, unsigned log_size,
                              cudaStream_t stream)
{
    if (pass.log_inner == 0)
        return run_pass<STAGES, INVERSE, true, false>(data, table, pass, log_size, stream);
    if (pass.first_group == 0 && pass.log_inner + STAGES == log_size)
        return run_pass<STAGES, INVERSE, false, true>(data, table, pass, log_size, stream);
    return run_pass<STAGES, INVERSE, false, false>(data, table, pass, log_size, stream);
}

template <bool INVERSE>
static struct status run_stages(fr *data, const fr_shoup *table, unsigned first, unsigned stages,
                                unsigned flags, bool last, unsigned log_size, cudaStream_t stream)
{
    ntt_pass pass;
    pass.first_group = flags & GPU_NTT_COSET ? 1u << first : 0;
    pass.log_inner = log_size - first - stages;
    pass.last = last;
    uint32_t threads = (uint32_t)((size_t)1 << (log_size - stages));
    size_t blocks = divide_up(threads, 128);
    PHASE(first == 0 ? "NTT: far stages" : pass.log_inner ? "NTT: middle stages" : "NTT: close stages");
    switch (stages) {
    case 9:
        return run_long<9, INVERSE>(data, table, pass, log_size, stream);
    case 8:
        return run_long<8, INVERSE>(data, table, pass, log_size, stream);
    case 7:
        return run_long<7, INVERSE>(data, table, pass, log_size, stream);
    case 3:
        LAUNCH((ntt_short_pass<3, INVERSE>), blocks, 128, 0, stream, data, table, pass, threads);
        break;
    case 2:
        LAUNCH((ntt_short_pass<2, INVERSE>), blocks, 128, 0, stream, data, table, pass, threads);
        break;
    default:
        LAUNCH((ntt_short_pass<1, INVERSE>), blocks, 128, 0, stream, data, table, pass, threads);
        break;
    }
    LAUNCH_TRY();
    return status_ok();
}

/* Stages of each pass, first to last: short passes first, so that every later one finds columns enough. */
static unsigned split_stages(unsigned *passes, unsigned log_size)
{
    unsigned count = 0, left = log_size;
    if (log_size >= 11) {
        unsigned longs = log_size / 7 < (log_size + 8) / 9 ? log_size / 7 : (log_size + 8) / 9;
        unsigned shorts = log_size > 9 * longs ? log_size - 9 * longs : 0;
        left -= shorts;
        for (; shorts > 0; shorts -= passes[count - 1])
            passes[count++] = shorts > 3 ? 3 : shorts;
        for (; longs > 0; longs--) {
            unsigned s = (left + longs - 1) / longs;
            passes[count++] = s;
            left -= s;
        }
        return count;
    }
    for (; left > 0; left -= passes[count - 1])
        passes[count++] = left > 3 ? 3 : left;
    return count;
}

static struct status transform(fr *data, const fr_shoup *table, unsigned log_size, unsigned flags,
                               cudaStream_t stream)
{
    unsigned passes[16], count = split_stages(passes, log_size), first = 0;
    if (!(flags & GPU_NTT_INVERSE)) {
        for (unsigned i = 0; i < count; first += passes[i++])
            TRY(run_stages<false>(data, table, first, passes[i], flags, i + 1 == count, log_size, stream));
    } else {
        first = log_size;
        for (unsigned i = count; i-- > 0;) {
            first -= passes[i];
            TRY(run_stages<true>(data, table, first, passes[i], flags, i == 0, log_size, stream));
        }
    }
    return status_ok();
}

} // namespace gpu

using namespace gpu;

extern "C" {

size_t gpu_ntt_table_bytes(unsigned log_size)
{
    return sizeof(fr_shoup) * (((size_t)1 << log_size) + 1);
}

struct status gpu_ntt_table(void *table_dev, unsigned log_size, struct CUstream_st *stream)
{
    fr_shoup *table = (fr_shoup *)table_dev + 1, ones[2], root;
    fr minus_one;
    fr_sub(minus_one, fr_zero(), fr_one());
    fr_shoup_from(ones[0], minus_one);
    fr_shoup_from(ones[1], fr_one());
    CUDA_TRY(cudaMemcpyAsync(table - 1, ones, sizeof ones, cudaMemcpyHostToDevice, stream));
    for (unsigned level = 0; level < log_size; level++) {
        uint32_t count = 1u << level;
        fr_shoup_from(root, root_of_order(level + 2));
        LAUNCH(ntt_table_level, divide_up(count, 128), 128, 0, stream, table, count, root);
        LAUNCH_TRY();
    }
    return status_ok();
}

struct status gpu_ntt(void *data_dev, const void *table_dev, unsigned log_size, unsigned flags,
                      struct CUstream_st *stream)
{
    if (log_size > 30)
        return status_error(STATUS_INVALID, "NTT of size 2^%u: at most 2^30 is possible", log_size);
    return transform((fr *)data_dev, (const fr_shoup *)table_dev + 1, log_size, flags, stream);
}

struct status gpu_ntt_simple(void *data_dev, const void *table_dev, unsigned log_size, unsigned flags,
                             struct CUstream_st *stream)
{
    fr *data = (fr *)data_dev;
    const fr_shoup *table = (const fr_shoup *)table_dev + 1;
    for (unsigned i = 0; i < log_size; i++) {
        bool last = i + 1 == log_size;
        if (flags & GPU_NTT_INVERSE)
            TRY(run_stages<true>(data, table, log_size - 1 - i, 1, flags, last, log_size, stream));
        else
            TRY(run_stages<false>(data, table, i, 1, flags, last, log_size, stream));
    }
    return status_ok();
}

struct status gpu_bit_reverse(void *data_dev, unsigned log_size, struct CUstream_st *stream)
{
    LAUNCH(bit_reverse, divide_up((size_t)1 << log_size, 256), 256, 0, stream, (fr *)data_dev, log_size);
    LAUNCH_TRY();
    return status_ok();
}

/* With m = 2^log: the inverse transforms leave m a, m b, m c; the coset values of the first two multiply to
 * m^2 AB, and the inverse over the coset leaves m^3 d. h = (d - c) / (g^m - 1) = (c - d) / 2. */
struct status gpu_h(void *a_dev, void *b_dev, void *c_dev, const void *table_dev, unsigned log_size,
                    struct CUstream_st *stream)
{
    fr *a = (fr *)a_dev, *b = (fr *)b_dev, *c = (fr *)c_dev;
    const fr_shoup *table = (const fr_shoup *)table_dev + 1;
    uint32_t m = 1u << log_size;
    size_t blocks = divide_up(m, 256);
    LAUNCH(fr_multiply, blocks, 256, 0, stream, c, a, b, m);
    LAUNCH_TRY();
    TRY(transform(a, table, log_size, GPU_NTT_INVERSE, stream));
    TRY(transform(b, table, log_size, GPU_NTT_INVERSE, stream));
    TRY(transform(c, table, log_size, GPU_NTT_INVERSE, stream));
    TRY(transform(a, table, log_size, GPU_NTT_COSET, stream));
    TRY(transform(b, table, log_size, GPU_NTT_COSET, stream));
    LAUNCH(fr_multiply, blocks, 256, 0, stream, a, a, b, m);
    LAUNCH_TRY();
    TRY(transform(a, table, log_size, GPU_NTT_INVERSE | GPU_NTT_COSET, stream));
    /* 1/2 in Montgomery form, then 1/m by halving; plain so that the product leaves Montgomery form */
    fr half = fr_one(), scale, zero = fr_zero(), ca, cc;
    fr one_plain = fr{{1, 0, 0, 0, 0, 0, 0, 0}};
    {
        /* (r + 1) / 2 as an integer */
        fr_int h = {
            {0x80000001, 0x7fffffff, 0x7fff2dff, 0xa9ded201, 0x04d0ec02, 0x199cec04, 0x94cebea4, 0x39f6d3a9}};
        fr_from_int(half, h);
    }
    scale = fr_one();
    for (unsigned i = 0; i < log_size; i++)
        fr_mul(scale, scale, half);
    fr_mul(cc, half, scale); /* 1/(2m) */
    fr_mul(ca, cc, scale);
    fr_mul(ca, ca, scale);     /* 1/(2m^3) */
    fr_mul(cc, one_plain, cc); /* plain */
    fr_mul(ca, one_plain, ca);
    fr_sub(cc, zero, cc);
    fr_sub(ca, zero, ca);
    LAUNCH(h_combine, blocks, 256, 0, stream, a, c, ca, cc, m);
    LAUNCH_TRY();
    return status_ok();
}

struct status gpu_fr_to_int(void *data_dev, size_t n, struct CUstream_st *stream)
{
    fr one_plain = fr{{1, 0, 0, 0, 0, 0, 0, 0}};
    if (n > 0)
        LAUNCH(fr_convert, divide_up(n, 256), 256, 0, stream, (fr *)data_dev, (uint32_t)n, one_plain);
    LAUNCH_TRY();
    return status_ok();
}

struct status gpu_fr_from_int(void *data_dev, size_t n, struct CUstream_st *stream)
{
    if (n > 0)
        LAUNCH(fr_convert, divide_up(n, 256), 256, 0, stream, (fr *)data_dev, (uint32_t)n, fr_r2());
    LAUNCH_TRY();
    return status_ok();
}
}
