/* Point encodings as hostile input: the first byte chooses the form. What decodes lies on the curve and
 * encodes to the very same bytes; what does not leaves infinity; the subgroup test only ever refuses more. */
#include "curve/encoding.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

#define TRY_FORM(g, form, SIZE)                                                                              \
    do {                                                                                                     \
        uint8_t again[SIZE];                                                                                 \
        g##_affine a, b;                                                                                     \
        if (size < 1 + (SIZE))                                                                               \
            return 0;                                                                                        \
        enum point_error error = g##_from_##form(&a, data + 1, false);                                       \
        enum point_error strict = g##_from_##form(&b, data + 1, true);                                       \
        check(error == POINT_OK || g##_affine_is_infinity(&a));                                              \
        check(strict == error || (error == POINT_OK && strict == POINT_SUBGROUP));                           \
        check(strict != POINT_SUBGROUP || g##_affine_is_infinity(&b));                                       \
        if (error != POINT_OK)                                                                               \
            return 0;                                                                                        \
        check(g##_affine_on_curve(&a));                                                                      \
        g##_to_##form(again, &a);                                                                            \
        check(memcmp(again, data + 1, SIZE) == 0);                                                           \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (data[0] & 3) {
    case 0:
        TRY_FORM(g1, uncompressed, 96);
        break;
    case 1:
        TRY_FORM(g2, uncompressed, 192);
        break;
    case 2:
        TRY_FORM(g1, compressed, 48);
        break;
    default:
        TRY_FORM(g2, compressed, 96);
    }
    return 0;
}
