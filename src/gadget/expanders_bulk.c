/* Expansion of everything that multiplies: Poseidon, paths, decompositions, packings. Ports are numbers
 * unless they are bits that rows pack; column and port orders are those of expanders.h. */
#include "gadget/expanders.h"
#include "gadget/bulk.h"
#include "gadget/expand.h"
#include "gadget/insert_values.h"

static void trace(fr *out, uint32_t arity, const fr *inputs)
{
    fr tag;
    fr_from_u64(&tag, poseidon_merkle_tag(arity));
    FLAVOUR(poseidon_trace_impl)(out, poseidon_of(arity), &tag, inputs);
}

void FLAVOUR(expand_poseidon)(const struct expansion *x)
{
    const uint32_t *p = x->template->parameters;
    fr tag;
    fr_from_u64(&tag, p[1] | (uint64_t)p[2] << 32);
    FLAVOUR(poseidon_trace_impl)(x->fields, poseidon_of(p[0]), &tag, x->port_fields);
}

static void put_number(const struct expansion *x, uint32_t local, const fr *value)
{
    fr_int bits;
    fr_to_int(&bits, value);
    for (uint32_t i = 0; i < 4; i++)
        expansion_put_bits(x, local + 64 * i, bits.l[i], i < 3 ? 64 : FR_BITS - 192);
}

/* The insertion that both kinds of path element begin with: index bits at columns 0.., siblings at ranks 0...
 * Returns the number of columns; the picks end at rank *fields. */
static uint32_t insert_node(const struct expansion *x, fr children[8], uint32_t *fields)
{
    uint32_t arity = x->template->parameters[0], log2_arity = (uint32_t)__builtin_ctz(arity), index = 0;
    uint32_t columns = log2_arity + arity - 1;
    for (uint32_t i = 0; i < log2_arity; i++)
        index |= expansion_get_bit(x, i) << i;
    if (log2_arity == 3) {
        expansion_put_bits(x, columns, insert_derived_bits(index), 2);
        columns += 2;
    }
    insert_values(x->fields + arity - 1, children, log2_arity, index, &x->port_fields[0], x->fields);
    *fields = arity - 1 + insert_network_picks(log2_arity);
    return columns + insert_network_picks(log2_arity);
}

void FLAVOUR(expand_path_element)(const struct expansion *x)
{
    fr children[8];
    uint32_t fields;
    insert_node(x, children, &fields);
    trace(x->fields + fields, x->template->parameters[0], children);
}

void FLAVOUR(expand_sha_path_head)(const struct expansion *x)
{
    fr children[8];
    uint32_t fields, column = insert_node(x, children, &fields);
    for (uint32_t i = 0; i < x->template->parameters[0]; i++)
        put_number(x, column + FR_BITS * i, &children[i]);
}

void FLAVOUR(expand_to_bits)(const struct expansion *x)
{
    put_number(x, 0, &x->port_fields[0]);
}

void FLAVOUR(expand_pack)(const struct expansion *x)
{
    fr_int value = {{0, 0, 0, 0}};
    uint32_t count = x->template->parameters[0];
    for (uint32_t i = 0; 64 * i < count; i++) {
        uint32_t here = count - 64 * i;
        value.l[i] = x->port_bits[i];
        if (here < 64)
            value.l[i] &= (UINT64_C(1) << here) - 1;
    }
    fr_from_int(&x->fields[0], &value);
}

void FLAVOUR(expand_mul)(const struct expansion *x)
{
    fr_mul(&x->fields[0], &x->port_fields[0], &x->port_fields[1]);
}

void FLAVOUR(expand_scale_add)(const struct expansion *x)
{
    fr scale, offset;
    fr_from_u64(&scale, x->template->parameters[0]);
    fr_from_u64(&offset, x->template->parameters[1]);
    fr_mul(&scale, &scale, &x->port_fields[0]);
    fr_add(&x->fields[0], &scale, &offset);
}
