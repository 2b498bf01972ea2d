/* The machine: memory and cgroup, huge pages, limits, processors, card and driver, clock. Everything is read
 * below a root prefix, so that tests bring their own machine. */
#include "cmd/cuzk/doctor.h"

#include "base/processors.h"
#include "cmd/daemon/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define GIB 0x1p30

/* A small file below the root, without its last newline; false if it cannot be read. */
static bool read_below(char *out, size_t size, const struct doctor *d, const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%.300s%.200s", d->root, path);
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    out[0] = 0;
    if (fd < 0)
        return false;
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    if (n < 0)
        return false;
    out[n] = 0;
    if (n > 0 && out[n - 1] == '\n')
        out[n - 1] = 0;
    return true;
}

/* ---- memory ---- */

static void budget(struct doctor *d, const struct machine_memory *m)
{
    uint64_t machine = machine_budget(m, d->config.memory.safety_margin),
             wanted = d->config.memory.total_budget;
    double gib = (double)(wanted == BYTES_AUTO ? machine : wanted) / GIB;
    if (wanted != BYTES_AUTO && wanted > machine)
        doctor_say(d, "memory", d->config.memory.overcommit ? VERDICT_WARN : VERDICT_FAIL,
                   "set memory.total_budget = \"auto\", or free memory",
                   "memory.total_budget is %.1f GiB, the machine can give %.1f GiB now", gib,
                   (double)machine / GIB);
    else if (gib < 0.0625)
        doctor_say(d, "memory", VERDICT_FAIL,
                   "free memory, lower memory.safety_margin, or raise the cgroup's limit",
                   "%.2f GiB are left for proofs: too little for any", gib);
    else
        doctor_say(d, "memory", VERDICT_OK, NULL, "%.1f GiB, %.1f GiB available, budget for proofs %.1f GiB",
                   (double)m->total / GIB, (double)m->available / GIB, gib);
}

static void huge_pages(struct doctor *d, const struct machine_memory *m)
{
    char text[128];
    if (m->huge_pages > m->total / 20)
        doctor_say(
            d, "huge pages", VERDICT_WARN, "sysctl vm.nr_hugepages=0, unless another program wants them",
            "%.1f GiB are set aside as huge pages, which cuzk does not use", (double)m->huge_pages / GIB);
    if (!read_below(text, sizeof text, d, "/sys/kernel/mm/transparent_hugepage/enabled"))
        return;
    if (strstr(text, "[never]") != NULL)
        doctor_say(d, "huge pages", VERDICT_WARN,
                   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
                   "transparent huge pages are off: large buffers are slower");
    else
        doctor_say(d, "huge pages", VERDICT_OK, NULL, "transparent huge pages: %.60s", text);
}

void doctor_memory(struct doctor *d)
{
    struct machine_memory m;
    char text[64];
    machine_memory(&m, d->root);
    if (m.total == UINT64_MAX) {
        doctor_say(d, "memory", VERDICT_WARN, "mount /proc", "%s/proc/meminfo cannot be read", d->root);
        return;
    }
    budget(d, &m);
    if (m.cgroup_limit < m.total) {
        uint64_t left = m.cgroup_limit - m.cgroup_used;
        bool tight = left < m.cgroup_limit / 4;
        doctor_say(
            d, "cgroup", tight ? VERDICT_WARN : VERDICT_OK,
            tight ? "raise memory.max (systemd: MemoryMax=), or end what else runs in the group" : NULL,
            "limit %.1f GiB, %.1f GiB of it used", (double)m.cgroup_limit / GIB, (double)m.cgroup_used / GIB);
    } else {
        doctor_say(d, "cgroup", VERDICT_OK, NULL, "no limit of memory below the machine's");
    }
    huge_pages(d, &m);
    if (read_below(text, sizeof text, d, "/proc/sys/vm/overcommit_memory") && strcmp(text, "2") == 0)
        doctor_say(d, "memory", VERDICT_WARN, "sysctl vm.overcommit_memory=0",
                   "the kernel refuses reservations beyond its commit limit (vm.overcommit_memory is 2)");
}

/* ---- limits ---- */

/* Soft and hard value of a line of /proc/self/limits; UINT64_MAX: unlimited. */
static bool limit_of(uint64_t out[2], const char *text, const char *name)
{
    const char *line = strstr(text, name);
    char soft[32], hard[32];
    if (line == NULL || sscanf(line + strlen(name), "%31s %31s", soft, hard) != 2)
        return false;
    out[0] = strcmp(soft, "unlimited") == 0 ? UINT64_MAX : strtoull(soft, NULL, 10);
    out[1] = strcmp(hard, "unlimited") == 0 ? UINT64_MAX : strtoull(hard, NULL, 10);
    return true;
}

static void file_limit(struct doctor *d, const char *text)
{
    uint64_t n[2], wanted = 4096;
    if (!limit_of(n, text, "Max open files"))
        return;
    if (n[0] < wanted)
        doctor_say(d, "limits", n[0] < 256 ? VERDICT_FAIL : VERDICT_WARN,
                   "ulimit -n 4096, or LimitNOFILE=4096 in the unit",
                   "%llu open files: every connection takes one", (unsigned long long)n[0]);
    else
        doctor_say(d, "limits", VERDICT_OK, NULL, "open files: %s",
                   n[0] == UINT64_MAX ? "unlimited" : "enough");
}

