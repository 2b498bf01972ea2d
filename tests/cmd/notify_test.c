/* What the service manager hears: a socket of the test's own in its place. The watchdog is fed by living
 * engines only; more time is asked for while there is something to wait for; a status is said once. */
#include "cmd/daemon/notify.h"
#include "cmd/daemon/phases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct manager {
    int socket;
    char path[64];
    char said[8192]; /* all messages, one after the other */
    atomic_bool alive, waits;
    atomic_uint rounds;
};

static void open_manager(struct manager *m, const char *path, size_t size)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memset(m, 0, sizeof *m);
    memcpy(name.sun_path, path, size);
    m->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(m->socket >= 0);
    assert_int_equal(
        bind(m->socket, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)),
        0);
    snprintf(m->path, sizeof m->path, "%c%.*s", path[0] == 0 ? '@' : path[0], (int)size - 1, path + 1);
}

static void hear(struct manager *m)
{
    size_t used = strlen(m->said);
    ssize_t n;
    while ((n = recv(m->socket, m->said + used, sizeof m->said - 1 - used, 0)) > 0)
        used += (size_t)n;
    m->said[used] = 0;
}

static unsigned count(struct manager *m, const char *line)
{
    unsigned found = 0;
    hear(m);
    for (const char *at = m->said; (at = strstr(at, line)) != NULL; at++)
        found++;
    return found;
}

static void now(void *context, struct notify_now *out)
{
    struct manager *m = context;
    out->alive = atomic_load(&m->alive);
    out->waits = atomic_load(&m->waits);
    snprintf(out->status, sizeof out->status, "round 0");
    atomic_fetch_add(&m->rounds, 1);
}

static void wait_rounds(struct manager *m, unsigned more)
{
    unsigned until = atomic_load(&m->rounds) + more;
    while (atomic_load(&m->rounds) < until) {
        usleep(1000);
        hear(m);
    }
}

static struct notify *start(struct manager *m, const char *watchdog_usec, const char *watchdog_pid)
{
    struct notify *n;
    struct notify_options options = {.socket = m->path,
                                     .watchdog_usec = watchdog_usec,
                                     .watchdog_pid = watchdog_pid,
                                     .now = now,
                                     .context = m};
    struct status s = notify_start(&n, &options);
    if (status_failed(&s))
        fail_msg("%s", s.message);
    assert_non_null(n);
    return n;
}

static void ap_16_watchdog_is_fed_by_the_living(void **state)
{
    (void)state;
    struct manager m;
    static const char name[] = "\0cuzk-notify-test-1";
    open_manager(&m, name, sizeof name - 1);
    struct notify *n = start(&m, "30000", NULL); /* fed every 10 ms */
    wait_rounds(&m, 20);
    assert_int_equal(count(&m, "WATCHDOG=1\n"), 0); /* stuck: not fed, so that the manager acts */
    assert_int_equal(count(&m, "STATUS=round 0\n"), 1);
    assert_int_equal(count(&m, "EXTEND_TIMEOUT_USEC="), 0);
    atomic_store(&m.alive, true);
    while (count(&m, "WATCHDOG=1\n") < 5)
        usleep(1000);
    atomic_store(&m.waits, true);
    while (count(&m, "EXTEND_TIMEOUT_USEC=60000000\n") == 0)
        usleep(1000);
    assert_int_equal(count(&m, "STATUS="), 1);
    notify_say(n, "READY=1\n");
    assert_int_equal(count(&m, "READY=1\n"), 1);
    notify_end(n);
    close(m.socket);
}

static void test_watchdog_of_whom(void **state)
{
    (void)state;
    struct manager m;
    char path[64], pid[24];
    snprintf(path, sizeof path, "/tmp/cuzk-notify-%ld", (long)getpid());
    open_manager(&m, path, strlen(path));
    atomic_store(&m.alive, true);
    snprintf(pid, sizeof pid, "%ld", (long)getpid() + 1);
    struct notify *n = start(&m, "3000000", pid); /* of another process */
    wait_rounds(&m, 2);
    assert_int_equal(count(&m, "WATCHDOG=1\n"), 0);
    notify_end(n);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    n = start(&m, "30000", pid);
    wait_rounds(&m, 2);
    notify_end(n);
    assert_true(count(&m, "WATCHDOG=1\n") >= 1);
    close(m.socket);
    unlink(path);
}

/* It exists, and reads nothing: neither the thread nor who speaks is held up for good. */
static void test_manager_that_does_not_read(void **state)
{
    (void)state;
    struct manager m;
    static const char name[] = "\0cuzk-notify-test-2";
    open_manager(&m, name, sizeof name - 1);
    atomic_store(&m.alive, true);
    struct notify *n = start(&m, "3000", NULL);
    while (atomic_load(&m.rounds) < 1000) /* many times what a socket holds */
        usleep(1000);
    notify_say(n, "STOPPING=1\n");
    notify_end(n);
    close(m.socket);
}

static void test_nobody(void **state)
{
    (void)state;
    struct notify *n;
    struct notify_options options = {.now = now};
    struct status s = notify_start(&n, &options);
    assert_false(status_failed(&s));
    assert_null(n);
    notify_say(n, "READY=1\n");
    notify_end(n);
    char large[200] = "/";
    memset(large + 1, 'x', sizeof large - 2);
    const char *const wrong[] = {"relative", "", large};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.socket = wrong[i];
        s = notify_start(&n, &options);
        assert_int_equal(s.code, wrong[i][0] == 0 ? STATUS_OK : STATUS_INVALID);
        assert_null(n);
    }
}

static void test_phases(void **state)
{
    (void)state;
    struct phases p;
    struct phase ended, list[PHASES_MAX];
    phases_init(&p);
    assert_int_equal(phases_look(&p, list), 0);
    assert_false(phases_begin(&p, NULL, &ended));
    assert_false(phases_begin(&p, "first", &ended));
    assert_true(phases_begin(&p, "second", &ended));
    assert_string_equal(ended.name, "first");
    assert_true(ended.ended_ms >= ended.began_ms && ended.ended_ms != 0);
    assert_true(phases_begin(&p, NULL, &ended));
    assert_string_equal(ended.name, "second");
    assert_false(phases_begin(&p, NULL, &ended));
    assert_int_equal(phases_look(&p, list), 2);
    for (int i = 0; i < 2 * PHASES_MAX; i++)
        (void)phases_begin(&p, "more", &ended);
    assert_int_equal(phases_look(&p, list), PHASES_MAX);
    assert_int_equal(list[PHASES_MAX - 1].ended_ms, 0);
    assert_string_equal(list[0].name, "first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ap_16_watchdog_is_fed_by_the_living),
        cmocka_unit_test(test_watchdog_of_whom),
        cmocka_unit_test(test_manager_that_does_not_read),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
