/* Building shapes: instances are appended in circuit order, each checked against what exists by then. A
 * shape file goes through the same door, so this is also where hostile counts and indices end.
 *
 * The kind of a bound variable, its field slot and the wave it is available in are looked up in the template
 * of the instance that allocated it, by binary search: nothing is kept per variable. */
#include "r1cs/shape.h"

#include "base/mem.h"
#include "r1cs/internal.h"

struct shape_builder {
    struct shape *shape;
    uint32_t templates_capacity, instances_capacity, runs_capacity;
};

/* Rows and input rows together, and aux variables, stay below this. */
#define COUNT_MAX (VARIABLE_AUX - 1)

/* Room for `wanted` elements. */
static struct status reserve(void **array, uint32_t *capacity, uint64_t wanted, size_t size, const char *what)
{
    if (wanted <= *capacity)
        return status_ok();
    if (wanted > UINT32_MAX / 2)
        return status_error(STATUS_UNSUPPORTED, "circuit has too many %s", what);
    uint64_t larger = *capacity ? (uint64_t)*capacity * 2 : 16;
    while (larger < wanted)
        larger *= 2;
    void *moved = mem_grow(*array, *capacity, larger, size);
    if (!moved)
        return mem_failed(what, larger, size);
    *array = moved;
    *capacity = (uint32_t)larger;
    return status_ok();
}

static struct status reserve_instances(struct shape_builder *b, uint64_t instances, uint64_t runs)
{
    struct shape *s = b->shape;
    void *array = s->runs;
    struct status status =
        reserve(&array, &b->runs_capacity, s->runs_count + runs, sizeof *s->runs, "runs of ports");
    s->runs = array;
    TRY(status);
    array = s->instances;
    status = reserve(&array, &b->instances_capacity, s->instances_count + instances, sizeof *s->instances,
                     "instances");
    s->instances = array;
    return status;
}

struct status shape_builder_start(struct shape_builder **out)
{
    *out = NULL;
    struct shape_builder *b = mem_alloc_zero(1, sizeof *b);
    struct shape *s = mem_alloc_zero(1, sizeof *s);
    struct status status = b && s ? dictionary_init(&s->dictionary) : mem_failed("shape", 1, sizeof *s);
    if (status_failed(&status)) {
        mem_free(s);
        mem_free(b);
        return status;
    }
    s->inputs = 1;
    atomic_init(&s->references, 1);
    b->shape = s;
    status = reserve_instances(b, 1, 1); /* arrays are there even if they stay empty */
    if (status_failed(&status))
        shape_builder_abandon(b);
    else
        *out = b;
    return status;
}

void shape_builder_abandon(struct shape_builder *builder)
{
    if (!builder)
        return;
    shape_release(builder->shape);
    mem_free(builder);
}

struct dictionary *shape_builder_dictionary(struct shape_builder *builder)
{
    return &builder->shape->dictionary;
}

struct status shape_builder_template(struct shape_builder *builder, uint32_t *number, struct template *taken)
{
    struct shape *s = builder->shape;
    void *templates = s->templates;
    const char *fault = template_fault(taken, &s->dictionary);
    if (fault)
        return status_error(STATUS_INVALID, "template \"%s\" is not valid: %s", taken->name, fault);
    struct status status = reserve(&templates, &builder->templates_capacity, (uint64_t)s->templates_count + 1,
                                   sizeof *s->templates, "templates");
    s->templates = templates;
    TRY(status);
    *number = s->templates_count;
    s->templates[s->templates_count++] = *taken;
    *taken = (struct template){0};
    return status_ok();
}

variable shape_builder_input(struct shape_builder *builder)
{
    CHECK(builder->shape->inputs < COUNT_MAX - builder->shape->rows);
    return variable_input(builder->shape->inputs++);
}

/* ---- ports ---- */

static struct status bad_run(const struct template *t, uint32_t port, const char *what)
{
    return status_error(STATUS_INVALID, "cannot place template \"%s\": port %u %s", t->name, port, what);
}

/* Checks the kinds of the aux variables [first, first + count) against those of the ports from `port` on, and
 * raises *wave to the first one in which all of them have values. number: the instance that has the first. */
static struct status check_aux_run(const struct shape *s, const struct template *t, uint32_t port,
                                   uint32_t number, uint32_t first, uint32_t count, uint32_t *wave)
{
    for (uint32_t done = 0; done < count; number++) {
        const struct instance *n = &s->instances[number];
        const struct template *owner = &s->templates[n->template_number];
        uint32_t local = first + done - n->first_aux;
        uint32_t here = owner->locals - local < count - done ? owner->locals - local : count - done;
        if (memcmp(owner->local_kind + local, t->port_kind + port + done, here) != 0)
            return bad_run(t, port + done,
                           "or one after it in its run is bound to a variable of another kind");
        if (n->wave >= *wave && memchr(owner->seed + local, 0, here))
            *wave = n->wave + 1;
        done += here;
    }
    return status_ok();
}

