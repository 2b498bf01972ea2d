/* What the files of the backend share. */
#ifndef CUZK_DEVICE_CUDA_BACKEND_INTERNAL_H
#define CUZK_DEVICE_CUDA_BACKEND_INTERNAL_H

#include "device/cuda/backend.h"
#include "device/cuda/backend_runtime.h"
#include "device/cuda/kernels.h"

#include <pthread.h>

#define STAGING_BYTES ((size_t)32 << 20) /* each of two: one is filled while the other travels */
#define ALIGNMENT     256u

struct device_cuda {
    struct device device;
    int ordinal;
    struct gpu_info info;
    pthread_mutex_t lock; /* held by every call: the arena and the stream are one proof's */
    struct CUstream_st *stream;
    struct CUstream_st *copies[2];
    void *staging[2];
    void *arena;
    size_t arena_bytes;
    void *twiddles;
    unsigned twiddles_log;
    bool has_twiddles;
    struct device_shape *shapes; /* all loaded ones */
    bool lost;
    struct status reason;
    double (*now_ms)(void);
    double part_began;
    size_t parts_count;
    struct device_cuda_part parts[DEVICE_CUDA_PARTS];
};

/* The terms of a query that have scalars: inputs and field-valued variables. Scalar i of the query is
 * values[slot[i]], where values are the inputs and then the field slots; its point is point index[i]. */
struct query_terms {
    uint32_t *index_dev, *slot_dev;
    uint32_t count;
};

struct device_srs {
    struct params_counts counts;
    void *memory;
    const char *query[QUERY_COUNT]; /* device memory */
};

struct gpu_shape; /* witness.h */
struct device_shape {
    const struct shape *shape;
    struct gpu_shape *tables;
    struct query_terms l, a, b;
    uint64_t *a_aux_dev, *b_aux_dev; /* bit per aux variable: has a point */
    struct device_shape *next;
};

struct device_pending {
    struct partial_sums sums;
};

static inline struct device_cuda *cuda_of(struct device *device)
{
    return (struct device_cuda *)device;
}

static inline size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static inline size_t query_point_bytes(enum query q)
{
    return q == QUERY_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine);
}

/* backend.c: takes the lock and selects the card; leave() notes whether the card was lost on the way and
 * returns `s`, in which case its code is STATUS_DEVICE. */
MUST_USE struct status cuda_enter(struct device_cuda *cuda);
struct status cuda_leave(struct device_cuda *cuda, struct status s);
/* A part of a proof ended. */
void cuda_part(struct device_cuda *cuda, const char *name);

/* backend_plan.c */
struct proof_plan {
    size_t values, a, b, c, rest; /* offsets in the arena; the witness is at 0 */
    size_t witness_bytes, sums;   /* sums: where the queries over the witness may begin */
    size_t least, best;           /* bytes of the arena */
    struct gpu_msm_plan h;
};
/* For an arena of `limit` bytes; STATUS_MEMORY with the numbers if that is too little. */
MUST_USE struct status cuda_proof_plan(struct proof_plan *out, const struct shape *shape, size_t limit);
size_t cuda_srs_bytes(const struct params_counts *counts);
MUST_USE struct status cuda_plan(struct device_plan *out, struct device_cuda *cuda, const struct shape *shape,
                                 const struct params_counts *counts);
/* Makes the arena and the twiddles right for what is loaded. */
MUST_USE struct status cuda_fit(struct device_cuda *cuda);

/* backend_load.c; all between enter and leave */
MUST_USE struct status cuda_srs_alloc(struct device_srs **out, struct device_cuda *cuda,
                                      const struct params_counts *counts);
MUST_USE struct status cuda_load_srs(struct device_srs **out, struct device_cuda *cuda,
                                     const struct image *image);
void cuda_drop_srs(struct device_srs *srs);
MUST_USE struct status cuda_load_shape(struct device_shape **out, struct device_cuda *cuda,
                                       const struct shape *shape);
void cuda_drop_shape(struct device_cuda *cuda, struct device_shape *shape);

/* setup_card.c */
MUST_USE struct status cuda_setup(struct device_srs **out, struct verifying_key *key,
                                  struct device_cuda *cuda, struct device_shape *shape,
                                  const struct toxic *toxic);

/* setup_file.c; takes the lock by itself */
MUST_USE struct status cuda_setup_files(const char *params_path, const char *vk_path, struct device *device,
                                        struct device_shape *shape, const struct toxic *toxic,
                                        const struct work *work, atomic_ullong *done);

/* backend_prove.c */
MUST_USE struct status cuda_prove(struct partial_sums *out, struct device_cuda *cuda,
                                  const struct device_srs *srs, const struct device_shape *shape,
                                  const struct seeds *seeds, const struct cancel *cancel);

#endif
