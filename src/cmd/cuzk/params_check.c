/* cuzk params check: the parameter files that a set of kinds and sizes needs, compared with the published
 * digests. A file that passes is remembered as hashed, so that the next prover does not hash it again. */
#include "cmd/cuzk/params.h"

#include "api/internal.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/pool.h"
#include "filecoin/registry.h"
#include "groth16/params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum state { NOT_YET, GOOD, MISSING, WRONG_DIGEST, BAD_POINTS, UNREADABLE, STATES };
static const char *const STATE_NAME[STATES] = {"",           "ok",        "missing", "wrong digest",
                                               "bad points", "unreadable"};

struct file {
    enum proof_kind kind;
    const struct sector_size *sector;
    const struct manifest_entry *entry;
    char path[4096];
    uint64_t bytes;
    enum state state;
    bool points_looked_at, points_bad;
    struct status why;
    uint8_t digest[PARAMS_DIGEST_BYTES];
};

#define FILES_MAX 64
struct checking {
    const struct params_check *check;
    struct file files[FILES_MAX];
    size_t count;
    struct work work;
    atomic_ullong done;
};

/* ---- which files ---- */

/* Whether a list with commas names it; NULL names everything. */
static bool listed(const char *list, const char *a, const char *b)
{
    while (list != NULL) {
        size_t length = strcspn(list, ",");
        if ((strlen(a) == length && strncasecmp(list, a, length) == 0) ||
            (strlen(b) == length && strncasecmp(list, b, length) == 0))
            return true;
        if (list[length] == 0)
            return false;
        list += length + 1;
    }
    return true;
}

static bool kind_listed(const char *list, enum proof_kind kind)
{
    return listed(list, proof_kind_name(kind), kind == PROOF_WINDOW ? "wpost" : proof_kind_name(kind));
}

static void add_file(struct checking *c, enum proof_kind kind, const struct sector_size *sector,
                     const char *extension)
{
    char name[PARAMETER_NAME_MAX + 16];
    CHECK(c->count < FILES_MAX);
    parameter_name(name, kind, sector);
    strcat(name, extension);
    const struct manifest_entry *entry = manifest_by_file(name);
    if (entry == NULL)
        return;
    struct file *f = &c->files[c->count++];
    f->kind = kind;
    f->sector = sector;
    f->entry = entry;
    snprintf(f->path, sizeof f->path, "%s/%s", c->check->dir, name);
}

/* Every word of the list must be one of the names. */
static int check_words(const char *option, const char *list, bool sizes)
{
    while (list != NULL && *list != 0) {
        size_t length = strcspn(list, ",");
        char word[32];
        bool known = false;
        snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), list);
        for (int k = 0; !sizes && k <= PROOF_SNAP; k++)
            known = known || kind_listed(word, (enum proof_kind)k);
        for (int i = 0; sizes && i < SECTOR_SIZES; i++)
            known = known ||
                    (SECTOR_SIZE[i].official && listed(word, SECTOR_SIZE[i].name, SECTOR_SIZE[i].circuit));
        if (!known)
            return usage_error(sizes ? "sizes are 2KiB, 8MiB, 512MiB, 32GiB, 64GiB"
                                     : "kinds are porep, winning, window, snap",
                               "%s does not know \"%s\"", option, word);
        list += length + (list[length] == ',');
    }
    return EXIT_DONE;
}

static void choose_files(struct checking *c)
{
    for (int k = 0; k <= PROOF_SNAP; k++) {
        for (int i = 0; i < SECTOR_SIZES; i++) {
            const struct sector_size *s = &SECTOR_SIZE[i];
            if (!s->official || !kind_listed(c->check->kinds, (enum proof_kind)k) ||
                !listed(c->check->sizes, s->name, s->circuit))
                continue;
            add_file(c, (enum proof_kind)k, s, ".params");
            add_file(c, (enum proof_kind)k, s, ".vk");
        }
    }
}

/* ---- looking at one ---- */

/* Looked at whatever the digest: a file that is no published one may be a test's, whose points are good. */
static void look_at_points(struct file *f, const struct checking *c)
{
    struct params_file file;
    struct progress_watch watch;
    atomic_ullong done;
    uint64_t points = 0;
    char what[64];
    f->points_looked_at = true;
    f->why = params_open(&file, f->path);
    if (!status_failed(&f->why)) {
        for (enum query q = 0; q < QUERY_COUNT; q++)
            points += file.counts.query[q];
        atomic_init(&done, 0);
        snprintf(what, sizeof what, "points of %s %s", f->sector->name, proof_kind_name(f->kind));
        progress_watch_start(&watch, what, &done, points);
        f->why = params_check_points(&file, true, &c->work, &done);
        progress_watch_end(&watch);
        params_close(&file);
    }
    f->points_bad = status_failed(&f->why);
    if (f->points_bad)
        f->state = BAD_POINTS;
}

