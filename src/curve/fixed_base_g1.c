/* Fixed-base multiplication in G1: see fixed_base_group.h. */
#include "curve/fixed_base.h"
#include "base/mem.h"
#include "curve/batch_affine.h"
#include "curve/digits.h"
#include "curve/fixed_base_window.h"
#include "curve/slots.h"

#define GROUP                  g1
#define FIELD                  fp
#define TASK_SCALARS           ((size_t)4096)
#define FIXED_BASE             fixed_base_g1
#define FIXED_BASE_TABLE_BYTES fixed_base_g1_table_bytes
#define FIXED_BASE_MAKE        fixed_base_g1_make
#define FIXED_BASE_END         fixed_base_g1_end
#define FIXED_BASE_MUL         fixed_base_g1_mul
#include "curve/fixed_base_group.h"
