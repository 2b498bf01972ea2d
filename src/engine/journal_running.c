/* See journal_running.h. */
#include "engine/journal_running.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char MAGIC[8] = "cuzkrun1";

struct table {
    char magic[8];
    char boot_id[40];
    uint64_t oom_kills;
    _Atomic uint32_t crashed;
    uint32_t unused;
    char id[RUNNING_SLOTS][40];
};

struct running {
    struct table *table;
    int next; /* where to look for a free slot */
};

static _Atomic(struct table *) the_table;

void running_crashed(void)
{
    struct table *t = atomic_load(&the_table);
    if (t != NULL)
        atomic_store(&t->crashed, 1);
}

static void read_boot_id(char out[40])
{
    memset(out, 0, 40);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, out, 36);
    if (n < 36)
        memset(out, 0, 40);
    close(fd);
}

static struct status map_table(struct table **out, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    void *at = MAP_FAILED;
    /* Its blocks are taken now: a store into a hole on a full disk would be a bus error. */
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)sizeof(struct table));
    if (error == 0) {
        at = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = at == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0)
        close(fd);
    if (error != 0)
        return status_error(STATUS_IO, "cannot use \"%.180s\": %s", path, strerror(error));
    *out = at;
    return status_ok();
}

struct status running_open(struct running **out, const char *path, uint64_t oom_kills,
                           void (*each)(void *context, const char *id, bool crash), void *context)
{
    char boot[40];
    struct running *r = mem_alloc_zero(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return mem_failed("journal", 1, sizeof *r);
    struct status s = map_table(&r->table, path);
    if (status_failed(&s)) {
        mem_free(r);
        return s;
    }
    struct table *t = r->table;
    read_boot_id(boot);
    if (memcmp(t->magic, MAGIC, sizeof MAGIC) == 0 && memcmp(t->boot_id, boot, sizeof boot) == 0) {
        bool crash = atomic_load(&t->crashed) != 0 ||
                     (oom_kills != UINT64_MAX && t->oom_kills != UINT64_MAX && oom_kills > t->oom_kills);
        for (int i = 0; i < RUNNING_SLOTS; i++) {
            t->id[i][sizeof t->id[i] - 1] = 0;
            if (t->id[i][0] != 0)
                each(context, t->id[i], crash);
        }
    }
    memset(t, 0, sizeof *t);
    memcpy(t->boot_id, boot, sizeof boot);
    t->oom_kills = oom_kills;
    memcpy(t->magic, MAGIC, sizeof MAGIC);
    atomic_store(&the_table, t);
    *out = r;
    return status_ok();
}

int running_begin(struct running *r, const char id[40])
{
    for (int tried = 0; tried < RUNNING_SLOTS; tried++) {
        int slot = r->next;
        r->next = (r->next + 1) % RUNNING_SLOTS;
        if (r->table->id[slot][0] == 0) {
            memcpy(r->table->id[slot] + 1, id + 1, 39);
            atomic_signal_fence(memory_order_release);
            ((volatile char *)r->table->id[slot])[0] = id[0];
            return slot;
        }
    }
    return RUNNING_NONE;
}

void running_end(struct running *r, int slot)
{
    if (slot != RUNNING_NONE)
        ((volatile char *)r->table->id[slot])[0] = 0;
}

void running_close(struct running *r)
{
    if (r == NULL)
        return;
    struct table *mine = r->table;
    (void)atomic_compare_exchange_strong(&the_table, &mine, NULL);
    munmap(r->table, sizeof *r->table);
    mem_free(r);
}
