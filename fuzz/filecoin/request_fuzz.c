/* Requests of every kind from any bytes: no crash, no leak, no allocation by an unchecked length; what is
 * refused says why; what is accepted has public inputs, and for 2 KiB sectors seeds that fill the circuit's
 * shape.
 *
 * An input: kind, registered number, partition index, count (a byte each); sector number (8 bytes);
 * randomness, comm_r_old, comm_r_new, comm_d_new (32 bytes each); then the vanilla proofs, each behind its
 * length (4 bytes). Seeds: fuzz/corpus/request_fuzz, made of tests/data by request_corpus.py. */
#include "base/bytes.h"
#include "base/mem.h"
#include "filecoin/c1.h"
#include "filecoin/request.h"
#include <stdlib.h>
#include <string.h>

#define VANILLA_MAX 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Shapes of the 2 KiB circuits, made once and kept. */
static struct shape *shapes[PROOF_SNAP_POSEIDON];

/* Parts of a shape lie in mapped memory, where the leak checker does not look for references. */
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LEAKS_WATCHED(yes) ((yes) ? __lsan_enable() : __lsan_disable())
#else
#define LEAKS_WATCHED(yes) ((void)0)
#endif

static void make_shapes(void)
{
    LEAKS_WATCHED(false);
    for (int kind = 0; kind < PROOF_SNAP_POSEIDON; kind++) {
        struct status s = circuit_shape(&shapes[kind], (enum proof_kind)kind, sector_by_circuit("2k"));
        CHECK(!status_failed(&s));
    }
    LEAKS_WATCHED(true);
}

static void accepted(const struct request *request)
{
    const struct request_outline *facts = request_facts(request);
    uint32_t count = circuit_inputs(facts->kind, facts->sector);
    fr *inputs = mem_alloc(count, sizeof *inputs);
    CHECK(inputs != NULL);
    for (uint32_t k = 0; k < facts->partitions; k++) {
        struct status s = request_inputs(inputs, request, k);
        CHECK(!status_failed(&s));
        if (facts->sector->log2_nodes != 6)
            continue;
        struct seeds seeds;
        s = request_seeds(&seeds, request, shapes[facts->kind], k);
        CHECK(!status_failed(&s));
        for (uint32_t i = 0; i < count; i++)
            CHECK(fr_equal(&inputs[i], &seeds.inputs[1 + i]));
        seeds_end(&seeds);
    }
    mem_free(inputs);
}

/* Exact copies, so that the sanitizer sees what lies behind. A C1 output has its padding. */
static size_t take_vanilla(struct bytes_view *out, struct cursor *c, size_t count, size_t padding)
{
    size_t i = 0;
    for (; i < count && cursor_left(c) >= 4; i++) {
        size_t size = cursor_le32(c);
        if (size > cursor_left(c))
            size = cursor_left(c);
        uint8_t *copy = malloc(size + padding + (size + padding == 0));
        CHECK(copy != NULL);
        cursor_copy(c, copy, size);
        memset(copy + size, 0, padding);
        out[i] = (struct bytes_view){copy, size};
    }
    return i;
}

static void run(const struct proof_request *r)
{
    static const struct work work = {NULL, PRIORITY_NORMAL, NULL};
    struct request_outline outline;
    struct request *request;
    struct status known = request_outline(&outline, r);
    struct status s = request_open(&request, r, &work);
    CHECK((request != NULL) == !status_failed(&s));
    if (request != NULL) {
        CHECK(!status_failed(&known));
        CHECK(memcmp(&outline, request_facts(request), sizeof outline) == 0);
        accepted(request);
    } else {
        CHECK(s.code == STATUS_INVALID || s.code == STATUS_UNSUPPORTED);
        CHECK(s.message[0] != 0);
    }
    request_end(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_over(data, size);
    struct bytes_view vanilla[VANILLA_MAX];
    uint8_t head[4], texts[4][32];
    cursor_copy(&c, head, sizeof head);
    struct proof_request r = {.kind = (enum proof_kind)(head[0] % PROOF_KINDS),
                              .registered_proof = head[1],
                              .partition_index = head[2],
                              .miner = 1000,
                              .sector_number = cursor_le64(&c),
                              .vanilla = vanilla};
    struct bytes_view *views[4] = {&r.randomness, &r.comm_r_old, &r.comm_r_new, &r.comm_d_new};
    for (int i = 0; i < 4; i++) {
        cursor_copy(&c, texts[i], 32);
        *views[i] = (struct bytes_view){texts[i], 32};
    }
    r.vanilla_count =
        take_vanilla(vanilla, &c, head[3] % VANILLA_MAX, r.kind == PROOF_POREP ? C1_PADDING : 0);
    if (shapes[0] == NULL)
        make_shapes();
    size_t used = mem_used();
    run(&r);
    CHECK(mem_used() == used);
    for (size_t i = 0; i < r.vanilla_count; i++)
        free((uint8_t *)(uintptr_t)vanilla[i].data);
    return 0;
}
