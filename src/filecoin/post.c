/* See post.h. */
#include "filecoin/post.h"

#include "base/mem.h"
#include "base/sha256.h"
#include "gadget/poseidon.h"

#include <string.h>

#define SECTOR_HEAD 56 /* sector id, comm_r, counts of SectorProofs and of inclusion proofs */
#define SECTOR_TAIL 64 /* comm_c, comm_r_last */

/* Positions in SECTOR_SIZE of the sizes that have numbers: 2 KiB, 8 MiB, 512 MiB, 32 GiB, 64 GiB. */
static const struct registered_post REGISTERED_POST[REGISTERED_POSTS] = {
    {0, "StackedDrgWinning2KiBV1", PROOF_WINNING, API_1_0, &SECTOR_SIZE[0]},
    {1, "StackedDrgWinning8MiBV1", PROOF_WINNING, API_1_0, &SECTOR_SIZE[4]},
    {2, "StackedDrgWinning512MiBV1", PROOF_WINNING, API_1_0, &SECTOR_SIZE[6]},
    {3, "StackedDrgWinning32GiBV1", PROOF_WINNING, API_1_0, &SECTOR_SIZE[8]},
    {4, "StackedDrgWinning64GiBV1", PROOF_WINNING, API_1_0, &SECTOR_SIZE[9]},
    {5, "StackedDrgWindow2KiBV1", PROOF_WINDOW, API_1_0, &SECTOR_SIZE[0]},
    {6, "StackedDrgWindow8MiBV1", PROOF_WINDOW, API_1_0, &SECTOR_SIZE[4]},
    {7, "StackedDrgWindow512MiBV1", PROOF_WINDOW, API_1_0, &SECTOR_SIZE[6]},
    {8, "StackedDrgWindow32GiBV1", PROOF_WINDOW, API_1_0, &SECTOR_SIZE[8]},
    {9, "StackedDrgWindow64GiBV1", PROOF_WINDOW, API_1_0, &SECTOR_SIZE[9]},
    {10, "StackedDrgWindow2KiBV1_1", PROOF_WINDOW, API_1_2, &SECTOR_SIZE[0]},
    {11, "StackedDrgWindow8MiBV1_1", PROOF_WINDOW, API_1_2, &SECTOR_SIZE[4]},
    {12, "StackedDrgWindow512MiBV1_1", PROOF_WINDOW, API_1_2, &SECTOR_SIZE[6]},
    {13, "StackedDrgWindow32GiBV1_1", PROOF_WINDOW, API_1_2, &SECTOR_SIZE[8]},
    {14, "StackedDrgWindow64GiBV1_1", PROOF_WINDOW, API_1_2, &SECTOR_SIZE[9]},
};

const struct registered_post *registered_post(uint64_t number)
{
    return number < REGISTERED_POSTS ? &REGISTERED_POST[number] : NULL;
}

uint32_t post_blocks(enum proof_kind kind, const struct sector_size *sector)
{
    return kind == PROOF_WINNING ? WINNING_CHALLENGES : sector->window_sectors;
}

uint32_t post_block_challenges(enum proof_kind kind)
{
    return kind == PROOF_WINNING ? 1 : WINDOW_CHALLENGES;
}

uint64_t post_leaf_challenge(const struct registered_post *r, const uint8_t randomness[32],
                             uint32_t partition_index, uint32_t position, uint64_t id, uint32_t n)
{
    uint64_t index = n;
    if (r->kind == PROOF_WINDOW && r->api < API_1_2) {
        uint64_t place = (uint64_t)partition_index * r->sector->window_sectors + position;
        index += place * WINDOW_CHALLENGES;
    }
    uint8_t text[48], digest[32];
    memcpy(text, randomness, 32);
    store_le64(text + 32, id);
    store_le64(text + 40, index);
    sha256(digest, text, sizeof text);
    return load_le64(digest) & (sector_nodes(r->sector) - 1);
}

uint64_t post_challenge(const struct post *p, uint32_t position, uint32_t n)
{
    const struct registered_post r = {.kind = p->kind, .api = p->api, .sector = p->sector_size};
    return post_leaf_challenge(&r, p->randomness, p->partition_index, position, p->sectors[position].id, n);
}

/* ---- decoding ---- */

