/* WinningPoSt and WindowPoSt over really sealed 2 KiB sectors: circuits, witnesses, parameters and proofs
 * equal to the reference's; and what must be refused. */
#include "proof_case.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "filecoin/post.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES(...)                                                                                           \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* clang-format off */
static const struct proof_case CASES[] = {
    {"winning-2k", PROOF_WINNING, 0, 0, 0, 7, FILES("winning-2k/sector-1.vproof"),
     "a770d642c8b6425a6f575cc4e8812bb7d57030c907a260100880ea83edebcb71", "f39925e61aebb9e18b32aff1780e0b51a752cc8e5525473a34d91c4ba88ee5f6", "56fb3a0a17213da952ef4226fc47a899d820a09a5c74e242f9ef64b912f2822c", "3dd94ae6195b0e263a57421c7744a4520898fade473ebbf8fca17b0dd01b1954", "2b416bd0b947f6b3040097acd5e96c885e2bfae3cc44bf3f4ebe858926282cb3", "e042e4a778036192339ee65cb211f5f8f69af7b2750c376510b935cf0758c2f8",
     "af870165de7c7d90b1905807b285f338c1ceda6e12f09460b16a96733339f260", "winning-2k/winning-2k.vk", "winning-2k/winning-2k.proof", NULL, NULL, NULL},
    {"window-2k-v1-0", PROOF_WINDOW, 5, 0, 0, 8, FILES("window-2k/v1-sector-1.vproof", "window-2k/v1-sector-2.vproof"),
     "8a2c0d48ccf8b908cc1f015ea64e386a11e0349a5c94a30aa34a8f8e5f37f779", "d898a999a1edd8c643cb8355ce9757f803c5d2ca3ee106455685944e4441ffe0", "df7a52b3df4e3cab60f139e303691639e9e9c446bc0079d1d713ee12231c8a20", "91e8d9de50d14fa9f7ccd8a689ff5bff08b143f14685fee607df31096e612ca0", "34b341ae257632a264f5b91a2b71a78a961b831b69d0fcd4a8b81050250a40c8", "a16c1fba5daa5d89c9526014c1ff823a59fb653af8215a002be593bfc751b1c5",
     "e77275a4c411d5dc19dcfbd4d4950767cc979afc3a9c1baf416ed7649edaecb0", "window-2k/window-2k.vk", "window-2k/v1.proof", NULL, NULL, NULL},
    {"window-2k-v1-1", PROOF_WINDOW, 5, 1, 1, 8, FILES("window-2k/v1-sector-3.vproof"),
     "8a2c0d48ccf8b908cc1f015ea64e386a11e0349a5c94a30aa34a8f8e5f37f779", "fee4091bf56e17e6df20f25f1f266d7cf332394804849fce02a227ea92a5a1d2", "59b53b9ec801a299e8641262e3b14e54dd3ac3f0ece1b28b9b23a456200f5ac7", "8d3a820f811371614028a8d822abd272a7f8176a76d1f10aa355474c77555855", "ab4d531178f7bc100d81d729ef13cfdfb032ccdbcf5b0a83665c0f06181f64e7", "9101d8a0a2950ad9bb38e47667e904cf222fb033ffe1e1aabfc279b24ea581bb",
     "e77275a4c411d5dc19dcfbd4d4950767cc979afc3a9c1baf416ed7649edaecb0", "window-2k/window-2k.vk", "window-2k/v1.proof", NULL, NULL, NULL},
    {"window-2k-v1_2-0", PROOF_WINDOW, 10, 0, 0, 8, FILES("window-2k/v1_2-sector-1.vproof", "window-2k/v1_2-sector-2.vproof"),
     "8a2c0d48ccf8b908cc1f015ea64e386a11e0349a5c94a30aa34a8f8e5f37f779", "dc901906eabe31d95c426398647685067127e880a8d50d7c4385df263edf4476", "ea30237e314a2da6eba48d7a11a6f18522eccd04dcbf20e82e2033a5eeb384a9", "e479feda8a2640df31862f8684a018fa0969dc567b6e6c55d5ba53e9f65b4f49", "830ea6a933561f9372f3ef5998bbd432eb788ffefa38759cc527522442dd62b1", "db42826f9d82df7c9155d775d0e0de18c8d30a46f0ec1f92b15ed9cc56a63e67",
     "e77275a4c411d5dc19dcfbd4d4950767cc979afc3a9c1baf416ed7649edaecb0", "window-2k/window-2k.vk", "window-2k/v1_2.proof", NULL, NULL, NULL},
    {"window-2k-v1_2-1", PROOF_WINDOW, 10, 1, 1, 8, FILES("window-2k/v1_2-sector-3.vproof"),
     "8a2c0d48ccf8b908cc1f015ea64e386a11e0349a5c94a30aa34a8f8e5f37f779", "ca810bf4dfe59987121df9a39f81adcee29eb8b03f1a4e9ccaf928cd62ba5be0", "be7f53cbe47d9dc2afa459e5e9117e5b0c0bf5a3c90b248e2c3451047433b8cc", "e5892c18a1b785b8c804b8578b5fa276f40ba742cf2ae7b3c56a5dfc6ce443c6", "40e9fcba42c52488266a10fa1a4fa13629cea202a7cec9f6ba9ab95d2df93ae6", "c4705c9a78d126677518af785382048ddcfc2188680fdaa727ee5ddcee9247ef",
     "e77275a4c411d5dc19dcfbd4d4950767cc979afc3a9c1baf416ed7649edaecb0", "window-2k/window-2k.vk", "window-2k/v1_2.proof", NULL, NULL, NULL},
};
/* clang-format on */

