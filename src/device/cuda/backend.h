/* The CUDA backend: device.h over the kernels of this room, one device a card.
 *
 * Shapes and twiddles are resident, and parameters where they fit. A set that does not fit beside the least
 * scratch stays where the image is; its points then pass through the card piece by piece in every proof,
 * copied ahead while the piece before is summed (from pinned memory, where the image's can be pinned).
 *
 * Scratch is taken when something is loaded and never during a proof: as large as the largest loaded circuit
 * can use well, it gives way (down to what that circuit needs at least) when further parameters come. A proof
 * travels as seeds; what comes back is five sums. Two proofs can run at a time: one of any kind, and beside
 * it a critical one of a small circuit, whose kernels go first; other calls take turns. */
#ifndef CUZK_DEVICE_CUDA_BACKEND_H
#define CUZK_DEVICE_CUDA_BACKEND_H

#include "device/device.h"
#include "groth16/setup.h"

/* Opens card `ordinal`, to use at most `limit` bytes of its memory (0: all). Errors: STATUS_MISSING (no
 * driver, no such card), STATUS_UNSUPPORTED (older than this build has code for), STATUS_DEVICE,
 * STATUS_MEMORY. */
MUST_USE struct status device_cuda_open(struct device **out, int ordinal, uint64_t limit);
/* Cards that there are; STATUS_MISSING if none. */
MUST_USE struct status device_cuda_count(int *out);

/* What the card calls itself. */
struct device_cuda_facts {
    char name[64], bus[20], uuid[40];
    uint64_t memory, free;       /* bytes of the card */
    uint64_t arena_urgent;       /* scratch of the urgent lane */
    uint64_t arena, arena_least; /* scratch: what is held, and what the loaded circuits need at least */
};
MUST_USE struct status device_cuda_facts(struct device_cuda_facts *out, struct device *device);

/* Parts of the last proof, in the order in which they ran; milliseconds of wall-clock time between waits for
 * the device. Only collected when a clock is given, since this room has none. */
#define DEVICE_CUDA_PARTS 12
struct device_cuda_part {
    const char *name;
    double ms;
};
void device_cuda_clock(struct device *device, double (*now_ms)(void)); /* NULL: off */
size_t device_cuda_parts(struct device_cuda_part out[DEVICE_CUDA_PARTS], const struct device *device);

/* Makes a parameter set on the card, straight into device memory: the same points as setup_run() writes to a
 * file from the same values. The key (vk_end) comes to the host. A set from one party: for tests. */
MUST_USE struct status device_cuda_setup(struct device_srs **out, struct verifying_key *key,
                                         struct device *device, struct device_shape *shape,
                                         const struct toxic *toxic);
/* Points [first, first + count) of a query, as the image holds them. */
MUST_USE struct status device_cuda_points(void *out, struct device *device, const struct device_srs *srs,
                                          enum query query, size_t first, size_t count);

#endif
