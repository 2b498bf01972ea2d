/* The generic constraint system. It is written for whole circuits of a few million rows as an oracle, and for
 * recording templates once per process: linear combinations are sorted by natural merging, because gadgets
 * append runs of consecutive variables; coefficients are looked up in a hash table and stored by number. */
#include "r1cs/cs.h"

#include "base/mem.h"
#include <openssl/evp.h>
#include <string.h>

/* ---- dictionary ---- */

#define DICTIONARY_MAX 65536

static uint32_t fr_hash(const fr *a)
{
    uint64_t h = a->l[0] * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 29) ^ a->l[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 32) ^ a->l[2]) * UINT64_C(0x94d049bb133111eb);
    h = (h ^ (h >> 31) ^ a->l[3]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

struct status dictionary_init(struct dictionary *d)
{
    *d = (struct dictionary){.capacity = 64, .table_size = 256};
    d->values = mem_alloc(d->capacity, sizeof *d->values);
    d->table = mem_alloc_zero(d->table_size, sizeof *d->table);
    if (!d->values || !d->table) {
        dictionary_end(d);
        return mem_failed("coefficient dictionary", 256, sizeof(uint32_t));
    }
    fr minus_one;
    uint16_t number;
    fr_neg(&minus_one, &FR_ONE);
    TRY(dictionary_number(d, &number, &FR_ONE));
    return dictionary_number(d, &number, &minus_one);
}

void dictionary_end(struct dictionary *d)
{
    mem_free(d->values);
    mem_free(d->table);
    *d = (struct dictionary){0};
}

static void dictionary_link(struct dictionary *d, uint32_t number)
{
    uint32_t mask = d->table_size - 1, at = fr_hash(&d->values[number]) & mask;
    while (d->table[at])
        at = (at + 1) & mask;
    d->table[at] = number + 1;
}

static struct status dictionary_grow(struct dictionary *d)
{
    uint32_t capacity = d->capacity * 2, table_size = capacity * 4;
    fr *values = mem_grow(d->values, d->capacity, capacity, sizeof *values);
    if (!values)
        return mem_failed("coefficient dictionary", capacity, sizeof *values);
    d->values = values;
    uint32_t *table = mem_alloc_zero(table_size, sizeof *table);
    if (!table)
        return mem_failed("coefficient dictionary", table_size, sizeof *table);
    mem_free(d->table);
    d->table = table;
    d->table_size = table_size;
    d->capacity = capacity;
    for (uint32_t i = 0; i < d->count; i++)
        dictionary_link(d, i);
    return status_ok();
}

struct status dictionary_number(struct dictionary *d, uint16_t *out, const fr *value)
{
    *out = 0;
    uint32_t mask = d->table_size - 1;
    for (uint32_t at = fr_hash(value) & mask; d->table[at]; at = (at + 1) & mask)
        if (fr_equal(&d->values[d->table[at] - 1], value)) {
            *out = (uint16_t)(d->table[at] - 1);
            return status_ok();
        }
    if (d->count == DICTIONARY_MAX)
        return status_error(STATUS_UNSUPPORTED, "circuit has more than %d distinct coefficients",
                            DICTIONARY_MAX);
    if (d->count == d->capacity)
        TRY(dictionary_grow(d));
    d->values[d->count] = *value;
    dictionary_link(d, d->count);
    *out = (uint16_t)d->count++;
    return status_ok();
}

/* ---- linear combinations ---- */

void lc_init(struct lc *l)
{
    *l = (struct lc){0};
}

void lc_end(struct lc *l)
{
    mem_free(l->terms);
    *l = (struct lc){0};
}

void lc_clear(struct lc *l)
{
    l->count = 0;
}

/* Room for `more` further terms; false (and remembered) when there is none. */
static bool lc_reserve(struct lc *l, uint32_t more)
{
    if (l->capacity - l->count >= more)
        return true;
    uint64_t capacity = l->capacity ? l->capacity : 8;
    while (capacity - l->count < more)
        capacity *= 2;
    struct lc_term *terms = NULL;
    if (capacity < UINT32_MAX)
        terms = mem_grow(l->terms, (size_t)l->capacity * 2, (size_t)capacity * 2, sizeof *terms);
    if (!terms) {
        l->failed = true;
        return false;
    }
    l->terms = terms;
    l->capacity = (uint32_t)capacity;
    return true;
}

void lc_add(struct lc *l, variable v, const fr *coefficient)
{
    if (lc_reserve(l, 1))
        l->terms[l->count++] = (struct lc_term){v, *coefficient};
}

void lc_add_one(struct lc *l, variable v)
{
    lc_add(l, v, &FR_ONE);
}

void lc_sub_one(struct lc *l, variable v)
{
    fr minus_one;
    fr_neg(&minus_one, &FR_ONE);
    lc_add(l, v, &minus_one);
}

void lc_add_lc(struct lc *l, const struct lc *other, const fr *scale)
{
    if (other->failed)
        l->failed = true;
    uint32_t count = other->count;
    if (!lc_reserve(l, count))
        return;
    struct lc_term *to = l->terms + l->count;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = other->terms[i];
        if (scale)
            fr_mul(&to[i].coefficient, &to[i].coefficient, scale);
    }
    l->count += count;
}

