/* See machine.h. */
#include "cmd/daemon/machine.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 16384

static bool read_text(char out[FILE_MAX], const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t n = 0;
    for (ssize_t more; n < FILE_MAX - 1 && (more = read(fd, out + n, FILE_MAX - 1 - n)) > 0;)
        n += (size_t)more;
    close(fd);
    out[n] = 0;
    return true;
}

/* The number after "name" at the start of a line, times 1024 where "kB" follows. */
static uint64_t value_of(const char *text, const char *name, uint64_t missing)
{
    size_t n = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) != 0)
            continue;
        char *end;
        uint64_t value = strtoull(line + n, &end, 10);
        return strncmp(end, " kB", 3) == 0 ? 1024 * value : value;
    }
    return missing;
}

/* The tightest limit of the unified cgroup and those above it, with its use. */
static void cgroup(struct machine_memory *out, const char *prefix)
{
    char path[1024], group[512] = "", text[FILE_MAX];
    snprintf(path, sizeof path, "%.400s/proc/self/cgroup", prefix);
    if (!read_text(text, path))
        return;
    const char *unified = strstr(text, "0::");
    if (unified == NULL)
        return;
    snprintf(group, sizeof group, "%.*s", (int)strcspn(unified + 3, "\n"), unified + 3);
    for (;;) {
        snprintf(path, sizeof path, "%.400s/sys/fs/cgroup%.500s/memory.max", prefix, group);
        if (read_text(text, path) && strncmp(text, "max", 3) != 0) {
            uint64_t limit = strtoull(text, NULL, 10);
            snprintf(path, sizeof path, "%.400s/sys/fs/cgroup%.500s/memory.current", prefix, group);
            uint64_t used = read_text(text, path) ? strtoull(text, NULL, 10) : 0;
            if (out->cgroup_limit == UINT64_MAX || limit - used < out->cgroup_limit - out->cgroup_used) {
                out->cgroup_limit = limit;
                out->cgroup_used = used < limit ? used : limit;
            }
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return;
        *slash = 0;
    }
}

void machine_memory(struct machine_memory *out, const char *prefix)
{
    char path[1024], text[FILE_MAX] = "";
    *out = (struct machine_memory){.total = UINT64_MAX, .available = UINT64_MAX, .cgroup_limit = UINT64_MAX};
    snprintf(path, sizeof path, "%.400s/proc/meminfo", prefix);
    if (read_text(text, path)) {
        out->total = value_of(text, "MemTotal:", UINT64_MAX);
        out->available = value_of(text, "MemAvailable:", out->total);
        out->huge_pages = value_of(text, "HugePages_Free:", 0) * value_of(text, "Hugepagesize:", 0);
    }
    cgroup(out, prefix);
}

uint64_t machine_budget(const struct machine_memory *m, uint64_t margin)
{
    uint64_t budget = m->available;
    if (m->cgroup_limit != UINT64_MAX && m->cgroup_limit - m->cgroup_used < budget)
        budget = m->cgroup_limit - m->cgroup_used;
    if (m->total != UINT64_MAX && margin > m->total / 10)
        margin = m->total / 10;
    uint64_t off = margin; /* free huge pages are not in MemAvailable already */
    return budget > off ? budget - off : 0;
}

void process_memory(uint64_t *used, uint64_t *resident, const char *pid)
{
    char path[64], text[FILE_MAX] = "";
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    *used = *resident = 0;
    if (!read_text(text, path))
        return;
    *used = value_of(text, "RssAnon:", 0) + value_of(text, "RssShmem:", 0);
    *resident = value_of(text, "VmRSS:", 0);
}
