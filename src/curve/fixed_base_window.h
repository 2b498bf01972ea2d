/* The window of fixed-base multiplication. Room-internal. */
#ifndef CUZK_CURVE_FIXED_BASE_WINDOW_H
#define CUZK_CURVE_FIXED_BASE_WINDOW_H

#include "field/fr.h"
#include <stddef.h>

#define FIXED_BASE_BITS_MIN 4

/* Table entries one task computes, and how far ahead entries are asked for. */
#define TASK_MULTIPLES   ((size_t)8192)
#define PREFETCH_ENTRIES 16

/* Additions: W (n + 2^(c-1)). Beyond c = 17 (94 MB in G1) the table outgrows what it saves. */
static inline unsigned fixed_base_choose_bits(size_t n)
{
    unsigned best = FIXED_BASE_BITS_MIN;
    double best_cost = 0;
    for (unsigned bits = FIXED_BASE_BITS_MIN; bits <= 17; bits++) {
        double cost = ((FR_BITS + bits - 1) / bits) * ((double)n + (double)(1u << (bits - 1)));
        if (bits == FIXED_BASE_BITS_MIN || cost < best_cost) {
            best = bits;
            best_cost = cost;
        }
    }
    return best;
}

#endif
