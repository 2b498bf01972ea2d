/* See snap.h. */
#include "filecoin/snap.h"

#include "filecoin/sector.h"
#include "gadget/poseidon.h"

#include <string.h>

/* ---- sizes and numbers ---- */

/* Sizes that exist for updates alone. */
static const struct sector_size SECTOR_1K = {
    .name = "1KiB", .circuit = "1k", .log2_nodes = 5, .sub = 4, .top = 0};
static const struct sector_size SECTOR_8K = {
    .name = "8KiB", .circuit = "8k", .log2_nodes = 8, .sub = 4, .top = 0};

#define SMALL {1, 1, 1, 1, 1, 1}, 1, 0
#define LARGE {7, 8, 9, 10, 11, 12}, 10, 3

const struct snap_size SNAP_SIZE[SNAP_SIZES] = {
    {&SECTOR_1K, 0, 10, 3, SMALL},      {&SECTOR_SIZE[0], 0, 10, 3, SMALL}, /* 2 KiB */
    {&SECTOR_SIZE[1], 0, 10, 3, SMALL},                                     /* 4 KiB */
    {&SECTOR_8K, 0, 10, 3, SMALL},      {&SECTOR_SIZE[2], 1, 10, 7, SMALL}, /* 16 KiB */
    {&SECTOR_SIZE[3], 1, 10, 7, SMALL},                                     /* 32 KiB */
    {&SECTOR_SIZE[4], 2, 10, 7, LARGE},                                     /* 8 MiB */
    {&SECTOR_SIZE[5], 2, 10, 7, LARGE},                                     /* 16 MiB */
    {&SECTOR_SIZE[6], 4, 86, 7, LARGE},                                     /* 512 MiB */
    {&SECTOR_SIZE[8], 4, 86, 7, LARGE}, {&SECTOR_SIZE[9], 4, 86, 7, LARGE}, /* 32, 64 GiB */
};

static const struct registered_update REGISTERED_UPDATE[REGISTERED_UPDATES] = {
    {0, "StackedDrg2KiBV1", &SNAP_SIZE[1]},   {1, "StackedDrg8MiBV1", &SNAP_SIZE[6]},
    {2, "StackedDrg512MiBV1", &SNAP_SIZE[8]}, {3, "StackedDrg32GiBV1", &SNAP_SIZE[9]},
    {4, "StackedDrg64GiBV1", &SNAP_SIZE[10]},
};

const struct snap_size *snap_size_of(const struct sector_size *sector)
{
    for (size_t i = 0; i < SNAP_SIZES; i++)
        if (SNAP_SIZE[i].sector == sector)
            return &SNAP_SIZE[i];
    return NULL;
}

const struct registered_update *registered_update(uint64_t number)
{
    return number < REGISTERED_UPDATES ? &REGISTERED_UPDATE[number] : NULL;
}

size_t snap_partition_bytes(const struct snap_size *size)
{
    struct merkle_layout replica, data;
    merkle_layout_replica(&replica, size->sector);
    merkle_layout_binary(&data, size->sector);
    return 32 + 8 + ((size_t)32 << size->log2_apex) + 8 +
           (size_t)size->challenges * (2 * (size_t)replica.size + data.size);
}

/* ---- randomness and challenges ---- */

static void hash_pair(fr *out, const fr *a, const fr *b)
{
    fr pair[2] = {*a, *b};
    poseidon_hash_tagged(out, poseidon_of(2), POSEIDON_TAG_CUSTOM_1, pair);
}

void snap_phi(fr *phi, const uint8_t comm_d_new[32], const uint8_t comm_r_old[32])
{
    fr d = domain_value(comm_d_new), r = domain_value(comm_r_old);
    hash_pair(phi, &d, &r);
}

void snap_rho(fr *rho, const fr *phi, const struct snap_size *size, uint64_t leaf)
{
    fr high;
    fr_from_u64(&high, leaf >> (size->sector->log2_nodes - size->height));
    hash_pair(rho, phi, &high);
}

