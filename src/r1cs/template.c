/* Templates: taking over a recorded system, checking rows, and the classes by which combinations are
 * evaluated. A template that was recorded here and one that was read from a file pass the same check. */
#include "r1cs/template.h"

#include "base/mem.h"
#include "r1cs/internal.h"

void template_end(struct template *t)
{
    mem_free(t->first);
    mem_free(t->columns);
    mem_free(t->coefficients);
    mem_free(t->field_local);
    mem_free(t->local_kind);
    mem_free(t->port_kind);
    mem_free(t->seed);
    mem_free(t->seed_field_rank);
    mem_free(t->seed_bit_local);
    mem_free(t->classes);
    *t = (struct template){0};
}

size_t template_bytes(const struct template *t)
{
    size_t rows = t->rows, terms = t->first ? t->first[3 * rows] : 0;
    size_t bytes = (3 * rows + 1) * sizeof *t->first + terms * (sizeof *t->columns + sizeof *t->coefficients);
    bytes += (size_t)t->local_fields * sizeof *t->field_local + t->locals * 2 + t->ports;
    bytes += ((size_t)t->seed_fields + t->seed_bits) * sizeof(uint32_t);
    return bytes + (t->classes ? 3 * rows : 0);
}

/* ---- what follows from kinds and seeds ---- */

struct status template_index(struct template *t)
{
    t->local_fields = t->port_fields = t->seed_fields = t->seed_bits = 0;
    for (uint32_t i = 0; i < t->ports; i++)
        t->port_fields += t->port_kind[i] == KIND_FIELD;
    for (uint32_t i = 0; i < t->locals; i++) {
        bool field = t->local_kind[i] == KIND_FIELD;
        t->local_fields += field;
        t->seed_fields += field && t->seed[i];
        t->seed_bits += !field && t->seed[i];
    }
    t->field_local = mem_alloc(t->local_fields, sizeof *t->field_local);
    t->seed_field_rank = mem_alloc(t->seed_fields, sizeof *t->seed_field_rank);
    t->seed_bit_local = mem_alloc(t->seed_bits, sizeof *t->seed_bit_local);
    if (!t->field_local || !t->seed_field_rank || !t->seed_bit_local)
        return mem_failed("template", t->locals, sizeof(uint32_t));
    uint32_t rank = 0, fields = 0, bits = 0;
    for (uint32_t i = 0; i < t->locals; i++) {
        if (t->local_kind[i] == KIND_FIELD) {
            if (t->seed[i])
                t->seed_field_rank[fields++] = rank;
            t->field_local[rank++] = i;
        } else if (t->seed[i]) {
            t->seed_bit_local[bits++] = i;
        }
    }
    return status_ok();
}

/* Place of a column in the order of a row (ONE, ports, locals), or UINT64_MAX if the template has no such
 * column. */
static uint64_t column_place(const struct template *t, uint32_t column)
{
    uint32_t number = column & COLUMN_NUMBER;
    switch (column_type_of(column)) {
    case COLUMN_ONE:
        return number == 0 ? 0 : UINT64_MAX;
    case COLUMN_PORT_BIT:
        return number < t->ports && t->port_kind[number] == KIND_BIT ? UINT64_C(1) + number : UINT64_MAX;
    case COLUMN_PORT_FIELD:
        return number < t->ports && t->port_kind[number] == KIND_FIELD ? UINT64_C(1) + number : UINT64_MAX;
    case COLUMN_LOCAL_BIT:
        return number < t->locals && t->local_kind[number] == KIND_BIT ? UINT64_C(1) + t->ports + number
                                                                       : UINT64_MAX;
    case COLUMN_LOCAL_FIELD:
        return number < t->local_fields ? UINT64_C(1) + t->ports + t->field_local[number] : UINT64_MAX;
    }
    return UINT64_MAX;
}

