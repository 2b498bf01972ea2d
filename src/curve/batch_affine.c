/* Queue handling of batch-affine addition: see batch_affine.h. */
#include "curve/batch_affine.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUZK_X86_64
bool batch_x8_in_force(void)
{
    static atomic_int known; /* 0: not asked yet, 1: no, 2: yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        const char *wish = getenv("CUZK_CPU");
        bool yes = flavour_in_force() == FLAVOUR_ADX && !(wish && strcmp(wish, "adx") == 0) &&
                   __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi2");
        answer = yes ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}
#endif

/* An addition in G1 takes 0.1 us with AVX-512, 0.3 with scalar assembly, 0.65 in portable C. Larger tasks are
 * slower with the first: their points leave the cache. */
size_t g1_batch_task_sums(void)
{
    return (size_t)1 << (flavour_in_force() == FLAVOUR_ADX ? 15 : 14);
}

size_t g2_batch_task_sums(void)
{
    return g1_batch_task_sums() / 4;
}

#define GROUP g1
#define FIELD fp
#include "curve/batch_affine_control.h"
#undef GROUP
#undef FIELD

#define GROUP g2
#define FIELD fp2
#include "curve/batch_affine_control.h"
