/* Files: mapping, reading whole, and writing under a temporary name.
 *
 * Errors carry the path and the system's reason; what a person can do about it goes into the hint. Opening
 * for reading never blocks on a pipe that has no writer when a mapping is wanted: only regular files can be
 * mapped. Writing refuses to replace anything but a regular file, so that no device is renamed away. */
#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define CHUNK_BYTES  ((size_t)1 << 16)

static struct status failed(const char *what, const char *path, int error)
{
    enum status_code code = error == ENOENT || error == ENOTDIR ? STATUS_MISSING : STATUS_IO;
    struct status s = status_error(code, "cannot %s \"%s\": %s", what, path, strerror(error));
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return status_hint(s, "check the path");
    case EACCES:
    case EPERM:
    case EROFS:
        return status_hint(s, "check the permissions of the file and its folders");
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return status_hint(s, "free space on the disk, raise the limit, or choose another place");
    case EMFILE:
    case ENFILE:
        return status_hint(s, "raise the limit of open files (ulimit -n)");
    case EIO:
        return status_hint(s, "check the disk");
    default:
        return s;
    }
}

static struct status not_regular(const char *what, const char *path, mode_t mode)
{
    const char *kind = S_ISDIR(mode) ? "a directory" : "not a regular file";
    return status_hint(status_error(STATUS_INVALID, "cannot %s \"%s\": it is %s", what, path, kind),
                       "give the path of a regular file");
}

struct status file_map_open(struct file_map *out, const char *path)
{
    struct stat info;
    *out = (struct file_map){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return failed("open", path, errno);
    struct status s = status_ok();
    void *data = NULL;
    if (fstat(descriptor, &info) != 0) {
        s = failed("open", path, errno);
    } else if (!S_ISREG(info.st_mode)) {
        s = not_regular("map", path, info.st_mode);
    } else if (info.st_size > 0) {
        data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
        if (data == MAP_FAILED)
            s = failed("map", path, errno);
    }
    close(descriptor);
    if (!status_failed(&s))
        *out =
            (struct file_map){.data = data,
                              .size = (size_t)info.st_size,
                              .device = info.st_dev,
                              .inode = info.st_ino,
                              .mtime_ns = info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec};
    return s;
}

void file_map_close(struct file_map *map)
{
    if (map->data)
        munmap((void *)(uintptr_t)map->data, map->size);
    *map = (struct file_map){0};
}

/* Reads to the end, growing the block; *capacity is its size, at least one byte above *size. */
static struct status read_all(uint8_t **data, size_t *capacity, size_t *size, int descriptor,
                              const char *path, size_t limit)
{
    for (;;) {
        if (*size > limit)
            return status_error(STATUS_INVALID, "\"%s\" is larger than the %zu bytes allowed", path, limit);
        if (*size == *capacity) {
            size_t wider = *capacity + *capacity / 2 + CHUNK_BYTES;
            uint8_t *grown = mem_grow(*data, *capacity, wider, 1);
            if (!grown)
                return mem_failed(path, wider, 1);
            *data = grown;
            *capacity = wider;
        }
        ssize_t got = read(descriptor, *data + *size, *capacity - *size);
        if (got == 0)
            return status_ok();
        if (got < 0 && errno != EINTR)
            return failed("read", path, errno);
        *size += got > 0 ? (size_t)got : 0;
    }
}

struct status file_read(uint8_t **out, size_t *size, const char *path, size_t limit, size_t padding)
{
    struct stat info;
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    uint8_t *data = NULL;
    size_t capacity = CHUNK_BYTES, used = 0;
    struct status s = status_ok();
    *out = NULL;
    *size = 0;
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return failed("open", name, errno);
    if (fstat(descriptor, &info) != 0)
        TRY_OUT(failed("read", name, errno));
    if (S_ISDIR(info.st_mode))
        TRY_OUT(not_regular("read", name, info.st_mode));
    if (S_ISREG(info.st_mode)) {
        if ((uint64_t)info.st_size > limit)
            TRY_OUT(status_detail(
                status_error(STATUS_INVALID, "\"%s\" is larger than the %zu bytes allowed", name, limit),
                "it has %lld bytes", (long long)info.st_size));
        capacity = (size_t)info.st_size + 1;
    }
    capacity += padding + 1;
    data = mem_alloc(capacity, 1);
    if (!data)
        TRY_OUT(mem_failed(name, capacity, 1));
    TRY_OUT(read_all(&data, &capacity, &used, descriptor, name, limit));
    if (capacity < used + 1 + padding) {
        uint8_t *grown = mem_grow(data, capacity, used + 1 + padding, 1);
        if (!grown)
            TRY_OUT(mem_failed(name, used + 1 + padding, 1));
        data = grown;
    }
    memset(data + used, 0, 1 + padding);
    *out = data;
    *size = used;
    data = NULL;
out:
    mem_free(data);
    if (!standard)
        close(descriptor);
    return s;
}

/* Removes what is left of a writer. */
static void writer_close(struct file_writer *writer)
{
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
        unlink(writer->temporary);
    }
    mem_free(writer->path);
    mem_free(writer->temporary);
    mem_free(writer->buffer);
    *writer = (struct file_writer){.descriptor = -1};
}

