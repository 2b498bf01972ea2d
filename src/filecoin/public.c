/* See public.h. */
#include "filecoin/public.h"

#include "filecoin/sector.h"
#include <string.h>

static bool is_zero(const uint8_t bytes[32])
{
    static const uint8_t zero[32];
    return memcmp(bytes, zero, 32) == 0;
}

static struct status check_commitment(const char *name, const uint8_t bytes[32])
{
    fr_int unused;
    if (is_zero(bytes))
        return status_error(STATUS_INVALID, "%s is zero", name);
    if (!fr_int_from_bytes(&unused, bytes))
        return status_error(STATUS_INVALID, "%s is not a canonical field element", name);
    return status_ok();
}

static struct status start(struct porep_public *out, const struct registered_seal *seal,
                           const struct sector_size *sector, const uint8_t seed[32])
{
    uint8_t id[32];
    if (seal->feature == SEAL_NON_INTERACTIVE)
        return status_error(STATUS_UNSUPPORTED, "%s: non-interactive PoRep is not in this version",
                            seal->name);
    TRY(check_commitment("comm_d", out->comm_d));
    TRY(check_commitment("comm_r", out->comm_r));
    if (is_zero(seed))
        return status_error(STATUS_INVALID, "seed is zero");
    CHECK(sector->challenges * sector->partitions >= sector->minimum);
    out->sector = sector;
    porep_id(id, seal->number);
    graph_init(&out->graph, id, sector->log2_nodes, seal->api);
    return challenges_start(&out->challenges, seal->feature, sector->log2_nodes, out->replica_id, out->comm_r,
                            seed);
}

struct status porep_public_from_sector(struct porep_public *out, const struct registered_seal *seal,
                                       uint64_t miner, uint64_t sector_number, const uint8_t ticket[32],
                                       const uint8_t seed[32], const uint8_t comm_r[32],
                                       const uint8_t comm_d[32])
{
    uint8_t prover[32], id[32];
    prover_id(prover, miner);
    porep_id(id, seal->number);
    memcpy(out->comm_r, comm_r, 32);
    memcpy(out->comm_d, comm_d, 32);
    replica_id(out->replica_id, prover, sector_number, ticket, comm_d, id);
    return start(out, seal, seal->sector, seed);
}

struct status porep_public_from_c1(struct porep_public *out, const struct c1 *c1)
{
    memcpy(out->comm_r, c1->comm_r, 32);
    memcpy(out->comm_d, c1->comm_d, 32);
    memcpy(out->replica_id, c1->replica_id, 32);
    return start(out, c1->seal, c1->sector, c1->seed);
}

struct status porep_check_sector(const struct c1 *c1, uint64_t miner, uint64_t sector_number)
{
    uint8_t prover[32], id[32], expected[32];
    prover_id(prover, miner);
    porep_id(id, c1->seal->number);
    replica_id(expected, prover, sector_number, c1->ticket, c1->comm_d, id);
    if (memcmp(expected, c1->replica_id, 32) == 0)
        return status_ok();
    return status_hint(status_error(STATUS_INVALID, "replica_id is not that of miner %llu, sector %llu",
                                    (unsigned long long)miner, (unsigned long long)sector_number),
                       "give the miner and sector number that the sector was sealed with");
}

uint64_t porep_challenge(const struct porep_public *p, uint32_t k, uint32_t i)
{
    return challenges_get(&p->challenges, k * p->sector->challenges + i);
}

void porep_inputs(fr *out, const struct porep_public *p, uint32_t k)
{
    *out++ = FR_ONE;
    const uint8_t *top[3] = {p->replica_id, p->comm_d, p->comm_r};
    for (int i = 0; i < 3; i++)
        CHECK(fr_from_bytes(out++, top[i]));
    for (uint32_t i = 0; i < p->sector->challenges; i++) {
        uint64_t c = porep_challenge(p, k, i);
        uint32_t parents[PARENTS];
        graph_parents(&p->graph, parents, c);
        fr_from_u64(out++, c); /* leaf of tree_d */
        for (uint32_t j = 0; j < PARENTS; j++)
            fr_from_u64(out++, parents[j]);
        for (int j = 0; j < 3; j++)
            fr_from_u64(out++, c); /* node of the labels, leaves of tree_r_last and tree_c */
    }
}

uint64_t merkle_leaf_number(const struct merkle_proof *m)
{
    uint64_t leaf = 0, weight = 1;
    for (uint32_t i = 0; i < m->length; i++) {
        leaf += weight * m->path[i].index;
        weight *= m->path[i].arity;
    }
    return leaf;
}

void porep_c1_inputs(fr *out, const struct c1 *c1, uint32_t k)
{
    *out++ = FR_ONE;
    const uint8_t *top[3] = {c1->replica_id, c1->comm_d, c1->comm_r};
    for (int i = 0; i < 3; i++)
        CHECK(fr_from_bytes(out++, top[i]));
    for (uint32_t i = 0; i < c1->challenges; i++) {
        const struct vanilla_proof *p = c1_proof(c1, k, i);
        fr_from_u64(out++, merkle_leaf_number(&p->comm_d));
        for (uint32_t j = 0; j < PARENTS; j++)
            fr_from_u64(out++, merkle_leaf_number(&p->parents[j].inclusion));
        fr_from_u64(out++, p->labels[0].node);
        fr_from_u64(out++, merkle_leaf_number(&p->comm_r_last));
        fr_from_u64(out++, merkle_leaf_number(&p->c_x.inclusion));
    }
}

struct status porep_check_inputs(const struct porep_public *p, const struct c1 *c1, uint32_t k)
{
    fr ours[POREP_INPUTS_MAX], theirs[POREP_INPUTS_MAX];
    porep_c1_inputs(ours, c1, k);
    porep_inputs(theirs, p, k);
    for (uint32_t i = 0; i < porep_inputs_count(p->sector); i++) {
        if (fr_equal(&ours[i], &theirs[i]))
            continue;
        static const char *const top[] = {"one", "replica_id", "comm_d", "comm_r"};
        if (i < POREP_INPUTS_FIXED)
            return status_error(STATUS_INVALID, "partition %u: %s is not the public value", k, top[i]);
        uint32_t at = (i - POREP_INPUTS_FIXED) % POREP_INPUTS_PER_CHALLENGE;
        return status_error(STATUS_INVALID, "partition %u, challenge %u: the %s is not the public one", k,
                            (i - POREP_INPUTS_FIXED) / POREP_INPUTS_PER_CHALLENGE,
                            at == 0             ? "leaf of the comm_d path"
                            : at <= PARENTS     ? "leaf of a parent's column path"
                            : at == PARENTS + 1 ? "node of the labels"
                            : at == PARENTS + 2 ? "leaf of the comm_r_last path"
                                                : "leaf of the c_x path");
    }
    return status_ok();
}
