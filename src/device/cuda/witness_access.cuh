/* Field elements and bits of a witness in device memory. Bits are read and written as 32-bit words, which on
 * a little-endian machine are the halves of the bitmap's. A bit is written once, into memory that was zero:
 * so adding is setting, and instances that share a word need no more than an atomic addition. */
#ifndef CUZK_DEVICE_CUDA_WITNESS_ACCESS_CUH
#define CUZK_DEVICE_CUDA_WITNESS_ACCESS_CUH

#include "device/cuda/fr.cuh"
#include "device/cuda/launch.cuh"
#include "device/cuda/witness_tables.h"

namespace gpu
{

DEVICE fr element(const void *from, size_t index)
{
    const uint4 *p = (const uint4 *)from + 2 * index;
    uint4 low = p[0], high = p[1];
    return fr{{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

DEVICE void put_element(void *to, size_t index, const fr &x)
{
    uint4 *p = (uint4 *)to + 2 * index;
    p[0] = make_uint4(x.l[0], x.l[1], x.l[2], x.l[3]);
    p[1] = make_uint4(x.l[4], x.l[5], x.l[6], x.l[7]);
}

DEVICE uint32_t bit_at(const uint32_t *bits, uint32_t at)
{
    return bits[at >> 5] >> (at & 31) & 1;
}

/* count <= 64 bits from `at` on; words behind them are not read. */
DEVICE uint64_t bits_at(const uint32_t *bits, uint32_t at, uint32_t count)
{
    const uint32_t *word = bits + (at >> 5);
    uint32_t shift = at & 31, end = shift + count;
    uint64_t value = word[0] >> shift;
    if (end > 32)
        value |= (uint64_t)word[1] << (32 - shift);
    if (end > 64)
        value |= (uint64_t)word[2] << (64 - shift);
    return count < 64 ? value & (((uint64_t)1 << count) - 1) : value;
}

DEVICE void add_bits64(uint64_t *word, uint64_t value)
{
    if (value)
        (void)atomicAdd((unsigned long long *)word, (unsigned long long)value);
}

/* The low count <= 32 bits of value, to bit `at`. */
DEVICE void put_bits(uint64_t *bits, uint32_t at, uint32_t value, uint32_t count)
{
    uint64_t *word = bits + (at >> 6);
    uint32_t shift = at & 63;
    uint64_t wide = count < 32 ? value & ((1u << count) - 1) : value;
    add_bits64(word, wide << shift);
    if (shift + count > 64)
        add_bits64(word + 1, wide >> (64 - shift));
}

} // namespace gpu

#endif
