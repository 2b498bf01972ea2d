/* Remembering digests of large files. Hashing 47 GB takes a minute, so the digest found is kept in state_dir,
 * in one small file per parameter file, bound to path, device, inode, size and modification time. Whoever can
 * write state_dir can make any file trusted: it must belong to the operator alone, and a cache file that
 * others may write, or that somebody else owns, is not believed. */
#include "api/internal.h"

#include "base/mem.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_TEXT_MAX 512

/* "digests/" and the SHA-256 of the absolute path. */
static bool cache_path(char *out, size_t size, const char *path, const char *state_dir)
{
    char *absolute = realpath(path, NULL);
    if (absolute == NULL)
        return false;
    uint8_t digest[32];
    sha256(digest, absolute, strlen(absolute));
    free(absolute);
    int n = snprintf(out, size, "%s/digests/", state_dir);
    if (n < 0 || (size_t)n + 40 > size)
        return false;
    for (int i = 0; i < 16; i++)
        snprintf(out + n + 2 * i, 3, "%02x", digest[i]);
    return true;
}

static void cache_text(char text[CACHE_TEXT_MAX], const struct file_map *map, const uint8_t *digest)
{
    int n = snprintf(text, CACHE_TEXT_MAX, "cuzk digest 1\n%" PRIu64 " %" PRIu64 " %zu %" PRId64 "\n",
                     map->device, map->inode, map->size, map->mtime_ns);
    for (int i = 0; digest != NULL && i < PARAMS_DIGEST_BYTES; i++)
        n += snprintf(text + n, (size_t)(CACHE_TEXT_MAX - n), "%02x", digest[i]);
}

static bool nibble(uint8_t *out, char c)
{
    if (c >= '0' && c <= '9')
        *out = (uint8_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
        *out = (uint8_t)(c - 'a' + 10);
    else
        return false;
    return true;
}

static bool read_hex(uint8_t *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t high, low;
        if (!nibble(&high, text[2 * i]) || !nibble(&low, text[2 * i + 1]))
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Reads the cache file; false unless it belongs to this user and only he may write it. */
static bool read_cache(char text[CACHE_TEXT_MAX], const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    struct stat st;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    ssize_t n = good ? read(fd, text, CACHE_TEXT_MAX - 1) : -1;
    close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    return true;
}

bool api_digest_recall(uint8_t digest[PARAMS_DIGEST_BYTES], const struct file_map *map, const char *path,
                       const char *state_dir)
{
    char cache[4096], text[CACHE_TEXT_MAX], head[CACHE_TEXT_MAX];
    if (state_dir == NULL || !cache_path(cache, sizeof cache, path, state_dir) || !read_cache(text, cache))
        return false;
    cache_text(head, map, NULL);
    size_t length = strlen(head);
    if (strncmp(text, head, length) != 0 || strlen(text) != length + 2 * PARAMS_DIGEST_BYTES)
        return false;
    return read_hex(digest, text + length, PARAMS_DIGEST_BYTES);
}

void api_digest_remember(const struct file_map *map, const char *path, const char *state_dir,
                         const uint8_t digest[PARAMS_DIGEST_BYTES])
{
    char cache[4096], folder[4096], text[CACHE_TEXT_MAX];
    if (state_dir == NULL || !cache_path(cache, sizeof cache, path, state_dir))
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(cache, '/') - cache), cache);
    (void)mkdir(state_dir, 0700);
    (void)mkdir(folder, 0700);
    cache_text(text, map, digest);
    struct file_writer writer;
    struct status s = file_writer_open(&writer, cache);
    if (status_failed(&s))
        return;
    s = file_writer_add(&writer, text, strlen(text));
    if (!status_failed(&s))
        s = file_writer_finish(&writer);
    else
        file_writer_abandon(&writer);
}

struct status api_params_digest(uint8_t digest[PARAMS_DIGEST_BYTES], const struct file_map *map,
                                const char *path, const char *state_dir, const struct work *work,
                                cuzk_progress *progress, void *context)
{
    if (api_digest_recall(digest, map, path, state_dir))
        return status_ok();
    struct api_progress p;
    api_progress_start(&p, progress, context, "hashing parameters", map->size);
    struct status s = params_digest(digest, map, work, &p.done);
    api_progress_end(&p);
    if (!status_failed(&s))
        api_digest_remember(map, path, state_dir, digest);
    return s;
}
