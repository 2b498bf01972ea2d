/* cuzk fabricate: inputs for every kind of proof at any sector size, without a sector; with --honest, small
 * ones from a sector that is really sealed. info.json tells the public values and the commands that prove and
 * verify them. */
#include "cmd/cuzk/fabricate.h"

#include "base/hex.h"
#include "base/mem.h"
#include "filecoin/fabricate_porep.h"
#include "filecoin/vanilla_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define VPROOF_FILES_MAX 64 /* longer lists go to the JSON array alone */
#define COMMAND_MAX      2048
#define PATH_MAX_HERE    4096

/* ---- files ---- */

static enum cuzk_code failed(struct fabricate *f, const struct status *s)
{
    f->error.code = (enum cuzk_code)s->code;
    memcpy(f->error.message, s->message, sizeof f->error.message);
    memcpy(f->error.detail, s->detail, sizeof f->error.detail);
    memcpy(f->error.hint, s->hint, sizeof f->error.hint);
    return f->error.code;
}

static __attribute__((format(printf, 4, 5))) enum cuzk_code save(struct fabricate *f, const void *data,
                                                                 size_t size, const char *format, ...)
{
    char path[PATH_MAX_HERE];
    va_list list;
    int n = snprintf(path, sizeof path, "%s/", f->out);
    va_start(list, format);
    if (n > 0 && (size_t)n < sizeof path)
        vsnprintf(path + n, sizeof path - (size_t)n, format, list);
    va_end(list);
    return write_file(path, data, size, &f->error);
}

/* Members "prove", "verify" and "bench": whole commands, parameters in ./params. */
static __attribute__((format(printf, 3, 4))) void command(struct fabricate *f, const char *name,
                                                          const char *format, ...)
{
    char text[COMMAND_MAX];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    info_text(&f->info, name, text);
}

#define KEY_ARGS                                                                                             \
    "--vk \"$(cuzk params path --circuit %s --dir params --vk)\" --allow-test-params --proof proof"

static void start_info(struct fabricate *f)
{
    char circuit[CIRCUIT_NAME_MAX];
    circuit_name(circuit, f->kind, f->sector);
    info_text(&f->info, "kind", proof_kind_name(f->kind));
    info_text(&f->info, "size", f->sector->name);
    info_text(&f->info, "circuit", circuit);
    info_number(&f->info, "registered_proof", f->registered);
    info_text(&f->info, "registered_name", f->registered_name);
    info_text(&f->info, "seed_name", f->seed);
    info_bool(&f->info, "honest", f->honest);
}

/* ---- PoRep ---- */

static struct status make_c1(struct c1 *c1, struct fabricate *f)
{
    if (f->honest)
        return honest_c1(c1, f);
    struct fabricate_porep_request q = {.seal = &REGISTERED_SEAL[f->registered],
                                        .miner = f->miner,
                                        .sector_number = f->sector_number,
                                        .name = f->name};
    return fabricate_porep(c1, &q, &f->work);
}

static void describe_c1(struct fabricate *f, const struct c1 *c1)
{
    char circuit[CIRCUIT_NAME_MAX];
    unsigned long long miner = f->miner;
    circuit_name(circuit, f->kind, f->sector);
    info_number(&f->info, "partitions", c1->partitions);
    info_number(&f->info, "miner_id", f->miner);
    info_number(&f->info, "sector_number", f->sector_number);
    info_hex(&f->info, "comm_r", c1->comm_r, 32);
    info_hex(&f->info, "comm_d", c1->comm_d, 32);
    info_hex(&f->info, "replica_id", c1->replica_id, 32);
    info_hex(&f->info, "seed", c1->seed, 32);
    info_hex(&f->info, "ticket", c1->ticket, 32);
    info_text(&f->info, "c1", "c1.json");
    info_text(&f->info, "c1_wrapped", "c1-wrapped.json");
    command(
        f, "prove",
        "cuzk prove --c1 c1-wrapped.json --miner-id %llu --params params --allow-test-params --output proof",
        miner);
    command(f, "verify", "cuzk verify --c1 c1-wrapped.json --miner-id %llu " KEY_ARGS, miner, circuit);
    command(f, "bench", "cuzk-bench single -t porep --c1 c1-wrapped.json --miner-id %llu", miner);
}