/* End of the ascending run that starts at `at`. */
static uint32_t run_end(const struct lc_term *terms, uint32_t at, uint32_t count)
{
    for (at++; at < count && terms[at - 1].v.id <= terms[at].v.id; at++)
        ;
    return at;
}

/* Natural merge sort between the two halves of the block. */
static void lc_sort(struct lc *l)
{
    struct lc_term *from = l->terms, *to = l->terms + l->capacity;
    uint32_t n = l->count;
    while (run_end(from, 0, n) < n) {
        for (uint32_t start = 0; start < n;) {
            uint32_t middle = run_end(from, start, n), i = start, j = middle, k = start;
            uint32_t end = middle < n ? run_end(from, middle, n) : n;
            while (i < middle && j < end)
                to[k++] = from[j].v.id < from[i].v.id ? from[j++] : from[i++];
            while (i < middle)
                to[k++] = from[i++];
            while (j < end)
                to[k++] = from[j++];
            start = end;
        }
        struct lc_term *t = from;
        from = to;
        to = t;
    }
    if (from != l->terms)
        memcpy(l->terms, from, n * sizeof *from);
}

void lc_simplify(struct lc *l)
{
    if (l->count == 0)
        return;
    lc_sort(l);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count;) {
        struct lc_term t = l->terms[i++];
        for (; i < l->count && l->terms[i].v.id == t.v.id; i++)
            fr_add(&t.coefficient, &t.coefficient, &l->terms[i].coefficient);
        if (!fr_is_zero(&t.coefficient))
            l->terms[kept++] = t;
    }
    l->count = kept;
}

/* ---- the system ---- */

struct status cs_init(struct cs *cs, struct dictionary *dictionary, bool with_rows, bool with_values)
{
    *cs = (struct cs){.with_rows = with_rows, .with_values = with_values, .dictionary = dictionary};
    if (with_rows) {
        cs->rows.first = mem_alloc_zero(1, sizeof *cs->rows.first);
        if (!cs->rows.first)
            return mem_failed("rows", 1, sizeof *cs->rows.first);
    }
    cs_alloc_input(cs, &FR_ONE);
    if (status_failed(&cs->error)) {
        struct status error = cs->error;
        cs_end(cs);
        return error;
    }
    return status_ok();
}

void cs_end(struct cs *cs)
{
    mem_free(cs->rows.first);
    mem_free(cs->rows.columns);
    mem_free(cs->rows.coefficients);
    mem_free(cs->input_values);
    mem_free(cs->aux_values);
    mem_free(cs->aux_kinds);
    for (int k = 0; k < 3; k++)
        lc_end(&cs->scratch[k]);
    *cs = (struct cs){0};
}

void cs_fail(struct cs *cs, struct status error)
{
    if (!status_failed(&cs->error))
        cs->error = error;
}

/* Grows an array of the system from `present` to `wanted` elements; false (and the error kept) without
 * memory. */
#define GROW(cs, array, present, wanted, what)                                                               \
    grow_checked(cs, (array) = grown(cs, array, present, wanted, sizeof *(array), what))

static void *grown(struct cs *cs, void *block, uint64_t present, uint64_t wanted, size_t size,
                   const char *what)
{
    void *moved = mem_grow(block, present, wanted, size);
    if (!moved)
        cs_fail(cs, mem_failed(what, wanted, size));
    return moved ? moved : block;
}

static bool grow_checked(const struct cs *cs, const void *block)
{
    return block && !status_failed(&cs->error);
}

variable cs_alloc(struct cs *cs, enum variable_kind kind, const fr *value)
{
    if (status_failed(&cs->error))
        return VARIABLE_ONE;
    if (cs->aux == VARIABLE_AUX - 1) {
        cs_fail(cs, status_error(STATUS_UNSUPPORTED, "circuit has more than %u private variables", cs->aux));
        return VARIABLE_ONE;
    }
    if (cs->aux == cs->aux_capacity) {
        uint64_t capacity = cs->aux_capacity ? (uint64_t)cs->aux_capacity * 2 : 64;
        if (capacity > VARIABLE_AUX)
            capacity = VARIABLE_AUX;
        if (!GROW(cs, cs->aux_kinds, cs->aux_capacity, capacity, "variables") ||
            (cs->with_values && !GROW(cs, cs->aux_values, cs->aux_capacity, capacity, "values")))
            return VARIABLE_ONE;
        cs->aux_capacity = (uint32_t)capacity;
    }
    cs->aux_kinds[cs->aux] = (uint8_t)kind;
    if (cs->with_values)
        cs->aux_values[cs->aux] = value ? *value : FR_ZERO;
    return variable_aux(cs->aux++);
}

