/* Files: everything that can be wrong with a path, and that a failed write leaves nothing behind. */
#include "base/file.h"
#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[128];

static int fresh(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/cuzk-file-XXXXXX");
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int clear(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void put(const void *data, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static int entries(void)
{
    int count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static void ok(struct status s)
{
    if (s.code != STATUS_OK)
        fail_msg("%s", s.message);
}

static void fails(struct status s, enum status_code code, const char *name)
{
    assert_int_equal(s.code, code);
    assert_non_null(strstr(s.message, name));
}

/* Mapping and reading agree on what is wrong. */
static void both_fail(enum status_code code, const char *name)
{
    struct file_map map;
    uint8_t *data;
    size_t size;
    fails(file_map_open(&map, name), code, name);
    assert_null(map.data);
    fails(file_read(&data, &size, name, 1000, 0), code, name);
    assert_null(data);
}

static void wrong_paths_are_named(void **state)
{
    (void)state;
    both_fail(STATUS_MISSING, path);
    put("x", 1);
    char below[200];
    snprintf(below, sizeof below, "%s/below", path);
    both_fail(STATUS_MISSING, below);
    both_fail(STATUS_INVALID, folder);
    both_fail(STATUS_MISSING, "");
    struct file_map map;
    fails(file_map_open(&map, "/dev/null"), STATUS_INVALID, "/dev/null");
    char pipe_path[200];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0666), 0);
    fails(file_map_open(&map, pipe_path), STATUS_INVALID, pipe_path); /* and does not wait for a writer */
    /* Reading that fails after opening: address 0 of the process is not mapped. */
    uint8_t *data;
    size_t size;
    fails(file_read(&data, &size, "/proc/self/mem", 1000, 0), STATUS_IO, "/proc/self/mem");
}

static void unreadable_is_an_error(void **state)
{
    (void)state;
    put("x", 1);
    assert_int_equal(chmod(path, 0), 0);
    uid_t user = geteuid();
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    struct file_map map;
    struct file_writer writer;
    struct status mapped = file_map_open(&map, path);
    struct status written = file_writer_open(&writer, path);
    if (user == 0) /* the folder belongs to root */
        assert_int_equal(written.code, STATUS_IO);
    else
        file_writer_abandon(&writer);
    if (user == 0)
        assert_int_equal(seteuid(0), 0);
    fails(mapped, STATUS_IO, path);
    assert_non_null(strstr(mapped.hint, "permissions"));
}

static void contents_come_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 65535, 65536, 65537, 300000};
    static uint8_t bytes[300000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 256 + 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct file_map map;
        struct stat info;
        uint8_t *data;
        size_t size;
        put(bytes, sizes[i]);
        ok(file_map_open(&map, path));
        assert_int_equal(map.size, sizes[i]);
        assert_memory_equal(map.data ? map.data : bytes, bytes, sizes[i]);
        assert_int_equal(map.data == NULL, sizes[i] == 0);
        assert_int_equal(stat(path, &info), 0);
        assert_true(map.inode == info.st_ino && map.device == info.st_dev);
        assert_true(map.mtime_ns / 1000000000 == info.st_mtim.tv_sec);
        file_map_close(&map);
        file_map_close(&map);
        for (size_t padding = 0; padding <= 128; padding += 64) {
            ok(file_read(&data, &size, path, sizes[i], padding));
            assert_int_equal(size, sizes[i]);
            assert_memory_equal(data, bytes, size);
            for (size_t j = 0; j <= padding; j++)
                assert_int_equal(data[size + j], 0);
            mem_free(data);
        }
        if (sizes[i] > 0)
            fails(file_read(&data, &size, path, sizes[i] - 1, 0), STATUS_INVALID, path);
    }
}

static void reads_what_has_no_size(void **state)
{
    (void)state;
    static uint8_t bytes[200000];
    uint8_t *data;
    size_t size;
    memset(bytes, 'z', sizeof bytes);
    put(bytes, sizeof bytes);
    int kept = dup(STDIN_FILENO);
    for (int fits = 0; fits < 2; fits++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            for (size_t i = 0; i < sizeof bytes; i += 1000)
                if (write(ends[1], bytes + i, 1000) < 0)
                    break;
            _exit(0);
        }
        close(ends[1]);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        struct status s = file_read(&data, &size, "-", sizeof bytes - 1 + (size_t)fits, 64);
        if (fits) {
            ok(s);
            assert_int_equal(size, sizeof bytes);
            assert_memory_equal(data, bytes, size);
            for (size_t j = 0; j <= 64; j++)
                assert_int_equal(data[size + j], 0);
            mem_free(data);
        } else {
            fails(s, STATUS_INVALID, "standard input");
        }
        dup2(kept, STDIN_FILENO);
    }
    close(kept);
    ok(file_read(&data, &size, "/proc/self/status", 100000, 0));
    assert_memory_equal(data, "Name:", 5);
    mem_free(data);
}

