/* Expansion: seeds are scattered to their places, then instances with an expander run wave by wave.
 *
 * An instance expands into scratch that has the same bit offset as the bitmap, and the scratch is merged:
 * words that belong to the instance alone are stored, the two at its ends, which neighbours share, are ORed
 * atomically. A stored word holds the instance's seed bits too, so that an instance of the same wave that
 * reads them through a port sees the same value before and after. */
#include "r1cs/witness.h"

#include "base/mem.h"
#include "r1cs/internal.h"

/* Estimated nanoseconds of a task, and of its parts. */
#define TASK_COST        500000
#define INSTANCE_COST    300
#define LOCAL_COST       1
#define FIELD_COST       150
#define SCATTER_TOGETHER 512 /* instances of a task that scatters */

struct expand_run {
    const struct shape *shape;
    const struct seeds *seeds;
    struct witness *witness;
    size_t bit_words, port_words, port_fields; /* scratch that the largest templates need */
    const uint32_t *cuts;                      /* of the present wave: task i takes [cuts[i], cuts[i + 1]) */
    atomic_bool out_of_memory;
};

struct expand_scratch {
    uint64_t *bits, *port_bits;
    fr *port_fields;
};

static void bitmap_or(uint64_t *word, uint64_t value)
{
    __atomic_fetch_or(word, value, __ATOMIC_RELAXED);
}

/* ---- seeds ---- */

/* Puts an instance's seed bits into words that begin `base` bits into the bitmap. */
static void put_seed_bits(const struct expand_run *r, const struct instance *n, uint64_t *words, size_t base,
                          bool shared)
{
    const struct template *t = &r->shape->templates[n->template_number];
    size_t word = 0;
    uint64_t pending = 0, seeds = 0;
    for (uint32_t k = 0; k < t->seed_bits; k++) {
        if (k % 64 == 0) {
            uint32_t left = t->seed_bits - k;
            seeds = bits_get(r->seeds->bits, (size_t)n->first_seed_bit + k, left < 64 ? left : 64);
        }
        size_t at = n->first_aux + t->seed_bit_local[k] - base;
        if (at >> 6 != word) {
            if (pending && shared)
                bitmap_or(&words[word], pending);
            else if (pending)
                words[word] |= pending;
            pending = 0;
            word = at >> 6;
        }
        pending |= (seeds >> (k % 64) & 1) << (at & 63);
    }
    if (pending && shared)
        bitmap_or(&words[word], pending);
    else if (pending)
        words[word] |= pending;
}

static void scatter_task(void *context, size_t task)
{
    struct expand_run *r = context;
    size_t begin = task * SCATTER_TOGETHER, end = begin + SCATTER_TOGETHER;
    if (end > r->shape->instances_count)
        end = r->shape->instances_count;
    for (size_t i = begin; i < end; i++) {
        const struct instance *n = &r->shape->instances[i];
        const struct template *t = &r->shape->templates[n->template_number];
        for (uint32_t k = 0; k < t->seed_fields; k++)
            r->witness->fields[n->first_field + t->seed_field_rank[k]] =
                r->seeds->fields[n->first_seed_field + k];
        put_seed_bits(r, n, r->witness->bits, 0, true);
    }
}

/* ---- one instance ---- */

static void gather_ports(const struct expand_run *r, struct expand_scratch *scratch, uint32_t number)
{
    const struct instance *n = &r->shape->instances[number];
    const struct template *t = &r->shape->templates[n->template_number];
    uint32_t runs = instance_runs(r->shape, number), port = 0;
    fr *field = scratch->port_fields;
    memset(scratch->port_bits, 0, words_for_bits(t->ports) * sizeof *scratch->port_bits);
    for (uint32_t i = 0; i < runs; i++) {
        const struct port_run *run = &r->shape->runs[n->first_run + i];
        if (t->port_kind[port] == KIND_BIT) {
            bits_or(scratch->port_bits, port, r->witness->bits, variable_index(run->first), run->count);
        } else {
            const fr *from = variable_is_aux(run->first) ? r->witness->fields + run->slot
                                                         : r->seeds->inputs + variable_index(run->first);
            memcpy(field, from, run->count * sizeof *field);
            field += run->count;
        }
        port += run->count;
    }
}

static void merge_bits(uint64_t *bitmap, const uint64_t *bits, uint32_t offset, uint32_t locals)
{
    uint32_t end = offset + locals;
    size_t words = words_for_bits(end);
    CHECK((bits[0] & ((UINT64_C(1) << offset) - 1)) == 0);
    CHECK((end & 63) == 0 || bits[words - 1] >> (end & 63) == 0);
    for (size_t i = 0; i < words; i++) {
        bool shared = (i == 0 && offset != 0) || (i == words - 1 && (end & 63) != 0);
        if (shared)
            bitmap_or(&bitmap[i], bits[i]);
        else
            __atomic_store_n(&bitmap[i], bits[i], __ATOMIC_RELAXED);
    }
}

