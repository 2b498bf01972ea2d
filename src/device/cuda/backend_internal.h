/* What the files of the backend share. */
#ifndef CUZK_DEVICE_CUDA_BACKEND_INTERNAL_H
#define CUZK_DEVICE_CUDA_BACKEND_INTERNAL_H

#include "device/cuda/backend.h"
#include "device/cuda/backend_runtime.h"
#include "device/cuda/kernels.h"

#include <pthread.h>

#define STAGING_BYTES ((size_t)32 << 20) /* each of two: one is filled while the other travels */
#define ALIGNMENT     256u

/* Where proofs run, one at a time each. */
struct cuda_lane {
    pthread_mutex_t turn;
    struct CUstream_st *stream;
    void *arena;
    size_t arena_bytes;
    double part_began;
    size_t parts_count;
    struct device_cuda_part parts[DEVICE_CUDA_PARTS];
};
/* The wide lane is for all; the urgent one, whose stream goes first on the card, for critical proofs of small
 * circuits: so a WinningPoSt does not wait for a PoRep partition. */
enum { LANE_WIDE, LANE_URGENT, LANES };
#define URGENT_MOST ((size_t)3 << 30) /* scratch of the urgent lane, at most */

struct device_cuda {
    struct device device;
    int ordinal;
    struct gpu_info info;
    pthread_mutex_t state;   /* guards lost and reason */
    pthread_mutex_t loading; /* guards staging and copies; taken before `loaded` */
    pthread_rwlock_t loaded; /* proofs hold it shared; whatever moves device memory holds it alone */
    struct cuda_lane lanes[LANES];
    struct CUstream_st *copies[2];
    void *staging[2];
    size_t limit;      /* bytes of the card that are ours; 0: all */
    size_t free_first; /* free when the device was opened: what is used follows from it */
    void *twiddles;
    unsigned twiddles_log;
    bool has_twiddles;
    struct device_shape *shapes; /* all loaded ones */
    bool lost;
    struct status reason;
    double (*now_ms)(void);
    const struct cuda_lane *last; /* whose parts are told */
};

/* The terms of a query that have scalars: inputs and field-valued variables. Scalar i of the query is
 * values[slot[i]], where values are the inputs and then the field slots; its point is point index[i]. */
struct query_terms {
    uint32_t *index_dev, *slot_dev;
    uint32_t *index; /* the same on the host, ascending */
    uint32_t count;
};

struct device_srs {
    struct params_counts counts;
    void *memory;                   /* NULL: not resident, points come from the image piece by piece */
    const char *query[QUERY_COUNT]; /* device memory */
    const char *host[QUERY_COUNT];  /* the image, if not resident */
    bool pinned[QUERY_COUNT];       /* the image's memory, for as long as this is loaded */
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

/* backend.c: takes `loaded` and selects the card; leave() notes whether the card was lost on the way and
 * returns `s`. */
MUST_USE struct status cuda_enter(struct device_cuda *cuda, bool alone);
struct status cuda_leave(struct device_cuda *cuda, struct status s);
/* Parts of a proof: begins them, ends one. */
void cuda_parts_begin(struct device_cuda *cuda, struct cuda_lane *lane);
void cuda_part(struct device_cuda *cuda, struct cuda_lane *lane, const char *name);

/* backend_plan.c */
struct proof_plan {
    size_t values, a, b, c, rest; /* offsets in the arena; the witness is at 0 */
    size_t witness_bytes, sums;   /* sums: where the queries over the witness may begin */
    size_t least, best;           /* bytes of the arena */
};
/* For an arena of `limit` bytes; STATUS_MEMORY with the numbers if that is too little. */
MUST_USE struct status cuda_proof_plan(struct proof_plan *out, const struct shape *shape, bool resident,
                                       size_t limit);
/* Inputs of a circuit whose points come in pieces: theirs are in the first, with as many others at least. */
#ifndef INPUTS_MOST
#define INPUTS_MOST 32768u
#endif
/* Points and scalars of the terms of a query, gathered. */
size_t cuda_gathered_bytes(bool g2, size_t n);
/* Points at a time, of n whose set is not resident, where two pieces and scratch have `room` bytes. */
size_t cuda_piece_points(size_t n, size_t room, bool g2);
size_t cuda_srs_bytes(const struct params_counts *counts);
MUST_USE struct status cuda_plan(struct device_plan *out, struct device_cuda *cuda, const struct shape *shape,
                                 const struct params_counts *counts);
/* Bytes of the card that are free and ours. */
MUST_USE struct status cuda_available(size_t *out, const struct device_cuda *cuda);
/* Makes the arenas and the twiddles right for what is loaded. Alone. */
MUST_USE struct status cuda_fit(struct device_cuda *cuda);
void cuda_drop_arenas(struct device_cuda *cuda);

/* backend_load.c */
/* Within the limit; where there is too little, scratch gives way (cuda_fit() brings it back). Alone. */
MUST_USE struct status cuda_alloc(struct device_cuda *cuda, void **out_dev, size_t bytes, const char *what);
MUST_USE struct status cuda_srs_alloc(struct device_srs **out, struct device_cuda *cuda,
                                      const struct params_counts *counts); /* alone */
MUST_USE struct status cuda_load_srs(struct device_srs **out, struct device_cuda *cuda,
                                     const struct image *image); /* takes the locks */
/* Memory for a set with scratch made right beside it; or no memory, if `resident` is not asked for: then its
 * points stay in the image. Alone. */
MUST_USE struct status cuda_place_srs(struct device_srs **out, struct device_cuda *cuda,
                                      const struct params_counts *counts, bool resident);
void cuda_drop_srs(struct device_srs *srs);
MUST_USE struct status cuda_load_shape(struct device_shape **out, struct device_cuda *cuda,
                                       const struct shape *shape); /* alone */
void cuda_drop_shape(struct device_cuda *cuda, struct device_shape *shape);

/* backend_params.c; takes the locks */
MUST_USE struct status cuda_load_params(struct device_srs **out, struct device *device,
                                        const struct params_file *file, const struct work *work,
                                        atomic_ullong *done);

/* setup_card.c; alone */
MUST_USE struct status cuda_setup(struct device_srs **out, struct verifying_key *key,
                                  struct device_cuda *cuda, struct device_shape *shape,
                                  const struct toxic *toxic);

/* setup_file.c; takes the locks */
MUST_USE struct status cuda_setup_files(const char *params_path, const char *vk_path, struct device *device,
                                        struct device_shape *shape, const struct toxic *toxic,
                                        const struct work *work, atomic_ullong *done);

/* backend_prove.c; shared, and with the lane's turn */
MUST_USE struct status cuda_prove(struct partial_sums *out, struct device_cuda *cuda, struct cuda_lane *lane,
                                  const struct device_srs *srs, const struct device_shape *shape,
                                  const struct seeds *seeds, const struct cancel *cancel);

#endif
