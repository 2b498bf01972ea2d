/* Values of an insertion: every pick in order, and the children that come of it. Room-internal. */
#ifndef CUZK_GADGET_INSERT_VALUES_H
#define CUZK_GADGET_INSERT_VALUES_H

#include "field/fr.h"
#include "gadget/insert_network.h"

/* The two derived bits of an insertion among 7: neither of the index' low bits, both of them. */
static inline uint32_t insert_derived_bits(uint32_t index)
{
    return (uint32_t)((index & 3) == 0) | (uint32_t)((index & 3) == 3) << 1;
}

static inline void insert_values(fr *picks, fr *children, uint32_t log2_arity, uint32_t index, const fr *node,
                                 const fr *siblings)
{
    const struct network_pick *network = insert_network(log2_arity);
    const fr *operands[10] = {node, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    uint32_t conditions = (index & 7) | insert_derived_bits(index) << N, depth = 0;
    for (uint32_t i = 0; i + 1 < 1u << log2_arity; i++)
        operands[X0 + i] = &siblings[i];
    for (uint32_t i = 0; i < insert_network_picks(log2_arity); i++) {
        const struct network_pick *p = &network[i];
        picks[i] = *operands[(conditions >> p->condition) & 1 ? p->yes : p->no];
        if (p->out) {
            *children++ = picks[i];
            depth = 0;
        } else {
            operands[depth++ == 0 ? T : U] = &picks[i];
        }
    }
}

#endif
