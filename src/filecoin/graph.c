/* See graph.h. The BLAKE2b here is the one compression that a 16-byte message without key needs: libcrypto's
 * general interface would cost ten times as much, and a graph of 8 MiB asks for eleven million. */
#include "filecoin/graph.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "filecoin/chacha.h"

static const uint64_t BLAKE_INITIAL[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
                                          UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
                                          UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
                                          UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

static const uint8_t BLAKE_ORDER[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                            {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                            {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                            {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                            {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                            {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                            {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                            {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                            {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                            {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t rotate(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static inline void mix(uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x, v[d] = rotate(v[d] ^ v[a], 32);
    v[c] += v[d], v[b] = rotate(v[b] ^ v[c], 24);
    v[a] += v[b] + y, v[d] = rotate(v[d] ^ v[a], 16);
    v[c] += v[d], v[b] = rotate(v[b] ^ v[c], 63);
}

/* First 8 bytes, as a big-endian number, of BLAKE2b-512(BE64(r) || BE64(key)). */
static uint64_t feistel_round(uint64_t r, uint64_t key)
{
    const uint64_t first = BLAKE_INITIAL[0] ^ UINT64_C(0x01010040); /* 64 bytes out, no key, no tree */
    uint64_t m[16] = {__builtin_bswap64(r), __builtin_bswap64(key)}, v[16];
    for (int i = 0; i < 8; i++)
        v[i] = v[8 + i] = BLAKE_INITIAL[i];
    v[0] = first;
    v[12] ^= 16; /* bytes of message */
    v[14] = ~v[14];
    for (unsigned i = 0; i < 12; i++) {
        const uint8_t *s = BLAKE_ORDER[i % 10];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    return __builtin_bswap64(first ^ v[0] ^ v[8]);
}

void graph_init(struct graph *g, const uint8_t porep_id[32], uint32_t log2_nodes, enum api_version api)
{
    static const char drg[] = "Filecoin_DRSample", feistel[] = "Filecoin_Feistel";
    CHECK(log2_nodes >= 1 && log2_nodes <= 31);
    uint8_t digest[32];
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, drg, sizeof drg - 1);
    sha256_add(&h, porep_id, 32);
    sha256_end(&h, digest);
    memcpy(g->drg_seed, digest, 28);
    sha256_begin(&h);
    sha256_add(&h, feistel, sizeof feistel - 1);
    sha256_add(&h, porep_id, 32);
    sha256_end(&h, digest);
    for (int i = 0; i < 4; i++)
        g->feistel_keys[i] = load_le64(digest + 8 * i);
    g->log2_nodes = log2_nodes;
    g->half_bits = (log2_nodes + 3 + 1) / 2; /* 4^half_bits >= 8 * nodes */
    g->api = api;
}

/* Bucket sampling: the last of five "metagraph" nodes per node reaches back a random power-of-two distance.
 */
static void drg_parents(const struct graph *g, uint32_t out[DRG_PARENTS], uint64_t v)
{
    if (v < 2) {
        for (int i = 0; i < DRG_PARENTS; i++)
            out[i] = 0;
        return;
    }
    uint8_t key[32], stream[128];
    uint32_t *q = g->api == API_1_0 ? out : out + 1;
    memcpy(key, g->drg_seed, 28);
    store_le32(key + 28, (uint32_t)v);
    for (uint32_t block = 0; block < 2; block++)
        chacha_block(stream + 64 * block, key, (const uint32_t[4]){block, 0, 0, 0}, 8);
    const uint64_t m = 5 * v;
    const uint32_t bits = 64 - (uint32_t)__builtin_clzll(m - 1);
    for (uint32_t i = 0; i < DRG_PARENTS - 1; i++) {
        uint64_t b = load_le64(stream + 16 * i) % bits + 1;
        uint64_t high = b < bits ? UINT64_C(1) << b : m;
        if (high > m)
            high = m;
        uint64_t low = high >> 1 > 2 ? high >> 1 : 2;
        uint64_t distance = low + load_le64(stream + 16 * i + 8) % (high - low + 1);
        uint64_t p = (m - distance) / 5;
        q[i] = (uint32_t)(p == v ? v - 1 : p);
    }
    out[g->api == API_1_0 ? DRG_PARENTS - 1 : 0] = (uint32_t)(v - 1);
}

static uint32_t expander_parent(const struct graph *g, uint64_t x)
{
    const uint32_t h = g->half_bits;
    const uint64_t mask = (UINT64_C(1) << h) - 1, end = UINT64_C(8) << g->log2_nodes;
    do { /* walk the permutation's cycle back into the domain */
        uint64_t left = x >> h & mask, right = x & mask;
        for (int k = 0; k < 3; k++) {
            uint64_t next = left ^ (feistel_round(right, g->feistel_keys[k]) & mask);
            left = right;
            right = next;
        }
        x = left << h | right;
    } while (x >= end);
    return g->api == API_1_0 ? (uint32_t)x / 8 : (uint32_t)(x / 8);
}

void graph_parents(const struct graph *g, uint32_t out[PARENTS], uint64_t node)
{
    CHECK(node >> g->log2_nodes == 0);
    drg_parents(g, out, node);
    for (uint64_t i = 0; i < EXPANDER_PARENTS; i++)
        out[DRG_PARENTS + i] = expander_parent(g, EXPANDER_PARENTS * node + i);
}
