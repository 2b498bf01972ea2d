/* A text that grows, plain or JSON. Names in JSON are literals of this program; values are escaped, and what
 * is not UTF-8 in them is replaced. The first failed allocation makes all that follows do nothing: look at
 * `failed` once, at the end. */
#ifndef CUZK_SERVE_HTTP_TEXT_H
#define CUZK_SERVE_HTTP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *data; /* mem_alloc; ends with a zero byte */
    size_t used, capacity;
    bool failed, comma;
};

void text_begin(struct text *t, size_t capacity);
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* bracket: '{' or '['. name NULL: an element of an array, or the whole. */
void text_open(struct text *t, const char *name, char bracket);
void text_close(struct text *t, char bracket); /* '}' or ']' */
void text_value(struct text *t, const char *name, const char *value);
void text_number(struct text *t, const char *name, uint64_t value);
void text_seconds(struct text *t, const char *name, uint64_t ms); /* with three decimals */
void text_bool(struct text *t, const char *name, bool value);
void text_null(struct text *t, const char *name);

#endif