static void lock_limit(struct doctor *d, const char *text)
{
    uint64_t n[2];
    char driver[64];
    bool pins = strcmp(d->config.gpus.backend, "cpu") != 0 &&
                strcmp(d->config.srs.residency, "mapped") != 0 &&
                read_below(driver, sizeof driver, d, "/proc/driver/nvidia/version");
    if (!limit_of(n, text, "Max locked memory"))
        return;
    if (n[0] == UINT64_MAX)
        doctor_say(d, "limits", VERDICT_OK, NULL, "locked memory: unlimited");
    else if (pins && n[0] < (UINT64_C(64) << 30))
        doctor_say(d, "limits", VERDICT_WARN, "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit",
                   "%.1f MiB of locked memory: parameters are pinned for a card", (double)n[0] / 0x1p20);
    else
        doctor_say(d, "limits", VERDICT_OK, NULL, "locked memory: %.1f MiB; only cards want more",
                   (double)n[0] / 0x1p20);
}

void doctor_limits(struct doctor *d)
{
    char text[4096];
    uint64_t n[2];
    unsigned processors = processors_usable(d->root);
    if (!read_below(text, sizeof text, d, "/proc/self/limits")) {
        doctor_say(d, "limits", VERDICT_WARN, "mount /proc", "%s/proc/self/limits cannot be read", d->root);
    } else {
        file_limit(d, text);
        lock_limit(d, text);
        if (limit_of(n, text, "Max processes") && n[0] < 4 * (uint64_t)processors + 64)
            doctor_say(d, "limits", VERDICT_FAIL, "ulimit -u 4096, or TasksMax= in the unit",
                       "%llu processes and threads: too few", (unsigned long long)n[0]);
    }
    if (d->config.synthesis.threads > processors)
        doctor_say(d, "processors", VERDICT_WARN, "synthesis.threads = 0 follows the quota",
                   "synthesis.threads is %llu, and %u can be used",
                   (unsigned long long)d->config.synthesis.threads, processors);
    else
        doctor_say(d, "processors", VERDICT_OK, NULL, "%u can be used, by affinity and cgroup quota",
                   processors);
}

/* ---- card and driver ---- */

/* How many entries of a folder below the root begin with a text and go on with a digit. */
static unsigned entries(const struct doctor *d, const char *path, const char *begin)
{
    char full[512];
    unsigned n = 0;
    snprintf(full, sizeof full, "%.300s%.200s", d->root, path);
    DIR *folder = opendir(full);
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        size_t length = strlen(begin);
        n += strncmp(e->d_name, begin, length) == 0 && e->d_name[length] >= '0' && e->d_name[length] <= '9';
    }
    if (folder != NULL)
        closedir(folder);
    return n;
}

static void card_files(struct doctor *d)
{
    char path[512];
    snprintf(path, sizeof path, "%.300s/dev/nvidiactl", d->root);
    if (access(path, R_OK | W_OK) == 0)
        return;
    doctor_say(d, "card", VERDICT_FAIL,
               errno == ENOENT ? "nvidia-modprobe -c 0 -u makes it; in a container: --gpus all"
                               : "give this user the device's group; in a unit: DeviceAllow=",
               "%s: %s", path, strerror(errno));
}

void doctor_card(struct doctor *d)
{
    char text[512];
    const char *backend = d->config.gpus.backend;
    unsigned cards = entries(d, "/proc/driver/nvidia/gpus", ""), pci = entries(d, "/dev", "nvidia");
    cards = pci > cards ? pci : cards;
    if (strcmp(backend, "cpu") == 0) {
        doctor_say(d, "card", VERDICT_OK, NULL, "gpus.backend is \"cpu\": none is used");
        return;
    }
    if (!read_below(text, sizeof text, d, "/proc/driver/nvidia/version")) {
        bool needed = strcmp(backend, "cuda") == 0;
        doctor_say(d, "card", needed ? VERDICT_FAIL : VERDICT_OK,
                   needed ? "install the NVIDIA driver, or set gpus.backend = \"cpu\"" : NULL,
                   "no NVIDIA driver is loaded%s", needed ? "" : ": proofs are made on the CPU");
        return;
    }
    const char *version = strstr(text, "Module");
    version = version != NULL ? version + strlen("Module") : text;
    version += strspn(version, " ");
    unsigned long major = strtoul(version, NULL, 10);
    if (major != 0 && major < 580)
        doctor_say(d, "card", VERDICT_FAIL, "install driver 580 or later (CUDA 13)",
                   "NVIDIA driver %.*s is too old", (int)strcspn(version, " \n"), version);
    else
        doctor_say(d, "card", cards > 0 ? VERDICT_OK : VERDICT_FAIL,
                   cards > 0 ? NULL
                             : "see dmesg for NVRM; is the card seated, and not bound to another driver?",
                   "NVIDIA driver %.*s, %u cards", (int)strcspn(version, " \n"), version, cards);
    card_files(d);
    for (uint32_t i = 0; i < d->config.gpus.devices.count; i++) {
        const char *name = d->config.gpus.devices.items[i];
        char *end;
        unsigned long number = strtoul(name, &end, 10);
        if (*end == 0 && end != name && number >= cards)
            doctor_say(d, "card", VERDICT_FAIL, "gpus.devices counts from 0",
                       "gpus.devices names card %lu of %u", number, cards);
    }
}

/* ---- clock ---- */

void doctor_clock(struct doctor *d)
{
    struct timex t = {0};
    time_t now = time(NULL);
    struct tm when;
    char text[40] = "";
    if (gmtime_r(&now, &when) != NULL)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &when);
    if (now < 1704067200) /* 2024 */
        doctor_say(d, "clock", VERDICT_FAIL, "set it: timedatectl set-ntp true", "it says %s", text);
    else if (adjtimex(&t) == TIME_ERROR && (t.status & STA_UNSYNC) != 0)
        doctor_say(d, "clock", VERDICT_WARN, "timedatectl set-ntp true, or run chrony",
                   "%s, not known to be synchronised: PoSts are due by the chain's clock", text);
    else
        doctor_say(d, "clock", VERDICT_OK, NULL, "%s, synchronised", text);
}
