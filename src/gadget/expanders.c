/* The table of expanders, and for each the check that a template from a file has exactly the columns and
 * ports that its expand function writes and reads. */
#include "gadget/expanders.h"

#include "gadget/expand.h"
#include "gadget/insert_values.h"
#include "gadget/number.h"
#include "gadget/poseidon.h"
#include <string.h>

#define BOTH_FLAVOURS(name)                                                                                  \
    static void run_##name(const struct expansion *x)                                                        \
    {                                                                                                        \
        FLAVOUR_CALL(expand_##name, x);                                                                      \
    }
BOTH_FLAVOURS(poseidon)
BOTH_FLAVOURS(path_element)
BOTH_FLAVOURS(to_bits)
BOTH_FLAVOURS(sha_path_head)
BOTH_FLAVOURS(pack)
BOTH_FLAVOURS(mul)
BOTH_FLAVOURS(scale_add)

static void expand_sum(const struct expansion *x)
{
    fr sum = x->port_fields[0];
    for (uint32_t i = 1; i < x->template->parameters[0]; i++)
        fr_add(&sum, &sum, &x->port_fields[i]);
    x->fields[0] = sum;
}

static void expand_difference(const struct expansion *x)
{
    fr_sub(&x->fields[0], &x->port_fields[0], &x->port_fields[1]);
}

static void expand_mul_bit(const struct expansion *x)
{
    x->fields[0] = x->port_bits[0] >> 1 & 1 ? x->port_fields[0] : FR_ZERO;
}

static void expand_insert(const struct expansion *x)
{
    uint32_t log2_arity = (uint32_t)__builtin_ctz(x->template->parameters[0]);
    uint32_t index = (uint32_t)x->port_bits[0] & ((1u << log2_arity) - 1);
    fr children[8];
    if (log2_arity == 3)
        expansion_put_bits(x, 0, insert_derived_bits(index), 2);
    insert_values(x->fields, children, log2_arity, index, &x->port_fields[0], &x->port_fields[1]);
}

static void expand_select(const struct expansion *x)
{
    const fr *from = x->port_fields;
    fr *out = x->fields;
    for (uint32_t bit = x->template->parameters[0]; bit-- > 0;) {
        uint32_t half = 1u << bit;
        memcpy(out, from + (x->port_bits[0] >> bit & 1 ? half : 0), half * sizeof *out);
        from = out;
        out += half;
    }
}

/* ---- does a template have the form that its expander works on? ---- */

/* Some consecutive columns, or ports, of one kind. */
struct stretch {
    uint8_t kind, seed;
    uint32_t count;
};

static bool is_made_of(const uint8_t *kinds, const uint8_t *seeds, uint32_t total,
                       const struct stretch *stretches, uint32_t stretches_count)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < stretches_count; i++) {
        if (stretches[i].count > total - at)
            return false;
        for (uint32_t end = at + stretches[i].count; at < end; at++)
            if (kinds[at] != stretches[i].kind || (seeds && seeds[at] != stretches[i].seed))
                return false;
    }
    return at == total;
}

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
static bool columns_are(const struct template *t, const struct stretch *stretches, size_t count)
{
    return is_made_of(t->local_kind, t->seed, t->locals, stretches, (uint32_t)count);
}

static bool ports_are(const struct template *t, const struct stretch *stretches, size_t count)
{
    return t->reads_ports && t->hint_words == 0 &&
           is_made_of(t->port_kind, NULL, t->ports, stretches, (uint32_t)count);
}

static bool fits_sha256_block(const struct template *t)
{
    const struct stretch columns[] = {{KIND_BIT, 0, t->locals}};
    return t->parameters[16] <= 1 && !t->reads_ports && t->hint_words == SHA256_BLOCK_HINTS &&
           t->locals == sha256_block_locals(t->parameters) && columns_are(t, columns, LENGTH(columns));
}

static bool fits_poseidon(const struct template *t)
{
    uint32_t arity = t->parameters[0];
    if (!poseidon_has(arity))
        return false;
    const struct stretch columns[] = {{KIND_FIELD, 0, poseidon_circuit_size(poseidon_of(arity))}};
    const struct stretch ports[] = {{KIND_FIELD, 0, arity}};
    return columns_are(t, columns, LENGTH(columns)) && ports_are(t, ports, LENGTH(ports));
}

static bool path_arity(uint32_t arity, uint32_t *log2_arity)
{
    *log2_arity = arity == 8 ? 3 : arity / 2;
    return arity == 2 || arity == 4 || arity == 8;
}

static bool fits_path(const struct template *t, uint8_t behind_kind, uint32_t behind)
{
    uint32_t arity = t->parameters[0], log2_arity;
    if (!path_arity(arity, &log2_arity))
        return false;
    const struct stretch columns[] = {
        {KIND_BIT, 1, log2_arity},
        {KIND_FIELD, 1, arity - 1},
        {KIND_BIT, 0, log2_arity == 3 ? 2 : 0},
        {KIND_FIELD, 0, insert_network_picks(log2_arity)},
        {behind_kind, 0, behind},
    };
    const struct stretch ports[] = {{KIND_FIELD, 0, 1}};
    return columns_are(t, columns, LENGTH(columns)) && ports_are(t, ports, LENGTH(ports));
}

