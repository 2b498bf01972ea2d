/* Seeds and witnesses: memory, single values, digest, and the row by row check that diagnosis uses. */
#include "r1cs/witness.h"

#include "base/mem.h"
#include "base/sha256.h"
#include "r1cs/internal.h"

/* ---- seeds ---- */

size_t seeds_bytes(const struct shape *shape)
{
    return ((size_t)shape->inputs + shape->seed_fields) * sizeof(fr) +
           words_for_bits(shape->seed_bits) * sizeof(uint64_t) + (size_t)shape->hint_words * sizeof(uint32_t);
}

struct status seeds_start(struct seeds *out, const struct shape *shape)
{
    *out = (struct seeds){.inputs_capacity = shape->inputs,
                          .fields_capacity = shape->seed_fields,
                          .bits_capacity = shape->seed_bits,
                          .hints_capacity = shape->hint_words};
    out->inputs = mem_alloc(shape->inputs, sizeof *out->inputs);
    out->fields = mem_alloc(shape->seed_fields, sizeof *out->fields);
    out->bits = mem_alloc_zero(words_for_bits(shape->seed_bits), sizeof *out->bits);
    out->hints = mem_alloc(shape->hint_words, sizeof *out->hints);
    if (!out->inputs || !out->fields || !out->bits || !out->hints) {
        seeds_end(out);
        return mem_failed("witness seeds", 1, seeds_bytes(shape));
    }
    seeds_input(out, &FR_ONE);
    return status_ok();
}

void seeds_end(struct seeds *seeds)
{
    mem_free(seeds->inputs);
    mem_free(seeds->fields);
    mem_free(seeds->bits);
    mem_free(seeds->hints);
    *seeds = (struct seeds){0};
}

void seeds_input(struct seeds *seeds, const fr *value)
{
    CHECK(seeds->inputs_count < seeds->inputs_capacity);
    seeds->inputs[seeds->inputs_count++] = *value;
}

void seeds_field(struct seeds *seeds, const fr *value)
{
    CHECK(seeds->fields_count < seeds->fields_capacity);
    seeds->fields[seeds->fields_count++] = *value;
}

void seeds_bits(struct seeds *seeds, uint64_t value, uint32_t count)
{
    CHECK(count <= 64 && count <= seeds->bits_capacity - seeds->bits_count);
    if (count == 0)
        return;
    if (count < 64)
        value &= (UINT64_C(1) << count) - 1;
    size_t word = seeds->bits_count >> 6, shift = seeds->bits_count & 63;
    seeds->bits[word] |= value << shift;
    if (shift + count > 64)
        seeds->bits[word + 1] |= value >> (64 - shift);
    seeds->bits_count += count;
}

void seeds_hints(struct seeds *seeds, const uint32_t *words, uint32_t count)
{
    CHECK(count <= seeds->hints_capacity - seeds->hints_count);
    if (count)
        memcpy(seeds->hints + seeds->hints_count, words, count * sizeof *words);
    seeds->hints_count += count;
}

bool seeds_complete(const struct seeds *seeds)
{
    return seeds->inputs_count == seeds->inputs_capacity && seeds->fields_count == seeds->fields_capacity &&
           seeds->bits_count == seeds->bits_capacity && seeds->hints_count == seeds->hints_capacity;
}

/* ---- witnesses ---- */

size_t witness_bytes(const struct shape *shape)
{
    return words_for_bits(shape->aux) * sizeof(uint64_t) + (size_t)shape->fields * sizeof(fr);
}

struct status witness_start(struct witness *out, const struct shape *shape)
{
    *out = (struct witness){0};
    out->bits = mem_alloc_zero(words_for_bits(shape->aux), sizeof *out->bits);
    out->fields = mem_alloc(shape->fields, sizeof *out->fields);
    if (!out->bits || !out->fields) {
        witness_end(out);
        return mem_failed("witness", 1, witness_bytes(shape));
    }
    return status_ok();
}

