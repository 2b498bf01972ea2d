/* Shapes once they are built: references, sizes, places of variables. */
#include "r1cs/shape.h"

#include "base/mem.h"
#include "r1cs/internal.h"
#include "r1cs/witness.h"
#include <stdlib.h>

struct shape *shape_share(const struct shape *shape)
{
    struct shape *s = (struct shape *)(uintptr_t)shape; /* the count is the one part that changes */
    CHECK(atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed) > 0);
    return s;
}

void shape_release(struct shape *shape)
{
    if (!shape || atomic_fetch_sub_explicit(&shape->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < shape->templates_count; i++)
        template_end(&shape->templates[i]);
    mem_free(shape->templates);
    mem_free(shape->instances);
    mem_free(shape->runs);
    dictionary_end(&shape->dictionary);
    mem_free(shape->wave_first);
    mem_free(shape->wave_instances);
    mem_free(shape->small);
    mem_free(shape->density.a_aux);
    mem_free(shape->density.b_aux);
    mem_free(shape->density.b_input);
    mem_free(shape);
}

size_t shape_bytes(const struct shape *s)
{
    size_t bytes = sizeof *s + s->templates_count * sizeof *s->templates;
    for (uint32_t i = 0; i < s->templates_count; i++)
        bytes += template_bytes(&s->templates[i]);
    bytes += s->instances_count * sizeof *s->instances + s->runs_count * sizeof *s->runs;
    bytes += s->dictionary.capacity * sizeof(fr) + s->dictionary.table_size * sizeof(uint32_t);
    bytes += s->dictionary.count * sizeof *s->small;
    bytes += ((size_t)s->waves + 1 + s->wave_first[s->waves]) * sizeof(uint32_t);
    return bytes + (2 * words_for_bits(s->aux) + words_for_bits(s->inputs)) * sizeof(uint64_t);
}

unsigned shape_log2_domain(const struct shape *shape)
{
    unsigned k = 0;
    while ((UINT64_C(1) << k) < shape_all_rows(shape))
        k++;
    return k;
}

void shape_field_variables(uint32_t *out, const struct shape *shape)
{
    for (uint32_t i = 0; i < shape->instances_count; i++) {
        const struct instance *n = &shape->instances[i];
        const struct template *t = &shape->templates[n->template_number];
        for (uint32_t k = 0; k < t->local_fields; k++)
            *out++ = n->first_aux + t->field_local[k];
    }
}

static int compare_runs(const void *a, const void *b)
{
    uint32_t x = ((const struct port_run *)a)->first.id, y = ((const struct port_run *)b)->first.id;
    return x < y ? -1 : x > y;
}

static bool ascending(const struct port_run *runs, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (runs[i].first.id < runs[i - 1].first.id + runs[i - 1].count)
            return false;
    return true;
}

enum port_order port_order_of(const struct port_run *runs, uint32_t count, struct port_run *scratch)
{
    enum port_order order = PORTS_ORDERED;
    if (!ascending(runs, count)) {
        memcpy(scratch, runs, count * sizeof *runs);
        qsort(scratch, count, sizeof *scratch, compare_runs);
        order = ascending(scratch, count) ? PORTS_DISTINCT : PORTS_ALIASED;
    }
    for (uint32_t i = 0; i < count; i++)
        if (runs[i].first.id == VARIABLE_ONE.id)
            order = PORTS_ALIASED; /* with the column of ONE */
    return order;
}
