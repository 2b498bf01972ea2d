/* Reading C1 outputs of any bytes: no crash, no leak, no read beyond the text and its padding; what is
 * accepted can be written, read again and written to the same bytes, and its check ends.
 *
 * Seeds: fuzz/corpus/c1_fuzz, the real outputs of tests/data/porep-2k. The last input byte also fills the
 * padding. */
#include "base/mem.h"
#include "filecoin/c1.h"
#include "filecoin/public.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *padded(const uint8_t *data, size_t size, uint8_t padding)
{
    uint8_t *text = malloc(size + C1_PADDING); /* exact, so that the sanitizer sees what lies behind */
    CHECK(text);
    memcpy(text, data, size);
    memset(text + size, padding, C1_PADDING);
    return text;
}

static void accepted(const struct c1 *c1)
{
    struct c1 again;
    struct porep_public public;
    uint8_t *first, *second;
    size_t first_size, second_size;
    struct status s = c1_write(&first, &first_size, c1, c1->wrapped);
    CHECK(!status_failed(&s));
    uint8_t *text = padded(first, first_size, 0);
    s = c1_parse(&again, text, first_size);
    CHECK(!status_failed(&s));
    s = c1_write(&second, &second_size, &again, again.wrapped);
    CHECK(!status_failed(&s));
    CHECK(first_size == second_size && memcmp(first, second, first_size) == 0);
    s = porep_public_from_c1(&public, c1);
    if (!status_failed(&s)) {
        s = porep_check_inputs(&public, c1, 0);
        CHECK(s.code == STATUS_OK || s.code == STATUS_INVALID);
    }
    c1_end(&again);
    mem_free(first);
    mem_free(second);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct c1 c1;
    size_t used = mem_used();
    uint8_t *text = padded(data, size, size ? data[size - 1] : 0);
    struct status s = c1_parse(&c1, text, size);
    if (!status_failed(&s)) {
        accepted(&c1);
        c1_end(&c1);
    }
    free(text);
    CHECK(mem_used() == used);
    return 0;
}
