/* See report.h. */
#include "cmd/bench/report.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(const double *sorted, size_t count, double q)
{
    if (count == 0)
        return 0;
    double at = q * (double)(count - 1);
    size_t i = (size_t)at;
    if (i + 1 >= count)
        return sorted[count - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

/* Gaps between the ends, in their order, from number `skip` on. */
static void steady_state(struct figures *f, const double *ends, size_t count, size_t skip)
{
    if (skip == 0 || count <= skip + 1)
        return;
    double sum = 0, squares = 0;
    f->steady_count = count - skip;
    for (size_t i = skip; i < count; i++) {
        double gap = ends[i] - ends[i - 1];
        sum += gap;
        squares += gap * gap;
    }
    double n = (double)f->steady_count;
    f->steady = sum / n;
    f->steady_spread = sqrt(fmax(0, squares / n - f->steady * f->steady));
}

static void add_times(struct figures *f, const struct proof *p)
{
    f->mean += p->ended - p->started;
    f->queue_wait += 1e-3 * (double)p->queue_wait_ms;
    f->srs_load += 1e-3 * (double)p->srs_load_ms;
    f->synthesis += 1e-3 * (double)p->synthesis_ms;
    f->device += 1e-3 * (double)p->gpu_compute_ms;
}

static void divide_times(struct figures *f)
{
    double n = (double)f->completed;
    f->mean /= n;
    f->queue_wait /= n;
    f->srs_load /= n;
    f->synthesis /= n;
    f->device /= n;
    f->per_proof = f->wall / n;
}

bool figures_of(struct figures *out, const struct proof *proofs, size_t count, size_t concurrency)
{
    memset(out, 0, sizeof *out);
    double *values = mem_alloc(2 * count, sizeof *values), *ends = values + count, first = 0, last = 0;
    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct proof *p = &proofs[i];
        if (!p->over)
            continue;
        first = first == 0 || p->started < first ? p->started : first;
        last = p->ended > last ? p->ended : last;
        if (!p->completed) {
            out->failed++;
            continue;
        }
        values[out->completed] = p->ended - p->started;
        ends[out->completed++] = p->ended;
        add_times(out, p);
    }
    out->wall = last - first;
    if (out->completed > 0) {
        qsort(values, out->completed, sizeof *values, ascending);
        qsort(ends, out->completed, sizeof *ends, ascending);
        divide_times(out);
        out->least = values[0];
        out->most = values[out->completed - 1];
        out->p50 = quantile(values, out->completed, 0.5);
        out->p95 = quantile(values, out->completed, 0.95);
        steady_state(out, ends, out->completed, concurrency);
    }
    mem_free(values);
    return true;
}
