/* Hashes in a walk. A SHA-256 message is carried as words with masks of constants, and, where a builder wants
 * them, the variables of its bits; its states are computed on the way and handed to the device as hints, so
 * that all blocks of a circuit expand at once. */
#include "gadget/circuit_internal.h"

#include "base/sha256.h"
#include "gadget/expanders.h"
#include "gadget/poseidon.h"
#include <string.h>

/* ---- Poseidon ---- */

struct number circuit_poseidon_tagged(struct circuit *c, const struct number *inputs, uint32_t arity,
                                      uint64_t tag)
{
    struct number generic = {0};
    uint32_t placed = 0;
    if (c->cs)
        generic = poseidon_circuit(c->cs, inputs, arity, tag);
    if (c->builder) {
        struct template_key key = {TEMPLATE_POSEIDON, {arity, (uint32_t)tag, (uint32_t)(tag >> 32)}};
        struct port_list ports;
        ports_clear(&ports);
        for (uint32_t i = 0; i < arity; i++)
            ports_number(&ports, inputs[i].v);
        placed = circuit_place_number(c, &key, &ports);
    }
    return circuit_result(c, &generic, placed, false, &FR_ZERO);
}

struct number circuit_poseidon(struct circuit *c, const struct number *inputs, uint32_t arity)
{
    return circuit_poseidon_tagged(c, inputs, arity, poseidon_merkle_tag(arity));
}

struct number circuit_poseidon_valued(struct circuit *c, const struct number *inputs, uint32_t arity,
                                      uint64_t tag)
{
    struct number out = circuit_poseidon_tagged(c, inputs, arity, tag);
    fr values[36], value;
    if (!c->seeds)
        return out;
    for (uint32_t i = 0; i < arity; i++) {
        CHECK(inputs[i].known);
        values[i] = inputs[i].value;
    }
    poseidon_hash_tagged(&value, poseidon_of(arity), tag, values);
    return circuit_result(c, &out, variable_index(out.v), true, &value);
}

/* ---- SHA-256 messages ---- */

void sha_state_start(struct sha_state *s)
{
    s->constant = true;
    memcpy(s->words, SHA256_INITIAL, sizeof s->words);
}

void sha_message_clear(struct sha_message *m)
{
    memset(m->words, 0, sizeof m->words);
    memset(m->constant, 0xff, sizeof m->constant);
}

void sha_message_number(struct sha_message *m, uint32_t half, const struct bits *b)
{
    CHECK(b->count == FR_BITS);
    for (uint32_t i = 0; i < 8; i++) {
        m->words[8 * half + i] = __builtin_bswap32((uint32_t)(b->values[i / 2] >> (32 * (i % 2))));
        m->constant[8 * half + i] = i < 7 ? 0 : UINT32_C(1) << sha_bit_of_word(31);
    }
    for (uint32_t i = 0; i < FR_BITS; i++)
        m->at[256 * half + i] = (variable){b->first.id + i};
}

