/* Expansion of a SHA-256 block: the bits that the circuit of one compression allocates, from the state and
 * the message as words. Words are simulated whole, each with the mask of its constant bits and the mask of
 * its negated ones, because those decide which operations make a variable and what it holds. Without
 * constants (the middle blocks of labels, nine tenths of all) every step takes the whole-word path: about 900
 * words are put out in order, nothing is read back. */
#include "gadget/expanders.h"
#include "gadget/expand.h"

#include "base/sha256.h"

/* Where bits go, in order. */
struct bit_stream {
    uint64_t *to, pending;
    uint32_t fill; /* bits of pending, 0..63 */
    uint32_t count;
};

static inline void put(struct bit_stream *s, uint64_t value, uint32_t count)
{
    s->pending |= value << s->fill;
    s->fill += count;
    s->count += count;
    if (s->fill >= 64) {
        *s->to++ = s->pending;
        s->fill -= 64;
        s->pending = s->fill ? value >> (count - s->fill) : 0;
    }
}

/* The bits of value that mask names. */
static inline void put_masked(struct bit_stream *s, uint32_t value, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        put(s, value, 32);
        return;
    }
    for (; mask; mask &= mask - 1)
        put(s, (value >> __builtin_ctz(mask)) & 1, 1);
}

/* value: of the booleans. negated: of the variables ones that are negations; of the constants their value, so
 * that value ^ negated is what variables hold, and negations of exclusive ors are exclusive ors. */
struct word {
    uint32_t value, constant, negated;
};

static inline struct word word_constant(uint32_t value)
{
    return (struct word){value, UINT32_MAX, value};
}

static inline uint32_t rotr32(uint32_t x, uint32_t by)
{
    return x >> by | x << (32 - by);
}

static inline struct word word_rotr(struct word x, uint32_t by)
{
    return (struct word){rotr32(x.value, by), rotr32(x.constant, by), rotr32(x.negated, by)};
}

static inline struct word word_shr(struct word x, uint32_t by)
{
    return (struct word){x.value >> by, x.constant >> by | ~(UINT32_MAX >> by), x.negated >> by};
}

static inline struct word word_xor(struct bit_stream *s, struct word a, struct word b)
{
    struct word out = {a.value ^ b.value, a.constant & b.constant, a.negated ^ b.negated};
    put_masked(s, out.value ^ out.negated, ~(a.constant | b.constant));
    return out;
}

static inline struct word sigma(struct bit_stream *s, struct word x, uint32_t r1, uint32_t r2,
                                struct word third)
{
    return word_xor(s, word_xor(s, word_rotr(x, r1), word_rotr(x, r2)), third);
}

/* ---- ch and maj bit by bit, where there are constants ---- */

struct bit {
    uint32_t value, constant, negated;
};

static struct bit word_bit(struct word w, uint32_t i)
{
    return (struct bit){(w.value >> i) & 1, (w.constant >> i) & 1, (w.negated >> i) & 1};
}

static void word_set(struct word *w, struct bit b, uint32_t i)
{
    w->value |= b.value << i;
    w->constant |= b.constant << i;
    w->negated |= b.negated << i;
}

static bool is(struct bit b, uint32_t constant)
{
    return b.constant && b.value == constant;
}

static struct bit bit_not(struct bit b)
{
    return (struct bit){b.value ^ 1, b.constant, b.negated ^ 1};
}

static struct bit bit_new(struct bit_stream *s, uint32_t value)
{
    put(s, value, 1);
    return (struct bit){value, 0, 0};
}

static struct bit bit_and(struct bit_stream *s, struct bit a, struct bit b)
{
    if (is(a, 0) || is(b, 0))
        return (struct bit){0, 1, 0};
    if (a.constant)
        return b;
    return b.constant ? a : bit_new(s, a.value & b.value);
}

static struct bit bit_ch(struct bit_stream *s, struct bit a, struct bit b, struct bit c)
{
    uint32_t value = a.value ? b.value : c.value;
    if (a.constant && b.constant && c.constant)
        return (struct bit){value, 1, value};
    if (is(a, 0))
        return c;
    if (is(b, 0))
        return bit_and(s, bit_not(a), c);
    if (is(c, 0))
        return bit_and(s, a, b);
    if (is(c, 1))
        return bit_not(bit_and(s, a, bit_not(b)));
    if (is(b, 1))
        return bit_not(bit_and(s, bit_not(a), bit_not(c)));
    return bit_new(s, value);
}

static struct bit bit_maj(struct bit_stream *s, struct bit a, struct bit b, struct bit c)
{
    uint32_t value = (a.value & b.value) | (a.value & c.value) | (b.value & c.value);
    if (a.constant && b.constant && c.constant)
        return (struct bit){value, 1, value};
    if (is(a, 0))
        return bit_and(s, b, c);
    if (is(b, 0))
        return bit_and(s, a, c);
    if (is(c, 0))
        return bit_and(s, a, b);
    if (c.constant)
        return bit_not(bit_and(s, bit_not(a), bit_not(b)));
    if (b.constant)
        return bit_not(bit_and(s, bit_not(a), bit_not(c)));
    if (a.constant)
        return bit_not(bit_and(s, bit_not(b), bit_not(c)));
    struct bit out = bit_new(s, value);
    bit_new(s, b.value & c.value);
    return out;
}

typedef struct bit bit_operation(struct bit_stream *s, struct bit a, struct bit b, struct bit c);

static __attribute__((noinline)) struct word word_by_bits(struct bit_stream *s, bit_operation *operation,
                                                          struct word a, struct word b, struct word c)
{
    struct word out = {0, 0, 0};
    for (uint32_t i = 0; i < 32; i++)
        word_set(&out, operation(s, word_bit(a, i), word_bit(b, i), word_bit(c, i)), i);
    return out;
}