static void writing_is_all_or_nothing(void **state)
{
    (void)state;
    static uint8_t chunk[1500000];
    struct file_writer writer;
    uint8_t *data;
    size_t size;
    memset(chunk, 'c', sizeof chunk);
    put("old", 3);
    ok(file_writer_open(&writer, path));
    assert_int_equal(entries(), 2);
    for (size_t i = 0; i < 5; i++)
        ok(file_writer_add(&writer, "0123456789", 10));
    ok(file_writer_add(&writer, chunk, sizeof chunk));
    ok(file_writer_add(&writer, chunk, 900000));
    ok(file_writer_add(&writer, chunk, 900000));
    ok(file_writer_add(&writer, NULL, 0));
    ok(file_writer_add(&writer, "end", 3));
    assert_int_equal(writer.written, 50 + 1500000 + 1800000 + 3);
    ok(file_read(&data, &size, path, 100, 0));
    assert_memory_equal(data, "old", 4);
    mem_free(data);
    ok(file_writer_finish(&writer));
    file_writer_abandon(&writer);
    assert_int_equal(entries(), 1);
    ok(file_read(&data, &size, path, 10000000, 0));
    assert_int_equal(size, 50 + 1500000 + 1800000 + 3);
    assert_memory_equal(data + 40, "0123456789cccc", 14);
    assert_memory_equal(data + 50, chunk, sizeof chunk);
    assert_memory_equal(data + size - 4, "cend", 4);
    mem_free(data);
    ok(file_writer_open(&writer, path));
    ok(file_writer_add(&writer, "new", 3));
    file_writer_abandon(&writer);
    file_writer_abandon(&writer);
    assert_int_equal(entries(), 1);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 50 + 1500000 + 1800000 + 3);
}

static void full_disk_leaves_nothing(void **state)
{
    (void)state;
    static uint8_t chunk[600000];
    struct rlimit old, small;
    struct file_writer writer;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    /* Seen while adding. */
    ok(file_writer_open(&writer, path));
    struct status s = status_ok();
    for (int i = 0; i < 4 && !status_failed(&s); i++)
        s = file_writer_add(&writer, chunk, sizeof chunk);
    file_writer_abandon(&writer);
    int after_add = entries();
    /* Seen when the buffer is flushed at the end. */
    struct file_writer last;
    ok(file_writer_open(&last, path));
    ok(file_writer_add(&last, chunk, sizeof chunk));
    ok(file_writer_add(&last, chunk, 440000));
    struct status t = file_writer_finish(&last);
    int after_finish = entries();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    fails(s, STATUS_IO, path);
    fails(t, STATUS_IO, path);
    assert_non_null(strstr(s.hint, "space"));
    assert_int_equal(after_add, 0);
    assert_int_equal(after_finish, 0);
}

static void wrong_targets_are_refused(void **state)
{
    (void)state;
    struct file_writer writer;
    char name[200];
    fails(file_writer_open(&writer, folder), STATUS_INVALID, folder);
    fails(file_writer_open(&writer, "/dev/full"), STATUS_INVALID, "/dev/full");
    snprintf(name, sizeof name, "%s/none/file", folder);
    fails(file_writer_open(&writer, name), STATUS_MISSING, name);
    assert_int_equal(entries(), 0);
    /* The final name becomes a folder while we write. */
    ok(file_writer_open(&writer, path));
    assert_int_equal(mkdir(path, 0777), 0);
    fails(file_writer_finish(&writer), STATUS_IO, path);
    assert_int_equal(entries(), 1);
    /* A relative name. */
    assert_int_equal(chdir(folder), 0);
    ok(file_writer_open(&writer, "relative"));
    ok(file_writer_add(&writer, "r", 1));
    ok(file_writer_finish(&writer));
    assert_int_equal(entries(), 2);
    assert_int_equal(chdir("/"), 0);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    uint8_t *data;
    size_t size;
    struct file_writer writer;
    size_t before = mem_used();
    put("abc", 3);
    mem_fail_after(1);
    struct status s = file_read(&data, &size, path, 10, 0);
    assert_int_equal(s.code, STATUS_MEMORY);
    for (uint64_t n = 1; n <= 3; n++) {
        mem_fail_after(n);
        s = file_writer_open(&writer, path);
        assert_int_equal(s.code, STATUS_MEMORY);
        file_writer_abandon(&writer);
    }
    mem_fail_after(0);
    assert_int_equal(mem_used(), before);
    assert_int_equal(entries(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_paths_are_named, fresh, clear),
        cmocka_unit_test_setup_teardown(unreadable_is_an_error, fresh, clear),
        cmocka_unit_test_setup_teardown(contents_come_back, fresh, clear),
        cmocka_unit_test_setup_teardown(reads_what_has_no_size, fresh, clear),
        cmocka_unit_test_setup_teardown(writing_is_all_or_nothing, fresh, clear),
        cmocka_unit_test_setup_teardown(full_disk_leaves_nothing, fresh, clear),
        cmocka_unit_test_setup_teardown(wrong_targets_are_refused, fresh, clear),
        cmocka_unit_test_setup_teardown(lack_of_memory_is_an_error, fresh, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