static enum cuzk_code fabricate_c1(struct fabricate *f)
{
    struct c1 c1;
    uint8_t *text;
    size_t size;
    struct status s = make_c1(&c1, f);
    if (status_failed(&s))
        return failed(f, &s);
    describe_c1(f, &c1);
    enum cuzk_code code = CUZK_OK;
    for (int wrapped = 0; wrapped < 2 && code == CUZK_OK; wrapped++) {
        s = c1_write(&text, &size, &c1, wrapped != 0);
        code = status_failed(&s) ? failed(f, &s)
                                 : save(f, text, size, "%s", wrapped ? "c1-wrapped.json" : "c1.json");
        if (!status_failed(&s))
            mem_free(text);
    }
    c1_end(&c1);
    return code;
}

/* ---- lists of vanilla proofs ---- */

/* Entries of one size, one after the other: the JSON array, and single files if they are few. */
static enum cuzk_code save_list(struct fabricate *f, const uint8_t *vanilla, size_t entry_bytes, size_t count,
                                const char *array, const char *single, const uint64_t *numbers)
{
    struct bytes_view *items = mem_alloc(count, sizeof *items);
    struct status s = items == NULL ? mem_failed("vanilla proofs", count, sizeof *items) : status_ok();
    uint8_t *text = NULL;
    size_t size = 0;
    for (size_t i = 0; items != NULL && i < count; i++)
        items[i] = (struct bytes_view){vanilla + i * entry_bytes, entry_bytes};
    if (!status_failed(&s))
        s = vanilla_write(&text, &size, items, count);
    enum cuzk_code code = status_failed(&s) ? failed(f, &s) : save(f, text, size, "%s", array);
    for (size_t i = 0; i < count && count <= VPROOF_FILES_MAX && code == CUZK_OK; i++)
        code = save(f, items[i].data, items[i].size, "%s-%llu.vproof", single,
                    (unsigned long long)(numbers == NULL ? i : numbers[i]));
    mem_free(text);
    mem_free(items);
    return code;
}

/* ---- PoSts ---- */

static void describe_post(struct fabricate *f, const struct fabricated_post *made, const uint64_t *ids,
                          uint32_t partition, const char *array)
{
    char randomness[65], circuit[CIRCUIT_NAME_MAX], place[40] = "";
    bool winning = f->kind == PROOF_WINNING;
    unsigned long long number = f->registered;
    hex_encode(randomness, made->randomness, 32);
    circuit_name(circuit, f->kind, f->sector);
    if (!winning)
        snprintf(place, sizeof place, " --partition %u", partition);
    info_open(&f->info, NULL, '{');
    info_number(&f->info, "partition", partition);
    info_text(&f->info, "vanilla", array);
    info_hex(&f->info, "randomness", made->randomness, 32);
    info_open(&f->info, "sectors", '[');
    for (size_t i = 0; i < made->count; i++) {
        info_open(&f->info, NULL, '{');
        info_number(&f->info, "number", ids[i]);
        info_hex(&f->info, "comm_r", made->vanilla + i * made->sector_bytes + 8, 32);
        info_close(&f->info, '}');
    }
    info_close(&f->info, ']');
    command(f, "prove",
            "cuzk prove --kind %s --vanilla %s --registered-proof %llu --randomness %s%s --params params "
            "--allow-test-params --output proof",
            proof_kind_name(f->kind), array, number, randomness, place);
    command(f, "verify",
            "cuzk verify --kind %s --vanilla %s --registered-proof %llu --randomness %s%s " KEY_ARGS,
            proof_kind_name(f->kind), array, number, randomness, place, circuit);
    command(f, "bench",
            "cuzk-bench single -t %s --vanilla %s --registered-proof %llu --miner-id %llu --randomness %s%s",
            winning ? "winning" : "wpost", array, number, (unsigned long long)f->miner, randomness, place);
    info_close(&f->info, '}');
}

static struct status make_partition(struct fabricated_post *made, struct fabricate *f, const uint64_t *ids,
                                    size_t count, uint32_t partition)
{
    if (f->honest)
        return honest_post(made, f, ids, count, partition);
    struct fabricate_post_request q = {.registered = registered_post(f->registered),
                                       .partition_index = partition,
                                       .ids = ids,
                                       .count = count,
                                       .name = f->name};
    return fabricate_post(made, &q, &f->work);
}

