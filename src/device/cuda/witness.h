/* Witnesses on the card: a shape's tables are loaded once; a proof then travels as seeds, is expanded wave by
 * wave where it will be used, and its rows are evaluated into what gpu_h (kernels.h) takes.
 *
 * C twins: witness_expand and witness_evaluate of r1cs, which give the same bits. */
#ifndef CUZK_DEVICE_CUDA_WITNESS_H
#define CUZK_DEVICE_CUDA_WITNESS_H

#include "r1cs/witness.h"

struct CUstream_st;

/* A shape's templates, instances and waves in device memory. The shape must outlive it. */
struct gpu_shape;

/* A witness in device memory, inside the caller's arena. */
struct gpu_witness {
    const uint64_t *bits_dev; /* as witness.bits: bit per aux variable, zero for field variables */
    const void *inputs_dev;   /* shape.inputs elements, Montgomery; the fields follow without a gap */
    const void *fields_dev;   /* shape.fields elements by slot, Montgomery */
};

/* Device memory that gpu_shape_load takes; goes once over the templates. */
size_t gpu_shape_bytes(const struct shape *shape);
/* Waits for the stream. Errors: STATUS_MEMORY, STATUS_DEVICE, STATUS_UNSUPPORTED (an expander without kernel,
 * a template too large). */
MUST_USE struct status gpu_shape_load(struct gpu_shape **out, const struct shape *shape,
                                      struct CUstream_st *stream);
void gpu_shape_end(struct gpu_shape *tables); /* NULL allowed */

/* Device memory of one witness: bits, fields, inputs, and room for the seeds. */
size_t gpu_witness_bytes(const struct shape *shape);
/* Queues the upload of complete seeds and their expansion into `arena_dev` (256-byte aligned, `bytes` of at
 * least gpu_witness_bytes). Seeds in pageable memory may change on return; in pinned memory, once the stream
 * was waited for. */
MUST_USE struct status gpu_witness_expand(struct gpu_witness *out, const struct gpu_shape *tables,
                                          const struct seeds *seeds, void *arena_dev, size_t bytes,
                                          struct CUstream_st *stream);
/* Queues the evaluation of a and b: row k stands at the place that has the log_size bits of k in reverse
 * order, zeros behind the rows; Montgomery. 2^log_size >= shape_all_rows. A may be taken from C as in
 * witness_evaluate without c. */
MUST_USE struct status gpu_witness_evaluate(void *a_dev, void *b_dev, const struct gpu_witness *witness,
                                            const struct gpu_shape *tables, unsigned log_size,
                                            struct CUstream_st *stream);

#endif
