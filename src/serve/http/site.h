/* What a daemon shows over HTTP:
 *
 *     /          a page that draws /status every second
 *     /status    JSON, readable from pages of other origins
 *     /metrics   Prometheus text, the same as GetMetrics
 *     /livez     200 while the engine's loop goes round; says nothing of loading
 *     /readyz    200 when proofs can be asked for: parameters loaded, a device works, not draining
 *     /startupz  200 once the start is over
 *
 * The last three give their reasons with ?verbose, and always when they are not 200. Everything is answered
 * from copies, so a peer never holds up a proof. */
#ifndef CUZK_SERVE_HTTP_SITE_H
#define CUZK_SERVE_HTTP_SITE_H

#include "serve/http/server.h"
#include "serve/proving.h"

/* An engine's loop that has not gone round for so long is stuck. */
#define SITE_SILENCE_MS 10000

struct site_memory {
    uint64_t machine_bytes, machine_available_bytes;
    uint64_t process_bytes, resident_bytes; /* anonymous, shared and pinned; with mapped files */
    uint64_t budget_bytes;
};
struct site_phase {
    char name[64];
    uint64_t ms; /* so far */
    bool running;
};
#define SITE_PHASES 16

struct site_options {
    struct engine_service *service; /* borrowed, as are those below; must outlive site_stop() */
    struct proving *proving;
    struct ledger *ledger; /* NULL allowed */
    const char *version;   /* static */
    /* From the server's threads; quick. */
    void (*memory)(void *context, struct site_memory *out);
    size_t (*phases)(void *context, struct site_phase out[SITE_PHASES]);
    void *context;
    uint32_t max_connections, idle_seconds; /* as http_options */
    void (*log)(void *context, int level, const char *text);
    void *log_context;
};

struct site;
MUST_USE struct status site_start(struct site **out, const struct site_options *options,
                                  struct listener *listener);
void site_stop(struct site *site); /* NULL allowed */

#endif
