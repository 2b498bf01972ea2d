/* The strict check: real outputs pass, and an output with one byte changed, in every field that there is,
 * is refused with a text that names challenge and check. */
#include "support.h"
#include "filecoin/check.h"

static struct status run(const struct c1 *c1)
{
    struct porep_public public;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    TRY(porep_public_from_c1(&public, c1));
    return c1_check(c1, &public, &work);
}

static void real_outputs(void **state)
{
    (void)state;
    static const char *const files[] = {"porep-2k/c1.json", "porep-2k/c1-wrapped.json", "porep-8m/c1.json"};
    struct pool *pool;
    ok(pool_start(&pool, 3));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    for (int f = 0; f < 3; f++) {
        struct c1 c1;
        struct porep_public public, chain;
        test_c1(&c1, files[f]);
        ok(porep_public_from_c1(&public, &c1));
        ok(c1_check(&c1, &public, &work));
        ok(porep_check_sector(&c1, 1000, f == 2 ? 11 : 1));
        fails(porep_check_sector(&c1, 1001, f == 2 ? 11 : 1), STATUS_INVALID, "not that of miner 1001");
        fails(porep_check_sector(&c1, 1000, 2), STATUS_INVALID, "sector 2");
        /* The chain's values give the same inputs as the paths. */
        ok(porep_public_from_sector(&chain, c1.seal, 1000, f == 2 ? 11 : 1, c1.ticket, c1.seed, c1.comm_r,
                                    c1.comm_d));
        ok(porep_check_inputs(&chain, &c1, 0));
        c1_end(&c1);
    }
    pool_end(pool);
}

/* Changes one byte, expects the refusal, restores it. */
static void refused(struct c1 *c1, uint8_t *byte, const char *message)
{
    uint8_t old = *byte;
    *byte ^= 1;
    struct status s = run(c1);
    *byte = old;
    fails(s, STATUS_INVALID, message);
}

static void refused_u32(struct c1 *c1, uint32_t *number, uint32_t value, const char *message)
{
    uint32_t old = *number;
    *number = value;
    struct status s = run(c1);
    *number = old;
    fails(s, STATUS_INVALID, message);
}

static void merkle_changes(struct c1 *c1, struct merkle_proof *m, const char *where)
{
    /* The message begins with the place; what is wrong there may be noticed in several ways. */
    refused(c1, &m->root[3], where);
    refused(c1, &m->leaf[5], where);
    for (uint32_t i = 0; i < m->length; i++) {
        struct path_element *e = &m->path[i];
        for (uint32_t k = 0; k + 1 < e->arity; k++)
            refused(c1, &e->siblings[k][(7 * k + i) % 32 == 31 ? 30 : (7 * k + i) % 32], where);
        refused_u32(c1, &e->index, e->index ^ 1, where);
    }
}

static void column_changes(struct c1 *c1, struct column_proof *c, const char *where, const char *rows)
{
    merkle_changes(c1, &c->inclusion, where);
    refused_u32(c1, &c->index, c->index + 1, where);
    for (uint32_t l = 0; l < c1->sector->layers; l++)
        refused(c1, &c->rows[l][l], rows);
}

static void label_changes(struct c1 *c1, struct labeling_proof *l, const char *where)
{
    for (uint32_t i = 0; i < LABEL_INPUTS; i++)
        refused(c1, &l->parents[i][i % 31], where);
    refused_u32(c1, &l->layer, l->layer + 1, where);
    l->node ^= 1;
    fails(run(c1), STATUS_INVALID, where);
    l->node ^= 1;
}

static void changes_everywhere(void **state)
{
    (void)state;
    struct c1 c1;
    test_c1(&c1, "porep-2k/c1.json");
    for (uint32_t i = 0; i < c1.challenges; i++) {
        struct vanilla_proof *p = c1_proof(&c1, 0, i);
        char head[96], where[192], rows[112];
        snprintf(head, sizeof head, "partition 0, challenge %u (node %u): ", i, i ? 54 : 55);
#define WHERE(...)                                                                                           \
    (snprintf(where, sizeof where, "%s", head), snprintf(where + strlen(where), 80, __VA_ARGS__), where)
        merkle_changes(&c1, &p->comm_d, WHERE("comm_d: "));
        /* The first proof's roots are what the others are compared with. */
        merkle_changes(&c1, &p->comm_r_last, i == 0 ? "partition 0, challenge " : WHERE("comm_r_last: "));
        for (uint32_t l = 0; l < c1.sector->layers; l++)
            label_changes(&c1, &p->labels[l], WHERE("layer %u: labeling_proofs", l + 1));
        label_changes(&c1, &p->encoding, WHERE("encoding_proof is not"));
        snprintf(rows, sizeof rows, "%slayer ", head);
        column_changes(&c1, &p->c_x, i == 0 ? "partition 0, challenge " : WHERE("c_x: "), rows);
        for (uint32_t k = 0; k < DRG_PARENTS; k++)
            column_changes(&c1, &p->parents[k], WHERE("drg_parents[%u]: ", k), rows);
        for (uint32_t k = 0; k < EXPANDER_PARENTS; k++) {
            /* The last layer of an expander parent enters no label, only its column. */
            struct column_proof *c = &p->parents[DRG_PARENTS + k];
            merkle_changes(&c1, &c->inclusion, WHERE("exp_parents[%u]: ", k));
            refused_u32(&c1, &c->index, 63 - c->index, WHERE("exp_parents[%u]: the column's index", k));
            refused(&c1, &c->rows[0][9], rows);
            refused(&c1, &c->rows[1][9], WHERE("exp_parents[%u]: the leaf is not the hash", k));
        }
    }
    refused(&c1, &c1.comm_r[0], "comm_r is not the hash of comm_c and comm_r_last");
    refused(&c1, &c1.comm_d[0], "partition 0, challenge 0 (node 55): comm_d: the root is not comm_d");
    refused(&c1, &c1.replica_id[0], "partition 0, challenge 0");
    refused(&c1, &c1.seed[0], "partition 0, challenge 0");
    const struct registered_seal *seal = c1.seal;
    c1.seal = &REGISTERED_SEAL[0]; /* another graph */
    fails(run(&c1), STATUS_INVALID, "drg_parents[0]: the column's index");
    c1.seal = &REGISTERED_SEAL[10]; /* other challenges */
    fails(run(&c1), STATUS_INVALID, "partition 0, challenge 0");
    c1.seal = &REGISTERED_SEAL[15];
    fails(run(&c1), STATUS_UNSUPPORTED, "non-interactive");
    c1.seal = seal;
    ok(run(&c1));
    /* The ticket enters the replica_id only. */
    c1.ticket[0] ^= 1;
    fails(porep_check_sector(&c1, 1000, 1), STATUS_INVALID, "replica_id");
    c1_end(&c1);
}

