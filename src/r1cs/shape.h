/* A shape: a circuit as templates and instances. Immutable once built, shared, reference counted, with a file
 * form. A 32 GiB PoRep partition (130 million rows, 722 million terms) is some tens of MB.
 *
 * Rows are in circuit order: instance i has rows [first_row, first_row + template rows) and aux variables
 * [first_aux, ...), both contiguous over the instances. After the circuit's rows come the input rows
 * (input_i * 0 = 0), one per input, which exist in evaluation and setup but not in digests. */
#ifndef CUZK_R1CS_SHAPE_H
#define CUZK_R1CS_SHAPE_H

#include "base/pool.h"
#include "r1cs/template.h"

/* Consecutive ports bound to consecutive variables, all of one kind (inputs count as field variables). For
 * aux field variables `slot` is the field slot of the first (the field slots of a run are consecutive too);
 * elsewhere it is 0 in a finished shape. */
struct port_run {
    variable first;
    uint32_t count;
    uint32_t slot;
};

struct instance {
    uint32_t template_number;
    uint32_t first_row, first_aux;
    uint32_t first_field;      /* slot of its first field column in witness.fields */
    uint32_t first_seed_field; /* index into seeds.fields */
    uint32_t first_seed_bit;   /* index into seeds.bits */
    uint32_t first_hint;       /* index into seeds.hints */
    uint32_t first_run;        /* index into shape.runs; runs until the template's ports are bound */
    uint32_t wave;             /* expanded in this wave; instances without expander have none (0) */
};

struct density {
    uint64_t *a_aux, *b_aux; /* bit per aux */
    uint64_t *b_input;       /* bit per input */
    uint32_t a_aux_count, b_aux_count, b_input_count;
};

struct shape {
    uint32_t inputs, aux, rows; /* rows without the input rows */
    uint32_t fields;            /* field-valued aux variables */
    uint32_t seed_fields, seed_bits, hint_words;
    uint32_t waves;
    uint32_t templates_count, instances_count, runs_count;
    struct template *templates;
    struct instance *instances;
    struct port_run *runs;
    struct dictionary dictionary;
    uint32_t *wave_first;     /* waves + 1: ranges of wave_instances */
    uint32_t *wave_instances; /* instances with an expander, by wave, then template, then in order */
    int8_t *small;            /* per dictionary number: the coefficient as a small integer, 0 if it is none */
    struct density density;
    uint64_t terms[3];  /* non-zero terms of A (input rows included), B, C */
    uint8_t digest[32]; /* SHA-256 of the file form without this field; identifies the shape */
    atomic_int references;
};

struct shape *shape_share(const struct shape *shape);        /* one more reference */
void shape_release(struct shape *shape);                     /* NULL allowed */
size_t shape_bytes(const struct shape *shape);               /* memory it holds */
static inline uint32_t shape_all_rows(const struct shape *s) /* with the input rows */
{
    return s->rows + s->inputs;
}
unsigned shape_log2_domain(const struct shape *shape); /* smallest k with 2^k >= all rows */

/* ---- building, in circuit order ---- */
struct shape_builder;
MUST_USE struct status shape_builder_start(struct shape_builder **out);
void shape_builder_abandon(struct shape_builder *builder); /* NULL allowed */
/* The dictionary that templates must be recorded with. */
struct dictionary *shape_builder_dictionary(struct shape_builder *builder);
/* Takes the template (moves its arrays); its number in the shape. */
MUST_USE struct status shape_builder_template(struct shape_builder *builder, uint32_t *number,
                                              struct template *taken);
variable shape_builder_input(struct shape_builder *builder); /* allocates the next input */
/* Appends an instance. Checks that runs bind exactly the template's ports, with kinds that agree, to
 * variables that exist; fills in their slots itself (the caller's are ignored). *first_aux and *first_field
 * (both may be NULL) tell where its locals are. The wave follows from the ports. */
MUST_USE struct status shape_builder_place(struct shape_builder *builder, uint32_t template_number,
                                           const struct port_run *runs, size_t runs_count,
                                           uint32_t *first_aux, uint32_t *first_field);
/* Field slot of an aux field variable that exists. */
uint32_t shape_builder_slot(const struct shape_builder *builder, variable v);
/* Rows, aux, inputs so far (for section digests). */
void shape_builder_counts(const struct shape_builder *builder, uint32_t *rows, uint32_t *aux,
                          uint32_t *inputs);
/* Computes waves' order, densities, counts, digest. The builder is gone in any case. */
MUST_USE struct status shape_builder_finish(struct shape **out, struct shape_builder *builder);

/* ---- the one iterator over rows ---- */
struct row_term {
    uint32_t column;      /* variable id */
    uint32_t coefficient; /* dictionary number, or dictionary.count + k: merged[k] */
};
struct row_view {
    uint32_t row;
    uint32_t count[3]; /* terms of A, B, C: merged, non-zero, sorted by variable id */
    const struct row_term *terms[3];
    const fr *merged; /* coefficients that merging produced */
};
typedef void row_visitor(void *context, const struct row_view *row);
/* Visits rows [begin, end) in order in the calling thread; end may reach shape_all_rows (input rows
 * included). Errors: memory. */
MUST_USE struct status shape_visit_rows(const struct shape *shape, uint32_t begin, uint32_t end,
                                        row_visitor *visit, void *context);
static inline const fr *row_coefficient(const struct shape *s, const struct row_view *r, struct row_term t)
{
    return t.coefficient < s->dictionary.count ? &s->dictionary.values[t.coefficient]
                                               : &r->merged[t.coefficient - s->dictionary.count];
}

/* Digests of gadgets specification section 11, as cs_rows_digest. */
MUST_USE struct status shape_rows_digest(uint8_t out[32], const struct shape *shape, bool header,
                                         uint32_t rows_end);

/* ---- file form: little-endian, digest at the end ----
 * The file is the recipe of a shape (dictionary, templates, instances, runs); all that follows from it is
 * computed again, by the builder, so that a file can only say what a circuit could have said. The same shape
 * gives the same bytes. Reading takes as long as building without recording the templates. */
MUST_USE struct status shape_save(const struct shape *shape, const char *path);
/* Everything is checked: lengths, counts, indices, kinds, digest. expanders: those this build knows. */
MUST_USE struct status shape_load(struct shape **out, const char *path,
                                  const struct expander *const *expanders, size_t expanders_count);
MUST_USE struct status shape_parse(struct shape **out, const uint8_t *data, size_t size,
                                   const struct expander *const *expanders, size_t expanders_count);

#endif
