/* Addresses as clients and configuration write them, and sockets connected to them. */
#ifndef CUZK_CMD_BENCH_ADDRESS_H
#define CUZK_CMD_BENCH_ADDRESS_H

#include "base/status.h"

#include <stdint.h>

struct address {
    bool local;     /* a UNIX socket at `path` */
    char path[108]; /* as sun_path */
    char host[256], port[8];
};
/* STATUS_INVALID if it is no address. */
MUST_USE struct status address_parse(struct address *out, const char *text);
/* Gives a connected, non-blocking socket. STATUS_MISSING if nobody listens, STATUS_IO otherwise. */
MUST_USE struct status address_connect(int *out, const struct address *address, uint64_t timeout_ms);

#endif
