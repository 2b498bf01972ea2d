/* See listen.h. */
#include "serve/grpc/listen.h"

#include "base/mem.h"
#include "serve/grpc/listen_owner.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

/* ---- addresses ---- */

struct address {
    bool local;
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    char host[256], port[8];
};

static struct status parse_local(struct address *out, const char *whole, const char *path)
{
    if (strncmp(path, "//", 2) == 0)
        path += 2;
    if (path[0] == 0)
        return status_error(STATUS_INVALID, "listen address \"%s\" has no path", whole);
    if (strlen(path) >= sizeof out->path)
        return status_hint(status_error(STATUS_INVALID,
                                        "socket path too long: %zu bytes, at most %zu: %.100s...",
                                        strlen(path), sizeof out->path - 1, path),
                           "choose a shorter path");
    out->local = true;
    snprintf(out->path, sizeof out->path, "%s", path);
    return status_ok();
}

static struct status parse(struct address *out, const char *text)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0)
        return parse_local(out, text, text + 5);
    const char *colon = strrchr(text, ':'), *host = text;
    struct status wrong =
        status_hint(status_error(STATUS_INVALID, "cannot read listen address \"%.150s\"", text),
                    "write unix:///path/to.sock, host:port or [v6]:port");
    if (colon == NULL || strlen(text) >= sizeof out->host)
        return wrong;
    size_t host_size = (size_t)(colon - text), digits = strspn(colon + 1, "0123456789");
    if (digits == 0 || digits > 5 || colon[1 + digits] != 0 || atoi(colon + 1) > 65535)
        return wrong;
    if (host_size >= 2 && host[0] == '[' && host[host_size - 1] == ']') {
        host++;
        host_size -= 2;
    } else if (memchr(host, ':', host_size) != NULL) {
        return wrong;
    }
    memcpy(out->host, host, host_size);
    memcpy(out->port, colon + 1, digits);
    return status_ok();
}

static struct status resolve(struct addrinfo **out, const struct address *address, const char *text)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    int error = getaddrinfo(address->host[0] != 0 ? address->host : NULL, address->port, &hints, out);
    if (error != 0)
        return status_hint(status_error(STATUS_INVALID, "cannot resolve listen address \"%.150s\": %s", text,
                                        gai_strerror(error)),
                           "check the host's name, or write its number");
    return status_ok();
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24) == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

struct status listen_check(bool *loopback, const char *text)
{
    struct address address;
    TRY(parse(&address, text));
    *loopback = true;
    if (address.local)
        return status_ok();
    struct addrinfo *list;
    TRY(resolve(&list, &address, text));
    for (struct addrinfo *a = list; a != NULL; a = a->ai_next)
        *loopback = *loopback && is_loopback(a->ai_addr);
    freeaddrinfo(list);
    return status_ok();
}

/* ---- TCP ---- */

static void set_port(struct sockaddr *a, uint16_t port)
{
    if (a->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)a)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)(void *)a)->sin6_port = htons(port);
}

static uint16_t get_port(int fd)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &size) != 0)
        return 0;
    return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)(void *)&a)->sin_port
                                        : ((struct sockaddr_in6 *)(void *)&a)->sin6_port);
}

static struct status tcp_failed(const char *text, int error, uint16_t port)
{
    char owner[96];
    struct status s = status_error(STATUS_IO, "cannot listen on \"%.150s\": %s (%s)", text,
                                   strerrordesc_np(error), strerrorname_np(error));
    switch (error) {
    case EADDRINUSE:
        owner_of_port(owner, sizeof owner, port);
        s = status_error(STATUS_IO, "cannot listen on \"%.120s\": the address is in use by %s", text, owner);
        return status_hint(s, "stop that process, or choose another port");
    case EACCES:
        return status_hint(s, "ports below %d need privileges: choose a higher one", IPPORT_RESERVED);
    case EADDRNOTAVAIL:
        return status_hint(s, "no interface of this machine has that address");
    default:
        return s;
    }
}

/* What waits in the kernel comes before a small call on the same connection, so it is kept short: enough for
 * 10 Gbit/s within a site. Asked for before listen(), since it decides the window that peers are offered. */
#define RECEIVE_QUEUE (512 << 10)

