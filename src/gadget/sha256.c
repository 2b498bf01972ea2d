/* SHA-256 over booleans. An addition of a round is delayed until its result is first used as a word of bits
 * (in the next round, or in the final sums), where further operands join it: that decides both the number of
 * variables and their order. */
#include "gadget/sha256.h"

#include "base/sha256.h"
#include <string.h>

/* Operands of one addition that is still to come, or a word that is there (one operand). */
struct pending {
    struct uint32_bits operands[7];
    uint32_t count;
};

static void pending_set(struct pending *p, const struct uint32_bits *word)
{
    p->operands[0] = *word;
    p->count = 1;
}

/* The word itself if it is there, else the sum of the operands (with one more if given). */
static struct uint32_bits force(struct multi_eq *m, const struct pending *p, const struct uint32_bits *extra)
{
    const struct uint32_bits *list[8];
    if (p->count == 1 && !extra)
        return p->operands[0];
    uint32_t count = 0;
    for (; count < p->count; count++)
        list[count] = &p->operands[count];
    if (extra)
        list[count++] = extra;
    return uint32_add_many(m, list, count);
}

/* xor of three rotations; the third a shift if it is marked so */
static struct uint32_bits sigma(struct cs *cs, const struct uint32_bits *x, uint32_t r1, uint32_t r2,
                                uint32_t r3, bool shift)
{
    struct uint32_bits a = uint32_rotr(x, r1), b = uint32_rotr(x, r2);
    struct uint32_bits c = shift ? uint32_shr(x, r3) : uint32_rotr(x, r3);
    struct uint32_bits t = uint32_xor(cs, &a, &b);
    return uint32_xor(cs, &t, &c);
}

static void schedule(struct multi_eq *m, struct uint32_bits w[64], const struct boolean block[512])
{
    for (uint32_t i = 0; i < 16; i++)
        w[i] = uint32_from_be(block + 32 * i);
    for (uint32_t i = 16; i < 64; i++) {
        struct uint32_bits s0 = sigma(m->cs, &w[i - 15], 7, 18, 3, true);
        struct uint32_bits s1 = sigma(m->cs, &w[i - 2], 17, 19, 10, true);
        const struct uint32_bits *operands[4] = {&w[i - 16], &s0, &w[i - 7], &s1};
        w[i] = uint32_add_many(m, operands, 4);
    }
}

static void rounds(struct multi_eq *m, struct uint32_bits state[8], const struct uint32_bits w[64])
{
    struct cs *cs = m->cs;
    struct pending a, e;
    struct uint32_bits b = state[1], c = state[2], d = state[3];
    struct uint32_bits f = state[5], g = state[6], h = state[7];
    pending_set(&a, &state[0]);
    pending_set(&e, &state[4]);
    for (uint32_t i = 0; i < 64; i++) {
        struct uint32_bits word_e = force(m, &e, NULL);
        struct uint32_bits s1 = sigma(cs, &word_e, 6, 11, 25, false);
        struct uint32_bits ch = uint32_ch(cs, &word_e, &f, &g);
        struct uint32_bits k = uint32_constant(SHA256_ROUND[i]);
        struct uint32_bits word_a = force(m, &a, NULL);
        struct uint32_bits s0 = sigma(cs, &word_a, 2, 13, 22, false);
        struct uint32_bits maj = uint32_maj(cs, &word_a, &b, &c);
        a = (struct pending){{h, s1, ch, k, w[i], s0, maj}, 7};
        e = (struct pending){{h, s1, ch, k, w[i], d}, 6};
        h = g;
        g = f;
        f = word_e;
        d = c;
        c = b;
        b = word_a;
    }
    const struct uint32_bits *middle[8] = {NULL, &b, &c, &d, NULL, &f, &g, &h};
    for (int i = 0; i < 8; i++) {
        if (i % 4 == 0) {
            state[i] = force(m, i ? &e : &a, &state[i]);
        } else {
            const struct uint32_bits *operands[2] = {&state[i], middle[i]};
            state[i] = uint32_add_many(m, operands, 2);
        }
    }
}

