/* The ChaCha block function (Bernstein 2008), for graphs (8 rounds, 64-bit counter) and synthetic challenges
 * (20 rounds, 32-bit counter, 96-bit nonce). Fixed inputs from the protocol, nothing secret. */
#ifndef CUZK_FILECOIN_CHACHA_H
#define CUZK_FILECOIN_CHACHA_H

#include <stdint.h>

/* One block of keystream. tail: words 12 to 15 of the state, counter and nonce in the caller's layout. */
void chacha_block(uint8_t out[64], const uint8_t key[32], const uint32_t tail[4], unsigned rounds);

#endif
