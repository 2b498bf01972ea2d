/* What the configuration names: parameters and their digests, the socket, and the folders that are written.
 */
#include "cmd/cuzk/doctor.h"

#include "api/internal.h"
#include "api/open.h"
#include "base/bytes.h"
#include "base/hex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#define HASHED_ALWAYS (UINT64_C(256) << 20)
#define FOLDER_MAX    4096
#define JOURNAL_KNOWN                                                                                        \
    2 /* JOURNAL_VERSION of the engine, which this program does not link: a test compares                    \
       */

/* ---- parameters ---- */

static void judge_digest(struct doctor *d, const char *circuit, const char *path, const struct file_map *map,
                         const uint8_t digest[PARAMS_DIGEST_BYTES])
{
    char hex[2 * PARAMS_DIGEST_BYTES + 1];
    const char *name = strrchr(path, '/') + 1;
    const struct manifest_entry *entry = manifest_by_file(name);
    hex_encode(hex, digest, 16);
    bool published = entry != NULL && memcmp(entry->digest, digest, sizeof entry->digest) == 0,
         listed = false;
    for (uint32_t i = 0; i < d->config.srs.trusted_digests.count; i++)
        listed |= strcmp(d->config.srs.trusted_digests.items[i], hex) == 0;
    if (published || listed)
        doctor_say(d, "parameters", VERDICT_OK, NULL, "%s: %.2f GiB, %s", circuit, (double)map->size / 0x1p30,
                   published ? "the published digest" : "a digest of srs.trusted_digests");
    else if (d->config.srs.allow_test_params)
        doctor_say(d, "parameters", VERDICT_WARN,
                   "take srs.allow_test_params out before real sectors are proved",
                   "%s: digest %s is not the published one; admitted as test parameters", circuit, hex);
    else
        doctor_say(d, "parameters", VERDICT_FAIL, "fetch the file again, or check the disk",
                   "%s: \"%.200s\" has digest %s, which is not the published one", circuit, path, hex);
}

static void one_circuit(struct doctor *d, const char *circuit)
{
    char path[FOLDER_MAX];
    enum proof_kind kind;
    const struct sector_size *sector;
    struct file_map map;
    uint8_t digest[PARAMS_DIGEST_BYTES];
    const struct work work = {NULL, PRIORITY_NORMAL, NULL};
    if (!circuit_by_name(&kind, &sector, circuit)) {
        doctor_say(d, "parameters", VERDICT_FAIL,
                   "circuits are KIND-SIZE: porep-32g, wpost-32g, winning-32g, snap-32g",
                   "srs.preload: no circuit is called \"%.60s\"", circuit);
        return;
    }
    struct status s =
        api_parameter_path(path, sizeof path, kind, sector, d->config.srs.param_cache, "params");
    if (!status_failed(&s))
        s = file_map_open(&map, path);
    if (status_failed(&s)) {
        doctor_say(d, "parameters", VERDICT_FAIL,
                   s.code == STATUS_MISSING ? "fetch the parameters, or set srs.param_cache to where they are"
                                            : s.hint,
                   "%s: %s", circuit, s.message);
        return;
    }
    bool known = api_digest_recall(digest, &map, path, d->config.daemon.state_dir);
    if (!known && map.size > HASHED_ALWAYS && !d->digests) {
        doctor_say(d, "parameters", VERDICT_OK, NULL,
                   "%s: %.2f GiB, not hashed yet: the next start does it, or --digests now", circuit,
                   (double)map.size / 0x1p30);
    } else {
        if (!known) /* and not remembered: state_dir is the daemon's */
            s = api_params_digest(digest, &map, path, NULL, &work, NULL, NULL);
        if (status_failed(&s))
            doctor_say(d, "parameters", VERDICT_FAIL, s.hint, "%s: %s", circuit, s.message);
        else
            judge_digest(d, circuit, path, &map, digest);
    }
    file_map_close(&map);
}

