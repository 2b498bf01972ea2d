/* The nearest of a list of names to a mistyped one: for errors that suggest what was meant. */
#ifndef CUZK_BASE_NEAREST_H
#define CUZK_BASE_NEAREST_H

#include <stddef.h>

/* Levenshtein distance; names of 64 characters or more are infinitely far. */
size_t name_distance(const char *a, const char *b);
/* The nearest name at a distance below 4 and below half the text's length plus one, or NULL. Names are read
 * from `first` in steps of `stride` bytes: a member of an array of structs. */
const char *name_nearest(const char *text, const char *const *first, size_t count, size_t stride);

#endif
