/* The prover object, errors, and progress reports of the public library. */
#include "api/internal.h"

#include "base/mem.h"
#include "device/open.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

_Static_assert((int)CUZK_OK == (int)STATUS_OK && (int)CUZK_INVALID == (int)STATUS_INVALID &&
                   (int)CUZK_MISSING == (int)STATUS_MISSING && (int)CUZK_IO == (int)STATUS_IO &&
                   (int)CUZK_MEMORY == (int)STATUS_MEMORY && (int)CUZK_CANCELLED == (int)STATUS_CANCELLED &&
                   (int)CUZK_UNTRUSTED == (int)STATUS_UNTRUSTED &&
                   (int)CUZK_REJECTED == (int)STATUS_REJECTED && (int)CUZK_DEVICE == (int)STATUS_DEVICE &&
                   (int)CUZK_UNSUPPORTED == (int)STATUS_UNSUPPORTED && (int)CUZK_BUSY == (int)STATUS_BUSY,
               "public codes are the status codes");
_Static_assert(sizeof(((struct cuzk_error *)0)->message) == sizeof(((struct status *)0)->message) &&
                   sizeof(((struct cuzk_error *)0)->detail) == sizeof(((struct status *)0)->detail) &&
                   sizeof(((struct cuzk_error *)0)->hint) == sizeof(((struct status *)0)->hint),
               "texts fit");

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const char *cuzk_version(void)
{
    return TEXT(CUZK_VERSION_MAJOR) "." TEXT(CUZK_VERSION_MINOR) "." TEXT(CUZK_VERSION_PATCH);
}

enum cuzk_code api_result(const struct status *s, struct cuzk_error *error)
{
    if (error != NULL) {
        error->code = (enum cuzk_code)s->code;
        memcpy(error->message, s->message, sizeof error->message);
        memcpy(error->detail, s->detail, sizeof error->detail);
        memcpy(error->hint, s->hint, sizeof error->hint);
    }
    return (enum cuzk_code)s->code;
}

struct work api_work(struct cuzk *cuzk, enum priority priority)
{
    return (struct work){cuzk->pool, priority, &cuzk->cancel};
}

enum cuzk_code cuzk_open(struct cuzk **out, const struct cuzk_options *options, struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk *cuzk = mem_alloc_zero(1, sizeof *cuzk);
    struct status s = status_ok();
    if (cuzk == NULL) {
        s = mem_failed("prover", 1, sizeof *cuzk);
        return api_result(&s, error);
    }
    atomic_init(&cuzk->cancel.requested, false);
    TRY_OUT(pool_start(&cuzk->pool, options == NULL ? 0 : options->threads));
    struct devices devices;
    struct devices_request wanted = {
        .backend = options == NULL ? NULL : options->backend, .require_all = true, .most = 1};
    TRY_OUT(devices_open(&devices, &wanted, cuzk->pool));
    cuzk->device = devices.device[0];
    s = cuzk->device->operations->self_test(cuzk->device);
out:
    if (status_failed(&s))
        cuzk_close(cuzk);
    else
        *out = cuzk;
    return api_result(&s, error);
}

void cuzk_close(struct cuzk *cuzk)
{
    if (cuzk == NULL)
        return;
    if (cuzk->device != NULL)
        cuzk->device->operations->close(cuzk->device);
    pool_end(cuzk->pool);
    mem_free(cuzk);
}

void cuzk_cancel(struct cuzk *cuzk)
{
    atomic_store(&cuzk->cancel.requested, true);
}

/* ---- progress ---- */

struct api_progress_thread {
    pthread_t id;
    atomic_bool stop;
};

static void *report(void *argument)
{
    struct api_progress *p = argument;
    while (!atomic_load(&p->thread->stop)) {
        p->call(p->context, p->what, atomic_load(&p->done), p->total);
        nanosleep(&(struct timespec){0, 100 * 1000 * 1000}, NULL);
    }
    p->call(p->context, p->what, atomic_load(&p->done), p->total);
    return NULL;
}

void api_progress_start(struct api_progress *p, cuzk_progress *call, void *context, const char *what,
                        uint64_t total)
{
    *p = (struct api_progress){.call = call, .context = context, .what = what, .total = total};
    atomic_init(&p->done, 0);
    if (call == NULL)
        return;
    p->thread = mem_alloc_zero(1, sizeof *p->thread);
    if (p->thread == NULL)
        return; /* reports are a courtesy: the work goes on without them */
    atomic_init(&p->thread->stop, false);
    if (pthread_create(&p->thread->id, NULL, report, p) != 0) {
        mem_free(p->thread);
        p->thread = NULL;
    }
}

void api_progress_end(struct api_progress *p)
{
    if (p->thread == NULL)
        return;
    atomic_store(&p->thread->stop, true);
    pthread_join(p->thread->id, NULL);
    mem_free(p->thread);
    p->thread = NULL;
}
