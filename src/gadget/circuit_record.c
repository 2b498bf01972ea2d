/* Recording of the templates that a walk can need: ports are allocated as variables, the generic gadget runs
 * over them, and what it allocates are the columns. */
#include "gadget/circuit_internal.h"

#include "base/mem.h"
#include "gadget/expanders.h"
#include "gadget/poseidon.h"
#include <stdio.h>
#include <string.h>

struct recording {
    struct cs cs;
    const struct template_key *key;
    uint32_t ports;
    uint32_t seeds; /* the first columns are seeds; UINT32_MAX: all, there is no expander */
    uint32_t out[8];
    enum expander_number expander;
    uint32_t parameters[TEMPLATE_PARAMETERS], parameters_count;
};

/* ---- ports and results ---- */

static struct number number_port(struct recording *r)
{
    r->ports++;
    return number_alloc(&r->cs, NULL);
}

static struct boolean bit_port(struct recording *r)
{
    r->ports++;
    return boolean_is(cs_alloc(&r->cs, KIND_BIT, NULL), false);
}

static void result(struct recording *r, uint32_t index, variable v)
{
    if (variable_is_aux(v) && variable_index(v) >= r->ports)
        r->out[index] = variable_index(v) - r->ports;
}

static void expanded_by(struct recording *r, enum expander_number expander, uint32_t parameters_count)
{
    r->seeds = 0;
    r->expander = expander;
    r->parameters_count = parameters_count;
    memcpy(r->parameters, r->key->words, parameters_count * sizeof r->parameters[0]);
}

/* ---- one function per kind ---- */

static void record_numbers(struct recording *r)
{
    for (uint32_t i = 0; i < r->key->words[0]; i++)
        number_alloc(&r->cs, NULL);
}

static void record_bits(struct recording *r)
{
    for (uint32_t i = 0; i < r->key->words[0]; i++)
        bit_alloc(&r->cs, false);
}

static void record_equal(struct recording *r)
{
    struct number a = number_port(r), b = number_port(r);
    number_equal(&r->cs, &a, &b);
}

static void record_arithmetic(struct recording *r)
{
    struct number a = number_port(r), b = number_port(r), out;
    if (r->key->kind == TEMPLATE_ADD)
        out = number_add(&r->cs, &a, &b);
    else if (r->key->kind == TEMPLATE_SUB)
        out = number_sub(&r->cs, &a, &b);
    else
        out = number_mul(&r->cs, &a, &b);
    result(r, 0, out.v);
    expanded_by(r,
                r->key->kind == TEMPLATE_ADD   ? EXPANDER_SUM
                : r->key->kind == TEMPLATE_SUB ? EXPANDER_DIFFERENCE
                                               : EXPANDER_MUL,
                0);
    if (r->key->kind == TEMPLATE_ADD) {
        r->parameters[0] = 2;
        r->parameters_count = 1;
    }
}

static void record_sum(struct recording *r)
{
    struct number terms[64];
    uint32_t count = r->key->words[0];
    CHECK(count >= 1 && count <= 64);
    for (uint32_t i = 0; i < count; i++)
        terms[i] = number_port(r);
    struct number out = number_sum(&r->cs, terms, count);
    result(r, 0, out.v);
    expanded_by(r, EXPANDER_SUM, 1);
}

static void record_scale_add(struct recording *r)
{
    struct number x = number_port(r), out = number_scale_add(&r->cs, &x, r->key->words[0], r->key->words[1]);
    result(r, 0, out.v);
    expanded_by(r, EXPANDER_SCALE_ADD, 2);
}

static void record_mul_bit(struct recording *r)
{
    struct number x = number_port(r);
    struct boolean bit = bit_port(r);
    struct number out = number_mul_bit(&r->cs, &x, &bit);
    result(r, 0, out.v);
    expanded_by(r, EXPANDER_MUL_BIT, 0);
}

static void record_insert(struct recording *r)
{
    struct number node, siblings[7], children[8];
    struct boolean bits[3];
    uint32_t arity = r->key->words[0], log2_arity = (uint32_t)__builtin_ctz(arity);
    CHECK(arity == 2 || arity == 4 || arity == 8);
    for (uint32_t i = 0; i < log2_arity; i++)
        bits[i] = bit_port(r);
    node = number_port(r);
    for (uint32_t i = 0; i + 1 < arity; i++)
        siblings[i] = number_port(r);
    number_insert(&r->cs, children, &node, bits, log2_arity, siblings);
    for (uint32_t i = 0; i < arity; i++)
        result(r, i, children[i].v);
    expanded_by(r, EXPANDER_INSERT, 1);
}

