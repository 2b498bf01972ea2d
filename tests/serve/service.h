/* What the server's tests call: /t/Echo answers with what it got, /t/Hold keeps the call until the test
 * answers it, /t/Stream echoes every message and ends when the client does, /t/Flood answers with as many
 * bytes as the message's first four say, /t/Fail ends with a code, a text that needs escapes, and a retry
 * hint. */
#ifndef CUZK_TESTS_SERVE_SERVICE_H
#define CUZK_TESTS_SERVE_SERVICE_H

#include "client.h"

#define HELD_MAX 2048
struct held {
    struct grpc_call *call;
    struct grpc_message *message;
    uint64_t timeout_ms;
    int gone, done;
};
struct service {
    struct held held[HELD_MAX];
    size_t held_count;
    size_t echoed;
};

extern const struct grpc_method test_methods[];
extern const size_t test_methods_count;
/* A server without sockets or a thread, on the tests' clock; options beyond methods and context may be NULL.
 */
struct grpc_server *service_server(struct service *service, const struct grpc_options *options);
/* Answers and ends a held call. */
void service_answer(struct held *held, const char *text);
/* The first byte of a message to /t/Hold tells its turn in the ledger: 'c', 'h', 'n', 'l'. */
enum priority service_priority(const uint8_t *head, size_t head_size, uint64_t message_size);

#endif
