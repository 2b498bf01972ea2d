/* Verifying keys: the .vk file, which is also the head of a .params file (groth16 specification 3.1). */
#ifndef CUZK_GROTH16_KEY_H
#define CUZK_GROTH16_KEY_H

#include "base/status.h"
#include "curve/pairing.h"

struct verifying_key {
    g1_affine alpha_g1, beta_g1, delta_g1;
    g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t ic_count; /* inputs, ONE included */
    g1_affine *ic;     /* owned */
    /* for verification */
    struct g2_prepared gamma_neg, delta_neg, beta;
};

#define VK_FIXED_BYTES 868
static inline size_t vk_bytes(uint32_t ic_count)
{
    return VK_FIXED_BYTES + 96u * (size_t)ic_count;
}

/* Reads a key from `size` bytes; *used (may be NULL) is its length, and then bytes may follow; with used NULL
 * the length must be exact. Every point is checked: encoding, curve, subgroup, no infinity. */
MUST_USE struct status vk_read(struct verifying_key *out, const uint8_t *bytes, size_t size, size_t *used);
void vk_write(uint8_t *bytes, const struct verifying_key *key); /* vk_bytes(ic_count) */
/* Fills the prepared parts from the points. */
void vk_prepare(struct verifying_key *key);
void vk_end(struct verifying_key *key);

#endif