void sha256_compression(struct cs *cs, struct uint32_bits state[8], const struct boolean block[512])
{
    struct multi_eq m;
    struct uint32_bits w[64];
    multi_eq_init(&m, cs);
    schedule(&m, w, block);
    rounds(&m, state, w);
    multi_eq_end(&m);
}

void sha256_initial_state(struct uint32_bits state[8])
{
    for (int i = 0; i < 8; i++)
        state[i] = uint32_constant(SHA256_INITIAL[i]);
}

void sha256_bits(struct cs *cs, struct boolean out[256], const struct boolean *bits, uint32_t count)
{
    struct uint32_bits state[8];
    struct boolean block[512];
    CHECK(count % 8 == 0);
    sha256_initial_state(state);
    uint32_t blocks = (count + 1 + 64 + 511) / 512;
    for (uint32_t k = 0; k < blocks; k++) {
        for (uint32_t i = 0; i < 512; i++) {
            uint32_t at = 512 * k + i, from_end = 512 * blocks - at; /* 64 down to 1 in the length */
            if (at < count)
                block[i] = bits[at];
            else if (from_end <= 64)
                block[i] = boolean_const(from_end <= 32 && ((count >> (from_end - 1)) & 1));
            else
                block[i] = boolean_const(at == count);
        }
        sha256_compression(cs, state, block);
    }
    for (uint32_t i = 0; i < 8; i++)
        uint32_to_be(out + 32 * i, &state[i]);
}

uint32_t reverse_bit_numbering(struct boolean *out, const struct boolean *in, uint32_t count)
{
    uint32_t padded = (count + 7) & ~7u;
    for (uint32_t i = 0; i < padded; i++) {
        uint32_t from = (i & ~7u) + 7 - (i & 7);
        out[i] = from < count ? in[from] : boolean_const(false);
    }
    return padded;
}

struct number sha256_hash_bits(struct cs *cs, const struct boolean *bits, uint32_t count)
{
    struct boolean digest[256], numbered[256];
    sha256_bits(cs, digest, bits, count);
    reverse_bit_numbering(numbered, digest, 256);
    return pack_bits(cs, numbered, 254);
}

struct number sha256_hash_leaf_bits(struct cs *cs, const struct boolean *left, uint32_t left_count,
                                    const struct boolean *right, uint32_t right_count)
{
    struct boolean message[512];
    CHECK(left_count <= 256 && right_count <= 256);
    uint32_t count = reverse_bit_numbering(message, left, left_count);
    count += reverse_bit_numbering(message + count, right, right_count);
    return sha256_hash_bits(cs, message, count);
}

struct number sha256_hash_numbers(struct cs *cs, const struct number *inputs, uint32_t count)
{
    struct boolean message[64 * 256];
    CHECK(count <= 64);
    for (uint32_t k = 0; k < count; k++) {
        struct boolean bits[FR_BITS];
        number_to_bits(cs, bits, &inputs[k]);
        reverse_bit_numbering(message + (size_t)k * 256, bits, FR_BITS);
    }
    return sha256_hash_bits(cs, message, count * 256);
}

/* Appends bits and zeros up to 256. */
static struct boolean *put_padded(struct boolean *to, const struct boolean *bits, uint32_t count)
{
    CHECK(count <= 256);
    memcpy(to, bits, count * sizeof *bits);
    for (uint32_t i = count; i < 256; i++)
        to[i] = boolean_const(false);
    return to + 256;
}

struct number label_circuit(struct cs *cs, const struct boolean *replica_id, uint32_t replica_id_count,
                            const struct boolean *const parents[LABEL_PARENTS],
                            const uint32_t parents_count[LABEL_PARENTS], const struct uint32_bits *layer,
                            const struct boolean node[64])
{
    struct boolean message[(2 + LABEL_PARENTS) * 256], words[32 + 64];
    struct boolean *to = put_padded(message, replica_id, replica_id_count);
    uint32_to_be(words, layer);
    for (int i = 0; i < 64; i++)
        words[32 + i] = node[63 - i];
    to = put_padded(to, words, 96);
    for (int k = 0; k < LABEL_PARENTS; k++)
        to = put_padded(to, parents[k], parents_count[k]);
    return sha256_hash_bits(cs, message, (uint32_t)(to - message));
}
