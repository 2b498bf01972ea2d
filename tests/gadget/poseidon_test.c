/* Poseidon against the check values of the gadgets specification, 8.7: hashes, single constants, digests of
 * all constants; and the compressed form against the plain definition (add constants, S-box, multiply). */
#include "gadget/poseidon.h"

#include "field/flavour.h"
#include "gadget/bulk.h"
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    uint32_t arity;
    const char *counting, *ones; /* big-endian */
    const char *digests[3];      /* plain constants, compressed constants, matrices */
} known[] = {
    {2,
     "396508d75e76a56b739e0fd902efe161a6fba9339d05a69d2e203c369a02e7ff",
     "4135dc027e29dd9715369d179ee76009135bfe157b347a3f6cae952b0c1508b3",
     {"cf4dfb7448132022e22b32e3dce6b125cb06329448f9e8d8fe53a71c73cbe6d4",
      "b768b730ce5198394d948d76421ab53b08cc16ec1ac082cf503f370192253e16",
      "a33201d9e9370922641f21a7fd2b6870c544f9a20b5e08f41477a4b401dde6d6"}},
    {4,
     "58a54b10a9e5848a00db3c6579229399fb6b4605bf1327ec019814ff6662075d",
     "00408158c69416601f12839cbb9a86cb567ceb91c4abcd0060f896ccc1d9339f",
     {"91e463d6553415b3901b9f26b2ad53e6298ac3e5ab0ef260d397bafe8bdde98e",
      "3e4ec19ded2c86a89f3d6bddc13d9571a0cc5473e7207cfbaf6a8169a69f5709",
      "b4b3d58cb29b95278249633519d4bb4cc10e9f476f4db85ecd563919947b1846"}},
    {8,
     "2394611da3a5de5512010042116770774b682e9d9cc4aed92a9934f56d38a5e6",
     "230bc0af06dd5a1f3cb62f1edab088723e01ed9b43590e7e782df166644b4d60",
     {"9a4a743575f0eaf285c93d73f8adaf4e7ef4042c2445b42bddaf1a64e5face72",
      "f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16",
      "b214cbdf475db05677739b129172f62a37893379c0c8ba90fa43e13e692661e2"}},
    {11,
     "0c0fc1b2e5227f286ca537e232ebe87a09f3dcd8ccb08fc1cee3bbc32b693163",
     "08d5374b64bc5087fd0ad82c65bf61a3b89e1c84d7124bd7ddfc407e2dd10251",
     {"479dc0d71d694cd50d853dec0c94aeb37df2a69929eaa23b545a52b1226aec06",
      "2d7c0e4e9b98eda82102b69f1a964ae59ccf98b0008b6d3d632d86f4fea79d1d",
      "776744c46f0ef36b95efa57347d8c4ab29daf9cf1809d014b37af2bcc9775a11"}},
    {16,
     "2d3ae2663381ae8ac1c2fb5a6f871e635b8dbc6d30680a6f1291c74060266d37",
     "2e7446c1edbdec973d8f834bed86508ab1d42cb059e3e77f2240186a22043227",
     {"e4a8a7bc7eaa2dcc61eff24e8e380e72d7c0bd9b144ff89bf8b68ed59a7551b4",
      "581c503ca9ab68bbf7bf9779d348d520dee5cceef63fe5818988a8e4be59f2a8",
      "a227c8eaba89707c6a26d238f925ea159c7fd8c7d9f67ec5355901a1ed0efdc4"}},
    {24,
     "63beb8831f11ae15066f39bf783f3d9fc3e779f6468815b1d7ef3569f585b321",
     "18bbdb9919298bc202026e01e8e9bc002649317063280ac0429dce74849cca14",
     {"aadfb9e461401f0835742d9137416a8995ee512538d3d1edc062274126abb10c",
      "1fefc1eae29b35220bce0c5f04da5c5253efe636f1fd7436a2bf7246d9bf1a6d",
      "2ea787cc43de473e0ecfb6df9d32574f42c6d116197f8d0f88b312bc441a1b54"}},
    {36,
     "699303082a6e5d5f540a30e03c10bbaa75cd368df8a8ac3c4473606dfa4e8140",
     "48265475d50f8a9209360ff9bfcb08585da8e78996b70d255447fae6a5967b8b",
     {"07e81763421dcab86a45eecc509fb88a011589dbe76955f64b2d219eb59b4079",
      "64b4717bcf47dcb568d3149ae7b3a7ea1766f0c3d21af946d9c6ef6c519b492e",
      "7c006c408704e7583cdc45f511087703c8122f978021676df252c4188ffa869a"}},
};
#define KNOWN (sizeof known / sizeof known[0])