void snap_digest(fr_int *digest, const uint8_t comm_r_new[32], const struct snap_size *size, uint32_t k,
                 uint32_t j)
{
    fr r = domain_value(comm_r_new), number, hash;
    fr_from_u64(&number, (uint64_t)k * snap_digests(size) + j);
    hash_pair(&hash, &r, &number);
    fr_to_int(digest, &hash);
}

uint64_t snap_challenge(const fr_int *digest, const struct snap_size *size, uint32_t k, uint32_t t)
{
    uint32_t bits = snap_random_bits(size), at = t * bits, shift = at % 64;
    CHECK(t < snap_challenges_per_digest(size));
    uint64_t value = digest->l[at / 64] >> shift;
    if (shift + bits > 64)
        value |= digest->l[at / 64 + 1] << (64 - shift);
    return (value & ((UINT64_C(1) << bits) - 1)) | (uint64_t)k << bits;
}

/* ---- decoding ---- */

static struct status take_commitment(uint8_t out[32], const uint8_t *bytes, size_t size, const char *name)
{
    fr_int unused;
    if (size != 32)
        return status_hint(status_error(STATUS_INVALID, "%s is %zu bytes long, not 32", name, size),
                           "send the digest inside the CID, not the CID");
    if (!fr_int_from_bytes(&unused, bytes))
        return status_error(STATUS_INVALID, "%s is not a field element", name);
    memcpy(out, bytes, 32);
    return status_ok();
}

static struct status take_proofs(struct snap_partition *out, struct cursor *c, const struct snap *s)
{
    static const char *const names[] = {"old replica path", "data path", "new replica path"};
    const struct merkle_layout *layouts[3] = {&s->replica, &s->data, &s->replica};
    for (uint32_t q = 0; q < s->size->challenges; q++)
        for (int i = 0; i < 3; i++) {
            const uint8_t *m;
            struct status status = merkle_take(&m, c, layouts[i]);
            if (status_failed(&status))
                return status_within(status, "challenge %u, %s", q, names[i]);
            if (q == 0 && i == 0)
                out->proofs = m;
        }
    return status_ok();
}

static struct status take_partition(struct snap_partition *out, struct cursor *c, const struct snap *s)
{
    TRY(domain_take(&out->comm_c, c, "comm_c"));
    TRY(count_take(c, UINT64_C(1) << s->size->log2_apex, "apex leaves"));
    for (uint32_t i = 0; i < 1U << s->size->log2_apex; i++) {
        const uint8_t *leaf;
        struct status status = domain_take(&leaf, c, "apex leaf");
        if (status_failed(&status))
            return status_within(status, "apex leaf %u", i);
        if (i == 0)
            out->apex = leaf;
    }
    TRY(count_take(c, s->size->challenges, "challenge proofs"));
    TRY(take_proofs(out, c, s));
    if (cursor_left(c) != 0)
        return status_error(STATUS_INVALID, "%zu bytes follow the proof", cursor_left(c));
    return status_ok();
}

struct status snap_open(struct snap *out, const struct snap_size *size,
                        const struct snap_commitments *commitments, const uint8_t *const *vanilla,
                        const size_t *sizes, size_t count)
{
    memset(out, 0, sizeof *out);
    TRY(take_commitment(out->comm_r_old, commitments->r_old, commitments->r_old_size, "comm_r_old"));
    TRY(take_commitment(out->comm_r_new, commitments->r_new, commitments->r_new_size, "comm_r_new"));
    TRY(take_commitment(out->comm_d_new, commitments->d_new, commitments->d_new_size, "comm_d_new"));
    if (count != snap_partitions(size))
        return status_error(STATUS_INVALID,
                            "there are %zu partition proofs; an update of %s sectors has %u partitions",
                            count, size->sector->name, snap_partitions(size));
    out->size = size;
    merkle_layout_replica(&out->replica, size->sector);
    merkle_layout_binary(&out->data, size->sector);
    out->proof_bytes = 2 * (size_t)out->replica.size + out->data.size;
    for (uint32_t k = 0; k < count; k++) {
        struct cursor c = cursor_over(vanilla[k], sizes[k]);
        struct status status = take_partition(&out->partitions[k], &c, out);
        if (status_failed(&status))
            return status_within(status, "partition %u", k);
    }
    return status_ok();
}

