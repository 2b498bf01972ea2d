/* Words of booleans. The rows of additions are the only long ones of SHA-256: about 1,500 terms after seven
 * additions, kept as runs of consecutive variables so that sorting them is a merge. */
#include "gadget/uint32.h"

void multi_eq_init(struct multi_eq *m, struct cs *cs)
{
    m->cs = cs;
    m->used = 0;
    lc_init(&m->left);
    lc_init(&m->right);
}

static void multi_eq_flush(struct multi_eq *m)
{
    struct lc one;
    lc_init(&one);
    lc_add_one(&one, VARIABLE_ONE);
    cs_enforce(m->cs, &m->left, &one, &m->right);
    lc_end(&one);
    lc_clear(&m->left);
    lc_clear(&m->right);
    m->used = 0;
}

void multi_eq_end(struct multi_eq *m)
{
    if (m->used > 0)
        multi_eq_flush(m);
    lc_end(&m->left);
    lc_end(&m->right);
}

void multi_eq_equal(struct multi_eq *m, uint32_t bits, const struct lc *left, const struct lc *right)
{
    if (m->used + bits >= 254)
        multi_eq_flush(m);
    lc_add_lc(&m->left, left, m->used ? power_of_two(m->used) : NULL);
    lc_add_lc(&m->right, right, m->used ? power_of_two(m->used) : NULL);
    m->used += bits;
}

struct uint32_bits uint32_constant(uint32_t value)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = boolean_const((value >> i) & 1);
    return out;
}

struct uint32_bits uint32_alloc(struct cs *cs, uint32_t value)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = bit_alloc(cs, (value >> i) & 1);
    return out;
}

struct uint32_bits uint32_from_be(const struct boolean *bits)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = bits[31 - i];
    return out;
}

void uint32_to_be(struct boolean *bits, const struct uint32_bits *a)
{
    for (uint32_t i = 0; i < 32; i++)
        bits[31 - i] = a->bit[i];
}

uint32_t uint32_value(const struct uint32_bits *a)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 32; i++)
        value |= (uint32_t)a->bit[i].value << i;
    return value;
}

struct uint32_bits uint32_rotr(const struct uint32_bits *a, uint32_t by)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = a->bit[(i + by) % 32];
    return out;
}

struct uint32_bits uint32_shr(const struct uint32_bits *a, uint32_t by)
{
    struct uint32_bits out;
    by %= 32;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = i + by < 32 ? a->bit[i + by] : boolean_const(false);
    return out;
}

struct uint32_bits uint32_xor(struct cs *cs, const struct uint32_bits *a, const struct uint32_bits *b)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = boolean_xor(cs, a->bit[i], b->bit[i]);
    return out;
}

struct uint32_bits uint32_ch(struct cs *cs, const struct uint32_bits *a, const struct uint32_bits *b,
                             const struct uint32_bits *c)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = boolean_ch(cs, a->bit[i], b->bit[i], c->bit[i]);
    return out;
}

struct uint32_bits uint32_maj(struct cs *cs, const struct uint32_bits *a, const struct uint32_bits *b,
                              const struct uint32_bits *c)
{
    struct uint32_bits out;
    for (uint32_t i = 0; i < 32; i++)
        out.bit[i] = boolean_maj(cs, a->bit[i], b->bit[i], c->bit[i]);
    return out;
}

/* l += the operand; true if all of it is constant */
static bool lc_add_word(struct lc *l, const struct uint32_bits *a)
{
    bool constant = true;
    for (uint32_t i = 0; i < 32; i++) {
        lc_add_boolean(l, a->bit[i], power_of_two(i));
        constant &= a->bit[i].kind == BOOLEAN_CONST;
    }
    return constant;
}

struct uint32_bits uint32_add_many(struct multi_eq *m, const struct uint32_bits *const *operands,
                                   uint32_t count)
{
    CHECK(count >= 2 && count <= 10);
    struct lc left, right;
    struct uint32_bits out;
    bool constant = true;
    uint64_t sum = 0;
    lc_init(&left);
    lc_init(&right);
    for (uint32_t k = 0; k < count; k++) {
        constant &= lc_add_word(&left, operands[k]);
        sum += uint32_value(operands[k]);
    }
    if (constant) {
        out = uint32_constant((uint32_t)sum);
    } else {
        uint32_t bits = 64 - (uint32_t)__builtin_clzll(count * UINT64_C(0xffffffff));
        for (uint32_t i = 0; i < bits; i++) {
            struct boolean b = bit_alloc(m->cs, (sum >> i) & 1);
            lc_add(&right, b.v, power_of_two(i));
            if (i < 32)
                out.bit[i] = b;
        }
        multi_eq_equal(m, bits, &left, &right);
    }
    lc_end(&left);
    lc_end(&right);
    return out;
}
