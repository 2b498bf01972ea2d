/* What the server adds to the kernel's own work. Two figures, each beside its floor in the same run and over
 * the same kind of socket pair:
 *
 *     upload   a 60 MB message of DATA frames of 16 KiB; floor: the same bytes received into a fresh buffer
 *     call     a unary call of an empty message on an idle connection; floor: a byte there and back between
 * two threads
 *
 * The client writes frames made beforehand, so that its own work is the kernel's only. */
#include "base/mem.h"
#include "serve/grpc/internal.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BODY   (60 << 20)
#define FRAME  16384
#define ROUNDS 5
#define CALLS  2000

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void handle(void *context, struct grpc_call *call, struct grpc_message *message)
{
    (void)context;
    grpc_message_end(message);
    grpc_answer(call, NULL, 0);
}

static const struct grpc_method methods[] = {{.path = "/e", .handle = handle}};

struct frames {
    uint8_t *bytes;
    size_t size;
};

static void put(struct frames *f, const void *bytes, size_t size)
{
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void put_frame(struct frames *f, uint8_t type, uint8_t flags, uint32_t stream, const void *payload,
                      size_t size)
{
    const uint8_t head[9] = {(uint8_t)(size >> 16),   (uint8_t)(size >> 8),   (uint8_t)size,  type, flags, 0,
                             (uint8_t)(stream >> 16), (uint8_t)(stream >> 8), (uint8_t)stream};
    put(f, head, sizeof head);
    put(f, payload, size);
}

static void put_headers(struct frames *f, uint32_t stream)
{
    static const char block[] = "\x83\x86\x04\x02/e\x01\x01h\x0f\x10\x10"
                                "application/grpc"
                                "\x00\x02te\x08trailers";
    put_frame(f, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream, block, sizeof block - 1);
}

static void send_all(int fd, const uint8_t *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t n = send(fd, bytes + sent, size - sent, MSG_NOSIGNAL);
        CHECK(n > 0);
        sent += (size_t)n;
    }
}

/* Reads until the server has been silent for so long; a blocking wait for the first byte. */
static void drink(int fd, int silence_ms)
{
    uint8_t buffer[65536];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK(poll(&p, 1, 10000) > 0);
    do
        CHECK(recv(fd, buffer, sizeof buffer, 0) > 0);
    while (poll(&p, 1, silence_ms) > 0);
}

/* Until HEADERS with END_STREAM: the trailers are the answer's last bytes. */
static void wait_trailers(int fd)
{
    static uint8_t buffer[65536];
    size_t size = 0;
    for (;;) {
        ssize_t n = recv(fd, buffer + size, sizeof buffer - size, 0);
        CHECK(n > 0);
        size += (size_t)n;
        size_t at = 0;
        while (size - at >= 9) {
            size_t payload = (size_t)buffer[at] << 16 | (size_t)buffer[at + 1] << 8 | buffer[at + 2];
            if (size - at < 9 + payload)
                break;
            if (buffer[at + 3] == NGHTTP2_HEADERS && (buffer[at + 4] & NGHTTP2_FLAG_END_STREAM))
                return;
            CHECK(buffer[at + 3] != NGHTTP2_RST_STREAM);
            at += 9 + payload;
        }
        memmove(buffer, buffer + at, size - at);
        size -= at;
    }
}

static int connect_to(const char *path)
{
    struct sockaddr_un {
        sa_family_t family;
        char path[108];
    } name = {.family = AF_UNIX};
    snprintf(name.path, sizeof name.path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0";
    send_all(fd, (const uint8_t *)preface, sizeof preface);
    drink(fd, 20);
    return fd;
}

static double upload(int fd, uint32_t stream)
{
    static uint8_t payload[FRAME];
    struct frames f = {malloc(BODY + BODY / FRAME * 9 + 1000), 0};
    CHECK(f.bytes != NULL);
    put_headers(&f, stream);
    uint32_t size = BODY - PREFIX_BYTES;
    const uint8_t prefix[PREFIX_BYTES] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
                                          (uint8_t)(size >> 8), (uint8_t)size};
    memcpy(payload, prefix, sizeof prefix);
    for (size_t i = 0; i < BODY / FRAME; i++) {
        put_frame(&f, NGHTTP2_DATA, i + 1 == BODY / FRAME, stream, payload, FRAME);
        memset(payload, 0, sizeof prefix);
    }
    /* The first window, then the rest as if the grant had come: the server opens the window at once. */
    double start = seconds();
    size_t first = 9 + 40 + FRAME;
    send_all(fd, f.bytes, first);
    usleep(2000);
    double pause = seconds();
    send_all(fd, f.bytes + first, f.size - first);
    wait_trailers(fd);
    double end = seconds();
    (void)start;
    free(f.bytes);
    return end - pause;
}

