/* The Poseidon permutation with every value that the circuit names. The plain hash runs the same code:
 * keeping the trace costs one store per multiplication.
 *
 * Multiplications for width t and R partial rounds: 3 per S-box, 8t + R of them; t^2 for seven dense layers,
 * t for the last, of which only one output is wanted; 2t - 1 for each sparse layer. Arity 8: 1,949. */
#include "gadget/poseidon.h"

#include "field/fr_dot.h"
#include "gadget/bulk.h"

/* l2, l4, l5 + q of x into the trace, l5 + q into the state */
static inline fr *sbox(fr *state, fr *trace, const fr *x, const fr *q)
{
    fr_sqr(&trace[0], x);
    fr_sqr(&trace[1], &trace[0]);
    fr_mul(&trace[2], x, &trace[1]);
    if (q)
        fr_add(&trace[2], &trace[2], q);
    *state = trace[2];
    return trace + 3;
}

/* sbox of a state element that is a linear combination: it is a variable of its own first */
static inline fr *sbox_allocated(fr *state, fr *trace, const fr *q)
{
    trace[0] = *state;
    return sbox(state, trace + 1, trace, q);
}

/* By a symmetric matrix, so that its columns are its rows. */
static void mix_symmetric(fr *state, const fr *matrix, uint32_t width)
{
    fr out[POSEIDON_WIDTH_MAX];
    for (uint32_t j = 0; j < width; j++)
        fr_dot(&out[j], state, matrix + j * width, width);
    for (uint32_t j = 0; j < width; j++)
        state[j] = out[j];
}

static void mix_dense(fr *state, const fr *matrix, uint32_t width)
{
    fr out[POSEIDON_WIDTH_MAX], column[POSEIDON_WIDTH_MAX];
    for (uint32_t j = 0; j < width; j++) {
        for (uint32_t i = 0; i < width; i++)
            column[i] = matrix[i * width + j];
        fr_dot(&out[j], state, column, width);
    }
    for (uint32_t j = 0; j < width; j++)
        state[j] = out[j];
}

static void mix_sparse(fr *state, const fr *sparse, uint32_t width)
{
    fr first, t;
    fr_dot(&first, state, sparse, width);
    for (uint32_t j = 1; j < width; j++) {
        fr_mul(&t, &state[0], &sparse[width + j - 1]);
        fr_add(&state[j], &state[j], &t);
    }
    state[0] = first;
}

void FLAVOUR(poseidon_trace_impl)(fr *trace, const struct poseidon *p, const fr *tag, const fr *inputs)
{
    fr state[POSEIDON_WIDTH_MAX], x, unused[3];
    const fr *q = p->rounds + p->width;
    fr_add(&x, tag, &p->rounds[0]);
    sbox(&state[0], unused, &x, q++);
    for (uint32_t i = 1; i < p->width; i++) {
        fr_add(&x, &inputs[i - 1], &p->rounds[i]);
        trace = sbox(&state[i], trace, &x, q++);
    }
    mix_symmetric(state, p->mds, p->width);
    for (uint32_t round = 1; round < 4; round++) {
        for (uint32_t i = 0; i < p->width; i++)
            trace = sbox_allocated(&state[i], trace, q++);
        if (round < 3)
            mix_symmetric(state, p->mds, p->width);
        else
            mix_dense(state, p->pre_sparse, p->width);
    }
    for (uint32_t round = 0; round < p->partial_rounds; round++) {
        trace = sbox_allocated(&state[0], trace, q++);
        mix_sparse(state, p->sparse + (size_t)round * (2 * p->width - 1), p->width);
    }
    for (uint32_t round = 4; round < 8; round++) {
        for (uint32_t i = 0; i < p->width; i++)
            trace = sbox_allocated(&state[i], trace, round < 7 ? q++ : NULL);
        if (round < 7)
            mix_symmetric(state, p->mds, p->width);
    }
    fr_dot(trace, state, p->mds + p->width, p->width);
}
