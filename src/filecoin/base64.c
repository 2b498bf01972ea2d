/* See base64.h. Four characters at a time through one table; the last group apart. */
#include "filecoin/base64.h"

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(char *out, const uint8_t *data, size_t size)
{
    size_t i = 0;
    for (; i + 3 <= size; i += 3, out += 4) {
        uint32_t v = (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2];
        out[0] = DIGITS[v >> 18];
        out[1] = DIGITS[v >> 12 & 63];
        out[2] = DIGITS[v >> 6 & 63];
        out[3] = DIGITS[v & 63];
    }
    if (i < size) {
        bool two = i + 2 == size;
        uint32_t v = (uint32_t)data[i] << 16 | (two ? (uint32_t)data[i + 1] << 8 : 0);
        out[0] = DIGITS[v >> 18];
        out[1] = DIGITS[v >> 12 & 63];
        out[2] = two ? DIGITS[v >> 6 & 63] : '=';
        out[3] = '=';
    }
}

static void fill_table(uint8_t table[256])
{
    for (int c = 0; c < 256; c++)
        table[c] = 255;
    for (uint8_t d = 0; d < 64; d++)
        table[(uint8_t)DIGITS[d]] = d;
}

/* The last four characters: 1 to 3 bytes; 0 if they are no base64. */
static size_t decode_last(uint8_t *out, const uint8_t *p, const uint8_t table[256])
{
    size_t pads = p[3] == '=' ? (p[2] == '=' ? 2 : 1) : 0;
    uint32_t v = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t d = i >= 4 - pads ? 0 : table[p[i]];
        if (d == 255)
            return 0;
        v = v << 6 | d;
    }
    if (v & ((UINT32_C(1) << (8 * pads)) - 1))
        return 0;
    for (size_t i = 0; i < 3 - pads; i++)
        out[i] = (uint8_t)(v >> (16 - 8 * i));
    return 3 - pads;
}

bool base64_decode(uint8_t *out, size_t *size, const char *text, size_t length, size_t *at)
{
    uint8_t table[256];
    fill_table(table);
    *size = 0;
    *at = length;
    if (length % 4 != 0)
        return false;
    if (length == 0)
        return true;
    const uint8_t *p = (const uint8_t *)text;
    uint8_t *start = out;
    size_t i = 0;
    for (; i + 4 < length; i += 4, out += 3) {
        uint32_t a = table[p[i]], b = table[p[i + 1]], c = table[p[i + 2]], d = table[p[i + 3]];
        if ((a | b | c | d) & 128) {
            *at = i;
            return false;
        }
        uint32_t v = a << 18 | b << 12 | c << 6 | d;
        out[0] = (uint8_t)(v >> 16);
        out[1] = (uint8_t)(v >> 8);
        out[2] = (uint8_t)v;
    }
    size_t last = decode_last(out, p + i, table);
    *at = i;
    *size = (size_t)(out - start) + last;
    return last != 0;
}
