/* Parameters of the public library: opening them (open.h does it), making them. */
#include "api/internal.h"

#include "api/open.h"
#include "base/mem.h"
#include "groth16/setup.h"

#include <stdio.h>
#include <string.h>

enum cuzk_code cuzk_params_open(struct cuzk_params **out, struct cuzk *cuzk,
                                const struct cuzk_circuit *circuit, const char *path, const char *state_dir,
                                uint32_t flags, cuzk_progress *progress, void *context,
                                struct cuzk_error *error)
{
    *out = NULL;
    struct status s = status_ok();
    struct open_options o = {.circuit = circuit->name,
                             .kind = circuit->kind,
                             .sector = circuit->sector,
                             .shape = circuit->shape,
                             .path = path,
                             .state_dir = state_dir,
                             .flags = flags,
                             .admit_hint = "--allow-test-params",
                             .progress = progress,
                             .context = context,
                             .work = api_work(cuzk, PRIORITY_NORMAL)};
    struct cuzk_params *params = mem_alloc_zero(1, sizeof *params);
    if (params == NULL) {
        s = mem_failed("parameters", 1, sizeof *params);
        return api_result(&s, error);
    }
    params->circuit = circuit;
    o.device = cuzk->device;
    o.loaded = &params->loaded;
    s = api_open_image(&params->image, &o);
    if (!status_failed(&s) && params->loaded == NULL)
        s = cuzk->device->operations->load_srs(&params->loaded, cuzk->device, &params->image);
    if (status_failed(&s)) {
        image_end(&params->image);
        mem_free(params);
        return api_result(&s, error);
    }
    params->device = cuzk->device;
    *out = params;
    return CUZK_OK;
}

void cuzk_params_close(struct cuzk_params *params)
{
    if (params == NULL)
        return;
    params->device->operations->drop_srs(params->device, params->loaded);
    image_end(&params->image);
    mem_free(params);
}

enum cuzk_code cuzk_params_path(char *path, size_t size, const char *circuit, const char *directory,
                                struct cuzk_error *error)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    struct status s = api_circuit(&kind, &sector, circuit);
    if (!status_failed(&s))
        s = api_parameter_path(path, size, kind, sector, directory, "params");
    return api_result(&s, error);
}

enum cuzk_code cuzk_setup(struct cuzk *cuzk, const struct cuzk_circuit *circuit, const char *directory,
                          const char *test_seed, cuzk_progress *progress, void *context,
                          struct cuzk_error *error)
{
    char params[4096], vk[4096];
    struct toxic toxic;
    struct status s =
        api_parameter_path(params, sizeof params, circuit->kind, circuit->sector, directory, "params");
    if (!status_failed(&s))
        s = api_parameter_path(vk, sizeof vk, circuit->kind, circuit->sector, directory, "vk");
    if (!status_failed(&s))
        s = test_seed == NULL ? toxic_random(&toxic) : toxic_from_name(&toxic, test_seed);
    if (!status_failed(&s)) {
        struct work work = api_work(cuzk, PRIORITY_NORMAL);
        struct api_progress p;
        api_progress_start(&p, progress, context, "making parameters", setup_steps(circuit->shape));
        s = cuzk->device->operations->setup == NULL
                ? setup_run(params, vk, circuit->shape, &toxic, NULL, &work, &p.done)
                : cuzk->device->operations->setup(params, vk, cuzk->device, circuit->loaded, &toxic, &work,
                                                  &p.done);
        api_progress_end(&p);
    }
    toxic_wipe(&toxic);
    return api_result(&s, error);
}
