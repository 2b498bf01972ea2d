/* A shape as the CPU backend keeps it: beside the shape itself, for each query the places of the points of
 * the field-valued variables (12 bytes a field variable in all at most), so that their MSM can gather. */
#include "base/mem.h"
#include "device/cpu/cpu.h"

#include <string.h>

static void places_end(struct field_places *p)
{
    mem_free(p->place);
    mem_free(p->slot);
    memset(p, 0, sizeof *p);
}

void device_shape_end(struct device_shape *shape)
{
    if (shape == NULL)
        return;
    places_end(&shape->l);
    places_end(&shape->a);
    places_end(&shape->b);
    mem_free(shape);
}

static uint32_t count_dense(const uint32_t *fields, uint32_t n, const uint64_t *dense)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += (uint32_t)(dense[fields[i] / 64] >> (fields[i] % 64)) & 1;
    return count;
}

/* Ranks among the dense variables of those field variables that are dense. Fields ascend, so one sweep does.
 */
static struct status places_make(struct field_places *out, const uint32_t *fields, uint32_t n,
                                 const uint64_t *dense)
{
    out->count = count_dense(fields, n, dense);
    out->place = mem_alloc(out->count, sizeof *out->place);
    out->slot = out->count == n ? NULL : mem_alloc(out->count, sizeof *out->slot);
    if (out->place == NULL || (out->count != n && out->slot == NULL))
        return mem_failed("places of field variables", out->count, 2 * sizeof *out->place);
    uint32_t word = 0, rank = 0, k = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (; word < fields[i] / 64; word++)
            rank += (uint32_t)__builtin_popcountll(dense[word]);
        uint64_t bit = UINT64_C(1) << (fields[i] % 64);
        if ((dense[word] & bit) == 0)
            continue;
        out->place[k] = rank + (uint32_t)__builtin_popcountll(dense[word] & (bit - 1));
        if (out->slot != NULL)
            out->slot[k] = i;
        k++;
    }
    return status_ok();
}

struct status device_shape_make(struct device_shape **out, const struct shape *shape)
{
    struct device_shape *made = mem_alloc_zero(1, sizeof *made);
    if (made == NULL)
        return mem_failed("shape", 1, sizeof *made);
    made->shape = shape;
    made->l.count = shape->fields;
    made->l.place = mem_alloc(shape->fields, sizeof *made->l.place);
    struct status s = status_ok();
    if (made->l.place == NULL) {
        s = mem_failed("places of field variables", shape->fields, sizeof *made->l.place);
    } else {
        shape_field_variables(made->l.place, shape);
        s = places_make(&made->a, made->l.place, shape->fields, shape->density.a_aux);
        if (!status_failed(&s))
            s = places_make(&made->b, made->l.place, shape->fields, shape->density.b_aux);
    }
    if (status_failed(&s)) {
        device_shape_end(made);
        return s;
    }
    *out = made;
    return status_ok();
}
