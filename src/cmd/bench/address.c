/* See address.h. */
#include "cmd/bench/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct status no_address(const char *text)
{
    return status_hint(status_error(STATUS_INVALID, "\"%.150s\" is no address", text),
                       "write unix:///path/to/socket or host:port");
}

static struct status parse_local(struct address *out, const char *text, const char *path)
{
    if (strncmp(path, "//", 2) == 0)
        path += 2;
    if (path[0] == 0)
        return no_address(text);
    if (strlen(path) >= sizeof out->path)
        return status_error(STATUS_INVALID, "\"%.150s\": the path of a UNIX socket has at most %zu bytes",
                            text, sizeof out->path - 1);
    out->local = true;
    memcpy(out->path, path, strlen(path) + 1);
    return status_ok();
}

struct status address_parse(struct address *out, const char *text)
{
    static const char *const prefixes[] = {"dns:///", "http://", "tcp://"};
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0)
        return parse_local(out, text, text + 5);
    const char *host = text;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(host, prefixes[i], strlen(prefixes[i])) == 0)
            host += strlen(prefixes[i]);
    const char *colon = strrchr(host, ':');
    if (colon == NULL || colon == host)
        return no_address(text);
    size_t host_size = (size_t)(colon - host), port_size = strcspn(colon + 1, "/");
    if (host[0] == '[' && host[host_size - 1] == ']') {
        host++;
        host_size -= 2;
    }
    if (host_size >= sizeof out->host || port_size == 0 || port_size >= sizeof out->port ||
        strspn(colon + 1, "0123456789") != port_size ||
        colon[1 + port_size + (colon[1 + port_size] == '/')] != 0)
        return no_address(text);
    memcpy(out->host, host, host_size);
    memcpy(out->port, colon + 1, port_size);
    return status_ok();
}

static bool nobody(int error)
{
    return error == ECONNREFUSED || error == ENOENT;
}

static struct status cannot(const char *where, int error)
{
    return status_error(nobody(error) ? STATUS_MISSING : STATUS_IO, "cannot connect to %.150s: %s", where,
                        strerror(error));
}

/* Connects within the time; 0 or an errno. */
static int connect_within(int fd, const struct sockaddr *address, socklen_t size, uint64_t timeout_ms)
{
    if (connect(fd, address, size) == 0)
        return 0;
    if (errno != EINPROGRESS && errno != EAGAIN)
        return errno;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n = poll(&p, 1, timeout_ms == 0 || timeout_ms > 1000000 ? 1000000 : (int)timeout_ms);
    if (n == 0)
        return ETIMEDOUT;
    int error = n < 0 ? errno : 0;
    socklen_t length = sizeof error;
    if (n > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        error = errno;
    return error;
}

static struct status connect_local(int *out, const struct address *a, uint64_t timeout_ms)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, a->path, sizeof name.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = fd < 0 ? errno : connect_within(fd, (const struct sockaddr *)&name, sizeof name, timeout_ms);
    if (error != 0) {
        if (fd >= 0)
            close(fd);
        return cannot(a->path, error);
    }
    *out = fd;
    return status_ok();
}

/* A call may be silent for half an hour: only the kernel's probes tell a peer that has vanished. */
static void keep_alive(int fd)
{
    int on = 1, idle = 30, interval = 10, count = 6;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

static struct status connect_network(int *out, const struct address *a, uint64_t timeout_ms)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *all;
    char where[300];
    snprintf(where, sizeof where, "%s:%s", a->host, a->port);
    int e = getaddrinfo(a->host, a->port, &hints, &all);
    if (e != 0)
        return status_error(STATUS_IO, "cannot find the host %.150s: %s", a->host, gai_strerror(e));
    int error = ENOENT;
    for (struct addrinfo *i = all; i != NULL; i = i->ai_next) {
        int fd = socket(i->ai_family, i->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, i->ai_protocol);
        error = fd < 0 ? errno : connect_within(fd, i->ai_addr, i->ai_addrlen, timeout_ms);
        if (error == 0) {
            keep_alive(fd);
            freeaddrinfo(all);
            *out = fd;
            return status_ok();
        }
        if (fd >= 0)
            close(fd);
    }
    freeaddrinfo(all);
    return cannot(where, error);
}

struct status address_connect(int *out, const struct address *address, uint64_t timeout_ms)
{
    return address->local ? connect_local(out, address, timeout_ms)
                          : connect_network(out, address, timeout_ms);
}
