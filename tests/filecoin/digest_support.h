/* Digests of a shape and a witness at many places in one pass, in the conformance format, written here anew
 * so that they do not share code with the digests of r1cs. */
#ifndef CUZK_TESTS_FILECOIN_DIGEST_SUPPORT_H
#define CUZK_TESTS_FILECOIN_DIGEST_SUPPORT_H

#include "support.h"
#include "base/bytes.h"
#include "r1cs/shape.h"
#include "r1cs/witness.h"

/* A place in the circuit and the digests that are expected there. rows NULL: not looked at. */
struct section {
    uint32_t rows_count, aux_count, inputs_count;
    const char *rows, *aux;
};

/* Rows are gathered in a buffer: hashing a term of 37 bytes at a time costs three times as much. */
struct rows_pass {
    const struct shape *shape;
    struct sha256 hash;
    uint8_t (*coefficients)[32]; /* of the dictionary */
    uint8_t text[16384];
    size_t used;
};

static inline void rows_pass_flush(struct rows_pass *p)
{
    sha256_add(&p->hash, p->text, p->used);
    p->used = 0;
}

static inline void rows_pass_row(void *context, const struct row_view *row)
{
    struct rows_pass *p = context;
    for (int m = 0; m < 3; m++) {
        if (sizeof p->text - p->used < 64)
            rows_pass_flush(p);
        store_le32(p->text + p->used, row->count[m]);
        p->used += 4;
        for (uint32_t t = 0; t < row->count[m]; t++) {
            struct row_term term = row->terms[m][t];
            if (sizeof p->text - p->used < 64)
                rows_pass_flush(p);
            uint8_t *out = p->text + p->used;
            out[0] = (uint8_t)(term.column >> 31);
            store_le32(out + 1, term.column & 0x7fffffff);
            if (term.coefficient < p->shape->dictionary.count)
                memcpy(out + 5, p->coefficients[term.coefficient], 32);
            else
                fr_to_bytes(out + 5, row_coefficient(p->shape, row, term));
            p->used += 37;
        }
    }
}

/* Checks the rows digest at each section, and the digest with header of the whole. */
static inline void check_rows(const struct shape *shape, const struct section *sections, size_t count)
{
    struct rows_pass p = {.shape = shape};
    p.coefficients = mem_alloc(shape->dictionary.count, 32);
    for (uint32_t i = 0; i < shape->dictionary.count; i++)
        fr_to_bytes(p.coefficients[i], &shape->dictionary.values[i]);
    sha256_begin(&p.hash);
    uint32_t row = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t digest[32];
        ok(shape_visit_rows(shape, row, sections[i].rows_count, rows_pass_row, &p));
        row = sections[i].rows_count;
        rows_pass_flush(&p);
        struct sha256 copy = p.hash;
        sha256_end(&copy, digest);
        if (sections[i].rows)
            same_hex(digest, 32, sections[i].rows);
    }
    mem_free(p.coefficients);
}

/* The aux digest at each section. */
static inline void check_aux(const struct shape *shape, const struct witness *witness,
                             const struct section *sections, size_t count)
{
    static const uint8_t zero[32] = {0}, one[32] = {1};
    struct sha256 hash;
    uint32_t *field_variables = mem_alloc(shape->fields, 4), next = 0, aux = 0;
    shape_field_variables(field_variables, shape);
    sha256_begin(&hash);
    for (size_t i = 0; i < count; i++) {
        uint8_t digest[32];
        for (; aux < sections[i].aux_count; aux++) {
            if (next < shape->fields && field_variables[next] == aux) {
                uint8_t bytes[32];
                fr_to_bytes(bytes, &witness->fields[next++]);
                sha256_add(&hash, bytes, 32);
            } else {
                sha256_add(&hash, witness->bits[aux / 64] >> (aux % 64) & 1 ? one : zero, 32);
            }
        }
        struct sha256 copy = hash;
        sha256_end(&copy, digest);
        if (sections[i].aux)
            same_hex(digest, 32, sections[i].aux);
    }
    mem_free(field_variables);
}

static inline void values_digest(const fr *values, size_t count, const char *hex)
{
    struct sha256 hash;
    uint8_t bytes[32], digest[32];
    sha256_begin(&hash);
    for (size_t i = 0; i < count; i++) {
        fr_to_bytes(bytes, &values[i]);
        sha256_add(&hash, bytes, 32);
    }
    sha256_end(&hash, digest);
    same_hex(digest, 32, hex);
}

#endif
