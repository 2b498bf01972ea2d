#include "random_circuit.h"

#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

static uint64_t random_state = 1;

void random_seed(uint64_t seed)
{
    random_state = seed * 2 + 1;
}

uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

uint32_t random_below(uint32_t bound)
{
    return (uint32_t)((random_u64() >> 32) * bound >> 32);
}

fr random_fr(void)
{
    uint8_t bytes[64];
    fr out;
    for (int i = 0; i < 64; i += 8) {
        uint64_t v = random_u64();
        memcpy(bytes + i, &v, 8);
    }
    fr_from_bytes_reduce(&out, bytes, sizeof bytes);
    return out;
}

/* Mostly small, so that sums cancel and classes meet their bounds. */
static fr random_coefficient(void)
{
    static const uint8_t small[] = {1, 1, 1, 1, 2, 2, 3, 4, 16, 63, 64, 65, 127, 128};
    fr v;
    uint32_t kind = random_below(8);
    if (kind == 0)
        return random_fr();
    fr_from_u64(&v, small[random_below(sizeof small)]);
    for (uint32_t i = kind == 1 ? random_below(250) : 0; i > 0; i--)
        fr_dbl(&v, &v);
    if (random_below(2))
        fr_neg(&v, &v);
    return v;
}

/* ---- programs: what a template does ---- */

enum op_kind {
    OP_SEED_BIT,   /* a bit that the circuit writes: (1 - v) v = 0 */
    OP_HINTED_BIT, /* a bit that the expander takes from a hint */
    OP_SEED_FIELD,
    OP_XOR,     /* bit = xor of two bits: 2a * b = a + b - v */
    OP_PRODUCT, /* field: A * B = scale * v */
    OP_SUM,     /* field: A * ONE = v, A of the other order of cost too */
};

struct term {
    uint32_t column; /* 0 ONE, then ports, then locals */
    fr coefficient;
};

struct op {
    enum op_kind kind;
    uint32_t x, y; /* columns of OP_XOR */
    struct term *terms;
    uint32_t a, b; /* terms of A, then of B */
};

#define PROGRAMS_MAX 8
#define COLUMNS_MAX  4096
struct program {
    uint32_t ports, columns, ops_count, hinted;
    bool all_seeds;            /* no expander: the circuit writes the sum at the end too */
    uint8_t kind[COLUMNS_MAX]; /* per column; ONE counts as a bit */
    struct op *ops;            /* one per local */
};
static struct program programs[PROGRAMS_MAX];

static void *checked(void *p)
{
    if (!p)
        abort();
    return p;
}

static uint32_t random_column(const struct program *p, int kind)
{
    for (;;) {
        uint32_t column = random_below(p->columns);
        if (kind < 0 || p->kind[column] == kind)
            return column;
    }
}

static void random_terms(struct program *p, struct op *op, uint32_t a, uint32_t b)
{
    op->a = a;
    op->b = b;
    op->terms = checked(malloc((a + b + 1) * sizeof *op->terms));
    bool bits = random_below(2);
    for (uint32_t i = 0; i < a + b; i++)
        op->terms[i] = (struct term){random_column(p, bits ? KIND_BIT : -1), random_coefficient()};
}

static void add_op(struct program *p, enum op_kind kind)
{
    struct op op = {.kind = kind};
    uint32_t longest = random_below(8) == 0 ? 200 : 5;
    switch (kind) {
    case OP_XOR:
        op.x = random_column(p, KIND_BIT);
        op.y = random_column(p, KIND_BIT);
        break;
    case OP_PRODUCT:
        random_terms(p, &op, random_below(longest), 1 + random_below(3));
        break;
    case OP_SUM:
        random_terms(p, &op, random_below(longest), 0);
        break;
    case OP_HINTED_BIT:
        p->hinted++;
        break;
    case OP_SEED_BIT:
    case OP_SEED_FIELD:
        break;
    }
    p->ops[p->ops_count++] = op;
    p->kind[p->columns++] =
        kind == OP_SEED_BIT || kind == OP_HINTED_BIT || kind == OP_XOR ? KIND_BIT : KIND_FIELD;
}

