/* See http_support.h. */
#include "client.h"

#include "http_support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int http_connect(uint16_t port)
{
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    struct timeval limit = {30, 0}; /* of a test that would hang */
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    return fd;
}

void http_send(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, text, size, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        text += n;
        size -= (size_t)n;
    }
}

size_t http_receive(int fd, char *out, size_t size)
{
    size_t n = 0;
    while (n + 1 < size) {
        ssize_t more = recv(fd, out + n, size - 1 - n, 0);
        if (more < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fail_msg("no end of the answer within 30 s");
        if (more <= 0)
            break;
        n += (size_t)more;
    }
    out[n] = 0;
    return n;
}

int http_ask(uint16_t port, const char *method, const char *path, char *out, size_t size)
{
    char request[512];
    int fd = http_connect(port);
    int n = snprintf(request, sizeof request,
                     "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path);
    http_send(fd, request, (size_t)n);
    (void)http_receive(fd, out, size);
    close(fd);
    assert_memory_equal(out, "HTTP/1.1 ", 9);
    return atoi(out + 9);
}

const char *http_body(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}
