/* A JSON object written to a file, with members one a line and nested lists: what cuzk fabricate says about
 * the inputs it made. */
#ifndef CUZK_CMD_CUZK_INFO_H
#define CUZK_CMD_CUZK_INFO_H

#include "cuzk/cuzk.h"

#include <stdio.h>

struct info {
    FILE *stream; /* in memory until info_write */
    char *text;
    size_t size;
    bool first; /* no member stands before the next in its object or list */
    int depth;
};
/* False if there is no memory. */
bool info_start(struct info *info);
void info_text(struct info *info, const char *name, const char *value); /* name NULL: an element of a list */
void info_number(struct info *info, const char *name, uint64_t value);
void info_bool(struct info *info, const char *name, bool value);
void info_hex(struct info *info, const char *name, const uint8_t *bytes, size_t size);
void info_open(struct info *info, const char *name, char bracket); /* '[' or '{' */
void info_close(struct info *info, char bracket);                  /* ']' or '}' */
/* Closes the object, writes the file, frees everything. */
enum cuzk_code info_write(struct info *info, const char *path, struct cuzk_error *error);
void info_abandon(struct info *info);

#endif
