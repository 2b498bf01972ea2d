/* See setup_kernels.h. A thread a row; the column of ONE, which most rows have, is summed over the block
 * first, or its atomic additions would queue up behind each other. */
#include "device/cuda/setup_kernels.h"
#include "device/cuda/bitsum.cuh"
#include "device/cuda/fr.cuh"
#include <string.h>

using namespace gpu;

namespace
{

#define ROW_THREADS 128

/* r1cs/template.h, which is C */
#define COLUMN_SHIFT  29
#define COLUMN_NUMBER 0x1fffffffu
enum column_type { LOCAL_BIT, LOCAL_FIELD, PORT_BIT, PORT_FIELD, ONE };
#define VARIABLE_AUX 0x80000000u

__global__ void powers(fr *out, const fr *low, const fr *high, size_t n, unsigned reversed, bool plain)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t j = reversed ? __brev((uint32_t)i) >> (32 - reversed) : (uint32_t)i;
    fr r;
    fr_mul(r, high[j >> GPU_SETUP_LOW], low[j & ((1u << GPU_SETUP_LOW) - 1)]);
    if (plain) {
        fr_int v;
        fr_to_int(v, r);
        UNROLL for (int k = 0; k < 8; k++) r.l[k] = v.l[k];
    }
    out[i] = r;
}

DEVICE void add_to(unsigned long long *sums, size_t variable, const fr &x)
{
    unsigned long long *to = sums + variable * GPU_SETUP_SUM_WORDS;
    UNROLL for (int k = 0; k < 8; k++) atomicAdd(&to[k], (unsigned long long)x.l[k]);
}

__global__ void row_columns(unsigned long long *sums, const fr *lagrange, gpu_setup_template t,
                            const gpu_setup_instance *instances, uint32_t count, const uint32_t *ports,
                            const fr *dictionary, uint32_t inputs, uint32_t matrix)
{
    __shared__ fr ones[ROW_THREADS];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, which = i / t.rows, row = i - which * t.rows;
    fr one = fr_zero();
    if (which < count) {
        gpu_setup_instance instance = instances[which];
        fr l = lagrange[instance.first_row + row], minus;
        fr_sub(minus, fr_zero(), l);
        uint32_t end = t.first[3 * row + matrix + 1];
        for (uint32_t k = t.first[3 * row + matrix]; k < end; k++) {
            uint32_t column = t.columns[k], number = column & COLUMN_NUMBER, c = t.coefficients[k];
            fr term = c == 0 ? l : minus; /* numbers 0 and 1 of a dictionary are 1 and -1 */
            if (c > 1)
                fr_mul(term, l, dictionary[c]);
            size_t variable;
            switch (column >> COLUMN_SHIFT) {
            case LOCAL_BIT:
                variable = (size_t)inputs + instance.first_aux + number;
                break;
            case LOCAL_FIELD:
                variable = (size_t)inputs + instance.first_aux + t.field_local[number];
                break;
            case ONE:
                fr_add(one, one, term);
                continue;
            default:
                variable = ports[instance.first_port + number];
                if (variable & VARIABLE_AUX)
                    variable = (size_t)inputs + (variable & ~VARIABLE_AUX);
            }
            add_to(sums, variable, term);
        }
    }
    ones[threadIdx.x] = one;
    __syncthreads();
    for (uint32_t width = ROW_THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            fr_add(ones[threadIdx.x], ones[threadIdx.x], ones[threadIdx.x + width]);
        __syncthreads();
    }
    if (threadIdx.x == 0 && !fr_is_zero(ones[0]))
        add_to(sums, 0, ones[0]);
}

__global__ void input_rows(unsigned long long *sums, const fr *lagrange, uint32_t inputs)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < inputs)
        add_to(sums, i, lagrange[i]);
}

/* Words to a number of eight and some over; low + 2^256 high = 1 low + R2 high in Montgomery products. */
__global__ void reduce_sums(fr *out, const unsigned long long *sums, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr low, high = fr_zero();
    unsigned long long over = 0;
    UNROLL for (int k = 0; k < 8; k++)
    {
        unsigned long long word = sums[i * GPU_SETUP_SUM_WORDS + k], sum = word + over;
        low.l[k] = (uint32_t)sum;
        over = (sum >> 32) + (sum < word ? 1ull << 32 : 0);
    }
    high.l[0] = (uint32_t)over;
    high.l[1] = (uint32_t)(over >> 32);
    fr_mul(low, fr_one(), low);
    fr_mul(high, fr_r2(), high);
    fr_add(out[i], low, high);
}

__global__ void port_variables(uint32_t *variables, const uint32_t *first, const uint32_t *counts,
                               const uint32_t *to, size_t runs)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= runs)
        return;
    for (uint32_t j = 0; j < counts[i]; j++)
        variables[to[i] + j] = first[i] + j;
}

struct external_scalars {
    fr alpha, beta, scale;
};

__global__ void external(fr *out, const fr *a, const fr *b, const fr *c, size_t n, external_scalars s)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr sum, t;
    fr_mul(sum, s.beta, a[i]);
    fr_mul(t, s.alpha, b[i]);
    fr_add(sum, sum, t);
    fr_add(sum, sum, c[i]);
    fr_mul(out[i], s.scale, sum);
}