static enum cuzk_code fabricate_partition(struct fabricate *f, const uint64_t *ids, size_t count,
                                          uint32_t partition)
{
    char array[40] = "vanilla.json";
    struct fabricated_post made;
    struct status s = make_partition(&made, f, ids, count, partition);
    if (status_failed(&s))
        return failed(f, &s);
    if (f->kind == PROOF_WINDOW)
        snprintf(array, sizeof array, "partition-%u.json", partition);
    describe_post(f, &made, ids, partition, array);
    enum cuzk_code code = save_list(f, made.vanilla, made.sector_bytes, count, array, "sector", ids);
    fabricated_post_end(&made);
    return code;
}

static enum cuzk_code fabricate_posts(struct fabricate *f)
{
    size_t most = f->kind == PROOF_WINNING ? 1 : f->sector->window_sectors, left = f->sectors;
    uint64_t *ids = mem_alloc(most, sizeof *ids), next = f->sector_number;
    enum cuzk_code code = CUZK_OK;
    if (ids == NULL) {
        struct status s = mem_failed("sectors", most, sizeof *ids);
        return failed(f, &s);
    }
    info_number(&f->info, "miner_id", f->miner);
    info_open(&f->info, "proofs", '[');
    for (uint32_t k = 0; left > 0 && code == CUZK_OK; k++) {
        size_t count = left < most ? left : most;
        for (size_t i = 0; i < count; i++)
            ids[i] = next++;
        code = fabricate_partition(f, ids, count, k);
        left -= count;
    }
    info_close(&f->info, ']');
    mem_free(ids);
    return code;
}

/* ---- SnapDeals ---- */

static enum cuzk_code fabricate_updates(struct fabricate *f)
{
    char values[3][65], circuit[CIRCUIT_NAME_MAX];
    struct fabricated_snap made;
    unsigned long long number = f->registered;
    struct status s = f->honest ? honest_update(&made, f)
                                : fabricate_snap(&made, snap_size_of(f->sector), f->name, &f->work);
    if (status_failed(&s))
        return failed(f, &s);
    circuit_name(circuit, f->kind, f->sector);
    hex_encode(values[0], made.comm_r_old, 32);
    hex_encode(values[1], made.comm_r_new, 32);
    hex_encode(values[2], made.comm_d_new, 32);
    info_number(&f->info, "partitions", made.partitions);
    info_text(&f->info, "vanilla", "vanilla.json");
    info_text(&f->info, "comm_r_old", values[0]);
    info_text(&f->info, "comm_r_new", values[1]);
    info_text(&f->info, "comm_d_new", values[2]);
    command(f, "prove",
            "cuzk prove --kind snap --vanilla vanilla.json --registered-proof %llu --comm-r-old %s "
            "--comm-r-new %s "
            "--comm-d-new %s --params params --allow-test-params --output proof",
            number, values[0], values[1], values[2]);
    command(f, "verify",
            "cuzk verify --kind snap --registered-proof %llu --comm-r-old %s --comm-r-new %s --comm-d-new "
            "%s " KEY_ARGS,
            number, values[0], values[1], values[2], circuit);
    command(f, "bench",
            "cuzk-bench single -t snap --vanilla vanilla.json --registered-proof %llu --miner-id %llu "
            "--sector-num "
            "%llu --comm-r-old %s --comm-r-new %s --comm-d-new %s",
            number, (unsigned long long)f->miner, (unsigned long long)f->sector_number, values[0], values[1],
            values[2]);
    enum cuzk_code code =
        save_list(f, made.vanilla, made.partition_bytes, made.partitions, "vanilla.json", "partition", NULL);
    fabricated_snap_end(&made);
    return code;
}

/* ---- the command ---- */

static const struct sector_size *size_of(const char *text)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++)
        if (SECTOR_SIZE[i].official &&
            (strcasecmp(text, SECTOR_SIZE[i].name) == 0 || strcasecmp(text, SECTOR_SIZE[i].circuit) == 0))
            return &SECTOR_SIZE[i];
    return NULL;
}

