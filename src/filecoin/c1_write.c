/* Writing a C1 output as compact JSON in the Rust writer's order, to the byte. Runs twice over the same
 * code: once to count, once to write. */
#include "filecoin/c1.h"

#include "base/mem.h"
#include "filecoin/base64.h"
#include <stdio.h>
#include <string.h>

struct writer {
    char *out; /* NULL: only count */
    size_t used;
};

static void put_text(struct writer *w, const char *text)
{
    size_t n = strlen(text);
    if (w->out)
        memcpy(w->out + w->used, text, n);
    w->used += n;
}

static void put_u64(struct writer *w, uint64_t v)
{
    char text[24];
    size_t at = sizeof text - 1;
    text[at] = 0;
    do
        text[--at] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    put_text(w, text + at);
}

static void put_hash(struct writer *w, const uint8_t hash[32])
{
    for (int i = 0; i < 32; i++) {
        put_text(w, i ? "," : "[");
        put_u64(w, hash[i]);
    }
    put_text(w, "]");
}

static void put_hashes(struct writer *w, uint8_t (*hashes)[32], uint32_t count)
{
    put_text(w, "[");
    for (uint32_t i = 0; i < count; i++) {
        put_text(w, i ? "," : "");
        put_hash(w, hashes[i]);
    }
    put_text(w, "]");
}

static void put_named_hash(struct writer *w, const char *name, const uint8_t hash[32])
{
    put_text(w, name);
    put_hash(w, hash);
}

static void put_path(struct writer *w, const char *name, const struct path_element *path, uint32_t length)
{
    put_text(w, name);
    put_text(w, "{\"path\":[");
    for (uint32_t i = 0; i < length; i++) {
        put_text(w, i ? ",{\"hashes\":" : "{\"hashes\":");
        put_hashes(w, path[i].siblings, path[i].arity - 1);
        put_text(w, ",\"index\":");
        put_u64(w, path[i].index);
        put_text(w, "}");
    }
    put_text(w, "]}");
}

static void put_merkle(struct writer *w, const struct merkle_proof *m, uint32_t above)
{
    uint32_t base = m->length - above;
    put_text(w, above == 0   ? "{\"data\":{\"Single\":{"
                : above == 1 ? "{\"data\":{\"Sub\":{"
                             : "{\"data\":{\"Top\":{");
    if (above) {
        put_path(w, "\"base_proof\":", m->path, base);
        put_path(w, ",\"sub_proof\":", m->path + base, 1);
        if (above == 2)
            put_path(w, ",\"top_proof\":", m->path + base + 1, 1);
        put_text(w, ",");
    }
    put_named_hash(w, "\"root\":", m->root);
    put_named_hash(w, ",\"leaf\":", m->leaf);
    if (!above)
        put_path(w, ",\"path\":", m->path, base);
    put_text(w, "}}}");
}

static void put_column(struct writer *w, const struct sector_size *s, const struct column_proof *c,
                       uint32_t above)
{
    put_text(w, "{\"column\":{\"index\":");
    put_u64(w, c->index);
    put_text(w, ",\"rows\":");
    put_hashes(w, c->rows, s->layers);
    put_text(w, ",\"_h\":null},\"inclusion_proof\":");
    put_merkle(w, &c->inclusion, above);
    put_text(w, "}");
}

static void put_label(struct writer *w, const struct labeling_proof *l)
{
    put_text(w, "{\"parents\":");
    put_hashes(w, l->parents, LABEL_INPUTS);
    put_text(w, ",\"layer_index\":");
    put_u64(w, l->layer);
    put_text(w, ",\"node\":");
    put_u64(w, l->node);
    put_text(w, "}");
}

static void put_proof(struct writer *w, const struct sector_size *s, const struct vanilla_proof *p)
{
    uint32_t above = (s->sub ? 1U : 0U) + (s->top ? 1U : 0U);
    put_text(w, "{\"comm_d_proofs\":");
    put_merkle(w, &p->comm_d, 0);
    put_text(w, ",\"comm_r_last_proof\":");
    put_merkle(w, &p->comm_r_last, above);
    put_text(w, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(w, s, &p->c_x, above);
    for (uint32_t i = 0; i < PARENTS; i++) {
        put_text(w, i == 0 ? ",\"drg_parents\":[" : i == DRG_PARENTS ? "],\"exp_parents\":[" : ",");
        put_column(w, s, &p->parents[i], above);
    }
    put_text(w, "]},\"labeling_proofs\":[");
    for (uint32_t l = 0; l < s->layers; l++) {
        put_text(w, l ? "," : "");
        put_label(w, &p->labels[l]);
    }
    put_text(w, "],\"encoding_proof\":");
    put_label(w, &p->encoding);
    put_text(w, "}");
}

static void put_output(struct writer *w, const struct c1 *c1)
{
    put_text(w, "{\"registered_proof\":\"");
    put_text(w, c1->seal->name);
    put_text(w, "\",\"vanilla_proofs\":{\"StackedDrg");
    put_text(w, c1->sector->name);
    put_text(w, "V1\":[");
    for (uint32_t k = 0; k < c1->partitions; k++) {
        put_text(w, k ? ",[" : "[");
        for (uint32_t i = 0; i < c1->challenges; i++) {
            put_text(w, i ? "," : "");
            put_proof(w, c1->sector, c1_proof(c1, k, i));
        }
        put_text(w, "]");
    }
    put_named_hash(w, "]},\"comm_r\":", c1->comm_r);
    put_named_hash(w, ",\"comm_d\":", c1->comm_d);
    put_named_hash(w, ",\"replica_id\":", c1->replica_id);
    put_named_hash(w, ",\"seed\":", c1->seed);
    put_named_hash(w, ",\"ticket\":", c1->ticket);
    put_text(w, "}");
}

static struct status wrap(uint8_t **out, size_t *size, const struct c1 *c1, const uint8_t *bare,
                          size_t bare_size)
{
    char head[64], tail[64];
    int head_size = snprintf(head, sizeof head, "{\"SectorNum\":%llu,\"Phase1Out\":\"",
                             (unsigned long long)c1->sector_number);
    int tail_size =
        snprintf(tail, sizeof tail, "\",\"SectorSize\":%llu}", (unsigned long long)sector_bytes(c1->sector));
    size_t body = base64_encoded_size(bare_size), total = (size_t)head_size + body + (size_t)tail_size;
    uint8_t *text = mem_alloc(1, total);
    if (!text)
        return mem_failed("wrapped C1 output", 1, total);
    memcpy(text, head, (size_t)head_size);
    base64_encode((char *)text + head_size, bare, bare_size);
    memcpy(text + (size_t)head_size + body, tail, (size_t)tail_size);
    *out = text;
    *size = total;
    return status_ok();
}

struct status c1_write(uint8_t **out, size_t *size, const struct c1 *c1, bool wrapped)
{
    *out = NULL;
    if (!c1->sector->official)
        return status_error(STATUS_UNSUPPORTED, "a C1 output of a %s sector has no written form",
                            c1->sector->name);
    struct writer w = {NULL, 0};
    put_output(&w, c1);
    size_t bare_size = w.used;
    w = (struct writer){mem_alloc(1, bare_size), 0};
    if (!w.out)
        return mem_failed("C1 output", 1, bare_size);
    put_output(&w, c1);
    if (!wrapped) {
        *out = (uint8_t *)w.out;
        *size = bare_size;
        return status_ok();
    }
    struct status s = wrap(out, size, c1, (uint8_t *)w.out, bare_size);
    mem_free(w.out);
    return s;
}
