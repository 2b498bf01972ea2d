/* C1 outputs and requests of the public library: vanilla proofs of every kind with the public values that
 * they are proved for. */
#include "api/internal.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "filecoin/vanilla_file.h"

#include <string.h>

_Static_assert((int)CUZK_POREP == (int)PROOF_POREP && (int)CUZK_WINNING == (int)PROOF_WINNING &&
                   (int)CUZK_WINDOW == (int)PROOF_WINDOW && (int)CUZK_SNAP == (int)PROOF_SNAP,
               "public kinds are the registry's");

/* ---- C1 outputs ---- */

struct status api_read_c1(struct cuzk_c1 *out, const uint8_t *data, size_t size)
{
    if (size > C1_BYTES_MAX)
        return status_error(STATUS_INVALID, "C1 output is %zu bytes long; the longest that can be is %llu",
                            size, (unsigned long long)C1_BYTES_MAX);
    uint8_t *padded = mem_alloc(size + C1_PADDING, 1);
    if (padded == NULL)
        return mem_failed("C1 output", size + C1_PADDING, 1);
    memcpy(padded, data, size);
    memset(padded + size, 0, C1_PADDING);
    struct status s = c1_parse(&out->c1, padded, size);
    mem_free(padded);
    if (!status_failed(&s))
        circuit_name(out->circuit, PROOF_POREP, out->c1.sector);
    return s;
}

enum cuzk_code cuzk_c1_read(struct cuzk_c1 **out, const uint8_t *data, size_t size, struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk_c1 *c1 = mem_alloc_zero(1, sizeof *c1);
    struct status s = c1 == NULL ? mem_failed("C1 output", 1, sizeof *c1) : api_read_c1(c1, data, size);
    if (status_failed(&s)) {
        mem_free(c1);
        return api_result(&s, error);
    }
    *out = c1;
    return CUZK_OK;
}

void cuzk_c1_end(struct cuzk_c1 *c1)
{
    if (c1 == NULL)
        return;
    c1_end(&c1->c1);
    mem_free(c1);
}

void cuzk_c1_facts(struct cuzk_c1_facts *out, const struct cuzk_c1 *c1)
{
    const struct c1 *c = &c1->c1;
    *out = (struct cuzk_c1_facts){
        .registered_name = c->seal->name,
        .registered_proof = c->seal->number,
        .circuit = c1->circuit,
        .sector_bytes = sector_bytes(c->sector),
        .partitions = c->partitions,
        .challenges_per_partition = c->challenges,
        .has_sector_number = c->wrapped,
        .sector_number = c->sector_number,
    };
    memcpy(out->comm_r, c->comm_r, 32);
    memcpy(out->comm_d, c->comm_d, 32);
    memcpy(out->replica_id, c->replica_id, 32);
    memcpy(out->seed, c->seed, 32);
    memcpy(out->ticket, c->ticket, 32);
}

/* ---- requests ---- */

static void state_c1(struct cuzk_statement *out, const struct c1 *c1, uint64_t miner, uint64_t sector_number)
{
    *out = (struct cuzk_statement){.kind = CUZK_POREP,
                                   .registered_proof = c1->seal->number,
                                   .miner_id = miner,
                                   .sector_number = sector_number};
    memcpy(out->comm_r, c1->comm_r, 32);
    memcpy(out->comm_d, c1->comm_d, 32);
    memcpy(out->seed, c1->seed, 32);
    memcpy(out->ticket, c1->ticket, 32);
}

static struct status open_c1(struct cuzk_request *r, struct cuzk *cuzk, const struct c1 *c1, uint64_t miner,
                             uint64_t sector_number)
{
    struct work work = api_work(cuzk, PRIORITY_NORMAL);
    state_c1(&r->statement, c1, miner, sector_number);
    return request_open_c1(&r->request, c1, miner, sector_number, &work);
}

static struct status open_porep(struct cuzk_request *r, struct cuzk *cuzk, const struct cuzk_statement *asked,
                                const struct cuzk_bytes *vanilla, size_t vanilla_count)
{
    const struct c1 *c1 = &r->own_c1.c1;
    if (vanilla_count != 1)
        return status_error(STATUS_INVALID, "a PoRep request has one vanilla proof, the C1 output, not %zu",
                            vanilla_count);
    TRY(api_read_c1(&r->own_c1, vanilla[0].data, vanilla[0].size));
    if (c1->seal->number != asked->registered_proof)
        return status_error(STATUS_INVALID, "C1 output is of registered proof %u (%s), the request of %u",
                            c1->seal->number, c1->seal->name, asked->registered_proof);
    return open_c1(r, cuzk, c1, asked->miner_id, asked->sector_number);
}

