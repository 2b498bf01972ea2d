/* Expansion of a SHA-256 block by one thread: as gadget/expand_sha256.c, which has the reasons. The bits are
 * put out in order as 64-bit words; the first and the last are shared with neighbours. The thousands of
 * blocks of a circuit are all of one wave, so there is nothing to gain by sharing one out among lanes. */
#ifndef CUZK_DEVICE_CUDA_SHA256_CUH
#define CUZK_DEVICE_CUDA_SHA256_CUH

#include "device/cuda/witness_access.cuh"

namespace gpu
{

struct bit_stream {
    uint64_t *to, pending;
    uint32_t fill; /* bits of pending, 0 to 63 */
    bool shared;   /* the present word is: only the first */
};

DEVICE void stream_put(bit_stream &s, uint64_t value, uint32_t count)
{
    s.pending |= value << s.fill;
    s.fill += count;
    if (s.fill < 64)
        return;
    if (s.shared)
        add_bits64(s.to, s.pending);
    else
        *s.to = s.pending;
    s.shared = false;
    s.to++;
    s.fill -= 64;
    s.pending = s.fill ? value >> (count - s.fill) : 0;
}

/* The bits of value that mask names. */
DEVICE void stream_put_masked(bit_stream &s, uint32_t value, uint32_t mask)
{
    if (mask == 0xffffffffu) {
        stream_put(s, value, 32);
        return;
    }
    for (uint32_t i = 0; i < 32; i++)
        if (mask >> i & 1)
            stream_put(s, value >> i & 1, 1);
}

/* negated: of the variable bits those that are negations; of the constant ones their value. */
struct sha_word {
    uint32_t value, constant, negated;
};

DEVICE uint32_t turned(uint32_t x, uint32_t by)
{
    return x >> by | x << (32 - by);
}

DEVICE sha_word word_turned(const sha_word &x, uint32_t by)
{
    return sha_word{turned(x.value, by), turned(x.constant, by), turned(x.negated, by)};
}

DEVICE sha_word word_shifted(const sha_word &x, uint32_t by)
{
    return sha_word{x.value >> by, x.constant >> by | ~(0xffffffffu >> by), x.negated >> by};
}

DEVICE sha_word word_xor(bit_stream &s, const sha_word &a, const sha_word &b)
{
    sha_word out = {a.value ^ b.value, a.constant & b.constant, a.negated ^ b.negated};
    stream_put_masked(s, out.value ^ out.negated, ~(a.constant | b.constant));
    return out;
}

/* ---- ch and maj bit by bit, where there are constants ---- */

DEVICE sha_word bit_of(const sha_word &w, uint32_t i)
{
    return sha_word{w.value >> i & 1, w.constant >> i & 1, w.negated >> i & 1};
}

DEVICE bool is_constant(const sha_word &b, uint32_t value)
{
    return b.constant && b.value == value;
}

DEVICE sha_word bit_not(const sha_word &b)
{
    return sha_word{b.value ^ 1, b.constant, b.negated ^ 1};
}

DEVICE sha_word bit_new(bit_stream &s, uint32_t value)
{
    stream_put(s, value, 1);
    return sha_word{value, 0, 0};
}

DEVICE sha_word bit_and(bit_stream &s, const sha_word &a, const sha_word &b)
{
    if (is_constant(a, 0) || is_constant(b, 0))
        return sha_word{0, 1, 0};
    if (a.constant)
        return b;
    return b.constant ? a : bit_new(s, a.value & b.value);
}

DEVICE sha_word bit_ch(bit_stream &s, const sha_word &a, const sha_word &b, const sha_word &c)
{
    uint32_t value = a.value ? b.value : c.value;
    if (a.constant && b.constant && c.constant)
        return sha_word{value, 1, value};
    if (is_constant(a, 0))
        return c;
    if (is_constant(b, 0))
        return bit_and(s, bit_not(a), c);
    if (is_constant(c, 0))
        return bit_and(s, a, b);
    if (is_constant(c, 1))
        return bit_not(bit_and(s, a, bit_not(b)));
    if (is_constant(b, 1))
        return bit_not(bit_and(s, bit_not(a), bit_not(c)));
    return bit_new(s, value);
}

DEVICE sha_word bit_maj(bit_stream &s, const sha_word &a, const sha_word &b, const sha_word &c)
{
    uint32_t value = (a.value & b.value) | (a.value & c.value) | (b.value & c.value);
    if (a.constant && b.constant && c.constant)
        return sha_word{value, 1, value};
    if (is_constant(a, 0))
        return bit_and(s, b, c);
    if (is_constant(b, 0))
        return bit_and(s, a, c);
    if (is_constant(c, 0))
        return bit_and(s, a, b);
    if (c.constant)
        return bit_not(bit_and(s, bit_not(a), bit_not(b)));
    if (b.constant)
        return bit_not(bit_and(s, bit_not(a), bit_not(c)));
    if (a.constant)
        return bit_not(bit_and(s, bit_not(b), bit_not(c)));
    sha_word out = bit_new(s, value);
    bit_new(s, b.value & c.value);
    return out;
}

template <bool majority>
DEVICE sha_word word_by_bits(bit_stream &s, const sha_word &a, const sha_word &b, const sha_word &c)
{
    sha_word out = {0, 0, 0};
    for (uint32_t i = 0; i < 32; i++) {
        sha_word x = bit_of(a, i), y = bit_of(b, i), z = bit_of(c, i);
        sha_word bit = majority ? bit_maj(s, x, y, z) : bit_ch(s, x, y, z);
        out.value |= bit.value << i;
        out.constant |= bit.constant << i;
        out.negated |= bit.negated << i;
    }
    return out;
}

DEVICE sha_word word_ch(bit_stream &s, const sha_word &a, const sha_word &b, const sha_word &c)
{
    if (a.constant | b.constant | c.constant)
        return word_by_bits<false>(s, a, b, c);
    uint32_t value = (a.value & b.value) | (~a.value & c.value);
    stream_put(s, value, 32);
    return sha_word{value, 0, 0};
}

/* Bit i of x, below 16, to bit 2i. */
DEVICE uint32_t spread16(uint32_t x)
{
    x = (x | x << 8) & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}

DEVICE sha_word word_maj(bit_stream &s, const sha_word &a, const sha_word &b, const sha_word &c)
{
    if (a.constant | b.constant | c.constant)
        return word_by_bits<true>(s, a, b, c);
    uint32_t both = b.value & c.value, value = both | (a.value & (b.value | c.value));
    stream_put(s, spread16(value & 0xffff) | spread16(both & 0xffff) << 1, 32);
    stream_put(s, spread16(value >> 16) | spread16(both >> 16) << 1, 32);
    return sha_word{value, 0, 0};
}

/* ---- additions ---- */

struct sha_sum {
    uint64_t value;
    uint32_t constant, operands;
};

DEVICE void sum_add(sha_sum &sum, const sha_word &x)
{
    sum.value += x.value;
    sum.constant &= x.constant;
    sum.operands++;
}

DEVICE void sum_add_constant(sha_sum &sum, uint32_t value)
{
    sum.value += value;
    sum.operands++;
}

DEVICE sha_word sum_word(bit_stream &s, const sha_sum &sum)
{
    uint32_t value = (uint32_t)sum.value;
    if (sum.constant == 0xffffffffu)
        return sha_word{value, 0xffffffffu, value};
    stream_put(s, sum.value, sum.operands == 2 ? 33 : sum.operands <= 4 ? 34 : 35);
    return sha_word{value, 0, 0};
}

DEVICE sha_sum no_sum()
{
    return sha_sum{0, 0xffffffffu, 0};
}

/* ---- the block ---- */

/* A message word; its bits are constant only among the first sixteen and what follows from those. */
struct sha_schedule {
    uint32_t value[64], constant[64], negated[64];
};

DEVICE sha_word schedule_word(const sha_schedule &w, uint32_t i)
{
    return sha_word{w.value[i], w.constant[i], w.negated[i]};
}

DEVICE void schedule_set(sha_schedule &w, uint32_t i, const sha_word &x)
{
    w.value[i] = x.value;
    w.constant[i] = x.constant;
    w.negated[i] = x.negated;
}

DEVICE void put_schedule(bit_stream &s, sha_schedule &w)
{
    for (uint32_t i = 16; i < 64; i++) {
        sha_sum sum = no_sum();
        sum_add(sum, schedule_word(w, i - 16));
        for (uint32_t second = 0; second < 2; second++) {
            sha_word x = schedule_word(w, second ? i - 2 : i - 15);
            sha_word two = word_xor(s, word_turned(x, second ? 17 : 7), word_turned(x, second ? 19 : 18));
            sum_add(sum, word_xor(s, two, word_shifted(x, second ? 10 : 3)));
            if (!second)
                sum_add(sum, schedule_word(w, i - 7));
        }
        schedule_set(w, i, sum_word(s, sum));
    }
}

DEVICE sha_word big_sigma(bit_stream &s, const sha_word &x, uint32_t r1, uint32_t r2, uint32_t r3)
{
    return word_xor(s, word_xor(s, word_turned(x, r1), word_turned(x, r2)), word_turned(x, r3));
}

DEVICE void put_rounds(bit_stream &s, const uint32_t *initial, bool constant, const sha_schedule &w,
                       const uint32_t *round_constants)
{
    sha_word v[8];
    UNROLL for (uint32_t i = 0; i < 8; i++) v[i] =
        constant ? sha_word{initial[i], 0xffffffffu, initial[i]} : sha_word{initial[i], 0, 0};
    sha_sum next_a = no_sum(), next_e = no_sum();
    for (uint32_t i = 0; i < 64; i++) {
        sha_sum t = no_sum();
        if (i > 0)
            v[4] = sum_word(s, next_e);
        sum_add(t, v[7]);
        sum_add(t, big_sigma(s, v[4], 6, 11, 25));
        sum_add(t, word_ch(s, v[4], v[5], v[6]));
        sum_add_constant(t, round_constants[i]);
        sum_add(t, schedule_word(w, i));
        if (i > 0)
            v[0] = sum_word(s, next_a);
        next_a = next_e = t;
        sum_add(next_e, v[3]);
        sum_add(next_a, big_sigma(s, v[0], 2, 13, 22));
        sum_add(next_a, word_maj(s, v[0], v[1], v[2]));
        UNROLL for (uint32_t k = 7; k > 0; k--) v[k] = v[k - 1];
    }
    UNROLL for (uint32_t k = 0; k < 8; k++)
    {
        sha_sum sum = k == 0 ? next_a : k == 4 ? next_e : no_sum();
        sha_word first =
            constant ? sha_word{initial[k], 0xffffffffu, initial[k]} : sha_word{initial[k], 0, 0};
        sum_add(sum, first);
        if (k % 4 != 0)
            sum_add(sum, v[k]);
        sum_word(s, sum);
    }
}

/* hints: 8 state words, 16 message words; parameters: masks of constant bits of the message, whether the
 * state is constant. */
DEVICE void sha256_block(uint64_t *bits, uint32_t first_aux, const uint32_t *hints,
                         const uint32_t *parameters, const uint32_t *round_constants)
{
    bit_stream s = {bits + (first_aux >> 6), 0, first_aux & 63, true};
    sha_schedule w;
    uint32_t state[8];
    for (uint32_t i = 0; i < 8; i++)
        state[i] = hints[i];
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t value = hints[8 + i], mask = parameters[i];
        schedule_set(w, i, sha_word{value, mask, value & mask});
    }
    put_schedule(s, w);
    put_rounds(s, state, parameters[16] != 0, w, round_constants);
    add_bits64(s.to, s.pending);
}

} // namespace gpu

#endif
