/* See request.h. One small table of functions per kind; everything kind-specific lives in porep.h, post.h,
 * snap.h. */
#include "filecoin/request.h"

#include "base/mem.h"
#include "filecoin/c1.h"
#include "filecoin/check.h"
#include "filecoin/porep.h"
#include "filecoin/post.h"
#include "filecoin/public.h"
#include "filecoin/snap.h"

#include <stdio.h>
#include <string.h>

struct request {
    struct request_outline outline;
    struct c1 c1;
    struct porep_public porep;
    struct post post;
    struct snap snap;
};

/* ---- outlines ---- */

static struct status check_size(const struct proof_request *r, const struct sector_size *sector)
{
    if (r->sector_size != 0 && r->sector_size != sector_bytes(sector))
        return status_error(
            STATUS_INVALID, "sector_size %llu contradicts registered_proof %llu, which is of %s sectors",
            (unsigned long long)r->sector_size, (unsigned long long)r->registered_proof, sector->name);
    return status_ok();
}

static struct status unknown_number(const struct proof_request *r)
{
    return status_error(STATUS_INVALID, "registered_proof %llu does not exist for kind %s",
                        (unsigned long long)r->registered_proof, proof_kind_name(r->kind));
}

static struct status outline_porep(struct request_outline *out, const struct proof_request *r)
{
    if (r->registered_proof >= REGISTERED_SEALS)
        return unknown_number(r);
    const struct registered_seal *seal = &REGISTERED_SEAL[r->registered_proof];
    if (seal->feature == SEAL_NON_INTERACTIVE)
        return status_error(STATUS_UNSUPPORTED, "%s: non-interactive PoRep is not in this version",
                            seal->name);
    if (r->vanilla_count != 1)
        return status_error(STATUS_INVALID, "a PoRep request has one vanilla proof, the C1 output, not %zu",
                            r->vanilla_count);
    out->sector = seal->sector;
    out->partitions = seal->sector->partitions;
    out->decoded_bytes = c1_bytes(seal->sector) + r->vanilla[0].size;
    return check_size(r, seal->sector);
}

static struct status outline_post(struct request_outline *out, const struct proof_request *r)
{
    const struct registered_post *post = registered_post(r->registered_proof);
    if (post == NULL || post->kind != r->kind)
        return unknown_number(r);
    out->sector = post->sector;
    out->partitions = 1;
    out->decoded_bytes = r->vanilla_count * sizeof(struct post_sector);
    return check_size(r, post->sector);
}

static struct status outline_snap(struct request_outline *out, const struct proof_request *r)
{
    const struct registered_update *update = registered_update(r->registered_proof);
    if (update == NULL)
        return unknown_number(r);
    out->sector = update->size->sector;
    out->partitions = snap_partitions(update->size);
    out->decoded_bytes = sizeof(struct request);
    return check_size(r, out->sector);
}

struct status request_outline(struct request_outline *out, const struct proof_request *request)
{
    memset(out, 0, sizeof *out);
    out->kind = request->kind;
    struct status s;
    switch (request->kind) {
    case PROOF_POREP:
        s = outline_porep(out, request);
        break;
    case PROOF_WINNING:
    case PROOF_WINDOW:
        s = outline_post(out, request);
        break;
    case PROOF_SNAP:
        s = outline_snap(out, request);
        break;
    default:
        s = status_error(STATUS_UNSUPPORTED, "proofs of kind %s are not in this version",
                         proof_kind_name(request->kind));
    }
    TRY(s);
    circuit_name(out->circuit, out->kind, out->sector);
    return status_ok();
}

/* ---- opening ---- */

static struct status check_c1(struct request *out, uint64_t miner, uint64_t sector_number,
                              const struct work *work)
{
    if (out->c1.wrapped && out->c1.sector_number != sector_number)
        return status_error(STATUS_INVALID, "C1 output is of sector %llu, the request of sector %llu",
                            (unsigned long long)out->c1.sector_number, (unsigned long long)sector_number);
    TRY(porep_check_sector(&out->c1, miner, sector_number));
    TRY(porep_public_from_c1(&out->porep, &out->c1));
    TRY(c1_check(&out->c1, &out->porep, work));
    for (uint32_t k = 0; k < out->c1.partitions; k++)
        TRY(porep_check_inputs(&out->porep, &out->c1, k));
    return status_ok();
}

