/* See nearest.h. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_COMPARED 64

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

size_t name_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_COMPARED], n = strlen(a), m = strlen(b);
    if (n >= NAME_MAX_COMPARED || m >= NAME_MAX_COMPARED)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t next = smallest(row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = row[j];
            row[j] = next;
        }
    }
    return row[m];
}

const char *name_nearest(const char *text, const char *const *first, size_t count, size_t stride)
{
    size_t limit = strlen(text) / 2 + 1, best = limit < 4 ? limit : 4;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)(const void *)((const char *)first + i * stride);
        size_t d = name_distance(text, name);
        if (d < best) {
            best = d;
            nearest = name;
        }
    }
    return nearest;
}
