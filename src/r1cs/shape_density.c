/* Densities and counts of terms. The marks of a template's own columns are made once and shifted into place
 * for every instance, those of its ports go to where the runs say. This is exact as long as no two columns
 * of an instance are the same variable: only then can coefficients cancel. The rows of the other instances
 * are walked one by one. */
#include "r1cs/shape.h"

#include "base/mem.h"
#include "r1cs/internal.h"

/* Marks of one template in words of the common block. */
struct marks {
    size_t a_local, b_local, a_port, b_port;
    bool b_one;
};

static size_t layout(struct marks *m, const struct template *t, size_t at)
{
    m->a_local = at;
    m->b_local = m->a_local + words_for_bits(t->locals);
    m->a_port = m->b_local + words_for_bits(t->locals);
    m->b_port = m->a_port + words_for_bits(t->ports);
    return m->b_port + words_for_bits(t->ports);
}

static void mark_side(uint64_t *local, uint64_t *port, bool *one, const struct template *t, uint32_t side)
{
    for (uint32_t i = t->first[side]; i < t->first[side + 1]; i++) {
        uint32_t number = t->columns[i] & COLUMN_NUMBER;
        switch (column_type_of(t->columns[i])) {
        case COLUMN_LOCAL_BIT:
            bit_set(local, number);
            break;
        case COLUMN_LOCAL_FIELD:
            bit_set(local, t->field_local[number]);
            break;
        case COLUMN_PORT_BIT:
        case COLUMN_PORT_FIELD:
            bit_set(port, number);
            break;
        case COLUMN_ONE:
            *one = true;
            break;
        }
    }
}

static void mark_template(uint64_t *words, struct marks *m, const struct template *t)
{
    bool a_one = false;
    m->b_one = false;
    for (uint32_t row = 0; row < t->rows; row++) {
        mark_side(words + m->a_local, words + m->a_port, &a_one, t, 3 * row);
        mark_side(words + m->b_local, words + m->b_port, &m->b_one, t, 3 * row + 1);
    }
}

/* bits_or() from the first bit on, of words that nobody else has: a word at a time. */
static void or_marks(uint64_t *to, size_t to_at, const uint64_t *from, size_t count)
{
    unsigned shift = to_at & 63;
    size_t words = count / 64, at = to_at >> 6;
    if (shift == 0) {
        for (size_t i = 0; i < words; i++)
            to[at + i] |= from[i];
    } else if (words > 0) {
        to[at] |= from[0] << shift;
        for (size_t i = 1; i < words; i++)
            to[at + i] |= from[i] << shift | from[i - 1] >> (64 - shift);
        to[at + words] |= from[words - 1] >> (64 - shift);
    }
    bits_or(to, to_at + 64 * words, from, 64 * words, count % 64);
}

static void place_marks(struct shape *s, uint32_t number, const uint64_t *words, const struct marks *m)
{
    const struct instance *n = &s->instances[number];
    const struct template *t = &s->templates[n->template_number];
    struct density *d = &s->density;
    or_marks(d->a_aux, n->first_aux, words + m->a_local, t->locals);
    or_marks(d->b_aux, n->first_aux, words + m->b_local, t->locals);
    if (m->b_one)
        bit_set(d->b_input, VARIABLE_ONE.id);
    uint32_t runs = instance_runs(s, number), port = 0;
    for (uint32_t i = 0; i < runs; i++) {
        const struct port_run *run = &s->runs[n->first_run + i];
        uint32_t index = variable_index(run->first);
        if (variable_is_aux(run->first)) {
            bits_or(d->a_aux, index, words + m->a_port, port, run->count);
            bits_or(d->b_aux, index, words + m->b_port, port, run->count);
        } else {
            bits_or(d->b_input, index, words + m->b_port, port, run->count);
        }
        port += run->count;
    }
    for (int k = 0; k < 3; k++)
        s->terms[k] += t->terms[k];
}