void doctor_parameters(struct doctor *d)
{
    const struct config_list *list = &d->config.srs.preload;
    struct stat st;
    if (stat(d->config.srs.param_cache, &st) != 0 || !S_ISDIR(st.st_mode) ||
        access(d->config.srs.param_cache, R_OK | X_OK) != 0) {
        doctor_say(d, "parameters", VERDICT_FAIL, "set srs.param_cache to the folder of the .params files",
                   "srs.param_cache \"%.200s\" cannot be read", d->config.srs.param_cache);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++)
        one_circuit(d, list->items[i]);
    if (list->count == 0)
        doctor_say(
            d, "parameters", VERDICT_WARN,
            "name in srs.preload what this daemon is to prove, winning-32g first",
            "nothing is loaded before \"ready\": the first proof of each kind waits for its parameters");
}

/* ---- folders ---- */

/* The folder of a file, or its nearest that exists: what would be made lies in it. */
static void nearest(char out[FOLDER_MAX], const char *path)
{
    struct stat st;
    snprintf(out, FOLDER_MAX, "%s", path);
    while (out[0] != 0 && stat(out, &st) != 0 && errno == ENOENT) {
        char *slash = strrchr(out, '/');
        if (slash == NULL || slash == out) {
            snprintf(out, FOLDER_MAX, "%s", slash == out ? "/" : ".");
            return;
        }
        *slash = 0;
    }
}

