/* Vanilla bytes of one waiting job as a file: sizes, bytes, C1_PADDING zero bytes. Read by mapping, so that a
 * long queue taken up again needs no memory until its jobs are opened. */
#ifndef CUZK_ENGINE_JOURNAL_SPOOL_H
#define CUZK_ENGINE_JOURNAL_SPOOL_H

#include "base/file.h"
#include "filecoin/request.h"

struct spool {
    struct file_map map;
    struct bytes_view *vanilla;
    size_t vanilla_count;
};

/* folder: an open directory, for the caller to sync: its entry of the file counts from then on. The file
 * itself is synced when this returns; on an error it is gone. */
MUST_USE struct status spool_write(int folder, const char *id, const struct bytes_view *vanilla,
                                   size_t count);
/* STATUS_IO if the file is not as long as it says, or has another count. */
MUST_USE struct status spool_open(struct spool *out, const char *path, size_t count);
void spool_close(struct spool *spool);

#endif
