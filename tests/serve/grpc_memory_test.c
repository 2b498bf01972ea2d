/* Memory before bytes: large messages wait for their reservation with a few KiB let in, take turns by
 * priority, hold up nobody, and leave nothing behind. One thread, a clock moved by hand. */
#include "service.h"

#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1 << 20)

static struct service service;
static struct ledger *ledger;
static struct grpc_server *server;

static void start(uint64_t limit, struct grpc_options o)
{
    uint64_t limits[LEDGER_CLASSES] = {limit, 0, 0};
    ok(ledger_make(&ledger, limits));
    o.ledger = ledger;
    server = service_server(&service, &o);
}

static void end(void)
{
    finish(server);
    struct ledger_view v;
    ledger_look(ledger, LEDGER_HOST, &v);
    assert_int_equal(v.used, 0);
    assert_int_equal(v.waiting, 0);
    ledger_end(ledger);
}

static uint64_t used(void)
{
    struct ledger_view v;
    ledger_look(ledger, LEDGER_HOST, &v);
    return v.used;
}

static uint8_t *filled(size_t size, char with)
{
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, with, size);
    return bytes;
}

static void a_body_waits_for_its_bytes(void **state)
{
    (void)state;
    start(10 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server);
    uint8_t *bytes = filled(4 * MIB, 'n');
    size_t before = mem_used();
    for (int i = 0; i < 5; i++)
        (void)client_call(c, "/t/Hold", bytes, 4 * MIB, NULL);
    client_pump(c);
    assert_int_equal(service.held_count, 2);
    assert_int_equal(used(), 2 * (4 * MIB + GRPC_PADDING));
    assert_true(mem_used() - before < 9 * MIB);
    assert_int_equal(atomic_load(&server->uploads_now), 3);
    for (int i = 2; i < 5; i++)
        assert_true(c->calls[i]->body_sent <= 65535);
    /* Small ones pass meanwhile. */
    struct client_call *small = client_unary(c, "/t/Echo", bytes, 65536);
    assert_int_equal(small->code, GRPC_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(service.held[i].message->size, 4 * MIB);
        assert_int_equal(service.held[i].message->lease.bytes, 4 * MIB + GRPC_PADDING);
        assert_memory_equal(service.held[i].message->data, bytes, 4 * MIB);
        service_answer(&service.held[i], "");
        client_pump(c);
        assert_int_equal(service.held_count, i + 3 < 5 ? i + 3 : 5);
        assert_true(used() <= 10 * MIB);
    }
    assert_int_equal(atomic_load(&server->loose_now), 0);
    free(bytes);
    client_close(c);
    end();
}

static void turns_by_priority(void **state)
{
    (void)state;
    start(5 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server), *d = client_open(server);
    static const char order[] = "nlnhclnhc";
    uint8_t *bytes[9];
    /* The first holds the memory; the others come while it does. */
    for (int i = 0; i < 9; i++) {
        bytes[i] = filled(3 * MIB, order[i]);
        (void)client_call(i % 2 ? c : d, "/t/Hold", bytes[i], 3 * MIB, NULL);
        client_pump(c);
        client_pump(d);
    }
    char got[10] = "";
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(service.held_count, i + 1);
        got[i] = (char)service.held[i].message->data[0];
        service_answer(&service.held[i], "");
        client_pump(c);
        client_pump(d);
    }
    assert_string_equal(got, "ncchhnnll");
    for (int i = 0; i < 9; i++)
        free(bytes[i]);
    client_close(c);
    client_close(d);
    end();
}

static void what_never_fits_is_refused(void **state)
{
    (void)state;
    start(2 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server);
    uint8_t *bytes = filled(4 * MIB, 'n');
    struct client_call *call = client_unary(c, "/t/Hold", bytes, 4 * MIB);
    assert_int_equal(call->code, GRPC_FAILED_PRECONDITION);
    assert_non_null(strstr(call->text, "4194368"));
    assert_true(call->body_sent <= 65536);
    assert_int_equal(service.held_count, 0);
    free(bytes);
    client_close(c);
    end();
}

