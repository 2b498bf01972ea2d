/* Gadgets of the sector-update circuits that consist only of others (gadgets specification, 9). */
#ifndef CUZK_GADGET_UPDATE_H
#define CUZK_GADGET_UPDATE_H

#include "gadget/merkle.h"

/* `count` challenges of `bits` bits each (bits <= 254), from commitment and partition number k: out holds
 * count * bits booleans, challenge by challenge, lowest first. */
void gen_challenge_bits(struct cs *cs, struct boolean *out, const struct number *commitment,
                        const struct number *k, uint32_t count, uint32_t bits);
/* The number that the last h of the challenge's bits make, h being the one of heights whose selection bit is
 * set. */
struct number challenge_high_bits(struct cs *cs, const struct boolean *challenge, uint32_t challenge_bits,
                                  const struct boolean *select, const uint32_t *heights, uint32_t count);
/* old + d * rho */
struct number label_r_new(struct cs *cs, const struct number *old, const struct number *d,
                          const struct number *rho);
/* SHA-256 tree over the 2^k leaves, then a binary path of `levels` from its root to comm_d. */
void apex_por(struct cs *cs, const struct number *leaves, uint32_t leaves_count, const struct boolean *bits,
              const struct number *path, uint32_t levels, const struct number *comm_d);

#endif
