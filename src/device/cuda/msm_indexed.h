/* The few terms of a query that have scalars: gathers their points and scalars into contiguous arrays for the
 * MSM, which reads each point once a window. Beside the MSM a gather is nothing: 96 or 192 bytes a term. */
#ifndef CUZK_DEVICE_CUDA_MSM_INDEXED_H
#define CUZK_DEVICE_CUDA_MSM_INDEXED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

struct CUstream_st;

/* out[i] = from[index[i]], i < n, records of 16-byte aligned memory whose size is a multiple of 16: 32
 * (scalars), 96 and 192 (points). index_dev null: a plain copy. */
MUST_USE struct status gpu_gather(void *out_dev, const void *from_dev, const uint32_t *index_dev, size_t n,
                                  size_t record_bytes, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