static void big_endian(char out[65], const fr *a)
{
    uint8_t bytes[32];
    fr_to_bytes(bytes, a);
    for (int i = 0; i < 32; i++)
        sprintf(out + 2 * i, "%02x", bytes[31 - i]);
}

static void assert_element(const fr *a, const char *expected)
{
    char text[65];
    big_endian(text, a);
    assert_string_equal(text, expected);
}

static void add_elements(SHA256_CTX *c, const fr *a, size_t count)
{
    uint8_t bytes[32];
    for (size_t i = 0; i < count; i++) {
        fr_to_bytes(bytes, &a[i]);
        SHA256_Update(c, bytes, 32);
    }
}

static void assert_digest(SHA256_CTX *c, const char *expected)
{
    uint8_t digest[32];
    char text[65];
    SHA256_Final(digest, c);
    for (int i = 0; i < 32; i++)
        sprintf(text + 2 * i, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

static void constants_are_the_known_ones(void **state)
{
    (void)state;
    for (size_t k = 0; k < KNOWN; k++) {
        const struct poseidon *p = poseidon_of(known[k].arity);
        SHA256_CTX c;
        SHA256_Init(&c);
        add_elements(&c, p->plain, (size_t)(8 + p->partial_rounds) * p->width);
        assert_digest(&c, known[k].digests[0]);
        SHA256_Init(&c);
        add_elements(&c, p->rounds, (size_t)8 * p->width + p->partial_rounds);
        assert_digest(&c, known[k].digests[1]);
        SHA256_Init(&c);
        add_elements(&c, p->pre_sparse, (size_t)p->width * p->width);
        add_elements(&c, p->sparse, (size_t)p->partial_rounds * (2 * p->width - 1));
        assert_digest(&c, known[k].digests[2]);
    }
    const struct poseidon *p = poseidon_of(2);
    assert_element(&p->plain[0], "669f064bfa3ae17a23bd51861dbb4a24501eac92a2758b36a7320a009d6ed3d8");
    assert_element(&p->rounds[15], "15ea0de59c6ae7c8b21fd309ef84aba77c2d8e8139c9c08f5cca2138d161fdfd");
}

static void hashes_are_the_known_ones(void **state)
{
    (void)state;
    fr inputs[36], out;
    for (size_t k = 0; k < KNOWN; k++) {
        for (uint32_t i = 0; i < 36; i++)
            fr_from_u64(&inputs[i], i);
        poseidon_hash(&out, poseidon_of(known[k].arity), inputs);
        assert_element(&out, known[k].counting);
        for (uint32_t i = 0; i < 36; i++)
            inputs[i] = FR_ONE;
        poseidon_hash(&out, poseidon_of(known[k].arity), inputs);
        assert_element(&out, known[k].ones);
    }
    poseidon_hash_tagged(&out, poseidon_of(2), POSEIDON_TAG_CUSTOM_1, inputs);
    assert_element(&out, "377dd6f3911f11e60d941cd431592608b8c550871ff679431917312eda6b3bec");
    inputs[0] = FR_ZERO;
    poseidon_hash_tagged(&out, poseidon_of(2), POSEIDON_TAG_CUSTOM_1, inputs);
    assert_element(&out, "314a35c4e7f0924ead1fc58134a0fe25e3580bea397367c7e5a74ec4bc077758");
}

static void plain_poseidon(fr *out, const struct poseidon *p, const fr *inputs)
{
    fr state[POSEIDON_WIDTH_MAX], next[POSEIDON_WIDTH_MAX], t;
    fr_from_u64(&state[0], poseidon_merkle_tag(p->arity));
    memcpy(state + 1, inputs, p->arity * sizeof(fr));
    for (uint32_t round = 0; round < 8 + p->partial_rounds; round++) {
        for (uint32_t i = 0; i < p->width; i++) {
            fr_add(&state[i], &state[i], &p->plain[round * p->width + i]);
            if (i == 0 || round < 4 || round >= 4 + p->partial_rounds)
                fr_pow_u64_vartime(&state[i], &state[i], 5);
        }
        for (uint32_t j = 0; j < p->width; j++) {
            next[j] = FR_ZERO;
            for (uint32_t i = 0; i < p->width; i++) {
                fr_mul(&t, &state[i], &p->mds[i * p->width + j]);
                fr_add(&next[j], &next[j], &t);
            }
        }
        memcpy(state, next, sizeof state);
    }
    *out = state[1];
}

static void random_inputs(fr *inputs, uint64_t *seed)
{
    for (int i = 0; i < 36; i++) {
        uint64_t words[8];
        for (int k = 0; k < 8; k++)
            words[k] = *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        fr_from_bytes_reduce(&inputs[i], (const uint8_t *)words, 64);
    }
}

static void compressed_form_equals_the_plain_one(void **state)
{
    (void)state;
    uint64_t seed = 5;
    fr inputs[36], expected, got;
    for (int round = 0; round < 20; round++)
        for (size_t k = 0; k < KNOWN; k++) {
            const struct poseidon *p = poseidon_of(known[k].arity);
            random_inputs(inputs, &seed);
            if (round < 3)
                for (int i = 0; i < 36; i++) {
                    inputs[i] = round == 2 ? FR_ZERO : FR_ONE;
                    if (round == 1)
                        fr_neg(&inputs[i], &inputs[i]);
                }
            plain_poseidon(&expected, p, inputs);
            poseidon_hash(&got, p, inputs);
            assert_true(fr_equal(&expected, &got));
        }
}

static void both_flavours_agree(void **state)
{
    (void)state;
#ifdef CUZK_X86_64
    if (flavour_in_force() != FLAVOUR_ADX)
        skip();
    uint64_t seed = 6;
    static fr inputs[36], a[POSEIDON_CIRCUIT_MAX], b[POSEIDON_CIRCUIT_MAX];
    for (int round = 0; round < 20; round++)
        for (size_t k = 0; k < KNOWN; k++) {
            const struct poseidon *p = poseidon_of(known[k].arity);
            random_inputs(inputs, &seed);
            poseidon_trace_impl_portable(a, p, &FR_ONE, inputs);
            poseidon_trace_impl_adx(b, p, &FR_ONE, inputs);
            assert_memory_equal(a, b, poseidon_circuit_size(p) * sizeof(fr));
        }
#else
    skip();
#endif
}

static void trace_is_the_values_of_the_circuit(void **state)
{
    (void)state;
    uint64_t seed = 7;
    static fr inputs[36], trace[POSEIDON_CIRCUIT_MAX];
    for (size_t k = 0; k < KNOWN; k++) {
        const struct poseidon *p = poseidon_of(known[k].arity);
        struct number x[36];
        struct cs cs;
        random_inputs(inputs, &seed);
        assert_int_equal(cs_init(&cs, NULL, false, true).code, STATUS_OK);
        for (uint32_t i = 0; i < p->arity; i++)
            x[i] = number_alloc(&cs, &inputs[i]);
        struct number out = poseidon_circuit(&cs, x, p->arity, 99);
        poseidon_trace(trace, p, 99, inputs);
        assert_int_equal(cs.aux - p->arity, poseidon_circuit_size(p));
        assert_memory_equal(trace, cs.aux_values + p->arity, poseidon_circuit_size(p) * sizeof(fr));
        assert_true(fr_equal(&out.value, &trace[poseidon_circuit_size(p) - 1]));
        cs_end(&cs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_the_known_ones),         cmocka_unit_test(hashes_are_the_known_ones),
        cmocka_unit_test(compressed_form_equals_the_plain_one), cmocka_unit_test(both_flavours_agree),
        cmocka_unit_test(trace_is_the_values_of_the_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
