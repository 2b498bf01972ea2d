/* See open.h. */
#include "device/open.h"

#include <string.h>

#ifdef CUZK_CUDA
#include "device/cuda/backend.h"

#include <stdio.h>
#include <strings.h>

bool devices_have_cuda(void)
{
    return true;
}

/* "2", "GPU-1234" or the same without "GPU-", "0000:3b:00.0" or its end. */
static bool is_called(const char *name, int ordinal, const struct device_cuda_facts *f)
{
    char number[16];
    snprintf(number, sizeof number, "%d", ordinal);
    size_t n = strlen(name), bus = strlen(f->bus);
    if (strcmp(name, number) == 0)
        return true;
    if (strncasecmp(name, "GPU-", 4) == 0)
        return n > 4 && strncasecmp(name, f->uuid, n) == 0;
    return n >= 7 && n <= bus && strcasecmp(name, f->bus + bus - n) == 0;
}

static bool is_wanted(const struct devices_request *r, int ordinal, const struct device_cuda_facts *f,
                      bool used[])
{
    bool wanted = r->cards_count == 0;
    for (size_t i = 0; i < r->cards_count; i++) {
        if (is_called(r->cards[i], ordinal, f)) {
            wanted = true;
            used[i] = true;
        }
    }
    return wanted;
}

/* Opens one card if it is wanted. */
static struct status open_card(struct devices *out, const struct devices_request *r, int ordinal, bool used[])
{
    struct device *device;
    struct device_cuda_facts facts;
    TRY(device_cuda_open(&device, ordinal, r->memory_limit));
    struct status s = device_cuda_facts(&facts, device);
    if (status_failed(&s) || !is_wanted(r, ordinal, &facts, used))
        device->operations->close(device);
    else
        out->device[out->count++] = device;
    return s;
}

static struct status open_cards(struct devices *out, const struct devices_request *r)
{
    bool used[DEVICES_MAX] = {false};
    int cards;
    struct status first = status_ok();
    if (r->cards_count > DEVICES_MAX)
        return status_error(STATUS_INVALID, "at most %d devices can be named", DEVICES_MAX);
    TRY(device_cuda_count(&cards));
    uint32_t most = r->most > 0 && r->most < DEVICES_MAX ? r->most : DEVICES_MAX;
    for (int i = 0; i < cards && out->count < most; i++) {
        struct status s = open_card(out, r, i, used);
        if (!status_failed(&s))
            continue;
        if (r->require_all)
            return s;
        first = s;
    }
    for (size_t i = 0; i < r->cards_count && r->require_all; i++)
        if (!used[i])
            return status_hint(
                status_error(STATUS_MISSING, "no CUDA device is called \"%.60s\"", r->cards[i]),
                "devices are named by number, UUID or PCI address, as nvidia-smi -L tells them");
    if (out->count == 0)
        return status_failed(&first) ? first
                                     : status_error(STATUS_MISSING, "none of the named CUDA devices exists");
    out->cuda = true;
    return status_ok();
}

static struct status open_auto(struct devices *out, const struct devices_request *r, struct pool *pool)
{
    int cards;
    struct status s = device_cuda_count(&cards);
    if (!status_failed(&s))
        return open_cards(out, r);
    TRY(device_cpu_open(&out->device[0], pool));
    out->count = 1;
    return status_ok();
}

#else

bool devices_have_cuda(void)
{
    return false;
}

static struct status open_cards(struct devices *out, const struct devices_request *r)
{
    (void)out;
    (void)r;
    return status_hint(status_error(STATUS_UNSUPPORTED, "the CUDA backend is not in this build"),
                       "use a build that was configured with CUZK_CUDA=ON, or the backend cpu");
}

static struct status open_auto(struct devices *out, const struct devices_request *r, struct pool *pool)
{
    (void)r;
    TRY(device_cpu_open(&out->device[0], pool));
    out->count = 1;
    return status_ok();
}

#endif

struct status devices_open(struct devices *out, const struct devices_request *r, struct pool *pool)
{
    struct status s;
    memset(out, 0, sizeof *out);
    if (r->backend == NULL || strcmp(r->backend, "auto") == 0) {
        s = open_auto(out, r, pool);
    } else if (strcmp(r->backend, "cuda") == 0) {
        s = open_cards(out, r);
    } else if (strcmp(r->backend, "cpu") == 0) {
        s = device_cpu_open(&out->device[0], pool);
        out->count = status_failed(&s) ? 0 : 1;
    } else {
        s = status_hint(status_error(STATUS_INVALID, "no backend is called \"%.60s\"", r->backend),
                        "backends are auto, cuda and cpu");
    }
    if (status_failed(&s))
        devices_close(out);
    return s;
}

void devices_close(struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++)
        devices->device[i]->operations->close(devices->device[i]);
    devices->count = 0;
}