static void random_program(struct program *p, uint32_t ports, uint32_t size, bool seeds_only)
{
    *p = (struct program){.ports = ports, .columns = 1, .all_seeds = seeds_only};
    uint32_t run = 0, kind = 0;
    for (uint32_t i = 0; i < ports; i++, run--) {
        if (run == 0) {
            run = 1 + random_below(ports / 2 + 1);
            kind = random_below(4) == 0 ? KIND_FIELD : KIND_BIT;
        }
        p->kind[p->columns++] = (uint8_t)kind;
    }
    uint32_t count = 1 + random_below(size);
    p->ops = checked(malloc((count + 2) * sizeof *p->ops));
    for (uint32_t i = 0; i < count; i++)
        add_op(p,
               seeds_only ? (random_below(3) ? OP_SEED_BIT : OP_SEED_FIELD) : (enum op_kind)random_below(6));
    add_op(p, OP_SUM); /* every local once */
    struct op *last = &p->ops[p->ops_count - 1];
    last->terms = checked(realloc(last->terms, p->columns * sizeof *last->terms));
    last->a = 0;
    for (uint32_t column = 1 + ports; column < p->columns - 1; column++)
        last->terms[last->a++] = (struct term){column, random_coefficient()};
}

static void programs_clear(void)
{
    for (int i = 0; i < PROGRAMS_MAX; i++) {
        for (uint32_t k = 0; k < programs[i].ops_count; k++)
            free(programs[i].ops[k].terms);
        free(programs[i].ops);
        programs[i] = (struct program){0};
    }
}

/* ---- values, for expander and oracle ---- */

static fr sum_of(const struct term *terms, uint32_t count, const fr *values)
{
    fr sum = FR_ZERO, t;
    for (uint32_t i = 0; i < count; i++) {
        fr_mul(&t, &terms[i].coefficient, &values[terms[i].column]);
        fr_add(&sum, &sum, &t);
    }
    return sum;
}

static fr op_value(const struct op *op, const fr *values)
{
    fr a, b;
    switch (op->kind) {
    case OP_XOR:
        return fr_equal(&values[op->x], &values[op->y]) ? FR_ZERO : FR_ONE;
    case OP_PRODUCT:
        a = sum_of(op->terms, op->a, values);
        b = sum_of(op->terms + op->a, op->b, values);
        fr_mul(&a, &a, &b);
        return a;
    case OP_SUM:
        return sum_of(op->terms, op->a, values);
    default:
        return FR_ZERO;
    }
}

static void expand_program(const struct expansion *x)
{
    const struct program *p = &programs[x->template->parameters[0]];
    const struct template *t = x->template;
    fr *values = checked(malloc(p->columns * sizeof *values));
    values[0] = FR_ONE;
    uint32_t field = 0, rank = 0, hinted = 0;
    for (uint32_t i = 0; i < p->ports; i++) {
        values[1 + i] = FR_ZERO;
        if (t->port_kind[i] == KIND_FIELD)
            values[1 + i] = x->port_fields[field++];
        else if (x->port_bits[i / 64] >> (i % 64) & 1)
            values[1 + i] = FR_ONE;
    }
    for (uint32_t i = 0; i < p->ops_count; i++) {
        fr v = op_value(&p->ops[i], values);
        switch (p->ops[i].kind) {
        case OP_SEED_BIT:
            v = expansion_get_bit(x, i) ? FR_ONE : FR_ZERO;
            break;
        case OP_HINTED_BIT:
            v = x->hints[hinted / 32] >> (hinted % 32) & 1 ? FR_ONE : FR_ZERO;
            hinted++;
            expansion_put_bits(x, i, !fr_is_zero(&v), 1);
            break;
        case OP_SEED_FIELD:
            v = x->fields[rank++];
            break;
        case OP_XOR:
            expansion_put_bits(x, i, !fr_is_zero(&v), 1);
            break;
        case OP_PRODUCT:
        case OP_SUM:
            x->fields[rank++] = v;
            break;
        }
        values[1 + p->ports + i] = v;
    }
    free(values);
}

static bool program_fits(const struct template *t)
{
    if (t->parameters[0] >= PROGRAMS_MAX)
        return false;
    const struct program *p = &programs[t->parameters[0]];
    if (!p->ops || p->ports != t->ports || p->ops_count != t->locals || t->reads_ports != (p->ports > 0))
        return false;
    if (t->hint_words != (p->hinted + 31) / 32)
        return false;
    for (uint32_t i = 0; i < p->ops_count; i++)
        if (p->kind[1 + p->ports + i] != t->local_kind[i])
            return false;
    for (uint32_t i = 0; i < p->ports; i++)
        if (p->kind[1 + i] != t->port_kind[i])
            return false;
    return true;
}

static const struct expander expander = {1, "random", expand_program, program_fits};
const struct expander *const random_expanders[] = {&expander};
const size_t random_expanders_count = 1;

/* ---- the generic run ---- */