static struct status open_porep(struct request *out, const struct proof_request *r, const struct work *work)
{
    TRY(c1_parse(&out->c1, r->vanilla[0].data, r->vanilla[0].size));
    if (out->c1.seal->number != r->registered_proof)
        return status_error(STATUS_INVALID, "C1 output is of %s, the request of %s", out->c1.seal->name,
                            REGISTERED_SEAL[r->registered_proof].name);
    return check_c1(out, r->miner, r->sector_number, work);
}

struct status request_open_c1(struct request **out, const struct c1 *c1, uint64_t miner,
                              uint64_t sector_number, const struct work *work)
{
    *out = NULL;
    struct request *r = mem_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return mem_failed("request", 1, sizeof *r);
    r->outline =
        (struct request_outline){.kind = PROOF_POREP, .sector = c1->sector, .partitions = c1->partitions};
    circuit_name(r->outline.circuit, PROOF_POREP, c1->sector);
    r->c1 = *c1;
    r->c1.arena = NULL; /* not ours */
    struct status s = check_c1(r, miner, sector_number, work);
    if (status_failed(&s))
        request_end(r);
    else
        *out = r;
    return s;
}

/* Hashing the paths of a full Window costs as much as the circuit's expansion, so a long list is checked by
 * that: a wrong path gives a proof that does not verify, and request_diagnose names it. */
#define POST_PATHS_CHECKED 64

static struct status decode_post(struct request *out, const struct proof_request *r, const uint8_t **data,
                                 const size_t *sizes)
{
    return post_open(&out->post, registered_post(r->registered_proof), r->randomness.data, r->randomness.size,
                     r->partition_index, data, sizes, r->vanilla_count);
}

static struct status decode_snap(struct request *out, const struct proof_request *r, const uint8_t **data,
                                 const size_t *sizes)
{
    const struct snap_commitments commitments = {
        .r_old = r->comm_r_old.data,
        .r_new = r->comm_r_new.data,
        .d_new = r->comm_d_new.data,
        .r_old_size = r->comm_r_old.size,
        .r_new_size = r->comm_r_new.size,
        .d_new_size = r->comm_d_new.size,
    };
    return snap_open(&out->snap, registered_update(r->registered_proof)->size, &commitments, data, sizes,
                     r->vanilla_count);
}

/* Hands the vanilla proofs to a decoder as two arrays. */
static struct status decode_list(struct request *out, const struct proof_request *r,
                                 struct status (*decode)(struct request *out, const struct proof_request *r,
                                                         const uint8_t **data, const size_t *sizes))
{
    const uint8_t **data = mem_alloc(r->vanilla_count, sizeof *data);
    size_t *sizes = mem_alloc(r->vanilla_count, sizeof *sizes);
    struct status s = status_ok();
    if (data == NULL || sizes == NULL) {
        s = mem_failed("vanilla proofs", r->vanilla_count, sizeof *data + sizeof *sizes);
    } else {
        for (size_t i = 0; i < r->vanilla_count; i++) {
            data[i] = r->vanilla[i].data;
            sizes[i] = r->vanilla[i].size;
        }
        s = decode(out, r, data, sizes);
    }
    mem_free(data);
    mem_free(sizes);
    return s;
}

static struct status open_post(struct request *out, const struct proof_request *r, const struct work *work)
{
    TRY(decode_list(out, r, decode_post));
    return post_check(&out->post, out->post.sectors_count <= POST_PATHS_CHECKED, work);
}

static struct status open_snap(struct request *out, const struct proof_request *r, const struct work *work)
{
    TRY(decode_list(out, r, decode_snap));
    return snap_check(&out->snap, work);
}

static struct status open_kind(struct request *out, const struct proof_request *r, const struct work *work)
{
    switch (r->kind) {
    case PROOF_POREP:
        return open_porep(out, r, work);
    case PROOF_SNAP:
        return open_snap(out, r, work);
    default:
        return open_post(out, r, work);
    }
}

