/* Expand functions by name, for the table in expanders.c. Room-internal. */
#ifndef CUZK_GADGET_EXPAND_H
#define CUZK_GADGET_EXPAND_H

#include "field/flavour.h"
#include "r1cs/template.h"

void expand_sha256_block(const struct expansion *x);
FLAVOUR_DECLARE(void, expand_poseidon, (const struct expansion *x));
FLAVOUR_DECLARE(void, expand_path_element, (const struct expansion *x));
FLAVOUR_DECLARE(void, expand_to_bits, (const struct expansion *x));
FLAVOUR_DECLARE(void, expand_sha_path_head, (const struct expansion *x));
FLAVOUR_DECLARE(void, expand_pack, (const struct expansion *x));
FLAVOUR_DECLARE(void, expand_mul, (const struct expansion *x));
FLAVOUR_DECLARE(void, expand_scale_add, (const struct expansion *x));

#endif