/* The sector size that a number means, and its name; NULL if the kind has no such number. */
static const struct sector_size *size_of_number(const char **name, enum proof_kind kind, uint64_t number)
{
    if (kind == PROOF_POREP && number < REGISTERED_SEALS) {
        *name = REGISTERED_SEAL[number].name;
        return REGISTERED_SEAL[number].sector;
    }
    if (kind == PROOF_SNAP && registered_update(number) != NULL) {
        *name = registered_update(number)->name;
        return registered_update(number)->size->sector;
    }
    const struct registered_post *post = registered_post(number);
    if ((kind != PROOF_WINNING && kind != PROOF_WINDOW) || post == NULL || post->kind != kind)
        return NULL;
    *name = post->name;
    return post->sector;
}

/* Number and size, of which one may follow from the other; by default the numbers in present use. */
static int choose_number(struct fabricate *f)
{
    static const uint64_t first[PROOF_KINDS] = {[PROOF_POREP] = 5, [PROOF_WINDOW] = 10};
    if (f->size_text == NULL && !f->registered_given)
        return usage_error("sizes are 2KiB, 8MiB, 512MiB, 32GiB, 64GiB", "cuzk fabricate needs --size SIZE");
    if (f->size_text != NULL && (f->sector = size_of(f->size_text)) == NULL)
        return usage_error("sizes are 2KiB, 8MiB, 512MiB, 32GiB, 64GiB", "--size does not know \"%s\"",
                           f->size_text);
    if (!f->registered_given) {
        f->registered = first[f->kind];
        while (size_of_number(&f->registered_name, f->kind, f->registered) != f->sector)
            f->registered++;
    }
    const struct sector_size *own = size_of_number(&f->registered_name, f->kind, f->registered);
    if (own == NULL)
        return usage_error(NULL, "--registered-proof %llu does not exist for kind %s",
                           (unsigned long long)f->registered, proof_kind_name(f->kind));
    if (f->sector != NULL && f->sector != own)
        return usage_error(NULL, "--registered-proof %llu is of %s sectors, not %s",
                           (unsigned long long)f->registered, own->name, f->sector->name);
    f->sector = own;
    return EXIT_DONE;
}

static int choose_amount(struct fabricate *f)
{
    if (f->kind == PROOF_WINDOW) {
        uint64_t most = f->sector->window_sectors;
        if (f->partitions_given && f->sectors_given)
            return usage_error(NULL, "give --partitions (full ones) or --sectors, not both");
        if (f->partitions > 1000 || f->sectors > 1000 * most)
            return usage_error(NULL, "more than 1000 partitions are not made at once");
        f->sectors = f->sectors_given ? f->sectors : (f->partitions_given ? f->partitions : 1) * most;
        return f->sectors > 0 ? EXIT_DONE : usage_error(NULL, "nothing to make: no sectors");
    }
    uint32_t have = f->kind == PROOF_POREP  ? f->sector->partitions
                    : f->kind == PROOF_SNAP ? snap_partitions(snap_size_of(f->sector))
                                            : 1;
    if (f->sectors_given)
        return usage_error(NULL, "--sectors is for window proofs");
    if (f->partitions_given && f->partitions != have)
        return usage_error(NULL, "a %s proof of %s sectors has %u partitions", proof_kind_name(f->kind),
                           f->sector->name, have);
    f->sectors = 1;
    return EXIT_DONE;
}

static int choose(struct fabricate *f)
{
    if (f->kind_text == NULL || !proof_kind_by_name(&f->kind, f->kind_text, strlen(f->kind_text)) ||
        f->kind == PROOF_SNAP_POSEIDON)
        return usage_error("cuzk fabricate porep|window|winning|snap --size SIZE --out DIR",
                           "cuzk fabricate wants a kind of proof");
    int exit_code = choose_number(f);
    if (exit_code == EXIT_DONE)
        exit_code = choose_amount(f);
    if (exit_code != EXIT_DONE)
        return exit_code;
    if (f->honest && sector_bytes(f->sector) > UINT64_C(8) << 20)
        return usage_error(NULL, "--honest is for sectors of at most 8MiB");
    f->name = strcmp(f->seed, "reference") == 0 ? NULL : f->seed;
    return EXIT_DONE;
}

