/* How a multi-scalar multiplication is cut up: window, chunks, bucket sets. The same for both groups but for
 * a few numbers. Room-internal. */
#ifndef CUZK_CURVE_MSM_PLAN_H
#define CUZK_CURVE_MSM_PLAN_H

#include "curve/digits.h"
#include <stddef.h>

/* Below this many terms XYZZ buckets on the stack are faster than batches, which are too small then. */
#define MSM_SMALL 64

struct msm_plan {
    struct digits_form form;
    size_t buckets; /* in a window: 2^(c-1) */
    size_t chunk;   /* terms of one task */
    unsigned sets;  /* of buckets: chunks worked on at the same time */
    unsigned threads;
    size_t part; /* buckets that one task reduces; a power of two */
};

/* Points of one bucket in a tree: count of them from tree[start]. */
struct msm_run {
    uint32_t bucket, start, count;
};

/* Terms whose digits one task prepares, and how far ahead points are asked for. */
#define PREPARE_TERMS  ((size_t)4096)
#define PREFETCH_TERMS 16

/* n >= 1. task_terms: additions that fill a task, a power of two. */
void msm_plan_make(struct msm_plan *out, size_t n, unsigned threads, size_t task_terms);

#endif
