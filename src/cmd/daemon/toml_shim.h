/* A TOML file as a flat list of keys with their lines: the face in C of a library that is in C++. */
#ifndef CUZK_CMD_DAEMON_TOML_SHIM_H
#define CUZK_CMD_DAEMON_TOML_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum toml_type { TOML_STRING, TOML_INTEGER, TOML_FLOAT, TOML_BOOLEAN, TOML_STRINGS, TOML_OTHER };

struct toml_value {
    char *key; /* "section.key" */
    uint32_t line;
    enum toml_type type;
    char *text; /* TOML_STRING; for TOML_STRINGS the elements, each ended by a zero byte; TOML_OTHER: its kind
                 */
    size_t elements; /* TOML_STRINGS; integers in an array come as their decimal text */
    int64_t integer;
    double number;
    bool boolean;
};

struct toml_file {
    struct toml_value *values; /* in the file's order */
    size_t count;
    char error[256]; /* empty if all is well */
    uint32_t error_line;
};

/* Parses text; false, with error set, if it is no TOML or memory is short. toml_file_end in any case. */
bool toml_file_parse(struct toml_file *out, const char *text, size_t size);
void toml_file_end(struct toml_file *file);

#ifdef __cplusplus
}
#endif

#endif