static enum cuzk_code make(struct fabricate *f)
{
    char path[PATH_MAX_HERE];
    if (mkdir(f->out, 0777) != 0 && errno != EEXIST) {
        f->error = (struct cuzk_error){.code = CUZK_IO};
        snprintf(f->error.message, sizeof f->error.message, "cannot make folder \"%.150s\": %s", f->out,
                 strerror(errno));
        return CUZK_IO;
    }
    if (!info_start(&f->info)) {
        f->error = (struct cuzk_error){.code = CUZK_MEMORY, .message = "out of memory"};
        return CUZK_MEMORY;
    }
    start_info(f);
    struct progress_watch watch;
    progress_watch_start(&watch, f->honest ? "sealing" : "fabricating", NULL, 0);
    enum cuzk_code code = f->kind == PROOF_POREP  ? fabricate_c1(f)
                          : f->kind == PROOF_SNAP ? fabricate_updates(f)
                                                  : fabricate_posts(f);
    progress_watch_end(&watch);
    if (code != CUZK_OK) {
        info_abandon(&f->info);
        return code;
    }
    snprintf(path, sizeof path, "%s/info.json", f->out);
    return info_write(&f->info, path, &f->error);
}

static int fabricate(struct fabricate *f)
{
    double started = seconds_now();
    struct status s = pool_start(&f->pool, f->threads > 4096 ? 4096 : (unsigned)f->threads);
    enum cuzk_code code = status_failed(&s) ? failed(f, &s) : CUZK_OK;
    f->work = (struct work){f->pool, PRIORITY_NORMAL, NULL};
    if (code == CUZK_OK)
        code = make(f);
    pool_end(f->pool);
    if (code != CUZK_OK)
        return report_error(&f->error, f->json);
    struct result r = {.json = f->json};
    result_text(&r, "kind", proof_kind_name(f->kind));
    result_text(&r, "registered_name", f->registered_name);
    result_text(&r, "folder", f->out);
    result_text(&r, "next", "info.json there has the public values and the commands");
    result_seconds(&r, "seconds", seconds_now() - started);
    result_bytes(&r, "peak_rss_bytes", peak_rss_bytes());
    return result_end(&r);
}

static int run(int argc, char **argv)
{
    static struct fabricate f = {.seed = "reference", .miner = 1000, .sector_number = 1};
    const struct arg args[] = {
        {"--size", ARG_TEXT, &f.size_text, NULL, "SIZE", "2KiB, 8MiB, 512MiB, 32GiB or 64GiB", false},
        {"--out", ARG_TEXT, &f.out, NULL, "DIR", "folder for the files", true},
        {"--seed", ARG_TEXT, &f.seed, NULL, "NAME",
         "all values follow from it; reference, the default: the published instance", false},
        {"--registered-proof", ARG_NUMBER, &f.registered, &f.registered_given, "N",
         "registered proof number; by default the one in present use", false},
        {"--partitions", ARG_NUMBER, &f.partitions, &f.partitions_given, "N",
         "window: full partitions; by default 1", false},
        {"--sectors", ARG_NUMBER, &f.sectors, &f.sectors_given, "N",
         "window: sectors; the last partition need not be full", false},
        {"--miner-id", ARG_NUMBER, &f.miner, NULL, "N", "the miner's actor id; by default 1000", false},
        {"--sector-num", ARG_NUMBER, &f.sector_number, NULL, "N",
         "number of the (first) sector; by default 1", false},
        {"--honest", ARG_FLAG, &f.honest, NULL, NULL, "up to 8MiB: really seal the sectors", false},
        {"--threads", ARG_NUMBER, &f.threads, NULL, "N", "threads to use; 0, the default: all", false},
        {"--json", ARG_FLAG, &f.json, NULL, NULL, "result as JSON", false},
    };
    int exit_code;
    if (!args_parse(&COMMAND_FABRICATE, args, sizeof args / sizeof args[0], argc, argv, &f.kind_text, 1,
                    &exit_code))
        return exit_code;
    exit_code = choose(&f);
    return exit_code != EXIT_DONE ? exit_code : fabricate(&f);
}

const struct command COMMAND_FABRICATE = {
    "fabricate", "make consistent inputs of any sector size, without a sector",
    "porep|window|winning|snap --size SIZE --out DIR [--seed NAME] ...", run};
