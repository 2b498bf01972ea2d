/* The small texts of gRPC over HTTP/2: codes, timeouts, message escapes, media types. Pure functions. */
#ifndef CUZK_SERVE_GRPC_WIRE_H
#define CUZK_SERVE_GRPC_WIRE_H

#include "base/status.h"
#include <stdint.h>

enum grpc_code {
    GRPC_OK,
    GRPC_CANCELLED,
    GRPC_UNKNOWN,
    GRPC_INVALID_ARGUMENT,
    GRPC_DEADLINE_EXCEEDED,
    GRPC_NOT_FOUND,
    GRPC_ALREADY_EXISTS,
    GRPC_PERMISSION_DENIED,
    GRPC_RESOURCE_EXHAUSTED,
    GRPC_FAILED_PRECONDITION,
    GRPC_ABORTED,
    GRPC_OUT_OF_RANGE,
    GRPC_UNIMPLEMENTED,
    GRPC_INTERNAL,
    GRPC_UNAVAILABLE,
    GRPC_DATA_LOSS,
    GRPC_UNAUTHENTICATED,
    GRPC_CODES
};
const char *grpc_code_name(enum grpc_code code); /* "INVALID_ARGUMENT" */

#define GRPC_TIMEOUT_MAX_MS UINT64_C(3155760000000) /* a hundred years */
/* The value of a grpc-timeout header: one to eight digits and a unit. Milliseconds, rounded up; a value
 * beyond a hundred years counts as that. False for anything else. */
bool grpc_timeout_parse(uint64_t *ms, const uint8_t *text, size_t size);

/* Escapes a message for grpc-message; returns its length. out has room for 3 * size. */
size_t grpc_message_encode(char *out, const char *text, size_t size);

/* application/grpc, bare or followed by +proto or parameters. */
bool grpc_media_type(const uint8_t *text, size_t size);

/* Well-formed UTF-8 as protobuf strings must be; no NUL if !nul. */
bool utf8_valid(const uint8_t *text, size_t size, bool nul);
/* Makes it so in place, by a question mark for every wrong byte. */
void utf8_repair(char *text);

#endif