static void record_to_bits(struct recording *r)
{
    struct boolean bits[FR_BITS];
    struct number x = number_port(r);
    if (r->key->kind == TEMPLATE_TO_BITS)
        number_to_bits(&r->cs, bits, &x);
    else
        number_to_bits_update(&r->cs, bits, &x);
    expanded_by(r, EXPANDER_TO_BITS, 0);
}

static void bit_ports(struct recording *r, struct boolean *bits, uint32_t count)
{
    CHECK(count >= 1 && count <= 254);
    for (uint32_t i = 0; i < count; i++)
        bits[i] = bit_port(r);
}

/* The row of an input is recorded with a port in the input's place. */
static void record_pack_input(struct recording *r)
{
    struct boolean bits[254];
    bit_ports(r, bits, r->key->words[0]);
    struct number input = number_port(r);
    if (r->key->kind == TEMPLATE_PACK_INPUT) {
        pack_row(&r->cs, bits, r->key->words[0], input.v);
    } else {
        struct number computed = number_port(r), root = number_port(r);
        pack_row(&r->cs, bits, r->key->words[0], input.v);
        number_equal(&r->cs, &computed, &root);
    }
}

static void record_pack(struct recording *r)
{
    struct boolean bits[254];
    if (r->key->words[0])
        bit_ports(r, bits, r->key->words[0]);
    struct number out = pack_bits(&r->cs, bits, r->key->words[0]);
    result(r, 0, out.v);
    if (r->key->words[0])
        expanded_by(r, EXPANDER_PACK, 1);
}

static void record_select(struct recording *r)
{
    struct boolean bits[SELECT_LOG2_MAX];
    struct number from[1 << SELECT_LOG2_MAX];
    uint32_t log2_size = r->key->words[0];
    CHECK(log2_size >= 1 && log2_size <= SELECT_LOG2_MAX);
    bit_ports(r, bits, log2_size);
    for (uint32_t i = 0; i < 1u << log2_size; i++)
        from[i] = number_port(r);
    struct number out = number_select(&r->cs, from, bits, log2_size);
    result(r, 0, out.v);
    expanded_by(r, EXPANDER_SELECT, 1);
}

static void record_poseidon(struct recording *r)
{
    struct number inputs[36];
    uint32_t arity = r->key->words[0];
    CHECK(poseidon_has(arity));
    for (uint32_t i = 0; i < arity; i++)
        inputs[i] = number_port(r);
    uint64_t tag = r->key->words[1] | (uint64_t)r->key->words[2] << 32;
    struct number out = poseidon_circuit(&r->cs, inputs, arity, tag);
    result(r, 0, out.v);
    expanded_by(r, EXPANDER_POSEIDON, 3);
}

static void record_path(struct recording *r)
{
    struct number node = number_port(r), siblings[7], children[8];
    struct boolean bits[3], decomposed[FR_BITS];
    uint32_t arity = r->key->words[0], log2_arity = (uint32_t)__builtin_ctz(arity);
    CHECK(arity == 2 || arity == 4 || arity == 8);
    bits_alloc(&r->cs, bits, NULL, log2_arity);
    for (uint32_t i = 0; i + 1 < arity; i++)
        siblings[i] = number_alloc(&r->cs, NULL);
    number_insert(&r->cs, children, &node, bits, log2_arity, siblings);
    if (r->key->kind == TEMPLATE_PATH_ELEMENT) {
        struct number out = poseidon_circuit(&r->cs, children, arity, poseidon_merkle_tag(arity));
        result(r, 0, out.v);
        expanded_by(r, EXPANDER_PATH_ELEMENT, 1);
    } else {
        for (uint32_t i = 0; i < arity; i++) {
            number_to_bits(&r->cs, decomposed, &children[i]);
            result(r, i, decomposed[0].v);
        }
        expanded_by(r, EXPANDER_SHA_PATH_HEAD, 1);
    }
    r->seeds = log2_arity + arity - 1;
}