/* Seeds in the order of a walk, before there is a shape. */
struct trace {
    fr *fields, *inputs;
    uint8_t *bits;
    uint32_t *hints;
    uint32_t fields_count, bits_count, hints_count, inputs_count;
};

static bool is_seed(const struct program *p, const struct op *op)
{
    return p->all_seeds || op->kind == OP_SEED_BIT || op->kind == OP_SEED_FIELD;
}

static void add_terms(struct lc *l, const struct term *terms, uint32_t count, const variable *columns)
{
    lc_clear(l);
    for (uint32_t i = 0; i < count; i++)
        lc_add(l, columns[terms[i].column], &terms[i].coefficient);
}

static void enforce_op(struct cs *cs, const struct op *op, const variable *columns, variable v)
{
    struct lc a, b, c;
    fr two;
    lc_init(&a);
    lc_init(&b);
    lc_init(&c);
    fr_dbl(&two, &FR_ONE);
    switch (op->kind) {
    case OP_SEED_BIT:
    case OP_HINTED_BIT:
        lc_add_one(&a, VARIABLE_ONE);
        lc_sub_one(&a, v);
        lc_add_one(&b, v);
        break;
    case OP_XOR:
        lc_add(&a, columns[op->x], &two);
        lc_add_one(&b, columns[op->y]);
        lc_add_one(&c, columns[op->x]);
        lc_add_one(&c, columns[op->y]);
        lc_sub_one(&c, v);
        break;
    case OP_PRODUCT:
        add_terms(&a, op->terms, op->a, columns);
        add_terms(&b, op->terms + op->a, op->b, columns);
        lc_add_one(&c, v);
        break;
    case OP_SUM:
        add_terms(&a, op->terms, op->a, columns);
        lc_add_one(&b, VARIABLE_ONE);
        lc_add_one(&c, v);
        break;
    case OP_SEED_FIELD:
        break;
    }
    if (op->kind != OP_SEED_FIELD)
        cs_enforce(cs, &a, &b, &c);
    lc_end(&a);
    lc_end(&b);
    lc_end(&c);
}

/* Runs a program over a system; columns and values hold ONE and the ports. trace NULL: only record. */
static void run_program(struct cs *cs, const struct program *p, variable *columns, fr *values,
                        struct trace *trace)
{
    uint32_t hinted = 0;
    for (uint32_t i = 0; i < p->ops_count; i++) {
        const struct op *op = &p->ops[i];
        fr v = trace ? op_value(op, values) : FR_ZERO;
        if (trace && op->kind == OP_SEED_BIT) {
            trace->bits[trace->bits_count] = (uint8_t)random_below(2);
            v = trace->bits[trace->bits_count++] ? FR_ONE : FR_ZERO;
        } else if (trace && op->kind == OP_HINTED_BIT) {
            if (hinted % 32 == 0)
                trace->hints[trace->hints_count++] = (uint32_t)random_u64();
            v = trace->hints[trace->hints_count - 1] >> (hinted++ % 32) & 1 ? FR_ONE : FR_ZERO;
        } else if (trace && is_seed(p, op)) {
            if (op->kind == OP_SEED_FIELD)
                v = random_below(4) ? random_fr() : FR_ONE;
            trace->fields[trace->fields_count++] = v;
        }
        uint32_t column = 1 + p->ports + i;
        columns[column] = cs_alloc(cs, p->kind[column], &v);
        values[column] = v;
        enforce_op(cs, op, columns, columns[column]);
    }
}

static struct status record(struct template *out, struct dictionary *d, uint32_t number)
{
    const struct program *p = &programs[number];
    struct cs cs;
    TRY(cs_init(&cs, d, true, false));
    variable *columns = checked(malloc(p->columns * sizeof *columns));
    fr *values = checked(malloc(p->columns * sizeof *values));
    uint8_t *seed = checked(malloc(p->ops_count + 1));
    columns[0] = VARIABLE_ONE;
    for (uint32_t i = 0; i < p->ports; i++)
        columns[1 + i] = cs_alloc(&cs, p->kind[1 + i], NULL);
    run_program(&cs, p, columns, values, NULL);
    for (uint32_t i = 0; i < p->ops_count; i++)
        seed[i] = is_seed(p, &p->ops[i]);
    char name[32];
    snprintf(name, sizeof name, "random %u", number);
    struct status s =
        template_from_cs(out, &cs, name, p->ports, p->all_seeds ? NULL : seed, (p->hinted + 31) / 32,
                         !p->all_seeds && p->ports > 0, p->all_seeds ? NULL : &expander, &number, 1);
    cs_end(&cs);
    free(columns);
    free(values);
    free(seed);
    return s;
}

