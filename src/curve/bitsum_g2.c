/* Sums over set bits in G2: see bitsum_group.h. */
#include "base/mem.h"
#include "curve/batch_affine.h"
#include "curve/msm.h"
#include "curve/slots.h"

#define GROUP                g2
#define FIELD                fp2
#define XYZZ_FROM            32 /* accumulators */
#define BITSUM               bitsum_g2
#define BITSUM_SCRATCH_BYTES bitsum_g2_scratch_bytes
#include "curve/bitsum_group.h"
