/* The kernels of batch-affine addition with AVX-512 IFMA, for processors that have it: an addition takes a
 * third of the time of the scalar kernel. Compiled with the instructions enabled; batch_affine.c asks the
 * processor before it calls anything here. The other kernels are the oracle in the tests. */
#include "curve/batch_affine.h"
#include "curve/fp_x8.h"

static inline void fp_scale(fp *out, const fp *a, const fp *b)
{
    fp_mul(out, a, b);
}

static inline void fp2_scale(fp2 *out, const fp2 *a, const fp *b)
{
    fp2_mul_fp(out, a, b);
}

#define GROUP  g1
#define FIELD  fp
#define DEGREE 1
#define FIELD_SMALL_ONE                                                                                      \
    {                                                                                                        \
        {                                                                                                    \
            1                                                                                                \
        }                                                                                                    \
    }
#include "curve/batch_affine_x8_kernel.h"
#undef GROUP
#undef FIELD
#undef DEGREE
#undef FIELD_SMALL_ONE

#define GROUP  g2
#define FIELD  fp2
#define DEGREE 2
#define FIELD_SMALL_ONE                                                                                      \
    {                                                                                                        \
        {{1}},                                                                                               \
        {                                                                                                    \
            {                                                                                                \
                0                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }
#include "curve/batch_affine_x8_kernel.h"