const char *template_fault(const struct template *t, const struct dictionary *dictionary)
{
    if (t->locals > COLUMN_NUMBER || t->ports > COLUMN_NUMBER || t->rows > (UINT32_MAX - 1) / 3)
        return "too many columns or rows";
    if (t->first[0] != 0)
        return "first row does not begin at term 0";
    /* All of it before any term is read: only then are the bounds of every row within the arrays. */
    for (uint32_t side = 0; side < 3 * t->rows; side++)
        if (t->first[side + 1] < t->first[side])
            return "rows overlap";
    for (uint32_t side = 0; side < 3 * t->rows; side++) {
        uint64_t last = 0;
        for (uint32_t i = t->first[side]; i < t->first[side + 1]; i++) {
            uint64_t place = column_place(t, t->columns[i]);
            if (place == UINT64_MAX)
                return "a row names a column that does not exist";
            if (i > t->first[side] && place <= last)
                return "a row is not sorted";
            last = place;
            if (t->coefficients[i] >= dictionary->count)
                return "a coefficient is not in the dictionary";
            if (fr_is_zero(&dictionary->values[t->coefficients[i]]))
                return "a coefficient is zero";
        }
    }
    return NULL;
}

/* ---- classes ---- */

int8_t coefficient_small(const fr *coefficient)
{
    fr_int plain;
    fr negative;
    fr_to_int(&plain, coefficient);
    if (!(plain.l[1] | plain.l[2] | plain.l[3]) && plain.l[0] <= 127)
        return (int8_t)plain.l[0];
    fr_neg(&negative, coefficient);
    fr_to_int(&plain, &negative);
    if (!(plain.l[1] | plain.l[2] | plain.l[3]) && plain.l[0] <= 127)
        return (int8_t) - (int)plain.l[0];
    return 0;
}

static bool column_is_field(uint32_t column)
{
    return column_type_of(column) == COLUMN_LOCAL_FIELD || column_type_of(column) == COLUMN_PORT_FIELD;
}

/* Class of one combination and its cost in rough additions. */
static uint8_t classify(const struct template *t, uint32_t side, const int8_t *small, uint64_t *cost)
{
    uint32_t magnitude = 0;
    bool mixed = false, bits = false;
    *cost = 0;
    for (uint32_t i = t->first[side]; i < t->first[side + 1]; i++) {
        int coefficient = small[t->coefficients[i]];
        *cost += 1;
        if (column_is_field(t->columns[i])) {
            mixed = true;
            *cost += t->coefficients[i] < 2 ? 4 : 30;
        } else if (coefficient == 0) {
            bits = true;
        } else {
            magnitude += (uint32_t)(coefficient < 0 ? -coefficient : coefficient);
            bits = bits || magnitude > SMALL_SUM_MAX;
        }
    }
    if (mixed)
        return COMBINATION_MIXED;
    *cost = bits ? 3 * *cost + 20 : *cost;
    return bits ? COMBINATION_BITS : COMBINATION_SMALL;
}

struct status template_classify(struct template *t, const int8_t *small)
{
    if (!t->classes)
        t->classes = mem_alloc(3 * (size_t)t->rows, sizeof *t->classes);
    if (!t->classes)
        return mem_failed("template", 3 * (size_t)t->rows, sizeof *t->classes);
    t->longest = t->terms[0] = t->terms[1] = t->terms[2] = 0;
    for (uint32_t row = 0; row < t->rows; row++) {
        uint64_t cost[3];
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t side = 3 * row + k, count = t->first[side + 1] - t->first[side];
            t->terms[k] += count;
            t->longest = count > t->longest ? count : t->longest;
            t->classes[side] = classify(t, side, small, &cost[k]);
        }
        uint32_t b = t->first[3 * row + 1];
        if (t->first[3 * row + 2] - b == 1 && t->coefficients[b] == 0 &&
            column_type_of(t->columns[b]) == COLUMN_ONE && cost[2] < cost[0])
            t->classes[3 * row] = COMBINATION_AS_C;
    }
    return status_ok();
}