/* The three paths of challenge q of a partition. */
struct triple {
    const uint8_t *r_old, *d_new, *r_new;
};

static struct triple triple_of(const struct snap *s, uint32_t k, uint32_t q)
{
    const uint8_t *at = s->partitions[k].proofs + (size_t)q * s->proof_bytes;
    return (struct triple){at, at + s->replica.size, at + s->replica.size + s->data.size};
}

/* ---- writing ---- */

void snap_write_partition(uint8_t *out, const struct snap_size *size, uint32_t k, const uint8_t comm_c[32],
                          const uint8_t comm_r_new[32], const struct snap_trees *trees)
{
    uint32_t apex = 1U << size->log2_apex, per_digest = snap_challenges_per_digest(size);
    struct merkle_layout replica, data;
    fr_int digest = {{0, 0, 0, 0}};
    merkle_layout_replica(&replica, size->sector);
    merkle_layout_binary(&data, size->sector);
    memcpy(out, comm_c, 32);
    store_le64(out + 32, apex);
    out += 40;
    for (uint32_t i = 0; i < apex; i++, out += 32)
        memcpy(out, trees->node(trees->d_new, snap_apex_level(size), (uint64_t)k * apex + i), 32);
    store_le64(out, size->challenges);
    out += 8;
    for (uint32_t q = 0; q < size->challenges; q++) {
        if (q % per_digest == 0)
            snap_digest(&digest, comm_r_new, size, k, q / per_digest);
        uint64_t leaf = snap_challenge(&digest, size, k, q % per_digest);
        merkle_write(out, &replica, leaf, trees->node, trees->r_old);
        merkle_write(out + replica.size, &data, leaf, trees->node, trees->d_new);
        merkle_write(out + replica.size + data.size, &replica, leaf, trees->node, trees->r_new);
        out += 2 * (size_t)replica.size + data.size;
    }
}

/* ---- checking ---- */

static struct status wrong(const char *text)
{
    return status_error(STATUS_INVALID, "%s", text);
}

/* Where a path opens another leaf than the challenge. */
static struct status check_leaf(const struct snap *s, uint32_t k, const char *path, uint64_t have,
                                uint64_t want)
{
    uint64_t other = have >> snap_random_bits(s->size);
    if (have == want)
        return status_ok();
    if (other != k)
        return status_hint(status_error(STATUS_INVALID,
                                        "the %s opens leaf %llu, which belongs to partition %llu", path,
                                        (unsigned long long)have, (unsigned long long)other),
                           "partition proofs must be in order, each partition once");
    return status_hint(status_error(STATUS_INVALID, "the %s opens leaf %llu, the challenge is %llu", path,
                                    (unsigned long long)have, (unsigned long long)want),
                       "was it made for another comm_r_new?");
}

static struct status check_replica(const struct snap *s, uint32_t k, const uint8_t *m, const uint8_t *first,
                                   uint64_t challenge, const char *path)
{
    uint8_t root[32];
    TRY(check_leaf(s, k, path, merkle_leaf(&s->replica, m), challenge));
    if (memcmp(m + s->replica.root, first + s->replica.root, 32) != 0)
        return status_error(STATUS_INVALID, "the %s's root is not that of challenge 0", path);
    merkle_climb(root, &s->replica, m);
    if (memcmp(root, m + s->replica.root, 32) != 0)
        return status_error(STATUS_INVALID, "leaf and siblings of the %s do not lead to its root", path);
    return status_ok();
}