static void expand_instance(const struct expand_run *r, struct expand_scratch *scratch, uint32_t number)
{
    const struct instance *n = &r->shape->instances[number];
    const struct template *t = &r->shape->templates[n->template_number];
    uint32_t offset = n->first_aux & 63;
    size_t base = n->first_aux - offset;
    memset(scratch->bits, 0, words_for_bits(offset + (size_t)t->locals) * sizeof *scratch->bits);
    put_seed_bits(r, n, scratch->bits, base, false);
    if (t->reads_ports)
        gather_ports(r, scratch, number);
    struct expansion x = {
        .template = t,
        .fields = r->witness->fields + n->first_field,
        .bits = scratch->bits,
        .bit_offset = offset,
        .hints = r->seeds->hints + n->first_hint,
        .port_fields = t->reads_ports ? scratch->port_fields : NULL,
        .port_bits = t->reads_ports ? scratch->port_bits : NULL,
    };
    t->expander->run(&x);
    if (t->locals > t->local_fields)
        merge_bits(r->witness->bits + base / 64, scratch->bits, offset, t->locals);
}

static void expand_task(void *context, size_t task)
{
    struct expand_run *r = context;
    struct expand_scratch scratch = {
        .bits = mem_alloc(r->bit_words, sizeof(uint64_t)),
        .port_bits = mem_alloc(r->port_words, sizeof(uint64_t)),
        .port_fields = mem_alloc(r->port_fields, sizeof(fr)),
    };
    if (!scratch.bits || !scratch.port_bits || !scratch.port_fields)
        atomic_store(&r->out_of_memory, true);
    else
        for (uint32_t i = r->cuts[task]; i < r->cuts[task + 1]; i++)
            expand_instance(r, &scratch, r->shape->wave_instances[i]);
    mem_free(scratch.bits);
    mem_free(scratch.port_bits);
    mem_free(scratch.port_fields);
}

/* ---- the whole ---- */

static void measure_scratch(struct expand_run *r)
{
    for (uint32_t i = 0; i < r->shape->templates_count; i++) {
        const struct template *t = &r->shape->templates[i];
        size_t words = words_for_bits(63 + (size_t)t->locals), ports = words_for_bits(t->ports);
        if (!t->expander)
            continue;
        r->bit_words = words > r->bit_words ? words : r->bit_words;
        r->port_words = ports > r->port_words ? ports : r->port_words;
        r->port_fields = t->port_fields > r->port_fields ? t->port_fields : r->port_fields;
    }
}

/* Cuts a wave into tasks; returns their number. cuts: one more entry than the wave has instances. */
static size_t cut_wave(const struct shape *s, uint32_t *cuts, uint32_t wave)
{
    uint64_t cost = 0;
    size_t tasks = 0;
    for (uint32_t i = s->wave_first[wave]; i < s->wave_first[wave + 1]; i++) {
        const struct instance *n = &s->instances[s->wave_instances[i]];
        const struct template *t = &s->templates[n->template_number];
        if (cost == 0)
            cuts[tasks++] = i;
        cost += INSTANCE_COST + (uint64_t)LOCAL_COST * t->locals + (uint64_t)FIELD_COST * t->local_fields;
        if (cost > TASK_COST)
            cost = 0;
    }
    cuts[tasks] = s->wave_first[wave + 1];
    return tasks;
}

static struct status run_waves(struct expand_run *r, const struct work *work)
{
    const struct shape *s = r->shape;
    size_t largest = 0;
    for (uint32_t w = 0; w < s->waves; w++)
        if (s->wave_first[w + 1] - s->wave_first[w] > largest)
            largest = s->wave_first[w + 1] - s->wave_first[w];
    uint32_t *cuts = mem_alloc(largest + 1, sizeof *cuts);
    if (!cuts)
        return mem_failed("tasks of a wave", largest + 1, sizeof *cuts);
    r->cuts = cuts;
    bool ran = true;
    for (uint32_t w = 0; w < s->waves && ran && !atomic_load(&r->out_of_memory); w++)
        ran = pool_run(work, expand_task, r, cut_wave(s, cuts, w));
    mem_free(cuts);
    return ran ? status_ok() : work_cancelled_status();
}

struct status witness_expand(struct witness *witness, const struct shape *shape, const struct seeds *seeds,
                             const struct work *work)
{
    CHECK(seeds_complete(seeds) && seeds->inputs_capacity == shape->inputs &&
          seeds->fields_capacity == shape->seed_fields && seeds->bits_capacity == shape->seed_bits &&
          seeds->hints_capacity == shape->hint_words);
    struct expand_run r = {.shape = shape, .seeds = seeds, .witness = witness};
    atomic_init(&r.out_of_memory, false);
    witness->inputs = seeds->inputs;
    measure_scratch(&r);
    size_t scatters = ((size_t)shape->instances_count + SCATTER_TOGETHER - 1) / SCATTER_TOGETHER;
    if (!pool_run(work, scatter_task, &r, scatters))
        return work_cancelled_status();
    TRY(run_waves(&r, work));
    if (atomic_load(&r.out_of_memory))
        return mem_failed("expansion", r.bit_words + r.port_words + 4 * r.port_fields, sizeof(uint64_t));
    return status_ok();
}
