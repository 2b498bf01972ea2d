/* Verification from public values alone: the inputs of every partition are derived from the statement, as a
 * chain does, and the partitions' proofs are checked together. */
#include "api/internal.h"

#include "base/blake2b.h"
#include "base/mem.h"
#include "filecoin/post.h"
#include "filecoin/public.h"
#include "filecoin/snap.h"

#include <string.h>

/* What a statement amounts to for a key: partitions, and the inputs of each without ONE. */
struct claim {
    const struct cuzk_statement *statement;
    const struct sector_size *sector;
    uint32_t partitions, count; /* count: inputs of one partition */
    fr *inputs;
};

static struct status unknown_number(const struct cuzk_statement *s)
{
    return status_error(STATUS_INVALID, "registered proof %u does not exist for kind %s", s->registered_proof,
                        proof_kind_name((enum proof_kind)s->kind));
}

static struct status allocate(struct claim *c, uint32_t partitions)
{
    c->partitions = partitions;
    c->count = circuit_inputs((enum proof_kind)c->statement->kind, c->sector);
    c->inputs = mem_alloc((size_t)partitions * c->count, sizeof *c->inputs);
    return c->inputs != NULL ? status_ok()
                             : mem_failed("public inputs", partitions, c->count * sizeof *c->inputs);
}

static struct status claim_porep(struct claim *c)
{
    const struct cuzk_statement *s = c->statement;
    struct porep_public public;
    fr inputs[POREP_INPUTS_MAX];
    if (s->registered_proof >= REGISTERED_SEALS)
        return unknown_number(s);
    const struct registered_seal *seal = &REGISTERED_SEAL[s->registered_proof];
    c->sector = seal->sector;
    TRY(porep_public_from_sector(&public, seal, s->miner_id, s->sector_number, s->ticket, s->seed, s->comm_r,
                                 s->comm_d));
    TRY(allocate(c, c->sector->partitions));
    for (uint32_t k = 0; k < c->partitions; k++) {
        porep_inputs(inputs, &public, k);
        memcpy(c->inputs + (size_t)k * c->count, inputs + 1, c->count * sizeof *inputs);
    }
    return status_ok();
}

static struct status claim_post(struct claim *c)
{
    const struct cuzk_statement *s = c->statement;
    const struct registered_post *registered = registered_post(s->registered_proof);
    if (registered == NULL || registered->kind != (enum proof_kind)s->kind)
        return unknown_number(s);
    c->sector = registered->sector;
    struct post post = {0};
    struct post_sector *sectors = mem_alloc_zero(s->sectors_count, sizeof *sectors);
    if (sectors == NULL)
        return mem_failed("sectors", s->sectors_count, sizeof *sectors);
    for (size_t i = 0; i < s->sectors_count; i++) {
        sectors[i].id = s->sectors[i].number;
        sectors[i].comm_r = s->sectors[i].comm_r;
    }
    struct status status =
        post_open_public(&post, registered, s->randomness, s->partition_index, sectors, s->sectors_count);
    if (!status_failed(&status))
        status = allocate(c, 1);
    if (!status_failed(&status))
        post_inputs(c->inputs, &post);
    post_end(&post);
    mem_free(sectors);
    return status;
}

static struct status claim_snap(struct claim *c)
{
    const struct cuzk_statement *s = c->statement;
    const struct registered_update *update = registered_update(s->registered_proof);
    if (update == NULL)
        return unknown_number(s);
    struct snap snap = {.size = update->size};
    const struct {
        const char *name;
        const uint8_t *given;
        uint8_t *copy;
    } values[3] = {{"comm_r_old", s->comm_r_old, snap.comm_r_old},
                   {"comm_r_new", s->comm_r_new, snap.comm_r_new},
                   {"comm_d_new", s->comm_d_new, snap.comm_d_new}};
    for (int i = 0; i < 3; i++) {
        fr_int x;
        if (!fr_int_from_bytes(&x, values[i].given))
            return status_error(STATUS_INVALID, "%s is not a field element", values[i].name);
        memcpy(values[i].copy, values[i].given, 32);
    }
    c->sector = update->size->sector;
    TRY(allocate(c, snap_partitions(update->size)));
    for (uint32_t k = 0; k < c->partitions; k++)
        snap_inputs(c->inputs + (size_t)k * SNAP_INPUTS, &snap, k);
    return status_ok();
}

