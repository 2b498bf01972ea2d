/* Allocation: alignment, counters, growing, overflow and injected failure, for small and mapped blocks. */
#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static const size_t SIZES[] = {0, 1, 63, 64, 65, 1000, MIB - 1, MIB, MIB + 1, 4 * MIB, 5 * MIB + 7, 16 * MIB};
#define SIZE_COUNT (sizeof SIZES / sizeof *SIZES)

static void blocks_are_aligned_and_counted(void **state)
{
    (void)state;
    uint8_t *blocks[2 * SIZE_COUNT];
    size_t before = mem_used(), sum = 0;
    mem_peak_reset();
    assert_int_equal(mem_peak(), before);
    for (size_t i = 0; i < 2 * SIZE_COUNT; i++) {
        size_t bytes = SIZES[i / 2];
        blocks[i] = i % 2 ? mem_alloc_zero(bytes, 1) : mem_alloc(1, bytes);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        for (size_t j = 0; i % 2 && j < bytes; j++)
            if (blocks[i][j])
                fail_msg("byte %zu of a zeroed block of %zu is not zero", j, bytes);
        memset(blocks[i], 0xa5, bytes);
        sum += bytes;
        assert_int_equal(mem_used(), before + sum);
    }
    for (size_t i = 0; i < 2 * SIZE_COUNT; i++)
        mem_free(blocks[i]);
    mem_free(NULL);
    assert_int_equal(mem_used(), before);
    assert_int_equal(mem_peak(), before + sum);
    mem_peak_reset();
    assert_int_equal(mem_peak(), before);
}

static void growing_keeps_the_contents(void **state)
{
    (void)state;
    size_t before = mem_used();
    for (size_t i = 0; i + 1 < SIZE_COUNT; i++)
        for (size_t j = 0; j + 1 < SIZE_COUNT; j++) {
            size_t old = SIZES[i], new = SIZES[j], kept = old < new ? old : new;
            uint8_t *block = mem_alloc(old, 1);
            for (size_t k = 0; k < old; k++)
                block[k] = (uint8_t)(k * 7 + 1);
            uint8_t *grown = mem_grow(block, old, new, 1);
            assert_non_null(grown);
            assert_int_equal((uintptr_t)grown % 64, 0);
            assert_int_equal(mem_used(), before + new);
            for (size_t k = 0; k < kept; k++)
                if (grown[k] != (uint8_t)(k * 7 + 1))
                    fail_msg("byte %zu lost from %zu to %zu", k, old, new);
            memset(grown, 1, new);
            mem_free(grown);
        }
    uint8_t *fresh = mem_grow(NULL, 0, 10, 3);
    assert_non_null(fresh);
    assert_int_equal(mem_used(), before + 30);
    mem_free(fresh);
    assert_int_equal(mem_used(), before);
}

static void too_large_is_refused(void **state)
{
    (void)state;
    size_t before = mem_used();
    assert_null(mem_alloc(SIZE_MAX, 2));
    assert_null(mem_alloc(SIZE_MAX / 2, 3));
    assert_null(mem_alloc_zero((size_t)1 << 32, (size_t)1 << 32));
    assert_null(mem_alloc(SIZE_MAX, 1));
    assert_null(mem_alloc((size_t)1 << 60, 1));
    uint8_t *block = mem_alloc(3, 1);
    memcpy(block, "abc", 3);
    assert_null(mem_grow(block, 3, SIZE_MAX, 1));
    assert_null(mem_grow(block, 3, (size_t)1 << 60, 1));
    assert_memory_equal(block, "abc", 3);
    mem_free(block);
    assert_int_equal(mem_used(), before);
}

static void failures_can_be_injected(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 4; n++) {
        void *blocks[4] = {0};
        mem_fail_after(n);
        blocks[0] = mem_alloc(1, 1);
        blocks[1] = mem_alloc_zero(1, 2 * MIB);
        blocks[2] = mem_alloc(1, MIB);
        blocks[3] = mem_alloc_zero(5, 5);
        assert_int_equal(mem_allocations(), 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(blocks[i] != NULL, i + 1 < n);
            mem_free(blocks[i]);
        }
    }
    mem_fail_after(0);
    uint8_t *block = mem_alloc(1, 1);
    assert_non_null(block);
    *block = 9;
    mem_fail_after(1);
    assert_null(mem_grow(block, 1, 100, 1));
    mem_fail_after(0);
    assert_int_equal(*block, 9);
    mem_free(block);
    assert_int_equal(mem_allocations(), 0);
}

static void failure_text_has_the_numbers(void **state)
{
    (void)state;
    struct status s = mem_failed("the witness", 10, 32);
    assert_int_equal(s.code, STATUS_MEMORY);
    assert_string_equal(s.message, "out of memory: the witness needs 320 bytes");
    assert_true(s.hint[0] && s.detail[0]);
    s = mem_failed("x", SIZE_MAX, 2);
    assert_string_equal(s.message, "out of memory: x needs 18446744073709551615 times 2 bytes");
}

static void wiping_clears(void **state)
{
    (void)state;
    uint8_t secret[33];
    memset(secret, 7, sizeof secret);
    mem_wipe(secret, 32);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(secret[i], 0);
    assert_int_equal(secret[32], 7);
    mem_wipe(NULL, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_counted), cmocka_unit_test(growing_keeps_the_contents),
        cmocka_unit_test(too_large_is_refused),           cmocka_unit_test(failures_can_be_injected),
        cmocka_unit_test(failure_text_has_the_numbers),   cmocka_unit_test(wiping_clears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