static void parent(char out[FOLDER_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        strcpy(out, slash == NULL ? "." : "/");
    else
        snprintf(out, FOLDER_MAX, "%.*s", (int)(slash - path), path);
}

/* Writable, with so much room. */
static void folder(struct doctor *d, const char *key, const char *path, uint64_t room)
{
    char here[FOLDER_MAX];
    struct statvfs fs;
    struct stat st;
    char remedy[160];
    nearest(here, path);
    snprintf(remedy, sizeof remedy, "set %s to a place that the daemon's user may write", key);
    if (stat(here, &st) != 0 || !S_ISDIR(st.st_mode) || access(here, W_OK | X_OK) != 0) {
        doctor_say(d, "disk", VERDICT_FAIL, remedy, "%s: \"%.200s\" cannot be written: %s", key, here,
                   stat(here, &st) == 0 && !S_ISDIR(st.st_mode) ? "not a folder" : strerror(errno));
        return;
    }
    if (statvfs(here, &fs) != 0)
        return;
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    bool read_only = (fs.f_flag & ST_RDONLY) != 0, full = free_bytes < (UINT64_C(16) << 20);
    if (read_only || free_bytes < room)
        doctor_say(d, "disk", read_only || full ? VERDICT_FAIL : VERDICT_WARN,
                   read_only ? "mount it for writing" : "make room, or use another disk",
                   "%s: \"%.200s\" %s, %.2f GiB free, %.2f GiB wanted", key, here,
                   read_only ? "is mounted read-only" : "is short of room", (double)free_bytes / 0x1p30,
                   (double)room / 0x1p30);
    else
        doctor_say(d, "disk", VERDICT_OK, NULL, "%s: %.1f GiB free at \"%.200s\"", key,
                   (double)free_bytes / 0x1p30, here);
}

void doctor_disk(struct doctor *d)
{
    char at[FOLDER_MAX];
    folder(d, "daemon.state_dir", d->config.daemon.state_dir, UINT64_C(1) << 30);
    if (d->config.logging.file[0] != 0) {
        parent(at, d->config.logging.file);
        folder(d, "logging.file", at, UINT64_C(1) << 30);
    }
    if (d->config.journal.path[0] != 0) {
        struct stat st;
        parent(at, d->config.journal.path);
        if (stat(at, &st) != 0)
            doctor_say(d, "disk", VERDICT_FAIL, "make the folder, or set journal.path to one that is there",
                       "journal.path: \"%.200s\": %s", at, strerror(errno));
        else
            folder(d, "journal.path", at, d->config.daemon.max_queue_bytes);
    }
}

/* ---- journal ---- */

/* Told from the first bytes of the file, which say what it is and of which version: the daemon alone opens
 * it. */
void doctor_journal(struct doctor *d)
{
    const char *path = d->config.journal.path;
    uint8_t head[72] = {0};
    if (path[0] == 0)
        return;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        if (errno != ENOENT)
            doctor_say(d, "journal", VERDICT_FAIL, "give the file to the daemon's user", "\"%.200s\": %s",
                       path, strerror(errno));
        else
            doctor_say(d, "journal", VERDICT_OK, NULL, "\"%.200s\" will be made", path);
        return;
    }
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    uint32_t version = load_be32(head + 60), application = load_be32(head + 68);
    if (n == 0)
        doctor_say(d, "journal", VERDICT_OK, NULL, "\"%.200s\" is empty", path);
    else if (n < sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        doctor_say(d, "journal", VERDICT_FAIL, "restore it, or move it and all that has its name away",
                   "\"%.200s\" is damaged, or no journal", path);
    else if (application != 0x63757a6b)
        doctor_say(d, "journal", VERDICT_FAIL, "give journal.path a name that nothing else uses",
                   "\"%.200s\" is a database of another program", path);
    else if (version > JOURNAL_KNOWN)
        doctor_say(d, "journal", VERDICT_FAIL,
                   "run the newer cuzk-daemon, or move it and all that has its name away",
                   "\"%.200s\" is of version %u, newer than this program knows", path, version);
    else
        doctor_say(d, "journal", VERDICT_OK, NULL, "\"%.200s\", version %u", path, version);
}

/* ---- socket ---- */

/* 1: somebody serves; 0: nobody; -1: cannot be known. */
static int served(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int good = connect(fd, (const struct sockaddr *)address, sizeof *address), error = errno;
    close(fd);
    return good == 0 || error == EAGAIN ? 1 : error == ECONNREFUSED ? 0 : -1;
}

static void local_socket(struct doctor *d, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    char at[FOLDER_MAX], here[FOLDER_MAX];
    if (strlen(path) >= sizeof address.sun_path) {
        doctor_say(d, "socket", VERDICT_FAIL, "give daemon.listen a shorter path",
                   "\"%.200s\" is longer than %zu bytes", path, sizeof address.sun_path - 1);
        return;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    parent(at, path);
    if (stat(at, &st) != 0 && errno == ENOENT) { /* the daemon makes the last folder */
        parent(here, at);
        memcpy(at, here, sizeof at);
    }
    nearest(here, at);
    if (strcmp(at, here) != 0)
        doctor_say(d, "socket", VERDICT_FAIL,
                   "make the folder (in a unit: RuntimeDirectory=), or change daemon.listen",
                   "\"%.200s\" does not exist", at);
    else if (access(at, W_OK | X_OK) != 0)
        doctor_say(d, "socket", VERDICT_FAIL, "give the daemon's user the folder, or change daemon.listen",
                   "\"%.200s\" cannot be written: %s", at, strerror(errno));
    else if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
        doctor_say(d, "socket", VERDICT_FAIL, "move it away, or change daemon.listen",
                   "\"%.200s\" is no socket", path);
    else if (lstat(path, &st) == 0 && served(&address) == 1)
        doctor_say(d, "socket", VERDICT_WARN, "cuzk-bench status looks at it, cuzk-bench stop ends it",
                   "somebody serves on \"%.200s\" already: a second daemon would refuse to start", path);
    else
        doctor_say(d, "socket", VERDICT_OK, NULL, "\"%.200s\" can be made, mode %04llo", path,
                   (unsigned long long)d->config.daemon.socket_mode);
    if ((d->config.daemon.socket_mode & 0007) != 0)
        doctor_say(d, "socket", VERDICT_WARN, "daemon.socket_mode = \"0660\" and daemon.socket_group",
                   "every user of this machine may use the socket");
}

void doctor_socket(struct doctor *d)
{
    const char *listen = d->config.daemon.listen;
    if (strncmp(listen, "unix:", 5) == 0)
        local_socket(d, strncmp(listen, "unix://", 7) == 0 ? listen + 7 : listen + 5);
    else
        doctor_say(d, "socket", d->config.daemon.insecure ? VERDICT_WARN : VERDICT_OK,
                   d->config.daemon.insecure
                       ? "let only the machines of the cluster reach it: it has no access control"
                       : NULL,
                   "%.150s%s", listen, d->config.daemon.insecure ? ", with daemon.insecure" : "");
}
