/* Expansion on the card: seeds are scattered, a thread each; then the instances of a wave run, a thread each,
 * in up to three kernels. Each writes the fields and bits of its own instance alone and reads what earlier
 * waves wrote. C twin: r1cs/expand.c and the expand functions of gadget/. */
#include "device/cuda/poseidon_lanes.cuh"
#include "device/cuda/sha256.cuh"

/* Permutations of a wave up to which lanes share each one. */
#ifndef POSEIDON_LANES_MOST
#define POSEIDON_LANES_MOST 6000
#endif

using namespace gpu;

namespace
{

/* ---- seeds ---- */

/* The last instance whose `first` is not above k: the one that has k. */
template <uint32_t gpu_instance::*first> DEVICE uint32_t owner(const gpu_tables &t, uint32_t k)
{
    uint32_t low = 0, high = t.instances_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t.instances[middle].*first <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

__global__ void scatter_fields(gpu_expansion x, gpu_tables t)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= t.seed_fields)
        return;
    gpu_instance n = t.instances[owner<&gpu_instance::first_seed_field>(t, k)];
    uint32_t rank = t.places[t.templates[n.template_number].seed_ranks + (k - n.first_seed_field)];
    put_element(x.values, n.first_value + rank, element(x.seed_fields, k));
}

__global__ void scatter_bits(gpu_expansion x, gpu_tables t)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= t.seed_bits || !bit_at(x.seed_bits, k))
        return;
    gpu_instance n = t.instances[owner<&gpu_instance::first_seed_bit>(t, k)];
    uint32_t local = t.places[t.templates[n.template_number].seed_locals + (k - n.first_seed_bit)];
    put_bits(x.bits, n.first_aux + local, 1, 1);
}

/* ---- an instance ---- */

struct instance_view {
    gpu_instance n;
    const uint32_t *ports, *parameters;
    uint64_t *bits;
    void *values;
};

DEVICE fr port_value(const instance_view &v, uint32_t port)
{
    return element(v.values, v.ports[port]);
}

DEVICE uint32_t port_bit(const instance_view &v, uint32_t port)
{
    return bit_at((const uint32_t *)v.bits, v.ports[port]);
}

DEVICE uint32_t log2_of_arity(uint32_t arity)
{
    return arity == 8 ? 3 : arity / 2;
}

DEVICE uint32_t picks_of(uint32_t log2_arity)
{
    return log2_arity == 1 ? 2 : log2_arity == 2 ? 8 : 20;
}

/* Every pick of an insertion, from value `at` on, and the children that come of it. `siblings`: where they
 * are among the values, at siblings[i], or all from `first_sibling` on if that is null. */
DEVICE uint32_t put_picks(const instance_view &v, const gpu_tables &t, fr *children, uint32_t at,
                          uint32_t index, const fr &node, const uint32_t *siblings, uint32_t first_sibling)
{
    uint32_t arity = v.parameters[0], log2_arity = log2_of_arity(arity);
    const uint32_t *network = t.words + GPU_NETWORKS + (log2_arity - 1) * GPU_NETWORK_PICKS;
    uint32_t picks = picks_of(log2_arity), depth = 0, low = index & 3;
    uint32_t conditions = (index & 7) | (low == 0 ? 8u : 0u) | (low == 3 ? 16u : 0u);
    fr operands[10]; /* the node, up to 7 siblings, two earlier picks */
    operands[0] = node;
    for (uint32_t i = 0; i + 1 < arity; i++)
        operands[1 + i] = element(v.values, siblings ? siblings[i] : first_sibling + i);
    for (uint32_t i = 0; i < picks; i++) {
        uint32_t p = network[i];
        fr picked = operands[conditions >> (p & 255) & 1 ? p >> 8 & 255 : p >> 16 & 255];
        put_element(v.values, at + i, picked);
        if (p >> 24) {
            *children++ = picked;
            depth = 0;
        } else {
            operands[8 + depth++] = picked;
        }
    }
    return picks;
}

