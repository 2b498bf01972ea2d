/* The loop: see server.h and internal.h. */
#include "serve/grpc/internal.h"

#include "base/mem.h"
#include "base/signals.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS         256
#define ACCEPT_AT_ONCE 64 /* connections a turn, so that a flood of them starves nobody */

static uint64_t monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1; /* never 0 */
}

void server_log(struct grpc_server *server, int level, const char *format, ...)
{
    if (server->options.log == NULL)
        return;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    server->options.log(server->options.log_context, level, text);
}

/* ---- posts ---- */

void server_post(struct grpc_server *server, struct post *post)
{
    post->next = NULL;
    pthread_mutex_lock(&server->lock);
    bool first = server->posts == NULL;
    *server->posts_last = post;
    server->posts_last = &post->next;
    if (first) {
        /* Under the lock: once it is given up, this post may be carried out and the server end. */
        uint64_t one = 1;
        (void)!write(server->wake.fd, &one, sizeof one);
    }
    pthread_mutex_unlock(&server->lock);
}

static struct post *take_posts(struct grpc_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct post *posts = server->posts;
    server->posts = NULL;
    server->posts_last = &server->posts;
    pthread_mutex_unlock(&server->lock);
    return posts;
}

static void run_posts(struct grpc_server *server)
{
    for (struct post *post = take_posts(server), *next; post != NULL; post = next) {
        next = post->next;
        post->run(server, post);
    }
}

/* ---- timers ---- */

bool server_add_timer(struct grpc_server *server)
{
    if (!timers_room(&server->timers, server->timers_needed + 1))
        return false;
    server->timers_needed++;
    return true;
}

void server_drop_timer(struct grpc_server *server, struct timer *timer)
{
    timer_clear(&server->timers, timer);
    server->timers_needed--;
}

static void tick_fired(struct timer *timer, uint64_t now_ms)
{
    struct grpc_server *server = (void *)((char *)timer - offsetof(struct grpc_server, tick));
    server->options.tick(server->options.context);
    timer_set(&server->timers, timer, now_ms + server->options.tick_ms);
}

/* ---- connections come ---- */

static void watch_doors(struct grpc_server *server, bool open)
{
    for (size_t i = 0; i < server->doors_count; i++) {
        struct epoll_event event = {.events = open ? EPOLLIN : 0, .data.ptr = &server->doors[i]};
        (void)epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->doors[i].fd, &event);
    }
    server->doors_shut = !open;
}

static void doors_fired(struct timer *timer, uint64_t now_ms)
{
    (void)now_ms;
    struct grpc_server *server = (void *)((char *)timer - offsetof(struct grpc_server, doors_timer));
    if (server->phase == SERVER_RUNNING)
        watch_doors(server, true);
}

/* The connection without calls that has been silent longest; NULL if all have calls. */
static struct connection *idlest(struct grpc_server *server)
{
    struct connection *found = NULL;
    for (struct connection *c = server->connections; c != NULL; c = c->after)
        if (!c->dead && c->calls_count == 0 && (found == NULL || c->read_ms < found->read_ms))
            found = c;
    return found;
}

static bool make_room(struct grpc_server *server)
{
    struct connection *c = idlest(server);
    if (c == NULL)
        return false;
    atomic_fetch_add(&server->evicted, 1);
    connection_leave(c, true);
    connection_flush(c);
    connection_kill(c);
    return true;
}

static void complain(struct grpc_server *server, const char *text)
{
    if (server->complained_ms != 0 && server->now_ms < server->complained_ms + 10000)
        return;
    server->complained_ms = server->now_ms;
    server_log(server, 1, "%s", text);
}

/* No descriptor is left. The reserved one lets us take the next caller from the queue and turn it away, so
 * that it does not wait for nothing; an idle connection gives way to those that follow. */
static void out_of_descriptors(struct grpc_server *server, int door)
{
    complain(server,
             "no file descriptor is left for new connections; raise the limit (ulimit -n, LimitNOFILE)");
    bool room = make_room(server);
    if (!room && server->reserve >= 0) {
        close(server->reserve);
        int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            close(fd);
        server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (!room) {
        watch_doors(server, false);
        timer_set(&server->timers, &server->doors_timer, server->now_ms + 100);
    }
}

static void describe_peer(char *out, size_t size, int fd, const struct sockaddr_storage *a)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)a;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(out, size, "%s:%u", host, ntohs(in->sin_port));
    } else if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)a;
        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof host);
        snprintf(out, size, "[%s]:%u", host, ntohs(in->sin6_port));
    } else {
        struct ucred peer = {0};
        socklen_t peer_size = sizeof peer;
        (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size);
        snprintf(out, size, "unix pid %ld", (long)peer.pid);
    }
}

