/* How many processors this process may use.
 *
 * A container limits a process by affinity or by a quota of processor time; a pool larger than the quota is
 * stopped by the kernel in the middle of its work, for tens of milliseconds at a time. The quota of every
 * group from ours up to the root counts. Version 2 groups: cpu.max is "QUOTA PERIOD" or "max PERIOD";
 * version 1: cpu.cfs_quota_us (-1 for none) and cpu.cfs_period_us. Inside a container the path of
 * /proc/self/cgroup may be the host's and not exist; walking up to the mount's root then still finds the
 * container's own files. */
#include "base/processors.h"
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 4096

/* First line of a file, without its newline. */
static bool read_line(char *out, int room, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool ok = fgets(out, room, file) != NULL;
    fclose(file);
    if (ok)
        out[strcspn(out, "\n")] = 0;
    return ok;
}

static unsigned whole_processors(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long n = quota / period + (quota % period != 0);
    return n > 1000000 ? 1000000 : (unsigned)n;
}

/* The quota of one group folder, 0 for none. */
static unsigned group_quota(const char *folder, bool version_2)
{
    char path[PATH_ROOM + 32], line[128];
    if (version_2) {
        long long quota, period;
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        if (!read_line(line, sizeof line, path) || sscanf(line, "%lld %lld", &quota, &period) != 2)
            return 0;
        return whole_processors(quota, period);
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (!read_line(line, sizeof line, path))
        return 0;
    long long quota = strtoll(line, NULL, 10);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!read_line(line, sizeof line, path))
        return 0;
    return whole_processors(quota, strtoll(line, NULL, 10));
}

static unsigned smaller_quota(unsigned a, unsigned b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* The smallest quota from the group up to the mount point. */
static unsigned quota_upwards(const char *mount, const char *group, bool version_2)
{
    char folder[PATH_ROOM];
    size_t least = strlen(mount);
    int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    unsigned quota = 0;
    for (;;) {
        quota = smaller_quota(quota, group_quota(folder, version_2));
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < least)
            return quota;
        *slash = 0;
    }
}

static bool list_has(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == 0))
            return true;
    }
    return false;
}

unsigned processors_quota(const char *root)
{
    char path[PATH_ROOM], mount[PATH_ROOM], line[PATH_ROOM];
    unsigned quota = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        controllers++;
        if (*controllers == 0) { /* version 2, alone or beside version 1 */
            snprintf(mount, sizeof mount, "%.2000s/sys/fs/cgroup", root);
            quota = smaller_quota(quota, quota_upwards(mount, group, true));
            snprintf(mount, sizeof mount, "%.2000s/sys/fs/cgroup/unified", root);
            quota = smaller_quota(quota, quota_upwards(mount, group, true));
        } else if (list_has(controllers, "cpu")) {
            snprintf(mount, sizeof mount, "%.2000s/sys/fs/cgroup/%.1000s", root, controllers);
            quota = smaller_quota(quota, quota_upwards(mount, group, false));
            snprintf(mount, sizeof mount, "%.2000s/sys/fs/cgroup/cpu", root);
            quota = smaller_quota(quota, quota_upwards(mount, group, false));
        }
    }
    fclose(file);
    return quota;
}

static unsigned processors_affinity(void)
{
    for (unsigned room = 1024; room <= 1u << 20; room *= 4) {
        cpu_set_t *set = CPU_ALLOC(room);
        if (!set)
            return 1;
        size_t size = CPU_ALLOC_SIZE(room);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
    }
    return 1;
}

unsigned processors_usable(const char *root)
{
    return smaller_quota(processors_affinity(), processors_quota(root));
}
