/* Processor counts from made-up /proc and /sys trees of both cgroup versions. */
#include "base/processors.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Writes root/path with its folders. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(full, 0777);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int fresh(void **state)
{
    (void)state;
    strcpy(root, "/tmp/cuzk-processors-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int clear(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void without_files_there_is_no_quota(void **state)
{
    (void)state;
    assert_int_equal(processors_quota(root), 0);
    assert_true(processors_usable(root) >= 1);
    put("/proc/self/cgroup", "nonsense\n0:\n\n12:cpu:\n0::/gone\n");
    assert_int_equal(processors_quota(root), 0);
}

static void version_2_counts_every_level(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    assert_int_equal(processors_quota(root), 0);
    put("/sys/fs/cgroup/a/cpu.max", "350000 100000\n");
    assert_int_equal(processors_quota(root), 4);
    put("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    assert_int_equal(processors_quota(root), 2);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "50000 100000\n");
    assert_int_equal(processors_quota(root), 1);
    assert_int_equal(processors_usable(root), 1);
}

/* A container sees its own group at the mount's root while the path is the host's. */
static void version_2_inside_a_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/host/path\n");
    put("/sys/fs/cgroup/cpu.max", "700000 100000\n");
    assert_int_equal(processors_quota(root), 7);
}

static void version_1_by_controller(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:memory:/m\n4:cpuset:/s\n3:cpu,cpuacct:/x/y\n0::/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us", "100000\n");
    assert_int_equal(processors_quota(root), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(processors_quota(root), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "50000\n");
    assert_int_equal(processors_quota(root), 5);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(processors_quota(root), 3);
    /* Not the cpuset controller, whose name begins alike. */
    put("/proc/self/cgroup", "4:cpuset:/s\n");
    assert_int_equal(processors_quota(root), 0);
}

static void bad_numbers_are_no_quota(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "100000", "0 100000", "100000 0", "-5 100000", "x y"};
    put("/proc/self/cgroup", "0::/\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("/sys/fs/cgroup/cpu.max", texts[i]);
        assert_int_equal(processors_quota(root), 0);
    }
    put("/sys/fs/cgroup/cpu.max", "9223372036854775807 1");
    assert_int_equal(processors_quota(root), 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_files_there_is_no_quota, fresh, clear),
        cmocka_unit_test_setup_teardown(version_2_counts_every_level, fresh, clear),
        cmocka_unit_test_setup_teardown(version_2_inside_a_container, fresh, clear),
        cmocka_unit_test_setup_teardown(version_1_by_controller, fresh, clear),
        cmocka_unit_test_setup_teardown(bad_numbers_are_no_quota, fresh, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
