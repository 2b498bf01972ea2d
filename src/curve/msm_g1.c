/* Multi-scalar multiplication in G1: see msm_group.h. */
#include "curve/msm.h"
#include "base/mem.h"
#include "curve/batch_affine.h"
#include "curve/msm_plan.h"
#include "curve/slots.h"

#define GROUP             g1
#define FIELD             fp
#define MSM               msm_g1
#define MSM_INDEXED       msm_g1_indexed
#define MSM_SCRATCH_BYTES msm_g1_scratch_bytes
#include "curve/msm_group.h"