static char folder[64];
static const struct work HERE = {NULL, PRIORITY_NORMAL, NULL};

static void test_winning(void **state)
{
    (void)state;
    proof_case_run(&CASES[0], folder);
}

static void test_window(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof CASES / sizeof CASES[0]; i++)
        proof_case_run(&CASES[i], folder);
}

/* ---- refusals: a copy of a good request with one thing changed ---- */

struct change {
    struct proof_case_request r;
    uint8_t *bytes; /* of vanilla proof 0 */
    size_t size;
};

static void change_start(struct change *c, size_t index)
{
    proof_case_load(&c->r, &CASES[index]);
    c->bytes = (uint8_t *)(uintptr_t)c->r.vanilla[0].data;
    c->size = c->r.vanilla[0].size;
}

static void expect_refused(struct change *c, const char *part)
{
    struct request *request;
    struct status s = request_open(&request, &c->r.request, &HERE);
    if (!status_failed(&s))
        fail_msg("accepted, but should say: %s", part);
    if (strstr(s.message, part) == NULL)
        fail_msg("says \"%s\", not \"%s\"", s.message, part);
}

static void test_cut_and_grown(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 1);
    for (size_t size = 0; size < c.size; size++) {
        uint8_t *cut = malloc(size + 1);
        memcpy(cut, c.bytes, size);
        c.r.vanilla[0] = (struct bytes_view){cut, size};
        expect_refused(&c, "vanilla proof 0");
        free(cut);
    }
    uint8_t *grown = malloc(c.size + 1);
    memcpy(grown, c.bytes, c.size);
    grown[c.size] = 0;
    c.r.vanilla[0] = (struct bytes_view){grown, c.size + 1};
    expect_refused(&c, "1 bytes follow");
    free(grown);
    c.r.vanilla[0] = (struct bytes_view){c.bytes, c.size};
    proof_case_end(&c.r);
}

/* Every byte of a vanilla proof matters: changed, it is refused. */
static void test_every_byte(void **state)
{
    (void)state;
    for (size_t index = 0; index < 2; index++) {
        struct change c;
        change_start(&c, index);
        size_t step = index == 0 ? 97 : 7;
        for (size_t i = 0; i < c.size; i += step) {
            c.bytes[i] ^= 1;
            expect_refused(&c, "");
            c.bytes[i] ^= 1;
        }
        proof_case_end(&c.r);
    }
}

