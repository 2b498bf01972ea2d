/* Signed digits of scalars: choice of the constant K, counting sort. See digits.h. */
#include "curve/digits.h"
#include "base/status.h"
#include <string.h>

void digits_form_make(struct digits_form *out, unsigned bits)
{
    CHECK(bits >= DIGITS_MIN_BITS && bits <= DIGITS_MAX_BITS);
    *out = (struct digits_form){.bits = bits, .windows = (FR_BITS + bits - 1) / bits};
    for (unsigned window = 0; window + 1 < out->windows; window++) {
        unsigned bit = window * bits + bits - 1;
        out->offset[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
}

void digits_from_fr(digits_scalar *out, const fr *scalars, size_t n, const struct digits_form *form)
{
    FLAVOUR_CALL(digits_from_fr_impl, out, scalars, n, form);
}

/* Two passes; a key is kept from the first for the second, so that bits are cut out once. */
void digits_sort(uint32_t *order, uint32_t *end, uint32_t *keys, const digits_scalar *scalars, size_t n,
                 const struct digits_form *form, unsigned window)
{
    size_t magnitudes = (size_t)1 << (form->bits - 1);
    memset(end, 0, magnitudes * sizeof *end);
    for (size_t i = 0; i < n; i++) {
        keys[i] = digits_get(&scalars[i], form, window);
        if (keys[i] > 1)
            end[(keys[i] >> 1) - 1]++;
    }
    uint32_t sum = 0;
    for (size_t m = 0; m < magnitudes; m++) {
        uint32_t count = end[m];
        end[m] = sum; /* where magnitude m + 1 begins; moves to where it ends */
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        if (keys[i] > 1)
            order[end[(keys[i] >> 1) - 1]++] = (uint32_t)i << 1 | (keys[i] & 1);
}
