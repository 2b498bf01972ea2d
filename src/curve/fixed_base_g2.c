/* Fixed-base multiplication in G2: see fixed_base_group.h. */
#include "curve/fixed_base.h"
#include "base/mem.h"
#include "curve/batch_affine.h"
#include "curve/digits.h"
#include "curve/fixed_base_window.h"
#include "curve/slots.h"

#define GROUP                  g2
#define FIELD                  fp2
#define TASK_SCALARS           ((size_t)1024)
#define FIXED_BASE             fixed_base_g2
#define FIXED_BASE_TABLE_BYTES fixed_base_g2_table_bytes
#define FIXED_BASE_MAKE        fixed_base_g2_make
#define FIXED_BASE_END         fixed_base_g2_end
#define FIXED_BASE_MUL         fixed_base_g2_mul
#include "curve/fixed_base_group.h"
