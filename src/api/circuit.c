/* Circuits and C1 outputs of the public library. */
#include "api/internal.h"

#include "base/mem.h"
#include "filecoin/check.h"
#include "filecoin/porep.h"
#include "groth16/setup.h"

#include <string.h>

struct status api_porep_sector(const struct sector_size **out, const char *circuit)
{
    enum proof_kind kind;
    if (!circuit_by_name(&kind, out, circuit))
        return status_hint(status_error(STATUS_INVALID, "no circuit is called \"%.60s\"", circuit),
                           "circuits are porep-2k, porep-8m, porep-512m, porep-32g, porep-64g");
    if (kind != PROOF_POREP)
        return status_error(STATUS_UNSUPPORTED, "circuit %s: kind %s is not in this version", circuit,
                            proof_kind_name(kind));
    return status_ok();
}

enum cuzk_code cuzk_circuit_open(struct cuzk_circuit **out, struct cuzk *cuzk, const char *name,
                                 struct cuzk_error *error)
{
    *out = NULL;
    struct status s = status_ok();
    struct cuzk_circuit *circuit = mem_alloc_zero(1, sizeof *circuit);
    if (circuit == NULL) {
        s = mem_failed("circuit", 1, sizeof *circuit);
        return api_result(&s, error);
    }
    circuit->device = cuzk->device;
    TRY_OUT(api_porep_sector(&circuit->sector, name));
    circuit_name(circuit->name, PROOF_POREP, circuit->sector);
    TRY_OUT(porep_shape(&circuit->shape, circuit->sector));
    s = cuzk->device->operations->load_shape(&circuit->loaded, cuzk->device, circuit->shape);
out:
    if (status_failed(&s))
        cuzk_circuit_close(circuit);
    else
        *out = circuit;
    return api_result(&s, error);
}

void cuzk_circuit_close(struct cuzk_circuit *circuit)
{
    if (circuit == NULL)
        return;
    if (circuit->loaded != NULL)
        circuit->device->operations->drop_shape(circuit->device, circuit->loaded);
    shape_release(circuit->shape);
    mem_free(circuit);
}

enum cuzk_code cuzk_circuit_facts(struct cuzk_circuit_facts *out, struct cuzk *cuzk,
                                  const struct cuzk_circuit *circuit, struct cuzk_error *error)
{
    struct params_counts counts;
    struct device_plan plan;
    shape_params_counts(&counts, circuit->shape);
    struct status s = cuzk->device->operations->plan(&plan, cuzk->device, circuit->shape, &counts);
    if (status_failed(&s))
        return api_result(&s, error);
    out->name = circuit->name;
    out->inputs = circuit->shape->inputs;
    out->aux = circuit->shape->aux;
    out->rows = circuit->shape->rows;
    out->log2_domain = shape_log2_domain(circuit->shape);
    out->shape_bytes = shape_bytes(circuit->shape);
    out->image_bytes = image_bytes(&counts);
    out->proof_bytes = plan.proof_peak[MEMORY_HOST];
    memcpy(out->digest, circuit->shape->digest, sizeof out->digest);
    return CUZK_OK;
}

/* ---- C1 outputs ---- */

static struct status read_c1(struct cuzk_c1 *out, const uint8_t *data, size_t size)
{
    if (size > C1_BYTES_MAX)
        return status_error(STATUS_INVALID, "C1 output is %zu bytes long; the longest that can be is %llu",
                            size, (unsigned long long)C1_BYTES_MAX);
    uint8_t *padded = mem_alloc(size + C1_PADDING, 1);
    if (padded == NULL)
        return mem_failed("C1 output", size + C1_PADDING, 1);
    memcpy(padded, data, size);
    memset(padded + size, 0, C1_PADDING);
    struct status s = c1_parse(&out->c1, padded, size);
    mem_free(padded);
    return s;
}

enum cuzk_code cuzk_c1_read(struct cuzk_c1 **out, const uint8_t *data, size_t size, struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk_c1 *c1 = mem_alloc_zero(1, sizeof *c1);
    struct status s = c1 == NULL ? mem_failed("C1 output", 1, sizeof *c1) : read_c1(c1, data, size);
    if (status_failed(&s)) {
        mem_free(c1);
        return api_result(&s, error);
    }
    circuit_name(c1->circuit, PROOF_POREP, c1->c1.sector);
    *out = c1;
    return CUZK_OK;
}

void cuzk_c1_end(struct cuzk_c1 *c1)
{
    if (c1 == NULL)
        return;
    c1_end(&c1->c1);
    mem_free(c1);
}

void cuzk_c1_facts(struct cuzk_c1_facts *out, const struct cuzk_c1 *c1)
{
    const struct c1 *c = &c1->c1;
    *out = (struct cuzk_c1_facts){
        .registered_proof = c->seal->name,
        .registered_number = c->seal->number,
        .circuit = c1->circuit,
        .sector_bytes = sector_bytes(c->sector),
        .partitions = c->partitions,
        .challenges_per_partition = c->challenges,
        .has_sector_number = c->wrapped,
        .sector_number = c->sector_number,
    };
    memcpy(out->comm_r, c->comm_r, 32);
    memcpy(out->comm_d, c->comm_d, 32);
    memcpy(out->replica_id, c->replica_id, 32);
    memcpy(out->seed, c->seed, 32);
    memcpy(out->ticket, c->ticket, 32);
}

struct status api_check_c1(struct porep_public *public, struct cuzk *cuzk, const struct c1 *c1,
                           uint64_t miner, uint64_t sector_number)
{
    struct work work = api_work(cuzk, PRIORITY_NORMAL);
    if (c1->wrapped && c1->sector_number != sector_number)
        return status_error(STATUS_INVALID, "C1 output is of sector %llu, the request of sector %llu",
                            (unsigned long long)c1->sector_number, (unsigned long long)sector_number);
    TRY(porep_check_sector(c1, miner, sector_number));
    TRY(porep_public_from_c1(public, c1));
    TRY(c1_check(c1, public, &work));
    for (uint32_t k = 0; k < c1->partitions; k++)
        TRY(porep_check_inputs(public, c1, k));
    return status_ok();
}

enum cuzk_code cuzk_c1_check(struct cuzk *cuzk, const struct cuzk_c1 *c1, uint64_t miner_id,
                             uint64_t sector_number, struct cuzk_error *error)
{
    struct porep_public public;
    struct status s = api_check_c1(&public, cuzk, &c1->c1, miner_id, sector_number);
    return api_result(&s, error);
}