static bool fits_path_element(const struct template *t)
{
    uint32_t arity = t->parameters[0], log2_arity;
    return path_arity(arity, &log2_arity) &&
           fits_path(t, KIND_FIELD, poseidon_circuit_size(poseidon_of(arity)));
}

static bool fits_sha_path_head(const struct template *t)
{
    uint32_t arity = t->parameters[0], log2_arity;
    return path_arity(arity, &log2_arity) && fits_path(t, KIND_BIT, arity * FR_BITS);
}

static bool fits_insert(const struct template *t)
{
    uint32_t arity = t->parameters[0], log2_arity;
    if (!path_arity(arity, &log2_arity))
        return false;
    const struct stretch columns[] = {{KIND_BIT, 0, log2_arity == 3 ? 2 : 0},
                                      {KIND_FIELD, 0, insert_network_picks(log2_arity)}};
    const struct stretch ports[] = {{KIND_BIT, 0, log2_arity}, {KIND_FIELD, 0, arity}};
    return columns_are(t, columns, LENGTH(columns)) && ports_are(t, ports, LENGTH(ports));
}

static bool fits_select(const struct template *t)
{
    uint32_t m = t->parameters[0];
    if (m < 1 || m > SELECT_LOG2_MAX)
        return false;
    const struct stretch columns[] = {{KIND_FIELD, 0, (1u << m) - 1}};
    const struct stretch ports[] = {{KIND_BIT, 0, m}, {KIND_FIELD, 0, 1u << m}};
    return columns_are(t, columns, LENGTH(columns)) && ports_are(t, ports, LENGTH(ports));
}

static bool fits_to_bits(const struct template *t)
{
    const struct stretch columns[] = {{KIND_BIT, 0, FR_BITS}}, ports[] = {{KIND_FIELD, 0, 1}};
    return columns_are(t, columns, LENGTH(columns)) && ports_are(t, ports, LENGTH(ports));
}

static const struct stretch one_number[] = {{KIND_FIELD, 0, 1}};

static bool fits_pack(const struct template *t)
{
    const struct stretch ports[] = {{KIND_BIT, 0, t->parameters[0]}};
    return t->parameters[0] >= 1 && t->parameters[0] <= 254 && columns_are(t, one_number, 1) &&
           ports_are(t, ports, LENGTH(ports));
}

static bool fits_sum(const struct template *t)
{
    const struct stretch ports[] = {{KIND_FIELD, 0, t->parameters[0]}};
    return t->parameters[0] >= 1 && columns_are(t, one_number, 1) && ports_are(t, ports, LENGTH(ports));
}

static bool fits_two(const struct template *t)
{
    const struct stretch ports[] = {{KIND_FIELD, 0, 2}};
    return columns_are(t, one_number, 1) && ports_are(t, ports, LENGTH(ports));
}

static bool fits_mul_bit(const struct template *t)
{
    const struct stretch ports[] = {{KIND_FIELD, 0, 1}, {KIND_BIT, 0, 1}};
    return columns_are(t, one_number, 1) && ports_are(t, ports, LENGTH(ports));
}

static bool fits_scale_add(const struct template *t)
{
    return columns_are(t, one_number, 1) && ports_are(t, one_number, 1);
}

/* ---- the table ---- */

#define EXPANDER(NUMBER, run, fits)                                                                          \
    static const struct expander expander_##NUMBER = {EXPANDER_##NUMBER, #NUMBER, run, fits};
EXPANDER(SHA256_BLOCK, expand_sha256_block, fits_sha256_block)
EXPANDER(POSEIDON, run_poseidon, fits_poseidon)
EXPANDER(PATH_ELEMENT, run_path_element, fits_path_element)
EXPANDER(TO_BITS, run_to_bits, fits_to_bits)
EXPANDER(SHA_PATH_HEAD, run_sha_path_head, fits_sha_path_head)
EXPANDER(PACK, run_pack, fits_pack)
EXPANDER(SUM, expand_sum, fits_sum)
EXPANDER(DIFFERENCE, expand_difference, fits_two)
EXPANDER(MUL, run_mul, fits_two)
EXPANDER(MUL_BIT, expand_mul_bit, fits_mul_bit)
EXPANDER(SCALE_ADD, run_scale_add, fits_scale_add)
EXPANDER(INSERT, expand_insert, fits_insert)
EXPANDER(SELECT, expand_select, fits_select)

static const struct expander *const table[] = {
    &expander_SHA256_BLOCK,  &expander_POSEIDON, &expander_PATH_ELEMENT, &expander_TO_BITS,
    &expander_SHA_PATH_HEAD, &expander_PACK,     &expander_SUM,          &expander_DIFFERENCE,
    &expander_MUL,           &expander_MUL_BIT,  &expander_SCALE_ADD,    &expander_INSERT,
    &expander_SELECT,
};
_Static_assert(LENGTH(table) == EXPANDER_COUNT - 1, "every expander is in the table");

const struct expander *const *gadget_expanders(size_t *count)
{
    *count = LENGTH(table);
    return table;
}

const struct expander *gadget_expander(enum expander_number number)
{
    CHECK(number > EXPANDER_NONE && number < EXPANDER_COUNT && table[number - 1]->number == number);
    return table[number - 1];
}
