/* Selection among numbers by bits, and insertion of a number among its siblings, which is what a Merkle path
 * does at every level. Sizes 2, 4 and 8 have networks of their own with fewer picks than selection would
 * need; they are written as tables because only the order and the operands matter. */
#include "gadget/number.h"

struct number number_select(struct cs *cs, const struct number *from, const struct boolean *bits,
                            uint32_t log2_size)
{
    struct number state[64];
    CHECK(log2_size <= 6);
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

/* One pick of a network: condition, then, else. Operands 0 is the inserted number, 1.. its siblings; T and U
 * the two last results. `out` ends an output position. */
enum { E0, X0, X1, X2, X3, X4, X5, X6, T, U };
enum { B0, B1, B2, N, D };
struct network_pick {
    uint8_t condition, yes, no, out;
};

static const struct network_pick insert_2[] = {{B0, X0, E0, 1}, {B0, E0, X0, 1}};
static const struct network_pick insert_4[] = {
    {B0, X0, E0, 0}, {B1, X0, T, 1}, {B0, E0, X0, 0}, {B1, X1, T, 1},
    {B0, X2, E0, 0}, {B1, T, X1, 1}, {B0, E0, X2, 0}, {B1, T, X2, 1},
};
static const struct network_pick insert_8[] = {
    {N, E0, X0, 0},  {B2, X0, T, 1},                 /* 0 */
    {B0, E0, X0, 0}, {B1, X1, T, 0}, {B2, X1, U, 1}, /* 1 */
    {B0, X2, E0, 0}, {B1, T, X1, 0}, {B2, X2, U, 1}, /* 2 */
    {D, E0, X2, 0},  {B2, X3, T, 1},                 /* 3 */
    {N, E0, X4, 0},  {B2, T, X3, 1},                 /* 4 */
    {B0, E0, X4, 0}, {B1, X5, T, 0}, {B2, U, X4, 1}, /* 5 */
    {B0, X6, E0, 0}, {B1, T, X5, 0}, {B2, U, X5, 1}, /* 6 */
    {D, E0, X6, 0},  {B2, T, X6, 1},                 /* 7 */
};

static void run_network(struct cs *cs, struct number *out, const struct network_pick *picks, uint32_t count,
                        const struct boolean *conditions, const struct number *e,
                        const struct number *siblings)
{
    struct number operands[10];
    uint32_t position = 0, depth = 0; /* picks of this position so far */
    operands[E0] = *e;
    for (uint32_t i = 0; i < count; i++) {
        const struct network_pick *p = &picks[i];
        for (int side = 0; side < 2; side++) {
            uint8_t operand = side ? p->no : p->yes;
            if (operand >= X0 && operand <= X6)
                operands[operand] = siblings[operand - X0];
        }
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
    switch (log2_size) {
    case 1:
        run_network(cs, out, insert_2, 2, conditions, e, siblings);
        break;
    case 2:
        run_network(cs, out, insert_4, 8, conditions, e, siblings);
        break;
    case 3:
        conditions[N] = bit_nor(cs, bits[0], bits[1]);
        conditions[D] = bit_and(cs, bits[0], bits[1]);
        run_network(cs, out, insert_8, sizeof insert_8 / sizeof insert_8[0], conditions, e, siblings);
        break;
    default:
        insert_generic(cs, out, e, bits, log2_size, siblings);
    }
}
