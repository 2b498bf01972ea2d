/* The walker's steps but for hashes and paths. Each step does up to three things: runs the generic gadget,
 * places an instance, writes seeds; and hands out one handle that is true for all three. */
#include "gadget/circuit_internal.h"

#include "base/mem.h"
#include <string.h>

struct bits bits_slice(const struct bits *b, uint32_t from, uint32_t count)
{
    CHECK(from <= b->count && count <= b->count - from);
    struct bits out = {.first = {b->first.id + from}, .count = count};
    for (uint32_t i = 0; i < count; i += 64) {
        uint32_t at = from + i, shift = at % 64;
        uint64_t low = b->values[at / 64] >> shift;
        uint64_t high = shift && at / 64 < 3 ? b->values[at / 64 + 1] << (64 - shift) : 0;
        out.values[i / 64] = low | high;
        if (count - i < 64)
            out.values[i / 64] &= (UINT64_C(1) << (count - i)) - 1;
    }
    return out;
}

struct joined_bits joined_slice(const struct joined_bits *b, uint32_t from, uint32_t count)
{
    CHECK(from <= joined_count(b) && count <= joined_count(b) - from);
    uint32_t low = from < b->low.count ? b->low.count - from : 0;
    if (low > count)
        low = count;
    return (struct joined_bits){
        .low = bits_slice(&b->low, low ? from : 0, low),
        .high = bits_slice(&b->high, from > b->low.count ? from - b->low.count : 0, count - low),
    };
}

uint64_t joined_value(const struct joined_bits *b)
{
    CHECK(joined_count(b) <= 64);
    return b->low.values[0] | (b->high.count ? b->high.values[0] << b->low.count : 0);
}

void joined_to_booleans(struct boolean *out, const struct joined_bits *b)
{
    bits_to_booleans(out, &b->low);
    bits_to_booleans(out + b->low.count, &b->high);
}

void bits_to_booleans(struct boolean *out, const struct bits *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = boolean_is((variable){b->first.id + i}, bits_at(b, i));
}

/* ---- start and end ---- */

struct status circuit_start(struct circuit *c, struct shape_builder *builder, struct seeds *seeds,
                            struct cs *cs)
{
    *c = (struct circuit){.builder = builder, .seeds = seeds, .cs = cs, .variables = builder || cs};
    return status_ok();
}

/* Both forms of the circuit have the same size. */
static void check_counts(const struct circuit *c)
{
    uint32_t rows, aux, inputs;
    shape_builder_counts(c->builder, &rows, &aux, &inputs);
    CHECK(aux == c->cs->aux && inputs == c->cs->inputs);
    CHECK(!c->cs->with_rows || rows == c->cs->rows.rows);
}

struct status circuit_end(struct circuit *c)
{
    struct status s = c->error;
    if (!status_failed(&s) && c->cs)
        s = c->cs->error;
    if (!status_failed(&s) && c->builder && c->cs)
        check_counts(c);
    mem_free(c->templates);
    *c = (struct circuit){0};
    return s;
}

void circuit_counts(const struct circuit *c, uint32_t *rows, uint32_t *aux, uint32_t *inputs)
{
    CHECK(c->variables);
    if (c->builder) {
        shape_builder_counts(c->builder, rows, aux, inputs);
    } else {
        *rows = c->cs->rows.rows;
        *aux = c->cs->aux;
        *inputs = c->cs->inputs;
    }
}

/* ---- instances ---- */

static const struct circuit_template *find_template(struct circuit *c, const struct template_key *key)
{
    for (uint32_t i = 0; i < c->templates_count; i++)
        if (memcmp(&c->templates[i].key, key, sizeof *key) == 0)
            return &c->templates[i];
    if (c->templates_count == c->templates_capacity) {
        uint32_t capacity = c->templates_capacity ? c->templates_capacity * 2 : 16;
        void *grown = mem_grow(c->templates, c->templates_capacity, capacity, sizeof *c->templates);
        if (!grown) {
            c->error = mem_failed("templates of a circuit", capacity, sizeof *c->templates);
            return NULL;
        }
        c->templates = grown;
        c->templates_capacity = capacity;
    }
    struct circuit_template *t = &c->templates[c->templates_count];
    c->error = circuit_template_record(t, c->builder, key);
    if (status_failed(&c->error))
        return NULL;
    c->templates_count++;
    return t;
}

