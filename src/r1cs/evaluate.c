/* Evaluation of rows: the hot loop between expansion and the NTT.
 *
 * Nearly all combinations have a handful of bits with coefficients of 1, -1, 2: they are summed as
 * integers and turned into a field element by a table, about a nanosecond a term. Long sums over bits
 * (MultiEq) add the coefficients of set bits without reducing, and reduce once. Field variables cost a
 * multiplication unless the coefficient is 1 or -1. Where C is not wanted and B is ONE, A is taken from C if
 * that is cheaper: the value is the same if the row holds, and a row that does not hold makes a proof that
 * verification refuses in either case. */
#include "r1cs/evaluate.h"

/* Where the bits of a column type lie: column number n is bit (offset + n) of words. */
struct bit_source {
    const uint64_t *words;
    uint64_t offset;
};

struct view {
    const struct evaluation *e;
    const struct template *t;
    struct bit_source bits[8]; /* by column type; those that hold no bit are never used */
    const fr *local_fields;
    const fr **port_fields;
};

static const uint64_t bit_of_one = 1;

static inline uint64_t column_bit(const struct view *v, uint32_t column)
{
    const struct bit_source *s = &v->bits[column >> COLUMN_SHIFT];
    uint64_t at = s->offset + (column & COLUMN_NUMBER);
    return s->words[at >> 6] >> (at & 63) & 1;
}

static inline void small_value(fr *out, const struct view *v, uint32_t from, uint32_t to)
{
    const uint32_t *columns = v->t->columns;
    const uint16_t *coefficients = v->t->coefficients;
    const int8_t *small = v->e->shape->small;
    int64_t sum = SMALL_SUM_MAX;
    for (uint32_t i = from; i < to; i++)
        sum += small[coefficients[i]] & -(int64_t)column_bit(v, columns[i]);
    *out = v->e->small[sum];
}

/* A sum below 2^320 of reduced elements: limbs 0 to 3 are reduced, limb 4 counts multiples of 2^256. */
static void reduce_sum(fr *out, const uint64_t sum[5])
{
    fr low = {{sum[0], sum[1], sum[2], sum[3]}}, high = {{sum[4], 0, 0, 0}};
    /* 2^256 is below 3r. */
    limbs_reduce_once(low.l, low.l, FR_MODULUS.l, 4);
    limbs_reduce_once(low.l, low.l, FR_MODULUS.l, 4);
    if (sum[4]) {
        fr_mul(&high, &high, &FR_R2);
        fr_add(&low, &low, &high);
    }
    *out = low;
}

static void bits_value(fr *out, const struct view *v, uint32_t from, uint32_t to)
{
    const fr *dictionary = v->e->shape->dictionary.values;
    uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (uint32_t i = from; i < to; i++) {
        const fr *x = &dictionary[v->t->coefficients[i]];
        uint64_t mask = 0 - column_bit(v, v->t->columns[i]), carry = 0;
        s0 = limb_add(s0, x->l[0] & mask, &carry);
        s1 = limb_add(s1, x->l[1] & mask, &carry);
        s2 = limb_add(s2, x->l[2] & mask, &carry);
        s3 = limb_add(s3, x->l[3] & mask, &carry);
        s4 += carry;
    }
    reduce_sum(out, (const uint64_t[5]){s0, s1, s2, s3, s4});
}

static void mixed_value(fr *out, const struct view *v, uint32_t from, uint32_t to)
{
    const fr *dictionary = v->e->shape->dictionary.values;
    fr sum = FR_ZERO, product;
    for (uint32_t i = from; i < to; i++) {
        uint32_t column = v->t->columns[i], number = column & COLUMN_NUMBER;
        uint32_t coefficient = v->t->coefficients[i];
        enum column_type type = column_type_of(column);
        const fr *value;
        if (type == COLUMN_LOCAL_FIELD) {
            value = &v->local_fields[number];
        } else if (type == COLUMN_PORT_FIELD) {
            value = v->port_fields[number];
        } else {
            if (column_bit(v, column))
                fr_add(&sum, &sum, &dictionary[coefficient]);
            continue;
        }
        if (coefficient == 0) {
            fr_add(&sum, &sum, value);
        } else if (coefficient == 1) {
            fr_sub(&sum, &sum, value);
        } else {
            fr_mul(&product, value, &dictionary[coefficient]);
            fr_add(&sum, &sum, &product);
        }
    }
    *out = sum;
}

static inline void combination_value(fr *out, const struct view *v, uint32_t side)
{
    uint32_t from = v->t->first[side], to = v->t->first[side + 1];
    switch ((enum combination_class)v->t->classes[side]) {
    case COMBINATION_SMALL:
        small_value(out, v, from, to);
        break;
    case COMBINATION_BITS:
        bits_value(out, v, from, to);
        break;
    case COMBINATION_MIXED:
    case COMBINATION_AS_C:
        mixed_value(out, v, from, to);
        break;
    }
}

static void bind_ports(struct view *v, const struct evaluation_ports *ports, uint32_t number)
{
    const struct shape *s = v->e->shape;
    const struct witness *w = v->e->witness;
    const struct instance *n = &s->instances[number];
    uint32_t runs = instance_runs(s, number), port = 0;
    memset(ports->bits, 0, words_for_bits(v->t->ports) * sizeof *ports->bits);
    for (uint32_t i = 0; i < runs; i++) {
        const struct port_run *run = &s->runs[n->first_run + i];
        if (v->t->port_kind[port] == KIND_BIT) {
            bits_or(ports->bits, port, w->bits, variable_index(run->first), run->count);
        } else {
            const fr *from =
                variable_is_aux(run->first) ? w->fields + run->slot : w->inputs + variable_index(run->first);
            for (uint32_t k = 0; k < run->count; k++)
                ports->fields[port + k] = from + k;
        }
        port += run->count;
    }
}

static void instance_rows(const struct view *v, uint32_t first_row, uint32_t begin, uint32_t end)
{
    const struct evaluation *e = v->e;
    for (uint32_t row = begin; row < end; row++) {
        uint32_t side = 3 * (row - first_row), at = row - e->first;
        bool as_c = !e->c && v->t->classes[side] == COMBINATION_AS_C;
        combination_value(&e->a[at], v, as_c ? side + 2 : side);
        combination_value(&e->b[at], v, side + 1);
        if (e->c)
            combination_value(&e->c[at], v, side + 2);
    }
}

void FLAVOUR(evaluate_rows)(const struct evaluation *e, const struct evaluation_ports *ports, uint32_t begin,
                            uint32_t end)
{
    const struct shape *s = e->shape;
    uint32_t number = instance_of_row(s->instances, s->instances_count, begin);
    for (uint32_t row = begin; row < end; number++) {
        const struct instance *n = &s->instances[number];
        const struct template *t = &s->templates[n->template_number];
        uint32_t stop = t->rows < end - n->first_row ? n->first_row + t->rows : end;
        if (row == stop)
            continue;
        struct view v = {.e = e, .t = t, .local_fields = e->witness->fields + n->first_field};
        bind_ports(&v, ports, number);
        v.port_fields = ports->fields;
        v.bits[COLUMN_LOCAL_BIT] = (struct bit_source){e->witness->bits, n->first_aux};
        v.bits[COLUMN_PORT_BIT] = (struct bit_source){ports->bits, 0};
        v.bits[COLUMN_ONE] = (struct bit_source){&bit_of_one, 0};
        instance_rows(&v, n->first_row, row, stop);
        row = stop;
    }
}