DEVICE void put_derived_bits(const instance_view &v, uint32_t local, uint32_t index)
{
    uint32_t low = index & 3;
    put_bits(v.bits, v.n.first_aux + local, (low == 0 ? 1u : 0u) | (low == 3 ? 2u : 0u), 2);
}

/* The insertion that both kinds of path element begin with; returns the column, sets the value, behind it. */
DEVICE uint32_t insert_node(const instance_view &v, const gpu_tables &t, fr *children, uint32_t *value)
{
    uint32_t arity = v.parameters[0], log2_arity = log2_of_arity(arity), index = 0;
    uint32_t columns = log2_arity + arity - 1;
    for (uint32_t i = 0; i < log2_arity; i++)
        index |= bit_at((const uint32_t *)v.bits, v.n.first_aux + i) << i;
    if (log2_arity == 3) {
        put_derived_bits(v, columns, index);
        columns += 2;
    }
    uint32_t picks = put_picks(v, t, children, v.n.first_value + arity - 1, index, port_value(v, 0), nullptr,
                               v.n.first_value);
    *value = v.n.first_value + arity - 1 + picks;
    return columns + picks;
}

DEVICE void put_number(const instance_view &v, uint32_t local, const fr &x)
{
    fr_int plain;
    fr_to_int(plain, x);
    for (uint32_t i = 0; i < 8; i++)
        put_bits(v.bits, v.n.first_aux + local + 32 * i, plain.l[i], i < 7 ? 32 : 31);
}

DEVICE void put_field(const instance_view &v, uint32_t rank, const fr &x)
{
    put_element(v.values, v.n.first_value + rank, x);
}

DEVICE void expand_pack(const instance_view &v)
{
    fr_int plain = {{0, 0, 0, 0, 0, 0, 0, 0}};
    fr x;
    UNROLL for (uint32_t word = 0; word < 8; word++)
    {
        uint32_t end = v.parameters[0] > 32 * word ? v.parameters[0] - 32 * word : 0;
        for (uint32_t i = 0; i < end && i < 32; i++)
            plain.l[word] |= port_bit(v, 32 * word + i) << i;
    }
    fr_from_int(x, plain);
    put_field(v, 0, x);
}

DEVICE void expand_insert(const instance_view &v, const gpu_tables &t)
{
    uint32_t log2_arity = log2_of_arity(v.parameters[0]), index = 0;
    fr children[8];
    for (uint32_t i = 0; i < log2_arity; i++)
        index |= port_bit(v, i) << i;
    if (log2_arity == 3)
        put_derived_bits(v, 0, index);
    put_picks(v, t, children, v.n.first_value, index, port_value(v, log2_arity), v.ports + log2_arity + 1, 0);
}

DEVICE void expand_select(const instance_view &v)
{
    uint32_t from = 0, out = v.n.first_value, m = v.parameters[0];
    for (uint32_t bit = m; bit-- > 0;) {
        uint32_t half = 1u << bit, skip = port_bit(v, bit) ? half : 0;
        for (uint32_t i = 0; i < half; i++)
            put_element(v.values, out + i,
                        bit + 1 == m ? port_value(v, m + skip + i) : element(v.values, from + skip + i));
        from = out;
        out += half;
    }
}

DEVICE void expand_numbers(const instance_view &v, uint32_t expander)
{
    fr x = port_value(v, 0), y;
    if (expander == GPU_SUM) {
        for (uint32_t i = 1; i < v.parameters[0]; i++) {
            y = port_value(v, i);
            fr_add(x, x, y);
        }
    } else if (expander == GPU_DIFFERENCE) {
        y = port_value(v, 1);
        fr_sub(x, x, y);
    } else if (expander == GPU_MUL) {
        y = port_value(v, 1);
        fr_mul(x, x, y);
    } else if (expander == GPU_MUL_BIT) {
        if (!port_bit(v, 1))
            x = fr_zero();
    } else { /* GPU_SCALE_ADD */
        y = small_integer(v.parameters[0]);
        fr_mul(x, x, y);
        y = small_integer(v.parameters[1]);
        fr_add(x, x, y);
    }
    put_field(v, 0, x);
}

