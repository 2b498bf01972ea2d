/* SHA-256: the round function in portable C and with the x86 SHA extensions, and padding around it.
 * The choice is made at every call of sha256_compress_many by a predicted branch, whose cost is nothing
 * beside the 64 rounds. */
#include "base/sha256.h"
#include "base/bytes.h"

const uint32_t SHA256_INITIAL[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

const uint32_t SHA256_ROUND[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

void sha256_compress_portable(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    for (; blocks > 0; blocks--, data += 64) {
        uint32_t w[64], s[8];
        for (size_t i = 0; i < 16; i++)
            w[i] = load_be32(data + 4 * i);
        for (size_t i = 16; i < 64; i++) {
            uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        memcpy(s, state, sizeof s);
        for (size_t i = 0; i < 64; i++) {
            uint32_t a = s[0], e = s[4];
            uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            uint32_t choice = s[6] ^ (e & (s[5] ^ s[6]));
            uint32_t t1 = s[7] + s1 + choice + SHA256_ROUND[i] + w[i];
            uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            uint32_t majority = (a & s[1]) | (s[2] & (a | s[1]));
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t1;
            s[0] = t1 + s0 + majority;
        }
        for (size_t i = 0; i < 8; i++)
            state[i] += s[i];
    }
}

#ifdef CUZK_X86_64
#include <cpuid.h>
#include <immintrin.h>

/* Four rounds: x holds ABEF, y holds CDGH before; the two swap roles every two rounds, so that after four
 * they stand as before. */
#define ROUNDS_4(x, y, words, i)                                                                             \
    do {                                                                                                     \
        __m128i k_ = _mm_add_epi32(words, _mm_load_si128((const __m128i *)(SHA256_ROUND + 4 * (i))));        \
        y = _mm_sha256rnds2_epu32(y, x, k_);                                                                 \
        x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(k_, 0x0e));                                        \
    } while (0)

__attribute__((target("sha,sse4.1,ssse3"))) static void compress_sha(uint32_t state[8], const uint8_t *data,
                                                                     size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i x = _mm_alignr_epi8(cdab, efgh, 8), y = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; blocks > 0; blocks--, data += 64) {
        __m128i w[4], x0 = x, y0 = y;
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), swap);
            ROUNDS_4(x, y, w[i], i);
        }
#pragma GCC unroll 12
        for (int i = 4; i < 16; i++) {
            /* w[i & 3] is words 4(i-4)..; its successor words are w[(i+1) & 3] and so on. */
            __m128i a = w[i & 3], b = w[(i + 1) & 3], c = w[(i + 2) & 3], d = w[(i + 3) & 3];
            a = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
            a = w[i & 3] = _mm_sha256msg2_epu32(a, d);
            ROUNDS_4(x, y, a, i);
        }
        x = _mm_add_epi32(x, x0);
        y = _mm_add_epi32(y, y0);
    }
    __m128i feba = _mm_shuffle_epi32(x, 0x1b), dchg = _mm_shuffle_epi32(y, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static int has_sha(void)
{
    /* CPUID leaf 7: EBX bit 29. SSE4.1 and SSSE3 come with every processor that has it. */
    static _Atomic int known; /* 0 not asked, 1 no, 2 yes; asking twice does no harm */
    int answer = known;
    if (__builtin_expect(answer == 0, 0)) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        known = answer = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1) ? 2 : 1;
    }
    return answer == 2;
}
#endif

void sha256_compress_many(uint32_t state[8], const uint8_t *data, size_t blocks)
{
#ifdef CUZK_X86_64
    if (has_sha()) {
        compress_sha(state, data, blocks);
        return;
    }
#endif
    sha256_compress_portable(state, data, blocks);
}

void sha256_compress(uint32_t state[8], const uint8_t block[64])
{
    sha256_compress_many(state, block, 1);
}

void sha256_begin(struct sha256 *h)
{
    memcpy(h->state, SHA256_INITIAL, sizeof h->state);
    h->size = 0;
}

void sha256_add(struct sha256 *h, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t used = h->size % 64;
    h->size += size;
    if (used + size >= 64 && used > 0) {
        memcpy(h->block + used, p, 64 - used);
        sha256_compress_many(h->state, h->block, 1);
        p += 64 - used;
        size -= 64 - used;
        used = 0;
    }
    if (size >= 64) {
        sha256_compress_many(h->state, p, size / 64);
        p += size / 64 * 64;
        size %= 64;
    }
    if (size > 0)
        memcpy(h->block + used, p, size);
}

void sha256_end(struct sha256 *h, uint8_t out[32])
{
    size_t used = h->size % 64;
    h->block[used++] = 0x80;
    if (used > 56) {
        memset(h->block + used, 0, 64 - used);
        sha256_compress_many(h->state, h->block, 1);
        used = 0;
    }
    memset(h->block + used, 0, 56 - used);
    store_be64(h->block + 56, h->size * 8);
    sha256_compress_many(h->state, h->block, 1);
    for (size_t i = 0; i < 8; i++)
        store_be32(out + 4 * i, h->state[i]);
}

void sha256(uint8_t out[32], const void *data, size_t size)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, data, size);
    sha256_end(&h, out);
}
