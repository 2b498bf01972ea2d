/* cuzk inspect vanilla: vanilla proofs of PoSts and SnapDeals. Their encoding does not say what they are, but
 * every kind and sector size has a length of its own. All that can be checked without public values is
 * checked, and the public values that follow from the proofs are told. */
#include "cmd/cuzk/inspect.h"

#include "base/hex.h"
#include "base/mem.h"
#include "filecoin/fabricate_post.h"
#include "filecoin/snap.h"
#include "filecoin/vanilla_file.h"
#include "gadget/poseidon.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX ((size_t)256 << 20)

struct entries {
    const uint8_t **data;
    size_t *sizes, count;
};

static void hash2(uint8_t out[32], const uint8_t a[32], const uint8_t b[32])
{
    fr pair[2] = {domain_value(a), domain_value(b)}, hash;
    poseidon_hash(&hash, poseidon_of(2), pair);
    fr_to_bytes(out, &hash);
}

/* ---- PoSts ---- */

static struct status check_paths(const struct post *p, const struct post_sector *s)
{
    uint8_t hash[32];
    hash2(hash, s->comm_c, s->comm_r_last);
    if (memcmp(hash, s->comm_r, 32) != 0)
        return status_error(STATUS_INVALID, "sector %llu: comm_r is not the hash of comm_c and comm_r_last",
                            (unsigned long long)s->id);
    for (uint32_t n = 0; n < p->challenges; n++) {
        merkle_climb(hash, &p->layout, s->proofs + (size_t)n * p->layout.size);
        if (memcmp(hash, s->comm_r_last, 32) != 0)
            return status_error(STATUS_INVALID,
                                "sector %llu, challenge %u: leaf and path do not lead to comm_r_last",
                                (unsigned long long)s->id, n);
    }
    return status_ok();
}

struct checking {
    const struct post *post;
    atomic_uint_fast64_t failed; /* lowest failing sector */
    atomic_ullong done;
};

static void check_task(void *context, size_t task)
{
    struct checking *x = context;
    struct status s = check_paths(x->post, &x->post->sectors[task]);
    uint_fast64_t seen = atomic_load(&x->failed);
    while (status_failed(&s) && task < seen && !atomic_compare_exchange_weak(&x->failed, &seen, task))
        ;
    atomic_fetch_add(&x->done, 1);
}

static struct status check_sectors(const struct inspect *in, const struct post *p)
{
    struct checking x = {.post = p};
    struct progress_watch watch;
    atomic_init(&x.failed, UINT64_MAX);
    atomic_init(&x.done, 0);
    progress_watch_start(&watch, "checking sectors", &x.done, p->sectors_count);
    bool ran = pool_run(&in->work, check_task, &x, p->sectors_count);
    progress_watch_end(&watch);
    if (!ran)
        return work_cancelled_status();
    uint64_t failed = atomic_load(&x.failed);
    return failed == UINT64_MAX ? status_ok() : check_paths(p, &p->sectors[failed]);
}

static int tell_post(const struct inspect *in, const struct post *p)
{
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_text(&r, "kind", proof_kind_name(p->kind));
    result_text(&r, "sector_size", p->sector_size->name);
    result_number(&r, "sectors", p->sectors_count);
    result_number(&r, "challenges", p->challenges);
    result_text(&r, "checked",
                "encoding, commitments, every path (whether they are the challenged ones: cuzk prove)");
    for (uint32_t i = 0; i < p->sectors_count; i++) {
        char name[40], value[120];
        snprintf(name, sizeof name, "sector_%llu", (unsigned long long)p->sectors[i].id);
        hex_encode(value, p->sectors[i].comm_r, 32);
        result_text(&r, name, value);
    }
    return result_end(&r);
}

static int inspect_post(const struct inspect *in, const struct registered_post *registered,
                        const struct entries *e)
{
    static const uint8_t randomness[32];
    struct post post;
    struct status s = post_open(&post, registered, randomness, 32, 0, e->data, e->sizes, e->count);
    if (status_failed(&s))
        return inspect_failed(in, &s);
    s = check_sectors(in, &post);
    int exit_code = status_failed(&s) ? inspect_failed(in, &s) : tell_post(in, &post);
    post_end(&post);
    return exit_code;
}

