/* Neighbours of the hashes that sector updates use, in generic form. */
#include "gadget/update.h"

#include "gadget/poseidon.h"
#include "gadget/sha256.h"

void gen_challenge_bits(struct cs *cs, struct boolean *out, const struct number *commitment,
                        const struct number *k, uint32_t count, uint32_t bits)
{
    CHECK(bits >= 1 && bits <= 254);
    uint32_t per = 254 / bits, digests = (count + per - 1) / per;
    for (uint32_t j = 0; j < digests; j++) {
        struct number inputs[2] = {*commitment, number_scale_add(cs, k, digests, j)};
        struct number digest = poseidon_circuit(cs, inputs, 2, POSEIDON_TAG_CUSTOM_1);
        struct boolean digest_bits[FR_BITS];
        number_to_bits_update(cs, digest_bits, &digest);
        uint32_t here = count < per ? count : per;
        for (uint32_t i = 0; i < here * bits; i++)
            *out++ = digest_bits[i];
        count -= here;
    }
}

struct number challenge_high_bits(struct cs *cs, const struct boolean *challenge, uint32_t challenge_bits,
                                  const struct boolean *select, const uint32_t *heights, uint32_t count)
{
    struct number z[64];
    CHECK(count <= 64);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(heights[i] <= challenge_bits);
        struct number v = pack_bits(cs, challenge + challenge_bits - heights[i], heights[i]);
        z[i] = number_mul_bit(cs, &v, &select[i]);
    }
    return number_sum(cs, z, count);
}

struct number label_r_new(struct cs *cs, const struct number *old, const struct number *d,
                          const struct number *rho)
{
    struct number product = number_mul(cs, d, rho);
    return number_add(cs, old, &product);
}

void apex_por(struct cs *cs, const struct number *leaves, uint32_t leaves_count, const struct boolean *bits,
              const struct number *path, uint32_t levels, const struct number *comm_d)
{
    struct number row[256];
    CHECK(leaves_count >= 1 && leaves_count <= 256 && (leaves_count & (leaves_count - 1)) == 0);
    for (uint32_t i = 0; i < leaves_count; i++)
        row[i] = leaves[i];
    for (uint32_t length = leaves_count; length > 1; length /= 2)
        for (uint32_t i = 0; i < length / 2; i++) {
            struct number pair[2] = {row[2 * i], row[2 * i + 1]};
            row[i] = sha256_hash_numbers(cs, pair, 2);
        }
    struct tree_form form = {HASHER_SHA256, 2, levels, 0, 0};
    por_no_challenge_circuit(cs, &form, bits, &row[0], path, comm_d);
}
