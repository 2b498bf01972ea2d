/* /livez, /readyz, /startupz. A probe acts on them: one that restarts what is not alive must never be told
 * "not alive" because parameters load, and one that routes work must learn of a lost device. So alive is the
 * engine's loop alone, ready is everything that a proof needs, started is the start alone. */
#include "serve/http/internal.h"

#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Lines of "[+] name ok" and "[-] name: reason", and whether all are ok. */
struct probe {
    struct text text;
    bool ok;
};

static void good(struct probe *p, const char *name, const char *note)
{
    text_add(&p->text, "[+] %s ok%s%s\n", name, note[0] != 0 ? ": " : "", note);
}

static void bad(struct probe *p, const char *name, const char *reason)
{
    text_add(&p->text, "[-] %s: %s\n", name, reason);
    p->ok = false;
}

static struct status end(struct probe *p, const char *name, const struct http_request *request,
                         struct http_reply *reply)
{
    if (p->ok && !http_asked(request, "verbose")) {
        mem_free(p->text.data);
        reply->fixed = "ok\n";
        reply->size = 3;
        return status_ok();
    }
    text_add(&p->text, "%s: %s\n", name, p->ok ? "ok" : "failed");
    reply->code = p->ok ? 200 : 503;
    return text_reply(reply, &p->text);
}

static void check_engine(struct probe *p, const struct site *site)
{
    char reason[100];
    uint64_t silence = service_silence_ms(site->options.service);
    if (silence < SITE_SILENCE_MS) {
        good(p, "engine", "");
        return;
    }
    snprintf(reason, sizeof reason, "its loop has not gone round for %" PRIu64 " s", silence / 1000);
    bad(p, "engine", reason);
}

struct status site_livez(void *context, const struct http_request *request, struct http_reply *reply)
{
    struct probe p = {.ok = true};
    text_begin(&p.text, 512);
    check_engine(&p, context);
    return end(&p, "livez", request, reply);
}

static void check_start(struct probe *p, const struct site *site)
{
    struct site_phase now;
    char reason[128];
    if (proving_is_ready(site->options.proving)) {
        good(p, "start", "");
        return;
    }
    site_phase_now(site, &now);
    snprintf(reason, sizeof reason, "%s, since %" PRIu64 ".%" PRIu64 " s",
             now.name[0] != 0 ? now.name : "not over", now.ms / 1000, now.ms / 100 % 10);
    bad(p, "start", reason);
}

struct status site_startupz(void *context, const struct http_request *request, struct http_reply *reply)
{
    const struct site *site = context;
    struct site_phase phases[SITE_PHASES];
    struct probe p = {.ok = true};
    text_begin(&p.text, 1024);
    size_t count = site->options.phases(site->options.context, phases);
    for (size_t i = 0; i < count; i++) {
        char note[48];
        snprintf(note, sizeof note, "%" PRIu64 ".%03u s", phases[i].ms / 1000,
                 (unsigned)(phases[i].ms % 1000));
        if (!phases[i].running)
            good(&p, phases[i].name, note);
    }
    check_start(&p, site);
    return end(&p, "startupz", request, reply);
}

static void check_devices(struct probe *p, const struct service_view *v)
{
    char name[96];
    uint32_t lost = 0;
    for (uint32_t i = 0; i < v->devices_count; i++) {
        snprintf(name, sizeof name, "device %u (%.60s)", i, v->devices[i].name);
        if (v->devices[i].state != DEVICE_LOST)
            good(p, name, "");
        else
            text_add(&p->text, "[-] %s: lost\n", name);
        lost += v->devices[i].state == DEVICE_LOST;
    }
    if (lost > 0 && lost == v->devices_count)
        bad(p, "devices", "every one is lost");
}

/* Kinds are told, but do not decide: a daemon may be meant for one of them. */
static void tell_kinds(struct probe *p, const struct site *site, const struct service_view *v)
{
    static const char *const kinds[] = {"porep-c2", "snap-update", "window-post", "winning-post"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        text_add(&p->text, "[%c] %s\n", proving_serves(site->options.proving, v, kinds[i]) ? '+' : '-',
                 kinds[i]);
}

struct status site_readyz(void *context, const struct http_request *request, struct http_reply *reply)
{
    const struct site *site = context;
    struct probe p = {.ok = true};
    struct service_view *v = mem_alloc(1, sizeof *v);
    if (v == NULL)
        return mem_failed("view", 1, sizeof *v);
    text_begin(&p.text, 1024);
    check_engine(&p, site);
    if (p.ok) { /* else whoever holds the loop up may hold its lock, too */
        service_look(site->options.service, v);
        check_start(&p, site);
        if (proving_is_draining(site->options.proving))
            bad(&p, "drain", "the daemon is stopping: no new requests but for WinningPoSt");
        check_devices(&p, v);
        tell_kinds(&p, site, v);
    }
    mem_free(v);
    return end(&p, "readyz", request, reply);
}