struct status file_writer_open(struct file_writer *out, const char *path)
{
    struct stat info;
    uint32_t random;
    *out = (struct file_writer){.descriptor = -1};
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return not_regular("write", path, info.st_mode);
    TRY(random_bytes((uint8_t *)&random, sizeof random));
    size_t length = strlen(path) + 1, room = length + 40;
    struct status s = status_ok();
    out->path = mem_alloc(length, 1);
    out->temporary = mem_alloc(room, 1);
    out->buffer = mem_alloc(BUFFER_BYTES, 1);
    if (!out->path || !out->temporary || !out->buffer)
        TRY_OUT(mem_failed("buffer of a file", BUFFER_BYTES + length + room, 1));
    memcpy(out->path, path, length);
    snprintf(out->temporary, room, "%s.tmp-%ld-%08x", path, (long)getpid(), random);
    out->descriptor = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    if (out->descriptor < 0)
        TRY_OUT(failed("create", out->temporary, errno));
    return s;
out:
    writer_close(out);
    return s;
}

static struct status write_all(struct file_writer *writer, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(writer->descriptor, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return failed("write", writer->path, errno);
        data += put;
        size -= (size_t)put;
    }
    return status_ok();
}

struct status file_writer_add(struct file_writer *writer, const void *data, size_t size)
{
    struct status s = status_ok();
    CHECK(writer->descriptor >= 0);
    if (size > BUFFER_BYTES - writer->used) {
        TRY_OUT(write_all(writer, writer->buffer, writer->used));
        writer->used = 0;
    }
    if (size >= BUFFER_BYTES) {
        TRY_OUT(write_all(writer, data, size));
    } else if (size > 0) {
        memcpy(writer->buffer + writer->used, data, size);
        writer->used += size;
    }
    writer->written += size;
out:
    return s;
}

/* A rename is durable once the folder is synced. File systems that cannot sync folders say EINVAL. */
static struct status sync_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder)
        return status_ok();
    memcpy(folder, path, length);
    folder[length] = 0;
    const char *name = !slash ? "." : length == 0 ? "/" : folder;
    int descriptor = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return status_ok(); /* a folder that may be written but not read */
    int error = fsync(descriptor) == 0 ? 0 : errno;
    close(descriptor);
    return error == 0 || error == EINVAL || error == EROFS ? status_ok()
                                                           : failed("sync the folder of", path, error);
}

struct status file_writer_finish(struct file_writer *writer)
{
    struct status s = status_ok();
    CHECK(writer->descriptor >= 0);
    TRY_OUT(write_all(writer, writer->buffer, writer->used));
    if (fsync(writer->descriptor) != 0 && errno != EINVAL)
        TRY_OUT(failed("sync", writer->path, errno));
    if (rename(writer->temporary, writer->path) != 0)
        TRY_OUT(failed("rename to", writer->path, errno));
    /* From here on the file stands; only its descriptor is left. */
    if (close(writer->descriptor) != 0)
        s = failed("close", writer->path, errno);
    writer->descriptor = -1;
    if (!status_failed(&s))
        s = sync_folder(writer->path);
out:
    writer_close(writer);
    return s;
}

void file_writer_abandon(struct file_writer *writer)
{
    writer_close(writer);
}
