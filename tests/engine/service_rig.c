/* See service_rig.h. */
#include "service_rig.h"

#include "api/open.h"
#include "base/file.h"
#include "base/mem.h"
#include "groth16/setup.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

void rig_must(struct status s)
{
    if (status_failed(&s)) {
        fprintf(stderr, "unexpected error: %s | %s | %s\n", s.message, s.detail, s.hint);
        abort();
    }
}

/* ---- parameters ---- */

static void make_params(const char *circuit, struct pool *pool)
{
    enum proof_kind kind;
    const struct sector_size *sector;
    struct shape *shape;
    struct toxic toxic;
    char params[4096], vk[4096];
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    assert_true(circuit_by_name(&kind, &sector, circuit));
    rig_must(api_parameter_path(params, sizeof params, kind, sector, CUZK_TEST_PARAMS_DIR, "params"));
    rig_must(api_parameter_path(vk, sizeof vk, kind, sector, CUZK_TEST_PARAMS_DIR, "vk"));
    if (access(params, R_OK) == 0 && access(vk, R_OK) == 0)
        return;
    rig_must(circuit_shape(&shape, kind, sector));
    rig_must(toxic_from_name(&toxic, "engine tests"));
    rig_must(setup_run(params, vk, shape, &toxic, NULL, &work, NULL));
    shape_release(shape);
}

const char *rig_params(void)
{
    struct pool *pool;
    mkdir(CUZK_TEST_PARAMS_DIR, 0777);
    rig_must(pool_start(&pool, 0));
    make_params(WINDOW, pool);
    make_params(WINNING, pool);
    pool_end(pool);
    return CUZK_TEST_PARAMS_DIR;
}

/* ---- requests ---- */

void golden_read(struct golden *g)
{
    static const char *const FILES[3] = {"window-2k/v1_2-sector-1.vproof", "window-2k/v1_2-sector-2.vproof",
                                         "winning-2k/sector-1.vproof"};
    for (int i = 0; i < 3; i++) {
        char path[512];
        size_t size;
        snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, FILES[i]);
        rig_must(file_read(&g->bytes[i], &size, path, 1 << 20, 64));
        *(i < 2 ? &g->window[i] : &g->winning[0]) = (struct bytes_view){g->bytes[i], size};
    }
}

void golden_end(struct golden *g)
{
    for (int i = 0; i < 3; i++)
        mem_free(g->bytes[i]);
}

static void on_released(void *owner)
{
    struct caller *c = owner;
    atomic_fetch_add(&c->released, 1);
}

void caller_make(struct caller *c, const struct golden *g, enum proof_kind kind, const char *request_id)
{
    bool window = kind == PROOF_WINDOW;
    memset(c, 0, sizeof *c);
    c->vanilla[0] = window ? g->window[0] : g->winning[0];
    c->vanilla[1] = g->window[1];
    memset(c->randomness, window ? 8 : 7, sizeof c->randomness);
    c->submit = (struct service_submit){.request_id = request_id,
                                        .request = {.kind = kind,
                                                    .registered_proof = window ? 10 : 0,
                                                    .miner = 1000,
                                                    .randomness = {c->randomness, 32},
                                                    .vanilla = c->vanilla,
                                                    .vanilla_count = window ? 2 : 1},
                                        .owner = c,
                                        .release_owner = on_released,
                                        .priority = window ? PRIORITY_HIGH : PRIORITY_CRITICAL};
}

bool proof_stands(const struct caller *c, const uint8_t *bytes, const char *circuit)
{
    const struct work here = {NULL, PRIORITY_NORMAL, NULL};
    enum proof_kind kind;
    const struct sector_size *sector;
    struct request *request;
    struct verifying_key key;
    struct proof proof;
    uint8_t *vk;
    size_t size;
    char path[4096];
    assert_true(circuit_by_name(&kind, &sector, circuit));
    rig_must(api_parameter_path(path, sizeof path, kind, sector, CUZK_TEST_PARAMS_DIR, "vk"));
    rig_must(file_read(&vk, &size, path, 1 << 20, 0));
    rig_must(vk_read(&key, vk, size, NULL));
    rig_must(request_open(&request, &c->submit.request, &here));
    uint32_t count = circuit_inputs(kind, sector);
    fr *inputs = mem_alloc(count, sizeof *inputs);
    rig_must(request_inputs(inputs, request, 0));
    struct status s = proof_decode(&proof, bytes);
    if (!status_failed(&s))
        s = proof_verify(&key, &proof, inputs, count);
    mem_free(inputs);
    mem_free(vk);
    vk_end(&key);
    request_end(request);
    return !status_failed(&s);
}