static void record_sha256_block(struct recording *r)
{
    const uint32_t *masks = r->key->words, *values = r->key->words + SHA256_BLOCK_PARAMETERS;
    struct uint32_bits state[8];
    struct boolean block[512];
    sha256_initial_state(state);
    for (uint32_t i = 0; !masks[16] && i < 256; i++)
        state[i / 32].bit[i % 32] = bit_port(r);
    for (uint32_t i = 0; i < 512; i++) {
        uint32_t bit = sha_bit_of_word(i % 32);
        struct boolean *to = &block[32 * (i / 32) + 31 - bit];
        if ((masks[i / 32] >> bit) & 1)
            *to = boolean_const((values[i / 32] >> bit) & 1);
        else
            *to = bit_port(r);
    }
    sha256_compression(&r->cs, state, block);
    for (uint32_t i = 0; i < 8; i++)
        result(r, i, state[i].bit[0].v);
    expanded_by(r, EXPANDER_SHA256_BLOCK, SHA256_BLOCK_PARAMETERS);
}

static const struct {
    const char *name;
    void (*record)(struct recording *r);
} kinds[TEMPLATE_KINDS] = {
    [TEMPLATE_NUMBERS] = {"numbers", record_numbers},
    [TEMPLATE_BITS] = {"bits", record_bits},
    [TEMPLATE_INPUTIZE] = {"inputize", record_equal}, /* the same row: input * 1 = number */
    [TEMPLATE_EQUAL] = {"equal", record_equal},
    [TEMPLATE_ADD] = {"add", record_arithmetic},
    [TEMPLATE_SUB] = {"sub", record_arithmetic},
    [TEMPLATE_MUL] = {"mul", record_arithmetic},
    [TEMPLATE_SUM] = {"sum", record_sum},
    [TEMPLATE_SCALE_ADD] = {"scale_add", record_scale_add},
    [TEMPLATE_MUL_BIT] = {"mul_bit", record_mul_bit},
    [TEMPLATE_INSERT] = {"insert", record_insert},
    [TEMPLATE_TO_BITS] = {"to_bits", record_to_bits},
    [TEMPLATE_TO_BITS_UPDATE] = {"to_bits_update", record_to_bits},
    [TEMPLATE_PACK_INPUT] = {"pack_input", record_pack_input},
    [TEMPLATE_PACK] = {"pack", record_pack},
    [TEMPLATE_SELECT] = {"select", record_select},
    [TEMPLATE_POSEIDON] = {"poseidon", record_poseidon},
    [TEMPLATE_PATH_ELEMENT] = {"path_element", record_path},
    [TEMPLATE_SHA_PATH_HEAD] = {"sha_path_head", record_path},
    [TEMPLATE_PATH_END] = {"path_end", record_pack_input},
    [TEMPLATE_SHA256_BLOCK] = {"sha256_block", record_sha256_block},
};

/* Moves what was recorded into a template of the shape. */
static struct status hand_over(struct circuit_template *out, struct shape_builder *builder,
                               const struct recording *r)
{
    struct template template = {0};
    char name[40];
    bool block = r->expander == EXPANDER_SHA256_BLOCK;
    uint32_t locals = r->cs.aux - r->ports;
    uint8_t *seed = NULL;
    snprintf(name, sizeof name, r->key->words[0] && !block ? "%s_%u" : "%s", kinds[r->key->kind].name,
             r->key->words[0]);
    if (r->expander) {
        seed = mem_alloc_zero(locals, 1);
        if (!seed)
            return mem_failed("seed marks", locals, 1);
        memset(seed, 1, r->seeds);
    }
    struct status s = template_from_cs(
        &template, &r->cs, name, r->ports, seed, block ? SHA256_BLOCK_HINTS : 0, r->expander && !block,
        r->expander ? gadget_expander(r->expander) : NULL, r->parameters, r->parameters_count);
    mem_free(seed);
    if (!status_failed(&s)) {
        s = shape_builder_template(builder, &out->number, &template);
        template_end(&template);
    }
    return s;
}

struct status circuit_template_record(struct circuit_template *out, struct shape_builder *builder,
                                      const struct template_key *key)
{
    struct recording r = {.key = key, .seeds = UINT32_MAX};
    CHECK(key->kind < TEMPLATE_KINDS);
    TRY(cs_init(&r.cs, shape_builder_dictionary(builder), true, false));
    kinds[key->kind].record(&r);
    out->key = *key;
    memcpy(out->out, r.out, sizeof out->out);
    struct status s = r.cs.error;
    if (!status_failed(&s))
        s = hand_over(out, builder, &r);
    cs_end(&r.cs);
    return s;
}
