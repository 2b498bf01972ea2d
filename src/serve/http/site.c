/* See site.h: the table of pages, the smaller ones, start and stop. */
#include "serve/http/internal.h"

#include "base/mem.h"
#include <string.h>

extern const unsigned char status_page[];
extern const size_t status_page_size;

struct status text_reply(struct http_reply *reply, struct text *t)
{
    if (t->failed) {
        mem_free(t->data);
        return mem_failed("page", t->capacity, 2);
    }
    reply->body = t->data;
    reply->size = t->used;
    return status_ok();
}

void site_phase_now(const struct site *site, struct site_phase *out)
{
    struct site_phase phases[SITE_PHASES];
    size_t count = site->options.phases(site->options.context, phases);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (phases[i].running)
            *out = phases[i];
}

static struct status site_metrics(void *context, const struct http_request *request, struct http_reply *reply)
{
    struct site *site = context;
    (void)request;
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    return proving_metrics(site->options.proving, &reply->body, &reply->size);
}

static struct status site_page(void *context, const struct http_request *request, struct http_reply *reply)
{
    (void)context;
    (void)request;
    reply->type = "text/html; charset=utf-8";
    reply->fixed = status_page;
    reply->size = status_page_size;
    reply->page = true;
    return status_ok();
}

static const struct http_route ROUTES[] = {
    {"/", site_page},       {"/status", site_status}, {"/metrics", site_metrics},
    {"/livez", site_livez}, {"/readyz", site_readyz}, {"/startupz", site_startupz},
};

struct status site_start(struct site **out, const struct site_options *options, struct listener *listener)
{
    struct site *site = mem_alloc_zero(1, sizeof *site);
    *out = NULL;
    if (site == NULL) {
        listen_close(listener);
        return mem_failed("status pages", 1, sizeof *site);
    }
    site->options = *options;
    struct http_options http = {.routes = ROUTES,
                                .routes_count = sizeof ROUTES / sizeof *ROUTES,
                                .context = site,
                                .max_connections = options->max_connections,
                                .idle_seconds = options->idle_seconds,
                                .log = options->log,
                                .log_context = options->log_context};
    struct status s = http_start(&site->server, &http, listener);
    if (status_failed(&s)) {
        mem_free(site);
        return s;
    }
    *out = site;
    return s;
}

void site_stop(struct site *site)
{
    if (site == NULL)
        return;
    http_stop(site->server);
    mem_free(site);
}