/* Every encoded sector proof begins with the sector's number and comm_r; their form has been checked. */
static struct status state_sectors(struct cuzk_request *r, const struct vanilla_list *list)
{
    r->sectors = mem_alloc(list->count, sizeof *r->sectors);
    if (r->sectors == NULL)
        return mem_failed("sectors", list->count, sizeof *r->sectors);
    for (size_t i = 0; i < list->count; i++) {
        r->sectors[i].number = load_le64(list->items[i].data);
        memcpy(r->sectors[i].comm_r, list->items[i].data + 8, 32);
    }
    r->statement.sectors = r->sectors;
    r->statement.sectors_count = list->count;
    return status_ok();
}

static struct status open_list(struct cuzk_request *r, struct cuzk *cuzk, const struct cuzk_statement *asked,
                               const struct vanilla_list *list)
{
    struct work work = api_work(cuzk, PRIORITY_NORMAL);
    struct proof_request request = {
        .kind = (enum proof_kind)asked->kind,
        .registered_proof = asked->registered_proof,
        .randomness = {asked->randomness, 32},
        .partition_index = asked->partition_index,
        .comm_r_old = {asked->comm_r_old, 32},
        .comm_r_new = {asked->comm_r_new, 32},
        .comm_d_new = {asked->comm_d_new, 32},
        .vanilla = list->items,
        .vanilla_count = list->count,
    };
    r->statement = *asked;
    r->statement.sectors = NULL;
    r->statement.sectors_count = 0;
    TRY(request_open(&r->request, &request, &work));
    return asked->kind == CUZK_SNAP ? status_ok() : state_sectors(r, list);
}

static struct status open_vanilla(struct cuzk_request *r, struct cuzk *cuzk,
                                  const struct cuzk_statement *asked, const struct cuzk_bytes *vanilla,
                                  size_t vanilla_count)
{
    struct vanilla_list list = {0};
    size_t room = 0, used = 0;
    for (size_t i = 0; i < vanilla_count; i++)
        room += vanilla[i].size;
    r->bytes = mem_alloc(room, 1);
    struct status s = r->bytes == NULL ? mem_failed("vanilla proofs", room, 1) : status_ok();
    for (size_t i = 0; i < vanilla_count && !status_failed(&s); i++)
        s = vanilla_append(&list, r->bytes, &used, vanilla[i].data, vanilla[i].size);
    if (!status_failed(&s))
        s = open_list(r, cuzk, asked, &list);
    vanilla_list_end(&list);
    return s;
}

enum cuzk_code cuzk_request_open(struct cuzk_request **out, struct cuzk *cuzk,
                                 const struct cuzk_statement *asked, const struct cuzk_bytes *vanilla,
                                 size_t vanilla_count, struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk_request *r = mem_alloc_zero(1, sizeof *r);
    struct status s;
    if (r == NULL)
        s = mem_failed("request", 1, sizeof *r);
    else if ((unsigned)asked->kind > CUZK_SNAP)
        s = status_error(STATUS_INVALID, "kind of proof %d does not exist", (int)asked->kind);
    else
        s = (asked->kind == CUZK_POREP ? open_porep : open_vanilla)(r, cuzk, asked, vanilla, vanilla_count);
    if (status_failed(&s))
        cuzk_request_end(r);
    else
        *out = r;
    return api_result(&s, error);
}

enum cuzk_code cuzk_request_from_c1(struct cuzk_request **out, struct cuzk *cuzk, const struct cuzk_c1 *c1,
                                    uint64_t miner_id, uint64_t sector_number, struct cuzk_error *error)
{
    *out = NULL;
    struct cuzk_request *r = mem_alloc_zero(1, sizeof *r);
    struct status s =
        r == NULL ? mem_failed("request", 1, sizeof *r) : open_c1(r, cuzk, &c1->c1, miner_id, sector_number);
    if (status_failed(&s))
        cuzk_request_end(r);
    else
        *out = r;
    return api_result(&s, error);
}

void cuzk_request_end(struct cuzk_request *r)
{
    if (r == NULL)
        return;
    request_end(r->request);
    c1_end(&r->own_c1.c1);
    mem_free(r->bytes);
    mem_free(r->sectors);
    mem_free(r);
}

void cuzk_request_facts(struct cuzk_request_facts *out, const struct cuzk_request *request)
{
    const struct request_outline *facts = request_facts(request->request);
    *out = (struct cuzk_request_facts){
        .circuit = facts->circuit,
        .sector_bytes = sector_bytes(facts->sector),
        .partitions = facts->partitions,
        .proof_size = (size_t)facts->partitions * CUZK_PROOF_BYTES,
        .statement = &request->statement,
    };
}
