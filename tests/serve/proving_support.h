/* A proving service on a UNIX socket over the fake engine, and requests for it. */
#ifndef CUZK_TESTS_SERVE_PROVING_SUPPORT_H
#define CUZK_TESTS_SERVE_PROVING_SUPPORT_H

#include "client.h"

#include "cuzk.pb-c.h"
#include "fake_service.h"
#include "serve/proving.h"

#define SERVICE_PATH(method) "/cuzk.v1.ProvingEngine/" method
#define PROVE                SERVICE_PATH("Prove")
#define SUBMIT               SERVICE_PATH("SubmitProof")
#define AWAIT                SERVICE_PATH("AwaitProof")
#define CANCEL               SERVICE_PATH("CancelProof")
#define STATUS               SERVICE_PATH("GetStatus")
#define METRICS              SERVICE_PATH("GetMetrics")
#define PRELOAD              SERVICE_PATH("PreloadSRS")
#define EVICT                SERVICE_PATH("EvictSRS")
#define CHECK_HEALTH         "/grpc.health.v1.Health/Check"
#define WATCH                "/grpc.health.v1.Health/Watch"
#define REFLECTION           "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"

struct fixture {
    struct engine_service *service;
    struct ledger *ledger;
    struct proving *proving;
    struct client *client;
    char path[80];
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
void fixture_stop(struct fixture *f);
struct client *fixture_connect(const struct fixture *f);
#define PROVING_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

struct message {
    uint8_t *bytes; /* free() */
    size_t size;
};
/* One vanilla proof of so many bytes of a value; wrapped: a ProveRequest. The vanilla proof comes last. */
struct message request(int kind, const char *id, int priority, size_t vanilla, char value, bool wrapped);
struct message porep_request(const char *id, size_t vanilla, char value); /* a ProveRequest */
Cuzk__V1__ProveResponse *prove_response(struct client *c, struct client_call *call);

enum priority prove_priority(const uint8_t *head, size_t head_size, uint64_t message_size);
enum priority submit_priority(const uint8_t *head, size_t head_size, uint64_t message_size);

#endif
