/* Scalars out of Montgomery form, FLAVOURED: one multiplication each. See digits.h. */
#include "curve/digits.h"

void FLAVOUR(digits_from_fr_impl)(digits_scalar *out, const fr *scalars, size_t n,
                                  const struct digits_form *form)
{
    for (size_t i = 0; i < n; i++) {
        fr_int s;
        uint64_t negated[4];
        fr_to_int(&s, &scalars[i]);
        limbs_sub(negated, FR_MODULUS.l, s.l, 4);
        uint64_t sign = limbs_less(negated, s.l, 4);
        for (int k = 0; k < 4; k++)
            s.l[k] = (s.l[k] & (sign - 1)) | (negated[k] & (0 - sign));
        limbs_add(out[i].l, s.l, form->offset, 4);
        out[i].l[3] |= sign << 63;
    }
}
