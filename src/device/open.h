/* Opening devices by name, for programs: the one place that knows which backends this build has. */
#ifndef CUZK_DEVICE_OPEN_H
#define CUZK_DEVICE_OPEN_H

#include "device/device.h"

#define DEVICES_MAX 16

struct devices {
    struct device *device[DEVICES_MAX];
    uint32_t count;
    bool cuda;
};

/* backend: "cpu": one device over the pool. "cuda": the cards that `cards` lists, by number ("0", "2"), by
 * the start of their UUID or by PCI address; all there are if the list is empty. "auto" or NULL: cards if
 * this build has the backend and the machine has any, else the CPU; a card that is there and cannot be used
 * is an error, never a silent fall to the CPU. require_all false: cards that do not open are left out, unless
 * all fail. */
struct devices_request {
    const char *backend;
    const char *const *cards;
    size_t cards_count;
    bool require_all;
    uint32_t most;         /* cards to open; 0: all */
    uint64_t memory_limit; /* bytes of each card; 0: all */
};
MUST_USE struct status devices_open(struct devices *out, const struct devices_request *request,
                                    struct pool *pool);
void devices_close(struct devices *devices);
/* Whether this build has the CUDA backend. */
bool devices_have_cuda(void);

#endif