static struct status take_sector(struct post_sector *out, struct cursor *c, const struct post *p)
{
    out->id = cursor_le64(c);
    TRY(domain_take(&out->comm_r, c, "comm_r"));
    TRY(count_take(c, 1, "sector proofs"));
    TRY(count_take(c, p->challenges, "inclusion proofs"));
    for (uint32_t n = 0; n < p->challenges; n++) {
        const uint8_t *m;
        struct status s = merkle_take(&m, c, &p->layout);
        if (status_failed(&s))
            return status_within(s, "sector %llu, challenge %u", (unsigned long long)out->id, n);
        if (n == 0)
            out->proofs = m;
    }
    TRY(domain_take(&out->comm_c, c, "comm_c"));
    TRY(domain_take(&out->comm_r_last, c, "comm_r_last"));
    if (cursor_left(c) != 0)
        return status_error(STATUS_INVALID, "%zu bytes follow the proof of sector %llu", cursor_left(c),
                            (unsigned long long)out->id);
    return status_ok();
}

/* A sector may be named twice only with the same bytes (a stand-in for another, as older actors did). */
static struct status check_duplicates(const struct post *p, const uint8_t *const *vanilla,
                                      const size_t *sizes)
{
    for (uint32_t i = 1; i < p->sectors_count; i++) {
        if (p->sectors[i].id > p->sectors[i - 1].id)
            continue;
        for (uint32_t j = 0; j < i; j++)
            if (p->sectors[j].id == p->sectors[i].id &&
                (sizes[i] != sizes[j] || memcmp(vanilla[i], vanilla[j], sizes[i]) != 0))
                return status_error(STATUS_INVALID,
                                    "sector %llu is there twice, as numbers %u and %u, with different proofs",
                                    (unsigned long long)p->sectors[i].id, j, i);
    }
    return status_ok();
}

static struct status decode(struct post *p, const uint8_t *const *vanilla, const size_t *sizes)
{
    for (uint32_t i = 0; i < p->sectors_count; i++) {
        struct cursor c = cursor_over(vanilla[i], sizes[i]);
        struct status s = take_sector(&p->sectors[i], &c, p);
        if (status_failed(&s))
            return status_within(s, "vanilla proof %u", i);
    }
    return check_duplicates(p, vanilla, sizes);
}

static struct status check_request(const struct registered_post *r, const uint8_t *randomness,
                                   size_t randomness_size, uint32_t partition_index, size_t count)
{
    fr_int x;
    uint32_t most = r->kind == PROOF_WINNING ? 1 : r->sector->window_sectors;
    if (randomness_size != 32)
        return status_error(STATUS_INVALID, "randomness is %zu bytes long, not 32", randomness_size);
    if (!fr_int_from_bytes(&x, randomness))
        return status_hint(status_error(STATUS_INVALID, "randomness is not a field element"),
                           "the caller must clear the two top bits of its last byte");
    if (count == 0)
        return status_error(STATUS_INVALID, "there is no vanilla proof");
    if (count > most)
        return status_error(STATUS_INVALID,
                            "there are %zu vanilla proofs; a %s proof of %s sectors takes at most %u", count,
                            proof_kind_name(r->kind), r->sector->name, most);
    if (r->kind == PROOF_WINNING && partition_index != 0)
        return status_error(STATUS_INVALID,
                            "partition %u does not exist: a winning proof has one partition, 0",
                            partition_index);
    return status_ok();
}

static struct status start(struct post *out, const struct registered_post *registered,
                           const uint8_t *randomness, size_t randomness_size, uint32_t partition_index,
                           size_t count)
{
    memset(out, 0, sizeof *out);
    TRY(check_request(registered, randomness, randomness_size, partition_index, count));
    out->kind = registered->kind;
    out->api = registered->api;
    out->sector_size = registered->sector;
    merkle_layout_replica(&out->layout, registered->sector);
    memcpy(out->randomness, randomness, 32);
    out->partition_index = partition_index;
    out->challenges = registered->kind == PROOF_WINNING ? WINNING_CHALLENGES : WINDOW_CHALLENGES;
    out->sectors_count = (uint32_t)count;
    out->sectors = mem_alloc_zero(count, sizeof *out->sectors);
    return out->sectors != NULL ? status_ok() : mem_failed("vanilla proofs", count, sizeof *out->sectors);
}

struct status post_open(struct post *out, const struct registered_post *registered, const uint8_t *randomness,
                        size_t randomness_size, uint32_t partition_index, const uint8_t *const *vanilla,
                        const size_t *sizes, size_t count)
{
    TRY(start(out, registered, randomness, randomness_size, partition_index, count));
    struct status s = decode(out, vanilla, sizes);
    if (status_failed(&s))
        post_end(out);
    return s;
}