void server_adopt(struct grpc_server *server, int fd, const char *peer)
{
    if (atomic_load(&server->connections_now) >= server->options.max_connections && !make_room(server)) {
        complain(server, "the limit of connections is reached and all are in use; a new one was closed");
        close(fd);
        return;
    }
    struct connection *c = connection_make(server, fd, peer);
    if (c == NULL) {
        complain(server, "no memory for a new connection; it was closed");
        close(fd);
        return;
    }
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = &c->source};
    if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        connection_kill(c);
        return;
    }
    atomic_fetch_add(&server->accepted, 1);
    connection_dirty(c); /* our SETTINGS go first */
}

static void accept_some(struct grpc_server *server, int door)
{
    for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
        struct sockaddr_storage a = {0};
        socklen_t size = sizeof a;
        int fd = accept4(door, (struct sockaddr *)&a, &size, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                out_of_descriptors(server, door);
            return; /* EAGAIN, or a caller that has left already */
        }
        char peer[72];
        describe_peer(peer, sizeof peer, fd, &a);
        if (a.ss_family != AF_UNIX)
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        server_adopt(server, fd, peer);
    }
}

/* ---- leaving ---- */

static void close_doors(struct grpc_server *server)
{
    for (size_t i = 0; i < server->doors_count; i++)
        (void)epoll_ctl(server->epoll, EPOLL_CTL_DEL, server->doors[i].fd, NULL);
    for (size_t i = 0; i < server->listeners_count; i++)
        listen_close(server->listeners[i]);
    server->doors_count = server->listeners_count = 0;
}

/* RFC 9113 6.8: first a notice that allows what is on its way, a moment later the last word. */
static void phase_fired(struct timer *timer, uint64_t now_ms)
{
    struct grpc_server *server = (void *)((char *)timer - offsetof(struct grpc_server, phase_timer));
    if (server->phase == SERVER_LEAVING && !server->goaway_sent) {
        server->goaway_sent = true;
        for (struct connection *c = server->connections; c != NULL; c = c->after)
            connection_leave(c, true);
    }
    if (server->phase == SERVER_LEAVING && now_ms >= server->grace_end_ms) {
        server->phase = SERVER_CUTTING;
        for (struct connection *c = server->connections; c != NULL; c = c->after)
            for (struct grpc_call *call = c->calls, *after; call != NULL; call = after) {
                after = call->after;
                call_refuse(call, GRPC_UNAVAILABLE, 1000, "the daemon is stopping");
            }
        timer_set(&server->timers, timer, now_ms + 500); /* for the trailers to go out */
    } else if (server->phase == SERVER_CUTTING) {
        for (struct connection *c = server->connections; c != NULL; c = c->after)
            connection_kill(c);
    } else {
        timer_set(&server->timers, timer, server->grace_end_ms);
    }
}

static void leave(struct grpc_server *server, uint64_t grace_ms)
{
    server->phase = SERVER_LEAVING;
    server->grace_end_ms = server->now_ms + grace_ms;
    close_doors(server);
    for (struct connection *c = server->connections; c != NULL; c = c->after)
        connection_leave(c, false);
    uint64_t notice = grace_ms < 100 ? grace_ms : 100;
    timer_set(&server->timers, &server->phase_timer, server->now_ms + notice);
}

void server_ask_stop(struct grpc_server *server, uint64_t grace_ms)
{
    uint64_t one = 1;
    pthread_mutex_lock(&server->lock);
    server->stop_asked = true;
    server->grace_ms = grace_ms < 1000000000 ? grace_ms : 1000000000;
    (void)!write(server->wake.fd, &one, sizeof one);
    pthread_mutex_unlock(&server->lock);
}

/* ---- the loop ---- */

static void flush_and_bury(struct grpc_server *server)
{
    while (server->dirty != NULL) {
        struct connection *c = server->dirty;
        server->dirty = c->next_dirty;
        c->dirty = false;
        if (!c->dead)
            connection_flush(c);
    }
    while (server->dead != NULL) {
        struct connection *c = server->dead;
        server->dead = c->next_dead;
        connection_free(c);
    }
}

