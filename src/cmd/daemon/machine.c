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

/* Names of files in a group's folder: of the unified hierarchy, and of the memory controller before it. */
struct hierarchy {
    const char *marker, *folder, *limit, *used;
};
static const struct hierarchy HIERARCHIES[] = {
    {"0::", "", "memory.max", "memory.current"},
    {":memory:", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};
#define NO_LIMIT (UINT64_C(1) << 62) /* "max", or the largest number that the old hierarchy can hold */

static uint64_t number_in(const char *prefix, const struct hierarchy *h, const char *group, const char *file,
                          uint64_t missing)
{
    char path[1024], text[FILE_MAX];
    snprintf(path, sizeof path, "%.300s/sys/fs/cgroup%.20s%.500s/%.40s", prefix, h->folder, group, file);
    if (!read_text(text, path) || text[0] < '0' || text[0] > '9')
        return missing;
    return strtoull(text, NULL, 10);
}

/* Pages of files that the kernel takes back when it must. */
static uint64_t file_cache(const char *prefix, const struct hierarchy *h, const char *group)
{
    char path[1024], text[FILE_MAX];
    snprintf(path, sizeof path, "%.300s/sys/fs/cgroup%.20s%.500s/memory.stat", prefix, h->folder, group);
    if (!read_text(text, path))
        return 0;
    return value_of(text, "inactive_file ", 0) + value_of(text, "active_file ", 0);
}

/* The tightest limit of the group and those above it, with its use. */
static void cgroup(struct machine_memory *out, const char *prefix, const struct hierarchy *h)
{
    char path[1024], group[512] = "", text[FILE_MAX];
    snprintf(path, sizeof path, "%.400s/proc/self/cgroup", prefix);
    if (!read_text(text, path))
        return;
    const char *own = strstr(text, h->marker);
    if (own == NULL)
        return;
    own += strlen(h->marker);
    snprintf(group, sizeof group, "%.*s", (int)strcspn(own, "\n"), own);
    for (;;) {
        uint64_t limit = number_in(prefix, h, group, h->limit, NO_LIMIT);
        if (limit < NO_LIMIT) {
            uint64_t used = number_in(prefix, h, group, h->used, 0), cache = file_cache(prefix, h, group);
            used = used > cache ? used - cache : 0;
            used = used < limit ? used : limit;
            if (out->cgroup_limit == UINT64_MAX || limit - used < out->cgroup_limit - out->cgroup_used) {
                out->cgroup_limit = limit;
                out->cgroup_used = used;
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
    for (size_t i = 0; i < sizeof HIERARCHIES / sizeof HIERARCHIES[0]; i++)
        cgroup(out, prefix, &HIERARCHIES[i]);
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

const char *machine_source(const struct machine_memory *m)
{
    if (m->cgroup_limit != UINT64_MAX && m->cgroup_limit - m->cgroup_used < m->available)
        return " (auto: by the cgroup's limit)";
    return " (auto: by what is available)";
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