static void *send_floor(void *context)
{
    int fd = *(int *)context;
    uint8_t *bytes = calloc(1, 1 << 20);
    CHECK(bytes != NULL);
    for (int i = 0; i < BODY >> 20; i++)
        send_all(fd, bytes, 1 << 20);
    free(bytes);
    return NULL;
}

static double upload_floor(void)
{
    int fds[2];
    pthread_t thread;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CHECK(pthread_create(&thread, NULL, send_floor, &fds[0]) == 0);
    double start = seconds();
    uint8_t *bytes = mem_alloc(BODY, 1);
    CHECK(bytes != NULL);
    for (size_t got = 0; got < BODY;) {
        ssize_t n = recv(fds[1], bytes + got, BODY - got < RECEIVE_BYTES ? BODY - got : RECEIVE_BYTES, 0);
        CHECK(n > 0);
        got += (size_t)n;
    }
    double end = seconds();
    pthread_join(thread, NULL);
    mem_free(bytes);
    close(fds[0]);
    close(fds[1]);
    return end - start;
}

static double call(int fd, uint32_t stream)
{
    uint8_t room[256];
    struct frames f = {room, 0};
    put_headers(&f, stream);
    put_frame(&f, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, "\0\0\0\0\0", 5);
    double start = seconds();
    send_all(fd, f.bytes, f.size);
    wait_trailers(fd);
    return seconds() - start;
}

static void *echo_main(void *context)
{
    int fd = *(int *)context;
    char byte;
    while (recv(fd, &byte, 1, 0) == 1)
        send_all(fd, (uint8_t *)&byte, 1);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, size_t count)
{
    qsort(list, count, sizeof *list, compare);
    return list[count / 2];
}

int main(void)
{
    struct grpc_options o = {.methods = methods, .methods_count = 1};
    struct grpc_server *server;
    struct listener *listener;
    char address[64];
    double got[CALLS], least[CALLS];
    snprintf(address, sizeof address, "unix:/tmp/cuzk-grpc-bench-%ld", (long)getpid());
    struct status s = listen_open(&listener, address, NULL);
    CHECK(!status_failed(&s));
    s = grpc_server_start(&server, &o, &listener, 1);
    CHECK(!status_failed(&s));
    int fd = connect_to(address + 5), fds[2];
    uint32_t stream = 1;
    for (int i = 0; i < ROUNDS; i++, stream += 2) {
        got[i] = upload(fd, stream);
        least[i] = upload_floor();
    }
    double a = median(got, ROUNDS), b = median(least, ROUNDS);
    printf("upload of 60 MiB: %.1f ms, %.2f of the floor (%.1f ms)\n", a * 1e3, a / b, b * 1e3);
    pthread_t thread;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CHECK(pthread_create(&thread, NULL, echo_main, &fds[1]) == 0);
    for (int i = 0; i < CALLS; i++, stream += 2) {
        char byte = 0;
        got[i] = call(fd, stream);
        double start = seconds();
        send_all(fds[0], (uint8_t *)&byte, 1);
        CHECK(recv(fds[0], &byte, 1, 0) == 1);
        least[i] = seconds() - start;
    }
    a = median(got, CALLS), b = median(least, CALLS);
    printf("unary call: %.1f us, %.2f of the floor (%.1f us)\n", a * 1e6, a / b, b * 1e6);
    close(fds[0]);
    pthread_join(thread, NULL);
    close(fds[1]);
    close(fd);
    grpc_server_stop(server, 0);
    return 0;
}
