/* Bit gates and the constant folding above them. Every gate makes one variable and one row; the row's sides
 * are those of the gadgets specification, 2.1, 2.5 and 2.6, because parameters were made for exactly them. */
#include "gadget/boolean.h"

#include <pthread.h>

static fr powers[256];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

static void powers_fill(void)
{
    powers[0] = FR_ONE;
    for (int i = 1; i < 256; i++)
        fr_dbl(&powers[i], &powers[i - 1]);
}

const fr *power_of_two(uint32_t k)
{
    CHECK(k < 256);
    CHECK(pthread_once(&powers_once, powers_fill) == 0);
    return &powers[k];
}

fr fr_of_bool(bool value)
{
    return value ? FR_ONE : FR_ZERO;
}

void lc_add_boolean(struct lc *l, struct boolean b, const fr *k)
{
    if (b.kind == BOOLEAN_IS || boolean_is_const(b, true)) {
        lc_add(l, b.v, k);
    } else if (b.kind == BOOLEAN_NOT) {
        fr minus;
        fr_neg(&minus, k);
        lc_add(l, VARIABLE_ONE, k);
        lc_add(l, b.v, &minus);
    }
}

static void lc_sub_boolean(struct lc *l, struct boolean b)
{
    fr minus;
    fr_neg(&minus, &FR_ONE);
    lc_add_boolean(l, b, &minus);
}

static struct boolean new_bit(struct cs *cs, bool value)
{
    fr f = fr_of_bool(value);
    return boolean_is(cs_alloc(cs, KIND_BIT, &f), value);
}

struct boolean bit_alloc(struct cs *cs, bool value)
{
    struct boolean out = new_bit(cs, value);
    struct lc *row = cs_row(cs);
    lc_add_one(&row[0], VARIABLE_ONE);
    lc_sub_one(&row[0], out.v);
    lc_add_one(&row[1], out.v);
    cs_enforce_row(cs);
    return out;
}

struct boolean bit_alloc_conditionally(struct cs *cs, bool value, struct boolean m)
{
    struct boolean out = new_bit(cs, value);
    CHECK(m.kind == BOOLEAN_IS);
    struct lc *row = cs_row(cs);
    lc_add_one(&row[0], VARIABLE_ONE);
    lc_sub_one(&row[0], m.v);
    lc_sub_one(&row[0], out.v);
    lc_add_one(&row[1], out.v);
    cs_enforce_row(cs);
    return out;
}

struct boolean bit_xor(struct cs *cs, struct boolean a, struct boolean b)
{
    CHECK(a.kind == BOOLEAN_IS && b.kind == BOOLEAN_IS);
    struct boolean out = new_bit(cs, a.value ^ b.value);
    struct lc *row = cs_row(cs);
    lc_add(&row[0], a.v, power_of_two(1));
    lc_add_one(&row[1], b.v);
    lc_add_one(&row[2], a.v);
    lc_add_one(&row[2], b.v);
    lc_sub_one(&row[2], out.v);
    cs_enforce_row(cs);
    return out;
}

/* a * b = out, for a and b that may be negated. */
static struct boolean bit_product(struct cs *cs, struct boolean a, struct boolean b)
{
    struct boolean out = new_bit(cs, a.value & b.value);
    struct lc *row = cs_row(cs);
    lc_add_boolean(&row[0], a, &FR_ONE);
    lc_add_boolean(&row[1], b, &FR_ONE);
    lc_add_one(&row[2], out.v);
    cs_enforce_row(cs);
    return out;
}

struct boolean bit_and(struct cs *cs, struct boolean a, struct boolean b)
{
    CHECK(a.kind == BOOLEAN_IS && b.kind == BOOLEAN_IS);
    return bit_product(cs, a, b);
}

struct boolean bit_and_not(struct cs *cs, struct boolean a, struct boolean b)
{
    CHECK(a.kind == BOOLEAN_IS && b.kind == BOOLEAN_IS);
    return bit_product(cs, a, boolean_not(b));
}

struct boolean bit_nor(struct cs *cs, struct boolean a, struct boolean b)
{
    CHECK(a.kind == BOOLEAN_IS && b.kind == BOOLEAN_IS);
    return bit_product(cs, boolean_not(a), boolean_not(b));
}

struct boolean boolean_xor(struct cs *cs, struct boolean a, struct boolean b)
{
    if (a.kind == BOOLEAN_CONST)
        return a.value ? boolean_not(b) : b;
    if (b.kind == BOOLEAN_CONST)
        return b.value ? boolean_not(a) : a;
    if (a.kind == b.kind) {
        if (a.kind == BOOLEAN_NOT) {
            a = boolean_not(a);
            b = boolean_not(b);
        }
        return bit_xor(cs, a, b);
    }
    /* The un-negated operand is the first one. */
    if (a.kind == BOOLEAN_NOT)
        return boolean_not(bit_xor(cs, b, boolean_not(a)));
    return boolean_not(bit_xor(cs, a, boolean_not(b)));
}