void witness_end(struct witness *witness)
{
    mem_free(witness->bits);
    mem_free(witness->fields);
    *witness = (struct witness){0};
}

static void local_value(fr *out, const struct witness *w, const struct template *t, const struct instance *n,
                        uint32_t local)
{
    if (t->local_kind[local] == KIND_FIELD)
        *out = w->fields[n->first_field + template_rank(t, local)];
    else
        *out = bit_at(w->bits, n->first_aux + local) ? FR_ONE : FR_ZERO;
}

fr witness_value(const struct witness *witness, const struct shape *shape, variable v)
{
    uint32_t index = variable_index(v);
    if (!variable_is_aux(v)) {
        CHECK(index < shape->inputs);
        return witness->inputs[index];
    }
    CHECK(index < shape->aux);
    const struct instance *n =
        &shape->instances[instance_of_aux(shape->instances, shape->instances_count, index)];
    fr value;
    local_value(&value, witness, &shape->templates[n->template_number], n, index - n->first_aux);
    return value;
}

void witness_aux_digest(uint8_t out[32], const struct witness *witness, const struct shape *shape,
                        uint32_t aux_end)
{
    struct sha256 hash;
    uint8_t buffer[64][32];
    uint32_t used = 0;
    sha256_begin(&hash);
    for (uint32_t i = 0; i < shape->instances_count; i++) {
        const struct instance *n = &shape->instances[i];
        const struct template *t = &shape->templates[n->template_number];
        for (uint32_t local = 0, rank = 0; local < t->locals && n->first_aux + local < aux_end; local++) {
            if (t->local_kind[local] == KIND_FIELD) {
                fr_to_bytes(buffer[used], &witness->fields[n->first_field + rank++]);
            } else {
                memset(buffer[used], 0, sizeof buffer[used]);
                buffer[used][0] = bit_at(witness->bits, n->first_aux + local);
            }
            if (++used == 64) {
                sha256_add(&hash, buffer, sizeof buffer);
                used = 0;
            }
        }
    }
    sha256_add(&hash, buffer, used * sizeof *buffer);
    sha256_end(&hash, out);
}

/* ---- the check row by row ---- */

struct row_check {
    const struct shape *shape;
    const struct witness *witness;
    uint32_t first; /* row that does not hold */
};

static void combination_value(fr *out, const struct row_check *c, const struct row_view *row, int k)
{
    *out = FR_ZERO;
    for (uint32_t i = 0; i < row->count[k]; i++) {
        struct row_term t = row->terms[k][i];
        fr value = witness_value(c->witness, c->shape, (variable){t.column});
        if (fr_is_zero(&value))
            continue;
        if (fr_equal(&value, &FR_ONE))
            value = *row_coefficient(c->shape, row, t);
        else if (t.coefficient != 0)
            fr_mul(&value, &value, row_coefficient(c->shape, row, t));
        fr_add(out, out, &value);
    }
}

static void check_row(void *context, const struct row_view *row)
{
    struct row_check *c = context;
    fr value[3];
    if (c->first != UINT32_MAX)
        return;
    for (int k = 0; k < 3; k++)
        combination_value(&value[k], c, row, k);
    fr_mul(&value[0], &value[0], &value[1]);
    if (!fr_equal(&value[0], &value[2]))
        c->first = row->row;
}

struct status witness_first_unsatisfied(uint32_t *row, const struct shape *shape,
                                        const struct witness *witness)
{
    struct row_check check = {shape, witness, UINT32_MAX};
    struct row_walk walk;
    const uint32_t step = 65536;
    *row = UINT32_MAX;
    TRY(row_walk_start(&walk, shape));
    for (uint32_t begin = 0; begin < shape->rows && check.first == UINT32_MAX; begin += step) {
        uint32_t end = shape->rows - begin < step ? shape->rows : begin + step;
        row_walk_rows(&walk, begin, end, check_row, &check);
    }
    row_walk_end(&walk);
    *row = check.first;
    return status_ok();
}
