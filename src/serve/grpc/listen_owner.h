/* Who holds an address: for messages only, so everything here may fail and then says nothing. */
#ifndef CUZK_SERVE_GRPC_LISTEN_OWNER_H
#define CUZK_SERVE_GRPC_LISTEN_OWNER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* "pid 123 (cuzk-daemon)", or "another process". */
void owner_of_pid(char *out, size_t size, pid_t pid);
/* The same for the process that listens on a TCP port, as far as /proc lets us look. */
void owner_of_port(char *out, size_t size, uint16_t port);

#endif
