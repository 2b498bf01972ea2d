/* What the machine has: memory and processors, from /proc, /sys and the cgroup, through a root prefix for
 * tests. */
#ifndef CUZK_CMD_DAEMON_MACHINE_H
#define CUZK_CMD_DAEMON_MACHINE_H

#include <stdint.h>

struct machine_memory {
    uint64_t total, available;          /* MemTotal, MemAvailable */
    uint64_t huge_pages;                /* reserved huge pages that are free: available to nobody else */
    uint64_t cgroup_limit, cgroup_used; /* UINT64_MAX, 0: no limit. used: less the file cache, which goes */
};
/* prefix "": the running system. Missing files give the most generous answer. */
void machine_memory(struct machine_memory *out, const char *prefix);
/* What this process may use from now on: the smaller of what is available and what the cgroup leaves, less
 * huge pages and margin (at most a tenth of the machine). */
uint64_t machine_budget(const struct machine_memory *m, uint64_t margin);
/* What set that limit, for the log: " (auto: ...)". */
const char *machine_source(const struct machine_memory *m);

/* Anonymous + shared, and resident, bytes of a process ("self" or a pid). */
void process_memory(uint64_t *used, uint64_t *resident, const char *pid);

#endif
