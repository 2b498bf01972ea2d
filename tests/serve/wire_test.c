/* The small texts of gRPC, and the timers of the loop. */
#include "client.h"

#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static void timeouts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t ms;
    } cases[] = {
        {"1S", true, 1000},        {"0m", true, 0},          {"99999999m", true, 99999999},
        {"5M", true, 300000},      {"2H", true, 7200000},    {"1u", true, 1},
        {"1000u", true, 1},        {"1001u", true, 2},       {"1n", true, 1},
        {"0n", true, 0},           {"1000001n", true, 2},    {"99999999H", true, GRPC_TIMEOUT_MAX_MS},
        {"00000001S", true, 1000}, {"", false, 0},           {"S", false, 0},
        {"1", false, 0},           {"1s", false, 0},         {"1 S", false, 0},
        {"-1S", false, 0},         {"123456789S", false, 0}, {"1.5S", false, 0},
        {"1SS", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ms = 0;
        bool good = grpc_timeout_parse(&ms, (const uint8_t *)cases[i].text, strlen(cases[i].text));
        if (good != cases[i].good || (good && ms != cases[i].ms))
            fail_msg("\"%s\": %d, %llu", cases[i].text, good, (unsigned long long)ms);
    }
}

static void escapes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain text", "plain text"},
        {"", ""},
        {"50%", "50%25"},
        {"a\nb\tc", "a%0Ab%09c"},
        {"\xc3\xa9t\xc3\xa9", "%C3%A9t%C3%A9"},
        {" ", "%20"},
        {" a b ", "%20a b%20"},
        {"\x7f\x1f~", "%7F%1F~"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        size_t n = grpc_message_encode(out, cases[i][0], strlen(cases[i][0]));
        out[n] = 0;
        assert_string_equal(out, cases[i][1]);
    }
}

static void media_types(void **state)
{
    (void)state;
    static const char *const good[] = {"application/grpc", "application/grpc+proto", "application/grpc;q=1",
                                       "application/grpc+proto; charset=x"};
    static const char *const bad[] = {
        "",           "application/grp",           "application/grpc+json", "application/grpc-web",
        "text/plain", "application/grpc+protobuf", "Application/grpcx"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(grpc_media_type((const uint8_t *)good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(grpc_media_type((const uint8_t *)bad[i], strlen(bad[i])));
}

static void utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text, *repaired;
    } cases[] = {
        {"plain", "plain"},
        {"\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf"},
        {"\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf"},
        {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\x80", "?"},
        {"\xc0\x80", "??"}, /* overlong */
        {"\xc1\xbf", "??"},
        {"\xe0\x9f\xbf", "???"},
        {"\xed\xa0\x80", "???"}, /* half of a pair */
        {"\xf0\x8f\xbf\xbf", "????"},
        {"\xf4\x90\x80\x80", "????"}, /* beyond the last */
        {"\xf5\x80", "??"},
        {"\xff", "?"},
        {"a\xc3", "a?"}, /* cut short */
        {"a\xe2\x82", "a??"},
        {"\xc3(", "?("},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        strcpy(text, cases[i].text);
        assert_int_equal(utf8_valid((const uint8_t *)text, strlen(text), false),
                         strcmp(text, cases[i].repaired) == 0);
        utf8_repair(text);
        assert_string_equal(text, cases[i].repaired);
        assert_true(utf8_valid((const uint8_t *)text, strlen(text), false));
    }
    assert_false(utf8_valid((const uint8_t *)"a\0b", 3, false));
    assert_true(utf8_valid((const uint8_t *)"a\0b", 3, true));
}

static void code_names(void **state)
{
    (void)state;
    assert_string_equal(grpc_code_name(GRPC_OK), "OK");
    assert_string_equal(grpc_code_name(GRPC_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_int_equal(GRPC_UNAVAILABLE, 14);
    assert_string_equal(grpc_code_name((enum grpc_code)99), "unknown code");
}

#define MANY 500
struct item {
    struct timer timer;
    uint64_t want; /* 0: not set */
};
static struct item items[MANY];
static size_t fired;
static uint64_t fired_last;

static void fire(struct timer *timer, uint64_t now_ms)
{
    struct item *item = (struct item *)timer;
    assert_true(item->want != 0 && item->want <= now_ms);
    assert_true(timer->at_ms >= fired_last);
    fired_last = timer->at_ms;
    assert_int_equal(timer->place, 0);
    item->want = 0;
    fired++;
}

/* Against a plain list. */
static void timers_fire_in_order(void **state)
{
    (void)state;
    struct timers timers = {0};
    unsigned seed = 1;
    print_message("seed %u\n", seed);
    srandom(seed);
    assert_true(timers_room(&timers, MANY));
    for (size_t i = 0; i < MANY; i++)
        items[i] = (struct item){.timer.fire = fire};
    uint64_t now = 1;
    for (int round = 0; round < 20000; round++) {
        struct item *item = &items[random() % MANY];
        switch (random() % 4) {
        case 0:
            item->want = 0;
            timer_clear(&timers, &item->timer);
            break;
        case 1:
            now += (uint64_t)random() % 20;
            fired_last = 0;
            timers_run(&timers, now);
            break;
        default:
            item->want = now + 1 + (uint64_t)random() % 300;
            timer_set(&timers, &item->timer, item->want);
        }
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < MANY; i++) {
            next = items[i].want != 0 && items[i].want < next ? items[i].want : next;
            assert_int_equal(items[i].want != 0, items[i].timer.place != 0);
        }
        assert_int_equal(timers_next(&timers), next);
    }
    assert_true(fired > 1000);
    fired_last = 0;
    timers_run(&timers, now + 1000);
    assert_int_equal(timers.count, 0);
    timer_set(&timers, &items[0].timer, UINT64_MAX); /* never */
    assert_int_equal(timers.count, 0);
    timers_end(&timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts), cmocka_unit_test(escapes),    cmocka_unit_test(media_types),
        cmocka_unit_test(utf8),     cmocka_unit_test(code_names), cmocka_unit_test(timers_fire_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