variable cs_alloc_input(struct cs *cs, const fr *value)
{
    if (status_failed(&cs->error))
        return VARIABLE_ONE;
    if (cs->inputs == cs->inputs_capacity) {
        uint32_t capacity = cs->inputs_capacity ? cs->inputs_capacity * 2 : 8;
        if (cs->with_values && !GROW(cs, cs->input_values, cs->inputs_capacity, capacity, "public inputs"))
            return VARIABLE_ONE;
        cs->inputs_capacity = capacity;
    }
    if (cs->with_values)
        cs->input_values[cs->inputs] = value ? *value : FR_ZERO;
    return variable_input(cs->inputs++);
}

static bool rows_reserve(struct cs *cs, uint64_t terms)
{
    struct row_store *r = &cs->rows;
    if (r->rows == r->rows_capacity) {
        uint64_t capacity = r->rows_capacity ? r->rows_capacity * 2 : 64;
        if (!GROW(cs, r->first, 3 * r->rows_capacity + 1, 3 * capacity + 1, "rows"))
            return false;
        r->rows_capacity = capacity;
    }
    if (r->terms + terms > r->terms_capacity) {
        uint64_t capacity = r->terms_capacity ? r->terms_capacity : 256;
        while (capacity < r->terms + terms)
            capacity *= 2;
        if (!GROW(cs, r->columns, r->terms_capacity, capacity, "row terms") ||
            !GROW(cs, r->coefficients, r->terms_capacity, capacity, "row terms"))
            return false;
        r->terms_capacity = capacity;
    }
    return true;
}

struct lc *cs_row(struct cs *cs)
{
    for (int k = 0; k < 3; k++)
        lc_clear(&cs->scratch[k]);
    return cs->scratch;
}

void cs_enforce_row(struct cs *cs)
{
    if (status_failed(&cs->error))
        return;
    uint64_t terms = 0;
    for (int k = 0; k < 3; k++) {
        struct lc *side = &cs->scratch[k];
        if (side->failed) {
            cs_fail(cs, mem_failed("linear combination", side->count, 2 * sizeof(struct lc_term)));
            return;
        }
        if (cs->with_rows)
            lc_simplify(side);
        terms += side->count;
    }
    if (!cs->with_rows || !rows_reserve(cs, terms))
        return;
    struct row_store *r = &cs->rows;
    uint64_t at = r->terms;
    for (uint64_t k = 0; k < 3; k++) {
        const struct lc *side = &cs->scratch[k];
        for (uint32_t i = 0; i < side->count; i++, at++) {
            r->columns[at] = side->terms[i].v.id;
            struct status error =
                dictionary_number(cs->dictionary, &r->coefficients[at], &side->terms[i].coefficient);
            if (status_failed(&error)) {
                cs_fail(cs, error);
                return;
            }
        }
        r->first[3 * (uint64_t)r->rows + k + 1] = at;
    }
    r->terms = at;
    r->rows++;
}

void cs_enforce(struct cs *cs, const struct lc *a, const struct lc *b, const struct lc *c)
{
    struct lc *row = cs_row(cs);
    lc_add_lc(&row[0], a, NULL);
    lc_add_lc(&row[1], b, NULL);
    lc_add_lc(&row[2], c, NULL);
    cs_enforce_row(cs);
}

fr cs_value(const struct cs *cs, variable v)
{
    uint32_t index = variable_index(v);
    if (!cs->with_values)
        return FR_ZERO;
    if (variable_is_aux(v))
        return index < cs->aux ? cs->aux_values[index] : FR_ZERO;
    return index < cs->inputs ? cs->input_values[index] : FR_ZERO;
}

fr cs_lc_value(const struct cs *cs, const struct lc *l)
{
    fr sum = FR_ZERO, t;
    if (!cs->with_values)
        return sum;
    for (uint32_t i = 0; i < l->count; i++) {
        t = cs_value(cs, l->terms[i].v);
        fr_mul(&t, &t, &l->terms[i].coefficient);
        fr_add(&sum, &sum, &t);
    }
    return sum;
}

