/* Proving and verifying. Nothing leaves before it verifies: each partition against the inputs of its own
 * witness, and the whole against the vector that a verifier derives from public values alone. */
#include "api/internal.h"

#include "base/blake2b.h"
#include "base/mem.h"
#include "filecoin/porep.h"

#include <stdio.h>
#include <string.h>

_Static_assert(CUZK_PROOF_BYTES == PROOF_BYTES, "one length");

/* ---- partitions ---- */

static struct status synthesise(struct seeds *out, const struct cuzk_circuit *circuit, const struct c1 *c1,
                                uint32_t k)
{
    if (c1->sector != circuit->sector)
        return status_error(STATUS_INVALID, "C1 output is of a %s sector, the circuit is %s",
                            c1->sector->name, circuit->name);
    if (k >= c1->partitions)
        return status_error(STATUS_INVALID, "partition %u does not exist: the C1 output has %u", k,
                            c1->partitions);
    return porep_seeds(out, circuit->shape, c1, k);
}

enum cuzk_code cuzk_synthesise(struct cuzk_seeds **out, const struct cuzk_circuit *circuit,
                               const struct cuzk_c1 *c1, uint32_t partition, struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk_seeds *seeds = mem_alloc_zero(1, sizeof *seeds);
    struct status s = seeds == NULL ? mem_failed("witness", 1, sizeof *seeds)
                                    : synthesise(&seeds->seeds, circuit, &c1->c1, partition);
    if (status_failed(&s)) {
        mem_free(seeds);
        return api_result(&s, error);
    }
    seeds->circuit = circuit;
    *out = seeds;
    return CUZK_OK;
}

void cuzk_seeds_end(struct cuzk_seeds *seeds)
{
    if (seeds == NULL)
        return;
    seeds_end(&seeds->seeds);
    mem_free(seeds);
}

static struct status partial_sums(struct partial_sums *out, struct cuzk *cuzk,
                                  const struct cuzk_params *params, const struct seeds *seeds)
{
    const struct device_operations *op = cuzk->device->operations;
    struct device_pending *pending;
    TRY(op->prove_start(&pending, cuzk->device, params->loaded, params->circuit->loaded, seeds,
                        PRIORITY_NORMAL, &cuzk->cancel));
    return op->prove_finish(out, cuzk->device, pending);
}

/* One attempt with fresh blinding, from sums that stand. */
static struct status finish(uint8_t bytes[PROOF_BYTES], const struct partial_sums *sums,
                            const struct cuzk_params *params, const struct seeds *seeds)
{
    struct blinding blinding;
    struct proof proof, decoded;
    TRY(blinding_random(&blinding));
    struct status s = proof_assemble(&proof, sums, &params->image.key, &blinding);
    blinding_wipe(&blinding);
    TRY(s);
    proof_encode(bytes, &proof);
    TRY(proof_decode(&decoded, bytes));
    return proof_verify(&params->image.key, &decoded, seeds->inputs + 1, seeds->inputs_count - 1);
}

/* A proof that does not verify is made once more from the start: a device that erred once may not err again.
 */
static struct status prove_partition(uint8_t bytes[PROOF_BYTES], struct cuzk *cuzk,
                                     const struct cuzk_params *params, const struct seeds *seeds)
{
    struct status s = status_ok();
    for (int attempt = 0; attempt < 2; attempt++) {
        struct partial_sums sums;
        TRY(partial_sums(&sums, cuzk, params, seeds));
        s = finish(bytes, &sums, params, seeds);
        if (!status_failed(&s))
            return s;
        if (s.code != STATUS_REJECTED && s.code != STATUS_INVALID)
            break;
    }
    mem_wipe(bytes, PROOF_BYTES);
    if (s.code == STATUS_REJECTED || s.code == STATUS_INVALID)
        s = status_hint(
            status_error(STATUS_DEVICE, "a proof was made twice and did not verify; it is withheld"),
            "the parameters may be of another setup, or this machine miscomputes");
    return s;
}

enum cuzk_code cuzk_prove_partition(uint8_t proof[CUZK_PROOF_BYTES], struct cuzk *cuzk,
                                    const struct cuzk_params *params, const struct cuzk_seeds *seeds,
                                    struct cuzk_error *error)
{
    struct status s = status_ok();
    if (seeds->circuit != params->circuit)
        s = status_error(STATUS_INVALID, "witness of circuit %s, parameters of circuit %s",
                         seeds->circuit->name, params->circuit->name);
    else
        s = prove_partition(proof, cuzk, params, &seeds->seeds);
    return api_result(&s, error);
}

/* ---- whole proofs ---- */

