/* A whole PoRep of a really sealed 2 KiB sector through the service and the CPU backend: the C1 output is let
 * go as soon as it is decoded, a cancelled job frees the device at once, the proof stands. The parameters
 * come from the fixture porep_2k_params (CUZK_TEST_PARAMS names the file). */
#include "base/file.h"
#include "base/mem.h"
#include "engine/service.h"
#include "filecoin/c1.h"
#include "groth16/params.h"
#include "service_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint8_t *c1;
static size_t c1_size;
static char folder[4096];
static struct engine_service *service;

static void start(void)
{
    static const char *const CIRCUITS[] = {"porep-2k"};
    struct service_options o = {.engine = {.partition_workers = 2,
                                           .synthesis_lookahead = 1,
                                           .finishers = 1,
                                           .workers_per_device = 1,
                                           .max_queue = 8,
                                           .max_queue_bytes = 1 << 26,
                                           .host_budget = UINT64_C(4) << 30,
                                           .orphan_ms = 60000,
                                           .retention_ms = 60000,
                                           .permit_until_queued = true},
                                .circuits = CIRCUITS,
                                .circuits_count = 1,
                                .param_cache = folder,
                                .allow_test_params = true,
                                .threads = 2};
    rig_must(service_start(&service, &o));
}

static void on_released(void *owner)
{
    struct caller *c = owner;
    memset((uint8_t *)(uintptr_t)c->vanilla[0].data, 0xff,
           c->vanilla[0].size); /* whoever reads it now is caught */
    atomic_fetch_add(&c->released, 1);
}

static void make(struct caller *c, const char *request_id)
{
    memset(c, 0, sizeof *c);
    uint8_t *copy = mem_alloc_zero(c1_size + C1_PADDING, 1);
    memcpy(copy, c1, c1_size);
    c->vanilla[0] = (struct bytes_view){copy, c1_size};
    c->submit = (struct service_submit){.request_id = request_id,
                                        .request = {.kind = PROOF_POREP,
                                                    .registered_proof = 5,
                                                    .sector_size = 2048,
                                                    .miner = 1000,
                                                    .sector_number = 1,
                                                    .vanilla = c->vanilla,
                                                    .vanilla_count = 1},
                                        .owner = c,
                                        .release_owner = on_released,
                                        .priority = PRIORITY_NORMAL};
}

static void end(struct caller *c)
{
    mem_free((uint8_t *)(uintptr_t)c->vanilla[0].data);
}

static bool stands(const uint8_t bytes[PROOF_BYTES])
{
    const struct work here = {NULL, PRIORITY_NORMAL, NULL};
    struct caller c;
    struct request *request;
    struct params_file file;
    struct proof proof;
    make(&c, "");
    rig_must(request_open(&request, &c.submit.request, &here));
    uint32_t count = circuit_inputs(PROOF_POREP, request_facts(request)->sector);
    fr *inputs = mem_alloc(count, sizeof *inputs);
    rig_must(request_inputs(inputs, request, 0));
    rig_must(params_open(&file, getenv("CUZK_TEST_PARAMS")));
    struct status s = proof_decode(&proof, bytes);
    if (!status_failed(&s))
        s = proof_verify(&file.key, &proof, inputs, count);
    params_close(&file);
    mem_free(inputs);
    request_end(request);
    end(&c);
    return !status_failed(&s);
}

static struct service_view *look(void)
{
    static struct service_view v;
    service_look(service, &v);
    return &v;
}

static void test_porep(void **state)
{
    (void)state;
    struct caller c, wrong, cancelled;
    struct answer a;
    char id[40], id2[40], id3[40];
    uint32_t position;
    bool was;
    size_t before = mem_used();
    start();
    make(&wrong, "wrong");
    wrong.submit.request.sector_number = 2;
    rig_must(service_submit(service, id2, &position, &wrong.submit));
    make(&c, "porep-1000-1");
    rig_must(service_submit(service, id, &position, &c.submit));
    UNTIL(atomic_load(&c.released) == 1); /* decoded, and long before it ends */
    assert_int_equal(look()->completed[PROOF_POREP], 0);
    assert_int_equal(await_job(service, &a, id2, 0), JOB_FAILED);
    assert_int_equal(a.result.status.code, STATUS_INVALID);
    assert_int_equal(await_job(service, &a, id, 0), JOB_COMPLETED);
    assert_int_equal(a.result.proof_size, PROOF_BYTES);
    assert_true(stands(a.proof));

    make(&cancelled, "cancelled");
    rig_must(service_submit(service, id3, &position, &cancelled.submit));
    UNTIL(look()->counts.devices_busy == 1);
    rig_must(service_cancel(service, id3, &was));
    assert_true(was);
    UNTIL(look()->counts.devices_busy == 0 && look()->counts.lease_bytes == 0 &&
          look()->circuits[0].references == 0);
    assert_int_equal(await_job(service, &a, id3, 0), JOB_CANCELLED);
    service_end(service);
    assert_int_equal(atomic_load(&cancelled.released), 1);
    end(&c);
    end(&wrong);
    end(&cancelled);
    assert_int_equal(mem_used(), before);
}

int main(void)
{
    const char *params = getenv("CUZK_TEST_PARAMS");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_porep)};
    if (params == NULL) {
        fprintf(stderr, "CUZK_TEST_PARAMS names the parameter file of porep-2k\n");
        return 1;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(params, '/') - params), params);
    rig_must(file_read(&c1, &c1_size, CUZK_TEST_DATA "/porep-2k/c1-wrapped.json", 1 << 24, 0));
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    mem_free(c1);
    return result;
}
