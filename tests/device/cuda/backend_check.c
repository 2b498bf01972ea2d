/* See backend_check.h. Everything is made on the spot: a machine with a card has no parameters and no
 * network. */
#include "backend_check.h"

#include "base/mem.h"
#include "device/cuda/backend.h"
#include "filecoin/fabricate_porep.h"
#include "filecoin/fabricate_post.h"
#include "filecoin/fabricate_snap.h"
#include "filecoin/request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double since(double *from)
{
    double now = now_ms(), took = now - *from;
    *from = now;
    return took;
}

/* Megabytes of this process in memory: now ("VmRSS:") or at most ("VmHWM:"). */
static double host_megabytes(const char *key)
{
    char line[160];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kilobytes = atof(line + strlen(key));
    if (file != NULL)
        (void)fclose(file);
    return kilobytes / 1024;
}

/* ---- inputs ---- */

struct made {
    struct c1 c1;
    struct fabricated_post post;
    struct fabricated_snap snap;
    struct bytes_view *vanilla;
    struct request *request;
};

static struct status views(struct made *m, const uint8_t *bytes, size_t each, size_t count)
{
    m->vanilla = mem_alloc(count, sizeof *m->vanilla);
    if (m->vanilla == NULL)
        return mem_failed("vanilla proofs", count, sizeof *m->vanilla);
    for (size_t i = 0; i < count; i++)
        m->vanilla[i] = (struct bytes_view){bytes + i * each, each};
    return status_ok();
}

static struct status make_porep(struct made *m, const struct sector_size *sector, const struct work *work)
{
    const struct registered_seal *seal = NULL;
    for (int i = 0; i < REGISTERED_SEALS; i++)
        if (REGISTERED_SEAL[i].sector == sector && REGISTERED_SEAL[i].feature == SEAL_INTERACTIVE)
            seal = &REGISTERED_SEAL[i];
    struct fabricate_porep_request q = {.seal = seal, .miner = 1000, .sector_number = 1};
    TRY(fabricate_porep(&m->c1, &q, work));
    return request_open_c1(&m->request, &m->c1, 1000, 1, work);
}