/* number: the instance that has it. */
static uint32_t slot_of(const struct shape *s, uint32_t number, uint32_t aux)
{
    const struct instance *n = &s->instances[number];
    return n->first_field + template_rank(&s->templates[n->template_number], aux - n->first_aux);
}

static struct status bind_run(const struct shape *s, const struct template *t, uint32_t port,
                              struct port_run *run, uint32_t *wave)
{
    uint32_t first = variable_index(run->first), kind;
    run->slot = 0;
    if (port == t->ports)
        return status_error(STATUS_INVALID, "cannot place template \"%s\": more variables than ports",
                            t->name);
    if (run->count == 0 || run->count > t->ports - port)
        return bad_run(t, port, "begins a run that is empty or longer than the ports that are left");
    kind = t->port_kind[port];
    for (uint32_t i = 1; i < run->count; i++)
        if (t->port_kind[port + i] != kind)
            return bad_run(t, port + i, "is of another kind than the others of its run");
    uint32_t exist = variable_is_aux(run->first) ? s->aux : s->inputs;
    if (first >= exist || run->count > exist - first)
        return bad_run(t, port, "is bound to a variable that does not exist yet");
    if (variable_is_aux(run->first)) {
        uint32_t number = instance_of_aux_near_end(s->instances, s->instances_count, first);
        TRY(check_aux_run(s, t, port, number, first, run->count, wave));
        if (kind == KIND_FIELD)
            run->slot = slot_of(s, number, first);
    } else if (kind != KIND_FIELD) {
        return bad_run(t, port, "is a bit and bound to a public input");
    }
    return status_ok();
}

/* ---- placing ---- */

static bool fits(uint32_t present, uint64_t more, uint32_t limit)
{
    return present + more <= limit;
}

static struct status check_totals(const struct shape *s, const struct template *t)
{
    if (!fits(s->rows, (uint64_t)t->rows + s->inputs, COUNT_MAX) || !fits(s->aux, t->locals, COUNT_MAX) ||
        !fits(s->seed_bits, t->seed_bits, UINT32_MAX) || !fits(s->hint_words, t->hint_words, UINT32_MAX))
        return status_error(STATUS_UNSUPPORTED, "circuit is too large: more than %u rows, variables or words",
                            COUNT_MAX);
    return status_ok();
}

struct status shape_builder_place(struct shape_builder *builder, uint32_t template_number,
                                  const struct port_run *runs, size_t runs_count, uint32_t *first_aux,
                                  uint32_t *first_field)
{
    struct shape *s = builder->shape;
    CHECK(template_number < s->templates_count);
    const struct template *t = &s->templates[template_number];
    TRY(check_totals(s, t));
    TRY(reserve_instances(builder, 1, runs_count));

    uint32_t port = 0, wave = 0;
    for (size_t i = 0; i < runs_count; i++) {
        struct port_run *run = &s->runs[s->runs_count + i];
        *run = runs[i];
        TRY(bind_run(s, t, port, run, &wave));
        port += run->count;
    }
    if (port != t->ports)
        return bad_run(t, port, "is not bound");
    s->instances[s->instances_count++] = (struct instance){
        .template_number = template_number,
        .first_row = s->rows,
        .first_aux = s->aux,
        .first_field = s->fields,
        .first_seed_field = s->seed_fields,
        .first_seed_bit = s->seed_bits,
        .first_hint = s->hint_words,
        .first_run = s->runs_count,
        .wave = t->reads_ports ? wave : 0,
    };
    if (first_aux)
        *first_aux = s->aux;
    if (first_field)
        *first_field = s->fields;
    s->runs_count += (uint32_t)runs_count;
    s->rows += t->rows;
    s->aux += t->locals;
    s->fields += t->local_fields;
    s->seed_fields += t->seed_fields;
    s->seed_bits += t->seed_bits;
    s->hint_words += t->hint_words;
    return status_ok();
}

uint32_t shape_builder_slot(const struct shape_builder *builder, variable v)
{
    const struct shape *s = builder->shape;
    CHECK(variable_is_aux(v) && variable_index(v) < s->aux);
    uint32_t number = instance_of_aux_near_end(s->instances, s->instances_count, variable_index(v));
    return slot_of(s, number, variable_index(v));
}

void shape_builder_counts(const struct shape_builder *builder, uint32_t *rows, uint32_t *aux,
                          uint32_t *inputs)
{
    *rows = builder->shape->rows;
    *aux = builder->shape->aux;
    *inputs = builder->shape->inputs;
}

