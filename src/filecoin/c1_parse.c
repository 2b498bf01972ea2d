/* Reading the C1 output. One walk over the JSON in its own order, into memory that was laid out for the
 * sector size as soon as the vanilla proofs' tag has named it. The place of the reader is kept as a stack
 * of names and numbers, which costs two stores a level and makes every error say where it is. */
#include "filecoin/c1.h"

#include "base/mem.h"
#include "field/fr.h"
#include "filecoin/base64.h"
#include "filecoin/json_shim.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(C1_PADDING >= JSON_PADDING, "the parser promises its padding to the reader below it");

#define STEPS_MAX 40

struct step {
    const char *name; /* NULL: a number */
    uint32_t index;
};

struct reader {
    struct json *json;
    struct c1 c1;
    bool started; /* c1's proofs are allocated */
    uint64_t seen_sector_bytes;
    uint8_t *inner; /* the decoded text of a wrapper */
    size_t inner_size;
    bool may_wrap;
    struct step steps[STEPS_MAX];
    uint32_t depth;
};

typedef struct status read_function(struct reader *r, void *target, uint32_t key);

static void push(struct reader *r, const char *name, uint32_t index)
{
    CHECK(r->depth < STEPS_MAX);
    r->steps[r->depth++] = (struct step){name, index};
}

static void pop(struct reader *r)
{
    r->depth--;
}

static __attribute__((format(printf, 3, 4), cold)) struct status
fail(const struct reader *r, enum status_code code, const char *format, ...)
{
    char path[200] = "", text[160];
    size_t used = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < r->depth && used < sizeof path; i++) {
        const struct step *s = &r->steps[i];
        int n = s->name ? snprintf(path + used, sizeof path - used, "%s%s", used ? "." : "", s->name)
                        : snprintf(path + used, sizeof path - used, "[%u]", s->index);
        used += (size_t)n;
    }
    return status_error(code, "C1 output: %s%s%s", path, path[0] ? ": " : "", text);
}

static __attribute__((cold)) struct status fail_json(const struct reader *r, enum json_result result,
                                                     const char *wanted)
{
    switch (result) {
    case JSON_TYPE:
        return fail(r, STATUS_INVALID, "is not %s", wanted);
    case JSON_RANGE:
        return fail(r, STATUS_INVALID, "is out of range for %s", wanted);
    case JSON_DEPTH:
        return fail(r, STATUS_INVALID, "is nested too deeply");
    case JSON_MEMORY:
        return fail(r, STATUS_MEMORY, "out of memory while reading");
    default:
        return status_hint(fail(r, STATUS_INVALID, "is not well-formed JSON, or the text is cut short"),
                           "transfer the C1 output again");
    }
}

/* Steps over any value, checking it, for keys that mean nothing here. */
static struct status skip_value(struct reader *r)
{
    struct json *j = r->json;
    uint32_t open_object[JSON_DEPTH_MAX / 32 + 1] = {0}, depth = 0;
    for (;;) {
        enum json_type type;
        enum json_result e = json_what(j, &type);
        if (e == JSON_OK && (type == JSON_IS_OBJECT || type == JSON_IS_ARRAY)) {
            bool object = type == JSON_IS_OBJECT;
            e = object ? json_enter_object(j) : json_enter_array(j);
            if (e == JSON_OK) {
                uint32_t bit = UINT32_C(1) << (depth % 32);
                open_object[depth / 32] = (open_object[depth / 32] & ~bit) | (object ? bit : 0);
                depth++;
            }
        } else if (e == JSON_OK) {
            e = json_scalar(j);
        }
        while (e == JSON_OK && depth > 0) {
            const char *key;
            size_t length;
            bool object = open_object[(depth - 1) / 32] >> ((depth - 1) % 32) & 1;
            e = object ? json_next_key(j, &key, &length) : json_next_element(j);
            if (e != JSON_END)
                break;
            depth--;
            e = JSON_OK;
        }
        if (e != JSON_OK)
            return fail_json(r, e, "a value");
        if (depth == 0)
            return status_ok();
    }
}

