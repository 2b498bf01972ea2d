/* Carry chains over 32-bit limbs: the alphabet in which the field arithmetic of the card is written.
 *
 * On the card each word below is one PTX instruction that reads or writes the carry flag CC.CF, or a pair
 * that ptxas fuses into one IMAD.WIDE; the statements are volatile, which keeps their order, and nothing
 * between them touches the flag. Host compilers get the same chains with the flag in a `carry`: so the very
 * same text is tested without a card. Names follow PTX: _cc writes the flag, a c in front reads it. */
#ifndef CUZK_DEVICE_CUDA_CARRY_CUH
#define CUZK_DEVICE_CUDA_CARRY_CUH

#include <stddef.h>
#include <stdint.h>

/* HD: everywhere, inlined on the card. Unrolled and forced inline, host compilers would take minutes and
 * gigabytes. HD_CALL: not even there, for what is large and not hot. */
#ifdef __CUDA_ARCH__
#define HD      __host__ __device__ __forceinline__
#define HD_CALL __host__ __device__ __noinline__
#define UNROLL  _Pragma("unroll")
#elif defined(__CUDACC__)
#define HD      __host__ __device__ inline
#define HD_CALL __host__ __device__ inline
#define UNROLL  _Pragma("unroll")
#else
#define HD      inline
#define HD_CALL inline
#define UNROLL
#endif

namespace gpu
{

#ifdef __CUDA_ARCH__

struct carry {
};

HD uint32_t add_cc(carry &, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HD uint32_t addc_cc(carry &, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HD uint32_t addc(carry &, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HD uint32_t sub_cc(carry &, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HD uint32_t subc_cc(carry &, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HD uint32_t subc(carry &, uint32_t a, uint32_t b)
{
    uint32_t r;
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
/* (hi,lo) = a*b + (chi,clo), with and without carry in and out. */
HD void mul_wide(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b)
{
    asm volatile("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;" : "=&r"(lo), "=r"(hi) : "r"(a), "r"(b));
}
HD void mad_cc(carry &, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(clo), "r"(chi));
}
HD void madc_cc(carry &, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(clo), "r"(chi));
}
HD void madc(carry &, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(clo), "r"(chi));
}
HD void mad(carry &, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;"
                 : "=&r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(clo), "r"(chi));
}
/* -a by a carrying subtraction: ptxas would fold a plain one into the products that follow, and split them.
 */
HD uint32_t negated(uint32_t a)
{
    uint32_t r;
    asm volatile("sub.cc.u32 %0, 0, %1;" : "=r"(r) : "r"(a));
    return r;
}
/* Low word only, for the top of a truncated product. */
HD uint32_t mad_lo(carry &, uint32_t a, uint32_t b, uint32_t c)
{
    return a * b + c;
}
HD uint32_t madc_lo(carry &, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r;
    asm volatile("madc.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

#else

struct carry {
    uint32_t flag = 0;
};

HD uint32_t add_in(carry &c, uint32_t a, uint32_t b, uint32_t in)
{
    uint64_t s = (uint64_t)a + b + in;
    c.flag = (uint32_t)(s >> 32);
    return (uint32_t)s;
}
HD uint32_t add_cc(carry &c, uint32_t a, uint32_t b)
{
    return add_in(c, a, b, 0);
}
HD uint32_t addc_cc(carry &c, uint32_t a, uint32_t b)
{
    return add_in(c, a, b, c.flag);
}
HD uint32_t addc(carry &c, uint32_t a, uint32_t b)
{
    return a + b + c.flag;
}
HD uint32_t sub_in(carry &c, uint32_t a, uint32_t b, uint32_t in)
{
    uint64_t d = (uint64_t)a - b - in;
    c.flag = (uint32_t)(d >> 32) & 1;
    return (uint32_t)d;
}
HD uint32_t sub_cc(carry &c, uint32_t a, uint32_t b)
{
    return sub_in(c, a, b, 0);
}
HD uint32_t subc_cc(carry &c, uint32_t a, uint32_t b)
{
    return sub_in(c, a, b, c.flag);
}
HD uint32_t subc(carry &c, uint32_t a, uint32_t b)
{
    return a - b - c.flag;
}
HD void mul_wide(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b)
{
    uint64_t p = (uint64_t)a * b;
    lo = (uint32_t)p;
    hi = (uint32_t)(p >> 32);
}
HD void madc_cc(carry &c, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    uint64_t p = (uint64_t)a * b;
    lo = addc_cc(c, (uint32_t)p, clo);
    hi = addc_cc(c, (uint32_t)(p >> 32), chi);
}
HD void mad_cc(carry &c, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    c.flag = 0;
    madc_cc(c, lo, hi, a, b, clo, chi);
}
HD void madc(carry &c, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    madc_cc(c, lo, hi, a, b, clo, chi);
}
HD void mad(carry &c, uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b, uint32_t clo, uint32_t chi)
{
    mad_cc(c, lo, hi, a, b, clo, chi);
}
HD uint32_t negated(uint32_t a)
{
    return 0u - a;
}
HD uint32_t mad_lo(carry &, uint32_t a, uint32_t b, uint32_t c)
{
    return a * b + c;
}
HD uint32_t madc_lo(carry &cy, uint32_t a, uint32_t b, uint32_t c)
{
    return a * b + c + cy.flag;
}

#endif

/* Sums of whole numbers; N words. */
template <int N> HD void words_add(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    carry c;
    r[0] = add_cc(c, a[0], b[0]);
    UNROLL for (int i = 1; i < N - 1; i++) r[i] = addc_cc(c, a[i], b[i]);
    r[N - 1] = addc(c, a[N - 1], b[N - 1]);
}

/* Returns all ones if a < b, else 0. */
template <int N> HD uint32_t words_sub(uint32_t *r, const uint32_t *a, const uint32_t *b)
{
    carry c;
    r[0] = sub_cc(c, a[0], b[0]);
    UNROLL for (int i = 1; i < N; i++) r[i] = subc_cc(c, a[i], b[i]);
    return subc(c, 0, 0);
}

template <int N> HD void words_add_masked(uint32_t *r, const uint32_t *a, const uint32_t *b, uint32_t mask)
{
    carry c;
    r[0] = add_cc(c, a[0], b[0] & mask);
    UNROLL for (int i = 1; i < N - 1; i++) r[i] = addc_cc(c, a[i], b[i] & mask);
    r[N - 1] = addc(c, a[N - 1], b[N - 1] & mask);
}

/* a - m if a >= m, else a. */
template <int N> HD void words_reduce_once(uint32_t *r, const uint32_t *a, const uint32_t *m)
{
    uint32_t d[N];
    uint32_t less = words_sub<N>(d, a, m);
    UNROLL for (int i = 0; i < N; i++) r[i] = less ? a[i] : d[i];
}

template <int N> HD bool words_is_zero(const uint32_t *a)
{
    uint32_t x = 0;
    UNROLL for (int i = 0; i < N; i++) x |= a[i];
    return x == 0;
}

template <int N> HD bool words_equal(const uint32_t *a, const uint32_t *b)
{
    uint32_t x = 0;
    UNROLL for (int i = 0; i < N; i++) x |= a[i] ^ b[i];
    return x == 0;
}

} // namespace gpu

#endif
