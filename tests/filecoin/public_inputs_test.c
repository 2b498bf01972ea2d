/* The reference's proofs of every kind hold for the inputs that are derived here from public values, and for
 * no others: each input of each partition is changed once. */
#include "support.h"
#include "filecoin/request.h"
#include "groth16/proof.h"

static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

struct published {
    enum proof_kind kind;
    uint64_t registered_proof;
    uint32_t partition; /* of the request, and the place in the file of proofs */
    uint8_t randomness; /* the byte repeated */
    const char *vk, *proofs;
    const char *vanilla[3];
    uint32_t inputs;
};

static const struct published PUBLISHED[] = {
    {PROOF_POREP, 5, 0, 0, "porep-2k/porep-2k.vk", "porep-2k/porep-2k.proof", {"porep-2k/c1.json"}, 39},
    {PROOF_WINNING,
     0,
     0,
     7,
     "winning-2k/winning-2k.vk",
     "winning-2k/winning-2k.proof",
     {"winning-2k/sector-1.vproof"},
     132},
    {PROOF_WINDOW,
     5,
     0,
     8,
     "window-2k/window-2k.vk",
     "window-2k/v1.proof",
     {"window-2k/v1-sector-1.vproof", "window-2k/v1-sector-2.vproof"},
     22},
    {PROOF_WINDOW,
     5,
     1,
     8,
     "window-2k/window-2k.vk",
     "window-2k/v1.proof",
     {"window-2k/v1-sector-3.vproof"},
     22},
    {PROOF_WINDOW,
     10,
     0,
     8,
     "window-2k/window-2k.vk",
     "window-2k/v1_2.proof",
     {"window-2k/v1_2-sector-1.vproof", "window-2k/v1_2-sector-2.vproof"},
     22},
    {PROOF_WINDOW,
     10,
     1,
     8,
     "window-2k/window-2k.vk",
     "window-2k/v1_2.proof",
     {"window-2k/v1_2-sector-3.vproof"},
     22},
    {PROOF_SNAP, 0, 0, 0, "snap-2k/snap-2k.vk", "snap-2k/snap-2k.proof", {"snap-2k/partition-0.vproof"}, 4},
};

/* The inputs that a verifier derives. */
static void derive(fr *inputs, const struct published *x)
{
    static const char *const COMMITMENTS[3] = {
        "a756d696775e623f97fb562fe1bbb3a073c2ebdc42dd899f4b9cc2d190b9e119",
        "0d3f028886a2451faed560e4a82ad3702363f8f169795c1328b0993992f53d50",
        "0ef16053994ba14070827712354b0531d8a87e2cea0d5330f49c63dfc9615f2b"};
    uint8_t randomness[32], commitment[3][32];
    struct bytes_view vanilla[3];
    struct request *request;
    size_t count = 0;
    for (; count < 3 && x->vanilla[count] != NULL; count++)
        vanilla[count].data = test_file(x->vanilla[count], &vanilla[count].size);
    memset(randomness, x->randomness, sizeof randomness);
    for (int i = 0; i < 3; i++)
        from_hex(commitment[i], 32, COMMITMENTS[i]);
    struct proof_request wanted = {.kind = x->kind,
                                   .registered_proof = x->registered_proof,
                                   .partition_index = x->partition,
                                   .vanilla = vanilla,
                                   .vanilla_count = count};
    if (x->kind == PROOF_POREP) {
        wanted.miner = 1000;
        wanted.sector_number = 1;
    } else if (x->kind == PROOF_SNAP) {
        wanted.comm_r_old = (struct bytes_view){commitment[0], 32};
        wanted.comm_r_new = (struct bytes_view){commitment[1], 32};
        wanted.comm_d_new = (struct bytes_view){commitment[2], 32};
    } else {
        wanted.randomness = (struct bytes_view){randomness, 32};
    }
    ok(request_open(&request, &wanted, &HERE));
    assert_int_equal(circuit_inputs(x->kind, request_facts(request)->sector), x->inputs);
    ok(request_inputs(inputs, request, 0));
    request_end(request);
    for (size_t i = 0; i < count; i++)
        mem_free((uint8_t *)(uintptr_t)vanilla[i].data);
}

static void each_input_counts(const struct published *x)
{
    struct verifying_key key;
    struct proof proof;
    fr inputs[132];
    size_t size;
    uint8_t *vk = test_file(x->vk, &size);
    ok(vk_read(&key, vk, size, NULL));
    uint8_t *proofs = test_file(x->proofs, &size);
    assert_true((x->partition + 1) * (size_t)PROOF_BYTES <= size);
    ok(proof_decode(&proof, proofs + x->partition * (size_t)PROOF_BYTES));
    derive(inputs, x);
    ok(proof_verify(&key, &proof, inputs, x->inputs));
    for (uint32_t i = 0; i < x->inputs; i++) {
        fr good = inputs[i];
        fr_add(&inputs[i], &inputs[i], &FR_ONE);
        if (proof_verify(&key, &proof, inputs, x->inputs).code != STATUS_REJECTED)
            fail_msg("%s, partition %u: valid with input %u changed", x->proofs, x->partition, i);
        inputs[i] = good;
    }
    vk_end(&key);
    mem_free(vk);
    mem_free(proofs);
}

static void porep(void **state)
{
    (void)state;
    each_input_counts(&PUBLISHED[0]);
}

static void posts(void **state)
{
    (void)state;
    for (int i = 1; i < 6; i++)
        each_input_counts(&PUBLISHED[i]);
}

static void snap(void **state)
{
    (void)state;
    each_input_counts(&PUBLISHED[6]);
}

/* Two partitions of one deadline: each proof holds for its own inputs alone. */
static void partitions_differ(void **state)
{
    (void)state;
    struct verifying_key key;
    struct proof proof;
    fr inputs[132];
    size_t size;
    uint8_t *vk = test_file(PUBLISHED[2].vk, &size);
    ok(vk_read(&key, vk, size, NULL));
    for (int i = 2; i < 6; i++)
        for (int k = 2; k < 6; k++) {
            uint8_t *proofs = test_file(PUBLISHED[i].proofs, &size);
            ok(proof_decode(&proof, proofs + PUBLISHED[i].partition * (size_t)PROOF_BYTES));
            derive(inputs, &PUBLISHED[k]);
            assert_int_equal(proof_verify(&key, &proof, inputs, 22).code,
                             i == k ? STATUS_OK : STATUS_REJECTED);
            mem_free(proofs);
        }
    vk_end(&key);
    mem_free(vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(porep), cmocka_unit_test(posts),
                                       cmocka_unit_test(snap), cmocka_unit_test(partitions_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
