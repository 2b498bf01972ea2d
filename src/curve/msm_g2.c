/* Multi-scalar multiplication in G2: see msm_group.h. */
#include "curve/msm.h"
#include "base/mem.h"
#include "curve/batch_affine.h"
#include "curve/msm_plan.h"
#include "curve/slots.h"

#define GROUP             g2
#define FIELD             fp2
#define MSM               msm_g2
#define MSM_INDEXED       msm_g2_indexed
#define MSM_SCRATCH_BYTES msm_g2_scratch_bytes
#include "curve/msm_group.h"
