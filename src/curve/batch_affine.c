/* Queue handling of batch-affine addition: see batch_affine.h. */
#include "curve/batch_affine.h"

#define GROUP g1
#define FIELD fp
#include "curve/batch_affine_control.h"
#undef GROUP
#undef FIELD

#define GROUP g2
#define FIELD fp2
#include "curve/batch_affine_control.h"