static struct status make_post(struct made *m, enum proof_kind kind, const struct sector_size *sector,
                               const struct work *work)
{
    const struct registered_post *registered = NULL;
    for (uint64_t i = 0; i < 64 && registered == NULL; i++) {
        const struct registered_post *r = registered_post(i);
        if (r != NULL && r->kind == kind && r->sector == sector)
            registered = r;
    }
    size_t count = kind == PROOF_WINNING ? 1 : sector->window_sectors;
    uint64_t *ids = mem_alloc(count, sizeof *ids);
    if (ids == NULL)
        return mem_failed("sectors", count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = i + 1;
    struct fabricate_post_request q = {.registered = registered, .ids = ids, .count = count};
    struct status s = fabricate_post(&m->post, &q, work);
    mem_free(ids);
    TRY(s);
    TRY(views(m, m->post.vanilla, m->post.sector_bytes, count));
    struct proof_request request = {.kind = kind,
                                    .registered_proof = registered->number,
                                    .miner = 1000,
                                    .sector_number = 1,
                                    .randomness = {m->post.randomness, 32},
                                    .vanilla = m->vanilla,
                                    .vanilla_count = count};
    return request_open(&m->request, &request, work);
}

static struct status make_snap(struct made *m, const struct sector_size *sector, const struct work *work)
{
    const struct registered_update *update = NULL;
    for (uint64_t i = 0; i < REGISTERED_UPDATES; i++)
        if (registered_update(i)->size->sector == sector)
            update = registered_update(i);
    TRY(fabricate_snap(&m->snap, update->size, NULL, work));
    TRY(views(m, m->snap.vanilla, m->snap.partition_bytes, m->snap.partitions));
    struct proof_request request = {.kind = PROOF_SNAP,
                                    .registered_proof = update->number,
                                    .miner = 1000,
                                    .sector_number = 1,
                                    .comm_r_old = {m->snap.comm_r_old, 32},
                                    .comm_r_new = {m->snap.comm_r_new, 32},
                                    .comm_d_new = {m->snap.comm_d_new, 32},
                                    .vanilla = m->vanilla,
                                    .vanilla_count = m->snap.partitions};
    return request_open(&m->request, &request, work);
}

static struct status make_input(struct made *m, enum proof_kind kind, const struct sector_size *sector,
                                const struct work *work)
{
    memset(m, 0, sizeof *m);
    if (kind == PROOF_POREP)
        return make_porep(m, sector, work);
    return kind == PROOF_SNAP ? make_snap(m, sector, work) : make_post(m, kind, sector, work);
}

/* ---- one run ---- */

struct run {
    const struct backend_check *check;
    enum proof_kind kind;
    const struct sector_size *sector;
    struct work work;
    struct made made;
    struct shape *shape;
    struct toxic toxic;
    struct device *device, *cpu;
    struct device_shape *loaded;
    struct device_srs *srs;
    struct verifying_key key;
    struct image image; /* the card's set on the host, where the CPU proves too */
    void *points[QUERY_COUNT];
    bool good;
};

static void print_parts(const struct device *device)
{
    struct device_cuda_part parts[DEVICE_CUDA_PARTS];
    size_t n = device_cuda_parts(parts, device);
    for (size_t i = 0; i < n; i++)
        printf("    %-24s %9.2f ms\n", parts[i].name, parts[i].ms);
}

static struct status open_card(struct run *r)
{
    struct device_cuda_facts facts;
    double from = now_ms();
    if (r->device == NULL) {
        TRY(device_cuda_open(&r->device, 0, 0));
        TRY(r->device->operations->self_test(r->device));
        printf("%s: card opened and self-tested in %.0f ms\n", r->check->circuit, since(&from));
        device_cuda_clock(r->device, now_ms);
    }
    TRY(r->device->operations->load_shape(&r->loaded, r->device, r->shape));
    printf("    shape loaded in %.0f ms\n", since(&from));
    TRY(device_cuda_setup(&r->srs, &r->key, r->device, r->loaded, &r->toxic));
    TRY(device_cuda_facts(&facts, r->device));
    printf("    parameters made in %.0f ms; scratch %.2f GB, at least %.2f GB; %.2f of %.2f GB free\n",
           since(&from), (double)facts.arena / 1e9, (double)facts.arena_least / 1e9, (double)facts.free / 1e9,
           (double)facts.memory / 1e9);
    print_parts(r->device);
    return status_ok();
}

static struct status bring_points(struct run *r)
{
    struct params_counts counts;
    shape_params_counts(&counts, r->shape);
    r->image.counts = counts;
    r->image.key = r->key;
    for (enum query q = 0; q < QUERY_COUNT; q++) {
        size_t each = q == QUERY_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine);
        r->points[q] = mem_alloc(counts.query[q], each);
        if (r->points[q] == NULL)
            return mem_failed("points", counts.query[q], each);
        TRY(device_cuda_points(r->points[q], r->device, r->srs, q, 0, counts.query[q]));
    }
    r->image.h = r->points[QUERY_H];
    r->image.l = r->points[QUERY_L];
    r->image.a = r->points[QUERY_A];
    r->image.b_g1 = r->points[QUERY_B_G1];
    r->image.b_g2 = r->points[QUERY_B_G2];
    return status_ok();
}

static void differs(struct run *r, const char *what)
{
    printf("WRONG %s: %s differ from the CPU's\n", r->check->circuit, what);
    r->good = false;
}