static void row_side_value(fr *out, const struct cs *cs, uint64_t side)
{
    fr sum = FR_ZERO, t;
    for (uint64_t i = cs->rows.first[side]; i < cs->rows.first[side + 1]; i++) {
        t = cs_value(cs, (variable){cs->rows.columns[i]});
        const fr *coefficient = &cs->dictionary->values[cs->rows.coefficients[i]];
        if (fr_is_zero(&t))
            continue;
        if (fr_equal(&t, &FR_ONE))
            t = *coefficient;
        else if (cs->rows.coefficients[i] != 0)
            fr_mul(&t, &t, coefficient);
        fr_add(&sum, &sum, &t);
    }
    *out = sum;
}

uint32_t cs_first_unsatisfied(const struct cs *cs)
{
    CHECK(cs->with_rows && cs->with_values);
    for (uint32_t i = 0; i < cs->rows.rows; i++) {
        fr a, b, c;
        row_side_value(&a, cs, 3 * (uint64_t)i);
        row_side_value(&b, cs, 3 * (uint64_t)i + 1);
        row_side_value(&c, cs, 3 * (uint64_t)i + 2);
        fr_mul(&a, &a, &b);
        if (!fr_equal(&a, &c))
            return i;
    }
    return UINT32_MAX;
}

/* ---- what tests and diagnosis look at ---- */

struct status cs_count_density(struct cs_density *out, const struct cs *cs)
{
    *out = (struct cs_density){0};
    uint8_t *seen = mem_alloc_zero((size_t)cs->aux + cs->inputs, 1); /* 1: in A, 2: in B */
    if (!seen)
        return mem_failed("density marks", (size_t)cs->aux + cs->inputs, 1);
    for (uint64_t side = 0; side < 3 * (uint64_t)cs->rows.rows; side++) {
        if (side % 3 == 2)
            continue;
        for (uint64_t i = cs->rows.first[side]; i < cs->rows.first[side + 1]; i++) {
            variable v = {cs->rows.columns[i]};
            seen[variable_index(v) + (variable_is_aux(v) ? cs->inputs : 0)] |= (uint8_t)(1 + side % 3);
        }
    }
    for (uint32_t i = 0; i < cs->inputs; i++)
        out->b_input += seen[i] >> 1;
    for (uint32_t i = 0; i < cs->aux; i++) {
        out->a_aux += seen[cs->inputs + i] & 1;
        out->b_aux += seen[cs->inputs + i] >> 1;
    }
    mem_free(seen);
    return status_ok();
}

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* SHA-256 fed in small pieces through a buffer. */
struct digest {
    EVP_MD_CTX *context;
    size_t used;
    uint8_t buffer[16384];
};

static void digest_start(struct digest *d)
{
    d->context = EVP_MD_CTX_new();
    d->used = 0;
    CHECK(d->context && EVP_DigestInit_ex(d->context, EVP_sha256(), NULL) == 1);
}

/* Room for `bytes` (at most 64) to write, already counted. */
static uint8_t *digest_room(struct digest *d, size_t bytes)
{
    if (d->used + bytes > sizeof d->buffer) {
        CHECK(EVP_DigestUpdate(d->context, d->buffer, d->used) == 1);
        d->used = 0;
    }
    d->used += bytes;
    return d->buffer + d->used - bytes;
}

static void digest_finish(struct digest *d, uint8_t out[32])
{
    CHECK(EVP_DigestUpdate(d->context, d->buffer, d->used) == 1);
    CHECK(EVP_DigestFinal_ex(d->context, out, NULL) == 1);
    EVP_MD_CTX_free(d->context);
}

void cs_rows_digest(uint8_t out[32], const struct cs *cs, bool header, uint32_t rows_end)
{
    struct digest d;
    digest_start(&d);
    if (rows_end > cs->rows.rows)
        rows_end = cs->rows.rows;
    if (header) {
        uint8_t *to = digest_room(&d, 12);
        put32(to, cs->inputs);
        put32(to + 4, cs->aux);
        put32(to + 8, rows_end);
    }
    for (uint64_t side = 0; side < 3 * (uint64_t)rows_end; side++) {
        uint64_t begin = cs->rows.first[side], end = cs->rows.first[side + 1];
        put32(digest_room(&d, 4), (uint32_t)(end - begin));
        for (uint64_t i = begin; i < end; i++) {
            variable v = {cs->rows.columns[i]};
            uint8_t *to = digest_room(&d, 37);
            to[0] = variable_is_aux(v);
            put32(to + 1, variable_index(v));
            fr_to_bytes(to + 5, &cs->dictionary->values[cs->rows.coefficients[i]]);
        }
    }
    digest_finish(&d, out);
}

void cs_aux_digest(uint8_t out[32], const struct cs *cs, uint32_t aux_end)
{
    CHECK(cs->with_values);
    struct digest d;
    digest_start(&d);
    for (uint32_t i = 0; i < aux_end && i < cs->aux; i++)
        fr_to_bytes(digest_room(&d, 32), &cs->aux_values[i]);
    digest_finish(&d, out);
}
