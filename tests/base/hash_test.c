/* Hashes against the published answers (FIPS 180-4 examples, RFC 7693), and our SHA-256 against libcrypto's
 * for every length around the block borders, in one piece and in two. */
#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "base/sha512.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <openssl/evp.h>
#include <stdlib.h>

static void is_hex(const uint8_t *bytes, size_t size, const char *expected)
{
    char text[129];
    hex_encode(text, bytes, size);
    assert_string_equal(text, expected);
}

static void ok(struct status s)
{
    assert_int_equal(s.code, STATUS_OK);
}

static void sha256_known_answers(void **state)
{
    (void)state;
    uint8_t out[32];
    sha256(out, "", 0);
    is_hex(out, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256(out, "abc", 3);
    is_hex(out, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256(out, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    is_hex(out, 32, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void sha256_equals_libcrypto(void **state)
{
    (void)state;
    uint8_t data[400], expected[32], out[32];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 167 + 13);
    for (size_t size = 0; size <= sizeof data; size++) {
        assert_int_equal(EVP_Digest(data, size, expected, NULL, EVP_sha256(), NULL), 1);
        sha256(out, data, size);
        assert_memory_equal(out, expected, 32);
        for (size_t first = 0; first <= size; first += 7) {
            struct sha256 h;
            sha256_begin(&h);
            sha256_add(&h, data, first);
            sha256_add(&h, data + first, size - first);
            sha256_end(&h, out);
            assert_memory_equal(out, expected, 32);
        }
    }
}

static void both_compressions_agree(void **state)
{
    (void)state;
    uint8_t data[64 * 9];
    uint32_t a[8], b[8], c[8];
    unsigned seed = 20240607;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)(rand_r(&seed) >> 7);
        for (size_t i = 0; i < 8; i++)
            a[i] = b[i] = c[i] = (uint32_t)rand_r(&seed) * 3;
        size_t blocks = (size_t)round % 10;
        sha256_compress_portable(a, data, blocks);
        sha256_compress_many(b, data, blocks);
        for (size_t i = 0; i < blocks; i++)
            sha256_compress(c, data + 64 * i);
        assert_memory_equal(a, b, sizeof a);
        assert_memory_equal(a, c, sizeof a);
    }
}

/* One padded block by hand: "abc", as the example in FIPS 180-4 has it. */
static void compression_is_the_standard_one(void **state)
{
    (void)state;
    uint8_t block[64] = {'a', 'b', 'c', 0x80}, out[32];
    uint32_t s[8];
    block[63] = 24;
    memcpy(s, SHA256_INITIAL, sizeof s);
    sha256_compress_portable(s, block, 1);
    for (size_t i = 0; i < 8; i++)
        store_be32(out + 4 * i, s[i]);
    is_hex(out, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void sha512_known_answers(void **state)
{
    (void)state;
    static const char *abc = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                             "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
    uint8_t out[64];
    ok(sha512(out, "abc", 3));
    is_hex(out, 64, abc);
    ok(sha512(out, NULL, 0));
    is_hex(out, 64,
           "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
           "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
    struct sha512 h;
    ok(sha512_begin(&h));
    ok(sha512_add(&h, "a", 1));
    ok(sha512_add(&h, NULL, 0));
    ok(sha512_add(&h, "bc", 2));
    ok(sha512_end(&h, out));
    is_hex(out, 64, abc);
    sha512_abandon(&h);
    ok(sha512_begin(&h));
    sha512_abandon(&h);
    assert_null(h.context);
}

static void blake2b_known_answers(void **state)
{
    (void)state;
    static const char *abc = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                             "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";
    uint8_t out[64], key[64];
    ok(blake2b(out, "abc", 3));
    is_hex(out, 64, abc);
    ok(blake2b(out, "", 0));
    is_hex(out, 64,
           "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
           "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce");
    struct blake2b h;
    ok(blake2b_begin(&h));
    ok(blake2b_add(&h, "ab", 2));
    ok(blake2b_add(&h, "c", 1));
    ok(blake2b_end(&h, out));
    is_hex(out, 64, abc);
    ok(blake2b_begin(&h));
    blake2b_abandon(&h);
    /* The reference's keyed vectors: key 00..3f; message empty, and message 00. */
    for (size_t i = 0; i < 64; i++)
        key[i] = (uint8_t)i;
    ok(blake2b_keyed(out, 64, key, 64, "", 0));
    is_hex(out, 64,
           "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
           "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568");
    ok(blake2b_keyed(out, 64, key, 64, key, 1));
    is_hex(out, 64,
           "961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4"
           "187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd");
    ok(blake2b_keyed(out, 32, key, 16, "abc", 3));
    is_hex(out, 32, "3fd8fd31501cdbe942607b204368e3dc4ebce5744de1a955a6025f5c9848bb20");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_known_answers),    cmocka_unit_test(sha256_equals_libcrypto),
        cmocka_unit_test(both_compressions_agree), cmocka_unit_test(compression_is_the_standard_one),
        cmocka_unit_test(sha512_known_answers),    cmocka_unit_test(blake2b_known_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
