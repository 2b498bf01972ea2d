/* See claim.h. One table says which option belongs to which kinds. */
#include "cmd/cuzk/claim.h"

#include "base/hex.h"
#include "base/mem.h"
#include "filecoin/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VANILLA_FILE_MAX ((size_t)256 << 20)

/* ---- which options ---- */

enum {
    POREP = 1 << CUZK_POREP,
    WINNING = 1 << CUZK_WINNING,
    WINDOW = 1 << CUZK_WINDOW,
    SNAP = 1 << CUZK_SNAP
};
#define POSTS  (WINNING | WINDOW)
#define OTHERS (POSTS | SNAP)

struct rule {
    const char *name;
    bool given;
    unsigned allowed, needed; /* kinds */
};

static int apply(const struct rule *rules, size_t count, enum cuzk_kind kind)
{
    const char *name = proof_kind_name((enum proof_kind)kind);
    for (size_t i = 0; i < count; i++) {
        bool allowed = (rules[i].allowed >> kind & 1) != 0, needed = (rules[i].needed >> kind & 1) != 0;
        if (rules[i].given && !allowed)
            return usage_error("--help tells which options belong to which kind",
                               "%s has no place with --kind %s", rules[i].name, name);
        if (needed && !rules[i].given)
            return usage_error("--help lists the options", "a proof of kind %s needs %s", name,
                               rules[i].name);
    }
    return EXIT_DONE;
}

static int find_kind(struct claim *c)
{
    enum proof_kind kind = PROOF_POREP;
    if (c->kind_text != NULL &&
        (!proof_kind_by_name(&kind, c->kind_text, strlen(c->kind_text)) || kind == PROOF_SNAP_POSEIDON))
        return usage_error("kinds are porep, winning, window, snap", "--kind does not know \"%s\"",
                           c->kind_text);
    c->statement.kind = (enum cuzk_kind)kind;
    if (c->registered > UINT32_MAX || c->partition > UINT32_MAX)
        return usage_error(NULL, "--registered-proof or --partition is beyond 2^32");
    c->statement.registered_proof = (uint32_t)c->registered;
    c->statement.partition_index = (uint32_t)c->partition;
    return EXIT_DONE;
}

int claim_for_prove(struct claim *c)
{
    int exit_code = find_kind(c);
    if (exit_code != EXIT_DONE)
        return exit_code;
    const struct rule rules[] = {
        {"--c1", c->c1_given, POREP, POREP},
        {"--miner-id", c->miner_given, POREP, POREP},
        {"--sector-num", c->sector_given, POREP, 0},
        {"--vanilla", c->vanilla_given, OTHERS, OTHERS},
        {"--registered-proof", c->registered_given, POREP | OTHERS, OTHERS},
        {"--randomness", c->randomness_given, POSTS, POSTS},
        {"--partition", c->partition_given, WINDOW, 0},
        {"--comm-r-old", c->comm_r_old_given, SNAP, SNAP},
        {"--comm-r-new", c->comm_r_new_given, SNAP, SNAP},
        {"--comm-d-new", c->comm_d_new_given, SNAP, SNAP},
    };
    return apply(rules, sizeof rules / sizeof rules[0], c->statement.kind);
}

static int check_porep_values(const struct claim *c)
{
    bool any = c->registered_given || c->comm_r_given || c->comm_d_given || c->seed_given || c->ticket_given;
    if (c->c1_given && any)
        return usage_error(NULL, "--c1 gives the public values: leave the others out");
    if (!c->c1_given && !(c->registered_given && c->comm_r_given && c->comm_d_given && c->seed_given &&
                          c->ticket_given && c->sector_given))
        return usage_error("or --c1 FILE, which has them",
                           "needed: --registered-proof, --sector-num, --comm-r, --comm-d, --seed, --ticket");
    return EXIT_DONE;
}

int claim_for_verify(struct claim *c)
{
    int exit_code = find_kind(c);
    if (exit_code != EXIT_DONE)
        return exit_code;
    const struct rule rules[] = {
        {"--miner-id", c->miner_given, POREP, POREP},
        {"--c1", c->c1_given, POREP, 0},
        {"--sector-num", c->sector_given, POREP, 0},
        {"--registered-proof", c->registered_given, POREP | OTHERS, OTHERS},
        {"--comm-r", c->comm_r_given, POREP, 0},
        {"--comm-d", c->comm_d_given, POREP, 0},
        {"--seed", c->seed_given, POREP, 0},
        {"--ticket", c->ticket_given, POREP, 0},
        {"--vanilla", c->vanilla_given, POSTS, 0},
        {"--sector", c->sectors_given, POSTS, 0},
        {"--randomness", c->randomness_given, POSTS, POSTS},
        {"--partition", c->partition_given, WINDOW, 0},
        {"--comm-r-old", c->comm_r_old_given, SNAP, SNAP},
        {"--comm-r-new", c->comm_r_new_given, SNAP, SNAP},
        {"--comm-d-new", c->comm_d_new_given, SNAP, SNAP},
    };
    exit_code = apply(rules, sizeof rules / sizeof rules[0], c->statement.kind);
    if (exit_code != EXIT_DONE)
        return exit_code;
    if (c->statement.kind == CUZK_POREP)
        return check_porep_values(c);
    if (c->statement.kind != CUZK_SNAP && c->vanilla_given == c->sectors_given)
        return usage_error("or --vanilla FILE, which has them, and not both",
                           "needed: --sector N:COMM_R for every sector, in order");
    return EXIT_DONE;
}

/* ---- files ---- */

