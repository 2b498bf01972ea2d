/* SHA-256 over booleans (gadgets specification, 5), the bit conventions between field elements and byte
 * strings (6.2), and the hash functions of circuits built on both (9). */
#ifndef CUZK_GADGET_SHA256_H
#define CUZK_GADGET_SHA256_H

#include "gadget/number.h"
#include "gadget/uint32.h"

/* state = compression of state with one block of 512 booleans, most significant bit of each word first. */
void sha256_compression(struct cs *cs, struct uint32_bits state[8], const struct boolean block[512]);
void sha256_initial_state(struct uint32_bits state[8]);
/* Digest of `count` (a multiple of 8) bits; 256 bits, bytes in order, most significant first. */
void sha256_bits(struct cs *cs, struct boolean out[256], const struct boolean *bits, uint32_t count);

/* rbn: pads with zeros to whole bytes and reverses the bits of each byte. in and out must not overlap;
 * returns the new count. */
uint32_t reverse_bit_numbering(struct boolean *out, const struct boolean *in, uint32_t count);

/* SHA-256 of bits as a number: the digest's first 254 bits after rbn. */
struct number sha256_hash_bits(struct cs *cs, const struct boolean *bits, uint32_t count);
/* hash_leaf_bits_circuit: both operands least significant first. */
struct number sha256_hash_leaf_bits(struct cs *cs, const struct boolean *left, uint32_t left_count,
                                    const struct boolean *right, uint32_t right_count);
/* hash_multi_leaf_circuit (hash_leaf and hash2 are the case of two). count <= 64. */
struct number sha256_hash_numbers(struct cs *cs, const struct number *inputs, uint32_t count);

/* create_label_circuit. replica_id and each parent: at most 256 booleans in message order (rbn). */
#define LABEL_PARENTS 37
struct number label_circuit(struct cs *cs, const struct boolean *replica_id, uint32_t replica_id_count,
                            const struct boolean *const parents[LABEL_PARENTS],
                            const uint32_t parents_count[LABEL_PARENTS], const struct uint32_bits *layer,
                            const struct boolean node[64]); /* node least significant first */

#endif
