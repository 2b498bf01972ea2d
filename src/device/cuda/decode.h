/* Points of a parameter file on the card: from their bytes to the memory form. */
#ifndef CUZK_DEVICE_CUDA_DECODE_H
#define CUZK_DEVICE_CUDA_DECODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

struct CUstream_st;

/* Uncompressed points (curve/encoding.h) of 96 or 192 bytes, decoded in place: checked for flags, coordinates
 * below p, and the curve, as g1_from_uncompressed_many() does it. *bad_dev, which must be all ones before,
 * becomes the least `first` + index of a bad point, if there is one. Any 16-byte aligned memory. */
MUST_USE struct status gpu_decode_points(void *points_dev, size_t n, int g2, uint64_t first,
                                         uint64_t *bad_dev, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
