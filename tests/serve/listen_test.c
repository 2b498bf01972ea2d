/* Listening sockets: live ones are never taken, dead ones are replaced, and every refusal says who and why.
 */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[100], lock_path[112], address[112];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-listen-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.sock", folder);
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    snprintf(address, sizeof address, "unix://%s", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(lock_path);
    return rmdir(folder); /* nothing else was left there */
}

static void fails(struct status s, enum status_code code, const char *part, const char *other)
{
    if (s.code != code || strstr(s.message, part) == NULL ||
        (strstr(s.message, other) == NULL && strstr(s.hint, other) == NULL))
        fail_msg("expected %s \"%s\" \"%s\", got %s \"%s\" hint \"%s\"", status_code_name(code), part, other,
                 status_code_name(s.code), s.message, s.hint);
}

static int connect_to(const char *to)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", to);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0)
        return fd;
    close(fd);
    return -1;
}

static void a_socket_with_its_mode(void **state)
{
    (void)state;
    struct listener *l;
    struct stat st;
    mode_t before = umask(077);
    ok(listen_open(&l, address, &(struct listen_options){.mode = 0620, .group = "0"}));
    umask(before);
    assert_string_equal(l->address, address);
    assert_true(l->local);
    assert_int_equal(l->sockets_count, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0620);
    assert_true(S_ISSOCK(st.st_mode));
    char pid[32] = "";
    FILE *file = fopen(lock_path, "r");
    assert_non_null(file);
    assert_non_null(fgets(pid, sizeof pid, file));
    fclose(file);
    assert_int_equal(atol(pid), getpid());
    int fd = connect_to(path);
    assert_true(fd >= 0);
    close(fd);
    listen_close(l);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(lock_path, F_OK), -1);
    listen_close(NULL);
}