/* Through the apex leaf, along the partition's path, to comm_d_new. */
static struct status check_data(const struct snap *s, uint32_t k, const uint8_t *m, const uint8_t *first,
                                uint64_t challenge)
{
    const struct merkle_layout *l = &s->data;
    uint32_t apex_level = snap_apex_level(s->size), random_bits = snap_random_bits(s->size);
    uint32_t apex = (uint32_t)(challenge >> apex_level) & ((1U << s->size->log2_apex) - 1);
    uint8_t node[32];
    TRY(check_leaf(s, k, "data path", merkle_leaf(l, m), challenge));
    if (memcmp(m + l->root, s->comm_d_new, 32) != 0)
        return wrong("the data path's root is not comm_d_new");
    for (uint32_t level = random_bits; level < l->levels; level++)
        if (memcmp(merkle_sibling(l, m, level, 0), merkle_sibling(l, first, level, 0), 32) != 0)
            return wrong("the data path leaves the partition by another way than that of challenge 0");
    memcpy(node, m + l->leaf, 32);
    merkle_climb_levels(node, l, m, 0, apex_level);
    if (memcmp(node, s->partitions[k].apex + 32 * (size_t)apex, 32) != 0)
        return status_error(STATUS_INVALID, "leaf and siblings of the data path do not lead to apex leaf %u",
                            apex);
    merkle_climb_levels(node, l, m, apex_level, l->levels);
    if (memcmp(node, s->comm_d_new, 32) != 0)
        return wrong("leaf and siblings of the data path do not lead to comm_d_new");
    return status_ok();
}

static struct status check_encoding(const struct snap *s, const struct triple *t, const fr *phi,
                                    uint64_t challenge)
{
    fr rho, sum, r_old = domain_value(t->r_old + s->replica.leaf),
                 data = domain_value(t->d_new + s->data.leaf),
                 r_new = domain_value(t->r_new + s->replica.leaf);
    snap_rho(&rho, phi, s->size, challenge);
    fr_mul(&sum, &data, &rho);
    fr_add(&sum, &sum, &r_old);
    return fr_equal(&sum, &r_new) ? status_ok()
                                  : wrong("the new leaf is not the old one with the data encoded");
}

static struct status check_challenge(const struct snap *s, const fr *phi, uint32_t k, uint32_t q,
                                     uint64_t challenge)
{
    struct triple t = triple_of(s, k, q), first = triple_of(s, k, 0);
    TRY(check_replica(s, k, t.r_old, first.r_old, challenge, "old replica path"));
    TRY(check_data(s, k, t.d_new, first.d_new, challenge));
    TRY(check_replica(s, k, t.r_new, first.r_new, challenge, "new replica path"));
    return check_encoding(s, &t, phi, challenge);
}

static bool commits(const uint8_t comm_r[32], const uint8_t *comm_c, const uint8_t *root)
{
    fr pair[2] = {domain_value(comm_c), domain_value(root)}, want = domain_value(comm_r), hash;
    poseidon_hash(&hash, poseidon_of(2), pair);
    return fr_equal(&hash, &want);
}

/* All apex leaves, not only those that challenges pass. */
static bool apex_leads_to_root(const struct snap *s, uint32_t k)
{
    uint8_t row[SNAP_APEX_MAX][32], node[32];
    const uint8_t *m = triple_of(s, k, 0).d_new;
    memcpy(row, s->partitions[k].apex, (size_t)32 << s->size->log2_apex);
    for (uint32_t length = 1U << s->size->log2_apex; length > 1; length /= 2)
        for (uint32_t i = 0; i < length / 2; i++) {
            hash_nodes(node, row[2 * i], row[2 * i + 1]);
            memcpy(row[i], node, 32);
        }
    for (uint32_t i = 0; i < s->size->log2_partitions; i++) {
        const uint8_t *sibling = merkle_sibling(&s->data, m, snap_random_bits(s->size) + i, 0);
        bool right = k >> i & 1;
        hash_nodes(node, right ? sibling : row[0], right ? row[0] : sibling);
        memcpy(row[0], node, 32);
    }
    return memcmp(row[0], s->comm_d_new, 32) == 0;
}

static struct status check_commitments(const struct snap *s, uint32_t k)
{
    const struct snap_partition *p = &s->partitions[k];
    struct triple first = triple_of(s, k, 0);
    if (!commits(s->comm_r_old, p->comm_c, first.r_old + s->replica.root))
        return wrong("comm_r_old is not the hash of comm_c and the old replica path's root");
    if (!commits(s->comm_r_new, p->comm_c, first.r_new + s->replica.root))
        return wrong("comm_r_new is not the hash of comm_c and the new replica path's root");
    return apex_leads_to_root(s, k) ? status_ok() : wrong("the apex leaves do not lead to comm_d_new");
}

