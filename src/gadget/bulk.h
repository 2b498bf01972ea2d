/* The parts of this room that multiply much, compiled in both flavours and chosen once per call by the public
 * functions. Room-internal. */
#ifndef CUZK_GADGET_BULK_H
#define CUZK_GADGET_BULK_H

#include "field/flavour.h"
#include "gadget/poseidon.h"

FLAVOUR_DECLARE(void, poseidon_trace_impl,
                (fr * trace, const struct poseidon *p, const fr *tag, const fr *inputs));

#endif