/* Another process of ours serves it. */
static void st_09_a_live_socket_is_not_taken(void **state)
{
    (void)state;
    int ready[2], end[2];
    char byte;
    assert_int_equal(pipe(ready) | pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        struct listener *l;
        close(ready[0]);
        close(end[1]);
        struct status s = listen_open(&l, address, NULL);
        (void)!write(ready[1], status_failed(&s) ? "n" : "y", 1);
        (void)!read(end[0], &byte, 1);
        _exit(0); /* as if killed: nothing is tidied up */
    }
    close(ready[1]);
    close(end[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    struct listener *l;
    char pid[32];
    snprintf(pid, sizeof pid, "pid %ld (", (long)child);
    struct status s = listen_open(&l, address, NULL);
    fails(s, STATUS_IO, path, "another socket");
    assert_non_null(strstr(s.message, pid));
    int fd = connect_to(path);
    assert_true(fd >= 0); /* it still serves */
    close(fd);

    /* Without its lock file it is found out by the probe. */
    assert_int_equal(unlink(lock_path), 0);
    s = listen_open(&l, address, NULL);
    fails(s, STATUS_IO, "served by", "another socket");
    assert_non_null(strstr(s.message, pid));
    fd = connect_to(path);
    assert_true(fd >= 0);
    close(fd);

    close(end[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(access(path, F_OK), 0); /* dead, and still there */
    ok(listen_open(&l, address, NULL));
    fd = connect_to(path);
    assert_true(fd >= 0);
    close(fd);
    listen_close(l);
    close(ready[0]);
}

static void twice_in_one_process(void **state)
{
    (void)state;
    struct listener *l, *m;
    ok(listen_open(&l, address, NULL));
    fails(listen_open(&m, address, NULL), STATUS_IO, "served by pid", "another socket");
    int fd = connect_to(path);
    assert_true(fd >= 0);
    close(fd);
    listen_close(l);
    ok(listen_open(&m, address, NULL));
    listen_close(m);
}

/* Somebody removed our socket and put their own there: it is not ours to remove. */
static void a_foreign_socket_stays(void **state)
{
    (void)state;
    struct listener *l;
    ok(listen_open(&l, address, NULL));
    assert_int_equal(unlink(path), 0);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    listen_close(l);
    assert_int_equal(access(path, F_OK), 0);
}

static void what_is_no_socket_stays(void **state)
{
    (void)state;
    struct listener *l;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    fails(listen_open(&l, address, NULL), STATUS_IO, "not a socket", "by hand");
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(lock_path, F_OK), -1);
}

static void folders(void **state)
{
    (void)state;
    struct listener *l;
    char deep[128], made[100];
    snprintf(deep, sizeof deep, "unix://%s/made/x.sock", folder);
    ok(listen_open(&l, deep, NULL)); /* one level is made */
    listen_close(l);
    snprintf(made, sizeof made, "%s/made", folder);
    assert_int_equal(rmdir(made), 0);
    snprintf(deep, sizeof deep, "unix://%s/a/b/x.sock", folder);
    fails(listen_open(&l, deep, NULL), STATUS_IO, "No such file", "create the directory");
    assert_int_equal(chdir(folder), 0);
    ok(listen_open(&l, "unix:x.sock", NULL));
    assert_int_equal(access(path, F_OK), 0);
    listen_close(l);
    assert_int_equal(chdir("/"), 0);
}

/* A place where we may not write names its owner. */
static void st_11_forbidden_places(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(folder, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        struct listener *l;
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        struct status s = listen_open(&l, address, NULL);
        _exit(s.code == STATUS_IO && strstr(s.message, "Permission denied") != NULL &&
                      strstr(s.hint, "root") != NULL
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);

    /* The lock file of another account, left behind in a folder that all may write. */
    assert_int_equal(chmod(folder, 0777), 0);
    int fd = open(lock_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "1\n", 2), 2);
    close(fd);
    child = fork();
    if (child == 0) {
        struct listener *l;
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(3);
        struct status s = listen_open(&l, address, NULL);
        if (status_failed(&s))
            _exit(1);
        listen_close(l);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void addresses_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      "localhost", "localhost:", "localhost:x", "localhost:65536", "1.2.3.4:123456", "::1:80",
        "[::1]", "[::1]:",    "unix:",      "unix://",     "tcp://x:1",       "localhost:-1"};
    struct listener *l;
    bool loopback;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct status s = listen_open(&l, bad[i], NULL);
        if (s.code != STATUS_INVALID)
            fail_msg("\"%s\": %s %s", bad[i], status_code_name(s.code), s.message);
        s = listen_check(&loopback, bad[i]);
        assert_int_equal(s.code, STATUS_INVALID);
    }
    char large[300] = "unix:///";
    memset(large + 8, 'x', 108);
    fails(listen_open(&l, large, NULL), STATUS_INVALID, "too long: 109 bytes, at most 107", "shorter");
    memset(large + 8, 'x', 280);
    assert_int_equal(listen_open(&l, large, NULL).code, STATUS_INVALID);
    fails(listen_open(&l, address, &(struct listen_options){.group = "no-such-group"}), STATUS_INVALID,
          "no-such-group", "daemon.socket_group");
    assert_int_equal(access(path, F_OK), -1);
}

static void loopback_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool loopback;
    } cases[] = {{"127.0.0.1:1", true}, {"127.9.9.9:1", true}, {"[::1]:1", true},     {"0.0.0.0:1", false},
                 {"[::]:1", false},     {":1", false},         {"10.0.0.1:1", false}, {"unix:///x", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool loopback;
        ok(listen_check(&loopback, cases[i].text));
        if (loopback != cases[i].loopback)
            fail_msg("%s", cases[i].text);
    }
}

static void st_08_tcp_port_in_use(void **state)
{
    (void)state;
    struct listener *l, *m;
    ok(listen_open(&l, "127.0.0.1:0", NULL));
    assert_false(l->local);
    assert_true(l->port != 0);
    char text[64], pid[32];
    snprintf(text, sizeof text, "127.0.0.1:%u", l->port);
    assert_string_equal(l->address, text);
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons(l->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    /* The port is taken, and by whom. */
    snprintf(pid, sizeof pid, "in use by pid %ld", (long)getpid());
    fails(listen_open(&m, text, NULL), STATUS_IO, pid, "another port");
    listen_close(l);
    ok(listen_open(&l, text, NULL)); /* again at once, although a connection of the last one lingers */
    listen_close(l);
    close(fd);
    fails(listen_open(&l, "192.0.2.1:0", NULL), STATUS_IO, "cannot listen on \"192.0.2.1:0\"",
          "no interface");
    assert_int_equal(listen_open(&l, "no.such.host.invalid:1", NULL).code, STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_socket_with_its_mode, setup, teardown),
        cmocka_unit_test_setup_teardown(st_09_a_live_socket_is_not_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(twice_in_one_process, setup, teardown),
        cmocka_unit_test_setup_teardown(a_foreign_socket_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_socket_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(folders, setup, teardown),
        cmocka_unit_test_setup_teardown(st_11_forbidden_places, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_that_cannot_be_read, setup, teardown),
        cmocka_unit_test(loopback_or_not),
        cmocka_unit_test(st_08_tcp_port_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
