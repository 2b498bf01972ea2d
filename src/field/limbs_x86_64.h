/* Modular addition and subtraction for the ADX flavour. Compilers turn carry chains written in C into several
 * times the instructions, and batch-affine point addition does a few of these for each multiplication. So the
 * chains are assembly, while loads and stores stay with the compiler, which may keep operands in registers.
 *
 * The second chain corrects a copy while the first still runs, and conditional moves choose. The moduli come
 * by name from asm_x86_64.S, which saves the register for their address: of the 14 free ones a debug or ASan
 * build may lack two more. Operands below the modulus; branch-free. */
#ifndef CUZK_FIELD_LIMBS_X86_64_H
#define CUZK_FIELD_LIMBS_X86_64_H

#include <stdint.h>

#define LIMBS_INLINE static inline __attribute__((always_inline))

LIMBS_INLINE void fr_add_x86_64(uint64_t *out, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    uint64_t d0, d1, d2, d3;
    __asm__("addq (%[b]), %[t0]\n\t"
            "adcq 8(%[b]), %[t1]\n\t"
            "adcq 16(%[b]), %[t2]\n\t"
            "adcq 24(%[b]), %[t3]"
            : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3)
            : [b] "r"(b), "m"(*(const uint64_t(*)[4])b)
            : "cc");
    __asm__("movq %[t0], %[d0]\n\t"
            "movq %[t1], %[d1]\n\t"
            "movq %[t2], %[d2]\n\t"
            "movq %[t3], %[d3]\n\t"
            "subq field_asm_r(%%rip), %[d0]\n\t"
            "sbbq field_asm_r+8(%%rip), %[d1]\n\t"
            "sbbq field_asm_r+16(%%rip), %[d2]\n\t"
            "sbbq field_asm_r+24(%%rip), %[d3]\n\t"
            "cmovcq %[t0], %[d0]\n\t"
            "cmovcq %[t1], %[d1]\n\t"
            "cmovcq %[t2], %[d2]\n\t"
            "cmovcq %[t3], %[d3]"
            : [d0] "=&r"(d0), [d1] "=&r"(d1), [d2] "=&r"(d2), [d3] "=&r"(d3)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3)
            : "cc");
    out[0] = d0, out[1] = d1, out[2] = d2, out[3] = d3;
}

LIMBS_INLINE void fr_sub_x86_64(uint64_t *out, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
    uint64_t d0, d1, d2, d3, borrow;
    __asm__("subq (%[b]), %[t0]\n\t"
            "sbbq 8(%[b]), %[t1]\n\t"
            "sbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\t"
            "sbbq %[borrow], %[borrow]"
            : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [borrow] "=&r"(borrow)
            : [b] "r"(b), "m"(*(const uint64_t(*)[4])b)
            : "cc");
    __asm__("movq %[t0], %[d0]\n\t"
            "movq %[t1], %[d1]\n\t"
            "movq %[t2], %[d2]\n\t"
            "movq %[t3], %[d3]\n\t"
            "addq field_asm_r(%%rip), %[d0]\n\t"
            "adcq field_asm_r+8(%%rip), %[d1]\n\t"
            "adcq field_asm_r+16(%%rip), %[d2]\n\t"
            "adcq field_asm_r+24(%%rip), %[d3]\n\t"
            "cmpq $0, %[borrow]\n\t"
            "cmovzq %[t0], %[d0]\n\t"
            "cmovzq %[t1], %[d1]\n\t"
            "cmovzq %[t2], %[d2]\n\t"
            "cmovzq %[t3], %[d3]"
            : [d0] "=&r"(d0), [d1] "=&r"(d1), [d2] "=&r"(d2), [d3] "=&r"(d3)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3), [borrow] "rm"(borrow)
            : "cc");
    out[0] = d0, out[1] = d1, out[2] = d2, out[3] = d3;
}