static void dispatch(struct grpc_server *server, struct source *source, uint32_t events)
{
    struct connection *c = (struct connection *)source; /* its first member */
    uint64_t woken;
    switch (source->kind) {
    case SOURCE_WAKE:
        (void)!read(source->fd, &woken, sizeof woken);
        break;
    case SOURCE_LISTENER:
        if (server->phase == SERVER_RUNNING && !server->doors_shut)
            accept_some(server, source->fd);
        break;
    case SOURCE_CONNECTION:
        if (!c->dead && (events & EPOLLOUT))
            connection_dirty(c);
        if (!c->dead && (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
            connection_readable(c);
        break;
    }
}

bool server_turn(struct grpc_server *server, int wait_ms)
{
    struct epoll_event events[EVENTS];
    uint64_t next = timers_next(&server->timers);
    server->now_ms = server->clock();
    if (next != UINT64_MAX) {
        uint64_t until = next > server->now_ms ? next - server->now_ms : 0;
        if (wait_ms < 0 || until < (uint64_t)wait_ms)
            wait_ms = (int)(until < 60000 ? until : 60000);
    }
    int count = epoll_wait(server->epoll, events, EVENTS, wait_ms);
    server->now_ms = server->clock();
    for (int i = 0; i < count; i++)
        dispatch(server, events[i].data.ptr, events[i].events);
    run_posts(server);
    timers_run(&server->timers, server->now_ms);
    flush_and_bury(server);

    pthread_mutex_lock(&server->lock);
    bool stop = server->stop_asked, idle = server->posts == NULL;
    uint64_t grace_ms = server->grace_ms;
    pthread_mutex_unlock(&server->lock);
    if (stop && server->phase == SERVER_RUNNING)
        leave(server, grace_ms);
    flush_and_bury(server);
    if (server->phase != SERVER_RUNNING && idle && server->connections == NULL && server->owned_calls == 0 &&
        server->uploads == 0)
        server->phase = SERVER_ENDED;
    return server->phase != SERVER_ENDED;
}

static void *thread_main(void *context)
{
    struct grpc_server *server = context;
    pthread_setname_np(pthread_self(), "grpc");
    /* Proofs use every processor; who may, puts this thread before them. It sleeps most of the time. */
    id_t self = (id_t)gettid();
    (void)setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) - 10);
    while (server_turn(server, -1))
        ;
    return NULL;
}

/* ---- making and ending ---- */

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static void set_defaults(struct grpc_options *o)
{
    o->max_message = or_default(o->max_message, 256 << 20);
    o->small_message = or_default(o->small_message, 64 << 10);
    o->max_loose = or_default(o->max_loose, 48 << 20);
    o->max_connections = (uint32_t)or_default(o->max_connections, 4096);
    o->max_streams = (uint32_t)or_default(o->max_streams, 256);
    o->max_header_bytes = (uint32_t)or_default(o->max_header_bytes, 16 << 10);
    o->headers_ms = (uint32_t)or_default(o->headers_ms, 10000);
    o->stall_ms = (uint32_t)or_default(o->stall_ms, 60000);
    o->keepalive_ms = (uint32_t)or_default(o->keepalive_ms, 60000);
    o->keepalive_wait_ms = (uint32_t)or_default(o->keepalive_wait_ms, 20000);
    CHECK(o->small_message >= FIRST_WINDOW && o->small_message <= o->max_message);
}

static struct status open_doors(struct grpc_server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < server->listeners_count; i++)
        count += server->listeners[i]->sockets_count;
    server->doors = mem_alloc_zero(count, sizeof *server->doors);
    if (server->doors == NULL)
        return mem_failed("listening sockets", count, sizeof *server->doors);
    for (size_t i = 0; i < server->listeners_count; i++)
        for (uint32_t j = 0; j < server->listeners[i]->sockets_count; j++) {
            struct source *door = &server->doors[server->doors_count++];
            *door = (struct source){SOURCE_LISTENER, server->listeners[i]->sockets[j]};
            struct epoll_event event = {.events = EPOLLIN, .data.ptr = door};
            if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, door->fd, &event) != 0)
                return status_error(STATUS_IO, "cannot watch a listening socket: %s", strerrordesc_np(errno));
        }
    return status_ok();
}