/* Those that leave while they wait, are granted, or are half sent. */
static void leavers_leave_nothing(void **state)
{
    (void)state;
    start(5 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server), *d = client_open(server);
    uint8_t *bytes = filled(3 * MIB, 'n');
    struct call_options half = {.let = MIB}, late = {.timeout = "2S"};
    struct client_call *first = client_call(c, "/t/Hold", bytes, 3 * MIB, &half);
    client_pump(c);
    assert_int_equal(first->body_sent, MIB);
    struct client_call *second = client_call(c, "/t/Hold", bytes, 3 * MIB, NULL);
    struct client_call *third = client_call(c, "/t/Hold", bytes, 3 * MIB, &late);
    (void)client_call(d, "/t/Hold", bytes, 3 * MIB, NULL);
    struct client_call *last = client_call(c, "/t/Hold", bytes, 3 * MIB, NULL);
    client_pump(c);
    client_pump(d);
    assert_int_equal(service.held_count, 0);
    client_reset(c, second); /* while it waits */
    client_pump(c);
    fake_now += 2000;
    client_pump(c);
    assert_int_equal(third->code, GRPC_DEADLINE_EXCEEDED);
    client_close(d); /* with what waits on it */
    assert_int_equal(atomic_load(&server->uploads_now), 1);
    assert_int_equal(used(), 3 * MIB + GRPC_PADDING);
    client_reset(c, first); /* half sent: its bytes go to the last */
    client_pump(c);
    assert_int_equal(service.held_count, 1);
    assert_int_equal(used(), 3 * MIB + GRPC_PADDING);
    client_reset(c, last); /* in the handler's hands */
    client_pump(c);
    assert_int_equal(service.held[0].gone, 1);
    service_answer(&service.held[0], "");
    client_pump(c);
    assert_int_equal(used(), 0);
    free(bytes);
    client_close(c);
    end();
}

/* Granted by another, gone before the grant is seen: the lease comes back. */
static void granted_too_late(void **state)
{
    (void)state;
    start(5 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server);
    uint8_t *bytes = filled(3 * MIB, 'n');
    (void)client_call(c, "/t/Hold", bytes, 3 * MIB, NULL);
    client_pump(c);
    struct client_call *second = client_call(c, "/t/Hold", bytes, 3 * MIB, NULL);
    client_pump(c);
    client_reset(c, second);
    client_step(c);                       /* the reset is in the socket */
    service_answer(&service.held[0], ""); /* this grants the second, in the server's queue behind the reset */
    client_pump(c);
    assert_int_equal(service.held_count, 1);
    assert_int_equal(used(), 0);
    free(bytes);
    client_close(c);
    end();
}

static void a_stalled_body_is_dropped(void **state)
{
    (void)state;
    start(10 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server);
    uint8_t *bytes = filled(3 * MIB, 'n');
    struct call_options half = {.let = MIB}, head = {.let = 1000}, prefix = {.let = 3},
                        nothing = {.let = 1, .raw = true};
    struct client_call *stalled[4] = {client_call(c, "/t/Hold", bytes, 3 * MIB, &half),
                                      client_call(c, "/t/Hold", bytes, 3 * MIB, &head),
                                      client_call(c, "/t/Hold", bytes, 3 * MIB, &prefix),
                                      client_call(c, "/t/Hold", bytes, 3 * MIB, &nothing)};
    client_pump(c);
    struct client_call *slow = client_call(c, "/t/Hold", bytes, 3 * MIB, &half);
    client_pump(c);
    assert_int_equal(used(), 2 * (3 * MIB + GRPC_PADDING));
    for (int i = 0; i < 10; i++) { /* slow, but it moves */
        fake_now += 30000;
        client_let(c, slow, 1000);
        client_pump(c);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stalled[i]->code, GRPC_CANCELLED);
        assert_non_null(strstr(stalled[i]->text, "no progress"));
    }
    assert_int_equal(used(), 3 * MIB + GRPC_PADDING);
    client_let(c, slow, 3 * MIB);
    client_pump(c);
    assert_int_equal(service.held_count, 1);
    fake_now += 3600000; /* a handler may take its time */
    client_pump(c);
    service_answer(&service.held[0], "ok");
    client_pump(c);
    assert_int_equal(slow->code, GRPC_OK);
    free(bytes);
    client_close(c);
    end();
}

/* One that waits for memory is not stalled, however long it takes. */
static void waiting_is_not_stalling(void **state)
{
    (void)state;
    start(5 * MIB, (struct grpc_options){0});
    struct client *c = client_open(server);
    uint8_t *bytes = filled(3 * MIB, 'n');
    (void)client_call(c, "/t/Hold", bytes, 3 * MIB, NULL);
    client_pump(c);
    struct client_call *second = client_call(c, "/t/Hold", bytes, 3 * MIB, NULL);
    for (int i = 0; i < 100; i++) {
        client_pump(c);
        fake_now += 30000;
    }
    assert_false(second->closed);
    service_answer(&service.held[0], "");
    client_pump(c);
    assert_int_equal(service.held_count, 2);
    service_answer(&service.held[1], "");
    client_pump(c);
    assert_int_equal(second->code, GRPC_OK);
    free(bytes);
    client_close(c);
    end();
}