/* The file of setup_run(), decoded, against the card's points. */
static struct status compare_params(struct run *r)
{
    char path[64];
    struct params_file file;
    struct image image;
    snprintf(path, sizeof path, "/tmp/cuzk-gpu-check-%d.params", (int)getpid());
    double from = now_ms();
    TRY(setup_run(path, NULL, r->shape, &r->toxic, NULL, &r->work, NULL));
    printf("    the CPU's setup took %.0f ms\n", since(&from));
    struct status s = params_open(&file, path);
    (void)unlink(path);
    TRY(s);
    s = image_decode(&image, &file, false, &r->work, NULL);
    if (!status_failed(&s)) {
        const void *cpu[QUERY_COUNT] = {image.h, image.l, image.a, image.b_g1, image.b_g2};
        for (enum query q = 0; q < QUERY_COUNT; q++) {
            size_t each = q == QUERY_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine);
            if (memcmp(cpu[q], r->points[q], image.counts.query[q] * each) != 0)
                differs(r, query_name(q));
        }
        if (memcmp(image.key.ic, r->key.ic, r->key.ic_count * sizeof *r->key.ic) != 0)
            differs(r, "points of the key");
        image_end(&image);
    }
    params_close(&file);
    return s;
}

static struct status compare_sums(struct run *r, const struct seeds *seeds, const struct partial_sums *sums)
{
    struct device_srs *srs;
    struct device_shape *shape;
    struct device_pending *pending;
    struct partial_sums want;
    double from = now_ms();
    TRY(r->cpu->operations->load_srs(&srs, r->cpu, &r->image));
    TRY(r->cpu->operations->load_shape(&shape, r->cpu, r->shape));
    struct status s =
        r->cpu->operations->prove_start(&pending, r->cpu, srs, shape, seeds, PRIORITY_NORMAL, NULL);
    if (!status_failed(&s))
        s = r->cpu->operations->prove_finish(&want, r->cpu, pending);
    r->cpu->operations->drop_shape(r->cpu, shape);
    r->cpu->operations->drop_srs(r->cpu, srs);
    TRY(s);
    printf("    the CPU's sums took %.0f ms\n", since(&from));
    if (!g1_equal(&sums->h, &want.h))
        differs(r, "sums over h");
    if (!g1_equal(&sums->l, &want.l))
        differs(r, "sums over l");
    if (!g1_equal(&sums->a, &want.a))
        differs(r, "sums over a");
    if (!g1_equal(&sums->b_g1, &want.b_g1) || !g2_equal(&sums->b_g2, &want.b_g2))
        differs(r, "sums over b");
    return status_ok();
}

static struct status verify(struct run *r, const struct partial_sums *sums, uint32_t partition)
{
    uint32_t count = circuit_inputs(r->kind, r->sector);
    fr *inputs = mem_alloc(count, sizeof *inputs);
    struct blinding blinding;
    struct proof proof;
    if (inputs == NULL)
        return mem_failed("inputs", count, sizeof *inputs);
    struct status s = request_inputs(inputs, r->made.request, partition);
    if (!status_failed(&s))
        s = blinding_random(&blinding);
    if (!status_failed(&s))
        s = proof_assemble(&proof, sums, &r->key, &blinding);
    if (!status_failed(&s))
        s = proof_verify(&r->key, &proof, inputs, count);
    mem_free(inputs);
    if (s.code == STATUS_REJECTED) {
        printf("WRONG %s: the proof of partition %u does not verify\n", r->check->circuit, partition);
        r->good = false;
        return status_ok();
    }
    return s;
}

static struct status prove_sums(struct partial_sums *sums, struct run *r, const struct seeds *seeds,
                                enum priority priority)
{
    struct device_pending *pending;
    TRY(r->device->operations->prove_start(&pending, r->device, r->srs, r->loaded, seeds, priority, NULL));
    return r->device->operations->prove_finish(sums, r->device, pending);
}

static struct status prove_one(struct run *r, unsigned number)
{
    uint32_t partition = number % request_facts(r->made.request)->partitions;
    struct seeds seeds;
    struct partial_sums sums;
    double from = now_ms();
    TRY(request_seeds(&seeds, r->made.request, r->shape, partition));
    double seeding = since(&from);
    struct status s = prove_sums(&sums, r, &seeds, PRIORITY_NORMAL);
    double proving = since(&from);
    if (!status_failed(&s))
        s = verify(r, &sums, partition);
    double verifying = since(&from);
    if (!status_failed(&s))
        printf("| prove %-22s | partition %-8u | %9.1f ms | seeds %.1f ms (%.1f MB), assembling and "
               "verifying %.1f "
               "ms |\n",
               r->check->circuit, partition, proving, seeding, (double)seeds_bytes(r->shape) / 1e6,
               verifying);
    if (!status_failed(&s) && (number == 0 || number + 1 == r->check->count))
        print_parts(r->device);
    if (!status_failed(&s) && number == 0 && r->check->cpu_sums)
        s = compare_sums(r, &seeds, &sums);
    seeds_end(&seeds);
    (void)fflush(stdout);
    return s;
}

