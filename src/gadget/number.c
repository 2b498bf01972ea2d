/* Numbers: allocation, products, decompositions and packings. Sides of every row as in the gadgets
 * specification, 3, 6.1 and 7.1. */
#include "gadget/number.h"

struct number number_alloc(struct cs *cs, const fr *value)
{
    return (struct number){.v = cs_alloc(cs, KIND_FIELD, value),
                           .known = cs->with_values,
                           .value = cs->with_values && value ? *value : FR_ZERO};
}

struct number number_alloc_input(struct cs *cs, const fr *value)
{
    return (struct number){.v = cs_alloc_input(cs, value),
                           .known = cs->with_values,
                           .value = cs->with_values && value ? *value : FR_ZERO};
}

struct number number_of(const struct cs *cs, variable v)
{
    return (struct number){.v = v, .known = cs->with_values, .value = cs_value(cs, v)};
}

/* a * b = c, all single variables */
static void product_row(struct cs *cs, variable a, variable b, variable c)
{
    struct lc *row = cs_row(cs);
    lc_add_one(&row[0], a);
    lc_add_one(&row[1], b);
    lc_add_one(&row[2], c);
    cs_enforce_row(cs);
}

void number_inputize(struct cs *cs, const struct number *x)
{
    product_row(cs, cs_alloc_input(cs, &x->value), VARIABLE_ONE, x->v);
}

void number_equal(struct cs *cs, const struct number *a, const struct number *b)
{
    product_row(cs, a->v, VARIABLE_ONE, b->v);
}

struct number number_mul(struct cs *cs, const struct number *x, const struct number *y)
{
    fr value;
    fr_mul(&value, &x->value, &y->value);
    struct number z = number_alloc(cs, &value);
    product_row(cs, x->v, y->v, z.v);
    return z;
}

struct number number_square(struct cs *cs, const struct number *x)
{
    return number_mul(cs, x, x);
}

void number_assert_nonzero(struct cs *cs, const struct number *x)
{
    fr value;
    fr_inv_vartime(&value, &x->value);
    struct number q = number_alloc(cs, &value);
    product_row(cs, x->v, q.v, VARIABLE_ONE);
}

/* out = s ? yes : no, with the row (no - yes) * s = no - out */
static struct number choose(struct cs *cs, const struct boolean *s, const struct number *yes,
                            const struct number *no)
{
    struct number out = number_alloc(cs, s->value ? &yes->value : &no->value);
    struct lc *row = cs_row(cs);
    lc_add_one(&row[0], no->v);
    lc_sub_one(&row[0], yes->v);
    lc_add_boolean(&row[1], *s, &FR_ONE);
    lc_add_one(&row[2], no->v);
    lc_sub_one(&row[2], out.v);
    cs_enforce_row(cs);
    return out;
}

void number_conditionally_reverse(struct cs *cs, struct number *c, struct number *d, const struct number *a,
                                  const struct number *b, const struct boolean *s)
{
    struct number first = choose(cs, s, b, a);
    *d = choose(cs, s, a, b);
    *c = first;
}

struct number number_pick(struct cs *cs, const struct boolean *c, const struct number *a,
                          const struct number *b)
{
    return choose(cs, c, a, b);
}

/* sum of 2^i bit_i into l */
static void lc_add_bits(struct lc *l, const struct boolean *bits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        lc_add_boolean(l, bits[i], power_of_two(i));
}

void number_to_bits(struct cs *cs, struct boolean out[FR_BITS], const struct number *x)
{
    fr_int value;
    fr_to_int(&value, &x->value);
    bits_alloc(cs, out, value.l, FR_BITS);
    struct lc *row = cs_row(cs);
    lc_add_bits(&row[2], out, FR_BITS);
    lc_sub_one(&row[2], x->v);
    cs_enforce_row(cs);
}

void number_to_bits_update(struct cs *cs, struct boolean out[FR_BITS], const struct number *x)
{
    fr_int value;
    fr_to_int(&value, &x->value);
    bits_alloc(cs, out, value.l, FR_BITS);
    pack_row(cs, out, FR_BITS, x->v);
}

