/* Operating errors. A function that can fail returns a `struct status` by value: a code for programs, and
 * three texts for people: what failed and with which file or value; the detail; what to do. No library
 * room prints, sets errno or keeps an error elsewhere. Broken contracts abort through CHECK(). */
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

enum status_code {
    STATUS_OK = 0,
    STATUS_INVALID,   /* input breaks a rule: format, range, encoding, vanilla check */
    STATUS_MISSING,   /* a file or thing that should exist does not */
    STATUS_IO,        /* read, write, sync or map failed */
    STATUS_MEMORY,    /* allocation or reservation refused */
    STATUS_CANCELLED, /* the caller's cancel flag was seen */
    STATUS_UNTRUSTED, /* digest not trusted, test parameters not admitted */
    STATUS_REJECTED,  /* a proof that does not verify */
    STATUS_DEVICE,    /* a device failed or is lost */
    STATUS_UNSUPPORTED,
    STATUS_BUSY, /* not now: a queue or a budget is full; later it may work */
};

struct status {
    enum status_code code;
    char message[240];
    char detail[240];
    char hint[160];
};

#define MUST_USE __attribute__((warn_unused_result))

/* A status with the given code and printf-formatted message, empty detail and hint. */
struct status status_error(enum status_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* The same status with detail or hint set (printf). */
struct status status_detail(struct status s, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
struct status status_hint(struct status s, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
/* "prefix: message", for callers that know where they are (a path, a partition, a challenge). */
struct status status_within(struct status s, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
const char *status_code_name(enum status_code code);

static inline struct status status_ok(void)
{
    struct status s;
    s.code = STATUS_OK;
    s.message[0] = s.detail[0] = s.hint[0] = 0;
    return s;
}

static inline bool status_failed(const struct status *s)
{
    return s->code != STATUS_OK;
}

/* Returns from the calling function if the expression is an error. */
#define TRY(expression)                                                                                      \
    do {                                                                                                     \
        struct status try_status_ = (expression);                                                            \
        if (__builtin_expect(try_status_.code != STATUS_OK, 0))                                              \
            return try_status_;                                                                              \
    } while (0)

/* Stores the status in the local variable `s` and goes to `out` if it is an error. */
#define TRY_OUT(expression)                                                                                  \
    do {                                                                                                     \
        s = (expression);                                                                                    \
        if (__builtin_expect(s.code != STATUS_OK, 0))                                                        \
            goto out;                                                                                        \
    } while (0)

/* Contract check that stays in release builds: aborts with file, line and text. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0))                                                               \
            check_failed(__FILE__, __LINE__, #condition);                                                    \
    } while (0)
void check_failed(const char *file, int line, const char *text) __attribute__((noreturn, cold));

#endif
