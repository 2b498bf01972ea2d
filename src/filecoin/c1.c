/* Memory of a C1 output: one block, laid out by the same walk twice, first to measure and then to point. */
#include "filecoin/c1.h"

#include "base/mem.h"
#include <string.h>

struct bump {
    uint8_t *base; /* NULL while measuring */
    size_t used;
};

static void *take(struct bump *b, size_t bytes)
{
    void *p = b->base ? b->base + b->used : NULL;
    b->used += (bytes + 7) & ~(size_t)7;
    return p;
}

static void place_merkle(struct bump *b, struct merkle_proof *m, const uint32_t *arities, uint32_t length)
{
    m->length = length;
    m->path = take(b, length * sizeof(struct path_element));
    for (uint32_t i = 0; i < length; i++) {
        void *siblings = take(b, (arities[i] - 1) * (size_t)32);
        if (b->base)
            m->path[i] = (struct path_element){siblings, arities[i], 0};
    }
}

static void place_column(struct bump *b, struct column_proof *c, const struct sector_size *s,
                         const uint32_t *arities, uint32_t length)
{
    c->rows = take(b, s->layers * (size_t)32);
    place_merkle(b, &c->inclusion, arities, length);
}

static void place_proof(struct bump *b, struct vanilla_proof *p, const struct sector_size *s)
{
    uint32_t binary[SECTOR_LEVELS_MAX], arities[SECTOR_LEVELS_MAX];
    uint32_t length = sector_arities(arities, s);
    for (uint32_t i = 0; i < s->log2_nodes; i++)
        binary[i] = 2;
    place_merkle(b, &p->comm_d, binary, s->log2_nodes);
    place_merkle(b, &p->comm_r_last, arities, length);
    place_column(b, &p->c_x, s, arities, length);
    for (uint32_t i = 0; i < PARENTS; i++)
        place_column(b, &p->parents[i], s, arities, length);
    for (uint32_t i = 0; i < s->layers; i++)
        p->labels[i].parents = take(b, LABEL_INPUTS * (size_t)32);
    p->encoding.parents = take(b, LABEL_INPUTS * (size_t)32);
}

size_t c1_bytes(const struct sector_size *s)
{
    struct vanilla_proof scratch;
    struct bump measure = {NULL, 0};
    place_proof(&measure, &scratch, s);
    return (measure.used + sizeof scratch) * s->partitions * s->challenges;
}

struct status c1_start(struct c1 *out, const struct sector_size *s)
{
    size_t bytes = c1_bytes(s);
    memset(out, 0, sizeof *out);
    uint8_t *arena = mem_alloc_zero(1, bytes);
    if (!arena)
        return mem_failed("C1 output", 1, bytes);
    out->sector = s;
    out->partitions = s->partitions;
    out->challenges = s->challenges;
    out->arena = arena;
    struct bump b = {arena, 0};
    uint32_t count = s->partitions * s->challenges;
    out->proofs = take(&b, count * sizeof(struct vanilla_proof));
    for (uint32_t i = 0; i < count; i++)
        place_proof(&b, &out->proofs[i], s);
    CHECK(b.used <= bytes);
    return status_ok();
}

void c1_end(struct c1 *c1)
{
    mem_free(c1->arena);
    memset(c1, 0, sizeof *c1);
}