static struct status open_loop(struct grpc_server *server)
{
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->wake = (struct source){SOURCE_WAKE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &server->wake};
    if (server->epoll < 0 || server->wake.fd < 0 || server->reserve < 0 ||
        epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->wake.fd, &event) != 0)
        return status_error(STATUS_IO, "cannot make the server's event loop: %s", strerrordesc_np(errno));
    server->receive_buffer = mem_alloc(RECEIVE_BYTES, 1);
    server->send_buffer = mem_alloc(SEND_BYTES, 1);
    if (server->receive_buffer == NULL || server->send_buffer == NULL || !connection_callbacks(server) ||
        !timers_room(&server->timers, 3))
        return mem_failed("server", RECEIVE_BYTES + SEND_BYTES, 1);
    server->timers_needed = 3;
    server->tick.fire = tick_fired;
    server->doors_timer.fire = doors_fired;
    server->phase_timer.fire = phase_fired;
    if (server->options.tick != NULL && server->options.tick_ms != 0)
        timer_set(&server->timers, &server->tick, server->now_ms + server->options.tick_ms);
    return open_doors(server);
}

struct status server_make(struct grpc_server **out, const struct grpc_options *options,
                          struct listener *const *listeners, size_t listeners_count)
{
    struct grpc_server *server = mem_alloc_zero(1, sizeof *server);
    struct listener **kept = mem_alloc(listeners_count, sizeof *kept);
    if (server == NULL || kept == NULL) {
        for (size_t i = 0; i < listeners_count; i++)
            listen_close(listeners[i]);
        mem_free(server);
        mem_free(kept);
        return mem_failed("server", 1, sizeof *server);
    }
    for (size_t i = 0; i < listeners_count; i++)
        kept[i] = listeners[i];
    server->listeners = kept;
    server->listeners_count = listeners_count;
    server->options = *options;
    set_defaults(&server->options);
    server->clock = monotonic_ms;
    server->now_ms = server->clock();
    server->posts_last = &server->posts;
    pthread_mutex_init(&server->lock, NULL);
    struct status s = open_loop(server);
    if (status_failed(&s)) {
        server_free(server);
        return s;
    }
    *out = server;
    return s;
}

void server_free(struct grpc_server *server)
{
    CHECK(server->connections == NULL && server->posts == NULL);
    close_doors(server);
    timer_clear(&server->timers, &server->tick);
    timer_clear(&server->timers, &server->doors_timer);
    timer_clear(&server->timers, &server->phase_timer);
    timers_end(&server->timers);
    nghttp2_session_callbacks_del(server->callbacks);
    nghttp2_option_del(server->session_options);
    if (server->epoll >= 0)
        close(server->epoll);
    if (server->wake.fd >= 0)
        close(server->wake.fd);
    if (server->reserve >= 0)
        close(server->reserve);
    mem_free(server->receive_buffer);
    mem_free(server->send_buffer);
    mem_free(server->doors);
    mem_free(server->listeners);
    pthread_mutex_destroy(&server->lock);
    mem_free(server);
}

struct status grpc_server_start(struct grpc_server **out, const struct grpc_options *options,
                                struct listener *const *listeners, size_t listeners_count)
{
    struct grpc_server *server;
    TRY(server_make(&server, options, listeners, listeners_count));
    /* Signals are for the program's own threads. */
    sigset_t all, before;
    signals_not_for_threads(&all);
    *out = server; /* before handlers can run, which may look at it */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&server->thread, NULL, thread_main, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        *out = NULL;
        server_free(server);
        return status_error(STATUS_MEMORY, "cannot start the server's thread: %s", strerrordesc_np(error));
    }
    return status_ok();
}

void grpc_server_stop(struct grpc_server *server, uint64_t grace_ms)
{
    if (server == NULL)
        return;
    server_ask_stop(server, grace_ms);
    pthread_join(server->thread, NULL);
    server_free(server);
}

void grpc_server_look(struct grpc_server *server, struct grpc_view *out)
{
    out->connections = atomic_load(&server->connections_now);
    out->calls = atomic_load(&server->calls_now);
    out->uploads_waiting = atomic_load(&server->uploads_now);
    out->loose_bytes = atomic_load(&server->loose_now);
    out->accepted = atomic_load(&server->accepted);
    out->evicted = atomic_load(&server->evicted);
    out->calls_begun = atomic_load(&server->calls_begun);
    out->bytes_received = atomic_load(&server->bytes_received);
    for (int i = 0; i < GRPC_CODES; i++)
        out->ended[i] = atomic_load(&server->codes[i]);
}
