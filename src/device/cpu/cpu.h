/* Inside of the CPU backend. */
#ifndef CUZK_DEVICE_CPU_CPU_H
#define CUZK_DEVICE_CPU_CPU_H

#include "device/device.h"

struct device_cpu {
    struct device device;
    struct pool *pool;
};

struct device_srs {
    const struct image *image;
};

/* The field-valued aux variables that a query has points for: their slots and the points' places. */
struct field_places {
    uint32_t count;
    uint32_t *place; /* index into the query's aux part */
    uint32_t *slot;  /* NULL: all fields, in slot order */
};

struct device_shape {
    const struct shape *shape;
    struct field_places l, a, b;
};

struct device_pending {
    struct partial_sums sums;
};

struct status device_shape_make(struct device_shape **out, const struct shape *shape);
void device_shape_end(struct device_shape *shape);
struct status cpu_prove(struct partial_sums *out, const struct image *image, const struct device_shape *shape,
                        const struct seeds *seeds, const struct work *work);
struct status cpu_plan(struct device_plan *out, const struct shape *shape, const struct params_counts *counts,
                       unsigned threads);

#endif
