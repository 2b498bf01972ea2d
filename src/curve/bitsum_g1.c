/* Sums over set bits in G1: see bitsum_group.h. */
#include "base/mem.h"
#include "curve/batch_affine.h"
#include "curve/msm.h"
#include "curve/slots.h"

#define GROUP                g1
#define FIELD                fp
#define XYZZ_FROM            32 /* accumulators */
#define BITSUM               bitsum_g1
#define BITSUM_SCRATCH_BYTES bitsum_g1_scratch_bytes
#include "curve/bitsum_group.h"
