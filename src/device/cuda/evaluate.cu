/* Evaluation of rows on the card: a thread a row. A warp takes neighbours in circuit order, which read
 * neighbouring items and bits and mostly do the same.
 *
 * What costs is writing: 64 bytes a row, to places in bit-reversed order, which are far apart for rows that
 * are near. The rows that stand side by side there are an eighth of the domain apart: so the eight warps of a
 * block take 32 rows of each eighth, and exchange values in shared memory to write 256 bytes at a time. */
#include "device/cuda/witness_access.cuh"

/* Domains (log) up to which blocks exchange values: for tests, whose threads exchange slowly. */
#ifndef EVALUATE_TILED_MOST
#define EVALUATE_TILED_MOST 32
#endif

using namespace gpu;

namespace
{

struct row_view {
    const uint32_t *bits;
    const void *values;
    const uint32_t *ports;
    uint32_t first_aux, first_value;
};

DEVICE uint32_t column_bit(const row_view &v, uint32_t column)
{
    uint32_t type = column >> GPU_COLUMN_SHIFT, number = column & GPU_COLUMN_NUMBER;
    if (type == GPU_ONE)
        return 1;
    return bit_at(v.bits, type == GPU_LOCAL_BIT ? v.first_aux + number : v.ports[number]);
}

DEVICE fr small_value(const row_view &v, const gpu_tables &t, uint32_t from, uint32_t to)
{
    int sum = GPU_SMALL_MAX;
    for (uint32_t i = from; i < to; i++) {
        gpu_item item = t.items[i];
        sum += (int16_t)item.coefficient * (int)column_bit(v, item.column);
    }
    return element(t.small, (size_t)sum);
}

DEVICE fr any_value(const row_view &v, const gpu_tables &t, uint32_t from, uint32_t to)
{
    fr sum = fr_zero();
    for (uint32_t i = from; i < to; i++) {
        gpu_item item = t.items[i];
        uint32_t type = item.column >> GPU_COLUMN_SHIFT, number = item.column & GPU_COLUMN_NUMBER;
        bool field = type == GPU_LOCAL_FIELD || type == GPU_PORT_FIELD;
        if (!field && item.count == 1) {
            if (column_bit(v, item.column)) {
                fr x = element(t.coefficients, item.coefficient);
                fr_add(sum, sum, x);
            }
            continue;
        }
        fr x;
        if (field) {
            x = element(v.values, type == GPU_LOCAL_FIELD ? v.first_value + number : v.ports[number]);
        } else {
            uint64_t word = bits_at(v.bits, v.first_aux + number, item.count);
            x = fr_zero();
            x.l[0] = (uint32_t)word;
            x.l[1] = (uint32_t)(word >> 32);
        }
        if (field && item.coefficient == 1) {
            fr_sub(sum, sum, x);
            continue;
        }
        if (!field || item.coefficient != 0) {
            fr factor = element(field ? t.coefficients : t.scaled, item.coefficient);
            fr_mul(x, factor, x);
        }
        fr_add(sum, sum, x);
    }
    return sum;
}

/* The last instance that does not begin behind the row. */
DEVICE uint32_t instance_of_row(const gpu_tables &t, uint32_t row)
{
    uint32_t low = t.chunk_first[row / GPU_CHUNK_ROWS], high = t.chunk_first[row / GPU_CHUNK_ROWS + 1] + 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t.instances[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct row_values {
    fr a, b;
};

DEVICE row_values values_of(const uint32_t *bits, const void *values, const gpu_tables &t, uint32_t row)
{
    row_values out = {fr_zero(), fr_zero()};
    if (row >= t.rows) {
        if (row - t.rows < t.inputs)
            out.a = element(values, row - t.rows);
        return out;
    }
    gpu_instance n = t.instances[instance_of_row(t, row)];
    row_view v = {bits, values, t.ports + n.first_port, n.first_aux, n.first_value};
    const uint32_t *at =
        t.combinations + t.templates[n.template_number].combinations + 2 * (row - n.first_row);
    uint32_t from = at[0];
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t to = at[side + 1];
        fr x = from & 1 ? any_value(v, t, from >> 1, to >> 1) : small_value(v, t, from >> 1, to >> 1);
        if (side)
            out.b = x;
        else
            out.a = x;
        from = to;
    }
    return out;
}

/* Each for itself: for domains too small to have eighths of 32 rows. */
__global__ void evaluate_few(void *a, void *b, const uint32_t *bits, const void *values, gpu_tables t,
                             uint32_t log_size)
{
    uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >> log_size)
        return;
    uint32_t place = log_size ? __brev(row) >> (32 - log_size) : 0;
    row_values x = values_of(bits, values, t, row);
    put_element(a, place, x.a);
    put_element(b, place, x.b);
}

#define TILE_ROWS 32 /* of each eighth */
#define TILE_SIZE (8 * TILE_ROWS)
#define TILE_STEP (TILE_ROWS + 1) /* between eighths in shared memory: other banks */

DEVICE uint32_t reversed3(uint32_t x)
{
    return (x & 1) << 2 | (x & 2) | x >> 2;
}

/* Block: the eight elements that begin at place 8 reverse(row) for each of its rows of the first eighth; the
 * rows of eighth e are number reversed3(e) of them. A thread then moves halves of elements. */
__global__ void BOUNDS(TILE_SIZE, 4)
    evaluate_rows(void *a, void *b, const uint32_t *bits, const void *values, gpu_tables t, uint32_t log_size)
{
    __shared__ uint4 tile[2][8 * TILE_STEP * 2];
    uint32_t eighth = threadIdx.x / TILE_ROWS, lane = threadIdx.x % TILE_ROWS;
    uint32_t first = blockIdx.x * TILE_ROWS, log_eighth = log_size - 3;
    row_values x = values_of(bits, values, t, (eighth << log_eighth) + first + lane);
    uint32_t slot = reversed3(eighth) * TILE_STEP + lane;
    put_element(tile[0], slot, x.a);
    put_element(tile[1], slot, x.b);
    __syncthreads();
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t piece = i * TILE_SIZE + threadIdx.x, row = piece / 16;
        uint32_t from = 2 * (piece % 16 / 2 * TILE_STEP + row) + piece % 2;
        size_t to = (size_t)(__brev(first + row) >> (32 - log_eighth)) * 16 + piece % 16;
        ((uint4 *)a)[to] = tile[0][from];
        ((uint4 *)b)[to] = tile[1][from];
    }
}

} // namespace

extern "C" {

struct status gpu_evaluate_rows(void *a_dev, void *b_dev, const uint64_t *bits, const void *values,
                                const struct gpu_tables *t, unsigned log_size, struct CUstream_st *stream)
{
    size_t size = (size_t)1 << log_size;
    if (size < 8 * TILE_ROWS * 2 || log_size > EVALUATE_TILED_MOST)
        LAUNCH(evaluate_few, divide_up(size, 128), 128, 0, stream, a_dev, b_dev, (const uint32_t *)bits,
               values, *t, log_size);
    else
        LAUNCH(evaluate_rows, size / TILE_SIZE, TILE_SIZE, 0, stream, a_dev, b_dev, (const uint32_t *)bits,
               values, *t, log_size);
    LAUNCH_TRY();
    return status_ok();
}
}
