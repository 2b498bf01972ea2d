/* The circuits that can be served: shape and parameters, loaded on demand by a thread of their own each, so
 * that a small circuit never waits for a large one; kept until evicted; counted references. A shape is built,
 * not cached: the largest takes 0.3 s, as long as reading it would. */
#include "engine/service_internal.h"

#include "api/open.h"
#include "base/mem.h"
#include "engine/plan.h"

#include <stdio.h>
#include <string.h>

struct circuit *circuit_find(struct engine_service *s, const char *name)
{
    for (uint32_t i = 0; i < s->circuits_count; i++)
        if (strcmp(s->circuits[i].name, name) == 0)
            return &s->circuits[i];
    return NULL;
}

void content_drop(struct engine_service *s, struct content *c)
{
    for (uint32_t d = 0; d < s->devices_all; d++) {
        if (c->srs[d] != NULL)
            s->devices[d]->operations->drop_srs(s->devices[d], c->srs[d]);
        if (c->shapes[d] != NULL)
            s->devices[d]->operations->drop_shape(s->devices[d], c->shapes[d]);
    }
    image_end(&c->image);
    shape_release(c->shape);
    memset(c, 0, sizeof *c);
}

/* ---- loading ---- */

static void on_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct circuit *c = context;
    struct engine_service *s = c->service;
    uint64_t now = service_clock_ms();
    if (now - c->said_ms < 5000 || s->log == NULL)
        return;
    char text[160];
    c->said_ms = now;
    snprintf(text, sizeof text, "%s: %s, %u %%", c->name, what,
             total == 0 ? 0 : (unsigned)(done * 100 / total));
    s->log(s->log_context, 2, text);
}

static uint32_t devices_of(const struct engine_service *s, const struct circuit *c)
{
    return c->kind == PROOF_WINNING ? s->devices_all : s->devices_count;
}

/* Where one device alone wants them, parameters need not pass through the host's memory. */
static struct status load_image(struct engine_service *s, struct circuit *c, const struct work *work)
{
    char path[4096];
    struct device *alone = devices_of(s, c) == 1 ? s->devices[0] : NULL;
    if (alone != NULL && alone->operations->load_params != NULL)
        TRY(alone->operations->load_shape(&c->content.shapes[0], alone, c->content.shape));
    TRY(api_parameter_path(path, sizeof path, c->kind, c->sector, s->param_cache, "params"));
    struct open_options options = {.circuit = c->name,
                                   .kind = c->kind,
                                   .sector = c->sector,
                                   .shape = c->content.shape,
                                   .path = path,
                                   .state_dir = s->state_dir,
                                   .flags = s->allow_test_params ? CUZK_ALLOW_TEST_PARAMS : 0,
                                   .trusted = s->trusted,
                                   .trusted_count = s->trusted_count,
                                   .admit_hint = "srs.allow_test_params = true",
                                   .progress = on_progress,
                                   .context = c,
                                   .work = *work,
                                   .device = alone,
                                   .loaded = &c->content.srs[0]};
    struct status status = api_open_image(&c->content.image, &options);
    if (status.code == STATUS_MISSING && status.hint[0] == 0)
        status = status_hint(status, "fetch the parameters, or set srs.param_cache to where they are");
    return status;
}

static struct status load_devices(struct engine_service *s, struct circuit *c, struct engine_circuit *facts)
{
    uint32_t count = devices_of(s, c);
    TRY(plan_facts(facts, c->content.shape, &c->content.image.counts, s->devices, count));
    for (uint32_t d = 0; d < count; d++) {
        struct device *device = s->devices[d];
        if (c->content.shapes[d] == NULL)
            TRY(device->operations->load_shape(&c->content.shapes[d], device, c->content.shape));
        if (c->content.srs[d] == NULL)
            TRY(device->operations->load_srs(&c->content.srs[d], device, &c->content.image));
    }
    return status_ok();
}

static struct status load(struct engine_service *s, struct circuit *c, struct engine_circuit *facts)
{
    bool urgent = c->kind == PROOF_WINNING || c->kind == PROOF_WINDOW;
    struct work work = {s->pool, urgent ? PRIORITY_HIGH : PRIORITY_NORMAL, &s->loads_cancel};
    TRY(circuit_shape(&c->content.shape, c->kind, c->sector));
    if (work_cancelled(&work))
        return work_cancelled_status();
    TRY(load_image(s, c, &work));
    return load_devices(s, c, facts);
}

/* How long the jobs that wait for it have waited. */
static void charge_waiting(struct engine_service *s, struct circuit *c, uint64_t now)
{
    for (struct record *r = s->live_first; r != NULL; r = r->live_after)
        if (&s->circuits[r->circuit] == c)
            r->load_ms += now - (r->submitted_ms > c->began_ms ? r->submitted_ms : c->began_ms);
}

