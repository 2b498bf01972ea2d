/* Standard base64 with padding (RFC 4648, section 4), strict: no white space, no missing padding, no stray
 * bits. */
#ifndef CUZK_FILECOIN_BASE64_H
#define CUZK_FILECOIN_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t base64_encoded_size(size_t size)
{
    return (size + 2) / 3 * 4;
}

/* No zero byte is added. */
void base64_encode(char *out, const uint8_t *data, size_t size);
/* out holds length / 4 * 3 bytes. False, with the place of the offence in *at, if the text is not base64. */
bool base64_decode(uint8_t *out, size_t *size, const char *text, size_t length, size_t *at);

#endif