/* ---- finishing ---- */

/* Gives back what growing by doubling left over; without memory for the copy the larger block stays. */
static void *trimmed(void *array, size_t count, size_t capacity, size_t size)
{
    if (count == capacity)
        return array;
    void *exact = mem_alloc(count, size);
    if (!exact)
        return array;
    if (count)
        memcpy(exact, array, count * size);
    mem_free(array);
    return exact;
}

/* Stable counting sort of instance numbers by wave. ends: waves + 1 words, zero on entry; holds the first
 * place of every wave and the count afterwards. */
static void sort_by_wave(const struct shape *s, uint32_t *out, const uint32_t *in, uint32_t count,
                         uint32_t *ends)
{
    for (uint32_t i = 0; i < count; i++)
        ends[s->instances[in[i]].wave + 1]++;
    for (uint32_t w = 0; w < s->waves; w++)
        ends[w + 1] += ends[w];
    for (uint32_t i = count; i-- > 0;)
        out[--ends[s->instances[in[i]].wave + 1]] = in[i];
    /* Every entry now stands one place too high: entry w + 1 is where wave w begins. */
    memmove(ends, ends + 1, s->waves * sizeof *ends);
    ends[s->waves] = count;
}

/* Instances that have an expander, by template. counts: zero on entry. Returns how many there are. */
static uint32_t by_template(const struct shape *s, uint32_t *out, uint32_t *counts)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->instances_count; i++)
        if (s->templates[s->instances[i].template_number].expander)
            counts[s->instances[i].template_number]++;
    for (uint32_t k = 0; k < s->templates_count; k++) {
        uint32_t count = counts[k];
        counts[k] = total;
        total += count;
    }
    for (uint32_t i = 0; i < s->instances_count; i++)
        if (s->templates[s->instances[i].template_number].expander)
            out[counts[s->instances[i].template_number]++] = i;
    return total;
}

static struct status order_waves(struct shape *s)
{
    uint32_t expanded = 0;
    for (uint32_t i = 0; i < s->instances_count; i++) {
        if (!s->templates[s->instances[i].template_number].expander)
            continue;
        expanded++;
        if (s->instances[i].wave >= s->waves)
            s->waves = s->instances[i].wave + 1;
    }
    uint32_t *order = mem_alloc(expanded, sizeof *order);
    uint32_t *counts = mem_alloc_zero(s->templates_count, sizeof *counts);
    s->wave_first = mem_alloc_zero((size_t)s->waves + 1, sizeof *s->wave_first);
    s->wave_instances = mem_alloc(expanded, sizeof *s->wave_instances);
    struct status status = status_ok();
    if (!order || !counts || !s->wave_first || !s->wave_instances) {
        status = mem_failed("order of waves", expanded, sizeof *order);
    } else {
        CHECK(by_template(s, order, counts) == expanded);
        sort_by_wave(s, s->wave_instances, order, expanded, s->wave_first);
    }
    mem_free(order);
    mem_free(counts);
    return status;
}

/* digest NULL: to be computed. */
static struct status complete(struct shape *s, const uint8_t *digest)
{
    s->small = mem_alloc(s->dictionary.count, sizeof *s->small);
    if (!s->small)
        return mem_failed("coefficients", s->dictionary.count, sizeof *s->small);
    for (uint32_t i = 0; i < s->dictionary.count; i++)
        s->small[i] = coefficient_small(&s->dictionary.values[i]);
    for (uint32_t i = 0; i < s->templates_count; i++)
        TRY(template_classify(&s->templates[i], s->small));
    TRY(order_waves(s));
    TRY(shape_count_density(s));
    if (digest)
        memcpy(s->digest, digest, sizeof s->digest);
    else
        shape_file_digest(s->digest, s);
    return status_ok();
}

struct status shape_builder_finish_as(struct shape **out, struct shape_builder *builder,
                                      const uint8_t digest[32])
{
    struct shape *s = builder->shape;
    *out = NULL;
    s->instances =
        trimmed(s->instances, s->instances_count, builder->instances_capacity, sizeof *s->instances);
    s->templates =
        trimmed(s->templates, s->templates_count, builder->templates_capacity, sizeof *s->templates);
    s->runs = trimmed(s->runs, s->runs_count, builder->runs_capacity, sizeof *s->runs);
    mem_free(builder);
    struct status status = complete(s, digest);
    if (status_failed(&status)) {
        shape_release(s);
        return status;
    }
    *out = s;
    return status_ok();
}

struct status shape_builder_finish(struct shape **out, struct shape_builder *builder)
{
    return shape_builder_finish_as(out, builder, NULL);
}
