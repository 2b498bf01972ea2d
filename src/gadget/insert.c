/* Selection among numbers by bits, and insertion of a number among its siblings, which is what a Merkle path
 * does at every level. Sizes 2, 4 and 8 have networks of their own with fewer picks than selection would
 * need; they are written as tables because only the order and the operands matter. */
#include "gadget/insert_network.h"
#include "gadget/number.h"

struct number number_select(struct cs *cs, const struct number *from, const struct boolean *bits,
                            uint32_t log2_size)
{
    struct number state[1 << SELECT_LOG2_MAX];
    CHECK(log2_size <= SELECT_LOG2_MAX);
    uint32_t size = 1u << log2_size;
    for (uint32_t i = 0; i < size; i++)
        state[i] = from[i];
    for (uint32_t bit = log2_size; bit-- > 0;) {
        uint32_t half = 1u << bit;
        for (uint32_t j = 0; j < half; j++)
            state[j] = number_pick(cs, &bits[bit], &state[half + j], &state[j]);
    }
    return state[0];
}

static void run_network(struct cs *cs, struct number *out, uint32_t log2_size,
                        const struct boolean *conditions, const struct number *e,
                        const struct number *siblings)
{
    const struct network_pick *picks = insert_network(log2_size);
    uint32_t count = insert_network_picks(log2_size);
    struct number operands[10];
    uint32_t position = 0, depth = 0; /* picks of this position so far */
    operands[E0] = *e;
    for (uint32_t i = 0; i + 1 < 1u << log2_size; i++)
        operands[X0 + i] = siblings[i];
    for (uint32_t i = 0; i < count; i++) {
        const struct network_pick *p = &picks[i];
        struct number picked =
            number_pick(cs, &conditions[p->condition], &operands[p->yes], &operands[p->no]);
        if (p->out) {
            out[position++] = picked;
            depth = 0;
        } else {
            operands[depth++ == 0 ? T : U] = picked;
        }
    }
}

/* Any power of two: every output position selects among all. */
static void insert_generic(struct cs *cs, struct number *out, const struct number *e,
                           const struct boolean *bits, uint32_t log2_size, const struct number *siblings)
{
    struct number candidates[64];
    uint32_t size = 1u << log2_size;
    for (uint32_t position = 0; position < size; position++) {
        for (uint32_t i = 0; i < size; i++) {
            if (i == position)
                candidates[i] = *e;
            else
                candidates[i] = siblings[i > position ? position : position - 1];
        }
        out[position] = number_select(cs, candidates, bits, log2_size);
    }
}

void number_insert(struct cs *cs, struct number *out, const struct number *e, const struct boolean *bits,
                   uint32_t log2_size, const struct number *siblings)
{
    struct boolean conditions[5];
    CHECK(log2_size >= 1 && log2_size <= 6);
    for (uint32_t i = 0; i < log2_size && i < 3; i++)
        conditions[i] = bits[i];
    if (log2_size == 3) {
        conditions[N] = bit_nor(cs, bits[0], bits[1]);
        conditions[D] = bit_and(cs, bits[0], bits[1]);
    }
    if (log2_size <= 3)
        run_network(cs, out, log2_size, conditions, e, siblings);
    else
        insert_generic(cs, out, e, bits, log2_size, siblings);
}
