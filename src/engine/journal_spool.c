/* See journal_spool.h. Layout, little endian: "cuzkspl1", u64 count, count times u64 size, the bytes,
 * padding. */
#include "engine/journal_spool.h"

#include "base/bytes.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char MAGIC[8] = "cuzkspl1";

static struct status write_all(int fd, const void *data, size_t size)
{
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size < (1u << 30) ? size : (1u << 30));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return status_error(STATUS_IO, "%s", n < 0 ? strerror(errno) : "nothing was written");
        at += n;
        size -= (size_t)n;
    }
    return status_ok();
}

static struct status write_content(int fd, const struct bytes_view *vanilla, size_t count)
{
    static const uint8_t padding[C1_PADDING];
    size_t head_size = 16 + 8 * count;
    uint8_t *head = mem_alloc(head_size, 1);
    if (head == NULL)
        return mem_failed("journal", head_size, 1);
    memcpy(head, MAGIC, sizeof MAGIC);
    store_le64(head + 8, count);
    for (size_t i = 0; i < count; i++)
        store_le64(head + 16 + 8 * i, vanilla[i].size);
    struct status s = write_all(fd, head, head_size);
    mem_free(head);
    for (size_t i = 0; i < count && !status_failed(&s); i++)
        s = write_all(fd, vanilla[i].data, vanilla[i].size);
    if (!status_failed(&s))
        s = write_all(fd, padding, sizeof padding);
    if (!status_failed(&s) && fdatasync(fd) != 0)
        s = status_error(STATUS_IO, "sync: %s", strerror(errno));
    return s;
}

struct status spool_write(int folder, const char *id, const struct bytes_view *vanilla, size_t count)
{
    int fd = openat(folder, id, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct status s = status_ok();
    if (fd < 0)
        s = status_error(STATUS_IO, "%s", strerror(errno));
    if (!status_failed(&s))
        s = write_content(fd, vanilla, count);
    if (fd >= 0 && close(fd) != 0 && !status_failed(&s))
        s = status_error(STATUS_IO, "%s", strerror(errno));
    if (status_failed(&s) && fd >= 0)
        (void)unlinkat(folder, id, 0);
    return s;
}

/* Views over the mapping; false if the sizes do not add up to the file's. */
static bool take_views(struct spool *s)
{
    size_t at = 16 + 8 * s->vanilla_count, left = s->map.size - at;
    if (left < C1_PADDING)
        return false;
    left -= C1_PADDING;
    for (size_t i = 0; i < s->vanilla_count; i++) {
        uint64_t size = load_le64(s->map.data + 16 + 8 * i);
        if (size > left)
            return false;
        s->vanilla[i] = (struct bytes_view){s->map.data + at, (size_t)size};
        at += (size_t)size;
        left -= (size_t)size;
    }
    return left == 0;
}

struct status spool_open(struct spool *out, const char *path, size_t count)
{
    memset(out, 0, sizeof *out);
    TRY(file_map_open(&out->map, path));
    out->vanilla_count = count;
    out->vanilla = mem_alloc(count, sizeof *out->vanilla);
    struct status s = status_ok();
    if (out->vanilla == NULL)
        s = mem_failed("journal", count, sizeof *out->vanilla);
    else if (out->map.size < 16 || count > (out->map.size - 16) / 8 ||
             memcmp(out->map.data, MAGIC, sizeof MAGIC) != 0 || load_le64(out->map.data + 8) != count ||
             !take_views(out))
        s = status_error(STATUS_IO, "\"%.200s\" is damaged", path);
    if (status_failed(&s))
        spool_close(out);
    return s;
}

void spool_close(struct spool *spool)
{
    mem_free(spool->vanilla);
    file_map_close(&spool->map);
    memset(spool, 0, sizeof *spool);
}