struct status post_open_public(struct post *out, const struct registered_post *registered,
                               const uint8_t randomness[32], uint32_t partition_index,
                               const struct post_sector *sectors, size_t count)
{
    TRY(start(out, registered, randomness, 32, partition_index, count));
    for (size_t i = 0; i < count; i++) {
        fr_int x;
        out->sectors[i] = (struct post_sector){.id = sectors[i].id, .comm_r = sectors[i].comm_r};
        if (!fr_int_from_bytes(&x, sectors[i].comm_r)) {
            post_end(out);
            return status_error(STATUS_INVALID, "comm_r of sector %llu is not a field element",
                                (unsigned long long)sectors[i].id);
        }
    }
    return status_ok();
}

void post_end(struct post *p)
{
    mem_free(p->sectors);
    p->sectors = NULL;
    p->sectors_count = 0;
}

/* ---- writing ---- */

static uint32_t challenges_of(const struct registered_post *r)
{
    return r->kind == PROOF_WINNING ? WINNING_CHALLENGES : WINDOW_CHALLENGES;
}

size_t post_sector_bytes(const struct registered_post *registered)
{
    struct merkle_layout layout;
    merkle_layout_replica(&layout, registered->sector);
    return 120 + challenges_of(registered) * (size_t)layout.size;
}

void post_write_sector(uint8_t *out, const struct registered_post *registered, const uint8_t randomness[32],
                       uint32_t partition_index, uint32_t position, uint64_t id, const uint8_t comm_c[32],
                       merkle_node *node, const void *tree)
{
    struct merkle_layout layout;
    uint32_t count = challenges_of(registered);
    merkle_layout_replica(&layout, registered->sector);
    const uint8_t *root = node(tree, layout.levels, 0);
    fr pair[2] = {domain_value(comm_c), domain_value(root)}, comm_r;
    poseidon_hash(&comm_r, poseidon_of(2), pair);
    store_le64(out, id);
    fr_to_bytes(out + 8, &comm_r);
    store_le64(out + 40, 1);
    store_le64(out + 48, count);
    out += 56;
    for (uint32_t n = 0; n < count; n++, out += layout.size)
        merkle_write(out, &layout,
                     post_leaf_challenge(registered, randomness, partition_index, position, id, n), node,
                     tree);
    memcpy(out, comm_c, 32);
    memcpy(out + 32, root, 32);
}

/* ---- checking ---- */

struct check {
    const struct post *post;
    bool paths;
    atomic_uint_fast64_t failed; /* lowest failing sector */
};

static const uint8_t *inclusion(const struct post *p, uint32_t sector, uint32_t n)
{
    return p->sectors[sector].proofs + (size_t)n * p->layout.size;
}

static struct status check_inclusion(const struct post *p, uint32_t i, uint32_t n, bool paths)
{
    const uint8_t *m = inclusion(p, i, n);
    uint64_t want = post_challenge(p, i, n), have = merkle_leaf(&p->layout, m);
    if (have != want)
        return status_hint(status_error(STATUS_INVALID, "the path opens leaf %llu, the challenge is %llu",
                                        (unsigned long long)have, (unsigned long long)want),
                           "was it made for other randomness, another sector or another partition?");
    if (memcmp(m + p->layout.root, p->sectors[i].comm_r_last, 32) != 0)
        return status_error(STATUS_INVALID, "the path's root is not comm_r_last");
    if (paths) {
        uint8_t root[32];
        merkle_climb(root, &p->layout, m);
        if (memcmp(root, p->sectors[i].comm_r_last, 32) != 0)
            return status_error(STATUS_INVALID, "leaf and path do not lead to comm_r_last");
    }
    return status_ok();
}

static struct status check_sector(const struct post *p, uint32_t i, bool paths)
{
    const struct post_sector *sector = &p->sectors[i];
    fr pair[2] = {domain_value(sector->comm_c), domain_value(sector->comm_r_last)}, hash;
    uint8_t comm_r[32];
    poseidon_hash(&hash, poseidon_of(2), pair);
    fr_to_bytes(comm_r, &hash);
    if (memcmp(comm_r, sector->comm_r, 32) != 0)
        return status_error(STATUS_INVALID, "sector %llu: comm_r is not the hash of comm_c and comm_r_last",
                            (unsigned long long)sector->id);
    for (uint32_t n = 0; n < p->challenges; n++) {
        struct status s = check_inclusion(p, i, n, paths);
        if (status_failed(&s))
            return status_within(s, "sector %llu, challenge %u", (unsigned long long)sector->id, n);
    }
    return status_ok();
}

