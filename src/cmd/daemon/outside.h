/* What the daemon tells others while it starts, runs and stops: the status pages, the service manager, the
 * lines about phases. */
#ifndef CUZK_CMD_DAEMON_OUTSIDE_H
#define CUZK_CMD_DAEMON_OUTSIDE_H

#include "cmd/daemon/daemon.h"

/* First of all: phases, and the service manager if there is one. */
void outside_begin(struct daemon *d);
/* The phase changes: a line on the one that ends. "ready": the start is over; it is told. */
void outside_phase(struct daemon *d, const char *phase);
/* Binds daemon.status_listen, if it is set, and serves from then on. After the engine and its server. */
MUST_USE struct status outside_serve(struct daemon *d);
void outside_failed(struct daemon *d, const struct status *s);
/* Nobody looks at the engine any more: before it ends. */
void outside_stop(struct daemon *d);
void outside_end(struct daemon *d);

#endif