static void mark_row(void *context, const struct row_view *row)
{
    struct shape *s = context;
    for (int k = 0; k < 3; k++) {
        s->terms[k] += row->count[k];
        for (uint32_t i = 0; k < 2 && i < row->count[k]; i++) {
            variable v = {row->terms[k][i].column};
            if (variable_is_aux(v))
                bit_set(k ? s->density.b_aux : s->density.a_aux, variable_index(v));
            else if (k == 1)
                bit_set(s->density.b_input, v.id);
        }
    }
}

/* Bits of each group of four. */
static inline uint64_t bits_by_four(uint64_t x)
{
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    return (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
}

/* Sums of three words fit into groups of four bits, and ten such sums into bytes: about one nanosecond a
 * word, without the processor's own instruction, which not every one has. Bits behind `bits` are 0. */
static uint32_t count_bits(const uint64_t *words, size_t bits)
{
    const uint64_t fours = UINT64_C(0x0f0f0f0f0f0f0f0f), bytes = UINT64_C(0x00ff00ff00ff00ff);
    size_t count = words_for_bits(bits), i = 0;
    uint64_t total = 0;
    while (i < count) {
        uint64_t sum = 0;
        for (int k = 0; k < 10 && i < count; k++, i += 3) {
            uint64_t three = bits_by_four(words[i]);
            three += i + 1 < count ? bits_by_four(words[i + 1]) : 0;
            three += i + 2 < count ? bits_by_four(words[i + 2]) : 0;
            sum += (three & fours) + ((three >> 4) & fours);
        }
        sum = (sum & bytes) + ((sum >> 8) & bytes);
        total += (sum * UINT64_C(0x0001000100010001)) >> 48;
    }
    return (uint32_t)total;
}

static struct status mark_instances(struct shape *s, const uint64_t *words, const struct marks *marks)
{
    struct row_walk walk;
    TRY(row_walk_start(&walk, s));
    for (uint32_t i = 0; i < s->instances_count; i++) {
        const struct instance *n = &s->instances[i];
        if (port_order_of(s->runs + n->first_run, instance_runs(s, i), walk.runs) == PORTS_ALIASED)
            row_walk_rows(&walk, n->first_row, n->first_row + s->templates[n->template_number].rows, mark_row,
                          s);
        else
            place_marks(s, i, words, &marks[n->template_number]);
    }
    row_walk_end(&walk);
    return status_ok();
}

struct status shape_count_density(struct shape *s)
{
    struct density *d = &s->density;
    d->a_aux = mem_alloc_zero(words_for_bits(s->aux), sizeof *d->a_aux);
    d->b_aux = mem_alloc_zero(words_for_bits(s->aux), sizeof *d->b_aux);
    d->b_input = mem_alloc_zero(words_for_bits(s->inputs), sizeof *d->b_input);
    if (!d->a_aux || !d->b_aux || !d->b_input)
        return mem_failed("densities", 2 * words_for_bits(s->aux), sizeof *d->a_aux);
    struct marks *marks = mem_alloc(s->templates_count, sizeof *marks);
    if (!marks)
        return mem_failed("densities", s->templates_count, sizeof *marks);
    size_t at = 0;
    for (uint32_t i = 0; i < s->templates_count; i++)
        at = layout(&marks[i], &s->templates[i], at);
    struct status status = mem_failed("densities", at, sizeof(uint64_t));
    uint64_t *words = mem_alloc_zero(at, sizeof *words);
    if (words) {
        for (uint32_t i = 0; i < s->templates_count; i++)
            mark_template(words, &marks[i], &s->templates[i]);
        s->terms[0] = s->inputs;
        status = mark_instances(s, words, marks);
    }
    mem_free(words);
    mem_free(marks);
    d->a_aux_count = count_bits(d->a_aux, s->aux);
    d->b_aux_count = count_bits(d->b_aux, s->aux);
    d->b_input_count = count_bits(d->b_input, s->inputs);
    return status;
}
