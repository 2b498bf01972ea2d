/* See witness.h: a shape is laid out for the card in one block of host memory, which travels whole. The same
 * code, with no block, counts its bytes. */
#include "device/cuda/witness.h"
#include "device/cuda/backend_runtime.h"
#include "device/cuda/witness_tables.h"

#include "base/mem.h"
#include "base/sha256.h"
#include "gadget/expanders.h"
#include "gadget/insert_network.h"
#include "gadget/poseidon.h"

#include <string.h>

#define ALIGNMENT     256u
#define STRETCH_MIN   8u /* bits for which one product is cheaper than additions */
#define STRETCH_MAX   64u
#define POSEIDONS_MAX 8u
#define ITEMS_MAX     (UINT32_C(1) << 31)

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(GPU_LOCAL_BIT, COLUMN_LOCAL_BIT);
SAME(GPU_LOCAL_FIELD, COLUMN_LOCAL_FIELD);
SAME(GPU_PORT_BIT, COLUMN_PORT_BIT);
SAME(GPU_PORT_FIELD, COLUMN_PORT_FIELD);
SAME(GPU_ONE, COLUMN_ONE);
SAME(GPU_COLUMN_SHIFT, COLUMN_SHIFT);
SAME(GPU_SHA256_BLOCK, EXPANDER_SHA256_BLOCK);
SAME(GPU_POSEIDON, EXPANDER_POSEIDON);
SAME(GPU_PATH_ELEMENT, EXPANDER_PATH_ELEMENT);
SAME(GPU_TO_BITS, EXPANDER_TO_BITS);
SAME(GPU_SHA_PATH_HEAD, EXPANDER_SHA_PATH_HEAD);
SAME(GPU_PACK, EXPANDER_PACK);
SAME(GPU_SUM, EXPANDER_SUM);
SAME(GPU_DIFFERENCE, EXPANDER_DIFFERENCE);
SAME(GPU_MUL, EXPANDER_MUL);
SAME(GPU_MUL_BIT, EXPANDER_MUL_BIT);
SAME(GPU_SCALE_ADD, EXPANDER_SCALE_ADD);
SAME(GPU_INSERT, EXPANDER_INSERT);
SAME(GPU_SELECT, EXPANDER_SELECT);
SAME(GPU_EXPANDERS, EXPANDER_COUNT);
SAME(GPU_PARAMETERS, TEMPLATE_PARAMETERS);

struct gpu_shape {
    const struct shape *shape;
    void *memory_dev;
    struct gpu_tables tables;
    uint32_t *cuts; /* GPU_WAVE_KERNELS a wave, and one: ranges of tables.waves */
};

/* ---- layout ---- */

/* Everything of a shape in order; on_host NULL: only counted. */
struct layout {
    const struct shape *shape;
    char *on_host;
    uintptr_t on_card;
    size_t used;
    bool too_large;
    uint32_t poseidons, constants;
    uint32_t arities[POSEIDONS_MAX];
    uint32_t *cuts;
};

/* Room for count elements; their address on the card. */
static const void *take(struct layout *l, void **host, size_t count, size_t size)
{
    size_t at = l->used;
    l->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *host = l->on_host ? l->on_host + at : NULL;
    return (const void *)(l->on_card + at);
}

/* Elements that are there already. */
static const void *lay(struct layout *l, const void *from, size_t count, size_t size)
{
    void *host;
    const void *card = take(l, &host, count, size);
    if (host && count)
        memcpy(host, from, count * size);
    return card;
}

/* ---- rows ---- */

/* Terms from i on that are one number: consecutive local bits, each coefficient twice the one before. */
static uint32_t stretch(const struct template *t, const fr *dictionary, uint32_t i, uint32_t end)
{
    uint32_t count = 1;
    if (t->columns[i] >> COLUMN_SHIFT != COLUMN_LOCAL_BIT)
        return 1;
    for (; i + count < end && count < STRETCH_MAX && t->columns[i + count] == t->columns[i] + count;
         count++) {
        const fr *before = &dictionary[t->coefficients[i + count - 1]];
        fr twice;
        fr_add(&twice, before, before);
        if (!fr_equal(&twice, &dictionary[t->coefficients[i + count]]))
            break;
    }
    return count < STRETCH_MIN ? 1 : count;
}

