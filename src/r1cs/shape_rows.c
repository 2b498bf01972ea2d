/* The one iterator over rows, and the digest made with it.
 *
 * A template's rows are sorted: ONE, ports by number, locals. Locals come after every port in the circuit, so
 * a row of an instance is sorted but for its ports, and those only if the instance binds them out of order;
 * terms can meet only if a variable is bound twice. Both are known per instance, so that nearly all rows are
 * a plain renaming of columns. */
#include "r1cs/shape.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "r1cs/internal.h"

/* ---- the walk ---- */

struct status row_walk_start(struct row_walk *w, const struct shape *shape)
{
    *w = (struct row_walk){.shape = shape};
    size_t ports = 0, runs = 0, longest = 1;
    for (uint32_t i = 0; i < shape->templates_count; i++) {
        const struct template *t = &shape->templates[i];
        ports = t->ports > ports ? t->ports : ports;
        longest = t->longest > longest ? t->longest : longest;
    }
    for (uint32_t i = 0; i < shape->instances_count; i++) {
        uint32_t here = instance_runs(shape, i);
        runs = here > runs ? here : runs;
    }
    w->ports = mem_alloc(ports, sizeof *w->ports);
    w->runs = mem_alloc(runs, sizeof *w->runs);
    w->terms = mem_alloc(3 * longest, sizeof *w->terms);
    w->sorting = mem_alloc(longest, sizeof *w->sorting);
    w->merged = mem_alloc(3 * longest, sizeof *w->merged);
    if (!w->ports || !w->runs || !w->terms || !w->sorting || !w->merged) {
        row_walk_end(w);
        return mem_failed("walk over rows", ports + runs + 6 * longest, sizeof *w->merged);
    }
    return status_ok();
}

void row_walk_end(struct row_walk *w)
{
    mem_free(w->ports);
    mem_free(w->runs);
    mem_free(w->terms);
    mem_free(w->sorting);
    mem_free(w->merged);
    *w = (struct row_walk){0};
}

static uint32_t run_end(const struct row_term *terms, uint32_t at, uint32_t count)
{
    for (at++; at < count && terms[at - 1].column <= terms[at].column; at++)
        ;
    return at;
}

/* Sorts by column: natural merging, since ports come in ascending runs. */
static void sort_terms(struct row_term *terms, struct row_term *other, uint32_t n)
{
    struct row_term *from = terms, *to = other;
    while (n > 1 && run_end(from, 0, n) < n) {
        for (uint32_t start = 0; start < n;) {
            uint32_t middle = run_end(from, start, n), i = start, j = middle, k = start;
            uint32_t end = middle < n ? run_end(from, middle, n) : n;
            while (i < middle && j < end)
                to[k++] = from[j].column < from[i].column ? from[j++] : from[i++];
            while (i < middle)
                to[k++] = from[i++];
            while (j < end)
                to[k++] = from[j++];
            start = end;
        }
        struct row_term *t = from;
        from = to;
        to = t;
    }
    if (from != terms)
        memcpy(terms, from, n * sizeof *terms);
}

/* Adds up terms of one column and drops zeros; the new count. Terms are sorted. */
static uint32_t merge_terms(struct row_walk *w, struct row_term *terms, uint32_t n)
{
    const struct dictionary *d = &w->shape->dictionary;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n;) {
        struct row_term t = terms[i++];
        if (i < n && terms[i].column == t.column) {
            fr sum = d->values[t.coefficient];
            for (; i < n && terms[i].column == t.column; i++)
                fr_add(&sum, &sum, &d->values[terms[i].coefficient]);
            if (fr_is_zero(&sum))
                continue;
            t.coefficient = d->count + w->merged_count;
            w->merged[w->merged_count++] = sum;
        }
        terms[kept++] = t;
    }
    return kept;
}

/* One combination of a template's row in the variables of an instance. */
static uint32_t rename_terms(struct row_walk *w, struct row_term *out, const struct template *t,
                             const struct instance *n, uint32_t side, enum port_order order)
{
    uint32_t base = VARIABLE_AUX | n->first_aux, outside = 0, count = t->first[side + 1] - t->first[side];
    const uint32_t *columns = t->columns + t->first[side];
    const uint16_t *coefficients = t->coefficients + t->first[side];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = columns[i] & COLUMN_NUMBER, id = VARIABLE_ONE.id;
        switch (column_type_of(columns[i])) {
        case COLUMN_LOCAL_BIT:
            id = base + number;
            break;
        case COLUMN_LOCAL_FIELD:
            id = base + t->field_local[number];
            break;
        case COLUMN_PORT_BIT:
        case COLUMN_PORT_FIELD:
            id = w->ports[number];
            outside = i + 1;
            break;
        case COLUMN_ONE:
            break;
        }
        out[i] = (struct row_term){id, coefficients[i]};
    }
    if (order == PORTS_ORDERED || outside < 2)
        return count;
    sort_terms(out, w->sorting, outside); /* ONE, where it is among them, stays first */
    return order == PORTS_ALIASED ? merge_terms(w, out, count) : count;
}