static enum cuzk_code no_sector_number(struct cuzk_error *error)
{
    *error = (struct cuzk_error){.code = CUZK_INVALID};
    snprintf(error->message, sizeof error->message, "the C1 output has no sector number: give --sector-num");
    return CUZK_INVALID;
}

static enum cuzk_code read_claimed_c1(struct cuzk_c1_facts *facts, struct claim *c, struct cuzk_error *error)
{
    enum cuzk_code code = read_c1(&c->c1, c->c1_path, error);
    if (code != CUZK_OK)
        return code;
    cuzk_c1_facts(facts, c->c1);
    if (!c->sector_given && !facts->has_sector_number)
        return no_sector_number(error);
    if (!c->sector_given)
        c->statement.sector_number = facts->sector_number;
    return CUZK_OK;
}

static enum cuzk_code open_files(struct cuzk_request **out, const struct claim *c, struct cuzk *cuzk,
                                 struct cuzk_error *error)
{
    size_t count = c->vanilla.count;
    struct cuzk_bytes *files = calloc(count, sizeof *files);
    enum cuzk_code code = files == NULL ? CUZK_MEMORY : CUZK_OK;
    if (files == NULL)
        *error = (struct cuzk_error){.code = CUZK_MEMORY, .message = "out of memory"};
    for (size_t i = 0; i < count && code == CUZK_OK; i++) {
        uint8_t *data;
        code = read_file(&data, &files[i].size, c->vanilla.items[i], VANILLA_FILE_MAX, error);
        if (code == CUZK_OK)
            files[i].data = data;
    }
    if (code == CUZK_OK)
        code = cuzk_request_open(out, cuzk, &c->statement, files, count, error);
    for (size_t i = 0; files != NULL && i < count; i++)
        mem_free((void *)(uintptr_t)files[i].data);
    free(files);
    return code;
}

enum cuzk_code claim_open(struct cuzk_request **out, struct claim *c, struct cuzk *cuzk,
                          struct cuzk_error *error)
{
    *out = NULL;
    if (c->statement.kind != CUZK_POREP)
        return open_files(out, c, cuzk, error);
    struct cuzk_c1_facts facts;
    enum cuzk_code code = read_claimed_c1(&facts, c, error);
    if (code != CUZK_OK)
        return code;
    if (c->registered_given && c->registered != facts.registered_proof) {
        *error = (struct cuzk_error){.code = CUZK_INVALID};
        snprintf(error->message, sizeof error->message, "C1 output is of registered proof %u (%s), not %u",
                 facts.registered_proof, facts.registered_name, c->statement.registered_proof);
        return CUZK_INVALID;
    }
    return cuzk_request_from_c1(out, cuzk, c->c1, c->statement.miner_id, c->statement.sector_number, error);
}

/* ---- public values ---- */

static bool parse_sector(struct cuzk_sector *out, const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    out->number = strtoull(text, &end, 10);
    return *end == ':' && hex_decode(out->comm_r, 32, end + 1, strlen(end + 1));
}

static enum cuzk_code list_sectors(struct claim *c, struct cuzk_error *error)
{
    c->sector_list = calloc(c->sectors.count, sizeof *c->sector_list);
    *error = (struct cuzk_error){.code = CUZK_MEMORY, .message = "out of memory"};
    if (c->sector_list == NULL)
        return CUZK_MEMORY;
    for (size_t i = 0; i < c->sectors.count; i++) {
        if (parse_sector(&c->sector_list[i], c->sectors.items[i]))
            continue;
        error->code = CUZK_INVALID;
        snprintf(error->message, sizeof error->message,
                 "--sector wants a number, a colon and 64 hexadecimal digits, not \"%.100s\"",
                 c->sectors.items[i]);
        return CUZK_INVALID;
    }
    c->statement.sectors = c->sector_list;
    c->statement.sectors_count = c->sectors.count;
    return CUZK_OK;
}

static enum cuzk_code take_statement(struct claim *c, struct cuzk *cuzk, struct cuzk_error *error)
{
    struct cuzk_request *request;
    struct cuzk_request_facts facts;
    enum cuzk_code code = open_files(&request, c, cuzk, error);
    if (code != CUZK_OK)
        return code;
    cuzk_request_facts(&facts, request);
    size_t count = facts.statement->sectors_count;
    c->sector_list = calloc(count, sizeof *c->sector_list);
    if (c->sector_list != NULL)
        memcpy(c->sector_list, facts.statement->sectors, count * sizeof *c->sector_list);
    else
        *error = (struct cuzk_error){.code = CUZK_MEMORY, .message = "out of memory"};
    c->statement.sectors = c->sector_list;
    c->statement.sectors_count = count;
    cuzk_request_end(request);
    return c->sector_list != NULL ? CUZK_OK : CUZK_MEMORY;
}

enum cuzk_code claim_complete(struct claim *c, struct cuzk *cuzk, struct cuzk_error *error)
{
    struct cuzk_c1_facts facts;
    if (c->vanilla_given)
        return take_statement(c, cuzk, error);
    if (c->sectors_given)
        return list_sectors(c, error);
    if (!c->c1_given)
        return CUZK_OK;
    enum cuzk_code code = read_claimed_c1(&facts, c, error);
    if (code != CUZK_OK)
        return code;
    c->statement.registered_proof = facts.registered_proof;
    memcpy(c->statement.comm_r, facts.comm_r, 32);
    memcpy(c->statement.comm_d, facts.comm_d, 32);
    memcpy(c->statement.seed, facts.seed, 32);
    memcpy(c->statement.ticket, facts.ticket, 32);
    return CUZK_OK;
}

void claim_end(struct claim *c)
{
    cuzk_c1_end(c->c1);
    free(c->sector_list);
    c->c1 = NULL;
    c->sector_list = NULL;
}