/* The device again, with less memory: points from the host then. */
static struct status open_limited(struct run *r)
{
    struct device_cuda_facts facts;
    r->device->operations->drop_srs(r->device, r->srs);
    r->device->operations->drop_shape(r->device, r->loaded);
    r->device->operations->close(r->device);
    r->device = NULL;
    r->srs = NULL;
    r->loaded = NULL;
    double from = now_ms();
    TRY(device_cuda_open(&r->device, 0, r->check->limit));
    device_cuda_clock(r->device, now_ms);
    TRY(r->device->operations->load_shape(&r->loaded, r->device, r->shape));
    TRY(r->device->operations->load_srs(&r->srs, r->device, &r->image));
    TRY(device_cuda_facts(&facts, r->device));
    printf("    loaded again in %.0f ms, limited to %.2f GB: scratch %.2f GB, %.2f GB free\n", since(&from),
           (double)facts.memory / 1e9, (double)facts.arena / 1e9, (double)facts.free / 1e9);
    return status_ok();
}

/* Until proofs can be made. */
static struct status prepare(struct run *r)
{
    double from = now_ms();
    TRY(circuit_shape(&r->shape, r->kind, r->sector));
    printf(
        "%s: %u rows, %u aux, %u of them numbers, %u inputs, %u templates, %u instances, %u waves; built in "
        "%.0f ms\n",
        r->check->circuit, r->shape->rows, r->shape->aux, r->shape->fields, r->shape->inputs,
        r->shape->templates_count, r->shape->instances_count, r->shape->waves, since(&from));
    TRY(make_input(&r->made, r->kind, r->sector, &r->work));
    printf("%s: input fabricated in %.0f ms\n", r->check->circuit, since(&from));
    (void)fflush(stdout);
    TRY(toxic_from_name(&r->toxic, "gpu-check"));
    TRY(open_card(r));
    if (r->check->cpu_sums || r->check->cpu_params || r->check->limit > 0)
        TRY(bring_points(r));
    if (r->check->cpu_params)
        TRY(compare_params(r));
    if (r->check->limit > 0)
        TRY(open_limited(r));
    (void)fflush(stdout);
    return device_cpu_open(&r->cpu, r->work.pool);
}

static struct status go(struct run *r)
{
    TRY(prepare(r));
    double from = now_ms();
    for (unsigned i = 0; i < r->check->count; i++)
        TRY(prove_one(r, i));
    double all = since(&from);
    printf("| %u proofs of %-20s | one after the other, seeds to verified | %9.1f ms | %.1f ms each |\n",
           r->check->count, r->check->circuit, all, all / r->check->count);
    printf("%s: host memory %.0f MB, at most %.0f MB\n", r->check->circuit, host_megabytes("VmRSS:"),
           host_megabytes("VmHWM:"));
    return status_ok();
}

static void drop(struct run *r)
{
    if (r->srs != NULL)
        r->device->operations->drop_srs(r->device, r->srs);
    if (r->loaded != NULL)
        r->device->operations->drop_shape(r->device, r->loaded);
    if (r->cpu != NULL)
        r->cpu->operations->close(r->cpu);
    vk_end(&r->key);
    for (int q = 0; q < QUERY_COUNT; q++)
        mem_free(r->points[q]);
    request_end(r->made.request);
    mem_free(r->made.vanilla);
    if (r->kind == PROOF_POREP)
        c1_end(&r->made.c1);
    fabricated_post_end(&r->made.post);
    fabricated_snap_end(&r->made.snap);
    shape_release(r->shape);
}

