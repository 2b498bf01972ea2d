/* Evaluation of rows on the card: a thread a row, a block GPU_CHUNK_ROWS rows in circuit order, so that
 * neighbours read neighbouring items and bits and mostly do the same.
 *
 * What costs is writing: 64 bytes a row, to places in bit-reversed order, which are far apart for rows that
 * are near. Rows a quarter of the domain apart are neighbours there: blocks that run at the same time take
 * their rows from the four quarters, and the four 32-byte sectors of a line meet in the cache. */
#include "device/cuda/witness_access.cuh"

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

__global__ void BOUNDS(GPU_CHUNK_ROWS, 4)
    evaluate_rows(void *a, void *b, const uint32_t *bits, const void *values, gpu_tables t, uint32_t log_size)
{
    uint32_t chunk = blockIdx.x;
    if (log_size >= 12) /* the lowest two bits of the block choose the quarter */
        chunk = (chunk & 3) << (log_size - 10) | chunk >> 2;
    uint32_t row = chunk * GPU_CHUNK_ROWS + threadIdx.x;
    if (row >> log_size)
        return;
    uint32_t place = log_size ? __brev(row) >> (32 - log_size) : 0;
    if (row >= t.rows) {
        fr zero = fr_zero();
        put_element(a, place, row - t.rows < t.inputs ? element(values, row - t.rows) : zero);
        put_element(b, place, zero);
        return;
    }
    gpu_instance n = t.instances[instance_of_row(t, row)];
    row_view v = {bits, values, t.ports + n.first_port, n.first_aux, n.first_value};
    const uint32_t *at =
        t.combinations + t.templates[n.template_number].combinations + 2 * (row - n.first_row);
    uint32_t from = at[0];
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t to = at[side + 1];
        fr x = from & 1 ? any_value(v, t, from >> 1, to >> 1) : small_value(v, t, from >> 1, to >> 1);
        put_element(side ? b : a, place, x);
        from = to;
    }
}

} // namespace

extern "C" {

struct status gpu_evaluate_rows(void *a_dev, void *b_dev, const uint64_t *bits, const void *values,
                                const struct gpu_tables *t, unsigned log_size, struct CUstream_st *stream)
{
    size_t size = (size_t)1 << log_size;
    LAUNCH(evaluate_rows, divide_up(size, GPU_CHUNK_ROWS), GPU_CHUNK_ROWS, 0, stream, a_dev, b_dev,
           (const uint32_t *)bits, values, *t, log_size);
    LAUNCH_TRY();
    return status_ok();
}
}