/* Items of one combination, from items[at] on if there are any; where the next begins. */
static size_t lay_combination(struct gpu_item *items, size_t at, const struct shape *s,
                              const struct template *t, uint32_t side)
{
    bool small = t->classes[side] == COMBINATION_SMALL;
    for (uint32_t i = t->first[side]; i < t->first[side + 1];) {
        uint32_t count = small ? 1 : stretch(t, s->dictionary.values, i, t->first[side + 1]);
        uint16_t number = t->coefficients[i];
        if (items)
            items[at] = (struct gpu_item){t->columns[i], small ? (uint16_t)s->small[number] : number,
                                          (uint8_t)count, 0};
        at++;
        i += count;
    }
    return at;
}

/* The sides that are evaluated: A, or C in its place; B. */
static uint32_t side_of(const struct template *t, uint32_t row, uint32_t k)
{
    if (k == 1)
        return 3 * row + 1;
    return t->classes[3 * row] == COMBINATION_AS_C ? 3 * row + 2 : 3 * row;
}

static size_t count_items(const struct shape *s)
{
    size_t items = 0;
    for (uint32_t i = 0; i < s->templates_count; i++)
        for (uint32_t row = 0; row < s->templates[i].rows; row++)
            for (uint32_t k = 0; k < 2; k++)
                items = lay_combination(NULL, items, s, &s->templates[i], side_of(&s->templates[i], row, k));
    return items;
}

static void lay_rows(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    size_t combinations = 0, items = count_items(s), at = 0;
    void *to[2];
    for (uint32_t i = 0; i < s->templates_count; i++)
        combinations += 2 * (size_t)s->templates[i].rows + 1;
    l->too_large = l->too_large || items >= ITEMS_MAX || combinations > UINT32_MAX;
    t->combinations = take(l, &to[0], combinations, sizeof(uint32_t));
    t->items = take(l, &to[1], items, sizeof(struct gpu_item));
    if (!l->on_host)
        return;
    uint32_t *next = to[0];
    for (uint32_t i = 0; i < s->templates_count; i++) {
        const struct template *x = &s->templates[i];
        for (uint32_t row = 0; row < x->rows; row++) {
            for (uint32_t k = 0; k < 2; k++) {
                uint32_t side = side_of(x, row, k);
                *next++ = (uint32_t)at << 1 | (x->classes[side] != COMBINATION_SMALL);
                at = lay_combination(to[1], at, s, x, side);
            }
        }
        *next++ = (uint32_t)at << 1;
    }
}

static void lay_factors(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    void *to;
    fr small[2 * GPU_SMALL_MAX + 1];
    small[GPU_SMALL_MAX] = FR_ZERO;
    for (int i = 1; i <= GPU_SMALL_MAX; i++) {
        fr_add(&small[GPU_SMALL_MAX + i], &small[GPU_SMALL_MAX + i - 1], &FR_ONE);
        fr_sub(&small[GPU_SMALL_MAX - i], &small[GPU_SMALL_MAX - i + 1], &FR_ONE);
    }
    t->small = lay(l, small, 2 * GPU_SMALL_MAX + 1, sizeof(fr));
    t->coefficients = lay(l, s->dictionary.values, s->dictionary.count, sizeof(fr));
    t->scaled = take(l, &to, s->dictionary.count, sizeof(fr));
    for (uint32_t i = 0; to && i < s->dictionary.count; i++) /* x 2^256 as if it were plain: x 2^512 */
        fr_mul((fr *)to + i, &s->dictionary.values[i], &FR_R2);
}

/* ---- templates ---- */

static uint32_t poseidon_index(struct layout *l, const struct template *t)
{
    uint32_t number = t->expander ? t->expander->number : EXPANDER_NONE;
    if (number != EXPANDER_POSEIDON && number != EXPANDER_PATH_ELEMENT)
        return 0;
    for (uint32_t i = 0; i < l->poseidons; i++)
        if (l->arities[i] == t->parameters[0])
            return i;
    CHECK(l->poseidons < POSEIDONS_MAX);
    l->arities[l->poseidons] = t->parameters[0];
    return l->poseidons++;
}

static void lay_places(uint32_t *to, const uint32_t *from, uint32_t count)
{
    if (count > 0)
        memcpy(to, from, count * sizeof *to);
}

