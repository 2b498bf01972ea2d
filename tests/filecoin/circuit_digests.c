/* See circuit_digests.h. */
#include "circuit_digests.h"

#include "base/bytes.h"
#include "support.h"

#define TEXT_SIZE 32768

/* A hash that is fed in pieces of tens of bytes: gathered, so that it costs what the bytes cost. */
struct gathered {
    struct sha256 hash;
    size_t used;
    uint8_t text[TEXT_SIZE];
};

static uint8_t *gather(struct gathered *g, size_t size)
{
    if (g->used + size > TEXT_SIZE) {
        sha256_add(&g->hash, g->text, g->used);
        g->used = 0;
    }
    g->used += size;
    return g->text + g->used - size;
}

static void gathered_end(struct gathered *g, char hex[65])
{
    uint8_t digest[32];
    sha256_add(&g->hash, g->text, g->used);
    g->used = 0;
    sha256_end(&g->hash, digest);
    hex_encode(hex, digest, 32);
}

struct walk {
    const struct shape *shape;
    const struct witness *witness;
    unsigned wanted;
    uint8_t (*coefficients)[32]; /* of the dictionary */
    uint64_t *is_field;          /* bit per aux */
    uint32_t *rank;              /* field variables before aux 64 i */
    uint32_t unsatisfied;
    struct gathered rows, rows_u64, sides[3];
};

static void put_rows(struct walk *w, const struct row_view *row)
{
    for (int m = 0; m < 3; m++) {
        if (w->wanted & DIGEST_ROWS)
            store_le32(gather(&w->rows, 4), row->count[m]);
        if (w->wanted & DIGEST_ROWS_U64)
            store_le32(gather(&w->rows_u64, 4), row->count[m]);
        for (uint32_t t = 0; t < row->count[m]; t++) {
            struct row_term term = row->terms[m][t];
            uint8_t merged[32], *out;
            const uint8_t *coefficient = merged;
            if (term.coefficient < w->shape->dictionary.count)
                coefficient = w->coefficients[term.coefficient];
            else
                fr_to_bytes(merged, row_coefficient(w->shape, row, term));
            if (w->wanted & DIGEST_ROWS) {
                out = gather(&w->rows, 37);
                out[0] = (uint8_t)(term.column >> 31);
                store_le32(out + 1, term.column & 0x7fffffff);
                memcpy(out + 5, coefficient, 32);
            }
            if (w->wanted & DIGEST_ROWS_U64) {
                out = gather(&w->rows_u64, 41);
                out[0] = (uint8_t)(term.column >> 31);
                store_le64(out + 1, term.column & 0x7fffffff);
                memcpy(out + 9, coefficient, 32);
            }
        }
    }
}

/* NULL: a bit of value 0; ONE for a bit of value 1. */
static const fr *value_of(const struct walk *w, uint32_t column)
{
    uint32_t i = column & 0x7fffffff;
    if (!(column >> 31))
        return &w->witness->inputs[i];
    uint64_t below = (UINT64_C(1) << (i % 64)) - 1;
    if (w->is_field[i / 64] >> (i % 64) & 1)
        return &w->witness
                    ->fields[w->rank[i / 64] + (uint32_t)__builtin_popcountll(w->is_field[i / 64] & below)];
    return w->witness->bits[i / 64] >> (i % 64) & 1 ? &FR_ONE : NULL;
}

static void put_values(struct walk *w, const struct row_view *row)
{
    fr side[3], product;
    for (int m = 0; m < 3; m++) {
        side[m] = FR_ZERO;
        for (uint32_t t = 0; t < row->count[m]; t++) {
            struct row_term term = row->terms[m][t];
            const fr *x = value_of(w, term.column), *k = row_coefficient(w->shape, row, term);
            if (x == NULL)
                continue;
            if (x == &FR_ONE) {
                product = *k;
            } else if (term.coefficient == 0) {
                product = *x;
            } else {
                fr_mul(&product, x, k);
            }
            fr_add(&side[m], &side[m], &product);
        }
        fr_to_bytes(gather(&w->sides[m], 32), &side[m]);
    }
    fr_mul(&product, &side[0], &side[1]);
    w->unsatisfied += !fr_equal(&product, &side[2]);
}

static void visit(void *context, const struct row_view *row)
{
    struct walk *w = context;
    if (w->wanted & (DIGEST_ROWS | DIGEST_ROWS_U64))
        put_rows(w, row);
    if (w->wanted & DIGEST_VALUES)
        put_values(w, row);
}

static void index_fields(struct walk *w)
{
    uint32_t words = w->shape->aux / 64 + 1, rank = 0;
    uint32_t *variables = mem_alloc(w->shape->fields, sizeof *variables);
    w->is_field = mem_alloc_zero(words, sizeof *w->is_field);
    w->rank = mem_alloc(words, sizeof *w->rank);
    assert_non_null(variables);
    assert_non_null(w->is_field);
    assert_non_null(w->rank);
    shape_field_variables(variables, w->shape);
    for (uint32_t i = 0; i < w->shape->fields; i++)
        w->is_field[variables[i] / 64] |= UINT64_C(1) << (variables[i] % 64);
    for (uint32_t i = 0; i < words; i++) {
        w->rank[i] = rank;
        rank += (uint32_t)__builtin_popcountll(w->is_field[i]);
    }
    mem_free(variables);
}

