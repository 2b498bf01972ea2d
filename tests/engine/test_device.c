/* See test_device.h. */
#include "test_device.h"

#include "base/mem.h"
#include "base/sha256.h"

#include <string.h>
#include <time.h>

/* Sums by digest of their seeds, found once in the whole program; when it is full, nothing is added. */
#define REMEMBERED_MAX 64
static struct remembered {
    uint8_t digest[32];
    struct partial_sums sums;
} remembered[REMEMBERED_MAX];
static size_t remembered_count;
static pthread_mutex_t remembered_lock = PTHREAD_MUTEX_INITIALIZER;

struct device_pending {
    struct partial_sums sums;
};

static struct test_device *mine(struct device *device)
{
    return (struct test_device *)device;
}

static struct status plan(struct device_plan *out, struct device *device, const struct shape *shape,
                          const struct params_counts *counts)
{
    struct device *cpu = mine(device)->cpu;
    return cpu->operations->plan(out, cpu, shape, counts);
}

static struct status load_srs(struct device_srs **out, struct device *device, const struct image *image)
{
    struct device *cpu = mine(device)->cpu;
    atomic_fetch_add(&mine(device)->srs, 1);
    return cpu->operations->load_srs(out, cpu, image);
}

static void drop_srs(struct device *device, struct device_srs *srs)
{
    struct device *cpu = mine(device)->cpu;
    atomic_fetch_sub(&mine(device)->srs, 1);
    cpu->operations->drop_srs(cpu, srs);
}

static struct status load_shape(struct device_shape **out, struct device *device, const struct shape *shape)
{
    struct device *cpu = mine(device)->cpu;
    atomic_fetch_add(&mine(device)->shapes, 1);
    return cpu->operations->load_shape(out, cpu, shape);
}

static void drop_shape(struct device *device, struct device_shape *shape)
{
    struct device *cpu = mine(device)->cpu;
    atomic_fetch_sub(&mine(device)->shapes, 1);
    cpu->operations->drop_shape(cpu, shape);
}

static void digest_seeds(uint8_t out[32], const struct seeds *seeds)
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, seeds->inputs, seeds->inputs_count * sizeof *seeds->inputs);
    sha256_add(&h, seeds->fields, seeds->fields_count * sizeof *seeds->fields);
    sha256_add(&h, seeds->bits, (seeds->bits_count + 7) / 8);
    sha256_end(&h, out);
}

static bool recall(struct partial_sums *out, const uint8_t digest[32])
{
    bool found = false;
    pthread_mutex_lock(&remembered_lock);
    for (size_t i = 0; i < remembered_count && !found; i++)
        if (memcmp(remembered[i].digest, digest, 32) == 0) {
            *out = remembered[i].sums;
            found = true;
        }
    pthread_mutex_unlock(&remembered_lock);
    return found;
}

static void remember(const uint8_t digest[32], const struct partial_sums *sums)
{
    pthread_mutex_lock(&remembered_lock);
    if (remembered_count < REMEMBERED_MAX) {
        memcpy(remembered[remembered_count].digest, digest, 32);
        remembered[remembered_count++].sums = *sums;
    }
    pthread_mutex_unlock(&remembered_lock);
}

/* The CPU backend's sums, or those of equal seeds before. */
static struct status sums_of(struct partial_sums *out, struct test_device *t, struct device_srs *srs,
                             struct device_shape *shape, const struct seeds *seeds, enum priority priority,
                             const struct cancel *cancel)
{
    uint8_t digest[32];
    digest_seeds(digest, seeds);
    if (recall(out, digest))
        return status_ok();
    struct device_pending *pending;
    TRY(t->cpu->operations->prove_start(&pending, t->cpu, srs, shape, seeds, priority, cancel));
    TRY(t->cpu->operations->prove_finish(out, t->cpu, pending));
    remember(digest, out);
    return status_ok();
}

static struct status prove_start(struct device_pending **out, struct device *device, struct device_srs *srs,
                                 struct device_shape *shape, const struct seeds *seeds,
                                 enum priority priority, const struct cancel *cancel)
{
    struct test_device *t = mine(device);
    struct partial_sums sums;
    atomic_fetch_add(&t->starts, 1);
    atomic_fetch_add(&t->holding, 1);
    while (atomic_load(&t->hold) && !atomic_load(&cancel->requested) && !atomic_load(&t->lost))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_fetch_sub(&t->holding, 1);
    if (atomic_load(&cancel->requested))
        return work_cancelled_status();
    if (atomic_load(&t->lost) || atomic_fetch_sub(&t->errors_left, 1) > 0)
        return status_error(STATUS_DEVICE, "the device erred");
    TRY(sums_of(&sums, t, srs, shape, seeds, priority, cancel));
    struct device_pending *pending = mem_alloc(1, sizeof *pending);
    CHECK(pending != NULL);
    pending->sums = sums;
    atomic_fetch_add(&t->pendings, 1);
    *out = pending;
    return status_ok();
}

static struct status prove_finish(struct partial_sums *out, struct device *device,
                                  struct device_pending *pending)
{
    struct test_device *t = mine(device);
    *out = pending->sums;
    mem_free(pending);
    atomic_fetch_sub(&t->pendings, 1);
    if (atomic_fetch_sub(&t->bad_left, 1) > 0)
        g1_add(&out->h, &out->h, &out->l);
    return status_ok();
}

static void discard(struct device *device, struct device_pending *pending)
{
    atomic_fetch_sub(&mine(device)->pendings, 1);
    mem_free(pending);
}

static struct status self_test(struct device *device)
{
    (void)device;
    return status_ok();
}

static enum device_state state(struct device *device, struct status *reason)
{
    bool lost = atomic_load(&mine(device)->lost);
    *reason = lost ? status_error(STATUS_DEVICE, "it fell off the bus") : status_ok();
    return lost ? DEVICE_LOST : DEVICE_READY;
}

static void close_device(struct device *device)
{
    (void)device;
}

static const struct device_operations OPERATIONS = {
    .name = "test",
    .plan = plan,
    .load_srs = load_srs,
    .drop_srs = drop_srs,
    .load_shape = load_shape,
    .drop_shape = drop_shape,
    .prove_start = prove_start,
    .prove_finish = prove_finish,
    .discard = discard,
    .self_test = self_test,
    .state = state,
    .close = close_device,
};

void test_device_open(struct test_device *out, struct pool *pool)
{
    memset(out, 0, sizeof *out);
    out->device.operations = &OPERATIONS;
    struct status s = device_cpu_open(&out->cpu, pool);
    CHECK(!status_failed(&s));
}

void test_device_close(struct test_device *t)
{
    CHECK(atomic_load(&t->srs) == 0 && atomic_load(&t->shapes) == 0 && atomic_load(&t->pendings) == 0);
    t->cpu->operations->close(t->cpu);
}
