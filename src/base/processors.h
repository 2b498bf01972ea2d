/* How many processors this process may use: internal to base, apart from the pool so that tests can give
 * it a made-up /proc and /sys. */
#ifndef CUZK_BASE_PROCESSORS_H
#define CUZK_BASE_PROCESSORS_H

/* Processors by affinity and by cgroup quota (the smaller), at least 1. `root` is put before /proc and /sys;
 * "" is the machine itself. */
unsigned processors_usable(const char *root);
/* The cgroup quota alone, rounded up to whole processors; 0 where there is none. */
unsigned processors_quota(const char *root);

#endif