/* The socket, or -1 with errno. */
static int tcp_socket(const struct addrinfo *a, bool only_v6)
{
    int yes = 1, v6 = only_v6, queue = RECEIVE_QUEUE;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        (a->ai_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6, sizeof v6) != 0) ||
        bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static struct status open_tcp(struct listener *l, const struct address *address, const char *text)
{
    struct addrinfo *list;
    TRY(resolve(&list, address, text));
    struct status s = status_ok();
    int absent = 0;
    for (struct addrinfo *a = list; a != NULL && l->sockets_count < LISTENER_SOCKETS; a = a->ai_next) {
        if (a->ai_family != AF_INET && a->ai_family != AF_INET6)
            continue;
        if (l->port != 0)
            set_port(a->ai_addr, l->port);
        int fd = tcp_socket(a, list->ai_next != NULL);
        if (fd < 0) {
            /* A name may stand for addresses that this machine has no interface for. */
            if (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT) {
                absent = errno;
                continue;
            }
            s = tcp_failed(text, errno, l->port != 0 ? l->port : (uint16_t)atoi(address->port));
            break;
        }
        l->sockets[l->sockets_count++] = fd;
        l->port = get_port(fd);
    }
    freeaddrinfo(list);
    if (!status_failed(&s) && l->sockets_count == 0)
        s = tcp_failed(text, absent, (uint16_t)atoi(address->port));
    const char *v6 = strchr(address->host, ':');
    snprintf(l->address, sizeof l->address, v6 != NULL ? "[%.140s]:%u" : "%.140s:%u", address->host, l->port);
    return s;
}

/* ---- UNIX sockets ---- */

static void owner_of_file(char *out, size_t size, const char *path)
{
    struct stat st;
    char buffer[1024];
    struct passwd entry, *found = NULL;
    snprintf(out, size, "unknown");
    if (lstat(path, &st) != 0)
        return;
    if (getpwuid_r(st.st_uid, &entry, buffer, sizeof buffer, &found) == 0 && found != NULL)
        snprintf(out, size, "%s", entry.pw_name);
    else
        snprintf(out, size, "uid %ld", (long)st.st_uid);
}

static struct status file_failed(const char *doing, const char *path, int error)
{
    struct status s = status_error(STATUS_IO, "cannot %s \"%s\": %s (%s)", doing, path,
                                   strerrordesc_np(error), strerrorname_np(error));
    char owner[64], folder[sizeof((struct listener *)0)->lock_path];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = 0;
    else
        snprintf(folder, sizeof folder, ".");
    switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
        owner_of_file(owner, sizeof owner, folder);
        return status_hint(s, "uid %ld may not write in %.60s, which belongs to %.30s", (long)geteuid(),
                           folder, owner);
    case ENOENT:
        return status_hint(s, "create the directory %.100s, or choose another path", folder);
    default:
        return s;
    }
}

/* The directory of a socket is often under /run, gone after every boot: one level is made anew. */
static void make_folder(const char *path)
{
    char folder[sizeof((struct listener *)0)->path];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return;
    *slash = 0;
    (void)mkdir(folder, 0755); /* what then fails says why */
}

static pid_t recorded_pid(int fd)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

static struct status in_use(const char *path, pid_t pid)
{
    char owner[96];
    owner_of_pid(owner, sizeof owner, pid);
    return status_hint(
        status_error(STATUS_IO, "cannot listen on \"%s\": the socket is served by %s", path, owner),
        "stop that process, or choose another socket");
}

/* Opens the lock file for writing; where only its owner may write it, for reading, which locks as well. */
static int open_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0644);
    if (fd < 0 && errno == EACCES) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
        errno = EACCES;
    }
    return fd;
}

static struct status lock(struct listener *l)
{
    /* A holder that leaves removes the file: what was locked may then no longer be what the name means. */
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat held, named;
        int fd = open_lock(l->lock_path);
        if (fd < 0)
            return file_failed("create the lock file", l->lock_path, errno);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int error = errno;
            pid_t pid = recorded_pid(fd);
            close(fd);
            return error == EWOULDBLOCK ? in_use(l->path, pid) : file_failed("lock", l->lock_path, error);
        }
        if (fstat(fd, &held) != 0 || stat(l->lock_path, &named) != 0 || held.st_ino != named.st_ino ||
            held.st_dev != named.st_dev) {
            close(fd);
            continue;
        }
        char text[32];
        int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
        if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n) {
            l->lock = fd;
            return status_ok();
        }
        /* Left behind by another account. We hold its lock, so nobody uses it; try with a file of our own. */
        int failed = unlink(l->lock_path), error = errno;
        close(fd);
        if (failed) {
            char owner[64];
            owner_of_file(owner, sizeof owner, l->lock_path);
            return status_hint(status_error(STATUS_IO, "cannot write the lock file \"%s\" of %s: %s",
                                            l->lock_path, owner, strerrordesc_np(error)),
                               "remove it as that user, or choose another path");
        }
    }
    return status_error(STATUS_IO, "cannot lock \"%s\": other processes keep making and removing it",
                        l->lock_path);
}