static struct status begin(struct run *r, const struct backend_check *check)
{
    memset(r, 0, sizeof *r);
    r->check = check;
    r->good = true;
    r->work.priority = PRIORITY_NORMAL;
    if (!circuit_by_name(&r->kind, &r->sector, check->circuit))
        return status_error(STATUS_INVALID, "no circuit is called \"%.60s\"", check->circuit);
    return status_ok();
}

struct status backend_check_run(bool *good, const struct backend_check *check)
{
    static struct run r; /* large */
    TRY(begin(&r, check));
    TRY(pool_start(&r.work.pool, check->threads));
    struct status s = go(&r);
    drop(&r);
    if (r.device != NULL)
        r.device->operations->close(r.device);
    pool_end(r.work.pool);
    *good = r.good;
    return s;
}

/* ---- critical proofs beside others ---- */

#define CRITICAL_MOST 400

struct critical {
    struct run *run;
    const struct seeds *seeds;
    double ms[CRITICAL_MOST];
    unsigned count;
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One critical proof, verified. */
static struct status critical_one(struct critical *c)
{
    struct partial_sums sums;
    double from = now_ms();
    TRY(prove_sums(&sums, c->run, c->seeds, PRIORITY_CRITICAL));
    if (c->count < CRITICAL_MOST)
        c->ms[c->count++] = since(&from);
    return verify(c->run, &sums, 0);
}

static void critical_row(struct critical *c, const char *when)
{
    qsort(c->ms, c->count, sizeof c->ms[0], by_size);
    if (c->count > 0)
        printf("| %-22s | %-28s | %u proofs | least %.1f, median %.1f, most %.1f ms |\n",
               c->run->check->circuit, when, c->count, c->ms[0], c->ms[c->count / 2], c->ms[c->count - 1]);
    c->count = 0;
}

struct others {
    struct run *run;
    struct status status;
    atomic_bool ended;
};

static void *prove_others(void *context)
{
    struct others *o = context;
    o->status = status_ok();
    for (unsigned i = 0; i < o->run->check->count && !status_failed(&o->status); i++)
        o->status = prove_one(o->run, i);
    atomic_store(&o->ended, true);
    return NULL;
}

static struct status critical_beside(struct run *r, struct run *w)
{
    static struct critical c;
    struct others others = {.run = r};
    struct seeds seeds;
    pthread_t thread;
    atomic_init(&others.ended, false);
    TRY(request_seeds(&seeds, w->made.request, w->shape, 0));
    c = (struct critical){.run = w, .seeds = &seeds};
    struct status s = status_ok();
    for (int i = 0; i < 5 && !status_failed(&s); i++)
        s = critical_one(&c);
    critical_row(&c, "alone");
    if (!status_failed(&s) && pthread_create(&thread, NULL, prove_others, &others) != 0)
        s = status_error(STATUS_MEMORY, "no thread is left");
    else if (!status_failed(&s)) {
        while (!atomic_load(&others.ended) && !status_failed(&s))
            s = critical_one(&c);
        (void)pthread_join(thread, NULL);
        critical_row(&c, "while others run");
        if (!status_failed(&s))
            s = others.status;
    }
    seeds_end(&seeds);
    return s;
}

struct status backend_check_beside(bool *good, const struct backend_check *check, const char *critical)
{
    static struct run r, w;
    struct backend_check second = {.circuit = critical, .count = 1};
    TRY(begin(&r, check));
    TRY(begin(&w, &second));
    TRY(pool_start(&r.work.pool, check->threads));
    w.work = r.work;
    struct status s = prepare(&r);
    w.device = r.device;
    if (!status_failed(&s))
        s = prepare(&w);
    if (!status_failed(&s))
        s = critical_beside(&r, &w);
    drop(&w);
    drop(&r);
    if (r.device != NULL)
        r.device->operations->close(r.device);
    pool_end(r.work.pool);
    *good = r.good && w.good;
    return s;
}
