/* Kernels of the setup on the card: the scalars of a parameter set (groth16 specification 4). What they do
 * for a shape is in setup_card.c. Field elements are Montgomery unless called plain. */
#ifndef CUZK_DEVICE_CUDA_SETUP_KERNELS_H
#define CUZK_DEVICE_CUDA_SETUP_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

struct CUstream_st;

/* out[i] = low[j mod 2^GPU_SETUP_LOW] high[j / 2^GPU_SETUP_LOW] for i < n, where j is i, or, with reversed >
 * 0, i with its `reversed` bits in reverse order. plain: as a plain integer. With low[k] = x^k and high[k] =
 * s x^(k 2^GPU_SETUP_LOW) these are s times the powers of x. */
#define GPU_SETUP_LOW 15
MUST_USE struct status gpu_setup_powers(void *out_dev, const void *low_dev, const void *high_dev, size_t n,
                                        unsigned reversed, bool plain, struct CUstream_st *stream);

/* Column sums are taken as integers, eight words of 64 bits a variable (inputs, then aux), each the sum of
 * 32-bit words: so an addition is eight atomic ones without carries, exact for 2^32 terms a column. */
#define GPU_SETUP_SUM_WORDS 8

/* A template of a shape, in device memory (r1cs/template.h has the meaning of all). */
struct gpu_setup_template {
    const uint32_t *first, *columns, *field_local;
    const uint16_t *coefficients;
    uint32_t rows;
};
struct gpu_setup_instance {
    uint32_t first_row, first_aux;
    uint32_t first_port; /* into port_variables */
};
/* Adds, for all rows of `count` instances of one template, coefficient times lagrange[row] to the sum of each
 * column of a matrix (0, 1, 2). port_variables: the variable id of every port of every instance. */
MUST_USE struct status gpu_setup_rows(uint64_t *sums_dev, const void *lagrange_dev,
                                      const struct gpu_setup_template *t,
                                      const struct gpu_setup_instance *instances_dev, uint32_t count,
                                      const uint32_t *port_variables_dev, const void *dictionary_dev,
                                      uint32_t inputs, uint32_t matrix, struct CUstream_st *stream);
/* Input rows: lagrange[i] to input i. */
MUST_USE struct status gpu_setup_input_rows(uint64_t *sums_dev, const void *lagrange_dev, uint32_t inputs,
                                            struct CUstream_st *stream);
/* The field elements that the sums are. */
MUST_USE struct status gpu_setup_reduce(void *out_dev, const uint64_t *sums_dev, size_t n,
                                        struct CUstream_st *stream);
/* variables[j of run i] = first[i] + j, at to[i]. */
MUST_USE struct status gpu_setup_ports(uint32_t *variables_dev, const uint32_t *first_dev,
                                       const uint32_t *counts_dev, const uint32_t *to_dev, size_t runs,
                                       struct CUstream_st *stream);
/* out[i] = (beta a[i] + alpha b[i] + c[i]) scale; the four scalars are host memory. */
MUST_USE struct status gpu_setup_external(void *out_dev, const void *a_dev, const void *b_dev,
                                          const void *c_dev, size_t n, const void *alpha, const void *beta,
                                          const void *scale, struct CUstream_st *stream);
/* *found_dev = 1 + some i with values[i] = 0, if there is one. */
MUST_USE struct status gpu_setup_find_zero(uint32_t *found_dev, const void *values_dev, size_t n,
                                           struct CUstream_st *stream);
/* The positions of the set bits of n, ascending. Scratch: gpu_setup_positions_scratch_bytes. */
size_t gpu_setup_positions_scratch_bytes(size_t n);
MUST_USE struct status gpu_setup_positions(uint32_t *out_dev, const uint64_t *bits_dev, size_t n,
                                           void *scratch_dev, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
