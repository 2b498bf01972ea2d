/* Really sealed sectors for cuzk fabricate --honest. Node v of the data is SHA-256 of a tag and LE32(v), cut
 * to 254 bits. The first sector's tag is "porep-gv-data", its ticket 32 bytes 1, its seed 32 bytes 2; sector
 * i has the tag with "-i" and the next odd and even number. A name other than "reference" stands before the
 * tag. */
#include "cmd/cuzk/fabricate.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "filecoin/sector.h"

#include <stdio.h>
#include <string.h>

struct content {
    const char *name; /* may be NULL */
    char tag[40];
};

static void content_hash(uint8_t out[32], const struct content *c, const void *more, size_t size)
{
    struct sha256 h;
    sha256_begin(&h);
    if (c->name != NULL) {
        sha256_add(&h, c->name, strlen(c->name));
        sha256_add(&h, "/", 1);
    }
    sha256_add(&h, c->tag, strlen(c->tag));
    sha256_add(&h, more, size);
    sha256_end(&h, out);
    trim(out);
}

static void content_node(void *context, uint64_t node, uint8_t out[32])
{
    uint8_t number[4];
    store_le32(number, (uint32_t)node);
    content_hash(out, context, number, sizeof number);
}

struct sealing {
    struct seal_request request;
    struct content content;
    uint8_t ticket[32], seed[32];
    struct sealed *sealed;
};

/* Sector `index` of those that are made, from 0. */
static struct status seal(struct sealing *s, const struct fabricate *f, const struct registered_seal *seal,
                          uint32_t index, uint64_t number)
{
    *s = (struct sealing){.content.name = f->name};
    snprintf(s->content.tag, sizeof s->content.tag, "porep-gv-data");
    if (index > 0)
        snprintf(s->content.tag, sizeof s->content.tag, "porep-gv-data-%u", index + 1);
    memset(s->ticket, (int)(uint8_t)(2 * index + 1), 32);
    memset(s->seed, (int)(uint8_t)(2 * index + 2), 32);
    s->request = (struct seal_request){.seal = seal,
                                       .miner = f->miner,
                                       .sector_number = number,
                                       .ticket = s->ticket,
                                       .seed = s->seed,
                                       .data = content_node,
                                       .context = &s->content};
    return sealed_start(&s->sealed, &s->request, &f->work);
}

/* The seal proof in present use for the size. */
static const struct registered_seal *seal_of(const struct sector_size *sector)
{
    uint32_t number = 5;
    while (REGISTERED_SEAL[number].sector != sector)
        number++;
    return &REGISTERED_SEAL[number];
}

struct status honest_c1(struct c1 *out, const struct fabricate *f)
{
    struct sealing s;
    struct status status = seal(&s, f, &REGISTERED_SEAL[f->registered], 0, f->sector_number);
    if (!status_failed(&status))
        status = sealed_c1(out, s.sealed);
    sealed_end(s.sealed);
    return status;
}

struct status honest_post(struct fabricated_post *out, const struct fabricate *f, const uint64_t *ids,
                          size_t count, uint32_t partition)
{
    const struct registered_post *registered = registered_post(f->registered);
    const struct content content = {f->name, "randomness"};
    uint32_t before = partition * f->sector->window_sectors;
    *out = (struct fabricated_post){.count = count, .sector_bytes = post_sector_bytes(registered)};
    if (f->name == NULL)
        memset(out->randomness, f->kind == PROOF_WINNING ? 7 : 8, 32);
    else
        content_hash(out->randomness, &content, NULL, 0);
    out->vanilla = mem_alloc(count, out->sector_bytes);
    if (out->vanilla == NULL)
        return mem_failed("vanilla proofs", count, out->sector_bytes);
    for (uint32_t i = 0; i < count; i++) {
        struct sealing s;
        struct status status = seal(&s, f, seal_of(f->sector), before + i, ids[i]);
        if (!status_failed(&status))
            sealed_post(out->vanilla + i * out->sector_bytes, s.sealed, registered, out->randomness,
                        partition, i);
        sealed_end(s.sealed);
        if (status_failed(&status)) {
            fabricated_post_end(out);
            return status;
        }
    }
    return status_ok();
}

struct status honest_update(struct fabricated_snap *out, const struct fabricate *f)
{
    struct sealing s;
    struct content content = {f->name, "porep-gv-new-data"};
    struct status status = seal(&s, f, seal_of(f->sector), 0, f->sector_number);
    if (!status_failed(&status)) {
        status = sealed_update(out, s.sealed, snap_size_of(f->sector), content_node, &content, &f->work);
        if (status_failed(&status))
            fabricated_snap_end(out);
    }
    sealed_end(s.sealed);
    return status;
}