uint32_t circuit_place(struct circuit *c, const struct template_key *key, const struct port_list *ports,
                       uint32_t out[8])
{
    uint32_t first_aux = 0;
    if (out)
        memset(out, 0, 8 * sizeof *out);
    if (!circuit_ok(c))
        return 0;
    const struct circuit_template *t = find_template(c, key);
    if (!t)
        return 0;
    c->error = shape_builder_place(c->builder, t->number, ports ? ports->runs : NULL,
                                   ports ? ports->count : 0, &first_aux, NULL);
    if (out)
        memcpy(out, t->out, 8 * sizeof *out);
    return circuit_ok(c) ? first_aux : 0;
}

uint32_t circuit_place_number(struct circuit *c, const struct template_key *key,
                              const struct port_list *ports)
{
    uint32_t out[8], first = circuit_place(c, key, ports, out);
    return first + out[0];
}

/* A variable as the generic form and the template form name it: the same. */
static variable agreed(const struct circuit *c, variable generic, uint32_t placed_aux)
{
    if (!c->cs)
        return variable_aux(placed_aux);
    if (c->builder && circuit_ok(c) && !status_failed(&c->cs->error))
        CHECK(generic.id == variable_aux(placed_aux).id);
    return generic;
}

struct number circuit_result(const struct circuit *c, const struct number *generic, uint32_t placed_aux,
                             bool known, const fr *value)
{
    struct number out = {.v = variable_aux(placed_aux), .known = known, .value = known ? *value : FR_ZERO};
    if (!c->cs)
        return out;
    agreed(c, generic->v, placed_aux);
    if (c->seeds && known && generic->known && !status_failed(&c->cs->error))
        CHECK(fr_equal(value, &generic->value));
    return *generic;
}

/* ---- numbers ---- */

void circuit_numbers(struct circuit *c, struct number *out, const fr *values, uint32_t count)
{
    struct template_key key = {TEMPLATE_NUMBERS, {count}};
    uint32_t first = c->builder ? circuit_place(c, &key, NULL, NULL) : 0;
    CHECK(values || !circuit_has_values(c));
    for (uint32_t i = 0; i < count; i++) {
        struct number generic = {0};
        const fr *value = values ? &values[i] : &FR_ZERO;
        if (c->cs)
            generic = number_alloc(c->cs, value);
        if (c->seeds)
            seeds_field(c->seeds, value);
        out[i] = circuit_result(c, &generic, first + i, circuit_has_values(c), value);
    }
}

struct number circuit_number(struct circuit *c, const fr *value)
{
    struct number out;
    circuit_numbers(c, &out, value, 1);
    return out;
}

static void new_input(struct circuit *c, struct port_list *ports, const fr *value)
{
    if (c->seeds)
        seeds_input(c->seeds, value);
    if (c->builder && circuit_ok(c))
        ports_number(ports, shape_builder_input(c->builder));
}

void circuit_inputize(struct circuit *c, const struct number *x)
{
    struct port_list ports;
    CHECK(x->known || !c->seeds);
    ports_clear(&ports);
    if (c->cs)
        number_inputize(c->cs, x);
    new_input(c, &ports, &x->value);
    if (c->builder) {
        struct template_key key = {TEMPLATE_INPUTIZE, {0}};
        ports_number(&ports, x->v);
        circuit_place(c, &key, &ports, NULL);
    }
}

/* An instance of a template with two number ports. */
static uint32_t place_two(struct circuit *c, enum template_kind kind, const struct number *a,
                          const struct number *b)
{
    struct template_key key = {kind, {0}};
    struct port_list ports;
    ports_clear(&ports);
    ports_number(&ports, a->v);
    ports_number(&ports, b->v);
    return circuit_place_number(c, &key, &ports);
}

void circuit_equal(struct circuit *c, const struct number *a, const struct number *b)
{
    if (c->cs)
        number_equal(c->cs, a, b);
    if (c->builder)
        place_two(c, TEMPLATE_EQUAL, a, b);
}

struct number circuit_add(struct circuit *c, const struct number *a, const struct number *b)
{
    struct number generic = {0};
    fr value;
    fr_add(&value, &a->value, &b->value);
    if (c->cs)
        generic = number_add(c->cs, a, b);
    uint32_t placed = c->builder ? place_two(c, TEMPLATE_ADD, a, b) : 0;
    return circuit_result(c, &generic, placed, a->known && b->known, &value);
}

