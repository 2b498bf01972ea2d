/* Part "witness" of gpu_check: a partition of a circuit expanded and evaluated on the card, beside the CPU's,
 * and timed. */
#ifndef CUZK_BENCH_WITNESS_PART_H
#define CUZK_BENCH_WITNESS_PART_H

#include "base/status.h"

/* fr_rate: multiplications in Fr a second; copy_rate: bytes a second, read and written. compare: with the
 * CPU's witness and rows, which takes memory of four times the domain. *good: whether they are equal. */
MUST_USE struct status witness_part(bool *good, const char *circuit, bool compare, double fr_rate,
                                    double copy_rate);

#endif