static void lay_templates(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    uint32_t places = 0, combinations = 0;
    void *to[2];
    for (uint32_t i = 0; i < s->templates_count; i++)
        places += s->templates[i].seed_fields + s->templates[i].seed_bits;
    t->templates = take(l, &to[0], s->templates_count, sizeof(struct gpu_template));
    t->places = take(l, &to[1], places, sizeof(uint32_t));
    places = 0;
    for (uint32_t i = 0; i < s->templates_count; i++) {
        const struct template *x = &s->templates[i];
        uint32_t number = x->expander ? x->expander->number : EXPANDER_NONE;
        struct gpu_template out = {combinations,         x->rows, places, places + x->seed_fields, number,
                                   poseidon_index(l, x), {0}};
        memcpy(out.parameters, x->parameters, sizeof out.parameters);
        if (l->on_host) {
            ((struct gpu_template *)to[0])[i] = out;
            lay_places((uint32_t *)to[1] + out.seed_ranks, x->seed_field_rank, x->seed_fields);
            lay_places((uint32_t *)to[1] + out.seed_locals, x->seed_bit_local, x->seed_bits);
        }
        places += x->seed_fields + x->seed_bits;
        combinations += 2 * x->rows + 1;
        l->too_large = l->too_large || number >= EXPANDER_COUNT;
    }
}

static uint32_t lay_constants(struct layout *l, const fr *from, uint32_t count)
{
    void *to;
    uint32_t at = l->constants;
    (void)take(l, &to, count, sizeof(fr)); /* 8 elements fill an alignment: pieces follow without gaps */
    if (to)
        memcpy(to, from, count * sizeof(fr));
    l->constants += (uint32_t)(ALIGNMENT / sizeof(fr)) *
                    ((count + (uint32_t)(ALIGNMENT / sizeof(fr)) - 1) / (uint32_t)(ALIGNMENT / sizeof(fr)));
    return at;
}

static void lay_poseidons(struct layout *l, struct gpu_tables *t)
{
    struct gpu_poseidon all[POSEIDONS_MAX] = {{0, 0, 0, 0, 0, 0}};
    uint32_t words[GPU_WORDS] = {0};
    t->poseidon_width = 0;
    t->constants = (const void *)(l->on_card + l->used);
    for (uint32_t i = 0; i < l->poseidons; i++) {
        const struct poseidon *p = poseidon_of(l->arities[i]);
        all[i].width = p->width;
        if (p->width > t->poseidon_width)
            t->poseidon_width = p->width;
        all[i].partial_rounds = p->partial_rounds;
        all[i].rounds = lay_constants(l, p->rounds, 8 * p->width + p->partial_rounds);
        all[i].mds = lay_constants(l, p->mds, p->width * p->width);
        all[i].pre_sparse = lay_constants(l, p->pre_sparse, p->width * p->width);
        all[i].sparse = lay_constants(l, p->sparse, p->partial_rounds * (2 * p->width - 1));
    }
    t->poseidons = lay(l, all, POSEIDONS_MAX, sizeof *all);
    memcpy(words, SHA256_ROUND, sizeof SHA256_ROUND);
    for (uint32_t size = 1; size <= 3; size++) {
        const struct network_pick *network = insert_network(size);
        for (uint32_t i = 0; i < insert_network_picks(size); i++)
            words[GPU_NETWORKS + (size - 1) * GPU_NETWORK_PICKS + i] =
                network[i].condition | (uint32_t)network[i].yes << 8 | (uint32_t)network[i].no << 16 |
                (uint32_t)network[i].out << 24;
    }
    t->words = lay(l, words, GPU_WORDS, sizeof *words);
}

/* ---- instances ---- */

static void lay_ports(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    size_t ports = 0, at = 0;
    void *to;
    for (uint32_t i = 0; i < s->runs_count; i++)
        ports += s->runs[i].count;
    l->too_large = l->too_large || ports > UINT32_MAX;
    t->ports = take(l, &to, ports, sizeof(uint32_t));
    if (!to)
        return;
    for (uint32_t i = 0; i < s->instances_count; i++) {
        const struct instance *n = &s->instances[i];
        const uint8_t *kind = s->templates[n->template_number].port_kind;
        uint32_t runs = (i + 1 < s->instances_count ? n[1].first_run : s->runs_count) - n->first_run;
        for (const struct port_run *run = s->runs + n->first_run; runs > 0; runs--, run++) {
            uint32_t first = variable_index(run->first);
            if (*kind == KIND_FIELD && variable_is_aux(run->first))
                first = s->inputs + run->slot;
            for (uint32_t k = 0; k < run->count; k++)
                ((uint32_t *)to)[at++] = first + k;
            kind += run->count;
        }
    }
}

