/* What the tests of this room share: files of tests/data, hexadecimal expectations, a random stream. */
#ifndef CUZK_TESTS_FILECOIN_SUPPORT_H
#define CUZK_TESTS_FILECOIN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "filecoin/c1.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void ok(struct status s)
{
    if (status_failed(&s))
        fail_msg("%s: %s / %s / %s", status_code_name(s.code), s.message, s.detail, s.hint);
}

/* The failure's code, and a part of its message. */
static inline void fails(struct status s, enum status_code code, const char *part)
{
    if (s.code != code || !strstr(s.message, part))
        fail_msg("expected %s \"%s\", got %s \"%s\"", status_code_name(code), part, status_code_name(s.code),
                 s.message);
}

static inline void same_hex(const uint8_t *bytes, size_t size, const char *hex)
{
    char text[256];
    assert_true(size < 128);
    hex_encode(text, bytes, size);
    assert_string_equal(text, hex);
}

static inline void from_hex(uint8_t *out, size_t size, const char *hex)
{
    assert_true(hex_decode(out, size, hex, strlen(hex)));
}

static __attribute__((noinline, unused)) uint8_t *test_file(const char *name, size_t *size)
{
    char path[512];
    uint8_t *data;
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    ok(file_read(&data, size, path, 1 << 20, C1_PADDING));
    return data;
}

static inline void test_c1(struct c1 *out, const char *name)
{
    size_t size;
    uint8_t *data = test_file(name, &size);
    ok(c1_parse(out, data, size));
    mem_free(data);
}

/* xorshift64*; the seed is printed, and taken from CUZK_TEST_SEED. */
static inline uint64_t test_seed(void)
{
    const char *text = getenv("CUZK_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : UINT64_C(0x9e3779b97f4a7c15);
    print_message("seed 0x%llx\n", (unsigned long long)seed);
    return seed;
}
static inline uint64_t test_next(uint64_t *state)
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
