/* Proving and verifying. Nothing leaves before it verifies: each partition against the inputs of its own
 * witness, and the whole against the vector that a verifier derives from public values alone. */
#include "api/internal.h"

#include "base/mem.h"

#include <string.h>

_Static_assert(CUZK_PROOF_BYTES == PROOF_BYTES, "one length");

/* ---- partitions ---- */

static struct status synthesise(struct seeds *out, const struct cuzk_circuit *circuit,
                                const struct cuzk_request *request, uint32_t k)
{
    const struct request_outline *facts = request_facts(request->request);
    if (facts->kind != circuit->kind || facts->sector != circuit->sector)
        return status_error(STATUS_INVALID, "the request is for circuit %s, not %s", facts->circuit,
                            circuit->name);
    if (k >= facts->partitions)
        return status_error(STATUS_INVALID, "partition %u does not exist: the request has %u", k,
                            facts->partitions);
    return request_seeds(out, request->request, circuit->shape, k);
}

enum cuzk_code cuzk_synthesise(struct cuzk_seeds **out, const struct cuzk_circuit *circuit,
                               const struct cuzk_request *request, uint32_t partition,
                               struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk_seeds *seeds = mem_alloc_zero(1, sizeof *seeds);
    struct status s = seeds == NULL ? mem_failed("witness", 1, sizeof *seeds)
                                    : synthesise(&seeds->seeds, circuit, request, partition);
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

/* The paths of a long Window list are checked by the circuit alone: a proof that does not verify may be due
 * to the request. */
static struct status explain(struct status s, struct cuzk *cuzk, const struct cuzk_request *request)
{
    struct work work = api_work(cuzk, PRIORITY_NORMAL);
    if (s.code != STATUS_DEVICE && s.code != STATUS_REJECTED)
        return s;
    struct status cause = request_diagnose(request->request, &work);
    return status_failed(&cause) ? cause : s;
}

static struct status prove_all(uint8_t *bytes, struct cuzk *cuzk, const struct cuzk_params *params,
                               const struct cuzk_request *request)
{
    uint32_t partitions = request_facts(request->request)->partitions;
    for (uint32_t k = 0; k < partitions; k++) {
        struct seeds seeds = {0};
        TRY(synthesise(&seeds, params->circuit, request, k));
        struct status s = prove_partition(bytes + (size_t)k * PROOF_BYTES, cuzk, params, &seeds);
        seeds_end(&seeds);
        if (status_failed(&s))
            return status_within(explain(s, cuzk, request), "partition %u", k);
    }
    struct work work = api_work(cuzk, PRIORITY_NORMAL);
    struct status s =
        api_verify(&params->image.key, &request->statement, bytes, (size_t)partitions * PROOF_BYTES, &work);
    return status_failed(&s) ? explain(s, cuzk, request) : s;
}

enum cuzk_code cuzk_prove(uint8_t *proof, size_t size, struct cuzk *cuzk, const struct cuzk_params *params,
                          const struct cuzk_request *request, struct cuzk_error *error)
{
    const struct request_outline *facts = request_facts(request->request);
    size_t want = (size_t)facts->partitions * PROOF_BYTES;
    uint8_t *bytes = mem_alloc(want, 1);
    struct status s = status_ok();
    if (bytes == NULL)
        s = mem_failed("proof", want, 1);
    else if (size != want)
        s = status_error(STATUS_INVALID, "room for %zu bytes of proof, %u partitions give %zu", size,
                         facts->partitions, want);
    else
        s = prove_all(bytes, cuzk, params, request);
    if (!status_failed(&s))
        memcpy(proof, bytes, want);
    mem_free(bytes);
    return api_result(&s, error);
}
