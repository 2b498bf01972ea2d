/* Queue handling of batch-affine addition: see batch_affine.h. */
#include "curve/batch_affine.h"

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
