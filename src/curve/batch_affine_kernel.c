/* The kernels of batch-affine addition, FLAVOURED: see batch_affine.h for what they are for. An addition
 * costs 5M + 1S and about a fifth of that in moving, adding and negating. */
#include "curve/batch_affine.h"

/* out = -a for negate = 1, a for 0, without a branch: signs are random. a is not zero. */
static inline void fp_negate_if(fp *out, const fp *a, uint64_t negate)
{
    uint64_t d[6], mask = 0 - negate;
    limbs_sub(d, FP_MODULUS.l, a->l, 6);
    for (int i = 0; i < 6; i++)
        out->l[i] = (d[i] & mask) | (a->l[i] & ~mask);
}

/* A component may be zero here. */
static inline void fp2_negate_if(fp2 *out, const fp2 *a, uint64_t negate)
{
    fp2 d;
    uint64_t mask = 0 - negate;
    fp2_neg(&d, a);
    for (int i = 0; i < 6; i++) {
        out->c0.l[i] = (d.c0.l[i] & mask) | (a->c0.l[i] & ~mask);
        out->c1.l[i] = (d.c1.l[i] & mask) | (a->c1.l[i] & ~mask);
    }
}

#define GROUP     g1
#define FIELD     fp
#define FIELD_ONE FP_ONE
#include "curve/batch_affine_kernel.h"
#undef GROUP
#undef FIELD
#undef FIELD_ONE

#define GROUP     g2
#define FIELD     fp2
#define FIELD_ONE FP2_ONE
#include "curve/batch_affine_kernel.h"
