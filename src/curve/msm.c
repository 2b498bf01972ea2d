/* Plans of multi-scalar multiplications. The work is in msm_group.h.
 *
 * Cost in additions, c bits a window: W (n + 2 * 2^(c-1)), the second term for the sums over the buckets.
 * Windows are few (16 to 50), so more threads than that get bucket sets of their own, each for every other
 * chunk of the terms; a second set is also worth its memory if the windows leave threads idle. */
#include "curve/msm_plan.h"
#include "base/status.h"

#define WINDOW_MAX_BITS 16
#define SETS_MAX        16

static unsigned best_bits(size_t n)
{
    unsigned best = DIGITS_MIN_BITS;
    double best_cost = 0;
    for (unsigned bits = DIGITS_MIN_BITS; bits <= WINDOW_MAX_BITS; bits++) {
        unsigned windows = (FR_BITS + bits - 1) / bits;
        double cost = windows * ((double)n + 2.2 * (double)(1u << (bits - 1)));
        if (bits == DIGITS_MIN_BITS || cost < best_cost) {
            best = bits;
            best_cost = cost;
        }
    }
    return best;
}

/* Bucket sets that keep the threads busy: at least 93 % of them over the rounds of tasks. */
static unsigned choose_sets(unsigned windows, unsigned threads, size_t chunks)
{
    unsigned sets = 1;
    for (; sets < SETS_MAX && sets < chunks; sets++) {
        unsigned tasks = sets * windows, rounds = (tasks + threads - 1) / threads;
        if (100 * tasks >= 93 * rounds * threads)
            break;
    }
    return sets;
}

void msm_plan_make(struct msm_plan *out, size_t n, unsigned threads, size_t task_terms)
{
    digits_form_make(&out->form, best_bits(n));
    out->buckets = (size_t)1 << (out->form.bits - 1);
    /* Small enough that moderate sizes have several, which is what the tests see. */
    out->part = out->buckets < task_terms / 16 ? out->buckets : task_terms / 16;
    out->threads = threads;
    /* With many threads a small problem is cut smaller, but not below the buckets a chunk has to walk over.
     */
    size_t chunks = (n + task_terms - 1) / task_terms, more = n / (out->buckets + MSM_SMALL);
    size_t wanted = (2 * threads + out->form.windows - 1) / out->form.windows;
    if (chunks < wanted)
        chunks = wanted < more ? wanted : more > chunks ? more : chunks;
    out->sets = choose_sets(out->form.windows, threads, chunks);
    size_t steps = (chunks + out->sets - 1) / out->sets;
    out->chunk = (n + steps * out->sets - 1) / (steps * out->sets);
}
