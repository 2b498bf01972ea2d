/* Devices by name, in a build without cards or on a machine that has none: what each name gives, and what is
 * said where there is nothing. */
#include "device/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct status open_backend(struct devices *out, const char *name)
{
    struct devices_request request = {.backend = name, .require_all = true};
    return devices_open(out, &request, NULL);
}

static void the_cpu_is_one_device(void **state)
{
    (void)state;
    struct devices devices;
    struct status s = open_backend(&devices, "cpu");
    assert_int_equal(s.code, STATUS_OK);
    assert_int_equal(devices.count, 1);
    assert_false(devices.cuda);
    assert_string_equal(devices.device[0]->operations->name, "cpu");
    devices_close(&devices);
    assert_int_equal(devices.count, 0);
}

static void other_names_are_refused(void **state)
{
    (void)state;
    struct devices devices;
    struct status s = open_backend(&devices, "opencl");
    assert_int_equal(s.code, STATUS_INVALID);
    assert_non_null(strstr(s.message, "opencl"));
    assert_non_null(strstr(s.hint, "cuda"));
    assert_int_equal(devices.count, 0);
}

static void a_build_without_cards_says_so(void **state)
{
    (void)state;
    struct devices devices;
    if (devices_have_cuda())
        skip();
    struct status s = open_backend(&devices, "cuda");
    assert_int_equal(s.code, STATUS_UNSUPPORTED);
    assert_int_equal(devices.count, 0);
    s = open_backend(&devices, "auto");
    assert_int_equal(s.code, STATUS_OK);
    assert_false(devices.cuda);
    assert_int_equal(devices.count, 1);
    devices_close(&devices);
    s = open_backend(&devices, NULL);
    assert_int_equal(s.code, STATUS_OK);
    devices_close(&devices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_is_one_device),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(a_build_without_cards_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