static struct status verify_all(const struct verifying_key *key, const struct porep_public *public,
                                uint32_t partitions, const uint8_t *bytes, const struct work *work)
{
    uint32_t count = porep_inputs_count(public->sector) - 1;
    fr *inputs = mem_alloc((size_t)partitions * count, sizeof *inputs);
    fr *one = mem_alloc(count + 1, sizeof *one);
    struct proof *proofs = mem_alloc(partitions, sizeof *proofs);
    struct status s = status_ok();
    if (inputs == NULL || one == NULL || proofs == NULL)
        s = mem_failed("verification", partitions, count * sizeof *inputs);
    for (uint32_t k = 0; k < partitions && !status_failed(&s); k++) {
        porep_inputs(one, public, k);
        memcpy(inputs + (size_t)k * count, one + 1, count * sizeof *one);
        s = proof_decode(&proofs[k], bytes + (size_t)k * PROOF_BYTES);
        if (status_failed(&s)) /* not a point, or of the wrong order: such bytes are no valid proof */
            s = status_within(status_error(STATUS_REJECTED, "%s", s.message), "partition %u", k);
    }
    if (!status_failed(&s))
        s = proof_verify_batch(key, proofs, partitions, inputs, count, work);
    mem_free(inputs);
    mem_free(one);
    mem_free(proofs);
    return s;
}

static struct status prove_all(uint8_t *bytes, struct cuzk *cuzk, const struct cuzk_params *params,
                               const struct c1 *c1, const struct porep_public *public)
{
    for (uint32_t k = 0; k < c1->partitions; k++) {
        struct seeds seeds = {0};
        TRY(synthesise(&seeds, params->circuit, c1, k));
        struct status s = prove_partition(bytes + (size_t)k * PROOF_BYTES, cuzk, params, &seeds);
        seeds_end(&seeds);
        if (status_failed(&s))
            return status_within(s, "partition %u", k);
    }
    struct work work = api_work(cuzk, PRIORITY_NORMAL);
    return verify_all(&params->image.key, public, c1->partitions, bytes, &work);
}

enum cuzk_code cuzk_prove(uint8_t *proof, size_t size, struct cuzk *cuzk, const struct cuzk_params *params,
                          const struct cuzk_c1 *c1, uint64_t miner_id, uint64_t sector_number,
                          struct cuzk_error *error)
{
    struct porep_public public;
    uint8_t bytes[PARTITIONS_MAX * PROOF_BYTES];
    size_t want = (size_t)c1->c1.partitions * PROOF_BYTES;
    struct status s = status_ok();
    if (size != want)
        s = status_error(STATUS_INVALID, "room for %zu bytes of proof, %u partitions give %zu", size,
                         c1->c1.partitions, want);
    if (!status_failed(&s))
        s = api_check_c1(&public, cuzk, &c1->c1, miner_id, sector_number);
    if (!status_failed(&s))
        s = prove_all(bytes, cuzk, params, &c1->c1, &public);
    if (!status_failed(&s))
        memcpy(proof, bytes, want);
    return api_result(&s, error);
}

static struct status verify_seal(struct cuzk *cuzk, const uint8_t *vk, size_t vk_size,
                                 const struct cuzk_seal *seal, const uint8_t *proof, size_t proof_size)
{
    if (seal->registered_number >= REGISTERED_SEALS)
        return status_error(STATUS_INVALID, "registered proof %u does not exist", seal->registered_number);
    const struct registered_seal *registered = &REGISTERED_SEAL[seal->registered_number];
    uint32_t partitions = registered->sector->partitions;
    struct porep_public public;
    TRY(porep_public_from_sector(&public, registered, seal->miner_id, seal->sector_number, seal->ticket,
                                 seal->seed, seal->comm_r, seal->comm_d));
    if (proof_size != (size_t)partitions * PROOF_BYTES)
        return status_error(STATUS_INVALID, "proof is %zu bytes long; %s has %u partitions, %zu bytes",
                            proof_size, registered->name, partitions, (size_t)partitions * PROOF_BYTES);
    struct verifying_key key;
    size_t used;
    TRY(vk_read(&key, vk, vk_size, &used));
    struct status s = status_ok();
    if (key.ic_count != porep_inputs_count(registered->sector)) {
        s = status_hint(status_error(STATUS_INVALID,
                                     "verifying key is of another circuit: it has %u inputs, %s has %u",
                                     key.ic_count, registered->name, porep_inputs_count(registered->sector)),
                        "give the .vk file of this kind and sector size");
    } else {
        struct work work = api_work(cuzk, PRIORITY_HIGH);
        s = verify_all(&key, &public, partitions, proof, &work);
    }
    vk_end(&key);
    return s;
}

enum cuzk_code cuzk_verify(struct cuzk *cuzk, const uint8_t *vk, size_t vk_size, const struct cuzk_seal *seal,
                           const uint8_t *proof, size_t proof_size, struct cuzk_error *error)
{
    struct status s = verify_seal(cuzk, vk, vk_size, seal, proof, proof_size);
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
