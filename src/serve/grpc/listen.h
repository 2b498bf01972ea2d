/* Listening sockets that nobody loses. A UNIX socket is guarded by a lock file beside it (PATH.lock, which
 * holds the pid; the kernel gives the lock up when its holder dies) and probed by connecting: a socket
 * that someone serves is never removed, a dead one is. TCP ports are never shared. Every
 * failure says which address, who has it if that can be known, and what to do. */
#ifndef CUZK_SERVE_GRPC_LISTEN_H
#define CUZK_SERVE_GRPC_LISTEN_H

#include "base/status.h"
#include <stdint.h>

struct listen_options {
    uint32_t mode;     /* of a UNIX socket; 0: 0660 */
    const char *group; /* of a UNIX socket: name or number; NULL or "": unchanged */
};

#define LISTENER_SOCKETS 8
struct listener {
    int sockets[LISTENER_SOCKETS]; /* non-blocking, close-on-exec */
    uint32_t sockets_count;
    bool local;        /* a UNIX socket */
    uint16_t port;     /* TCP; what the system chose if 0 was asked for */
    char address[160]; /* "unix:///run/x.sock" or "127.0.0.1:9820", for people */
    char path[112], lock_path[120];
    int lock;
    uint64_t device, inode; /* of the socket file */
};

/* address: "unix:///absolute/path", "unix:path", "host:port", "[v6]:port", ":port" (every interface). */
MUST_USE struct status listen_open(struct listener **out, const char *address,
                                   const struct listen_options *options);
/* Closes the sockets and removes socket and lock files if they are still ours. NULL allowed. */
void listen_close(struct listener *listener);

/* Whether only this machine can reach the address; without opening it. Refuses what cannot be parsed. */
MUST_USE struct status listen_check(bool *loopback, const char *address);

#endif