static enum port_order bind_ports(struct row_walk *w, uint32_t number)
{
    const struct instance *n = &w->shape->instances[number];
    const struct port_run *runs = w->shape->runs + n->first_run;
    uint32_t count = instance_runs(w->shape, number), port = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < runs[i].count; k++)
            w->ports[port++] = runs[i].first.id + k;
    return port_order_of(runs, count, w->runs);
}

void row_walk_rows(struct row_walk *w, uint32_t begin, uint32_t end, row_visitor *visit, void *context)
{
    const struct shape *s = w->shape;
    struct row_view view = {.merged = w->merged};
    uint32_t number = begin < end ? instance_of_row(s->instances, s->instances_count, begin) : 0;
    for (uint32_t row = begin; row < end; number++) {
        const struct instance *n = &s->instances[number];
        const struct template *t = &s->templates[n->template_number];
        uint32_t stop = t->rows < end - n->first_row ? n->first_row + t->rows : end;
        if (row == stop)
            continue;
        enum port_order order = bind_ports(w, number);
        for (; row < stop; row++) {
            struct row_term *to = w->terms;
            w->merged_count = 0;
            for (uint32_t k = 0; k < 3; k++) {
                view.terms[k] = to;
                view.count[k] = rename_terms(w, to, t, n, 3 * (row - n->first_row) + k, order);
                to += view.count[k];
            }
            view.row = row;
            visit(context, &view);
        }
    }
}

struct status shape_visit_rows(const struct shape *shape, uint32_t begin, uint32_t end, row_visitor *visit,
                               void *context)
{
    struct row_walk walk;
    CHECK(begin <= end && end <= shape_all_rows(shape));
    TRY(row_walk_start(&walk, shape));
    uint32_t circuit_end = end < shape->rows ? end : shape->rows;
    if (begin < circuit_end)
        row_walk_rows(&walk, begin, circuit_end, visit, context);
    for (uint32_t row = begin > shape->rows ? begin : shape->rows; row < end; row++) {
        struct row_term input = {row - shape->rows, 0};
        struct row_view view = {.row = row, .count = {1, 0, 0}, .terms = {&input, &input, &input}};
        visit(context, &view);
    }
    row_walk_end(&walk);
    return status_ok();
}

/* ---- digest ---- */

#define TERM_BYTES 37

struct rows_hash {
    struct sha256 hash;
    const struct shape *shape;
    uint8_t (*values)[32]; /* the dictionary's canonical bytes */
    size_t used;
    uint8_t buffer[32768];
};

static uint8_t *hash_room(struct rows_hash *h, size_t bytes)
{
    if (h->used + bytes > sizeof h->buffer) {
        sha256_add(&h->hash, h->buffer, h->used);
        h->used = 0;
    }
    h->used += bytes;
    return h->buffer + h->used - bytes;
}

static void hash_row(void *context, const struct row_view *row)
{
    struct rows_hash *h = context;
    uint32_t dictionary = h->shape->dictionary.count;
    for (int k = 0; k < 3; k++) {
        store_le32(hash_room(h, 4), row->count[k]);
        for (uint32_t i = 0; i < row->count[k]; i++) {
            struct row_term t = row->terms[k][i];
            variable v = {t.column};
            uint8_t *to = hash_room(h, TERM_BYTES);
            to[0] = variable_is_aux(v);
            store_le32(to + 1, variable_index(v));
            if (t.coefficient < dictionary)
                memcpy(to + 5, h->values[t.coefficient], 32);
            else
                fr_to_bytes(to + 5, &row->merged[t.coefficient - dictionary]);
        }
    }
}

struct status shape_rows_digest(uint8_t out[32], const struct shape *shape, bool header, uint32_t rows_end)
{
    if (rows_end > shape->rows)
        rows_end = shape->rows;
    struct status status = mem_failed("digest of rows", 1, sizeof(struct rows_hash));
    struct rows_hash *h = mem_alloc(1, sizeof *h);
    uint8_t(*values)[32] = mem_alloc(shape->dictionary.count, sizeof *values);
    if (h && values) {
        h->shape = shape;
        h->values = values;
        h->used = 0;
        for (uint32_t i = 0; i < shape->dictionary.count; i++)
            fr_to_bytes(values[i], &shape->dictionary.values[i]);
        sha256_begin(&h->hash);
        if (header) {
            uint8_t *to = hash_room(h, 12);
            store_le32(to, shape->inputs);
            store_le32(to + 4, shape->aux);
            store_le32(to + 8, rows_end);
        }
        status = shape_visit_rows(shape, 0, rows_end, hash_row, h);
        sha256_add(&h->hash, h->buffer, h->used);
        sha256_end(&h->hash, out);
    }
    mem_free(values);
    mem_free(h);
    return status;
}
