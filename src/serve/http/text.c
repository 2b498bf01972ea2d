/* See text.h. */
#include "serve/http/text.h"

#include "base/mem.h"
#include "serve/grpc/wire.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define VALUE_MAX 1024 /* longer values are cut */

void text_begin(struct text *t, size_t capacity)
{
    *t = (struct text){.capacity = capacity};
    t->data = mem_alloc_zero(capacity, 1);
    t->failed = t->data == NULL;
}

/* Room for `size` bytes and the zero byte. */
static bool grow(struct text *t, size_t size)
{
    if (t->failed)
        return false;
    if (size < t->capacity - t->used)
        return true;
    size_t capacity = 2 * t->capacity + size;
    char *grown = mem_grow(t->data, t->capacity, capacity, 1);
    if (grown == NULL) {
        t->failed = true;
        return false;
    }
    t->data = grown;
    t->capacity = capacity;
    return true;
}

static void put(struct text *t, const char *bytes, size_t size)
{
    if (!grow(t, size))
        return;
    memcpy(t->data + t->used, bytes, size);
    t->used += size;
    t->data[t->used] = 0;
}

void text_add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (n < 0 || !grow(t, (size_t)n))
        return;
    va_start(list, format);
    vsnprintf(t->data + t->used, t->capacity - t->used, format, list);
    va_end(list);
    t->used += (size_t)n;
}

/* ---- JSON ---- */

static void put_value(struct text *t, const char *value)
{
    char text[VALUE_MAX], out[6 * VALUE_MAX + 3];
    size_t n = 0;
    snprintf(text, sizeof text, "%s", value);
    utf8_repair(text);
    out[n++] = '"';
    for (const char *c = text; *c != 0; c++) {
        if (*c == '"' || *c == '\\') {
            out[n++] = '\\';
            out[n++] = *c;
        } else if ((unsigned char)*c < 0x20) {
            n += (size_t)snprintf(out + n, 7, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            out[n++] = *c;
        }
    }
    out[n++] = '"';
    put(t, out, n);
}

/* The comma and the name before a value. */
static void lead(struct text *t, const char *name)
{
    if (t->comma)
        put(t, ",", 1);
    t->comma = true;
    if (name != NULL)
        text_add(t, "\"%s\":", name);
}

void text_open(struct text *t, const char *name, char bracket)
{
    lead(t, name);
    put(t, &bracket, 1);
    t->comma = false;
}

void text_close(struct text *t, char bracket)
{
    put(t, &bracket, 1);
    t->comma = true;
}

void text_value(struct text *t, const char *name, const char *value)
{
    lead(t, name);
    put_value(t, value);
}

void text_number(struct text *t, const char *name, uint64_t value)
{
    lead(t, name);
    text_add(t, "%" PRIu64, value);
}

void text_seconds(struct text *t, const char *name, uint64_t ms)
{
    lead(t, name);
    text_add(t, "%" PRIu64 ".%03u", ms / 1000, (unsigned)(ms % 1000));
}

void text_bool(struct text *t, const char *name, bool value)
{
    lead(t, name);
    text_add(t, "%s", value ? "true" : "false");
}

void text_null(struct text *t, const char *name)
{
    lead(t, name);
    put(t, "null", 4);
}
