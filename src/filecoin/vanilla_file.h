/* Files of vanilla proofs: a JSON array of base64 strings, as the tools of the network write them, or the
 * bytes of one proof. Which of the two is seen from the bytes: an encoded proof holds zero bytes, a text does
 * not. */
#ifndef CUZK_FILECOIN_VANILLA_FILE_H
#define CUZK_FILECOIN_VANILLA_FILE_H

#include "filecoin/request.h"

struct vanilla_list {
    struct bytes_view *items; /* owned; their bytes are not */
    size_t count, room;
};

/* A text that begins with "[", white space aside. */
bool vanilla_is_text(const uint8_t *data, size_t size);
/* Appends the proof, or every proof of the array; decoded bytes go to out, which must have room for `size`,
 * and *used is advanced. Errors name the place. After an error the list is still to be ended. */
MUST_USE struct status vanilla_append(struct vanilla_list *list, uint8_t *out, size_t *used,
                                      const uint8_t *data, size_t size);
void vanilla_list_end(struct vanilla_list *list);
/* The JSON array; gives *out (mem_free). */
MUST_USE struct status vanilla_write(uint8_t **out, size_t *size, const struct bytes_view *items,
                                     size_t count);

#endif
