/* Circuits of the public library. */
#include "api/internal.h"

#include "base/mem.h"
#include "groth16/setup.h"

#include <string.h>

struct status api_circuit(enum proof_kind *kind, const struct sector_size **sector, const char *circuit)
{
    if (!circuit_by_name(kind, sector, circuit))
        return status_hint(status_error(STATUS_INVALID, "no circuit is called \"%.60s\"", circuit),
                           "circuits are porep-, winning-, wpost- or snap- with 2k, 8m, 512m, 32g or 64g");
    if (*kind == PROOF_SNAP_POSEIDON)
        return status_error(STATUS_UNSUPPORTED, "circuit %s is not in this version", circuit);
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
    TRY_OUT(api_circuit(&circuit->kind, &circuit->sector, name));
    circuit_name(circuit->name, circuit->kind, circuit->sector);
    TRY_OUT(circuit_shape(&circuit->shape, circuit->kind, circuit->sector));
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

enum cuzk_code cuzk_circuit_save(const struct cuzk_circuit *circuit, const char *path,
                                 struct cuzk_error *error)
{
    struct status s = shape_save(circuit->shape, path);
    return api_result(&s, error);
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
