/* A browser of a few lines: raw bytes to a loopback port, and what comes back. */
#ifndef CUZK_TESTS_SERVE_HTTP_SUPPORT_H
#define CUZK_TESTS_SERVE_HTTP_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

int http_connect(uint16_t port);
/* All of the text, or as much as the peer takes. */
void http_send(int fd, const char *text, size_t size);
/* Until the peer closes or `out` is full; out ends with a zero byte. The size. */
size_t http_receive(int fd, char *out, size_t size);
/* One request "METHOD PATH" on a connection of its own; the status code. Header and body into out. */
int http_ask(uint16_t port, const char *method, const char *path, char *out, size_t size);
/* The body of an answer. */
const char *http_body(const char *answer);

#endif