struct number circuit_sub(struct circuit *c, const struct number *a, const struct number *b)
{
    struct number generic = {0};
    fr value;
    fr_sub(&value, &a->value, &b->value);
    if (c->cs)
        generic = number_sub(c->cs, a, b);
    uint32_t placed = c->builder ? place_two(c, TEMPLATE_SUB, a, b) : 0;
    return circuit_result(c, &generic, placed, a->known && b->known, &value);
}

struct number circuit_mul(struct circuit *c, const struct number *a, const struct number *b)
{
    struct number generic = {0};
    fr value;
    fr_mul(&value, &a->value, &b->value);
    if (c->cs)
        generic = number_mul(c->cs, a, b);
    uint32_t placed = c->builder ? place_two(c, TEMPLATE_MUL, a, b) : 0;
    return circuit_result(c, &generic, placed, a->known && b->known, &value);
}

struct number circuit_sum(struct circuit *c, const struct number *terms, uint32_t count)
{
    struct number generic = {0};
    uint32_t placed = 0;
    bool known = true;
    fr value = FR_ZERO;
    CHECK(count >= 1 && count <= 64);
    for (uint32_t i = 0; i < count; i++) {
        fr_add(&value, &value, &terms[i].value);
        known &= terms[i].known;
    }
    if (c->cs)
        generic = number_sum(c->cs, terms, count);
    if (c->builder) {
        struct template_key key = {TEMPLATE_SUM, {count}};
        struct port_list ports;
        ports_clear(&ports);
        for (uint32_t i = 0; i < count; i++)
            ports_number(&ports, terms[i].v);
        placed = circuit_place_number(c, &key, &ports);
    }
    return circuit_result(c, &generic, placed, known, &value);
}

struct number circuit_scale_add(struct circuit *c, const struct number *x, uint32_t scale, uint32_t offset)
{
    struct number generic = {0};
    uint32_t placed = 0;
    fr value, constant;
    fr_from_u64(&value, scale);
    fr_from_u64(&constant, offset);
    fr_mul(&value, &value, &x->value);
    fr_add(&value, &value, &constant);
    if (c->cs)
        generic = number_scale_add(c->cs, x, scale, offset);
    if (c->builder) {
        struct template_key key = {TEMPLATE_SCALE_ADD, {scale, offset}};
        struct port_list ports;
        ports_clear(&ports);
        ports_number(&ports, x->v);
        placed = circuit_place_number(c, &key, &ports);
    }
    return circuit_result(c, &generic, placed, x->known, &value);
}

struct number circuit_mul_bit(struct circuit *c, const struct number *x, const struct bits *bit)
{
    struct number generic = {0};
    uint32_t placed = 0;
    fr value = bits_at(bit, 0) ? x->value : FR_ZERO;
    CHECK(bit->count == 1);
    if (c->cs) {
        struct boolean b;
        bits_to_booleans(&b, bit);
        generic = number_mul_bit(c->cs, x, &b);
    }
    if (c->builder) {
        struct template_key key = {TEMPLATE_MUL_BIT, {0}};
        struct port_list ports;
        ports_clear(&ports);
        ports_number(&ports, x->v);
        ports_bits(&ports, bit->first, 1);
        placed = circuit_place_number(c, &key, &ports);
    }
    return circuit_result(c, &generic, placed, x->known, &value);
}

/* ---- bits ---- */

struct bits circuit_bits(struct circuit *c, uint64_t value, uint32_t count)
{
    CHECK(count >= 1 && count <= 64);
    struct bits out = {.count = count};
    out.values[0] = count < 64 ? value & ((UINT64_C(1) << count) - 1) : value;
    if (c->cs) {
        struct boolean bits[64];
        bits_alloc(c->cs, bits, out.values, count);
        out.first = bits[0].v;
    }
    if (c->builder) {
        struct template_key key = {TEMPLATE_BITS, {count}};
        out.first = agreed(c, out.first, circuit_place(c, &key, NULL, NULL));
    }
    if (c->seeds)
        seeds_bits(c->seeds, out.values[0], count);
    return out;
}

static struct bits to_bits(struct circuit *c, const struct number *x, enum template_kind kind)
{
    struct bits out = {.count = FR_BITS};
    fr_int value;
    CHECK(x->known || !c->seeds);
    fr_to_int(&value, &x->value);
    memcpy(out.values, value.l, sizeof out.values);
    if (c->cs) {
        struct boolean bits[FR_BITS];
        if (kind == TEMPLATE_TO_BITS)
            number_to_bits(c->cs, bits, x);
        else
            number_to_bits_update(c->cs, bits, x);
        out.first = bits[0].v;
    }
    if (c->builder) {
        struct template_key key = {kind, {0}};
        struct port_list ports;
        ports_clear(&ports);
        ports_number(&ports, x->v);
        out.first = agreed(c, out.first, circuit_place(c, &key, &ports, NULL));
    }
    return out;
}