/* Many half-sent small messages: the peer with most of them loses some, the other none. */
static void loose_bytes_are_bounded(void **state)
{
    (void)state;
    start(10 * MIB, (struct grpc_options){.max_loose = MIB});
    struct client *greedy = client_open(server), *modest = client_open(server);
    uint8_t *bytes = filled(65536, 'n');
    struct call_options part = {.let = 30000};
    struct client_call *mine = client_call(modest, "/t/Echo", bytes, 65536, &part);
    client_pump(modest);
    for (int i = 0; i < 100; i++) {
        (void)client_call(greedy, "/t/Echo", bytes, 65536, &part);
        client_pump(greedy);
        assert_true(atomic_load(&server->loose_now) <= MIB);
    }
    size_t refused = 0;
    for (int i = 0; i < 100; i++) {
        refused += greedy->calls[i]->closed;
        assert_true(!greedy->calls[i]->closed || (greedy->calls[i]->code == GRPC_RESOURCE_EXHAUSTED &&
                                                  greedy->calls[i]->retry_ms == 1000));
    }
    assert_true(refused >= 50 && refused <= 90);
    client_let(modest, mine, 65536);
    client_pump(modest);
    assert_int_equal(mine->code, GRPC_OK);
    client_close(greedy);
    assert_int_equal(atomic_load(&server->loose_now), 0);
    free(bytes);
    client_close(modest);
    end();
}

/* A thousand uploads of 50 MB at once: what is buffered stays within the ledger and the heads. */
static void sc_10_a_thousand_large_uploads(void **state)
{
    (void)state;
    start(300 * MIB, (struct grpc_options){0});
    enum { CLIENTS = 5, EACH = 200, SIZE = 50000000 };
    struct client *c[CLIENTS];
    uint8_t *bytes = filled(SIZE, 'n');
    size_t before = mem_used();
    for (int i = 0; i < CLIENTS; i++) {
        c[i] = client_open(server);
        for (int k = 0; k < EACH; k++) {
            struct client_call *call = client_call(c[i], "/t/Hold", "", 0, NULL);
            free(call->body); /* all send the same bytes: a copy for each would be 50 GB */
            call->body = NULL;
            call->body_size = call->let = 0;
            call->open = true;
            (void)k;
        }
        client_pump(c[i]);
    }
    static uint8_t prefix[5] = {0, SIZE >> 24, SIZE >> 16 & 255, SIZE >> 8 & 255, SIZE & 255};
    uint8_t *whole = malloc(SIZE + 5);
    assert_non_null(whole);
    memcpy(whole, prefix, 5);
    memcpy(whole + 5, bytes, SIZE);
    for (int i = 0; i < CLIENTS; i++)
        for (int k = 0; k < EACH; k++) {
            struct client_call *call = c[i]->calls[k];
            call->body = whole;
            call->body_size = call->let = SIZE + 5;
            client_end(c[i], call);
        }
    for (int i = 0; i < CLIENTS; i++)
        client_pump(c[i]);
    assert_int_equal(service.held_count, 6); /* 300 MiB hold six */
    assert_int_equal(atomic_load(&server->uploads_now), CLIENTS * EACH - 6);
    assert_true(used() <= 300 * MIB);
    assert_true(mem_used() - before <= 300 * MIB + 64 * MIB);
    print_message("%zu MiB beside the ledger\n", (mem_used() - before - used()) / MIB);
    for (int i = 0; i < CLIENTS; i++) {
        for (int k = 0; k < EACH; k++)
            c[i]->calls[k]->body = NULL;
        client_close(c[i]);
    }
    for (size_t i = 0; i < service.held_count; i++)
        service_answer(&service.held[i], "");
    free(whole);
    free(bytes);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_waits_for_its_bytes),
        cmocka_unit_test(turns_by_priority),
        cmocka_unit_test(what_never_fits_is_refused),
        cmocka_unit_test(leavers_leave_nothing),
        cmocka_unit_test(granted_too_late),
        cmocka_unit_test(a_stalled_body_is_dropped),
        cmocka_unit_test(waiting_is_not_stalling),
        cmocka_unit_test(loose_bytes_are_bounded),
        cmocka_unit_test(sc_10_a_thousand_large_uploads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
