/* Signed digits of scalars: window w of the scalar plus the constant sum of 2^(bits-1) 2^(bits w), less
 * 2^(bits-1). So digits lie in [-2^(bits-1), 2^(bits-1)), each from its own bits after one addition. With
 * windows = floor(255/bits) + 1 the sum needs at most 288 bits. */
#ifndef CUZK_DEVICE_CUDA_DIGITS_CUH
#define CUZK_DEVICE_CUDA_DIGITS_CUH

#include "device/cuda/fr.cuh"

namespace gpu
{

struct digit_offset {
    uint32_t l[9];
};

static inline uint32_t digit_windows(uint32_t bits)
{
    return 255 / bits + 1;
}

static inline digit_offset digit_offset_of(uint32_t bits)
{
    digit_offset o = {{0, 0, 0, 0, 0, 0, 0, 0, 0}};
    for (uint32_t w = 0; w < digit_windows(bits); w++) {
        uint32_t at = bits * w + bits - 1;
        if (at < 288)
            o.l[at / 32] |= 1u << (at % 32);
    }
    return o;
}

/* Adds the offset: the nine words from which digits are cut. */
HD void digit_prepare(uint32_t *words, const uint32_t *scalar, const digit_offset &offset)
{
    carry c;
    words[0] = add_cc(c, scalar[0], offset.l[0]);
    UNROLL for (int i = 1; i < 8; i++) words[i] = addc_cc(c, scalar[i], offset.l[i]);
    words[8] = addc(c, 0, offset.l[8]);
}

HD int32_t digit_at(const uint32_t *words, uint32_t bits, uint32_t window)
{
    uint32_t at = bits * window, word = at / 32, shift = at % 32;
    uint64_t pair = 0; /* selected without indexing by a variable, which would put the words in memory */
    UNROLL for (uint32_t i = 0; i < 9; i++)
    {
        if (i == word)
            pair = ((uint64_t)(i < 8 ? words[i < 8 ? i + 1 : 8] : 0) << 32) | words[i];
    }
    return (int32_t)((uint32_t)(pair >> shift) & ((1u << bits) - 1)) - (int32_t)(1u << (bits - 1));
}

} // namespace gpu

#endif
