/* The CPU backend behind the interface of device.h. Loading keeps references only: the image and the shape
 * stay where they are, decoded in memory or mapped from a file. */
#include "device/cpu/cpu.h"

#include "base/mem.h"
#include "device/self_test.h"

static struct device_cpu *cpu_of(struct device *device)
{
    return (struct device_cpu *)device;
}

static struct status plan(struct device_plan *out, struct device *device, const struct shape *shape,
                          const struct params_counts *counts)
{
    return cpu_plan(out, shape, counts, pool_threads(cpu_of(device)->pool));
}

static struct status load_srs(struct device_srs **out, struct device *device, const struct image *image)
{
    (void)device;
    struct device_srs *srs = mem_alloc(1, sizeof *srs);
    if (srs == NULL)
        return mem_failed("parameters", 1, sizeof *srs);
    srs->image = image;
    *out = srs;
    return status_ok();
}

static void drop_srs(struct device *device, struct device_srs *srs)
{
    (void)device;
    mem_free(srs);
}

static struct status load_shape(struct device_shape **out, struct device *device, const struct shape *shape)
{
    (void)device;
    return device_shape_make(out, shape);
}

static void drop_shape(struct device *device, struct device_shape *shape)
{
    (void)device;
    device_shape_end(shape);
}

static struct status prove_start(struct device_pending **out, struct device *device, struct device_srs *srs,
                                 struct device_shape *shape, const struct seeds *seeds,
                                 enum priority priority, const struct cancel *cancel)
{
    struct device_pending *pending = mem_alloc(1, sizeof *pending);
    if (pending == NULL)
        return mem_failed("pending proof", 1, sizeof *pending);
    struct work work = {cpu_of(device)->pool, priority, cancel};
    struct status s = cpu_prove(&pending->sums, srs->image, shape, seeds, &work);
    if (status_failed(&s)) {
        mem_free(pending);
        return s;
    }
    *out = pending;
    return s;
}

static struct status prove_finish(struct partial_sums *out, struct device *device,
                                  struct device_pending *pending)
{
    (void)device;
    *out = pending->sums;
    mem_free(pending);
    return status_ok();
}

static void discard(struct device *device, struct device_pending *pending)
{
    (void)device;
    mem_free(pending);
}

static enum device_state state(struct device *device, struct status *reason)
{
    (void)device;
    *reason = status_ok();
    return DEVICE_READY;
}

static void close_device(struct device *device)
{
    mem_free(cpu_of(device));
}

static const struct device_operations OPERATIONS = {
    .name = "cpu",
    .plan = plan,
    .load_srs = load_srs,
    .drop_srs = drop_srs,
    .load_shape = load_shape,
    .drop_shape = drop_shape,
    .prove_start = prove_start,
    .prove_finish = prove_finish,
    .discard = discard,
    .self_test = device_self_test,
    .state = state,
    .close = close_device,
};

struct status device_cpu_open(struct device **out, struct pool *pool)
{
    struct device_cpu *cpu = mem_alloc(1, sizeof *cpu);
    if (cpu == NULL)
        return mem_failed("CPU backend", 1, sizeof *cpu);
    cpu->device.operations = &OPERATIONS;
    cpu->pool = pool;
    *out = &cpu->device;
    return status_ok();
}
