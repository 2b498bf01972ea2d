/* What the sources of this room share: finding instances, binding ports, copying bits. Room-internal. */
#ifndef CUZK_R1CS_INTERNAL_H
#define CUZK_R1CS_INTERNAL_H

#include "r1cs/shape.h"
#include <string.h>

static inline uint32_t column_make(enum column_type type, uint32_t number)
{
    return (uint32_t)type << COLUMN_SHIFT | number;
}

static inline enum column_type column_type_of(uint32_t column)
{
    return (enum column_type)(column >> COLUMN_SHIFT);
}

static inline size_t words_for_bits(size_t bits)
{
    return (bits + 63) / 64;
}

/* The instance that holds a row, or an aux variable, that the shape has: the last that does not begin after
 * it (instances without rows or locals share their first with the next one). */
static inline uint32_t instance_of_row(const struct instance *instances, uint32_t count, uint32_t row)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (instances[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline uint32_t instance_of_aux(const struct instance *instances, uint32_t count, uint32_t aux)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (instances[middle].first_aux <= aux)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The same, looked for from the end: in the logarithm of the distance. Circuits refer to what is near. */
static inline uint32_t instance_of_aux_near_end(const struct instance *instances, uint32_t count,
                                                uint32_t aux)
{
    uint32_t low = count - 1, high = count, step = 1;
    while (low > 0 && instances[low].first_aux > aux) {
        high = low;
        low = low > step ? low - step : 0;
        step *= 2;
    }
    return low + instance_of_aux(instances + low, high - low, aux);
}

/* Rank of a local field column. */
static inline uint32_t template_rank(const struct template *t, uint32_t local)
{
    uint32_t low = 0, high = t->local_fields;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->field_local[middle] <= local)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline uint32_t instance_runs(const struct shape *s, uint32_t number)
{
    uint32_t end = number + 1 < s->instances_count ? s->instances[number + 1].first_run : s->runs_count;
    return end - s->instances[number].first_run;
}

/* How the ports of an instance lie: rows of an ordered one are sorted and merged as the template has them. */
enum port_order {
    PORTS_ORDERED,  /* ascending variables */
    PORTS_DISTINCT, /* another order, no variable twice */
    PORTS_ALIASED,  /* a variable is bound twice, or ONE is */
};
/* scratch: room for the runs. */
enum port_order port_order_of(const struct port_run *runs, uint32_t count, struct port_run *scratch);

/* The parts of a template that follow from local_kind, port_kind and seed: counts, ranks, seed lists. */
MUST_USE struct status template_index(struct template *t);
/* NULL, or what is wrong with the rows. */
const char *template_fault(const struct template *t, const struct dictionary *dictionary);
/* Classes of combinations and counts of terms. small: per dictionary number, as shape.small. */
MUST_USE struct status template_classify(struct template *t, const int8_t *small);
/* The coefficient as an integer of at most 127 either way; 0 if it is none. */
int8_t coefficient_small(const fr *coefficient);
/* Combinations of class COMBINATION_SMALL stay within this many either way. */
#define SMALL_SUM_MAX 64

/* Densities and term counts of a shape whose instances and templates are complete. */
MUST_USE struct status shape_count_density(struct shape *s);
/* SHA-256 of the file form without its digest. */
void shape_file_digest(uint8_t out[32], const struct shape *s);
/* shape_builder_finish() with a digest that is known: the caller compares the shape with what it is of. */
MUST_USE struct status shape_builder_finish_as(struct shape **out, struct shape_builder *builder,
                                               const uint8_t digest[32]);

/* Walks the rows [begin, end) of the circuit (no input rows) with a walk that the caller keeps. */
struct row_walk {
    const struct shape *shape;
    uint32_t *ports;          /* variable id per port of the present instance */
    struct port_run *runs;    /* scratch for port_order_of */
    struct row_term *terms;   /* three combinations */
    struct row_term *sorting; /* one more */
    fr *merged;
    uint32_t merged_count;
};
MUST_USE struct status row_walk_start(struct row_walk *w, const struct shape *shape);
void row_walk_end(struct row_walk *w);
void row_walk_rows(struct row_walk *w, uint32_t begin, uint32_t end, row_visitor *visit, void *context);

/* Up to 64 bits from position `at`. Loads are relaxed atomics: other instances' words may be in the making.
 */
static inline uint64_t bits_get(const uint64_t *words, size_t at, unsigned count)
{
    unsigned shift = at & 63;
    uint64_t value = __atomic_load_n(&words[at >> 6], __ATOMIC_RELAXED) >> shift;
    if (shift + count > 64)
        value |= __atomic_load_n(&words[(at >> 6) + 1], __ATOMIC_RELAXED) << (64 - shift);
    return count < 64 ? value & ((UINT64_C(1) << count) - 1) : value;
}

/* ORs count bits of `from` at from_at into `to` at to_at. */
static inline void bits_or(uint64_t *to, size_t to_at, const uint64_t *from, size_t from_at, size_t count)
{
    while (count > 0) {
        unsigned room = 64 - (unsigned)(to_at & 63);
        unsigned step = count < room ? (unsigned)count : room;
        to[to_at >> 6] |= bits_get(from, from_at, step) << (to_at & 63);
        to_at += step;
        from_at += step;
        count -= step;
    }
}

static inline bool bit_at(const uint64_t *words, size_t at)
{
    return (words[at >> 6] >> (at & 63)) & 1;
}

static inline void bit_set(uint64_t *words, size_t at)
{
    words[at >> 6] |= UINT64_C(1) << (at & 63);
}

#endif
