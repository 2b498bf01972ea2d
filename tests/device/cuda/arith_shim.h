/* The card's arithmetic as C functions over the memory forms of field/, for arith_test.c: the headers are
 * CUDA C++ and their carry chains run here on a carry flag kept by hand. */
#ifndef CUZK_TESTS_ARITH_SHIM_H
#define CUZK_TESTS_ARITH_SHIM_H

#include <stdint.h>

enum shim_op { SHIM_MUL, SHIM_SQR, SHIM_ADD, SHIM_SUB, SHIM_SUB_WIDE_MUL, SHIM_NEG, SHIM_INVERSE };

/* Inputs are used as they stand, so that lazy representatives can be given; outputs are fully reduced, after
 * a check that they were below 2p (or 2r): 0 if they were not. */
int shim_fp(uint32_t out[12], enum shim_op op, const uint32_t a[12], const uint32_t b[12]);
int shim_fp_mul_add_mul(uint32_t out[12], const uint32_t a[12], const uint32_t b[12], const uint32_t c[12],
                        const uint32_t d[12]);
int shim_fp2(uint32_t out[24], enum shim_op op, const uint32_t a[24], const uint32_t b[24]);
int shim_fr(uint32_t out[8], enum shim_op op, const uint32_t a[8], const uint32_t b[8]);
/* a (below 2r) times the constant whose Montgomery form is b (below r), by its Shoup form. */
int shim_fr_shoup(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]);
int shim_fr_lazy(uint32_t out[8], enum shim_op op, const uint32_t a[8], const uint32_t b[8]);

/* Points: out = a + b; kind 0: affine + affine (through XYZZ), 1: XYZZ + XYZZ; affine memory forms. */
void shim_g1_add(uint32_t out[24], const uint32_t a[24], const uint32_t b[24], int kind);
void shim_g2_add(uint32_t out[48], const uint32_t a[48], const uint32_t b[48], int kind);
void shim_g1_mul(uint32_t out[24], const uint32_t a[24], const uint32_t scalar[8]);
void shim_g2_mul(uint32_t out[48], const uint32_t a[48], const uint32_t scalar[8]);

#endif
