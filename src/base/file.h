/* Files: reading by mapping, writing by a temporary name that is synced and renamed, so that no half
 * file ever stands under the final name. */
#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H

#include "base/status.h"
#include <stdint.h>
#include <sys/types.h>

struct file_map {
    const uint8_t *data; /* read-only mapping; NULL for an empty file */
    size_t size;
    uint64_t device, inode;
    int64_t mtime_ns;
};

/* Maps a regular file. Errors name the path and the reason; a directory or a device is refused. */
MUST_USE struct status file_map_open(struct file_map *out, const char *path);
void file_map_close(struct file_map *map);

/* Reads a whole file of at most limit bytes into memory from mem_alloc (gives it; mem_free). One zero byte
 * follows the data and is not counted; `padding` more bytes follow that may be read. "-" is standard input.
 */
MUST_USE struct status file_read(uint8_t **out, size_t *size, const char *path, size_t limit, size_t padding);

/* A file being written: buffered, under PATH.tmp-PID-RANDOM beside its final place. */
struct file_writer {
    int descriptor;
    char *path, *temporary;
    uint8_t *buffer;
    size_t used;
    uint64_t written; /* bytes handed over so far, buffered ones included */
};

/* Refuses to replace anything but a regular file. Allocates 1 MiB and the two names. */
MUST_USE struct status file_writer_open(struct file_writer *out, const char *path);
/* After an error only file_writer_abandon is of use. */
MUST_USE struct status file_writer_add(struct file_writer *writer, const void *data, size_t size);
/* Flushes, syncs, renames over the final name, syncs the folder. The writer is closed in any case; on an
 * error the temporary file is removed. */
MUST_USE struct status file_writer_finish(struct file_writer *writer);
/* Removes the temporary file; no-op after finish or a failed open. */
void file_writer_abandon(struct file_writer *writer);

#endif