/* Removes what a dead process left at the path; refuses what somebody serves and what is no socket. */
static struct status clear_path(const struct listener *l, const struct sockaddr_un *name)
{
    struct stat st;
    if (lstat(l->path, &st) != 0)
        return errno == ENOENT ? status_ok() : file_failed("look at", l->path, errno);
    if (!S_ISSOCK(st.st_mode))
        return status_hint(
            status_error(STATUS_IO, "cannot listen on \"%s\": it exists and is not a socket", l->path),
            "remove it by hand, or choose another path");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return file_failed("probe", l->path, errno);
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int error = connect(fd, (const struct sockaddr *)name, sizeof *name) == 0 ? 0 : errno;
    if (error == 0)
        (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    close(fd);
    switch (error) {
    case 0:
    case EAGAIN: /* its queue of connections is full */
        return in_use(l->path, peer.pid);
    case ENOENT:
        return status_ok();
    case ECONNREFUSED:
        break;
    default:
        return file_failed("probe the socket", l->path, error);
    }
    return unlink(l->path) == 0 || errno == ENOENT ? status_ok()
                                                   : file_failed("remove the dead socket", l->path, errno);
}

static struct status find_group(gid_t *out, const char *name)
{
    char buffer[4096], *end;
    struct group entry, *found = NULL;
    if (getgrnam_r(name, &entry, buffer, sizeof buffer, &found) == 0 && found != NULL) {
        *out = found->gr_gid;
        return status_ok();
    }
    unsigned long number = strtoul(name, &end, 10);
    if (name[0] < '0' || name[0] > '9' || *end != 0)
        return status_hint(status_error(STATUS_INVALID, "there is no group \"%.60s\" for the socket", name),
                           "create it, or correct daemon.socket_group");
    *out = (gid_t)number;
    return status_ok();
}

static struct status give_to_group(const struct listener *l, const struct listen_options *options,
                                   uint32_t mode)
{
    gid_t group = 0;
    if (options != NULL && options->group != NULL && options->group[0] != 0) {
        TRY(find_group(&group, options->group));
        if (chown(l->path, (uid_t)-1, group) != 0)
            return status_hint(status_error(STATUS_IO, "cannot give the socket \"%s\" to group %.60s: %s",
                                            l->path, options->group, strerrordesc_np(errno)),
                               "the daemon must run as root or be a member of the group");
    }
    return chmod(l->path, mode) == 0 ? status_ok() : file_failed("set the mode of", l->path, errno);
}

static struct status open_local(struct listener *l, const struct address *address,
                                const struct listen_options *options)
{
    uint32_t mode = options != NULL && options->mode != 0 ? options->mode : 0660;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct stat st;
    l->local = true;
    snprintf(l->path, sizeof l->path, "%s", address->path);
    snprintf(l->lock_path, sizeof l->lock_path, "%s.lock", address->path);
    snprintf(l->address, sizeof l->address, "unix://%s", address->path);
    memcpy(name.sun_path, address->path, sizeof name.sun_path);
    make_folder(l->path);
    TRY(lock(l));
    TRY(clear_path(l, &name));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return file_failed("make a socket for", l->path, errno);
    l->sockets[l->sockets_count++] = fd;
    /* The file takes the mode of the unbound socket, so it is never open wider than asked, not for a moment.
     */
    if (fchmod(fd, mode & 0700) != 0 || bind(fd, (struct sockaddr *)&name, sizeof name) != 0)
        return file_failed("bind", l->path, errno);
    if (lstat(l->path, &st) != 0)
        return file_failed("look at", l->path, errno);
    l->device = st.st_dev;
    l->inode = st.st_ino;
    TRY(give_to_group(l, options, mode));
    return listen(fd, BACKLOG) == 0 ? status_ok() : file_failed("listen on", l->path, errno);
}

struct status listen_open(struct listener **out, const char *text, const struct listen_options *options)
{
    struct address address;
    TRY(parse(&address, text));
    struct listener *l = mem_alloc_zero(1, sizeof *l);
    if (l == NULL)
        return mem_failed("listening socket", 1, sizeof *l);
    l->lock = -1;
    struct status s = address.local ? open_local(l, &address, options) : open_tcp(l, &address, text);
    if (status_failed(&s)) {
        listen_close(l);
        return s;
    }
    *out = l;
    return status_ok();
}

void listen_close(struct listener *l)
{
    struct stat st;
    if (l == NULL)
        return;
    if (l->inode != 0 && lstat(l->path, &st) == 0 && st.st_ino == l->inode && st.st_dev == l->device)
        (void)unlink(l->path);
    for (uint32_t i = 0; i < l->sockets_count; i++)
        close(l->sockets[i]);
    if (l->lock >= 0) {
        (void)unlink(l->lock_path); /* before the lock is given up: see lock() */
        close(l->lock);
    }
    mem_free(l);
}