static void zero_values(void **state)
{
    (void)state;
    static const char *const names[] = {"comm_d is zero", "comm_r is zero", "seed is zero"};
    for (int i = 0; i < 3; i++) {
        struct c1 c1;
        test_c1(&c1, "porep-2k/c1.json");
        memset(i == 0 ? c1.comm_d : i == 1 ? c1.comm_r : c1.seed, 0, 32);
        fails(run(&c1), STATUS_INVALID, names[i]);
        c1_end(&c1);
    }
    struct porep_public public;
    uint8_t ones[32], good[32] = {1};
    memset(ones, 255, 32);
    fails(porep_public_from_sector(&public, &REGISTERED_SEAL[5], 1, 1, good, good, ones, good),
          STATUS_INVALID, "comm_r is not a canonical");
    fails(porep_public_from_sector(&public, &REGISTERED_SEAL[5], 1, 1, good, good, good, ones),
          STATUS_INVALID, "comm_d is not a canonical");
}

/* Other public values than those of the output. */
static void other_public_values(void **state)
{
    (void)state;
    struct c1 c1;
    struct porep_public public;
    struct work work = {NULL, PRIORITY_NORMAL, NULL};
    test_c1(&c1, "porep-2k/c1.json");
    ok(porep_public_from_sector(&public, c1.seal, 1000, 2, c1.ticket, c1.seed, c1.comm_r, c1.comm_d));
    fails(c1_check(&c1, &public, &work), STATUS_INVALID, "replica_id is not that of the sector");
    fails(porep_check_inputs(&public, &c1, 0), STATUS_INVALID,
          "partition 0: replica_id is not the public value");
    ok(porep_public_from_c1(&public, &c1));
    static const char *const names[] = {"leaf of the comm_d path",        "leaf of a parent's column path",
                                        "leaf of a parent's column path", "node of the labels",
                                        "leaf of the comm_r_last path",   "leaf of the c_x path"};
    for (int i = 0; i < 6; i++) {
        struct vanilla_proof *p = c1_proof(&c1, 0, 1);
        uint32_t *index = i == 0   ? &p->comm_d.path[5].index
                          : i == 1 ? &p->parents[0].inclusion.path[0].index
                          : i == 2 ? &p->parents[13].inclusion.path[1].index
                          : i == 4 ? &p->comm_r_last.path[1].index
                                   : &p->c_x.inclusion.path[0].index;
        char message[100];
        snprintf(message, sizeof message, "partition 0, challenge 1: the %s", names[i]);
        if (i == 3)
            p->labels[0].node ^= 1;
        else
            *index ^= 1;
        fails(porep_check_inputs(&public, &c1, 0), STATUS_INVALID, message);
        if (i == 3)
            p->labels[0].node ^= 1;
        else
            *index ^= 1;
        ok(porep_check_inputs(&public, &c1, 0));
    }
    struct cancel cancel = {true};
    work.cancel = &cancel;
    fails(c1_check(&c1, &public, &work), STATUS_CANCELLED, "");
    c1_end(&c1);
}

/* The error does not depend on threads: the first bad place in order is named. */
static void first_of_many(void **state)
{
    (void)state;
    struct c1 c1;
    struct porep_public public;
    struct pool *pool;
    ok(pool_start(&pool, 4));
    struct work work = {pool, PRIORITY_NORMAL, NULL};
    test_c1(&c1, "porep-2k/c1.json");
    ok(porep_public_from_c1(&public, &c1));
    c1_proof(&c1, 0, 1)->parents[3].index++;
    c1_proof(&c1, 0, 0)->parents[9].index++;
    c1_proof(&c1, 0, 0)->parents[12].index++;
    for (int i = 0; i < 50; i++)
        fails(c1_check(&c1, &public, &work), STATUS_INVALID, "challenge 0 (node 55): exp_parents[3]");
    c1_end(&c1);
    pool_end(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(real_outputs), cmocka_unit_test(changes_everywhere),
                                       cmocka_unit_test(zero_values), cmocka_unit_test(other_public_values),
                                       cmocka_unit_test(first_of_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