struct check {
    const struct snap *snap;
    fr phi;
    atomic_uint_fast64_t failed; /* lowest failing task */
};

/* A task: the challenges of one digest of one partition, so that the digest is computed once. The challenges
 * come before the commitments, because they tell partitions that stand in the wrong place. */
static struct status check_digest(const struct check *x, uint32_t task)
{
    const struct snap *s = x->snap;
    uint32_t digests = snap_digests(s->size), k = task / digests, j = task % digests;
    uint32_t per_digest = snap_challenges_per_digest(s->size), first = j * per_digest;
    uint32_t end = s->size->challenges - first < per_digest ? s->size->challenges : first + per_digest;
    fr_int digest;
    snap_digest(&digest, s->comm_r_new, s->size, k, j);
    for (uint32_t q = first; q < end; q++) {
        struct status status =
            check_challenge(s, &x->phi, k, q, snap_challenge(&digest, s->size, k, q - first));
        if (status_failed(&status))
            return status_within(status, "partition %u, challenge %u", k, q);
    }
    if (j != 0)
        return status_ok();
    struct status status = check_commitments(s, k);
    return status_failed(&status) ? status_within(status, "partition %u", k) : status;
}

static void check_task(void *context, size_t task)
{
    struct check *x = context;
    struct status s = check_digest(x, (uint32_t)task);
    uint_fast64_t seen = atomic_load(&x->failed);
    while (status_failed(&s) && task < seen && !atomic_compare_exchange_weak(&x->failed, &seen, task))
        ;
}

struct status snap_check(const struct snap *s, const struct work *work)
{
    struct check x = {.snap = s};
    atomic_init(&x.failed, UINT64_MAX);
    snap_phi(&x.phi, s->comm_d_new, s->comm_r_old);
    if (!pool_run(work, check_task, &x, (size_t)snap_partitions(s->size) * snap_digests(s->size)))
        return work_cancelled_status();
    uint64_t failed = atomic_load(&x.failed);
    return failed == UINT64_MAX ? status_ok() : check_digest(&x, (uint32_t)failed);
}

/* ---- the circuit; numbers of steps are those of the specification, 6.1 ---- */

#define SNAP_DIGESTS_MAX 10

struct walk {
    struct circuit *c;
    const struct snap_size *size;
    const struct snap *snap;
    const struct snap_partition *partition;
    uint32_t k;
    struct tree_form replica;
    struct bits partition_bits, height_bits;
    struct bits digests[SNAP_DIGESTS_MAX];
    struct number comm_r_old, comm_d_new, comm_r_new, phi, root_old, root_new;
    struct number apex[SNAP_APEX_MAX];
};

/* bytes are ignored without values. */
static struct number domain_number(struct walk *w, const uint8_t *bytes)
{
    if (w->snap == NULL)
        return circuit_number(w->c, NULL);
    fr x = domain_value(bytes);
    return circuit_number(w->c, &x);
}

static struct number domain_input(struct walk *w, const uint8_t *bytes)
{
    struct number x = domain_number(w, bytes);
    circuit_inputize(w->c, &x);
    return x;
}

static struct number custom_hash(struct walk *w, const struct number *a, const struct number *b)
{
    struct number pair[2] = {*a, *b};
    return circuit_poseidon_tagged(w->c, pair, 2, POSEIDON_TAG_CUSTOM_1);
}

static uint64_t first_input(const struct snap_size *size, uint32_t k)
{
    return k + (UINT64_C(1) << (size->height_index + size->log2_partitions));
}