struct status request_open(struct request **out, const struct proof_request *request, const struct work *work)
{
    *out = NULL;
    struct request *r = mem_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return mem_failed("request", 1, sizeof *r);
    struct status s = request_outline(&r->outline, request);
    if (!status_failed(&s))
        s = open_kind(r, request, work);
    if (status_failed(&s)) {
        request_end(r);
        return s;
    }
    *out = r;
    return s;
}

void request_end(struct request *request)
{
    if (request == NULL)
        return;
    c1_end(&request->c1);
    post_end(&request->post);
    mem_free(request);
}

const struct request_outline *request_facts(const struct request *request)
{
    return &request->outline;
}

struct status request_diagnose(const struct request *request, const struct work *work)
{
    return request->outline.kind == PROOF_WINDOW ? post_check(&request->post, true, work) : status_ok();
}

/* ---- circuits ---- */

static void walk(struct circuit *c, enum proof_kind kind, const struct sector_size *sector,
                 const struct request *r, uint32_t k)
{
    if (kind == PROOF_POREP)
        porep_circuit(c, sector, r == NULL ? NULL : &r->c1, k, NULL);
    else if (kind == PROOF_SNAP)
        snap_circuit(c, snap_size_of(sector), r == NULL ? NULL : &r->snap, k);
    else
        post_circuit(c, kind, sector, r == NULL ? NULL : &r->post);
}

struct status request_seeds(struct seeds *out, const struct request *request, const struct shape *shape,
                            uint32_t k)
{
    struct circuit c;
    CHECK(k < request->outline.partitions);
    TRY(seeds_start(out, shape));
    struct status s = circuit_start(&c, NULL, out, NULL);
    if (!status_failed(&s)) {
        walk(&c, request->outline.kind, request->outline.sector, request, k);
        s = circuit_end(&c);
    }
    if (status_failed(&s)) {
        seeds_end(out);
        return s;
    }
    CHECK(seeds_complete(out));
    return s;
}

struct status request_inputs(fr *out, const struct request *request, uint32_t k)
{
    CHECK(k < request->outline.partitions);
    if (request->outline.kind == PROOF_SNAP) {
        snap_inputs(out, &request->snap, k);
        return status_ok();
    }
    if (request->outline.kind != PROOF_POREP) {
        post_inputs(out, &request->post);
        return status_ok();
    }
    uint32_t count = porep_inputs_count(request->outline.sector);
    fr *inputs = mem_alloc(count, sizeof *inputs);
    if (inputs == NULL)
        return mem_failed("public inputs", count, sizeof *inputs);
    porep_inputs(inputs, &request->porep, k);
    memcpy(out, inputs + 1, (count - 1) * sizeof *out);
    mem_free(inputs);
    return status_ok();
}

uint32_t circuit_inputs(enum proof_kind kind, const struct sector_size *sector)
{
    if (kind == PROOF_SNAP)
        return SNAP_INPUTS;
    return kind == PROOF_POREP ? porep_inputs_count(sector) - 1 : post_inputs_count(kind, sector);
}

struct status circuit_shape(struct shape **out, enum proof_kind kind, const struct sector_size *sector)
{
    struct shape_builder *builder;
    struct circuit c;
    *out = NULL;
    if (kind == PROOF_SNAP_POSEIDON)
        return status_error(STATUS_UNSUPPORTED, "proofs of kind %s are not in this version",
                            proof_kind_name(kind));
    if (kind == PROOF_SNAP && snap_size_of(sector) == NULL)
        return status_error(STATUS_INVALID, "there are no updates of %s sectors", sector->name);
    TRY(shape_builder_start(&builder));
    struct status s = circuit_start(&c, builder, NULL, NULL);
    if (!status_failed(&s)) {
        walk(&c, kind, sector, NULL, 0);
        s = circuit_end(&c);
    }
    if (status_failed(&s)) {
        shape_builder_abandon(builder);
        return s;
    }
    return shape_builder_finish(out, builder);
}
