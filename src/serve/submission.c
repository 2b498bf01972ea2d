/* See submission.h. Fields are read twice: once to count the vanilla proofs, once to take everything. */
#include "serve/submission.h"

#include "base/mem.h"
#include "serve/grpc/wire.h"
#include <string.h>

/* ---- protobuf's encoding ---- */

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_GROUP = 3, WIRE_GROUP_END = 4, WIRE_32 = 5 };

struct reader {
    const uint8_t *start, *at, *end;
};

struct field {
    uint32_t number, wire;
    uint64_t value;          /* WIRE_VARINT, WIRE_32, WIRE_64 */
    struct bytes_view bytes; /* WIRE_BYTES */
};

static bool read_varint(uint64_t *out, struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool read_fixed(uint64_t *out, struct reader *r, size_t size)
{
    if ((size_t)(r->end - r->at) < size)
        return false;
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out |= (uint64_t)r->at[i] << (8 * i);
    r->at += size;
    return true;
}

static bool read_tag(struct field *f, struct reader *r)
{
    uint64_t tag;
    if (!read_varint(&tag, r) || tag >> 32 != 0 || tag >> 3 == 0)
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    return true;
}

static bool read_value(struct field *f, struct reader *r)
{
    uint64_t size;
    switch (f->wire) {
    case WIRE_VARINT:
        return read_varint(&f->value, r);
    case WIRE_64:
        return read_fixed(&f->value, r, 8);
    case WIRE_32:
        return read_fixed(&f->value, r, 4);
    case WIRE_BYTES:
        if (!read_varint(&size, r) || size > (uint64_t)(r->end - r->at))
            return false;
        f->bytes = (struct bytes_view){r->at, (size_t)size};
        r->at += size;
        return true;
    default:
        return false;
    }
}

/* Groups are an old form of submessage that no field here has: skipped with all they hold. */
static bool skip_group(uint32_t number, struct reader *r)
{
    uint32_t open[64];
    size_t depth = 1;
    open[0] = number;
    while (depth != 0) {
        struct field f;
        if (!read_tag(&f, r))
            return false;
        if (f.wire == WIRE_GROUP) {
            if (depth == sizeof open / sizeof *open)
                return false;
            open[depth++] = f.number;
        } else if (f.wire == WIRE_GROUP_END) {
            if (open[--depth] != f.number)
                return false;
        } else if (!read_value(&f, r)) {
            return false;
        }
    }
    return true;
}

/* The next field that is not a group. False at the end, and at an error: then r->at is not r->end. */
static bool next_field(struct field *f, struct reader *r)
{
    while (r->at < r->end) {
        const uint8_t *begin = r->at;
        bool good = read_tag(f, r) && (f->wire == WIRE_GROUP ? skip_group(f->number, r) : read_value(f, r));
        if (!good) {
            r->at = begin;
            return false;
        }
        if (f->wire != WIRE_GROUP)
            return true;
    }
    return false;
}

static struct status malformed(const struct reader *r)
{
    return status_hint(
        status_error(
            STATUS_INVALID,
            "the request is not a protobuf message: field at byte %zu of %zu is cut short or malformed",
            (size_t)(r->at - r->start), (size_t)(r->end - r->start)),
        "send the message whole, as proto/cuzk.proto describes it");
}

/* ---- the message ---- */

enum {
    FIELD_REQUEST_ID = 1,
    FIELD_KIND = 2,
    FIELD_SECTOR_SIZE = 3,
    FIELD_REGISTERED_PROOF = 4,
    FIELD_PRIORITY = 5,
    FIELD_VANILLA_PROOF = 10,
    FIELD_VANILLA_PROOFS = 11,
    FIELD_SECTOR_NUMBER = 20,
    FIELD_MINER_ID = 21,
    FIELD_RANDOMNESS = 22,
    FIELD_PARTITION_INDEX = 23,
    FIELD_COMM_R_OLD = 30,
    FIELD_COMM_R_NEW = 31,
    FIELD_COMM_D_NEW = 32,
};

static void take_number(struct submission *s, const struct field *f)
{
    switch (f->number) {
    case FIELD_KIND:
        s->proof_kind = (int32_t)(uint32_t)f->value;
        break;
    case FIELD_SECTOR_SIZE:
        s->sector_size = f->value;
        break;
    case FIELD_REGISTERED_PROOF:
        s->registered_proof = f->value;
        break;
    case FIELD_PRIORITY:
        s->priority = (int32_t)(uint32_t)f->value;
        break;
    case FIELD_SECTOR_NUMBER:
        s->sector_number = f->value;
        break;
    case FIELD_MINER_ID:
        s->miner_id = f->value;
        break;
    case FIELD_PARTITION_INDEX:
        s->partition_index = (uint32_t)f->value;
        break;
    default:
        break;
    }
}

static void take_bytes(struct submission *s, const struct field *f)
{
    switch (f->number) {
    case FIELD_REQUEST_ID:
        s->request_id = f->bytes;
        break;
    case FIELD_VANILLA_PROOF:
        s->vanilla_proof = f->bytes;
        s->has_vanilla_proof = true;
        break;
    case FIELD_VANILLA_PROOFS:
        if (s->vanilla_proofs != NULL)
            s->vanilla_proofs[s->vanilla_proofs_count] = f->bytes;
        s->vanilla_proofs_count++;
        break;
    case FIELD_RANDOMNESS:
        s->randomness = f->bytes;
        break;
    case FIELD_COMM_R_OLD:
        s->comm_r_old = f->bytes;
        break;
    case FIELD_COMM_R_NEW:
        s->comm_r_new = f->bytes;
        break;
    case FIELD_COMM_D_NEW:
        s->comm_d_new = f->bytes;
        break;
    default:
        break;
    }
}

/* All fields up to the end, or to what cannot be read. */
static void take_fields(struct submission *s, struct reader *r)
{
    struct field f;
    while (next_field(&f, r)) {
        if (f.wire == WIRE_VARINT)
            take_number(s, &f);
        else if (f.wire == WIRE_BYTES)
            take_bytes(s, &f);
    }
}

static struct status take_message(struct submission *s, bool *seen, const uint8_t *data, size_t size,
                                  bool wrapped)
{
    struct reader r = {data, data, data + size};
    struct field f;
    *seen = !wrapped;
    if (!wrapped) {
        take_fields(s, &r);
        return r.at == r.end ? status_ok() : malformed(&r);
    }
    while (next_field(&f, &r))
        if (f.number == 1 && f.wire == WIRE_BYTES) {
            struct reader inner = {data, f.bytes.data, f.bytes.data + f.bytes.size};
            *seen = true;
            take_fields(s, &inner);
            if (inner.at != inner.end)
                return malformed(&inner);
        }
    return r.at == r.end ? status_ok() : malformed(&r);
}

struct status submission_decode(struct submission *out, const uint8_t *data, size_t size, bool wrapped)
{
    bool seen;
    memset(out, 0, sizeof *out);
    TRY(take_message(out, &seen, data, size, wrapped));
    if (!seen)
        return status_hint(status_error(STATUS_INVALID, "ProveRequest has no field \"submit\""),
                           "put the SubmitProofRequest into field 1");
    size_t count = out->vanilla_proofs_count;
    if (count > SUBMISSION_VANILLA_MAX)
        return status_error(STATUS_INVALID, "%zu vanilla_proofs: at most %d are taken", count,
                            SUBMISSION_VANILLA_MAX);
    memset(out, 0, sizeof *out);
    out->vanilla_proofs = mem_alloc(count, sizeof *out->vanilla_proofs);
    if (out->vanilla_proofs == NULL)
        return mem_failed("list of vanilla proofs", count, sizeof *out->vanilla_proofs);
    struct status s = take_message(out, &seen, data, size, wrapped);
    CHECK(!status_failed(&s) && out->vanilla_proofs_count == count);
    return s;
}

void submission_end(struct submission *submission)
{
    mem_free(submission->vanilla_proofs);
    submission->vanilla_proofs = NULL;
}

void submission_peek(int32_t *proof_kind, int32_t *priority, const uint8_t *head, size_t size, bool wrapped)
{
    struct submission s = {0};
    struct reader r = {head, head, head + size};
    struct field f = {0};
    uint64_t inner;
    if (wrapped) {
        /* The submessage is longer than the bytes at hand: step into it. */
        if (!read_tag(&f, &r) || f.number != 1 || f.wire != WIRE_BYTES || !read_varint(&inner, &r))
            r.at = r.end;
        else if (inner < (uint64_t)(r.end - r.at))
            r.end = r.at + inner;
    }
    take_fields(&s, &r);
    *proof_kind = s.proof_kind;
    *priority = s.priority;
}

/* ---- what the wire can get wrong ---- */

bool wire_kind(enum proof_kind *out, int32_t number)
{
    switch (number) {
    case WIRE_POREP:
        *out = PROOF_POREP;
        return true;
    case WIRE_SNAP:
        *out = PROOF_SNAP;
        return true;
    case WIRE_WINDOW:
        *out = PROOF_WINDOW;
        return true;
    case WIRE_WINNING:
        *out = PROOF_WINNING;
        return true;
    default:
        return false;
    }
}

const char *wire_kind_name(enum proof_kind kind)
{
    switch (kind) {
    case PROOF_POREP:
        return "porep-c2";
    case PROOF_SNAP:
    case PROOF_SNAP_POSEIDON:
        return "snap-update";
    case PROOF_WINDOW:
        return "window-post";
    case PROOF_WINNING:
        return "winning-post";
    default:
        return "unknown";
    }
}

static struct status check_vanilla(const struct submission *s, enum proof_kind kind)
{
    const char *name = wire_kind_name(kind);
    if (kind == PROOF_POREP) {
        if (s->vanilla_proofs_count != 0)
            return status_hint(
                status_error(STATUS_INVALID, "field vanilla_proofs does not belong to a %s request", name),
                "put the C1 output into vanilla_proof");
        if (s->vanilla_proof.size == 0)
            return status_error(STATUS_INVALID,
                                "field vanilla_proof is empty: a %s request needs the C1 output", name);
        return status_ok();
    }
    if (s->vanilla_proof.size != 0)
        return status_hint(
            status_error(STATUS_INVALID, "field vanilla_proof does not belong to a %s request", name),
            "put the vanilla proofs into vanilla_proofs");
    if (s->vanilla_proofs_count == 0)
        return status_error(STATUS_INVALID, "field vanilla_proofs is empty: a %s request needs one or more",
                            name);
    for (size_t i = 0; i < s->vanilla_proofs_count; i++)
        if (s->vanilla_proofs[i].size == 0)
            return status_error(STATUS_INVALID, "vanilla_proofs[%zu] is empty", i);
    return status_ok();
}

static struct status check_digest(const struct bytes_view *value, const char *field, bool needed,
                                  enum proof_kind kind)
{
    if (value->size == 32 || (value->size == 0 && !needed))
        return status_ok();
    return status_error(STATUS_INVALID, "field %s of a %s request has %zu bytes: it must have 32", field,
                        wire_kind_name(kind), value->size);
}

struct status submission_request(struct proof_request *out, const struct submission *s)
{
    enum proof_kind kind;
    if (!wire_kind(&kind, s->proof_kind))
        return status_hint(
            status_error(STATUS_INVALID, "proof_kind %d does not exist", (int)s->proof_kind),
            "1 POREP_SEAL_COMMIT, 2 SNAP_DEALS_UPDATE, 3 WINDOW_POST_PARTITION, 4 WINNING_POST");
    if (s->request_id.size > REQUEST_ID_MAX || !utf8_valid(s->request_id.data, s->request_id.size, false))
        return status_error(STATUS_INVALID, "field request_id must be at most %d bytes of UTF-8",
                            REQUEST_ID_MAX);
    bool post = kind == PROOF_WINDOW || kind == PROOF_WINNING, snap = kind == PROOF_SNAP;
    TRY(check_vanilla(s, kind));
    TRY(check_digest(&s->randomness, "randomness", post, kind));
    TRY(check_digest(&s->comm_r_old, "comm_r_old", snap, kind));
    TRY(check_digest(&s->comm_r_new, "comm_r_new", snap, kind));
    TRY(check_digest(&s->comm_d_new, "comm_d_new", snap, kind));
    *out = (struct proof_request){
        .kind = kind,
        .registered_proof = s->registered_proof,
        .sector_size = s->sector_size,
        .miner = s->miner_id,
        .sector_number = s->sector_number,
        .randomness = s->randomness,
        .comm_r_old = s->comm_r_old,
        .comm_r_new = s->comm_r_new,
        .comm_d_new = s->comm_d_new,
        .partition_index = s->partition_index,
        .vanilla = kind == PROOF_POREP ? &s->vanilla_proof : s->vanilla_proofs,
        .vanilla_count = kind == PROOF_POREP ? 1 : s->vanilla_proofs_count,
    };
    return status_ok();
}
