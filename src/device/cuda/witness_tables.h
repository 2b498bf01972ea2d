/* A shape as the card sees it, and the kernels over it: what witness.c (C, knows shapes) and witness_*.cu
 * (C++, where `template` is a keyword and the headers of r1cs cannot be read) share. Numbers that r1cs and
 * gadget define are repeated; witness.c checks that they agree.
 *
 * A row's combinations are lists of items. A "small" one holds bits and ONE with small integers: the sum of
 * those that are set chooses from a table. In any other an item is a variable times a coefficient, or a
 * stretch of local bits whose coefficients double from one to the next: the bits as one number, times the
 * first coefficient. That makes ten products of the 240 terms of a row that adds words. */
#ifndef CUZK_DEVICE_CUDA_WITNESS_TABLES_H
#define CUZK_DEVICE_CUDA_WITNESS_TABLES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

struct CUstream_st;

enum gpu_column { GPU_LOCAL_BIT, GPU_LOCAL_FIELD, GPU_PORT_BIT, GPU_PORT_FIELD, GPU_ONE };
#define GPU_COLUMN_SHIFT  29
#define GPU_COLUMN_NUMBER 0x1fffffffu
enum gpu_expander {
    GPU_NONE,
    GPU_SHA256_BLOCK,
    GPU_POSEIDON,
    GPU_PATH_ELEMENT,
    GPU_TO_BITS,
    GPU_SHA_PATH_HEAD,
    GPU_PACK,
    GPU_SUM,
    GPU_DIFFERENCE,
    GPU_MUL,
    GPU_MUL_BIT,
    GPU_SCALE_ADD,
    GPU_INSERT,
    GPU_SELECT,
    GPU_EXPANDERS,
};

#define GPU_SMALL_MAX  64  /* small sums stay within this many either way */
#define GPU_CHUNK_ROWS 256 /* rows whose first instance is known */
#define GPU_PARAMETERS 24

struct gpu_instance {
    uint32_t first_row, first_aux;
    uint32_t first_value; /* of its fields: values are the inputs, then all fields by slot */
    uint32_t first_port;  /* into ports */
    uint32_t template_number;
    uint32_t first_seed_field, first_seed_bit, first_hint;
};

struct gpu_template {
    uint32_t combinations; /* into combinations: 2 rows + 1 of them */
    uint32_t rows;
    uint32_t seed_ranks, seed_locals; /* into places */
    uint32_t expander, poseidon;      /* number; index into poseidons */
    uint32_t parameters[GPU_PARAMETERS];
};

struct gpu_item {
    uint32_t column;
    uint16_t coefficient; /* small: the integer, as int16_t; else its number in the dictionary */
    uint8_t count;        /* local bits from column on; 1 otherwise */
    uint8_t unused;
};

/* Places are elements of `constants`. Layouts as in gadget/poseidon.h. */
struct gpu_poseidon {
    uint32_t width, partial_rounds, rounds, mds, pre_sparse, sparse;
};

struct gpu_tables {
    const struct gpu_instance *instances;
    const struct gpu_template *templates;
    const uint32_t *combinations; /* first item << 1 | (1: not small); A (or C in its place) and B in turn */
    const struct gpu_item *items;
    const uint32_t *ports;       /* aux index of a bit, index among the values of a field */
    const uint32_t *places;      /* ranks and locals of seeds */
    const uint32_t *chunk_first; /* instance of row k GPU_CHUNK_ROWS; one more: the last instance */
    const uint32_t *waves;       /* instances, by wave and kernel */
    const uint32_t *words;       /* 64 round constants of SHA-256; networks from GPU_NETWORKS on */
    const struct gpu_poseidon *poseidons;
    /* field elements */
    const void *coefficients; /* dictionary, Montgomery */
    const void *scaled;       /* the same times 2^256 once more: factors for plain integers */
    const void *small;        /* the integers from -GPU_SMALL_MAX to GPU_SMALL_MAX */
    const void *constants;    /* of Poseidon */
    uint32_t instances_count, rows, inputs, seed_fields, seed_bits;
    uint32_t poseidon_width; /* the greatest */
};
/* A pick: condition | yes << 8 | no << 16 | out << 24; 20 for each of the three sizes. */
#define GPU_NETWORKS      64
#define GPU_NETWORK_PICKS 20
#define GPU_WORDS         (GPU_NETWORKS + 3 * GPU_NETWORK_PICKS)

/* The seeds in device memory, and what becomes of them. */
struct gpu_expansion {
    uint64_t *bits;
    void *values;
    const void *seed_fields;
    const uint32_t *seed_bits, *hints;
};

/* Kernels by which waves are cut; the first two have one of their own. */
enum gpu_wave_kernel { GPU_WAVE_SHA256, GPU_WAVE_POSEIDON, GPU_WAVE_OTHER, GPU_WAVE_KERNELS };

MUST_USE struct status gpu_scatter_seeds(const struct gpu_expansion *x, const struct gpu_tables *t,
                                         struct CUstream_st *stream);
/* Instances waves[first .. first + count). */
MUST_USE struct status gpu_expand_wave(const struct gpu_expansion *x, const struct gpu_tables *t,
                                       enum gpu_wave_kernel kernel, uint32_t first, uint32_t count,
                                       struct CUstream_st *stream);
MUST_USE struct status gpu_evaluate_rows(void *a_dev, void *b_dev, const uint64_t *bits, const void *values,
                                         const struct gpu_tables *t, unsigned log_size,
                                         struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