static void test_fields(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 1);
    struct merkle_layout l;
    merkle_layout_replica(&l, sector_by_bytes(2048));
    uint8_t *m = c.bytes + 56, kept[64];
    memcpy(kept, m, 64);
    store_le64(c.bytes + 48, UINT64_C(1) << 63);
    expect_refused(&c, "9223372036854775808 inclusion proofs");
    store_le64(c.bytes + 48, 10);
    store_le32(m, 1);
    expect_refused(&c, "challenge 0: Merkle proof variant is 1");
    store_le32(m, 0);
    memset(m + 4, 0xff, 32);
    expect_refused(&c, "challenge 0: Merkle root is not a field element");
    memcpy(m, kept, 64);
    store_le64(m + l.element[1] + 8 + 7 * 32, 8);
    expect_refused(&c, "path element 1: index 8");
    store_le64(m + l.element[1] + 8 + 7 * 32, 7);
    expect_refused(&c, "sector 1, challenge 0: the path opens leaf");
    proof_case_end(&c.r);

    change_start(&c, 1);
    c.r.randomness[0] ^= 1;
    expect_refused(&c, "sector 1, challenge 0: the path opens leaf");
    memset(c.r.randomness, 0xff, 32);
    expect_refused(&c, "randomness is not a field element");
    c.r.request.randomness.size = 31;
    expect_refused(&c, "randomness is 31 bytes");
    proof_case_end(&c.r);
}

static void test_lists(void **state)
{
    (void)state;
    struct change c;
    change_start(&c, 1);
    c.r.request.partition_index = 1; /* numbers 5 to 9: the challenges depend on it */
    expect_refused(&c, "the path opens leaf");
    c.r.request.partition_index = 0;
    c.r.request.vanilla_count = 0;
    expect_refused(&c, "no vanilla proof");
    struct bytes_view three[3] = {c.r.vanilla[0], c.r.vanilla[1], c.r.vanilla[1]};
    c.r.request.vanilla = three;
    c.r.request.vanilla_count = 3;
    expect_refused(&c, "takes at most 2");
    c.r.request.vanilla = c.r.vanilla;
    c.r.request.vanilla_count = 2;
    c.r.request.registered_proof = 4;
    expect_refused(&c, "registered_proof 4 does not exist for kind window");
    c.r.request.registered_proof = 15;
    expect_refused(&c, "does not exist");
    c.r.request.registered_proof = 8; /* 32 GiB: another layout */
    expect_refused(&c, "vanilla proof 0");
    c.r.request.registered_proof = 5;
    c.r.request.sector_size = 4096;
    expect_refused(&c, "contradicts");
    proof_case_end(&c.r);
}

/* The order given is the order proved: exchanged sectors are other public inputs, each list by itself valid
 * (number 10). */
static void test_order(void **state)
{
    (void)state;
    struct proof_case_request r;
    proof_case_load(&r, &CASES[3]);
    struct bytes_view swapped[2] = {r.vanilla[1], r.vanilla[0]};
    struct request *request;
    fr forward[22], backward[22];
    struct status s = request_open(&request, &r.request, &HERE);
    assert_false(status_failed(&s));
    s = request_inputs(forward, request, 0);
    assert_false(status_failed(&s));
    request_end(request);
    r.request.vanilla = swapped;
    s = request_open(&request, &r.request, &HERE);
    assert_false(status_failed(&s));
    s = request_inputs(backward, request, 0);
    assert_false(status_failed(&s));
    request_end(request);
    assert_memory_equal(forward, backward + 11, 11 * sizeof(fr));
    assert_memory_equal(forward + 11, backward, 11 * sizeof(fr));
    proof_case_end(&r);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-post-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),        cmocka_unit_test(test_winning),
        cmocka_unit_test(test_cut_and_grown), cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_fields),        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
