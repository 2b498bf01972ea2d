/* The Poseidon permutation with every value that the circuit names, as gadget/poseidon_bulk.c. One thread a
 * permutation: the state stands in local memory, which the caches hold; constants are the same for a warp. */
#ifndef CUZK_DEVICE_CUDA_POSEIDON_CUH
#define CUZK_DEVICE_CUDA_POSEIDON_CUH

#include "device/cuda/witness_access.cuh"

namespace gpu
{

/* Where the trace goes, in order. */
struct trace_stream {
    void *values;
    uint32_t at;
};

DEVICE void trace_put(trace_stream &s, const fr &x)
{
    put_element(s.values, s.at++, x);
}

DEVICE fr small_integer(uint64_t x)
{
    fr_int plain = {{(uint32_t)x, (uint32_t)(x >> 32), 0, 0, 0, 0, 0, 0}};
    fr out;
    fr_from_int(out, plain);
    return out;
}

/* x^2, x^4, x^5 + q */
DEVICE fr sbox(trace_stream &s, const fr &x, const fr &q, bool traced)
{
    fr two, four, five;
    fr_mul(two, x, x);
    fr_mul(four, two, two);
    fr_mul(five, four, x);
    fr_add(five, five, q);
    if (traced) {
        trace_put(s, two);
        trace_put(s, four);
        trace_put(s, five);
    }
    return five;
}

/* sum of state[i] times the constants at, at + step, ... */
DEVICE fr dot(const fr *state, const void *constants, uint32_t at, uint32_t step, uint32_t width)
{
    fr sum = fr_zero(), product, c;
    for (uint32_t i = 0; i < width; i++) {
        c = element(constants, at + i * step);
        fr_mul(product, state[i], c);
        fr_add(sum, sum, product);
    }
    return sum;
}

/* The kernel's way through a permutation: S-boxes and mixes of full rounds, then of partial ones. */
template <uint32_t most>
DEVICE void poseidon_trace(trace_stream s, const gpu_poseidon &p, const void *constants, const fr &tag,
                           const fr *inputs)
{
    fr state[most], mixed[most];
    const uint32_t width = p.width;
    uint32_t q = p.rounds + width;
    for (uint32_t round = 0; round < 8; round++) {
        for (uint32_t i = 0; i < width; i++) {
            fr x, c = round < 7 ? element(constants, q++) : fr_zero();
            if (round == 0) {
                fr key = element(constants, p.rounds + i);
                fr_add(x, i == 0 ? tag : inputs[i - 1], key);
            } else {
                x = state[i];
                trace_put(s, x);
            }
            state[i] = sbox(s, x, c, round > 0 || i > 0);
        }
        if (round == 7)
            break;
        for (uint32_t j = 0; j < width; j++)
            mixed[j] = round == 3 ? dot(state, constants, p.pre_sparse + j, width, width)
                                  : dot(state, constants, p.mds + j * width, 1, width);
        for (uint32_t j = 0; j < width; j++)
            state[j] = mixed[j];
        if (round != 3)
            continue;
        for (uint32_t k = 0; k < p.partial_rounds; k++) {
            uint32_t sparse = p.sparse + k * (2 * width - 1);
            trace_put(s, state[0]);
            fr zero = element(constants, q++);
            zero = sbox(s, state[0], zero, true);
            state[0] = zero;
            fr first = dot(state, constants, sparse, 1, width);
            for (uint32_t j = 1; j < width; j++) {
                fr t, c = element(constants, sparse + width + j - 1);
                fr_mul(t, zero, c);
                fr_add(state[j], state[j], t);
            }
            state[0] = first;
        }
    }
    fr last = dot(state, constants, p.mds + width, 1, width);
    trace_put(s, last);
}

} // namespace gpu

#endif