static void lay_instances(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    size_t chunks = ((size_t)s->rows + GPU_CHUNK_ROWS - 1) / GPU_CHUNK_ROWS;
    uint32_t port = 0, instance = 0;
    void *to[2];
    t->instances = take(l, &to[0], s->instances_count, sizeof(struct gpu_instance));
    t->chunk_first = take(l, &to[1], chunks + 1, sizeof(uint32_t));
    if (!l->on_host)
        return;
    for (uint32_t i = 0; i < s->instances_count; i++) {
        const struct instance *n = &s->instances[i];
        ((struct gpu_instance *)to[0])[i] = (struct gpu_instance){
            n->first_row,       n->first_aux,        s->inputs + n->first_field, port,
            n->template_number, n->first_seed_field, n->first_seed_bit,          n->first_hint};
        port += s->templates[n->template_number].ports;
    }
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        while (instance + 1 < s->instances_count &&
               s->instances[instance + 1].first_row <= chunk * GPU_CHUNK_ROWS)
            instance++;
        ((uint32_t *)to[1])[chunk] = instance;
    }
    ((uint32_t *)to[1])[chunks] = s->instances_count ? s->instances_count - 1 : 0;
}

static enum gpu_wave_kernel kernel_of(const struct shape *s, uint32_t instance)
{
    uint32_t number = s->templates[s->instances[instance].template_number].expander->number;
    if (number == EXPANDER_SHA256_BLOCK)
        return GPU_WAVE_SHA256;
    return number == EXPANDER_POSEIDON || number == EXPANDER_PATH_ELEMENT ? GPU_WAVE_POSEIDON
                                                                          : GPU_WAVE_OTHER;
}

/* Within a wave by kernel; within a kernel the order of the shape, which is by template. */
static void lay_waves(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    uint32_t count = s->waves ? s->wave_first[s->waves] : 0, at = 0;
    void *to;
    t->waves = take(l, &to, count, sizeof(uint32_t));
    if (!to)
        return;
    for (uint32_t w = 0; w < s->waves; w++) {
        for (enum gpu_wave_kernel k = 0; k < GPU_WAVE_KERNELS; k++) {
            l->cuts[GPU_WAVE_KERNELS * w + k] = at;
            for (uint32_t i = s->wave_first[w]; i < s->wave_first[w + 1]; i++)
                if (kernel_of(s, s->wave_instances[i]) == k)
                    ((uint32_t *)to)[at++] = s->wave_instances[i];
        }
    }
    l->cuts[GPU_WAVE_KERNELS * s->waves] = at;
}

static void lay_out(struct layout *l, struct gpu_tables *t)
{
    const struct shape *s = l->shape;
    l->used = 0;
    l->poseidons = l->constants = 0;
    t->instances_count = s->instances_count;
    t->rows = s->rows;
    t->inputs = s->inputs;
    t->seed_fields = s->seed_fields;
    t->seed_bits = s->seed_bits;
    lay_templates(l, t);
    lay_poseidons(l, t);
    lay_factors(l, t);
    lay_instances(l, t);
    lay_ports(l, t);
    lay_waves(l, t);
    lay_rows(l, t);
}

size_t gpu_shape_bytes(const struct shape *shape)
{
    struct layout l = {.shape = shape};
    struct gpu_tables tables;
    lay_out(&l, &tables);
    return l.used;
}

/* ---- loading ---- */

void gpu_shape_end(struct gpu_shape *tables)
{
    if (tables == NULL)
        return;
    gpu_free(tables->memory_dev);
    mem_free(tables->cuts);
    mem_free(tables);
}

static struct status load(struct gpu_shape *g, struct CUstream_st *stream)
{
    struct layout l = {.shape = g->shape, .cuts = g->cuts};
    struct status s;
    lay_out(&l, &g->tables);
    if (l.too_large)
        return status_error(STATUS_UNSUPPORTED, "this shape has more rows, or other expanders, than the CUDA "
                                                "backend has room and kernels for");
    size_t bytes = l.used;
    TRY(gpu_alloc(&g->memory_dev, bytes, "tables of a shape"));
    l.on_card = (uintptr_t)g->memory_dev;
    l.on_host = mem_alloc_zero(bytes, 1);
    if (l.on_host == NULL)
        return mem_failed("tables of a shape", bytes, 1);
    lay_out(&l, &g->tables);
    CHECK(l.used == bytes);
    s = gpu_upload(g->memory_dev, l.on_host, bytes, stream);
    if (!status_failed(&s))
        s = gpu_wait(stream);
    mem_free(l.on_host);
    return s;
}