/* ---- SnapDeals ---- */

/* The commitments follow from the roots of the first challenge. */
static struct status open_snap(struct snap *out, const struct inspect *in, const struct snap_size *size,
                               const struct entries *e)
{
    static const uint8_t zero[32];
    struct snap_commitments none = {zero, zero, zero, 32, 32, 32};
    uint8_t r_old[32], r_new[32], d_new[32];
    TRY(snap_open(out, size, &none, e->data, e->sizes, e->count));
    const struct snap_partition *p = &out->partitions[0];
    const uint8_t *data = p->proofs + out->replica.size, *replica_new = data + out->data.size;
    hash2(r_old, p->comm_c, p->proofs + out->replica.root);
    hash2(r_new, p->comm_c, replica_new + out->replica.root);
    memcpy(d_new, data + out->data.root, 32);
    struct snap_commitments own = {r_old, r_new, d_new, 32, 32, 32};
    TRY(snap_open(out, size, &own, e->data, e->sizes, e->count));
    return snap_check(out, &in->work);
}

static int inspect_snap(const struct inspect *in, const struct snap_size *size, const struct entries *e)
{
    struct snap snap;
    struct status s = open_snap(&snap, in, size, e);
    if (status_failed(&s))
        return inspect_failed(in, &s);
    struct result r = {.json = in->json};
    result_text(&r, "file", in->path);
    result_text(&r, "kind", "snap");
    result_text(&r, "sector_size", size->sector->name);
    result_number(&r, "partitions", e->count);
    result_number(&r, "challenges", size->challenges);
    result_hex(&r, "comm_r_old", snap.comm_r_old, 32);
    result_hex(&r, "comm_r_new", snap.comm_r_new, 32);
    result_hex(&r, "comm_d_new", snap.comm_d_new, 32);
    result_text(&r, "checked", "encoding, challenges, commitments, every path");
    return result_end(&r);
}

/* ---- which kind ---- */

static int inspect_entries(const struct inspect *in, const struct entries *e)
{
    for (uint64_t number = 0; number < REGISTERED_POSTS; number++) {
        const struct registered_post *registered = registered_post(number);
        if (post_sector_bytes(registered) == e->sizes[0])
            return inspect_post(in, registered, e);
    }
    for (uint64_t number = 0; number < REGISTERED_UPDATES; number++) {
        const struct snap_size *size = registered_update(number)->size;
        if (snap_partition_bytes(size) == e->sizes[0])
            return inspect_snap(in, size, e);
    }
    struct status s =
        status_error(STATUS_INVALID, "\"%.120s\": no vanilla proof is %zu bytes long", in->path, e->sizes[0]);
    s = status_hint(s, "C1 outputs are looked at with cuzk inspect c1");
    return inspect_failed(in, &s);
}

static int inspect_list(const struct inspect *in, const struct vanilla_list *list)
{
    struct entries e = {mem_alloc(list->count, sizeof *e.data), mem_alloc(list->count, sizeof *e.sizes),
                        list->count};
    int exit_code;
    if (e.data == NULL || e.sizes == NULL) {
        struct status s = mem_failed("vanilla proofs", list->count, sizeof *e.data + sizeof *e.sizes);
        exit_code = inspect_failed(in, &s);
    } else {
        for (size_t i = 0; i < list->count; i++) {
            e.data[i] = list->items[i].data;
            e.sizes[i] = list->items[i].size;
        }
        exit_code = inspect_entries(in, &e);
    }
    mem_free(e.data);
    mem_free(e.sizes);
    return exit_code;
}

int inspect_vanilla(const struct inspect *in)
{
    struct cuzk_error error;
    struct vanilla_list list = {0};
    uint8_t *file;
    size_t size, used = 0;
    if (read_file(&file, &size, in->path, FILE_MAX, &error) != CUZK_OK)
        return report_error(&error, in->json);
    uint8_t *decoded = mem_alloc(size, 1);
    struct status s = decoded == NULL ? mem_failed("vanilla proofs", size, 1)
                                      : vanilla_append(&list, decoded, &used, file, size);
    mem_free(file);
    int exit_code = status_failed(&s) ? inspect_failed(in, &s) : inspect_list(in, &list);
    vanilla_list_end(&list);
    mem_free(decoded);
    return exit_code;
}