__global__ void find_zero(uint32_t *found, const fr *values, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n && fr_is_zero(values[i]))
        *found = (uint32_t)i + 1;
}

struct positions_scratch {
    uint64_t *packed;
    void *scan;
    size_t scan_bytes, bytes;
};

positions_scratch positions_take(void *base, size_t n)
{
    arena a = {(char *)base, 0, 0};
    positions_scratch s;
    size_t words = divide_up(n, 64) + 1;
    s.packed = a.take<uint64_t>(words);
    s.scan_bytes = scan_u64_scratch_bytes(words);
    s.scan = a.take<char>(s.scan_bytes);
    s.bytes = a.used;
    return s;
}

} // namespace

#define LAUNCH_FLAT(kernel, n, ...)                                                                          \
    do {                                                                                                     \
        if ((n) == 0)                                                                                        \
            return status_ok();                                                                              \
        LAUNCH(kernel, divide_up(n, 256), 256, 0, stream, __VA_ARGS__);                                      \
        LAUNCH_TRY();                                                                                        \
        return status_ok();                                                                                  \
    } while (0)

extern "C" {

struct status gpu_setup_powers(void *out_dev, const void *low_dev, const void *high_dev, size_t n,
                               unsigned reversed, bool plain, struct CUstream_st *stream)
{
    LAUNCH_FLAT(powers, n, (fr *)out_dev, (const fr *)low_dev, (const fr *)high_dev, n, reversed, plain);
}

struct status gpu_setup_rows(uint64_t *sums_dev, const void *lagrange_dev, const struct gpu_setup_template *t,
                             const struct gpu_setup_instance *instances_dev, uint32_t count,
                             const uint32_t *port_variables_dev, const void *dictionary_dev, uint32_t inputs,
                             uint32_t matrix, struct CUstream_st *stream)
{
    size_t rows = (size_t)count * t->rows;
    if (rows == 0)
        return status_ok();
    LAUNCH(row_columns, divide_up(rows, ROW_THREADS), ROW_THREADS, 0, stream, (unsigned long long *)sums_dev,
           (const fr *)lagrange_dev, *t, instances_dev, count, port_variables_dev, (const fr *)dictionary_dev,
           inputs, matrix);
    LAUNCH_TRY();
    return status_ok();
}

struct status gpu_setup_input_rows(uint64_t *sums_dev, const void *lagrange_dev, uint32_t inputs,
                                   struct CUstream_st *stream)
{
    LAUNCH_FLAT(input_rows, inputs, (unsigned long long *)sums_dev, (const fr *)lagrange_dev, inputs);
}

struct status gpu_setup_reduce(void *out_dev, const uint64_t *sums_dev, size_t n, struct CUstream_st *stream)
{
    LAUNCH_FLAT(reduce_sums, n, (fr *)out_dev, (const unsigned long long *)sums_dev, n);
}

struct status gpu_setup_ports(uint32_t *variables_dev, const uint32_t *first_dev, const uint32_t *counts_dev,
                              const uint32_t *to_dev, size_t runs, struct CUstream_st *stream)
{
    LAUNCH_FLAT(port_variables, runs, variables_dev, first_dev, counts_dev, to_dev, runs);
}

struct status gpu_setup_external(void *out_dev, const void *a_dev, const void *b_dev, const void *c_dev,
                                 size_t n, const void *alpha, const void *beta, const void *scale,
                                 struct CUstream_st *stream)
{
    external_scalars s;
    memcpy(&s.alpha, alpha, sizeof s.alpha);
    memcpy(&s.beta, beta, sizeof s.beta);
    memcpy(&s.scale, scale, sizeof s.scale);
    LAUNCH_FLAT(external, n, (fr *)out_dev, (const fr *)a_dev, (const fr *)b_dev, (const fr *)c_dev, n, s);
}

struct status gpu_setup_find_zero(uint32_t *found_dev, const void *values_dev, size_t n,
                                  struct CUstream_st *stream)
{
    LAUNCH_FLAT(find_zero, n, found_dev, (const fr *)values_dev, n);
}

size_t gpu_setup_positions_scratch_bytes(size_t n)
{
    return positions_take(nullptr, n).bytes;
}

struct status gpu_setup_positions(uint32_t *out_dev, const uint64_t *bits_dev, size_t n, void *scratch_dev,
                                  struct CUstream_st *stream)
{
    if (n == 0)
        return status_ok();
    positions_scratch s = positions_take(scratch_dev, n);
    uint32_t words = (uint32_t)divide_up(n, 64);
    const uint64_t *all = nullptr;
    LAUNCH(bitsum_count, divide_up(words + 1, 256), 256, 0, stream, s.packed, bits_dev, all, (uint32_t)n,
           words);
    LAUNCH_TRY();
    TRY(scan_u64(s.packed, words + 1, s.scan, s.scan_bytes, stream));
    LAUNCH(bitsum_list, divide_up(words, 256), 256, 0, stream, out_dev, s.packed, bits_dev, all, (uint32_t)n,
           words);
    LAUNCH_TRY();
    return status_ok();
}
}