void sha_message_padding(struct sha_message *m, uint32_t from, uint64_t bits)
{
    uint8_t bytes[64] = {0};
    CHECK(from < 56 && from % 4 == 0);
    bytes[from] = 0x80;
    for (uint32_t i = 0; i < 8; i++)
        bytes[63 - i] = (uint8_t)(bits >> (8 * i));
    for (uint32_t i = from / 4; i < 16; i++) {
        m->words[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                      (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
        m->constant[i] = UINT32_MAX;
    }
}

/* The whole block is padding: it follows a message of whole blocks. */
static void sha_message_padding_block(struct sha_message *m, uint64_t bits)
{
    sha_message_clear(m);
    sha_message_padding(m, 0, bits);
}

/* ---- SHA-256 blocks ---- */

static void place_block(struct circuit *c, struct sha_state *s, const struct sha_message *m)
{
    struct template_key key = {TEMPLATE_SHA256_BLOCK, {0}};
    struct port_list ports;
    uint32_t out[8];
    ports_clear(&ports);
    for (uint32_t i = 0; i < 16; i++) {
        key.words[i] = m->constant[i];
        key.words[SHA256_BLOCK_PARAMETERS + i] = m->words[i] & m->constant[i];
    }
    key.words[16] = s->constant;
    for (uint32_t i = 0; !s->constant && i < 8; i++)
        ports_bits(&ports, s->first[i], 32);
    for (uint32_t i = 0; i < 512; i++)
        if (!((m->constant[i / 32] >> sha_bit_of_word(i % 32)) & 1))
            ports_bits(&ports, m->at[i], 1);
    uint32_t first = circuit_place(c, &key, &ports, out);
    for (uint32_t i = 0; i < 8; i++)
        s->first[i] = variable_aux(first + out[i]);
}

void circuit_sha_block(struct circuit *c, struct sha_state *s, const struct sha_message *m)
{
    if (c->builder)
        place_block(c, s, m);
    if (c->seeds) {
        uint8_t block[64];
        seeds_hints(c->seeds, s->words, 8);
        seeds_hints(c->seeds, m->words, 16);
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t w = __builtin_bswap32(m->words[i]);
            memcpy(block + 4 * i, &w, 4);
        }
        sha256_compress(s->words, block);
    }
    s->constant = false;
}

struct number circuit_sha_digest(struct circuit *c, const struct sha_state *s)
{
    uint32_t placed = 0;
    fr value = FR_ZERO;
    if (c->builder) {
        struct template_key key = {TEMPLATE_PACK, {254}};
        struct port_list ports;
        ports_clear(&ports);
        for (uint32_t i = 0; i < 254; i++)
            ports_bits(&ports, (variable){s->first[i / 32].id + sha_bit_of_word(i % 32)}, 1);
        placed = circuit_place_number(c, &key, &ports);
    }
    if (c->seeds) {
        fr_int trimmed;
        for (uint32_t i = 0; i < 4; i++)
            trimmed.l[i] =
                __builtin_bswap32(s->words[2 * i]) | (uint64_t)__builtin_bswap32(s->words[2 * i + 1]) << 32;
        trimmed.l[3] &= UINT64_MAX >> 2;
        fr_from_int(&value, &trimmed);
    }
    return (struct number){.v = variable_aux(placed), .known = c->seeds != NULL, .value = value};
}

/* ---- hashes of numbers, and labels ---- */

struct number circuit_sha_decomposed(struct circuit *c, const struct bits *decomposed, uint32_t count)
{
    struct sha_state state;
    struct sha_message message;
    sha_state_start(&state);
    for (uint32_t i = 0; i < count; i += 2) {
        sha_message_number(&message, 0, &decomposed[i]);
        sha_message_number(&message, 1, &decomposed[i + 1]);
        circuit_sha_block(c, &state, &message);
    }
    sha_message_padding_block(&message, (uint64_t)count * 256);
    circuit_sha_block(c, &state, &message);
    return circuit_sha_digest(c, &state);
}

struct number circuit_sha_numbers(struct circuit *c, const struct number *inputs, uint32_t count)
{
    struct cs *cs = c->cs;
    struct bits decomposed[8];
    struct number generic = {0}, out;
    CHECK(count >= 2 && count <= 8 && count % 2 == 0);
    if (cs)
        generic = sha256_hash_numbers(cs, inputs, count);
    c->cs = NULL; /* the generic form has run as a whole */
    for (uint32_t i = 0; i < count; i++)
        decomposed[i] = circuit_to_bits(c, &inputs[i]);
    out = circuit_sha_decomposed(c, decomposed, count);
    c->cs = cs;
    return circuit_result(c, &generic, variable_index(out.v), out.known, &out.value);
}

static struct number label_generic(struct cs *cs, const struct bits *replica_id,
                                   const struct bits *const parents[LABEL_PARENTS], uint32_t layer,
                                   const struct bits *node)
{
    struct boolean id[256], numbered[LABEL_PARENTS][256], bits[FR_BITS], node_bits[64];
    const struct boolean *list[LABEL_PARENTS];
    uint32_t counts[LABEL_PARENTS];
    struct uint32_bits layer_bits = uint32_constant(layer);
    bits_to_booleans(bits, replica_id);
    reverse_bit_numbering(id, bits, FR_BITS);
    for (uint32_t i = 0; i < LABEL_PARENTS; i++) {
        bits_to_booleans(bits, parents[i]);
        counts[i] = reverse_bit_numbering(numbered[i], bits, FR_BITS);
        list[i] = numbered[i];
    }
    bits_to_booleans(node_bits, node);
    return label_circuit(cs, id, 256, list, counts, &layer_bits, node_bits);
}

/* replica_id, layer and node (both big-endian), zeros */
static void label_header(struct sha_message *m, const struct bits *replica_id, uint32_t layer,
                         const struct bits *node)
{
    sha_message_clear(m);
    sha_message_number(m, 0, replica_id);
    m->words[8] = layer;
    m->words[9] = (uint32_t)(node->values[0] >> 32);
    m->words[10] = (uint32_t)node->values[0];
    m->constant[9] = m->constant[10] = 0;
    for (uint32_t i = 0; i < 64; i++)
        m->at[9 * 32 + i] = (variable){node->first.id + 56 - (i & ~7u) + (i & 7)};
}

struct number circuit_label(struct circuit *c, const struct bits *replica_id,
                            const struct bits *const parents[LABEL_PARENTS], uint32_t layer,
                            const struct bits *node)
{
    struct number generic = {0}, out;
    struct sha_state state;
    struct sha_message message;
    CHECK(replica_id->count == FR_BITS && node->count == 64);
    if (c->cs)
        generic = label_generic(c->cs, replica_id, parents, layer, node);
    sha_state_start(&state);
    label_header(&message, replica_id, layer, node);
    circuit_sha_block(c, &state, &message);
    for (uint32_t i = 0; i + 1 < LABEL_PARENTS; i += 2) {
        sha_message_number(&message, 0, parents[i]);
        sha_message_number(&message, 1, parents[i + 1]);
        circuit_sha_block(c, &state, &message);
    }
    sha_message_number(&message, 0, parents[LABEL_PARENTS - 1]);
    sha_message_padding(&message, 32, (2 + LABEL_PARENTS) * 256);
    circuit_sha_block(c, &state, &message);
    out = circuit_sha_digest(c, &state);
    return circuit_result(c, &generic, variable_index(out.v), out.known, &out.value);
}