struct boolean boolean_and(struct cs *cs, struct boolean a, struct boolean b)
{
    if (boolean_is_const(a, false) || boolean_is_const(b, false))
        return boolean_const(false);
    if (a.kind == BOOLEAN_CONST)
        return b;
    if (b.kind == BOOLEAN_CONST)
        return a;
    if (a.kind == BOOLEAN_NOT && b.kind == BOOLEAN_IS)
        return bit_product(cs, b, a);
    return bit_product(cs, a, b);
}

void boolean_enforce_equal(struct cs *cs, struct boolean a, struct boolean b)
{
    if (a.kind == BOOLEAN_CONST && b.kind == BOOLEAN_CONST) {
        if (a.value != b.value)
            cs_fail(cs, status_error(STATUS_INVALID, "circuit equates two different constants"));
        return;
    }
    if (boolean_is_const(b, true)) {
        struct boolean t = a;
        a = b;
        b = t;
    }
    struct lc *row = cs_row(cs);
    if (a.kind != BOOLEAN_CONST && b.kind == BOOLEAN_CONST) {
        lc_add_boolean(&row[2], a, &FR_ONE);
    } else if (boolean_is_const(a, false)) {
        lc_add_boolean(&row[2], b, &FR_ONE);
    } else {
        lc_add_boolean(&row[2], a, &FR_ONE);
        lc_sub_boolean(&row[2], b);
    }
    cs_enforce_row(cs);
}

struct boolean boolean_ch(struct cs *cs, struct boolean a, struct boolean b, struct boolean c)
{
    bool value = a.value ? b.value : c.value;
    if (a.kind == BOOLEAN_CONST && b.kind == BOOLEAN_CONST && c.kind == BOOLEAN_CONST)
        return boolean_const(value);
    if (boolean_is_const(a, false))
        return c;
    if (boolean_is_const(b, false))
        return boolean_and(cs, boolean_not(a), c);
    if (boolean_is_const(c, false))
        return boolean_and(cs, a, b);
    if (boolean_is_const(c, true))
        return boolean_not(boolean_and(cs, a, boolean_not(b)));
    if (boolean_is_const(b, true))
        return boolean_not(boolean_and(cs, boolean_not(a), boolean_not(c)));
    struct boolean out = new_bit(cs, value);
    struct lc *row = cs_row(cs);
    lc_add_boolean(&row[0], b, &FR_ONE);
    lc_sub_boolean(&row[0], c);
    lc_add_boolean(&row[1], a, &FR_ONE);
    lc_add_one(&row[2], out.v);
    lc_sub_boolean(&row[2], c);
    cs_enforce_row(cs);
    return out;
}

static struct boolean maj_of_bits(struct cs *cs, struct boolean a, struct boolean b, struct boolean c)
{
    struct boolean out = new_bit(cs, (a.value & b.value) | (a.value & c.value) | (b.value & c.value));
    struct boolean t = boolean_and(cs, b, c);
    struct lc *row = cs_row(cs);
    lc_add_boolean(&row[0], t, power_of_two(1));
    lc_sub_boolean(&row[0], b);
    lc_sub_boolean(&row[0], c);
    lc_add_boolean(&row[1], a, &FR_ONE);
    lc_add_boolean(&row[2], t, &FR_ONE);
    lc_sub_one(&row[2], out.v);
    cs_enforce_row(cs);
    return out;
}

struct boolean boolean_maj(struct cs *cs, struct boolean a, struct boolean b, struct boolean c)
{
    if (a.kind == BOOLEAN_CONST && b.kind == BOOLEAN_CONST && c.kind == BOOLEAN_CONST)
        return boolean_const((a.value + b.value + c.value) >= 2);
    if (boolean_is_const(a, false))
        return boolean_and(cs, b, c);
    if (boolean_is_const(b, false))
        return boolean_and(cs, a, c);
    if (boolean_is_const(c, false))
        return boolean_and(cs, a, b);
    if (c.kind == BOOLEAN_CONST)
        return boolean_not(boolean_and(cs, boolean_not(a), boolean_not(b)));
    if (b.kind == BOOLEAN_CONST)
        return boolean_not(boolean_and(cs, boolean_not(a), boolean_not(c)));
    if (a.kind == BOOLEAN_CONST)
        return boolean_not(boolean_and(cs, boolean_not(b), boolean_not(c)));
    return maj_of_bits(cs, a, b, c);
}

void bits_alloc(struct cs *cs, struct boolean *out, const uint64_t *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = bit_alloc(cs, value && ((value[i / 64] >> (i % 64)) & 1));
}
