/* See proving_support.h. */
#include "proving_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct client *fixture_connect(const struct fixture *f)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", f->path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return client_new(NULL, fd);
}

int fixture_setup(void **state)
{
    static int number;
    struct fixture *f = calloc(1, sizeof *f);
    uint64_t limits[LEDGER_CLASSES] = {100 << 20, 1 << 20, 0};
    struct listener *listener;
    char address[96];
    assert_non_null(f);
    f->service = fake_service();
    ok(ledger_make(&f->ledger, limits));
    snprintf(f->path, sizeof f->path, "/tmp/cuzk-proving-%ld-%d.sock", (long)getpid(), number++);
    snprintf(address, sizeof address, "unix://%s", f->path);
    ok(listen_open(&listener, address, NULL));
    struct proving_options o = {
        .service = f->service, .ledger = f->ledger, .listeners = &listener, .listeners_count = 1};
    ok(proving_start(&f->proving, &o));
    f->client = fixture_connect(f);
    *state = f;
    return 0;
}

void fixture_stop(struct fixture *f)
{
    proving_stop(f->proving, 0);
    f->proving = NULL;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    client_close(f->client);
    fixture_stop(f);
    for (size_t i = 0; i < f->service->jobs_count; i++)
        if (f->service->jobs[i].owner != NULL)
            fake_finish(f->service, i, JOB_CANCELLED, status_ok());
    struct ledger_view v;
    ledger_look(f->ledger, LEDGER_HOST, &v);
    assert_int_equal(v.used, 0);
    assert_int_equal(access(f->path, F_OK), -1);
    ledger_end(f->ledger);
    fake_end(f->service);
    free(f);
    return 0;
}

struct message request(int kind, const char *id, int priority, size_t vanilla, char value, bool wrapped)
{
    static uint8_t word[32] = "0123456789abcdef0123456789abcde";
    Cuzk__V1__SubmitProofRequest r = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__ProveRequest outer = CUZK__V1__PROVE_REQUEST__INIT;
    ProtobufCBinaryData proof = {vanilla, malloc(vanilla)};
    assert_non_null(proof.data);
    memset(proof.data, value, vanilla);
    r.request_id = (char *)(uintptr_t)id;
    r.proof_kind = (Cuzk__V1__ProofKind)kind;
    r.priority = (Cuzk__V1__Priority)priority;
    r.registered_proof = 8;
    if (kind == 1) {
        r.vanilla_proof = proof;
    } else {
        r.n_vanilla_proofs = 1;
        r.vanilla_proofs = &proof;
    }
    if (kind == 2)
        r.comm_r_old = r.comm_r_new = r.comm_d_new = (ProtobufCBinaryData){32, word};
    if (kind >= 3)
        r.randomness = (ProtobufCBinaryData){32, word};
    outer.submit = &r;
    const ProtobufCMessage *m = wrapped ? &outer.base : &r.base;
    struct message out = {.size = protobuf_c_message_get_packed_size(m)};
    out.bytes = malloc(out.size);
    assert_non_null(out.bytes);
    protobuf_c_message_pack(m, out.bytes);
    free(proof.data);
    return out;
}

struct message porep_request(const char *id, size_t vanilla, char value)
{
    return request(1, id, 0, vanilla, value, true);
}

Cuzk__V1__ProveResponse *prove_response(struct client *c, struct client_call *call)
{
    size_t size;
    client_wait(c, call);
    if (call->code != GRPC_OK)
        fail_msg("%d: %s", call->code, call->text);
    const uint8_t *bytes = client_answer(call, 0, &size);
    assert_non_null(bytes);
    Cuzk__V1__ProveResponse *r = cuzk__v1__prove_response__unpack(NULL, size, bytes);
    assert_non_null(r);
    assert_non_null(r->result);
    return r;
}
