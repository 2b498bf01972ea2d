/* How a transform is split into passes and a pass into tasks; the same for every form of the arithmetic.
 * Room-internal; poly/ntt_core.c explains the passes. */
#ifndef CUZK_POLY_NTT_PLAN_H
#define CUZK_POLY_NTT_PLAN_H

#include "poly/ntt_core.h"

#define TASK_ELEMENTS ((size_t)1 << 11)

struct pass {
    const struct ntt_job *job;
    unsigned high, low;     /* a strided pass does bits low .. high - 1 of the index */
    size_t per_task, total; /* tiles or blocks */
};

static inline unsigned plan_strided_passes(const struct domain *domain)
{
    unsigned most = domain->pass_log2;
    return (domain->log2_size - domain->block_log2 + most - 1) / most;
}

/* Runs a pass of pieces of `size` elements. */
static inline bool plan_run(struct pass pass, pool_task *task, size_t size)
{
    pass.per_task = size < TASK_ELEMENTS ? TASK_ELEMENTS / size : 1;
    pass.total = pass.job->domain->size / size;
    return pool_run(pass.job->work, task, &pass, (pass.total + pass.per_task - 1) / pass.per_task);
}

/* The strided passes share the bits above the block as evenly as possible. Runs pass p in tiles of `width`
 * columns. */
static inline bool plan_run_strided(const struct ntt_job *job, unsigned p, pool_task *task, size_t width)
{
    unsigned passes = plan_strided_passes(job->domain), top = job->domain->log2_size;
    unsigned bits = top - job->domain->block_log2;
    struct pass pass = {.job = job,
                        .high = top - (bits * p + passes - 1) / passes,
                        .low = top - (bits * (p + 1) + passes - 1) / passes};
    return plan_run(pass, task, width << (pass.high - pass.low));
}

/* Strided passes, then blocks. */
static inline bool plan_frequency(const struct ntt_job *job, pool_task *strided, pool_task *block,
                                  size_t width)
{
    unsigned passes = plan_strided_passes(job->domain);
    for (unsigned p = 0; p < passes; p++)
        if (!plan_run_strided(job, p, strided, width))
            return false;
    return plan_run((struct pass){.job = job}, block, (size_t)1 << job->domain->block_log2);
}

/* Blocks, then strided passes. */
static inline bool plan_time(const struct ntt_job *job, pool_task *strided, pool_task *block, size_t width)
{
    if (!plan_run((struct pass){.job = job}, block, (size_t)1 << job->domain->block_log2))
        return false;
    for (unsigned p = plan_strided_passes(job->domain); p-- > 0;)
        if (!plan_run_strided(job, p, strided, width))
            return false;
    return true;
}

/* Where tile number `tile` of a strided pass begins: *column of its block, and the index of its corner. */
static inline size_t plan_tile(const struct pass *pass, size_t tile, size_t width, size_t *column)
{
    size_t columns = (size_t)1 << pass->low;
    *column = tile * width % columns;
    return (tile * width / columns << pass->high) + *column;
}

/* Defines a task that calls function(pass, i) for its share of the pieces. */
#define PLAN_TASK(name, function)                                                                            \
    static void name(void *context, size_t task)                                                             \
    {                                                                                                        \
        const struct pass *pass = context;                                                                   \
        size_t first = task * pass->per_task, end = first + pass->per_task;                                  \
        for (size_t i = first; i < end && i < pass->total; i++)                                              \
            function(pass, i);                                                                               \
    }

#endif