/* ---- the circuit ---- */

struct maker {
    struct random_circuit *circuit;
    struct shape_builder *builder;
    struct trace trace;
    struct port_run *runs;
    variable *columns;
    fr *values;
};

static bool has_kind(const struct cs *cs, variable v, uint8_t kind)
{
    if (!variable_is_aux(v))
        return variable_index(v) < cs->inputs && kind == KIND_FIELD;
    return variable_index(v) < cs->aux && cs->aux_kinds[variable_index(v)] == kind;
}

static variable random_variable(const struct cs *cs, uint8_t kind)
{
    if (kind == KIND_FIELD && random_below(6) == 0)
        return variable_input(random_below(cs->inputs));
    uint32_t window = random_below(3) ? cs->aux : cs->aux < 12 ? cs->aux : 12; /* recent ones: aliases */
    for (;;) {
        variable v = variable_aux(cs->aux - 1 - random_below(window));
        if (has_kind(cs, v, kind))
            return v;
        window = cs->aux;
    }
}

/* Binds the ports of a program to random variables; the number of runs. */
static uint32_t random_runs(struct maker *m, const struct program *p)
{
    const struct cs *cs = &m->circuit->oracle;
    uint32_t runs = 0;
    bool aliased = false;
    for (uint32_t i = 0; i < p->ports; i++) {
        uint8_t kind = p->kind[1 + i];
        variable v = {m->columns[i].id + 1};
        bool joined = runs > 0 && p->kind[i] == kind && has_kind(cs, v, kind) && random_below(10);
        if (!joined)
            m->runs[runs++] = (struct port_run){random_variable(cs, kind), 0, 0};
        v.id = m->runs[runs - 1].first.id + m->runs[runs - 1].count++;
        m->columns[1 + i] = v;
        m->values[1 + i] = cs_value(cs, v);
        for (uint32_t k = 0; k <= i; k++)
            aliased = aliased || m->columns[k].id == v.id;
    }
    m->circuit->aliased += aliased;
    return runs;
}

static struct status place_program(struct maker *m, uint32_t number)
{
    const struct program *p = &programs[number];
    m->columns[0] = VARIABLE_ONE;
    m->values[0] = FR_ONE;
    uint32_t runs = random_runs(m, p), aux = m->circuit->oracle.aux, first = 0;
    run_program(&m->circuit->oracle, p, m->columns, m->values, &m->trace);
    TRY(m->circuit->oracle.error);
    TRY(shape_builder_place(m->builder, number, m->runs, runs, &first, NULL));
    CHECK(first == aux);
    return status_ok();
}

static void add_input(struct maker *m)
{
    fr v = random_fr();
    m->trace.inputs[m->trace.inputs_count++] = v;
    variable x = cs_alloc_input(&m->circuit->oracle, &v), y = shape_builder_input(m->builder);
    CHECK(x.id == y.id || status_failed(&m->circuit->oracle.error));
}

/* The last program is a sum over all inputs but ONE, placed once at the end. */
static void input_program(uint32_t inputs)
{
    struct program *p = &programs[PROGRAMS_MAX - 1];
    *p = (struct program){.ports = inputs, .columns = 1 + inputs};
    memset(p->kind, KIND_FIELD, sizeof p->kind);
    p->ops = checked(malloc(sizeof *p->ops));
    struct op op = {.kind = OP_SUM, .a = inputs, .terms = checked(malloc((inputs + 1) * sizeof *op.terms))};
    for (uint32_t i = 0; i < inputs; i++)
        op.terms[i] = (struct term){1 + i, random_coefficient()};
    p->ops[p->ops_count++] = op;
    p->columns++;
}

static struct status add_templates(struct maker *m)
{
    for (uint32_t i = 0; i < PROGRAMS_MAX; i++) {
        struct template t;
        uint32_t number;
        TRY(record(&t, shape_builder_dictionary(m->builder), i));
        struct status s = shape_builder_template(m->builder, &number, &t);
        template_end(&t);
        TRY(s);
        CHECK(number == i);
    }
    return status_ok();
}

