/* Byte order, the cursor at every cut, and hexadecimal text. */
#include "base/bytes.h"
#include "base/hex.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void byte_order_is_right(void **state)
{
    (void)state;
    static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 0x88};
    uint8_t out[8];
    assert_true(load_be32(bytes) == 0x01020304);
    assert_true(load_le32(bytes) == 0x04030201);
    assert_true(load_be64(bytes) == 0x0102030405060788);
    assert_true(load_le64(bytes) == 0x8807060504030201);
    assert_true(load_le16(bytes + 6) == 0x8807);
    store_be32(out, 0x01020304);
    store_be32(out + 4, 0x05060788);
    assert_memory_equal(out, bytes, 8);
    store_le32(out, 0x04030201);
    store_le16(out + 4, 0x0605);
    store_le16(out + 6, 0x8807);
    assert_memory_equal(out, bytes, 8);
    store_be64(out, 0x0102030405060788);
    assert_memory_equal(out, bytes, 8);
    store_le64(out, 0);
    store_le64(out, 0x8807060504030201);
    assert_memory_equal(out, bytes, 8);
}

static void cursor_stops_at_the_end(void **state)
{
    (void)state;
    uint8_t bytes[30];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i + 1);
    for (size_t size = 0; size <= 30; size++) {
        struct cursor c = cursor_over(bytes, size);
        uint8_t two[2];
        assert_int_equal(cursor_left(&c), size);
        assert_true(cursor_u8(&c) == (size >= 1 ? 1 : 0));
        assert_true(cursor_le16(&c) == (size >= 3 ? 0x0302 : 0));
        assert_true(cursor_be32(&c) == (size >= 7 ? 0x04050607 : 0));
        assert_true(cursor_le32(&c) == (size >= 11 ? 0x0b0a0908 : 0));
        assert_true(cursor_be64(&c) == (size >= 19 ? 0x0c0d0e0f10111213 : 0));
        assert_true(cursor_le64(&c) == (size >= 27 ? 0x1b1a191817161514 : 0));
        cursor_copy(&c, two, 2);
        assert_int_equal(two[1], size >= 29 ? 29 : 0);
        assert_int_equal(c.failed, size < 29);
        assert_int_equal(cursor_left(&c), size == 30 ? 1 : 0);
        /* A failed cursor stays failed, even for what would fit. */
        assert_int_equal(cursor_take(&c, 0) == NULL, size < 29);
    }
    struct cursor c = cursor_over(bytes, 30);
    assert_ptr_equal(cursor_take_array(&c, 3, 10), bytes);
    assert_false(c.failed);
    c = cursor_over(bytes, 30);
    assert_null(cursor_take_array(&c, UINT64_C(1) << 62, 8)); /* the product is 0 modulo 2^64 */
    assert_true(c.failed);
    c = cursor_over(bytes, 30);
    assert_null(cursor_take(&c, SIZE_MAX));
    c = cursor_over(NULL, 0);
    assert_null(cursor_take(&c, 1));
}

static void hex_goes_both_ways(void **state)
{
    (void)state;
    uint8_t all[256], back[256];
    char text[513];
    for (size_t i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    hex_encode(text, all, 256);
    assert_int_equal(strlen(text), 512);
    assert_memory_equal(text, "000102", 6);
    assert_string_equal(text + 506, "fdfeff");
    assert_true(hex_decode(back, 256, text, 512));
    assert_memory_equal(back, all, 256);
    assert_true(hex_decode(back, 2, "aBFf", 4));
    assert_true(back[0] == 0xab && back[1] == 0xff);
    assert_true(hex_decode(back, 0, "", 0));
    assert_false(hex_decode(back, 2, "abc", 3));
    assert_false(hex_decode(back, 1, "abcd", 4));
    for (int c = 0; c < 256; c++) {
        char pair[2] = {'0', (char)c};
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        assert_int_equal(hex_decode(back, 1, pair, 2), digit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_order_is_right),
        cmocka_unit_test(cursor_stops_at_the_end),
        cmocka_unit_test(hex_goes_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
