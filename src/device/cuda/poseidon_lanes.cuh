/* The same permutation shared out among sixteen lanes, one an element of the state, two permutations a block
 * of one warp: for waves too small to fill the card, whose time is that of one permutation. A full round then
 * lasts as long as 3 + width multiplications, a partial one as long as 4: about 330 instead of 1,949 for
 * arity 8, for three times the work. Barriers are those of a block of one warp, which cost little. */
#ifndef CUZK_DEVICE_CUDA_POSEIDON_LANES_CUH
#define CUZK_DEVICE_CUDA_POSEIDON_LANES_CUH

#include "device/cuda/poseidon.cuh"

namespace gpu
{

#define POSEIDON_LANES  16
#define POSEIDON_GROUPS 2 /* in a block */

/* One lane's view. `shared` is the group's: POSEIDON_LANES elements. */
struct poseidon_lane {
    fr *shared;
    const void *constants;
    void *values;
    uint32_t lane, width; /* width 0: nothing to do but to meet at barriers */
    uint32_t at;          /* where the trace goes on */
    uint32_t q;           /* place of the next constants */
};

DEVICE void lane_share(const poseidon_lane &p, const fr &x)
{
    __syncthreads();
    p.shared[p.lane] = x;
    __syncthreads();
}

/* The sum over all lanes; x is zero where there is none. */
DEVICE fr lane_sum(const poseidon_lane &p, const fr &x)
{
    fr sum = x;
    lane_share(p, sum);
    for (uint32_t half = POSEIDON_LANES / 2; half > 0; half /= 2) {
        if (p.lane < half) {
            fr other = p.shared[p.lane + half];
            fr_add(sum, sum, other);
            p.shared[p.lane] = sum;
        }
        __syncthreads();
    }
    return p.shared[0];
}

/* Row `at` of a matrix of constants times the state; step between its elements. */
DEVICE fr lane_mix(const poseidon_lane &p, const fr &state, uint32_t at, uint32_t step)
{
    lane_share(p, state);
    return p.lane < p.width ? dot(p.shared, p.constants, at, step, p.width) : fr_zero();
}

/* S-box of every lane. round 0: not traced in lane 0, and 3 values a lane. */
DEVICE fr lane_sbox(poseidon_lane &p, const fr &state, uint32_t round)
{
    fr out = fr_zero();
    if (p.lane < p.width) {
        fr q = round < 7 ? element(p.constants, p.q + p.lane) : fr_zero();
        trace_stream s = {p.values, p.at + (round ? 4 * p.lane : 3 * p.lane - 3)};
        if (round)
            trace_put(s, state);
        out = sbox(s, state, q, round > 0 || p.lane > 0);
    }
    p.q += p.width;
    p.at += round ? 4 * p.width : 3 * p.width - 3;
    return out;
}

/* A partial round. Lane 0 squares while the others multiply by the first column of the sparse matrix, which
 * their elements alone decide; then all multiply the new first element. */
DEVICE fr lane_partial(poseidon_lane &p, const fr &state, uint32_t sparse, bool on)
{
    fr product = fr_zero(), five = fr_zero(), factor, t;
    bool works = on && p.lane < p.width;
    if (works) {
        factor = p.lane ? element(p.constants, sparse + p.lane) : state;
        fr_mul(product, state, factor);
    }
    if (works && p.lane == 0) {
        trace_stream s = {p.values, p.at};
        trace_put(s, state);
        trace_put(s, product);
        fr_mul(t, product, product);
        trace_put(s, t);
        fr_mul(five, t, state);
        t = element(p.constants, p.q);
        fr_add(five, five, t);
        trace_put(s, five);
        product = fr_zero();
    }
    fr first = lane_sum(p, product);
    lane_share(p, five); /* lane 0's is meant */
    if (!works)
        return state;
    p.q++;
    p.at += 4;
    five = p.shared[0];
    factor = element(p.constants, p.lane ? sparse + p.width + p.lane - 1 : sparse);
    fr_mul(t, five, factor);
    fr_add(t, t, p.lane ? state : first);
    return t;
}

/* state: the lane's element, tag and inputs; most_partial: of the groups of the block. */
DEVICE void poseidon_trace_lanes(poseidon_lane &p, const gpu_poseidon &c, fr state, uint32_t most_partial)
{
    if (p.lane < p.width) {
        fr key = element(p.constants, c.rounds + p.lane);
        fr_add(state, state, key);
    }
    for (uint32_t round = 0; round < 8; round++) {
        state = lane_sbox(p, state, round);
        if (round == 7)
            break;
        state = lane_mix(p, state, round == 3 ? c.pre_sparse + p.lane : c.mds + p.lane * p.width,
                         round == 3 ? p.width : 1);
        if (round != 3)
            continue;
        for (uint32_t k = 0; k < most_partial; k++)
            state = lane_partial(p, state, c.sparse + k * (2 * p.width - 1), k < c.partial_rounds);
    }
    fr product = fr_zero();
    if (p.lane < p.width) {
        fr m = element(p.constants, c.mds + p.width + p.lane);
        fr_mul(product, state, m);
    }
    fr hash = lane_sum(p, product);
    if (p.lane == 0 && p.width > 0)
        put_element(p.values, p.at, hash);
}

} // namespace gpu

#endif