static void check_task(void *context, size_t task)
{
    struct check *x = context;
    struct status s = check_sector(x->post, (uint32_t)task, x->paths);
    uint_fast64_t seen = atomic_load(&x->failed);
    while (status_failed(&s) && task < seen && !atomic_compare_exchange_weak(&x->failed, &seen, task))
        ;
}

struct status post_check(const struct post *p, bool paths, const struct work *work)
{
    struct check x = {.post = p, .paths = paths};
    atomic_init(&x.failed, UINT64_MAX);
    if (!pool_run(work, check_task, &x, p->sectors_count))
        return work_cancelled_status();
    uint64_t failed = atomic_load(&x.failed);
    return failed == UINT64_MAX ? status_ok() : check_sector(p, (uint32_t)failed, paths);
}

/* ---- the circuit ---- */

static struct number commitment(struct circuit *c, const uint8_t *bytes)
{
    if (bytes == NULL)
        return circuit_number(c, NULL);
    fr x = domain_value(bytes);
    return circuit_number(c, &x);
}

/* Specification 8: por. m is NULL without values. */
static void prove_inclusion(struct circuit *c, const struct tree_form *form, const struct post *p,
                            const uint8_t *m, const struct number *root)
{
    if (m == NULL) {
        struct number leaf = circuit_number(c, NULL);
        circuit_por(c, form, &leaf, NULL, root);
        return;
    }
    fr siblings[MERKLE_SIBLINGS_MAX];
    struct tree_path path;
    merkle_path(&path, siblings, &p->layout, m);
    struct number leaf = commitment(c, m + p->layout.leaf);
    circuit_por(c, form, &leaf, &path, root);
}

/* Block b of a Winning proof opens challenge b of the one sector; of a Window proof all ten of sector b. */
static void prove_block(struct circuit *c, const struct tree_form *form, const struct post *p,
                        enum proof_kind kind, uint32_t b)
{
    uint32_t i = 0, first = 0, count = post_block_challenges(kind);
    if (p != NULL && kind == PROOF_WINDOW)
        i = b < p->sectors_count ? b : p->sectors_count - 1;
    if (kind == PROOF_WINNING)
        first = b;
    const struct post_sector *sector = p == NULL ? NULL : &p->sectors[i];
    struct number comm_r_last = commitment(c, sector == NULL ? NULL : sector->comm_r_last);
    struct number comm_c = commitment(c, sector == NULL ? NULL : sector->comm_c);
    struct number comm_r = commitment(c, sector == NULL ? NULL : sector->comm_r);
    circuit_inputize(c, &comm_r);
    struct number hash = circuit_hash2(c, &comm_c, &comm_r_last);
    circuit_equal(c, &comm_r, &hash);
    for (uint32_t n = first; n < first + count; n++)
        prove_inclusion(c, form, p, p == NULL ? NULL : inclusion(p, i, n), &comm_r_last);
}

void post_circuit(struct circuit *c, enum proof_kind kind, const struct sector_size *sector,
                  const struct post *p)
{
    uint32_t arities[SECTOR_LEVELS_MAX];
    uint32_t above = (sector->sub ? 1U : 0U) + (sector->top ? 1U : 0U);
    struct tree_form form = {HASHER_POSEIDON, 8, sector_arities(arities, sector) - above, sector->sub,
                             sector->top};
    CHECK(p == NULL || (p->kind == kind && p->sector_size == sector));
    for (uint32_t b = 0; b < post_blocks(kind, sector); b++)
        prove_block(c, &form, p, kind, b);
}

/* ---- public inputs ---- */

uint32_t post_inputs_count(enum proof_kind kind, const struct sector_size *sector)
{
    return post_blocks(kind, sector) * (1 + post_block_challenges(kind));
}

void post_inputs(fr *out, const struct post *p)
{
    uint32_t blocks = post_blocks(p->kind, p->sector_size);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t i = p->kind == PROOF_WINNING ? 0 : b < p->sectors_count ? b : p->sectors_count - 1;
        uint32_t first = p->kind == PROOF_WINNING ? b : 0;
        *out++ = domain_value(p->sectors[i].comm_r);
        for (uint32_t n = 0; n < post_block_challenges(p->kind); n++)
            fr_from_u64(out++, post_challenge(p, i, first + n));
    }
}
