/* See challenges.h. The synthetic stream is read at any place: block number is the counter. */
#include "filecoin/challenges.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/sha256.h"
#include "filecoin/chacha.h"
#include "field/limbs.h"

static uint64_t to_challenge(const uint8_t bytes[32], uint64_t nodes)
{
    u128 rest = 0;
    for (int i = 3; i >= 0; i--)
        rest = (rest << 64 | load_le64(bytes + 8 * i)) % (nodes - 1);
    return (uint64_t)rest + 1;
}

static struct status synthetic_key(uint8_t out[32], const char *domain, const uint8_t a[32],
                                   const uint8_t b[32])
{
    uint8_t text[64];
    memcpy(text, a, 32);
    memcpy(text + 32, b, 32);
    return blake2b_keyed(out, 32, (const uint8_t *)domain, strlen(domain), text, 64);
}

static void synthetic_block(uint8_t out[64], const uint8_t key[32], uint32_t block)
{
    static const uint8_t nonce[12] = "synth-porep";
    uint32_t tail[4] = {block, load_le32(nonce), load_le32(nonce + 4), load_le32(nonce + 8)};
    chacha_block(out, key, tail, 20);
}

struct status challenges_start(struct challenges *c, enum seal_feature feature, uint32_t log2_nodes,
                               const uint8_t replica_id[32], const uint8_t comm_r[32], const uint8_t seed[32])
{
    c->feature = feature;
    c->nodes = UINT64_C(1) << log2_nodes;
    c->synthetic_count = log2_nodes < 18 ? (uint32_t)c->nodes : UINT32_C(1) << 18;
    memcpy(c->replica_id, replica_id, 32);
    memcpy(c->comm_r, comm_r, 32);
    memcpy(c->seed, seed, 32);
    if (feature == SEAL_SYNTHETIC) {
        TRY(synthetic_key(c->generation, "filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r));
        TRY(synthetic_key(c->selection, "filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id, seed));
    }
    return status_ok();
}

uint64_t challenges_synthetic(const struct challenges *c, uint32_t i)
{
    uint8_t block[64];
    synthetic_block(block, c->generation, i / 2);
    return to_challenge(block + 32 * (i % 2), c->nodes);
}

uint32_t challenges_selected(const struct challenges *c, uint32_t j)
{
    uint8_t block[64];
    synthetic_block(block, c->selection, j / 16);
    return load_le32(block + 4 * (j % 16)) % c->synthetic_count;
}

uint64_t challenges_get(const struct challenges *c, uint32_t j)
{
    static const char domain[] = "filecoin.io|PoRep|1|NonInteractive|1";
    uint8_t number[4], digest[32];
    struct sha256 h;
    if (c->feature == SEAL_SYNTHETIC)
        return challenges_synthetic(c, challenges_selected(c, j));
    store_le32(number, j);
    sha256_begin(&h);
    if (c->feature == SEAL_NON_INTERACTIVE)
        sha256_add(&h, domain, sizeof domain - 1);
    sha256_add(&h, c->replica_id, 32);
    sha256_add(&h, c->feature == SEAL_NON_INTERACTIVE ? c->comm_r : c->seed, 32);
    sha256_add(&h, number, 4);
    sha256_end(&h, digest);
    return to_challenge(digest, c->nodes);
}