void number_to_bits_strict(struct cs *cs, struct boolean out[FR_BITS], const struct number *x)
{
    fr_int value, top = FR_MODULUS;
    struct boolean run[FR_BITS + 1], last = boolean_const(false);
    uint32_t run_length = 0;
    bool have_last = false;
    top.l[0] -= 1; /* r - 1 */
    fr_to_int(&value, &x->value);
    for (uint32_t i = FR_BITS; i-- > 0;) {
        bool bit = (value.l[i / 64] >> (i % 64)) & 1;
        if ((top.l[i / 64] >> (i % 64)) & 1) {
            out[i] = bit_alloc(cs, bit);
            run[run_length++] = out[i];
            continue;
        }
        if (run_length > 0) {
            if (have_last)
                run[run_length++] = last;
            last = run[0];
            for (uint32_t k = 1; k < run_length; k++)
                last = bit_and(cs, last, run[k]);
            have_last = true;
            run_length = 0;
        }
        out[i] = bit_alloc_conditionally(cs, bit, last);
    }
    struct lc *row = cs_row(cs);
    lc_add_bits(&row[2], out, FR_BITS);
    lc_sub_one(&row[2], x->v);
    cs_enforce_row(cs);
}

struct number number_add(struct cs *cs, const struct number *a, const struct number *b)
{
    struct number terms[2] = {*a, *b};
    return number_sum(cs, terms, 2);
}

struct number number_sub(struct cs *cs, const struct number *a, const struct number *b)
{
    fr value;
    fr_sub(&value, &a->value, &b->value);
    struct number difference = number_alloc(cs, &value);
    struct lc *row = cs_row(cs);
    lc_add_one(&row[0], difference.v);
    lc_add_one(&row[0], b->v);
    lc_add_one(&row[1], VARIABLE_ONE);
    lc_add_one(&row[2], a->v);
    cs_enforce_row(cs);
    return difference;
}

struct number number_sum(struct cs *cs, const struct number *terms, uint32_t count)
{
    fr value = FR_ZERO;
    for (uint32_t i = 0; i < count; i++)
        fr_add(&value, &value, &terms[i].value);
    struct number sum = number_alloc(cs, &value);
    struct lc *row = cs_row(cs);
    for (uint32_t i = 0; i < count; i++)
        lc_add_one(&row[0], terms[i].v);
    lc_add_one(&row[1], VARIABLE_ONE);
    lc_add_one(&row[2], sum.v);
    cs_enforce_row(cs);
    return sum;
}

struct number number_scale_add(struct cs *cs, const struct number *x, uint64_t scale, uint64_t offset)
{
    fr factor, constant, value;
    fr_from_u64(&factor, scale);
    fr_from_u64(&constant, offset);
    fr_mul(&value, &x->value, &factor);
    fr_add(&value, &value, &constant);
    struct number sum = number_alloc(cs, &value);
    struct lc *row = cs_row(cs);
    lc_add(&row[0], x->v, &factor);
    lc_add(&row[0], VARIABLE_ONE, &constant);
    lc_add_one(&row[1], VARIABLE_ONE);
    lc_add_one(&row[2], sum.v);
    cs_enforce_row(cs);
    return sum;
}

struct number number_mul_bit(struct cs *cs, const struct number *x, const struct boolean *bit)
{
    CHECK(bit->kind == BOOLEAN_IS);
    struct number factor = {.v = bit->v, .value = fr_of_bool(bit->value)};
    return number_mul(cs, x, &factor);
}

#define PACK_BITS 254 /* what one field element is sure to hold */

/* The value of at most 255 bits; without meaning if any bit is unknown. */
static fr packed_value(const struct boolean *bits, uint32_t count)
{
    fr sum = FR_ZERO;
    for (uint32_t i = 0; i < count; i++)
        if (bits[i].value)
            fr_add(&sum, &sum, power_of_two(i));
    return sum;
}

void pack_row(struct cs *cs, const struct boolean *bits, uint32_t count, variable packed)
{
    struct lc *row = cs_row(cs);
    lc_add_bits(&row[0], bits, count);
    lc_add_one(&row[1], VARIABLE_ONE);
    lc_add_one(&row[2], packed);
    cs_enforce_row(cs);
}

void pack_into_inputs(struct cs *cs, const struct boolean *bits, uint32_t count)
{
    for (uint32_t at = 0; at < count; at += PACK_BITS) {
        uint32_t chunk = count - at < PACK_BITS ? count - at : PACK_BITS;
        fr value = packed_value(bits + at, chunk);
        pack_row(cs, bits + at, chunk, cs_alloc_input(cs, &value));
    }
}

struct number pack_bits(struct cs *cs, const struct boolean *bits, uint32_t count)
{
    uint32_t used = count < PACK_BITS ? count : PACK_BITS;
    fr value = packed_value(bits, used);
    struct number out = number_alloc(cs, &value);
    pack_row(cs, bits, used, out.v);
    return out;
}