/* Instance i of a wave. */
DEVICE bool view_at(instance_view &v, uint32_t &expander, const gpu_expansion &x, const gpu_tables &t,
                    uint32_t first, uint32_t count, uint32_t i)
{
    if (i >= count)
        return false;
    v.n = t.instances[t.waves[first + i]];
    v.ports = t.ports + v.n.first_port;
    v.parameters = t.templates[v.n.template_number].parameters;
    v.bits = x.bits;
    v.values = x.values;
    expander = t.templates[v.n.template_number].expander;
    return true;
}

DEVICE bool view_of(instance_view &v, uint32_t &expander, const gpu_expansion &x, const gpu_tables &t,
                    uint32_t first, uint32_t count)
{
    return view_at(v, expander, x, t, first, count, blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void expand_other(gpu_expansion x, gpu_tables t, uint32_t first, uint32_t count)
{
    instance_view v;
    uint32_t expander, value;
    fr children[8];
    if (!view_of(v, expander, x, t, first, count))
        return;
    if (expander == GPU_TO_BITS) {
        put_number(v, 0, port_value(v, 0));
    } else if (expander == GPU_SHA_PATH_HEAD) {
        uint32_t column = insert_node(v, t, children, &value);
        for (uint32_t i = 0; i < v.parameters[0]; i++)
            put_number(v, column + 255 * i, children[i]);
    } else if (expander == GPU_PACK) {
        expand_pack(v);
    } else if (expander == GPU_INSERT) {
        expand_insert(v, t);
    } else if (expander == GPU_SELECT) {
        expand_select(v);
    } else {
        expand_numbers(v, expander);
    }
}

__global__ void expand_sha256(gpu_expansion x, gpu_tables t, uint32_t first, uint32_t count)
{
    instance_view v;
    uint32_t expander;
    if (view_of(v, expander, x, t, first, count))
        sha256_block(v.bits, v.n.first_aux, x.hints + v.n.first_hint, v.parameters, t.words);
}

__global__ void expand_poseidon(gpu_expansion x, gpu_tables t, uint32_t first, uint32_t count)
{
    instance_view v;
    uint32_t expander;
    fr inputs[36], tag;
    if (!view_of(v, expander, x, t, first, count))
        return;
    gpu_poseidon p = t.poseidons[t.templates[v.n.template_number].poseidon];
    trace_stream s = {v.values, v.n.first_value};
    if (expander == GPU_PATH_ELEMENT) {
        (void)insert_node(v, t, inputs, &s.at);
        tag = small_integer(((uint64_t)1 << v.parameters[0]) - 1);
    } else {
        for (uint32_t i = 0; i < v.parameters[0]; i++)
            inputs[i] = port_value(v, i);
        tag = small_integer(v.parameters[1] | (uint64_t)v.parameters[2] << 32);
    }
    if (p.width <= 12)
        poseidon_trace<12>(s, p, t.constants, tag, inputs);
    else
        poseidon_trace<37>(s, p, t.constants, tag, inputs);
}

/* The numbers that go into an instance's permutation, by one lane: elements 1 and on of the state. */
DEVICE void put_inputs(const instance_view &v, const gpu_tables &t, uint32_t expander, fr *state)
{
    uint32_t unused;
    fr inputs[8];
    if (expander == GPU_PATH_ELEMENT) {
        (void)insert_node(v, t, inputs, &unused);
        state[0] = small_integer(((uint64_t)1 << v.parameters[0]) - 1);
    } else {
        state[0] = small_integer(v.parameters[1] | (uint64_t)v.parameters[2] << 32);
    }
    for (uint32_t i = 0; i < v.parameters[0]; i++)
        state[1 + i] = expander == GPU_PATH_ELEMENT ? inputs[i] : port_value(v, i);
}

__global__ void BOUNDS(POSEIDON_LANES *POSEIDON_GROUPS, 1)
    expand_poseidon_lanes(gpu_expansion x, gpu_tables t, uint32_t first, uint32_t count)
{
    __shared__ fr shared[POSEIDON_GROUPS][POSEIDON_LANES];
    __shared__ uint32_t partial[POSEIDON_GROUPS];
    uint32_t group = threadIdx.x / POSEIDON_LANES, lane = threadIdx.x % POSEIDON_LANES, expander;
    instance_view v;
    gpu_poseidon c = {0, 0, 0, 0, 0, 0};
    poseidon_lane p = {shared[group], t.constants, x.values, lane, 0, 0, 0};
    bool on = view_at(v, expander, x, t, first, count, blockIdx.x * POSEIDON_GROUPS + group);
    if (on) {
        c = t.poseidons[t.templates[v.n.template_number].poseidon];
        p.width = c.width;
        p.q = c.rounds + c.width;
        p.at = v.n.first_value;
        if (expander == GPU_PATH_ELEMENT)
            p.at += v.parameters[0] - 1 + picks_of(log2_of_arity(v.parameters[0]));
        if (lane == 0)
            put_inputs(v, t, expander, p.shared);
    }
    if (lane == 0)
        partial[group] = c.partial_rounds;
    __syncthreads();
    uint32_t most = 0;
    for (uint32_t i = 0; i < POSEIDON_GROUPS; i++)
        most = partial[i] > most ? partial[i] : most;
    fr state = fr_zero();
    if (lane < p.width)
        state = p.shared[lane];
    poseidon_trace_lanes(p, c, state, most);
}

} // namespace

extern "C" {

struct status gpu_scatter_seeds(const struct gpu_expansion *x, const struct gpu_tables *t,
                                struct CUstream_st *stream)
{
    PHASE("scattered seeds");
    if (t->seed_fields > 0)
        LAUNCH(scatter_fields, divide_up(t->seed_fields, 256), 256, 0, stream, *x, *t);
    LAUNCH_TRY();
    if (t->seed_bits > 0)
        LAUNCH(scatter_bits, divide_up(t->seed_bits, 256), 256, 0, stream, *x, *t);
    LAUNCH_TRY();
    return status_ok();
}

/* Blocks of a warp: a wave of some thousand instances should reach every multiprocessor. */
struct status gpu_expand_wave(const struct gpu_expansion *x, const struct gpu_tables *t,
                              enum gpu_wave_kernel kernel, uint32_t first, uint32_t count,
                              struct CUstream_st *stream)
{
    size_t blocks = divide_up(count, 32);
    if (count == 0)
        return status_ok();
    PHASE(kernel == GPU_WAVE_SHA256 ? "sha256" : kernel == GPU_WAVE_POSEIDON ? "poseidon" : "other steps");
    if (kernel == GPU_WAVE_SHA256)
        LAUNCH(expand_sha256, blocks, 32, 0, stream, *x, *t, first, count);
    else if (kernel == GPU_WAVE_POSEIDON && count <= POSEIDON_LANES_MOST &&
             t->poseidon_width <= POSEIDON_LANES)
        LAUNCH(expand_poseidon_lanes, divide_up(count, POSEIDON_GROUPS), POSEIDON_GROUPS * POSEIDON_LANES, 0,
               stream, *x, *t, first, count);
    else if (kernel == GPU_WAVE_POSEIDON)
        LAUNCH(expand_poseidon, blocks, 32, 0, stream, *x, *t, first, count);
    else
        LAUNCH(expand_other, blocks, 32, 0, stream, *x, *t, first, count);
    LAUNCH_TRY();
    return status_ok();
}
}