/* ---- recording ---- */

/* The column of a variable of a recorded system. */
static uint32_t recorded_column(const struct template *t, const struct cs *cs, uint32_t id)
{
    variable v = {id};
    uint32_t index = variable_index(v);
    if (!variable_is_aux(v))
        return column_make(COLUMN_ONE, 0);
    bool field = cs->aux_kinds[index] == KIND_FIELD;
    if (index < t->ports)
        return column_make(field ? COLUMN_PORT_FIELD : COLUMN_PORT_BIT, index);
    uint32_t local = index - t->ports;
    return field ? column_make(COLUMN_LOCAL_FIELD, template_rank(t, local))
                 : column_make(COLUMN_LOCAL_BIT, local);
}

static struct status record(struct template *t, const struct cs *cs, const uint8_t *seed)
{
    size_t sides = 3 * (size_t)t->rows, terms = cs->rows.terms;
    t->first = mem_alloc(sides + 1, sizeof *t->first);
    t->columns = mem_alloc(terms, sizeof *t->columns);
    t->coefficients = mem_alloc(terms, sizeof *t->coefficients);
    t->local_kind = mem_alloc(t->locals, 1);
    t->port_kind = mem_alloc(t->ports, 1);
    t->seed = mem_alloc(t->locals, 1);
    if (!t->first || !t->columns || !t->coefficients || !t->local_kind || !t->port_kind || !t->seed)
        return mem_failed("template", sides + 2 * terms, sizeof(uint32_t));
    for (uint32_t i = 0; i < t->ports; i++)
        t->port_kind[i] = cs->aux_kinds[i];
    for (uint32_t i = 0; i < t->locals; i++) {
        t->local_kind[i] = cs->aux_kinds[t->ports + i];
        t->seed[i] = seed ? seed[i] != 0 : t->expander == NULL;
    }
    TRY(template_index(t));
    for (size_t i = 0; i <= sides; i++)
        t->first[i] = (uint32_t)cs->rows.first[i];
    for (size_t i = 0; i < terms; i++) {
        t->columns[i] = recorded_column(t, cs, cs->rows.columns[i]);
        t->coefficients[i] = cs->rows.coefficients[i];
    }
    return status_ok();
}

struct status template_from_cs(struct template *out, const struct cs *cs, const char *name, uint32_t ports,
                               const uint8_t *seed, uint32_t hint_words, bool reads_ports,
                               const struct expander *expander, const uint32_t *parameters,
                               uint32_t parameters_count)
{
    *out = (struct template){0};
    if (status_failed(&cs->error))
        return cs->error;
    CHECK(cs->with_rows && cs->inputs == 1 && ports <= cs->aux);
    CHECK(parameters_count <= TEMPLATE_PARAMETERS && strlen(name) < sizeof out->name);
    CHECK(expander ? expander->number != 0 && expander->run : !hint_words && !reads_ports);
    uint32_t locals = cs->aux - ports;
    if (cs->rows.terms > UINT32_MAX || locals > COLUMN_NUMBER || ports > COLUMN_NUMBER ||
        cs->rows.rows > (UINT32_MAX - 1) / 3)
        return status_error(STATUS_UNSUPPORTED, "template \"%s\" is too large", name);
    if (seed && !expander)
        for (uint32_t i = 0; i < locals; i++)
            CHECK(seed[i]); /* nobody would write the others */
    out->rows = cs->rows.rows;
    out->locals = locals;
    out->ports = ports;
    out->hint_words = hint_words;
    out->reads_ports = reads_ports;
    out->expander = expander;
    strcpy(out->name, name);
    if (parameters_count)
        memcpy(out->parameters, parameters, parameters_count * sizeof *parameters);
    struct status s = record(out, cs, seed);
    if (status_failed(&s))
        template_end(out);
    return s;
}