struct status gpu_shape_load(struct gpu_shape **out, const struct shape *shape, struct CUstream_st *stream)
{
    struct gpu_shape *g = mem_alloc_zero(1, sizeof *g);
    size_t cuts = GPU_WAVE_KERNELS * (size_t)shape->waves + 1;
    if (g == NULL)
        return mem_failed("tables of a shape", 1, sizeof *g);
    g->shape = shape;
    g->cuts = mem_alloc_zero(cuts, sizeof *g->cuts);
    struct status s = g->cuts ? load(g, stream) : mem_failed("tables of a shape", cuts, sizeof *g->cuts);
    if (status_failed(&s))
        gpu_shape_end(g);
    else
        *out = g;
    return s;
}

/* ---- a witness ---- */

struct witness_places {
    size_t bits, seed_fields, seed_bits, hints, bytes; /* values are at 0 */
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t bitmap_bytes(uint32_t bits)
{
    return ((size_t)bits + 63) / 64 * sizeof(uint64_t);
}

static struct witness_places places_of(const struct shape *s)
{
    struct witness_places p;
    p.bits = aligned(((size_t)s->inputs + s->fields) * sizeof(fr));
    p.seed_fields = p.bits + aligned(bitmap_bytes(s->aux));
    p.seed_bits = p.seed_fields + aligned((size_t)s->seed_fields * sizeof(fr));
    p.hints = p.seed_bits + aligned(bitmap_bytes(s->seed_bits));
    p.bytes = p.hints + aligned((size_t)s->hint_words * sizeof(uint32_t));
    return p;
}

size_t gpu_witness_bytes(const struct shape *shape)
{
    return places_of(shape).bytes;
}

struct status gpu_witness_expand(struct gpu_witness *out, const struct gpu_shape *tables,
                                 const struct seeds *seeds, void *arena_dev, size_t bytes,
                                 struct CUstream_st *stream)
{
    const struct shape *s = tables->shape;
    struct witness_places p = places_of(s);
    char *at = arena_dev;
    CHECK(seeds_complete(seeds) && seeds->inputs_capacity == s->inputs &&
          seeds->fields_capacity == s->seed_fields && seeds->bits_capacity == s->seed_bits &&
          seeds->hints_capacity == s->hint_words);
    CHECK(bytes >= p.bytes && (uintptr_t)arena_dev % ALIGNMENT == 0);
    void *parts[4] = {at + p.bits, at + p.seed_fields, at + p.seed_bits, at + p.hints};
    *out = (struct gpu_witness){parts[0], at, at + (size_t)s->inputs * sizeof(fr)};
    struct gpu_expansion x = {parts[0], at, parts[1], parts[2], parts[3]};
    TRY(gpu_upload(at, seeds->inputs, s->inputs * sizeof(fr), stream));
    TRY(gpu_upload(parts[1], seeds->fields, s->seed_fields * sizeof(fr), stream));
    TRY(gpu_upload(parts[2], seeds->bits, bitmap_bytes(s->seed_bits), stream));
    TRY(gpu_upload(parts[3], seeds->hints, s->hint_words * sizeof(uint32_t), stream));
    TRY(gpu_fill(parts[0], 0, bitmap_bytes(s->aux), stream));
    TRY(gpu_scatter_seeds(&x, &tables->tables, stream));
    for (uint32_t w = 0; w < s->waves; w++) {
        for (enum gpu_wave_kernel k = 0; k < GPU_WAVE_KERNELS; k++) {
            const uint32_t *cut = tables->cuts + GPU_WAVE_KERNELS * w + k;
            TRY(gpu_expand_wave(&x, &tables->tables, k, cut[0], cut[1] - cut[0], stream));
        }
    }
    return status_ok();
}

struct status gpu_witness_evaluate(void *a_dev, void *b_dev, const struct gpu_witness *witness,
                                   const struct gpu_shape *tables, unsigned log_size,
                                   struct CUstream_st *stream)
{
    CHECK(log_size < 32 && (size_t)1 << log_size >= shape_all_rows(tables->shape));
    return gpu_evaluate_rows(a_dev, b_dev, witness->bits_dev, witness->inputs_dev, &tables->tables, log_size,
                             stream);
}
