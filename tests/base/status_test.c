/* Error texts, codes, and that a broken contract aborts. */
#include "base/status.h"
#include "base/random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void texts_are_formatted(void **state)
{
    (void)state;
    struct status s = status_ok();
    assert_false(status_failed(&s));
    s = status_error(STATUS_MISSING, "cannot open \"%s\": %d", "x", 7);
    assert_true(status_failed(&s));
    assert_int_equal(s.code, STATUS_MISSING);
    assert_string_equal(s.message, "cannot open \"x\": 7");
    assert_string_equal(s.detail, "");
    assert_string_equal(s.hint, "");
    s = status_hint(status_detail(s, "d%d", 1), "h%d", 2);
    assert_string_equal(s.detail, "d1");
    assert_string_equal(s.hint, "h2");
    s = status_within(s, "partition %d", 3);
    assert_string_equal(s.message, "partition 3: cannot open \"x\": 7");
    assert_string_equal(s.detail, "d1");
    assert_int_equal(s.code, STATUS_MISSING);
}

static void long_texts_show_that_they_are_cut(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'a', sizeof text);
    text[999] = 0;
    struct status s = status_error(STATUS_IO, "%s", text);
    assert_int_equal(strlen(s.message), sizeof s.message - 1);
    assert_string_equal(s.message + sizeof s.message - 5, "a...");
    s = status_hint(status_detail(s, "%s", text), "%s", text);
    assert_string_equal(s.detail + sizeof s.detail - 5, "a...");
    assert_string_equal(s.hint + sizeof s.hint - 5, "a...");
    s = status_within(status_error(STATUS_IO, "b"), "%s", text);
    assert_int_equal(strlen(s.message), sizeof s.message - 1);
    assert_string_equal(s.message + sizeof s.message - 5, "a...");
    /* The exact fit is not cut. */
    text[sizeof s.message - 1] = 0;
    s = status_error(STATUS_IO, "%s", text);
    assert_string_equal(s.message, text);
    text[sizeof s.message - 4] = 0;
    s = status_within(status_error(STATUS_IO, "b"), "%s", text);
    assert_int_equal(strlen(s.message), sizeof s.message - 1);
    assert_string_equal(s.message + sizeof s.message - 5, "a: b");
}

static void codes_have_names(void **state)
{
    (void)state;
    for (int i = 0; i <= STATUS_UNSUPPORTED; i++) {
        assert_string_not_equal(status_code_name((enum status_code)i), "unknown");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(status_code_name((enum status_code)i),
                                    status_code_name((enum status_code)j));
    }
    assert_string_equal(status_code_name((enum status_code)99), "unknown");
}

static struct status try_it(struct status s, int *after)
{
    TRY(s);
    *after = 1;
    return status_ok();
}

static void try_returns_errors_only(void **state)
{
    (void)state;
    int after = 0;
    struct status s = try_it(status_error(STATUS_DEVICE, "m"), &after);
    assert_int_equal(s.code, STATUS_DEVICE);
    assert_int_equal(after, 0);
    s = try_it(status_ok(), &after);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(after, 1);
}

static void broken_contract_aborts_with_its_place(void **state)
{
    (void)state;
    int ends[2], result;
    char text[256] = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        CHECK(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT);
    assert_non_null(strstr(text, "status_test.c:"));
    assert_non_null(strstr(text, "1 + 1 == 3"));
    CHECK(1 + 1 == 2);
}

/* 2^-256 of chance that a right one fails. */
static void random_bytes_differ(void **state)
{
    (void)state;
    static uint8_t a[1000], b[1000];
    struct status s = random_bytes(a, sizeof a);
    assert_int_equal(s.code, STATUS_OK);
    s = random_bytes(b, sizeof b);
    assert_int_equal(s.code, STATUS_OK);
    assert_memory_not_equal(a, b, 32);
    assert_memory_not_equal(a + 968, b + 968, 32);
    assert_memory_not_equal(a, a + 500, 32);
    memset(a, 1, 32);
    s = random_bytes(a, 0);
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(a[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_formatted),
        cmocka_unit_test(long_texts_show_that_they_are_cut),
        cmocka_unit_test(codes_have_names),
        cmocka_unit_test(try_returns_errors_only),
        cmocka_unit_test(broken_contract_aborts_with_its_place),
        cmocka_unit_test(random_bytes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