static struct status place_all(struct maker *m, uint32_t instances, uint32_t inputs)
{
    TRY(place_program(m, 0));
    for (uint32_t i = 0; i < inputs; i++)
        add_input(m);
    for (uint32_t i = 0; i < instances; i++)
        TRY(place_program(m, random_below(PROGRAMS_MAX - 1)));
    const struct program *p = &programs[PROGRAMS_MAX - 1];
    m->columns[0] = VARIABLE_ONE;
    m->values[0] = FR_ONE;
    for (uint32_t i = 0; i < inputs; i++) {
        m->columns[1 + i] = variable_input(1 + i);
        m->values[1 + i] = m->trace.inputs[i];
    }
    struct port_run all = {variable_input(1), inputs, 0};
    run_program(&m->circuit->oracle, p, m->columns, m->values, &m->trace);
    TRY(m->circuit->oracle.error);
    return shape_builder_place(m->builder, PROGRAMS_MAX - 1, &all, inputs > 0, NULL, NULL);
}

static struct status write_seeds(struct maker *m)
{
    struct random_circuit *c = m->circuit;
    const struct trace *t = &m->trace;
    TRY(seeds_start(&c->seeds, c->shape));
    for (uint32_t i = 0; i < t->inputs_count; i++)
        seeds_input(&c->seeds, &t->inputs[i]);
    for (uint32_t i = 0; i < t->fields_count; i++)
        seeds_field(&c->seeds, &t->fields[i]);
    for (uint32_t i = 0; i < t->bits_count;) {
        uint32_t count = 1 + random_below(64);
        uint64_t value = random_u64() << 1 << (count - 1); /* bits beyond count must not matter */
        count = count < t->bits_count - i ? count : t->bits_count - i;
        value = count < 64 ? value >> count << count : 0;
        for (uint32_t k = 0; k < count; k++)
            value |= (uint64_t)t->bits[i + k] << k;
        seeds_bits(&c->seeds, value, count);
        i += count;
    }
    seeds_hints(&c->seeds, t->hints, t->hints_count);
    CHECK(seeds_complete(&c->seeds));
    return status_ok();
}

static struct status make(struct maker *m, uint32_t instances, uint32_t inputs)
{
    struct random_circuit *c = m->circuit;
    TRY(dictionary_init(&c->dictionary));
    TRY(cs_init(&c->oracle, &c->dictionary, true, true));
    TRY(shape_builder_start(&m->builder));
    TRY(add_templates(m));
    TRY(place_all(m, instances, inputs));
    struct shape_builder *builder = m->builder;
    m->builder = NULL;
    TRY(shape_builder_finish(&c->shape, builder));
    return write_seeds(m);
}

/* Both kinds must exist before ports are bound. */
static void first_program(uint32_t size)
{
    do {
        programs_clear();
        random_program(&programs[0], 0, size < 4 ? 4 : size, true);
    } while (programs[0].ops[0].kind != OP_SEED_BIT);
}

struct status random_circuit_try(struct random_circuit *c, uint32_t instances, uint32_t size)
{
    uint32_t inputs = random_below(6), locals = (instances + 1) * (size + 3) + 16;
    *c = (struct random_circuit){0};
    first_program(size);
    for (uint32_t i = 1; i < PROGRAMS_MAX - 1; i++)
        random_program(&programs[i], i == 1 ? 0 : random_below(i * 10), size, i == 2);
    input_program(inputs);
    struct maker m = {.circuit = c,
                      .runs = checked(malloc(COLUMNS_MAX * sizeof *m.runs)),
                      .columns = checked(malloc(COLUMNS_MAX * sizeof *m.columns)),
                      .values = checked(malloc(COLUMNS_MAX * sizeof *m.values))};
    m.trace = (struct trace){.fields = checked(malloc(locals * sizeof(fr))),
                             .inputs = checked(malloc((inputs + 1) * sizeof(fr))),
                             .bits = checked(malloc(locals)),
                             .hints = checked(malloc(locals * sizeof(uint32_t)))};
    struct status s = make(&m, instances, inputs);
    shape_builder_abandon(m.builder);
    free(m.runs);
    free(m.columns);
    free(m.values);
    free(m.trace.fields);
    free(m.trace.inputs);
    free(m.trace.bits);
    free(m.trace.hints);
    if (status_failed(&s))
        random_circuit_end(c);
    return s;
}

void random_circuit_make(struct random_circuit *c, uint32_t instances, uint32_t size)
{
    struct status s = random_circuit_try(c, instances, size);
    if (status_failed(&s)) {
        fprintf(stderr, "random circuit: %s\n", s.message);
        abort();
    }
}

void random_circuit_end(struct random_circuit *c)
{
    shape_release(c->shape);
    cs_end(&c->oracle);
    dictionary_end(&c->dictionary);
    seeds_end(&c->seeds);
    *c = (struct random_circuit){0};
}
