/* The CUDA runtime as the backend sees it: devices, memory, one stream's copies, behind C functions that give
 * statuses. The backend is C and knows no CUDA header; the host stand-in of the tests takes the runtime's
 * place below this. Pointers named *_dev are device memory. Calls concern the calling thread's device, which
 * gpu_select() sets. */
#ifndef CUZK_DEVICE_CUDA_BACKEND_RUNTIME_H
#define CUZK_DEVICE_CUDA_BACKEND_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

struct CUstream_st;

struct gpu_info {
    char name[64];
    char bus[20];   /* PCI address, by which NVML and the driver's log name the card */
    char uuid[40];  /* "GPU-8-4-4-4-12" */
    uint64_t bytes; /* of device memory */
    int major, minor;
    int multiprocessors;
};

/* Cards that the driver shows; STATUS_MISSING, with what to do, where there is no driver or no card;
 * STATUS_DEVICE where there is one that fails. */
MUST_USE struct status gpu_count(int *out);
/* Selects the card for this thread and describes it. */
MUST_USE struct status gpu_open(struct gpu_info *out, int ordinal);
MUST_USE struct status gpu_select(int ordinal);
/* Whether the card answers: false once an error has come that stays with the process. */
bool gpu_answers(void);

/* STATUS_MEMORY with the numbers when there is too little. `what` names the purpose. */
MUST_USE struct status gpu_alloc(void **out_dev, size_t bytes, const char *what);
void gpu_free(void *at_dev); /* NULL allowed; waits for the device */
MUST_USE struct status gpu_alloc_pinned(void **out, size_t bytes, const char *what);
void gpu_free_pinned(void *at); /* NULL allowed */
/* Makes memory that is there travel as pinned memory does; false where the driver will not (then it is as it
 * was). */
bool gpu_pin(const void *at, size_t bytes);
void gpu_unpin(const void *at);
MUST_USE struct status gpu_free_bytes(size_t *out);

/* urgent: its kernels go before those of other streams. */
MUST_USE struct status gpu_stream_open(struct CUstream_st **out, bool urgent);
void gpu_stream_close(struct CUstream_st *stream); /* NULL allowed */
MUST_USE struct status gpu_wait(struct CUstream_st *stream);
/* The source must stay until the stream is waited for, if it is pinned. */
MUST_USE struct status gpu_upload(void *to_dev, const void *from, size_t bytes, struct CUstream_st *stream);
MUST_USE struct status gpu_download(void *to, const void *from_dev, size_t bytes,
                                    struct CUstream_st *stream); /* waits */
MUST_USE struct status gpu_copy(void *to_dev, const void *from_dev, size_t bytes, struct CUstream_st *stream);
MUST_USE struct status gpu_fill(void *to_dev, int byte, size_t bytes, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