static void put_witness(struct circuit_digests *out, struct walk *w)
{
    struct gathered *parts = mem_alloc(3, sizeof *parts); /* inputs, aux, both */
    assert_non_null(parts);
    for (int i = 0; i < 3; i++) {
        sha256_begin(&parts[i].hash);
        parts[i].used = 0;
    }
    for (uint32_t i = 0; i < w->shape->inputs; i++)
        for (int k = 0; k < 3; k += 2)
            fr_to_bytes(gather(&parts[k], 32), &w->witness->inputs[i]);
    for (uint32_t i = 0; i < w->shape->aux; i++) {
        const fr *x = value_of(w, VARIABLE_AUX | i);
        uint8_t *bytes = gather(&parts[1], 32);
        memset(bytes, 0, 32);
        if (x == &FR_ONE)
            bytes[0] = 1;
        else if (x != NULL)
            fr_to_bytes(bytes, x);
        memcpy(gather(&parts[2], 32), bytes, 32);
    }
    gathered_end(&parts[0], out->inputs);
    gathered_end(&parts[1], out->aux);
    gathered_end(&parts[2], out->witness);
    mem_free(parts);
}

void circuit_digests(struct circuit_digests *out, const struct shape *shape, const struct witness *witness,
                     unsigned wanted)
{
    struct walk *w = mem_alloc_zero(1, sizeof *w);
    assert_non_null(w);
    memset(out, 0, sizeof *out);
    w->shape = shape;
    w->witness = witness;
    w->wanted = wanted;
    w->coefficients = mem_alloc(shape->dictionary.count, 32);
    assert_non_null(w->coefficients);
    for (uint32_t i = 0; i < shape->dictionary.count; i++)
        fr_to_bytes(w->coefficients[i], &shape->dictionary.values[i]);
    struct gathered *all[5] = {&w->rows, &w->rows_u64, &w->sides[0], &w->sides[1], &w->sides[2]};
    for (int i = 0; i < 5; i++)
        sha256_begin(&all[i]->hash);
    if (wanted & DIGEST_VALUES) {
        index_fields(w);
        put_witness(out, w);
    }
    ok(shape_visit_rows(shape, 0, shape->rows, visit, w));
    if (wanted & DIGEST_ROWS)
        gathered_end(&w->rows, out->rows);
    if (wanted & DIGEST_ROWS_U64)
        gathered_end(&w->rows_u64, out->rows_u64);
    if (wanted & DIGEST_VALUES) {
        gathered_end(&w->sides[0], out->a);
        gathered_end(&w->sides[1], out->b);
        gathered_end(&w->sides[2], out->c);
        out->unsatisfied = w->unsatisfied;
    }
    mem_free(w->is_field);
    mem_free(w->rank);
    mem_free(w->coefficients);
    mem_free(w);
}

void circuit_digests_of_seeds(struct circuit_digests *out, const struct shape *shape,
                              const struct seeds *seeds, unsigned wanted, const struct work *work)
{
    struct witness witness;
    ok(witness_start(&witness, shape));
    ok(witness_expand(&witness, shape, seeds, work));
    circuit_digests(out, shape, &witness, wanted);
    witness_end(&witness);
}

/* ---- facts ---- */

/* What follows `"key":` in the file. */
static void facts_value(char *out, size_t size, const char *file, const char *key)
{
    char pattern[64];
    size_t bytes, length;
    uint8_t *data = test_file(file, &bytes);
    data[bytes] = 0; /* in the padding */
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr((const char *)data, pattern);
    if (at == NULL)
        fail_msg("%s has no %s", file, key);
    at += strlen(pattern);
    at += strspn(at, " \"");
    length = strcspn(at, "\",\n}");
    assert_true(length < size);
    memcpy(out, at, length);
    out[length] = 0;
    mem_free(data);
}

void facts_text(char *out, size_t size, const char *file, const char *key)
{
    facts_value(out, size, file, key);
}

uint64_t facts_number(const char *file, const char *key)
{
    char text[32];
    facts_value(text, sizeof text, file, key);
    return strtoull(text, NULL, 10);
}

static void expect_number(const char *file, const char *key, uint64_t have)
{
    uint64_t want = facts_number(file, key);
    if (have != want)
        fail_msg("%s: %s is %llu, not %llu", file, key, (unsigned long long)have, (unsigned long long)want);
}

static void expect_text(const char *file, const char *key, const char *have)
{
    char want[65];
    facts_text(want, sizeof want, file, key);
    if (strcmp(have, want) != 0)
        fail_msg("%s: %s is %s, not %s", file, key, have, want);
}

void expect_facts(const struct circuit_digests *have, const struct shape *shape, const char *file,
                  unsigned wanted)
{
    expect_number(file, "inputs", shape->inputs);
    expect_number(file, "aux", shape->aux);
    expect_number(file, "rows", shape->rows);
    expect_number(file, "nnz_a", shape->terms[0] - shape->inputs);
    expect_number(file, "nnz_b", shape->terms[1]);
    expect_number(file, "nnz_c", shape->terms[2]);
    expect_number(file, "density_a_aux", shape->density.a_aux_count);
    expect_number(file, "density_b_aux", shape->density.b_aux_count);
    expect_number(file, "density_b_inputs", shape->density.b_input_count);
    if (wanted & DIGEST_ROWS)
        expect_text(file, "rows_digest", have->rows);
    if (wanted & DIGEST_ROWS_U64)
        expect_text(file, "rows_digest_u64", have->rows_u64);
    if (!(wanted & DIGEST_VALUES))
        return;
    expect_text(file, "inputs_digest", have->inputs);
    expect_text(file, "aux_digest", have->aux);
    expect_text(file, "witness_digest", have->witness);
    expect_text(file, "a_digest", have->a);
    expect_text(file, "b_digest", have->b);
    expect_text(file, "c_digest", have->c);
    assert_int_equal(have->unsatisfied, 0);
}