/* Steps 1 to 8; gives the partition's number. */
static struct number prove_public(struct walk *w)
{
    uint32_t log2_partitions = w->size->log2_partitions;
    uint64_t value = first_input(w->size, w->k);
    fr x;
    fr_from_u64(&x, value);
    struct number first = circuit_number(w->c, &x);
    circuit_inputize(w->c, &first);
    struct bits bits = circuit_bits(w->c, value, log2_partitions + SNAP_HEIGHTS);
    circuit_bits_equal(w->c, &bits, &first);
    w->partition_bits = bits_slice(&bits, 0, log2_partitions);
    w->height_bits = bits_slice(&bits, log2_partitions, SNAP_HEIGHTS);
    struct joined_bits joined = {.low = w->partition_bits};
    struct number partition = circuit_pack_joined(w->c, &joined);
    w->comm_r_old = domain_input(w, w->snap ? w->snap->comm_r_old : NULL);
    w->comm_d_new = domain_input(w, w->snap ? w->snap->comm_d_new : NULL);
    w->comm_r_new = domain_input(w, w->snap ? w->snap->comm_r_new : NULL);
    w->phi = custom_hash(w, &w->comm_d_new, &w->comm_r_old);
    return partition;
}

static void domain_numbers(struct walk *w, struct number *out, const uint8_t *bytes, uint32_t count)
{
    fr values[SNAP_APEX_MAX];
    CHECK(count <= SNAP_APEX_MAX);
    for (uint32_t i = 0; w->snap && i < count; i++)
        values[i] = domain_value(bytes + 32 * (size_t)i);
    circuit_numbers(w->c, out, w->snap ? values : NULL, count);
}

/* Steps 9 to 15. */
static void prove_commitments(struct walk *w)
{
    struct circuit *c = w->c;
    struct triple t = w->snap ? triple_of(w->snap, w->k, 0) : (struct triple){NULL, NULL, NULL};
    struct number path[32], row[SNAP_APEX_MAX];
    uint32_t levels = w->size->log2_partitions;
    struct number comm_c = domain_number(w, w->snap ? w->partition->comm_c : NULL);
    w->root_old = domain_number(w, w->snap ? t.r_old + w->snap->replica.root : NULL);
    w->root_new = domain_number(w, w->snap ? t.r_new + w->snap->replica.root : NULL);
    domain_numbers(w, w->apex, w->snap ? w->partition->apex : NULL, 1U << w->size->log2_apex);
    for (uint32_t i = 0; i < levels; i++)
        path[i] = domain_number(
            w, w->snap ? merkle_sibling(&w->snap->data, t.d_new, snap_random_bits(w->size) + i, 0) : NULL);
    struct number hash = circuit_hash2(c, &comm_c, &w->root_old);
    circuit_equal(c, &hash, &w->comm_r_old);
    hash = circuit_hash2(c, &comm_c, &w->root_new);
    circuit_equal(c, &hash, &w->comm_r_new);
    memcpy(row, w->apex, sizeof row);
    for (uint32_t length = 1U << w->size->log2_apex; length > 1; length /= 2)
        for (uint32_t i = 0; i < length / 2; i++)
            row[i] = circuit_sha_numbers(c, &row[2 * i], 2);
    const struct tree_form form = {HASHER_SHA256, 2, levels, 0, 0};
    struct joined_bits index = {.low = w->partition_bits};
    circuit_por_joined(c, &form, &index, &row[0], path, &w->comm_d_new);
}

/* Step 16. */
static void prove_digests(struct walk *w, const struct number *partition)
{
    uint32_t count = snap_digests(w->size);
    CHECK(count <= SNAP_DIGESTS_MAX);
    for (uint32_t j = 0; j < count; j++) {
        struct number pair[2] = {w->comm_r_new, circuit_scale_add(w->c, partition, count, j)};
        struct number digest = circuit_poseidon_valued(w->c, pair, 2, POSEIDON_TAG_CUSTOM_1);
        w->digests[j] = circuit_to_bits_update(w->c, &digest);
    }
}

/* Steps 17a and 17b. */
static struct number prove_rho(struct walk *w, const struct joined_bits *challenge)
{
    struct number terms[SNAP_HEIGHTS];
    uint32_t bits = w->size->sector->log2_nodes;
    for (uint32_t i = 0; i < SNAP_HEIGHTS; i++) {
        uint32_t height = w->size->heights[i];
        struct joined_bits high = joined_slice(challenge, bits - height, height);
        struct bits selected = bits_slice(&w->height_bits, i, 1);
        struct number packed = circuit_pack_joined(w->c, &high);
        terms[i] = circuit_mul_bit(w->c, &packed, &selected);
    }
    struct number high = circuit_sum(w->c, terms, SNAP_HEIGHTS);
    return custom_hash(w, &w->phi, &high);
}

