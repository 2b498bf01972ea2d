/* See wire.h. */
#include "serve/grpc/wire.h"

#include <string.h>

const char *grpc_code_name(enum grpc_code code)
{
    static const char *const names[GRPC_CODES] = {
        "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED",
    };
    return (unsigned)code < GRPC_CODES ? names[code] : "unknown code";
}

bool grpc_timeout_parse(uint64_t *ms, const uint8_t *text, size_t size)
{
    if (size < 2 || size > 9)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    switch (text[size - 1]) {
    case 'H':
        value *= 3600000;
        break;
    case 'M':
        value *= 60000;
        break;
    case 'S':
        value *= 1000;
        break;
    case 'm':
        break;
    case 'u':
        value = (value + 999) / 1000;
        break;
    case 'n':
        value = (value + 999999) / 1000000;
        break;
    default:
        return false;
    }
    *ms = value < GRPC_TIMEOUT_MAX_MS ? value : GRPC_TIMEOUT_MAX_MS;
    return true;
}

size_t grpc_message_encode(char *out, const char *text, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        bool edge = i == 0 || i + 1 == size; /* a header's value neither begins nor ends with a space */
        if (c >= 0x20 && c <= 0x7e && c != '%' && !(c == ' ' && edge)) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = digits[c >> 4];
            out[n++] = digits[c & 15];
        }
    }
    return n;
}

bool grpc_media_type(const uint8_t *text, size_t size)
{
    static const char base[] = "application/grpc", proto[] = "+proto";
    if (size < sizeof base - 1 || memcmp(text, base, sizeof base - 1) != 0)
        return false;
    text += sizeof base - 1;
    size -= sizeof base - 1;
    if (size >= sizeof proto - 1 && memcmp(text, proto, sizeof proto - 1) == 0) {
        text += sizeof proto - 1;
        size -= sizeof proto - 1;
    }
    return size == 0 || text[0] == ';' || text[0] == ' ';
}

/* Bytes of the well-formed sequence at text, 0 if there is none. */
static size_t utf8_length(const uint8_t *text, size_t size)
{
    uint8_t c = text[0];
    size_t more;
    uint32_t value, least;
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf) {
        more = 1, value = c & 0x1fu, least = 0x80;
    } else if (c >= 0xe0 && c <= 0xef) {
        more = 2, value = c & 0x0fu, least = 0x800;
    } else if (c >= 0xf0 && c <= 0xf4) {
        more = 3, value = c & 0x07u, least = 0x10000;
    } else {
        return 0;
    }
    if (size <= more)
        return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    return more + 1;
}

bool utf8_valid(const uint8_t *text, size_t size, bool nul)
{
    for (size_t i = 0; i < size;) {
        size_t n = utf8_length(text + i, size - i);
        if (n == 0 || (text[i] == 0 && !nul))
            return false;
        i += n;
    }
    return true;
}

void utf8_repair(char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size;) {
        size_t n = utf8_length((const uint8_t *)text + i, size - i);
        if (n == 0) {
            text[i] = '?';
            n = 1;
        }
        i += n;
    }
}
