/* Reading JSON forward, without a tree, by simdjson On-Demand (json_shim.cc, the room's only C++). The
 * caller pulls: it stands at a value and enters it, takes it or skips it. No exception leaves the shim; a
 * failed allocation inside simdjson is JSON_MEMORY.
 *
 * Memory while open (simdjson's own, not base/mem.h): 4 bytes per input byte for the structural index and
 * 5/3 per input byte for strings, both only touched as far as used: about 2.6 bytes per byte of C1 output. */
#ifndef CUZK_FILECOIN_JSON_SHIM_H
#define CUZK_FILECOIN_JSON_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JSON_PADDING   64 /* bytes after the text that must be readable, whatever they hold */
#define JSON_DEPTH_MAX 40

enum json_result {
    JSON_OK,
    JSON_END,    /* the object or array entered last has no more members; it is left */
    JSON_TYPE,   /* a value of another type stands here */
    JSON_RANGE,  /* a number that is no whole number, or too large */
    JSON_LENGTH, /* an array of another length */
    JSON_SYNTAX, /* not JSON, or cut short */
    JSON_DEPTH,
    JSON_MEMORY,
};

enum json_type { JSON_IS_OBJECT, JSON_IS_ARRAY, JSON_IS_STRING, JSON_IS_OTHER };

struct json;

/* The text is borrowed until json_close. The root must be an object. */
enum json_result json_open(struct json **out, const uint8_t *text, size_t size);
void json_close(struct json *j); /* NULL allowed */
/* After the root object has ended: nothing but white space may follow. */
enum json_result json_finish(struct json *j);

enum json_result json_enter_object(struct json *j);
enum json_result json_enter_array(struct json *j);
/* The next member; the reader then stands at its value. The key is borrowed until the next call. */
enum json_result json_next_key(struct json *j, const char **key, size_t *length);
enum json_result json_next_element(struct json *j);

enum json_result json_what(struct json *j, enum json_type *type);
enum json_result json_u64(struct json *j, uint64_t *out);
enum json_result json_string(struct json *j, const char **text, size_t *length);
/* An array of exactly `count` numbers below 256. Otherwise *at is the number of elements that were good. */
enum json_result json_bytes(struct json *j, uint8_t *out, size_t count, size_t *at);
/* Any scalar (number, true, false, null, string), checked and dropped. */
enum json_result json_scalar(struct json *j);

#ifdef __cplusplus
}
#endif

#endif