static void load_ended(struct engine_service *s, struct circuit *c, const struct status *status,
                       const struct engine_circuit *facts)
{
    struct engine_event event = {
        .kind = EVENT_CIRCUIT, .circuit = c->number, .status = *status, .facts = *facts};
    uint64_t now = service_clock_ms();
    c->used_ms = now;
    c->load_ms = now - c->began_ms;
    charge_waiting(s, c, now);
    histogram_add(&s->metrics.stage[c->kind][METRIC_LOAD], c->load_ms);
    if (status_failed(status)) {
        c->state = HERE_FAILED;
        c->failure = *status;
        service_say(s, 0, "%s cannot be loaded: %s%s%s", c->name, status->message,
                    status->hint[0] != 0 ? "; " : "", status->hint);
    } else {
        c->state = HERE_READY;
        c->bytes = facts->load_bytes;
        service_say(s, 2,
                    "%s is loaded: %.1f MiB in %.3f s; a partition holds %.1f MiB, and %.1f MiB on a device",
                    c->name, (double)c->bytes / 1048576, (double)c->load_ms / 1000,
                    (double)facts->seeds_bytes / 1048576,
                    (double)(facts->seeds_bytes + facts->proof_bytes) / 1048576);
    }
    service_step(s, &event);
    pthread_cond_broadcast(&s->changed);
}

/* A thread that service_end waits for by number: after this it touches nothing of the service. */
static void gone(struct engine_service *s, uint32_t *number)
{
    pthread_mutex_lock(&s->lock);
    *number -= 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *load_main(void *argument)
{
    struct circuit *c = argument;
    struct engine_service *s = c->service;
    struct engine_circuit facts = {0};
    struct status status = load(s, c, &facts);
    if (status_failed(&status))
        content_drop(s, &c->content);
    service_lock(s);
    load_ended(s, c, &status, &facts);
    service_unlock(s);
    gone(s, &s->loaders);
    return NULL;
}

bool circuit_begin_load(struct engine_service *s, struct circuit *c)
{
    pthread_t thread;
    CHECK(c->state == HERE_NOT || c->state == HERE_FAILED);
    c->state = HERE_LOADING;
    c->began_ms = c->said_ms = service_clock_ms();
    int error = service_thread(&thread, load_main, c, true);
    if (error == 0) {
        s->loaders++;
        return true;
    }
    c->state = HERE_FAILED;
    c->failure =
        status_error(STATUS_MEMORY, "cannot start a thread to load %s: %s", c->name, strerror(error));
    return false;
}

/* ---- from outside ---- */

static struct status unknown_circuit(const char *name)
{
    return status_hint(status_error(STATUS_MISSING, "no circuit is called \"%.60s\"", name),
                       "circuits are KIND-SIZE: porep, snap, wpost, winning; 2k, 8m, 512m, 32g, 64g");
}

struct status service_load(struct engine_service *s, const char *name, bool *already, uint64_t *ms)
{
    struct status status = status_ok();
    uint64_t began = service_clock_ms();
    *already = false;
    *ms = 0;
    service_lock(s);
    struct circuit *c = circuit_find(s, name);
    if (c == NULL || s->ending) {
        service_unlock(s);
        return c == NULL ? unknown_circuit(name) : work_cancelled_status();
    }
    *already = c->state == HERE_READY;
    s->load_callers++;
    if (!*already)
        status = engine_would_load(s->engine, c->number);
    if (!*already && !status_failed(&status)) {
        struct engine_event event = {.kind = EVENT_LOAD, .circuit = c->number};
        service_step(s, &event);
        while (c->state == HERE_LOADING && !s->ending)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->ending)
            status = work_cancelled_status();
        else if (c->state != HERE_READY)
            status = c->state == HERE_FAILED
                         ? c->failure
                         : status_error(STATUS_BUSY, "%s waits for others' proofs to make room", name);
        *ms = service_clock_ms() - began;
    }
    service_unlock(s);
    gone(s, &s->load_callers);
    return status;
}

/* The content goes, whose freeing takes its time, after the lock. */
void circuit_evict(struct engine_service *s, struct circuit *c)
{
    service_say(s, 2, "%s is evicted: %.1f MiB for others", c->name, (double)c->bytes / 1048576);
    service_later(s, &(struct later){.kind = LATER_CONTENT, .content = c->content});
    memset(&c->content, 0, sizeof c->content);
    c->state = HERE_NOT;
    c->bytes = 0;
    c->evictions++;
}

struct status service_evict(struct engine_service *s, const char *name, bool *was_loaded,
                            uint64_t *freed_bytes)
{
    struct status status = status_ok();
    struct content content;
    memset(&content, 0, sizeof content);
    *was_loaded = false;
    *freed_bytes = 0;
    service_lock(s);
    struct circuit *c = circuit_find(s, name);
    if (c == NULL)
        status = unknown_circuit(name);
    else if (c->state == HERE_READY && c->kind == PROOF_WINNING)
        status = status_hint(status_error(STATUS_BUSY, "%s is kept for WinningPoSt and never evicted", name),
                             "leave it out of srs.preload and start again");
    else if (c->state == HERE_LOADING)
        status = status_error(STATUS_BUSY, "%s is being loaded", name);
    else if (c->state == HERE_READY && c->references > 0)
        status = status_hint(status_error(STATUS_BUSY, "%s is in use by %u jobs", name, c->references),
                             "try again when they have ended");
    else if (c->state == HERE_READY) {
        struct engine_event event = {.kind = EVENT_CIRCUIT_GONE, .circuit = c->number};
        *was_loaded = true;
        *freed_bytes = c->bytes;
        content = c->content;
        memset(&c->content, 0, sizeof c->content);
        c->state = HERE_NOT;
        c->bytes = 0;
        c->evictions++;
        service_say(s, 2, "%s is evicted", name);
        service_step(s, &event);
    }
    service_unlock(s);
    content_drop(s, &content);
    return status;
}