static uint32_t find_key(const char *const *keys, uint32_t count, const char *key, size_t length)
{
    for (uint32_t i = 0; i < count; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
            return i;
    return count;
}

/* Reads an object in any order of keys; *seen tells which were there. */
static struct status read_members(struct reader *r, const char *const *keys, uint32_t count,
                                  read_function *read, void *target, uint32_t *seen)
{
    *seen = 0;
    enum json_result e = json_enter_object(r->json);
    if (e != JSON_OK)
        return fail_json(r, e, "an object");
    for (;;) {
        const char *key;
        size_t length;
        e = json_next_key(r->json, &key, &length);
        if (e == JSON_END)
            return status_ok();
        if (e != JSON_OK)
            return fail_json(r, e, "an object");
        uint32_t k = find_key(keys, count, key, length);
        if (k == count) {
            TRY(skip_value(r));
            continue;
        }
        push(r, keys[k], 0);
        if (*seen >> k & 1)
            return fail(r, STATUS_INVALID, "appears twice");
        *seen |= UINT32_C(1) << k;
        TRY(read(r, target, k));
        pop(r);
    }
}

static struct status require(struct reader *r, const char *const *keys, uint32_t count, uint32_t seen)
{
    for (uint32_t k = 0; k < count; k++) {
        if (!(seen >> k & 1)) {
            push(r, keys[k], 0);
            return fail(r, STATUS_INVALID, "is missing");
        }
    }
    return status_ok();
}

static struct status read_object(struct reader *r, const char *const *keys, uint32_t count,
                                 read_function *read, void *target)
{
    uint32_t seen;
    TRY(read_members(r, keys, count, read, target, &seen));
    return require(r, keys, count, seen);
}

/* Reads an array of exactly `count` elements. */
static struct status read_array(struct reader *r, uint32_t count, read_function *read, void *target)
{
    enum json_result e = json_enter_array(r->json);
    if (e != JSON_OK)
        return fail_json(r, e, "an array");
    for (uint32_t i = 0;; i++) {
        e = json_next_element(r->json);
        if (e == JSON_END) {
            if (i != count)
                return fail(r, STATUS_INVALID, "has %u elements where %u belong", i, count);
            return status_ok();
        }
        if (e != JSON_OK)
            return fail_json(r, e, "an array");
        if (i == count)
            return fail(r, STATUS_INVALID, "has more than the %u elements that belong here", count);
        push(r, NULL, i);
        TRY(read(r, target, i));
        pop(r);
    }
}

/* An object with one key, which names a variant. The name is pushed on the path from static text only. */
static struct status enter_variant(struct reader *r, const char **key, size_t *length)
{
    enum json_result e = json_enter_object(r->json);
    if (e == JSON_OK)
        e = json_next_key(r->json, key, length);
    if (e == JSON_END)
        return fail(r, STATUS_INVALID, "names no variant");
    if (e != JSON_OK)
        return fail_json(r, e, "an object with one key, the variant");
    return status_ok();
}

static struct status leave_variant(struct reader *r)
{
    const char *key;
    size_t length;
    enum json_result e = json_next_key(r->json, &key, &length);
    if (e == JSON_OK)
        return fail(r, STATUS_INVALID, "has more than one variant");
    return e == JSON_END ? status_ok() : fail_json(r, e, "an object with one key, the variant");
}

static struct status read_bytes(struct reader *r, uint8_t out[32])
{
    size_t at;
    enum json_result e = json_bytes(r->json, out, 32, &at);
    if (e == JSON_OK)
        return status_ok();
    if (e == JSON_LENGTH && at < 32)
        return fail(r, STATUS_INVALID, "has %zu bytes where 32 belong", at);
    if (e == JSON_LENGTH)
        return fail(r, STATUS_INVALID, "has more than 32 bytes");
    if (e == JSON_RANGE || (e == JSON_TYPE && at > 0))
        push(r, NULL, (uint32_t)at);
    return fail_json(r, e, e == JSON_RANGE ? "a byte (0 to 255)" : "an array of 32 bytes");
}

static struct status read_hash(struct reader *r, uint8_t out[32])
{
    fr_int unused;
    TRY(read_bytes(r, out));
    if (!fr_int_from_bytes(&unused, out))
        return fail(r, STATUS_INVALID, "is not a canonical field element: 32 little-endian bytes below r");
    return status_ok();
}

static struct status read_hash_element(struct reader *r, void *target, uint32_t i)
{
    return read_hash(r, ((uint8_t(*)[32])target)[i]);
}

static struct status read_number(struct reader *r, uint64_t *out, uint64_t limit)
{
    enum json_result e = json_u64(r->json, out);
    if (e != JSON_OK)
        return fail_json(r, e, "a whole number");
    if (*out >= limit)
        return fail(r, STATUS_INVALID, "is %llu where less than %llu is allowed", (unsigned long long)*out,
                    (unsigned long long)limit);
    return status_ok();
}

static struct status read_u32(struct reader *r, uint32_t *out, uint64_t limit)
{
    uint64_t v;
    TRY(read_number(r, &v, limit));
    *out = (uint32_t)v;
    return status_ok();
}

/* ---- Merkle proofs ---- */

static struct status read_element_member(struct reader *r, void *target, uint32_t key)
{
    struct path_element *e = target;
    if (key == 0)
        return read_array(r, e->arity - 1, read_hash_element, e->siblings);
    return read_u32(r, &e->index, e->arity);
}

static struct status read_path_element(struct reader *r, void *target, uint32_t i)
{
    static const char *const keys[] = {"hashes", "index"};
    return read_object(r, keys, 2, read_element_member, &((struct path_element *)target)[i]);
}

/* A part of a path: {"path": [elements]}. */
struct path_part {
    struct path_element *path;
    uint32_t length;
};

static struct status read_part_member(struct reader *r, void *target, uint32_t key)
{
    const struct path_part *part = target;
    (void)key;
    return read_array(r, part->length, read_path_element, part->path);
}

static struct status read_part(struct reader *r, struct path_element *path, uint32_t length)
{
    static const char *const keys[] = {"path"};
    struct path_part part = {path, length};
    return read_object(r, keys, 1, read_part_member, &part);
}

struct merkle_target {
    struct merkle_proof *proof;
    uint32_t base; /* elements of the base part */
};

static struct status read_merkle_member(struct reader *r, void *target, uint32_t key)
{
    const struct merkle_target *t = target;
    struct merkle_proof *m = t->proof;
    switch (key) {
    case 0:
        return read_hash(r, m->root);
    case 1:
        return read_hash(r, m->leaf);
    case 2:
        return read_part(r, m->path, t->base);
    default:
        return read_part(r, m->path + t->base + (key - 3), 1);
    }
}

static struct status read_merkle_data(struct reader *r, void *target, uint32_t unused)
{
    static const char *const keys[3][5] = {{"root", "leaf", "path", NULL, NULL},
                                           {"root", "leaf", "base_proof", "sub_proof", NULL},
                                           {"root", "leaf", "base_proof", "sub_proof", "top_proof"}};
    static const char *const names[3] = {"Single", "Sub", "Top"};
    const struct merkle_target *t = target;
    uint32_t above = t->proof->length - t->base;
    const char *key;
    size_t length;
    (void)unused;
    TRY(enter_variant(r, &key, &length));
    if (find_key(&names[above], 1, key, length) != 0)
        return fail(r, STATUS_INVALID, "is \"%.*s\" where \"%s\" belongs", length > 40 ? 40 : (int)length,
                    key, names[above]);
    push(r, names[above], 0);
    TRY(read_object(r, keys[above], 3 + above, read_merkle_member, target));
    pop(r);
    return leave_variant(r);
}

static struct status read_merkle(struct reader *r, struct merkle_proof *m, bool binary)
{
    static const char *const keys[] = {"data"};
    const struct sector_size *s = r->c1.sector;
    uint32_t above = binary ? 0U : (s->sub ? 1U : 0U) + (s->top ? 1U : 0U);
    struct merkle_target t = {m, m->length - above};
    return read_object(r, keys, 1, read_merkle_data, &t);
}

/* ---- columns, labels, proofs ---- */

static struct status read_column_inner(struct reader *r, void *target, uint32_t key)
{
    struct column_proof *c = target;
    if (key == 0)
        return read_u32(r, &c->index, UINT64_C(1) << 32);
    return read_array(r, r->c1.sector->layers, read_hash_element, c->rows);
}

static struct status read_column_member(struct reader *r, void *target, uint32_t key)
{
    static const char *const keys[] = {"index", "rows"}; /* and _h, a marker without content */
    struct column_proof *c = target;
    if (key == 0)
        return read_object(r, keys, 2, read_column_inner, c);
    return read_merkle(r, &c->inclusion, false);
}

static struct status read_column(struct reader *r, void *target, uint32_t i)
{
    static const char *const keys[] = {"column", "inclusion_proof"};
    return read_object(r, keys, 2, read_column_member, &((struct column_proof *)target)[i]);
}

static struct status read_columns_member(struct reader *r, void *target, uint32_t key)
{
    struct vanilla_proof *p = target;
    switch (key) {
    case 0:
        return read_column(r, &p->c_x, 0);
    case 1:
        return read_array(r, DRG_PARENTS, read_column, p->parents);
    default:
        return read_array(r, EXPANDER_PARENTS, read_column, p->parents + DRG_PARENTS);
    }
}

static struct status read_label_member(struct reader *r, void *target, uint32_t key)
{
    struct labeling_proof *l = target;
    switch (key) {
    case 0:
        return read_array(r, LABEL_INPUTS, read_hash_element, l->parents);
    case 1:
        return read_u32(r, &l->layer, UINT64_C(1) << 32);
    default:
        return read_number(r, &l->node, UINT64_MAX);
    }
}

static struct status read_label(struct reader *r, void *target, uint32_t i)
{
    static const char *const keys[] = {"parents", "layer_index", "node"};
    return read_object(r, keys, 3, read_label_member, &((struct labeling_proof *)target)[i]);
}

static struct status read_proof_member(struct reader *r, void *target, uint32_t key)
{
    static const char *const columns[] = {"c_x", "drg_parents", "exp_parents"};
    struct vanilla_proof *p = target;
    switch (key) {
    case 0:
        return read_merkle(r, &p->comm_d, true);
    case 1:
        return read_merkle(r, &p->comm_r_last, false);
    case 2:
        return read_object(r, columns, 3, read_columns_member, p);
    case 3:
        return read_array(r, r->c1.sector->layers, read_label, p->labels);
    default:
        return read_label(r, &p->encoding, 0);
    }
}

static struct status read_proof(struct reader *r, void *target, uint32_t i)
{
    static const char *const keys[] = {"comm_d_proofs", "comm_r_last_proof", "replica_column_proofs",
                                       "labeling_proofs", "encoding_proof"};
    return read_object(r, keys, 5, read_proof_member, &((struct vanilla_proof *)target)[i]);
}

static struct status read_partition(struct reader *r, void *target, uint32_t k)
{
    (void)target;
    return read_array(r, r->c1.challenges, read_proof, c1_proof(&r->c1, k, 0));
}

/* ---- the top ---- */

/* The tag names the size only, whatever the version. */
static const struct registered_seal *seal_of_tag(const char *key, size_t length)
{
    const struct registered_seal *seal = registered_seal_by_name(key, length);
    return seal && seal->number < 5 ? seal : NULL;
}

static struct status read_vanilla_proofs(struct reader *r)
{
    const char *key;
    size_t length;
    TRY(enter_variant(r, &key, &length));
    const struct registered_seal *tag = seal_of_tag(key, length);
    if (!tag)
        return fail(r, STATUS_INVALID, "\"%.*s\" is no sector size's tag", length > 40 ? 40 : (int)length,
                    key);
    push(r, tag->name, 0);
    struct c1 head = r->c1;
    TRY(c1_start(&r->c1, tag->sector));
    memcpy(r->c1.comm_r, head.comm_r, 32);
    memcpy(r->c1.comm_d, head.comm_d, 32);
    memcpy(r->c1.replica_id, head.replica_id, 32);
    memcpy(r->c1.seed, head.seed, 32);
    memcpy(r->c1.ticket, head.ticket, 32);
    r->c1.seal = head.seal;
    TRY(read_array(r, r->c1.partitions, read_partition, NULL));
    pop(r);
    return leave_variant(r);
}

static struct status read_registered_proof(struct reader *r)
{
    const char *text;
    size_t length;
    enum json_result e = json_string(r->json, &text, &length);
    if (e != JSON_OK)
        return fail_json(r, e, "a string");
    const struct registered_seal *seal = registered_seal_by_name(text, length);
    if (!seal)
        return fail(r, STATUS_INVALID, "\"%.*s\" is no registered seal proof", length > 60 ? 60 : (int)length,
                    text);
    if (seal->feature == SEAL_NON_INTERACTIVE)
        return fail(r, STATUS_UNSUPPORTED, "%s: non-interactive PoRep is not in this version", seal->name);
    r->c1.seal = seal;
    return status_ok();
}

static struct status read_phase1_out(struct reader *r)
{
    const char *text;
    size_t length, at;
    enum json_result e = json_string(r->json, &text, &length);
    if (e != JSON_OK)
        return fail_json(r, e, "a string");
    r->inner = mem_alloc(1, length / 4 * 3 + C1_PADDING);
    if (!r->inner)
        return mem_failed("C1 output inside its wrapper", 1, length / 4 * 3 + C1_PADDING);
    if (!base64_decode(r->inner, &r->inner_size, text, length, &at))
        return fail(r, STATUS_INVALID, "is not base64 at character %zu of %zu", at, length);
    memset(r->inner + r->inner_size, 0, C1_PADDING);
    return status_ok();
}

enum { TOP_SEAL, TOP_PROOFS, TOP_COMM_R, TOP_COMM_D, TOP_REPLICA_ID, TOP_SEED, TOP_TICKET, TOP_BARE };
enum { WRAP_NUMBER = TOP_BARE, WRAP_OUT, WRAP_SIZE, TOP_ALL };
static const char *const TOP_KEYS[] = {"registered_proof", "vanilla_proofs", "comm_r", "comm_d",
                                       "replica_id",       "seed",           "ticket", "SectorNum",
                                       "Phase1Out",        "SectorSize"};

static struct status read_top_member(struct reader *r, void *target, uint32_t key)
{
    (void)target;
    switch (key) {
    case TOP_SEAL:
        return read_registered_proof(r);
    case TOP_PROOFS:
        return read_vanilla_proofs(r);
    case TOP_COMM_R:
        return read_hash(r, r->c1.comm_r);
    case TOP_COMM_D:
        return read_hash(r, r->c1.comm_d);
    case TOP_REPLICA_ID:
        return read_hash(r, r->c1.replica_id);
    case TOP_SEED:
        return read_bytes(r, r->c1.seed);
    case TOP_TICKET:
        return read_bytes(r, r->c1.ticket);
    case WRAP_NUMBER:
        return read_number(r, &r->c1.sector_number, UINT64_MAX);
    case WRAP_OUT:
        return read_phase1_out(r);
    default:
        return read_number(r, &r->seen_sector_bytes, UINT64_MAX);
    }
}

/* One text: bare, or, if it may be, a wrapper. */
static struct status read_text(struct reader *r, bool *wrapped, const uint8_t *data, size_t size)
{
    uint32_t seen;
    enum json_result e = json_open(&r->json, data, size);
    if (e != JSON_OK)
        return fail_json(r, e, "an object");
    TRY(read_members(r, TOP_KEYS, r->may_wrap ? TOP_ALL : TOP_BARE, read_top_member, NULL, &seen));
    e = json_finish(r->json);
    if (e != JSON_OK)
        return fail(r, STATUS_INVALID, "something follows the end of the JSON object");
    *wrapped = seen >> TOP_BARE != 0;
    if (!*wrapped)
        return require(r, TOP_KEYS, TOP_BARE, seen);
    if (seen & ((1U << TOP_BARE) - 1))
        return fail(r, STATUS_INVALID, "has the keys of a wrapper and of a bare C1 output");
    return require(r, TOP_KEYS + TOP_BARE, TOP_ALL - TOP_BARE, seen >> TOP_BARE);
}

static struct status read_all(struct reader *r, const uint8_t *data, size_t size)
{
    bool wrapped, nested;
    r->may_wrap = true;
    TRY(read_text(r, &wrapped, data, size));
    if (wrapped) {
        json_close(r->json); /* its borrowed texts are no longer needed */
        r->json = NULL;
        r->may_wrap = false;
        uint64_t number = r->c1.sector_number;
        push(r, "Phase1Out", 0);
        TRY(read_text(r, &nested, r->inner, r->inner_size));
        pop(r);
        r->c1.wrapped = true;
        r->c1.sector_number = number;
        if (r->seen_sector_bytes != sector_bytes(r->c1.sector))
            return fail(r, STATUS_INVALID, "SectorSize is %llu, but the vanilla proofs are of a %s sector",
                        (unsigned long long)r->seen_sector_bytes, r->c1.sector->name);
    }
    if (r->c1.seal->sector != r->c1.sector)
        return fail(r, STATUS_INVALID, "registered_proof is %s, but the vanilla proofs are of a %s sector",
                    r->c1.seal->name, r->c1.sector->name);
    return status_ok();
}

struct status c1_parse(struct c1 *out, const uint8_t *data, size_t size)
{
    memset(out, 0, sizeof *out);
    struct reader r = {0};
    size_t first = 0;
    while (first < size &&
           (data[first] == ' ' || data[first] == '\n' || data[first] == '\r' || data[first] == '\t'))
        first++;
    if (first == size)
        return fail(&r, STATUS_INVALID, "is empty");
    if (data[first] != '{')
        return status_hint(fail(&r, STATUS_UNSUPPORTED,
                                "does not begin with '{': the binary form is not read in this version"),
                           "give the JSON that the C1 call returns");
    if (size > C1_BYTES_MAX)
        return fail(&r, STATUS_INVALID, "is larger than any C1 output can be (%zu bytes)", size);
    struct status s = read_all(&r, data, size);
    json_close(r.json);
    mem_free(r.inner);
    if (status_failed(&s))
        c1_end(&r.c1);
    else
        *out = r.c1;
    return s;
}
