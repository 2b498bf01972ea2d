/* Timed loops over the inline operations, compiled once per flavour (field_loops.c). */
#ifndef CUZK_BENCH_FIELD_LOOPS_H
#define CUZK_BENCH_FIELD_LOOPS_H

#include "field/flavour.h"
#include <stddef.h>

struct field_loop {
    const char *name;
    void (*chain)(size_t n);       /* n operations, each on the result of the one before */
    void (*independent)(size_t n); /* n operations in eight independent streams; NULL if it makes no sense */
};

FLAVOUR_DECLARE(const struct field_loop *, field_loops, (size_t * count));

#endif