static inline struct word word_ch(struct bit_stream *s, struct word a, struct word b, struct word c)
{
    if (a.constant | b.constant | c.constant)
        return word_by_bits(s, bit_ch, a, b, c);
    uint32_t value = (a.value & b.value) | (~a.value & c.value);
    put(s, value, 32);
    return (struct word){value, 0, 0};
}

/* Bit i of x to bit 2i. */
static inline uint64_t spread(uint32_t x)
{
    uint64_t y = x;
    y = (y | y << 16) & UINT64_C(0x0000ffff0000ffff);
    y = (y | y << 8) & UINT64_C(0x00ff00ff00ff00ff);
    y = (y | y << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    y = (y | y << 2) & UINT64_C(0x3333333333333333);
    return (y | y << 1) & UINT64_C(0x5555555555555555);
}

static inline struct word word_maj(struct bit_stream *s, struct word a, struct word b, struct word c)
{
    if (a.constant | b.constant | c.constant)
        return word_by_bits(s, bit_maj, a, b, c);
    uint32_t both = b.value & c.value, value = both | (a.value & (b.value | c.value));
    /* The result and the product of b and c take turns. */
    uint64_t pairs = spread(value) | spread(both) << 1;
    put(s, pairs & UINT32_MAX, 32);
    put(s, pairs >> 32, 32);
    return (struct word){value, 0, 0};
}

/* ---- additions ---- */

struct sum {
    uint64_t value;
    uint32_t constant, operands;
};

static inline void sum_add(struct sum *sum, struct word x)
{
    sum->value += x.value;
    sum->constant &= x.constant;
    sum->operands++;
}

/* Puts out the sum of 2 to 8 operands. */
static inline struct word sum_word(struct bit_stream *s, const struct sum *sum)
{
    if (sum->constant == UINT32_MAX)
        return word_constant((uint32_t)sum->value);
    put(s, sum->value, sum->operands == 2 ? 33 : sum->operands <= 4 ? 34 : 35);
    return (struct word){(uint32_t)sum->value, 0, 0};
}

static inline struct word sum_of_two(struct bit_stream *s, struct word a, struct word b)
{
    struct sum sum = {0, UINT32_MAX, 0};
    sum_add(&sum, a);
    sum_add(&sum, b);
    return sum_word(s, &sum);
}

/* ---- the block ---- */

static void put_schedule(struct bit_stream *s, struct word w[64])
{
    for (int i = 16; i < 64; i++) {
        struct sum sum = {0, UINT32_MAX, 0};
        sum_add(&sum, w[i - 16]);
        sum_add(&sum, sigma(s, w[i - 15], 7, 18, word_shr(w[i - 15], 3)));
        sum_add(&sum, w[i - 7]);
        sum_add(&sum, sigma(s, w[i - 2], 17, 19, word_shr(w[i - 2], 10)));
        w[i] = sum_word(s, &sum);
    }
}

static void put_rounds(struct bit_stream *s, const struct word state[8], const struct word w[64])
{
    struct word a = state[0], b = state[1], c = state[2], d = state[3];
    struct word e = state[4], f = state[5], g = state[6], h = state[7];
    struct sum next_a, next_e;
    for (int i = 0; i < 64; i++) {
        struct sum t = {0, UINT32_MAX, 0};
        if (i > 0)
            e = sum_word(s, &next_e);
        sum_add(&t, h);
        sum_add(&t, sigma(s, e, 6, 11, word_rotr(e, 25)));
        sum_add(&t, word_ch(s, e, f, g));
        sum_add(&t, word_constant(SHA256_ROUND[i]));
        sum_add(&t, w[i]);
        if (i > 0)
            a = sum_word(s, &next_a);
        next_a = next_e = t;
        sum_add(&next_e, d);
        sum_add(&next_a, sigma(s, a, 2, 13, word_rotr(a, 22)));
        sum_add(&next_a, word_maj(s, a, b, c));
        h = g;
        g = f;
        f = e;
        d = c;
        c = b;
        b = a;
    }
    sum_add(&next_a, state[0]);
    sum_word(s, &next_a);
    sum_of_two(s, state[1], b);
    sum_of_two(s, state[2], c);
    sum_of_two(s, state[3], d);
    sum_add(&next_e, state[4]);
    sum_word(s, &next_e);
    sum_of_two(s, state[5], f);
    sum_of_two(s, state[6], g);
    sum_of_two(s, state[7], h);
}

static void put_block(struct bit_stream *s, const uint32_t *hints, const uint32_t *parameters)
{
    struct word state[8], w[64];
    for (int i = 0; i < 8; i++)
        state[i] = parameters[16] ? word_constant(hints[i]) : (struct word){hints[i], 0, 0};
    for (int i = 0; i < 16; i++) {
        uint32_t value = hints[8 + i], mask = parameters[i];
        w[i] = (struct word){value, mask, value & mask};
    }
    put_schedule(s, w);
    put_rounds(s, state, w);
    if (s->fill)
        *s->to = s->pending;
}

void expand_sha256_block(const struct expansion *x)
{
    struct bit_stream s = {.to = x->bits, .fill = x->bit_offset};
    put_block(&s, x->hints, x->template->parameters);
}

uint32_t sha256_block_locals(const uint32_t parameters[SHA256_BLOCK_PARAMETERS])
{
    static const uint32_t hints[SHA256_BLOCK_HINTS];
    uint64_t bits[26240 / 64]; /* 26,166 are the most */
    struct bit_stream s = {.to = bits};
    put_block(&s, hints, parameters);
    return s.count;
}
