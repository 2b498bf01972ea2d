/* See listen_owner.h. The listening socket's inode is in /proc/net/tcp; whose it is, only a walk over all
 * descriptors tells: some milliseconds, at the end of a start that failed. */
#include "serve/grpc/listen_owner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void owner_of_pid(char *out, size_t size, pid_t pid)
{
    char path[64], name[64] = "";
    snprintf(out, size, "another process");
    if (pid <= 0)
        return;
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(name, sizeof name, file) != NULL)
            name[strcspn(name, "\n")] = 0;
        fclose(file);
    }
    if (name[0] != 0)
        snprintf(out, size, "pid %ld (%s)", (long)pid, name);
    else
        snprintf(out, size, "pid %ld", (long)pid);
}

#define INODES 8
static size_t listening_inodes(unsigned long *inodes, const char *table, uint16_t port)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen(table, "re");
    if (file == NULL)
        return 0;
    while (count < INODES && fgets(line, sizeof line, file) != NULL) {
        unsigned local, state;
        unsigned long inode;
        if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %*s %*s %lu", &local, &state, &inode) ==
                3 &&
            local == port && state == 0x0a)
            inodes[count++] = inode;
    }
    fclose(file);
    return count;
}

static int holds(const char *pid, const unsigned long *inodes, size_t count)
{
    char path[300], target[64];
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *directory = opendir(path);
    int found = 0;
    if (directory == NULL)
        return 0;
    for (struct dirent *entry; !found && (entry = readdir(directory)) != NULL;) {
        unsigned long inode;
        ssize_t n = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);
        if (n <= 0)
            continue;
        target[n] = 0;
        if (sscanf(target, "socket:[%lu]", &inode) == 1)
            for (size_t i = 0; i < count; i++)
                found |= inodes[i] == inode;
    }
    closedir(directory);
    return found;
}

void owner_of_port(char *out, size_t size, uint16_t port)
{
    unsigned long inodes[2 * INODES];
    size_t count = listening_inodes(inodes, "/proc/net/tcp", port);
    count += listening_inodes(inodes + count, "/proc/net/tcp6", port);
    snprintf(out, size, "another process");
    DIR *directory = count == 0 ? NULL : opendir("/proc");
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && holds(entry->d_name, inodes, count)) {
            owner_of_pid(out, size, (pid_t)strtol(entry->d_name, NULL, 10));
            break;
        }
    closedir(directory);
}
