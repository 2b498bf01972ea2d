/* The pages of a site, and what they share. */
#ifndef CUZK_SERVE_HTTP_INTERNAL_H
#define CUZK_SERVE_HTTP_INTERNAL_H

#include "serve/http/site.h"
#include "serve/http/text.h"

struct site {
    struct site_options options;
    struct http_server *server;
};

http_handler site_status, site_livez, site_readyz, site_startupz;

/* Hands a text over as the body; STATUS_MEMORY if it could not be written. */
struct status text_reply(struct http_reply *reply, struct text *t);
/* The phase that is not over, or "". */
void site_phase_now(const struct site *site, struct site_phase *out);

#endif