struct bits circuit_to_bits(struct circuit *c, const struct number *x)
{
    return to_bits(c, x, TEMPLATE_TO_BITS);
}

struct bits circuit_to_bits_update(struct circuit *c, const struct number *x)
{
    return to_bits(c, x, TEMPLATE_TO_BITS_UPDATE);
}

static fr packed(const struct bits *b)
{
    fr_int value = {{b->values[0], b->values[1], b->values[2], b->values[3]}};
    fr out;
    CHECK(b->count >= 1 && b->count <= 254);
    fr_from_int(&out, &value);
    return out;
}

void circuit_pack_input(struct circuit *c, const struct bits *b)
{
    struct template_key key = {TEMPLATE_PACK_INPUT, {b->count}};
    struct port_list ports;
    fr value = packed(b);
    ports_clear(&ports);
    if (c->cs) {
        struct boolean bits[256];
        bits_to_booleans(bits, b);
        pack_into_inputs(c->cs, bits, b->count);
    }
    ports_bits(&ports, b->first, b->count);
    new_input(c, &ports, &value);
    if (c->builder)
        circuit_place(c, &key, &ports, NULL);
}

void circuit_bits_equal(struct circuit *c, const struct bits *b, const struct number *x)
{
    CHECK(b->count >= 1 && b->count <= 254);
    if (c->cs) {
        struct boolean bits[256];
        bits_to_booleans(bits, b);
        pack_row(c->cs, bits, b->count, x->v);
    }
    if (c->builder) {
        struct template_key key = {TEMPLATE_PACK_INPUT, {b->count}};
        struct port_list ports;
        ports_clear(&ports);
        ports_bits(&ports, b->first, b->count);
        ports_number(&ports, x->v);
        circuit_place(c, &key, &ports, NULL);
    }
}

struct number circuit_pack_joined(struct circuit *c, const struct joined_bits *b)
{
    struct template_key key = {TEMPLATE_PACK, {joined_count(b)}};
    struct number generic = {0};
    uint32_t placed = 0;
    fr value;
    fr_from_u64(&value, joined_value(b));
    if (c->cs) {
        struct boolean bits[64];
        joined_to_booleans(bits, b);
        generic = pack_bits(c->cs, bits, joined_count(b));
    }
    if (c->builder) {
        struct port_list ports;
        ports_clear(&ports);
        ports_joined(&ports, b);
        placed = circuit_place_number(c, &key, &ports);
    }
    if (c->seeds && joined_count(b) == 0)
        seeds_field(c->seeds, &value);
    return circuit_result(c, &generic, placed, circuit_has_values(c), &value);
}

struct number circuit_select(struct circuit *c, const struct number *from, const struct joined_bits *index)
{
    struct number generic = {0};
    const struct number *chosen = &from[joined_value(index)];
    uint32_t placed = 0, log2_size = joined_count(index);
    CHECK(log2_size >= 1 && log2_size <= SELECT_LOG2_MAX);
    if (c->cs) {
        struct boolean bits[SELECT_LOG2_MAX];
        joined_to_booleans(bits, index);
        generic = number_select(c->cs, from, bits, log2_size);
    }
    if (c->builder) {
        struct template_key key = {TEMPLATE_SELECT, {log2_size}};
        struct port_list ports;
        ports_clear(&ports);
        ports_joined(&ports, index);
        for (uint32_t i = 0; i < 1u << log2_size; i++)
            ports_number(&ports, from[i].v);
        placed = circuit_place_number(c, &key, &ports);
    }
    return circuit_result(c, &generic, placed, chosen->known, &chosen->value);
}

struct number circuit_pack(struct circuit *c, const struct bits *b)
{
    struct template_key key = {TEMPLATE_PACK, {b->count}};
    struct number generic = {0};
    uint32_t placed = 0;
    fr value = packed(b);
    if (c->cs) {
        struct boolean bits[256];
        bits_to_booleans(bits, b);
        generic = pack_bits(c->cs, bits, b->count);
    }
    if (c->builder) {
        struct port_list ports;
        ports_clear(&ports);
        ports_bits(&ports, b->first, b->count);
        placed = circuit_place_number(c, &key, &ports);
    }
    return circuit_result(c, &generic, placed, circuit_has_values(c), &value);
}
