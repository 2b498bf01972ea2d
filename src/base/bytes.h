/* Integers in byte strings, and a cursor over bytes from outside.
 *
 * A cursor never reads past its end: a read that would sets `failed` and gives zeros, as do all reads after
 * it, so that a parser may read a whole record and look once. Lengths and counts that come out of a cursor
 * are as hostile as the bytes: compare them with cursor_left() before allocating. */
#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(v) : v;
}

static inline uint32_t load_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
}

static inline uint64_t load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static inline uint16_t load_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline void store_be32(uint8_t *p, uint32_t v)
{
    v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
    v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_be64(uint8_t *p, uint64_t v)
{
    v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
    memcpy(p, &v, sizeof v);
}

static inline void store_le64(uint8_t *p, uint64_t v)
{
    v = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

struct cursor {
    const uint8_t *data;
    size_t size, position; /* position <= size */
    bool failed;
};

static inline struct cursor cursor_over(const uint8_t *data, size_t size)
{
    return (struct cursor){data, size, 0, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return c->failed ? 0 : c->size - c->position;
}

/* The next n bytes, borrowed from the data; NULL, and the cursor failed, if there are fewer. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
    if (c->failed || n > c->size - c->position) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->data + c->position;
    c->position += n;
    return p;
}

/* count records of size bytes each, safe against overflow of the product. */
static inline const uint8_t *cursor_take_array(struct cursor *c, uint64_t count, size_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, (uint64_t)size, &bytes) || bytes > SIZE_MAX) {
        c->failed = true;
        return NULL;
    }
    return cursor_take(c, (size_t)bytes);
}

/* Copies n bytes; zeros if there are fewer. */
static inline void cursor_copy(struct cursor *c, void *out, size_t n)
{
    const uint8_t *p = cursor_take(c, n);
    if (p)
        memcpy(out, p, n);
    else
        memset(out, 0, n);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}

static inline uint16_t cursor_le16(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);
    return p ? load_le16(p) : 0;
}

static inline uint32_t cursor_be32(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    return p ? load_be32(p) : 0;
}

static inline uint32_t cursor_le32(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    return p ? load_le32(p) : 0;
}

static inline uint64_t cursor_be64(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 8);
    return p ? load_be64(p) : 0;
}

static inline uint64_t cursor_le64(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 8);
    return p ? load_le64(p) : 0;
}

#endif