static enum state look_at(struct file *f, struct checking *c)
{
    char buffer[4096];
    struct file_map map;
    f->why = file_map_open(&map, f->path);
    if (status_failed(&f->why))
        return UNREADABLE;
    f->why = params_digest(f->digest, &map, &c->work, &c->done);
    enum state state = status_failed(&f->why) ? UNREADABLE : GOOD;
    if (state == GOOD && memcmp(f->digest, f->entry->digest, sizeof f->entry->digest) != 0)
        state = WRONG_DIGEST;
    if (state == GOOD)
        api_digest_remember(&map, f->path, state_dir(buffer, sizeof buffer), f->digest);
    file_map_close(&map);
    return state;
}

static void find_files(struct checking *c, uint64_t *total)
{
    *total = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct stat st;
        struct file *f = &c->files[i];
        if (stat(f->path, &st) == 0 && S_ISREG(st.st_mode))
            *total += f->bytes = (uint64_t)st.st_size;
        else
            f->state = errno == ENOENT || errno == ENOTDIR ? MISSING : UNREADABLE;
    }
}

static void look_at_all(struct checking *c)
{
    struct progress_watch watch;
    uint64_t total;
    find_files(c, &total);
    progress_watch_start(&watch, "comparing digests", &c->done, total);
    for (size_t i = 0; i < c->count; i++)
        if (c->files[i].state == NOT_YET)
            c->files[i].state = look_at(&c->files[i], c);
    progress_watch_end(&watch);
    for (size_t i = 0; i < c->count && c->check->subgroup; i++) {
        struct file *f = &c->files[i];
        bool readable = f->state == GOOD || f->state == WRONG_DIGEST;
        if (readable && strcmp(strrchr(f->entry->file, '.'), ".params") == 0)
            look_at_points(f, c);
    }
}

/* ---- telling ---- */

static void show_json(const struct checking *c)
{
    printf("{\"folder\": ");
    print_json_string(c->check->dir);
    printf(", \"files\": [");
    for (size_t i = 0; i < c->count; i++) {
        const struct file *f = &c->files[i];
        printf("%s{\"kind\": \"%s\", \"size\": \"%s\", \"file\": ", i ? ", " : "", proof_kind_name(f->kind),
               f->sector->name);
        print_json_string(f->entry->file);
        printf(", \"bytes\": %llu, \"state\": \"%s\"", (unsigned long long)f->bytes, STATE_NAME[f->state]);
        if (f->points_looked_at)
            printf(", \"points\": \"%s\"", f->points_bad ? "bad" : "ok");
        if (status_failed(&f->why)) {
            printf(", \"why\": ");
            print_json_string(f->why.message);
        }
        putchar('}');
    }
    puts("]}");
}

static void show_text(const struct checking *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct file *f = &c->files[i];
        char hex[33];
        printf("%-13s %-7s %-7s %s\n", STATE_NAME[f->state], f->sector->name, proof_kind_name(f->kind),
               f->entry->file);
        hex_encode(hex, f->digest, 16);
        if (f->state == WRONG_DIGEST)
            printf("              its digest is %s\n", hex);
        else if (status_failed(&f->why))
            printf("              %s\n", f->why.message);
        if (f->points_looked_at && !f->points_bad)
            puts("              every point is on its curve and of the right order");
    }
}

static int show(const struct checking *c)
{
    size_t counts[STATES] = {0};
    for (size_t i = 0; i < c->count; i++)
        counts[c->files[i].state]++;
    if (c->check->json)
        show_json(c);
    else
        show_text(c);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("error: cannot write to standard output\n", stderr);
        return EXIT_FAILED;
    }
    if (counts[GOOD] == c->count)
        return EXIT_DONE;
    size_t bad = c->count - counts[GOOD] - counts[MISSING];
    fprintf(stderr, "error: of %zu parameter files %zu are missing in \"%s\" and %zu are not as published\n",
            c->count, counts[MISSING], c->check->dir, bad);
    if (bad > 0)
        fputs("hint: fetch the files that are not \"ok\" again, or check the disk\n", stderr);
    else
        fputs("hint: fetch them with your node's fetch-params command, or give their folder with --dir\n",
              stderr);
    return EXIT_FAILED;
}

int params_check_run(const struct params_check *check)
{
    static struct checking c;
    struct pool *pool;
    c.check = check;
    int exit_code = check_words("--kinds", check->kinds, false);
    if (exit_code == EXIT_DONE)
        exit_code = check_words("--sizes", check->sizes, true);
    if (exit_code != EXIT_DONE)
        return exit_code;
    struct status s = pool_start(&pool, check->threads > 4096 ? 4096 : (unsigned)check->threads);
    if (status_failed(&s)) {
        fprintf(stderr, "error: %s\n", s.message);
        return EXIT_FAILED;
    }
    c.work = (struct work){pool, PRIORITY_NORMAL, NULL};
    atomic_init(&c.done, 0);
    choose_files(&c);
    look_at_all(&c);
    pool_end(pool);
    return show(&c);
}
