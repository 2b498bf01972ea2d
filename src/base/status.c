/* Text of operating errors, and the abort behind CHECK().
 *
 * All texts have fixed room, so that an error about a lack of memory needs none. A text that does not fit
 * ends in "...", which shows the reader that it was cut. */
#include "base/status.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void format_into(char *out, size_t room, const char *format, va_list arguments)
{
    int length = vsnprintf(out, room, format, arguments);
    if (length < 0)
        out[0] = 0;
    else if ((size_t)length >= room)
        memcpy(out + room - 4, "...", 4);
}

struct status status_error(enum status_code code, const char *format, ...)
{
    CHECK(code != STATUS_OK);
    struct status s = status_ok();
    s.code = code;
    va_list arguments;
    va_start(arguments, format);
    format_into(s.message, sizeof s.message, format, arguments);
    va_end(arguments);
    return s;
}

struct status status_detail(struct status s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_into(s.detail, sizeof s.detail, format, arguments);
    va_end(arguments);
    return s;
}

struct status status_hint(struct status s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_into(s.hint, sizeof s.hint, format, arguments);
    va_end(arguments);
    return s;
}

struct status status_within(struct status s, const char *format, ...)
{
    char joined[2 * sizeof s.message + 2], prefix[sizeof s.message];
    va_list arguments;
    va_start(arguments, format);
    format_into(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    size_t length = (size_t)snprintf(joined, sizeof joined, "%s: %s", prefix, s.message);
    if (length >= sizeof s.message)
        memcpy(joined + sizeof s.message - 4, "...", 4);
    memcpy(s.message, joined, length < sizeof s.message ? length + 1 : sizeof s.message);
    return s;
}

const char *status_code_name(enum status_code code)
{
    switch (code) {
    case STATUS_OK:
        return "ok";
    case STATUS_INVALID:
        return "invalid";
    case STATUS_MISSING:
        return "missing";
    case STATUS_IO:
        return "io";
    case STATUS_MEMORY:
        return "memory";
    case STATUS_CANCELLED:
        return "cancelled";
    case STATUS_UNTRUSTED:
        return "untrusted";
    case STATUS_REJECTED:
        return "rejected";
    case STATUS_DEVICE:
        return "device";
    case STATUS_UNSUPPORTED:
        return "unsupported";
    case STATUS_BUSY:
        return "busy";
    }
    return "unknown";
}

void check_failed(const char *file, int line, const char *text)
{
    fprintf(stderr, "cuzk: %s:%d: broken contract: %s\n", file, line, text);
    abort();
}