LIMBS_INLINE void fp_add_x86_64(uint64_t *out, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    uint64_t d0, d1, d2, d3, d4, d5;
    __asm__("addq (%[b]), %[t0]\n\t"
            "adcq 8(%[b]), %[t1]\n\t"
            "adcq 16(%[b]), %[t2]\n\t"
            "adcq 24(%[b]), %[t3]\n\t"
            "adcq 32(%[b]), %[t4]\n\t"
            "adcq 40(%[b]), %[t5]"
            : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [t4] "+r"(t4), [t5] "+r"(t5)
            : [b] "r"(b), "m"(*(const uint64_t(*)[6])b)
            : "cc");
    __asm__("movq %[t0], %[d0]\n\t"
            "movq %[t1], %[d1]\n\t"
            "movq %[t2], %[d2]\n\t"
            "movq %[t3], %[d3]\n\t"
            "movq %[t4], %[d4]\n\t"
            "movq %[t5], %[d5]\n\t"
            "subq field_asm_p(%%rip), %[d0]\n\t"
            "sbbq field_asm_p+8(%%rip), %[d1]\n\t"
            "sbbq field_asm_p+16(%%rip), %[d2]\n\t"
            "sbbq field_asm_p+24(%%rip), %[d3]\n\t"
            "sbbq field_asm_p+32(%%rip), %[d4]\n\t"
            "sbbq field_asm_p+40(%%rip), %[d5]\n\t"
            "cmovcq %[t0], %[d0]\n\t"
            "cmovcq %[t1], %[d1]\n\t"
            "cmovcq %[t2], %[d2]\n\t"
            "cmovcq %[t3], %[d3]\n\t"
            "cmovcq %[t4], %[d4]\n\t"
            "cmovcq %[t5], %[d5]"
            : [d0] "=&r"(d0), [d1] "=&r"(d1), [d2] "=&r"(d2), [d3] "=&r"(d3), [d4] "=&r"(d4), [d5] "=&r"(d5)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3), [t4] "r"(t4), [t5] "r"(t5)
            : "cc");
    out[0] = d0, out[1] = d1, out[2] = d2, out[3] = d3, out[4] = d4, out[5] = d5;
}

LIMBS_INLINE void fp_sub_x86_64(uint64_t *out, const uint64_t *a, const uint64_t *b)
{
    uint64_t t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
    uint64_t d0, d1, d2, d3, d4, d5, borrow;
    __asm__("subq (%[b]), %[t0]\n\t"
            "sbbq 8(%[b]), %[t1]\n\t"
            "sbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\t"
            "sbbq 32(%[b]), %[t4]\n\t"
            "sbbq 40(%[b]), %[t5]\n\t"
            "sbbq %[borrow], %[borrow]"
            : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [t4] "+r"(t4), [t5] "+r"(t5),
              [borrow] "=&r"(borrow)
            : [b] "r"(b), "m"(*(const uint64_t(*)[6])b)
            : "cc");
    __asm__("movq %[t0], %[d0]\n\t"
            "movq %[t1], %[d1]\n\t"
            "movq %[t2], %[d2]\n\t"
            "movq %[t3], %[d3]\n\t"
            "movq %[t4], %[d4]\n\t"
            "movq %[t5], %[d5]\n\t"
            "addq field_asm_p(%%rip), %[d0]\n\t"
            "adcq field_asm_p+8(%%rip), %[d1]\n\t"
            "adcq field_asm_p+16(%%rip), %[d2]\n\t"
            "adcq field_asm_p+24(%%rip), %[d3]\n\t"
            "adcq field_asm_p+32(%%rip), %[d4]\n\t"
            "adcq field_asm_p+40(%%rip), %[d5]\n\t"
            "cmpq $0, %[borrow]\n\t"
            "cmovzq %[t0], %[d0]\n\t"
            "cmovzq %[t1], %[d1]\n\t"
            "cmovzq %[t2], %[d2]\n\t"
            "cmovzq %[t3], %[d3]\n\t"
            "cmovzq %[t4], %[d4]\n\t"
            "cmovzq %[t5], %[d5]"
            : [d0] "=&r"(d0), [d1] "=&r"(d1), [d2] "=&r"(d2), [d3] "=&r"(d3), [d4] "=&r"(d4), [d5] "=&r"(d5)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3), [t4] "r"(t4), [t5] "r"(t5),
              [borrow] "rm"(borrow)
            : "cc");
    out[0] = d0, out[1] = d1, out[2] = d2, out[3] = d3, out[4] = d4, out[5] = d5;
}

#endif