/* Steps 17e and 17f; m is NULL without values. */
static void prove_replica(struct walk *w, const struct joined_bits *challenge, const struct number *leaf,
                          const uint8_t *m, const struct number *root)
{
    struct number siblings[MERKLE_SIBLINGS_MAX];
    fr values[MERKLE_SIBLINGS_MAX];
    struct tree_path path;
    uint32_t count = tree_form_siblings(&w->replica);
    CHECK(count <= MERKLE_SIBLINGS_MAX);
    if (m != NULL)
        merkle_path(&path, values, &w->snap->replica, m);
    circuit_numbers(w->c, siblings, m ? values : NULL, count);
    circuit_por_joined(w->c, &w->replica, challenge, leaf, siblings, root);
}

/* Steps 17g and 17h. */
static void prove_data(struct walk *w, const struct joined_bits *challenge, const struct number *leaf,
                       const uint8_t *m)
{
    struct number siblings[32];
    uint32_t levels = snap_apex_level(w->size);
    fr values[32];
    struct joined_bits position = joined_slice(challenge, levels, w->size->log2_apex);
    struct joined_bits below = joined_slice(challenge, 0, levels);
    struct number apex = circuit_select(w->c, w->apex, &position);
    for (uint32_t i = 0; m != NULL && i < levels; i++)
        values[i] = domain_value(merkle_sibling(&w->snap->data, m, i, 0));
    circuit_numbers(w->c, siblings, m ? values : NULL, levels);
    const struct tree_form form = {HASHER_SHA256, 2, levels, 0, 0};
    circuit_por_joined(w->c, &form, &below, leaf, siblings, &apex);
}

/* Step 17. */
static void prove_challenge(struct walk *w, uint32_t q)
{
    struct triple t = w->snap ? triple_of(w->snap, w->k, q) : (struct triple){NULL, NULL, NULL};
    uint32_t per_digest = snap_challenges_per_digest(w->size), bits = snap_random_bits(w->size);
    const struct joined_bits challenge = {
        bits_slice(&w->digests[q / per_digest], q % per_digest * bits, bits), w->partition_bits};
    struct number rho = prove_rho(w, &challenge);
    struct number old = domain_number(w, w->snap ? t.r_old + w->snap->replica.leaf : NULL);
    struct number data = domain_number(w, w->snap ? t.d_new + w->snap->data.leaf : NULL);
    struct number encoded = circuit_mul(w->c, &data, &rho);
    struct number new = circuit_add(w->c, &old, &encoded);
    prove_replica(w, &challenge, &old, t.r_old, &w->root_old);
    prove_replica(w, &challenge, &new, t.r_new, &w->root_new);
    prove_data(w, &challenge, &data, t.d_new);
}

void snap_circuit(struct circuit *c, const struct snap_size *size, const struct snap *s, uint32_t k)
{
    uint32_t arities[SECTOR_LEVELS_MAX];
    const struct sector_size *sector = size->sector;
    uint32_t above = (sector->sub ? 1U : 0U) + (sector->top ? 1U : 0U);
    CHECK(s == NULL || s->size == size);
    CHECK(k < snap_partitions(size));
    struct walk w = {.c = c, .size = size, .snap = s, .k = k, .partition = s ? &s->partitions[k] : NULL};
    w.replica = (struct tree_form){HASHER_POSEIDON, 8, sector_arities(arities, sector) - above, sector->sub,
                                   sector->top};
    struct number partition = prove_public(&w);
    prove_commitments(&w);
    prove_digests(&w, &partition);
    for (uint32_t q = 0; q < size->challenges; q++)
        prove_challenge(&w, q);
}

/* ---- public inputs ---- */

void snap_inputs(fr out[SNAP_INPUTS], const struct snap *s, uint32_t k)
{
    fr_from_u64(&out[0], first_input(s->size, k));
    out[1] = domain_value(s->comm_r_old);
    out[2] = domain_value(s->comm_d_new);
    out[3] = domain_value(s->comm_r_new);
}