static struct status claim_start(struct claim *c, const struct cuzk_statement *statement)
{
    *c = (struct claim){.statement = statement};
    switch (statement->kind) {
    case CUZK_POREP:
        return claim_porep(c);
    case CUZK_WINNING:
    case CUZK_WINDOW:
        return claim_post(c);
    case CUZK_SNAP:
        return claim_snap(c);
    }
    return status_error(STATUS_INVALID, "kind of proof %d does not exist", (int)statement->kind);
}

static struct status verify_claim(const struct verifying_key *key, const struct claim *c,
                                  const uint8_t *bytes, size_t size, const struct work *work)
{
    char name[CIRCUIT_NAME_MAX];
    circuit_name(name, (enum proof_kind)c->statement->kind, c->sector);
    if (size != (size_t)c->partitions * PROOF_BYTES)
        return status_error(STATUS_INVALID, "proof is %zu bytes long; %s has %u partitions, %zu bytes", size,
                            name, c->partitions, (size_t)c->partitions * PROOF_BYTES);
    if (key->ic_count != c->count + 1)
        return status_hint(
            status_error(STATUS_INVALID,
                         "verifying key is of another circuit: it has %u inputs with ONE, %s has %u",
                         key->ic_count, name, c->count + 1),
            "give the .vk file of this kind and sector size");
    struct proof *proofs = mem_alloc(c->partitions, sizeof *proofs);
    if (proofs == NULL)
        return mem_failed("verification", c->partitions, sizeof *proofs);
    struct status s = status_ok();
    for (uint32_t k = 0; k < c->partitions && !status_failed(&s); k++) {
        s = proof_decode(&proofs[k], bytes + (size_t)k * PROOF_BYTES);
        if (status_failed(&s)) /* not a point, or of the wrong order: such bytes are no valid proof */
            s = status_within(status_error(STATUS_REJECTED, "%s", s.message), "partition %u", k);
    }
    if (!status_failed(&s))
        s = proof_verify_batch(key, proofs, c->partitions, c->inputs, c->count, work);
    mem_free(proofs);
    return s;
}

struct status api_verify(const struct verifying_key *key, const struct cuzk_statement *statement,
                         const uint8_t *proof, size_t proof_size, const struct work *work)
{
    struct claim c;
    struct status s = claim_start(&c, statement);
    if (!status_failed(&s))
        s = verify_claim(key, &c, proof, proof_size, work);
    mem_free(c.inputs);
    return s;
}

enum cuzk_code cuzk_verify(struct cuzk *cuzk, const uint8_t *vk, size_t vk_size,
                           const struct cuzk_statement *statement, const uint8_t *proof, size_t proof_size,
                           struct cuzk_error *error)
{
    struct verifying_key key;
    size_t used;
    struct work work = api_work(cuzk, PRIORITY_HIGH);
    struct status s = vk_read(&key, vk, vk_size, &used);
    if (!status_failed(&s)) {
        s = api_verify(&key, statement, proof, proof_size, &work);
        vk_end(&key);
    }
    return api_result(&s, error);
}

enum cuzk_code cuzk_key_trusted(const uint8_t *vk, size_t vk_size, struct cuzk_error *error)
{
    uint8_t digest[64];
    struct status s = blake2b(digest, vk, vk_size);
    if (!status_failed(&s) && manifest_by_digest(digest) == NULL)
        s = status_hint(status_error(STATUS_UNTRUSTED, "verifying key is not a published one"),
                        "fetch the published .vk file, or admit test parameters");
    return api_result(&s, error);
}
