/* The figures and addresses of cuzk-bench. */
#include "cmd/bench/address.h"
#include "cmd/bench/report.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CLOSE(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void quantiles_of_known_lists(void **state)
{
    const double one[] = {7}, five[] = {1, 2, 3, 4, 10};
    (void)state;
    CLOSE(quantile(NULL, 0, 0.5), 0);
    for (int i = 0; i <= 10; i++)
        CLOSE(quantile(one, 1, 0.1 * i), 7);
    CLOSE(quantile(five, 5, 0), 1);
    CLOSE(quantile(five, 5, 0.5), 3);
    CLOSE(quantile(five, 5, 0.625), 3.5);
    CLOSE(quantile(five, 5, 0.95), 4 + 0.8 * 6);
    CLOSE(quantile(five, 5, 1), 10);
}

static struct proof proof_of(double started, double ended, bool completed)
{
    struct proof p = {.started = started, .ended = ended, .over = true, .completed = completed};
    p.queue_wait_ms = 1000;
    p.synthesis_ms = 500;
    return p;
}

/* Two at once, the first two ending at 10 and 11, then one every 4 and 6 seconds. */
static void figures_of_a_batch(void **state)
{
    struct figures f;
    struct proof proofs[] = {proof_of(2, 10, true), proof_of(2, 11, true), proof_of(10, 15, true),
                             proof_of(11, 21, true)};
    (void)state;
    assert_true(figures_of(&f, proofs, 4, 2));
    assert_int_equal(f.completed, 4);
    assert_int_equal(f.failed, 0);
    CLOSE(f.wall, 19);
    CLOSE(f.per_proof, 19.0 / 4);
    CLOSE(f.least, 5);
    CLOSE(f.most, 10);
    CLOSE(f.mean, 8);
    CLOSE(f.p50, 8.5);
    assert_int_equal(f.steady_count, 2);
    CLOSE(f.steady, 5);
    CLOSE(f.steady_spread, 1);
    CLOSE(f.queue_wait, 1);
    CLOSE(f.synthesis, 0.5);
}

static void figures_with_failures_and_without_a_steady_state(void **state)
{
    struct figures f;
    struct proof proofs[] = {proof_of(1, 2, false), proof_of(1, 4, true), {.started = 1}};
    (void)state;
    assert_true(figures_of(&f, proofs, 3, 2));
    assert_int_equal(f.completed, 1);
    assert_int_equal(f.failed, 1);
    CLOSE(f.per_proof, 3);
    assert_int_equal(f.steady_count, 0);
    assert_true(figures_of(&f, proofs, 1, 1));
    assert_int_equal(f.completed, 0);
    CLOSE(f.per_proof, 0);
    assert_true(figures_of(&f, NULL, 0, 1));
    CLOSE(f.wall, 0);
}

static void addresses(void **state)
{
    static const struct {
        const char *text, *path, *host, *port;
    } good[] = {{"unix:///run/curio/cuzk.sock", "/run/curio/cuzk.sock", "", ""},
                {"unix:/x", "/x", "", ""},
                {"unix:relative", "relative", "", ""},
                {"127.0.0.1:9820", "", "127.0.0.1", "9820"},
                {"dns:///host.example:1", "", "host.example", "1"},
                {"http://127.0.0.1:9820", "", "127.0.0.1", "9820"},
                {"http://127.0.0.1:9820/", "", "127.0.0.1", "9820"},
                {"[::1]:9820", "", "::1", "9820"}};
    static const char *const bad[] = {
        "", "unix:", "unix://", "host", "host:", ":9820", ":1", "a:1x", "a:1/b", "a:999999999"};
    struct address a;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct status s = address_parse(&a, good[i].text);
        assert_false(status_failed(&s));
        assert_int_equal(a.local, good[i].path[0] != 0);
        assert_string_equal(a.path, good[i].path);
        assert_string_equal(a.host, good[i].host);
        assert_string_equal(a.port, good[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct status s = address_parse(&a, bad[i]);
        if (s.code != STATUS_INVALID)
            fail_msg("\"%s\" was taken as an address", bad[i]);
    }
    char text[160] = "unix:/";
    memset(text + 6, 'x', 107);
    struct status s = address_parse(&a, text);
    assert_int_equal(s.code, STATUS_INVALID);
    text[5 + 107] = 0;
    s = address_parse(&a, text);
    assert_false(status_failed(&s));
}

static void nobody_listens(void **state)
{
    struct address a;
    int fd;
    (void)state;
    struct status s = address_parse(&a, "unix:/tmp/cuzk-no-such-socket");
    assert_false(status_failed(&s));
    s = address_connect(&fd, &a, 1000);
    assert_int_equal(s.code, STATUS_MISSING);
    s = address_parse(&a, "127.0.0.1:1");
    assert_false(status_failed(&s));
    s = address_connect(&fd, &a, 1000);
    assert_int_equal(s.code, STATUS_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_known_lists),
        cmocka_unit_test(figures_of_a_batch),
        cmocka_unit_test(figures_with_failures_and_without_a_steady_state),
        cmocka_unit_test(addresses),
        cmocka_unit_test(nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