/* ---- answers ---- */

void answer_start(struct answer *a)
{
    memset(a, 0, sizeof *a);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->came, NULL);
}

void answer_end(struct answer *a)
{
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->came);
}

void answer_callback(void *context, const struct job_result *result)
{
    struct answer *a = context;
    pthread_mutex_lock(&a->lock);
    a->count++;
    a->result = *result;
    a->result.proof = NULL;
    if (result->proof_size > 0) {
        CHECK(result->proof_size <= sizeof a->proof);
        memcpy(a->proof, result->proof, result->proof_size);
    }
    pthread_cond_broadcast(&a->came);
    pthread_mutex_unlock(&a->lock);
}

enum job_state answer_wait(struct answer *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->count == 0)
        pthread_cond_wait(&a->came, &a->lock);
    enum job_state state = a->result.state;
    pthread_mutex_unlock(&a->lock);
    return state;
}

enum job_state await_job(struct engine_service *s, struct answer *a, const char *id, uint64_t timeout_ms)
{
    uint64_t waiter;
    answer_start(a);
    rig_must(service_await(s, &waiter, id, timeout_ms, answer_callback, a));
    enum job_state state = answer_wait(a);
    answer_end(a);
    return state;
}

/* ---- beginning and end ---- */

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    CHECK(d != NULL);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

int threads_now(void)
{
    return entries("/proc/self/task");
}

int files_now(void)
{
    return entries("/proc/self/fd");
}

static void on_log(void *context, int level, const char *text)
{
    struct service_rig *rig = context;
    pthread_mutex_lock(&rig->log_lock);
    size_t used = strlen(rig->log);
    snprintf(rig->log + used, sizeof rig->log - used, "%d %s\n", level, text);
    pthread_mutex_unlock(&rig->log_lock);
}

bool service_rig_logged(struct service_rig *rig, const char *text)
{
    pthread_mutex_lock(&rig->log_lock);
    bool found = strstr(rig->log, text) != NULL;
    pthread_mutex_unlock(&rig->log_lock);
    return found;
}

void service_rig_start(struct service_rig *rig, void (*change)(struct service_options *options))
{
    static const char *const CIRCUITS[] = {WINDOW, WINNING};
    memset(rig, 0, sizeof *rig);
    pthread_mutex_init(&rig->log_lock, NULL);
    rig->mem_before = mem_used();
    rig->threads_before = threads_now();
    rig->files_before = files_now();
    snprintf(rig->state_dir, sizeof rig->state_dir, "/tmp/cuzk-service-XXXXXX");
    assert_non_null(mkdtemp(rig->state_dir));
    golden_read(&rig->golden);
    rig_must(pool_start(&rig->pool, 2));
    test_device_open(&rig->device, rig->pool);
    struct device *devices[1] = {&rig->device.device};
    struct service_options options = {.engine = {.partition_workers = 2,
                                                 .synthesis_lookahead = 1,
                                                 .finishers = 1,
                                                 .workers_per_device = 1,
                                                 .max_queue = 16,
                                                 .max_queue_bytes = 1 << 24,
                                                 .host_budget = UINT64_C(1) << 32,
                                                 .orphan_ms = 60000,
                                                 .retention_ms = 60000,
                                                 .permit_until_queued = true},
                                      .circuits = CIRCUITS,
                                      .circuits_count = 2,
                                      .param_cache = CUZK_TEST_PARAMS_DIR,
                                      .state_dir = rig->state_dir,
                                      .allow_test_params = true,
                                      .threads = 2,
                                      .devices = devices,
                                      .devices_count = 1,
                                      .log = on_log,
                                      .log_context = rig};
    if (change != NULL)
        change(&options);
    rig_must(service_start(&rig->service, &options));
}

static void remove_folder(const char *path)
{
    char inner[600];
    DIR *d = opendir(path);
    struct dirent *e;
    while (d != NULL && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (unlink(inner) != 0)
            remove_folder(inner);
    }
    if (d != NULL)
        closedir(d);
    rmdir(path);
}

void service_rig_end(struct service_rig *rig)
{
    service_end(rig->service);
    test_device_close(&rig->device);
    pool_end(rig->pool);
    golden_end(&rig->golden);
    remove_folder(rig->state_dir);
    pthread_mutex_destroy(&rig->log_lock);
    UNTIL(threads_now() == rig->threads_before); /* a detached thread may take a moment to go */
    assert_int_equal(mem_used(), rig->mem_before);
    assert_int_equal(files_now(), rig->files_before);
}
